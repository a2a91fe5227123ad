"""Public benchmark sets: where they lie, how their files are read, whether they are whole."""

from subadjacent.data.benchmarks.benchmark import Benchmark, Source
from subadjacent.data.benchmarks.locate import data_root, find, load_benchmark
from subadjacent.data.benchmarks.sources import SOURCES, source_named
from subadjacent.data.benchmarks.verdict import check, fingerprint

__all__ = [
    "SOURCES",
    "Benchmark",
    "Source",
    "check",
    "data_root",
    "find",
    "fingerprint",
    "load_benchmark",
    "source_named",
]
