"""Every detector in one table, as data: to list the names, no detector is imported."""

from __future__ import annotations

from typing import NamedTuple

from subadjacent.errors import InputError


class Entry(NamedTuple):
    """A detector in the table."""

    short: str  # what is typed for it in a command
    module: str  # in this folder
    does: str  # one line for people
    needs: str = ""  # the extra that installs what it needs


# name of the class → all else; `subadjacent list` shows them in this order
ENTRIES = {
    "SubAdjacentDetector": Entry(
        "default", "default", "expects each value from rows around it; six views, no network"
    ),
    "SubAdjacentHybridDetector": Entry(
        "hybrid", "hybrid", "the default, with the residuals of a network added", "network"
    ),
    "SubAdjacentTransformerDetector": Entry(
        "sub-adjacent-transformer",
        "transformer",
        "the paper: attention of the points around a window's point, times its error",
        "network",
    ),
    "StrictTransformerDetector": Entry(
        "strict-transformer",
        "rivals.strict",
        "error of a reconstruction from sub-adjacent points alone",
        "network",
    ),
    "AnomalyTransformerDetector": Entry(
        "anomaly-transformer",
        "rivals.anomaly_transformer",
        "error, weighted by how local attention is (Xu et al. 2022)",
        "network",
    ),
    "DAGMMDetector": Entry(
        "dagmm",
        "rivals.dagmm",
        "how unlikely a row is as an autoencoder codes it (Zong et al. 2018)",
        "network",
    ),
    "LSTMVAEDetector": Entry(
        "lstm-vae",
        "rivals.lstm_vae",
        "how unlikely rows are to a variational LSTM (Park et al. 2018)",
        "network",
    ),
    "MSCREDDetector": Entry(
        "mscred",
        "rivals.mscred",
        "error of how channels go together, reconstructed (Zhang et al. 2019)",
        "network",
    ),
    "OmniAnomalyDetector": Entry(
        "omni-anomaly",
        "rivals.omni_anomaly",
        "how unlikely rows are given a chain of hidden states (Su et al. 2019)",
        "network",
    ),
    "MADGANDetector": Entry(
        "mad-gan",
        "rivals.mad_gan",
        "what cannot be generated, or looks as if it were (Li et al. 2019)",
        "network",
    ),
    "MTADGATDetector": Entry(
        "mtad-gat",
        "rivals.mtad_gat",
        "forecast and reconstruction by attention over channels and time (Zhao et al. 2020)",
        "network",
    ),
    "USADDetector": Entry(
        "usad",
        "rivals.usad",
        "error of two autoencoders, one trained against the other (Audibert et al. 2020)",
        "network",
    ),
    "THOCDetector": Entry(
        "thoc",
        "rivals.thoc",
        "distance from learned centres at several scales of time (Shen et al. 2020)",
        "network",
    ),
    "UAEDetector": Entry(
        "uae",
        "rivals.uae",
        "how unlikely errors of one autoencoder a channel are (Garg et al. 2021)",
        "network",
    ),
    "GDNDetector": Entry(
        "gdn",
        "rivals.gdn",
        "error of a forecast along a learned graph of channels (Deng and Hooi 2021)",
        "network",
    ),
    "GTADetector": Entry(
        "gta",
        "rivals.gta",
        "error of a Transformer's forecast along a drawn graph (Chen et al. 2021)",
        "network",
    ),
    "TranADDetector": Entry(
        "tranad",
        "rivals.tranad",
        "error of a Transformer that is told its own first error (Tuli et al. 2022)",
        "network",
    ),
    "NPSRDetector": Entry(
        "npsr",
        "rivals.npsr",
        "how far from nominal rows and their sequences are (Lai et al. 2023)",
        "network",
    ),
    "TimesNetDetector": Entry(
        "timesnet",
        "rivals.timesnet",
        "error of a network that folds windows by their periods (Wu et al. 2023)",
        "network",
    ),
    "LSTMDetector": Entry(
        "lstm", "rivals.lstm", "error of an LSTM's forecast (Hundman et al. 2018)", "network"
    ),
    "SubPCADetector": Entry(
        "sub-pca", "rivals.sub_pca", "what main directions of short windows leave unexplained"
    ),
    "PCADetector": Entry("pca", "rivals.pca", "what main directions of rows leave unexplained"),
    "KNNDetector": Entry("knn", "rivals.knn", "distance to the k-th nearest row of training"),
    "LOFDetector": Entry(
        "lof", "rivals.lof", "how much denser the nearest rows of training lie than a row"
    ),
    "IsolationForestDetector": Entry(
        "iforest", "rivals.iforest", "how soon random cuts leave a row alone"
    ),
    "ECODDetector": Entry(
        "ecod", "rivals.ecod", "chance of values so extreme, multiplied over channels"
    ),
    "MatrixProfileDetector": Entry(
        "matrix-profile",
        "rivals.matrix_profile",
        "how unlike a window's shape is to all shapes of training",
    ),
    "LinearForecastDetector": Entry(
        "linear", "rivals.linear", "error of a linear forecast from the rows before"
    ),
    "MagnitudeDetector": Entry("magnitude", "rivals.magnitude", "how far a row is from the mean"),
    "RandomDetector": Entry("random", "rivals.random", "chance: what any detector should beat"),
}


def class_name(short: str) -> str:
    """The name of the class that a short name stands for; another name is refused."""
    by_short = {entry.short: name for name, entry in ENTRIES.items()}
    if short not in by_short:
        raise InputError.of("detector", f"must be one of {', '.join(by_short)}", f"got {short!r}")
    return by_short[short]
