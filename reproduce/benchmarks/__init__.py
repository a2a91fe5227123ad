"""Public benchmark datasets: find, download, read and verify them."""

from reproduce.benchmarks.benchmark import Benchmark, Source
from reproduce.benchmarks.locate import check, data_root, find, fingerprint, load_benchmark
from reproduce.benchmarks.sources import SOURCES, source_named

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
