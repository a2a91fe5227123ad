"""The public datasets: sizes in Table 1, licence, origin, files and downloads of each."""

from __future__ import annotations

from functools import partial

from reproduce.benchmarks.archive import generate, read_generated, read_npy_triple, read_npz
from reproduce.benchmarks.benchmark import Download, Layout, Source
from reproduce.benchmarks.itrust import TEST, TRAIN, read_swat, read_wadi_2017, read_wadi_2019
from reproduce.benchmarks.psm import read_psm
from reproduce.benchmarks.smd import FOLDERS, read_machines
from reproduce.benchmarks.telemanom import ANOMALIES, read_telemanom
from subadjacent.errors import InputError

RAW = "https://raw.githubusercontent.com"
MACHINES = tuple(
    f"machine-{group}-{number}"
    for group, size in ((1, 8), (2, 9), (3, 11))
    for number in range(1, size + 1)
)

_SHARED_BY_NASA = (
    Download(f"{RAW}/khundman/telemanom/master/", ANOMALIES, f"telemanom/{ANOMALIES}"),
    Download(
        "https://www.kaggle.com/api/v1/datasets/download/patrickfleith/",
        "nasa-anomaly-detection-dataset-smap-msl",
        "telemanom",
        unpack=r"(train|test)/[A-Z]-\d+\.npy",
    ),
)
_NASA_FOLDERS = ("telemanom", "", "SMAP_MSL")
_NASA_FILES = f"telemanom/{ANOMALIES}, telemanom/train/*.npy and telemanom/test/*.npy"
_BY_NASA = (
    "NASA JPL, github.com/khundman/telemanom; its first address for the arrays is closed, the "
    "one its authors name since is kaggle.com/datasets/patrickfleith/"
    "nasa-anomaly-detection-dataset-smap-msl"
)
_ON_REQUEST = (
    "Given out on request only: fill in the form at itrust.sutd.edu.sg/itrust-labs_datasets, "
    "name {what}, and put {files} into {folder}/ under the root."
)


def _get(name: str) -> str:
    return f"'python -m reproduce data get {name}'"


def _archive(*names: str) -> tuple[Layout, ...]:
    return tuple(Layout((name,), read_npz) for name in names)


def _npy_triple(title: str) -> Layout:
    splits = ("train", "test", "test_label")
    return Layout(tuple(f"{title}_{split}.npy" for split in splits), read_npy_triple)


_TELEMANOM = tuple(
    Layout((ANOMALIES, f"{arrays}train", f"{arrays}test"), read_telemanom)
    for arrays in ("", "data/", "data/data/")
)

SOURCES: dict[str, Source] = {
    source.name: source
    for source in (
        Source(
            "swat", "SWaT", "a water treatment plant, 11 days",
            channels=51, entities=1, train_rows=495_000, test_rows=449_919,
            anomaly_rate=12.14, segments=None,
            licence="iTrust's terms; may not be passed on", origin="iTrust, SUTD",
            layouts=(
                *_archive("swat.npz"),
                *(
                    Layout((TRAIN + suffix, TEST + suffix), partial(read_swat, suffix=suffix))
                    for suffix in (".csv", ".xlsx")
                ),
            ),
            folders=("", "SWaT", "swat"),
            instructions=_ON_REQUEST.format(
                what="SWaT.A1 & A2 (December 2015)",
                files=f"{TRAIN}.xlsx and {TEST}.xlsx (or the same as .csv)", folder="SWaT",
            ),
            interval=1.0,
        ),
        Source(
            "wadi", "WADI", "a water distribution network, 16 days",
            channels=123, entities=1, train_rows=1_209_601, test_rows=172_801,
            anomaly_rate=5.71, segments=None,
            licence="iTrust's terms; may not be passed on", origin="iTrust, SUTD",
            layouts=(
                *_archive("wadi.npz"),
                Layout(("WADI_14days.csv", "WADI_attackdata.csv"), read_wadi_2017),
                Layout(("WADI_14days_new.csv", "WADI_attackdataLABLE.csv"), read_wadi_2019),
            ),
            folders=("", "WADI", "wadi"),
            instructions=_ON_REQUEST.format(
                what="WADI.A1 (the paper's) or WADI.A2",
                files="WADI_14days.csv, WADI_attackdata.csv and a table of attacks as "
                "WADI_attacks.csv (columns date,start,end), or WADI_14days_new.csv and "
                "WADI_attackdataLABLE.csv,",
                folder="WADI",
            ),
            interval=1.0,
        ),
        Source(
            "psm", "PSM", "pooled metrics of servers at eBay, by the minute",
            channels=25, entities=1, train_rows=132_481, test_rows=87_841,
            anomaly_rate=27.76, segments=72,
            licence="CC BY 4.0", origin="eBay, github.com/eBay/RANSynCoders",
            layouts=(
                *_archive("psm.npz"),
                Layout(("train.csv", "test.csv", "test_label.csv"), read_psm),
            ),
            # not the root itself: any set could have files of these names
            folders=("PSM", "psm", "PSM/data"),
            instructions=f"{_get('psm')} fetches PSM/train.csv, PSM/test.csv and "
            "PSM/test_label.csv.",
            downloads=tuple(
                Download(f"{RAW}/eBay/RANSynCoders/main/data/", file, f"PSM/{file}")
                for file in ("train.csv", "test.csv", "test_label.csv")
            ),
            interval=60.0,
        ),
        Source(
            "msl", "MSL", "telemetry of the rover Curiosity",
            channels=55, entities=27, train_rows=58_317, test_rows=73_729,
            anomaly_rate=10.48, segments=36,
            licence="Apache 2.0", origin=_BY_NASA,
            layouts=(*_archive("msl.npz"), *_TELEMANOM, _npy_triple("MSL")),
            folders=(*_NASA_FOLDERS, "MSL", "msl"),
            instructions=f"{_get('msl')} fetches {_NASA_FILES}, for MSL and SMAP.",
            downloads=_SHARED_BY_NASA,
            fingerprints=("e87d097c2bdaa2d7",),
        ),
        Source(
            "smap", "SMAP", "telemetry of a satellite that measures soil moisture",
            channels=25, entities=55, train_rows=140_825, test_rows=444_035,
            anomaly_rate=12.83, segments=69,
            licence="Apache 2.0", origin=_BY_NASA,
            layouts=(*_archive("smap.npz"), *_TELEMANOM, _npy_triple("SMAP")),
            folders=(*_NASA_FOLDERS, "SMAP", "smap"),
            instructions=f"{_get('smap')} fetches {_NASA_FILES}, for SMAP and MSL.",
            downloads=_SHARED_BY_NASA,
            fingerprints=("cb5dac880c599fbc",),
        ),
        Source(
            "smd", "SMD", "28 servers of an internet company, five weeks",
            channels=38, entities=28, train_rows=708_405, test_rows=708_420,
            anomaly_rate=4.16, segments=327,
            licence="MIT", origin="NetMan, Tsinghua, github.com/NetManAIOps/OmniAnomaly",
            layouts=(
                *_archive("smd.npz"),
                Layout(FOLDERS, read_machines),
                _npy_triple("SMD"),
                *_archive("smd19.npz"),
            ),
            folders=("ServerMachineDataset", "", "SMD", "smd", "SMD/ServerMachineDataset"),
            instructions=f"{_get('smd')} fetches train, test and test_label of all 28 "
            "machines into ServerMachineDataset/.",
            downloads=tuple(
                Download(
                    f"{RAW}/NetManAIOps/OmniAnomaly/master/",
                    f"ServerMachineDataset/{split}/{machine}.txt",
                    f"ServerMachineDataset/{split}/{machine}.txt",
                )
                for machine in MACHINES
                for split in FOLDERS
            ),
            unit="machines",
            interval=60.0,
        ),
        Source(
            "nips-ts", "NeurIPS-TS", "one noisy sine with five kinds of anomaly, made up",
            channels=1, entities=1, train_rows=20_000, test_rows=20_000,
            anomaly_rate=22.44, segments=1_730,
            licence="free: it is generated here", origin="Lai et al., NeurIPS 2021",
            layouts=(Layout(("nips_ts.npz",), read_generated),),
            folders=("",),
            instructions="Needs no file: it is generated when it is requested. "
            f"{_get('nips-ts')} writes it as nips_ts.npz.",
            fingerprints=("0bf42b48d3d8bcd3", "96bcba0ace871735"),
            generate=generate,
        ),
    )
}  # fmt: skip

ALIASES = {"neurips-ts": "nips-ts"}


def source_named(name: str) -> Source:
    """The source of a dataset; case does not matter, nor "_" or "-"."""
    plain = name.lower().replace("_", "-")
    try:
        return SOURCES[ALIASES.get(plain, plain)]
    except KeyError:
        raise InputError(f"name must be one of {', '.join(SOURCES)}; got {name!r}") from None
