"""The rows of other systems: the paper's sixteen, and what people would take instead."""

from __future__ import annotations

from dataclasses import replace

from reproduce.comparison import Variant
from reproduce.run import HEURISTICS, PUBLISHED


def _system(label: str, detector: str) -> Variant:
    # under the published protocol their scores are taken as they are, and once: it says little
    return Variant(label, detector, score="error", published_seeds=1)


# labels as the paper prints them, in its order
PAPERS_RIVALS = (
    _system("DAGMM", "dagmm"),
    _system("LSTM-VAE", "lstm-vae"),
    _system("MSCRED", "mscred"),
    _system("OmniAnomaly", "omni-anomaly"),
    _system("MAD-GAN", "mad-gan"),
    _system("MTAD-GAT", "mtad-gat"),
    _system("USAD", "usad"),
    _system("THOC", "thoc"),
    _system("UAE", "uae"),
    _system("GDN", "gdn"),
    _system("GTA", "gta"),
    _system("TranAD", "tranad"),
    # which of the two is better only labels tell, so that there is no clean form
    replace(_system("Heuristics", HEURISTICS), protocols=(PUBLISHED,)),
    _system("NPSR", "npsr"),
    _system("TimesNet", "timesnet"),
)
OTHERS = (
    _system("nearest neighbours", "knn"),
    _system("isolation forest", "iforest"),
    _system("LOF", "lof"),
    _system("ECOD", "ecod"),
    _system("matrix profile", "matrix-profile"),
    _system("LSTM forecast", "lstm"),
    _system("linear forecast", "linear"),
)
