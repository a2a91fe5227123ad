"""Public benchmark datasets: find, download, read and verify them."""

from subadjacent.data.benchmarks.benchmark import Benchmark, Source
from subadjacent.data.benchmarks.locate import data_root, find, load_benchmark
from subadjacent.data.benchmarks.sources import SOURCES, source_named
from subadjacent.data.benchmarks.verify import check, fingerprint

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
