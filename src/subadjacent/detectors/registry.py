"""The one table of detectors: a line each. Listing them imports no detector, and no torch."""

from __future__ import annotations

import os
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from subadjacent.errors import InputError, ModelFileError, needs

if TYPE_CHECKING:
    from subadjacent.detectors.base import BaseDetector


class Entry(NamedTuple):
    """A detector in the table."""

    module: str  # below ``subadjacent``
    class_name: str
    summary: str  # one line for people
    needs: str = ""  # the extra that installs the packages it needs
    parameters: Mapping[str, Any] = MappingProxyType({})  # other than the class's defaults
    library: str = ""  # "package.module:Class" of the detector it wraps
    library_parameters: Mapping[str, Any] = MappingProxyType({})


def _rival(module: str, class_name: str, summary: str) -> Entry:
    return Entry(f"rivals.{module}", class_name, summary)


def _network(module: str, class_name: str, summary: str) -> Entry:
    return Entry(f"rivals.{module}", class_name, summary, "network")


def _wrapped(
    library: str, summary: str, needs: str = "", *, samples: int, **parameters: Any
) -> Entry:
    return Entry(
        "adapters.wrapped",
        "WrappedDetector",
        summary,
        needs,
        {"samples": samples},
        library,
        parameters,
    )


# name in commands and on the leaderboard → the detector; `subadjacent list` has this order
REGISTRY = {
    "default": Entry(
        "detectors.default",
        "SubAdjacentDetector",
        "expects each value from rows around it; six views, no network",
    ),
    "sub-adjacent-transformer": Entry(
        "detectors.transformer",
        "SubAdjacentTransformerDetector",
        "the paper: reconstruction error, weighted by sub-adjacent attention",
        "network",
    ),
    "anomaly-transformer": _network(
        "anomaly_transformer",
        "AnomalyTransformerDetector",
        "reconstruction error, weighted by association discrepancy (Xu et al. 2022)",
    ),
    "dagmm": _network(
        "dagmm",
        "DAGMMDetector",
        "energy of an autoencoder's code in a Gaussian mixture (Zong et al. 2018)",
    ),
    "lstm-vae": _network(
        "lstm_vae",
        "LSTMVAEDetector",
        "negative log-likelihood of a variational LSTM autoencoder (Park et al. 2018)",
    ),
    "mscred": _network(
        "mscred",
        "MSCREDDetector",
        "reconstruction error of correlation matrices of channels (Zhang et al. 2019)",
    ),
    "omni-anomaly": _network(
        "omni_anomaly",
        "OmniAnomalyDetector",
        "negative log-likelihood of a stochastic recurrent network (Su et al. 2019)",
    ),
    "mad-gan": _network(
        "mad_gan",
        "MADGANDetector",
        "reconstruction and discriminator error of a GAN (Li et al. 2019)",
    ),
    "mtad-gat": _network(
        "mtad_gat",
        "MTADGATDetector",
        "forecast and reconstruction by attention over channels and time (Zhao et al. 2020)",
    ),
    "usad": _network(
        "usad",
        "USADDetector",
        "error of two adversarially trained autoencoders (Audibert et al. 2020)",
    ),
    "thoc": _network(
        "thoc",
        "THOCDetector",
        "distance from learned centres at several time scales (Shen et al. 2020)",
    ),
    "uae": _network(
        "uae",
        "UAEDetector",
        "tail probability of the errors of one autoencoder a channel (Garg et al. 2021)",
    ),
    "gdn": _network(
        "gdn",
        "GDNDetector",
        "forecast error along a learned graph of channels (Deng and Hooi 2021)",
    ),
    "gta": _network(
        "gta",
        "GTADetector",
        "forecast error of a Transformer along a sampled graph (Chen et al. 2021)",
    ),
    "tranad": _network(
        "tranad",
        "TranADDetector",
        "self-conditioned Transformer reconstruction error (Tuli et al. 2022)",
    ),
    "npsr": _network(
        "npsr",
        "NPSRDetector",
        "induced anomaly score of a point and a sequence model (Lai et al. 2023)",
    ),
    "timesnet": _network(
        "timesnet",
        "TimesNetDetector",
        "reconstruction error of windows folded by their periods (Wu et al. 2023)",
    ),
    "lstm": _network("lstm", "LSTMDetector", "forecast error of an LSTM (Hundman et al. 2018)"),
    "sub-pca": _rival("pca", "SubPCADetector", "residual of short windows after PCA"),
    "pca": _rival("pca", "PCADetector", "residual of rows after PCA"),
    "knn": _rival("knn", "KNNDetector", "distance to the k-th nearest training row"),
    "lof": _wrapped(
        "sklearn.neighbors:LocalOutlierFactor",
        "local outlier factor of rows, by scikit-learn (Breunig et al. 2000)",
        samples=10_000,
        novelty=True,
    ),
    "iforest": _wrapped(
        "sklearn.ensemble:IsolationForest",
        "isolation depth in random trees, by scikit-learn (Liu et al. 2008)",
        samples=100_000,
    ),
    "ecod": _wrapped(
        "pyod.models.ecod:ECOD",
        "empirical tail probabilities over channels, by PyOD (Li et al. 2022)",
        "pyod",
        samples=10_000,
    ),
    "matrix-profile": _rival(
        "matrix_profile",
        "MatrixProfileDetector",
        "distance of a window's shape to the nearest shape in training",
    ),
    "linear": _rival(
        "linear", "LinearForecastDetector", "error of a linear forecast from the rows before"
    ),
    "magnitude": _rival("controls", "MagnitudeDetector", "distance of a row from the mean"),
    "random": _rival("controls", "RandomDetector", "chance: any detector should beat it"),
}


def entry(name: str) -> Entry:
    """The entry of a registered name; any other name is refused."""
    if name not in REGISTRY:
        raise InputError.of("detector", f"must be one of {', '.join(REGISTRY)}", f"got {name!r}")
    return REGISTRY[name]


def create(name: str, **parameters: Any) -> BaseDetector:
    """A new detector by its registered name, with parameters other than the defaults.

    Parameters of a wrapped detector are reached as in scikit-learn: ``detector__n_estimators``.
    """
    chosen = entry(name)
    fixed = dict(chosen.parameters)
    if chosen.library:
        module, class_name = chosen.library.split(":")
        fixed["detector"] = _import(name, module, class_name)(**chosen.library_parameters)
    detector = detector_class(name)(**fixed)
    detector.set_params(**parameters)
    return detector


def detector_class(name: str) -> type[BaseDetector]:
    """The class of a registered name, imported now."""
    chosen = entry(name)
    found: type[BaseDetector] = _import(name, f"subadjacent.{chosen.module}", chosen.class_name)
    return found


def _import(name: str, module: str, class_name: str) -> Any:
    with needs(name):
        return getattr(import_module(module), class_name)


def load(path: str | os.PathLike[str], *, device: str = "auto") -> BaseDetector:
    """Load the detector that a model folder holds, of any class, onto any device."""
    from subadjacent.detectors.folder import read_kind
    from subadjacent.durable import read_whole

    names = {chosen.class_name: name for name, chosen in REGISTRY.items() if not chosen.library}

    def load_any(folder: Path) -> BaseDetector:
        kind = read_kind(folder)
        if kind not in names:
            raise ModelFileError(f"{path} holds a {kind!r}; this version knows {', '.join(names)}")
        return detector_class(names[kind]).load(folder, device=device)

    # another kind of model may be saved there between the two reads
    return read_whole(Path(path), load_any)
