"""The table of public sets, where they are looked for, and whether they are whole."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from benchmark_files import SHARED, write_lines
from reproduce.benchmarks import (
    SOURCES,
    Benchmark,
    check,
    data_root,
    find,
    fingerprint,
    load_benchmark,
    source_named,
)
from reproduce.benchmarks.archive import write_npz
from reproduce.comparison import paper_tables
from subadjacent import DataNotFound, InputError, TestSeries, TrainSeries


def test_the_table_says_what_table_1_says() -> None:
    rows = paper_tables()["table1"]["facts"]["rows"]
    assert len(rows) == len(SOURCES)
    for source in SOURCES.values():
        thousands = [rows // 1000 for rows in (source.train_rows, source.test_rows)]
        facts = [source.channels, source.entities, *thousands, source.anomaly_rate]
        assert facts == rows[source.title]


def test_names_go_in_any_case_and_an_unknown_one_lists_the_known() -> None:
    for name in ("nips-ts", "NIPS_TS", "NeurIPS-TS", "neurips_ts"):
        assert source_named(name) is SOURCES["nips-ts"]
    with pytest.raises(InputError, match=r"one of swat, wadi, psm, .*; got 'kdd99'"):
        load_benchmark("kdd99")


def test_the_root_is_the_one_given_or_the_variable_or_the_default(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("SUBADJACENT_DATA", str(tmp_path))
    assert data_root("here") == Path("here")
    assert data_root() == tmp_path
    monkeypatch.delenv("SUBADJACENT_DATA")
    assert data_root() == Path.home() / ".cache" / "subadjacent"
    assert data_root("~/x") == Path.home() / "x"


def test_a_set_that_is_not_there_says_what_was_found_and_how_to_get_it(tmp_path: Path) -> None:
    (tmp_path / "ServerMachineDataset" / "train").mkdir(parents=True)
    (tmp_path / "ServerMachineDataset" / "test").mkdir()
    with pytest.raises(DataNotFound) as caught:
        load_benchmark("smd", tmp_path)
    message = str(caught.value)
    assert f"SMD is not in {tmp_path}" in message
    assert "ServerMachineDataset/train is there, test_label beside it is not" in message
    assert "'python -m reproduce data get smd'" in message


def test_all_machines_win_over_nineteen(tmp_path: Path) -> None:
    for part in ("train", "test", "test_label"):
        (tmp_path / "ServerMachineDataset" / part).mkdir(parents=True)
    (tmp_path / "smd19.npz").touch()
    found = find(SOURCES["smd"], tmp_path)
    assert found is not None
    assert found[0] == tmp_path / "ServerMachineDataset"


def test_neurips_ts_needs_no_file(tmp_path: Path) -> None:
    clean = load_benchmark("nips-ts", tmp_path)
    assert (clean.origin, check(clean)) == ("generated", "complete")
    # without anomalies the sine stays within its amplitude and noise
    assert np.abs(clean.train[0].values).max() < 2
    contaminated = load_benchmark("nips-ts", tmp_path, contaminated=True)
    assert np.abs(contaminated.train[0].values).max() > 5
    np.testing.assert_array_equal(contaminated.test[0].rows.values, clean.test[0].rows.values)
    assert fingerprint(contaminated) != fingerprint(clean)
    # no other set can be contaminated
    with pytest.raises(InputError, match="contaminated must be left out for MSL"):
        load_benchmark("msl", contaminated=True)


@pytest.mark.shared
@pytest.mark.parametrize(
    ("name", "title", "verdict", "segments"),
    [
        ("msl", "MSL", "complete", 36),
        ("smap", "SMAP", "complete", 69),
        ("smd", "SMD (19 of 28 machines)", "19 of 28 machines", 268),
        ("nips-ts", "NeurIPS-TS", "complete", 1730),
    ],
)
def test_the_real_sets_are_as_published(name: str, title: str, verdict: str, segments: int) -> None:
    if not (SHARED / "msl.npz").exists():
        pytest.skip(f"benchmark data is not there: {SHARED}")
    found = load_benchmark(name, SHARED)
    assert (found.title, check(found)) == (title, verdict)
    runs = sum(np.count_nonzero(np.diff(one.labels, prepend=0) == 1) for one in found.test)
    assert runs == segments
    source = SOURCES[name]
    if not found.coverage:
        assert len(found.train) == source.entities
        assert sum(map(len, found.train)) == source.train_rows
        labels = np.concatenate([one.labels for one in found.test])
        assert len(labels) == source.test_rows
        assert round(100 * labels.mean(), 2) == source.anomaly_rate
    else:
        assert len(found.train) == 19
        assert (sum(map(len, found.train)), sum(map(len, found.test))) == (450_219, 450_232)
    assert all(np.isfinite(one.values).all() for one in found.train)
    assert all(one.values.shape[1] == source.channels for one in found.train)


def small(**changed: object) -> Benchmark:
    values = np.arange(6, dtype=np.float32).reshape(3, 2)
    series = TrainSeries(values, entity="a")
    facts = {
        "name": "smd",
        "title": "SMD",
        "train": (series,),
        "test": (TestSeries(series, np.array([0, 1, 0])),),
        "origin": "here",
    }
    return Benchmark(**(facts | changed))  # type: ignore[arg-type]  # the facts fit


def test_a_fingerprint_follows_from_the_data() -> None:
    one = small()
    series = one.train[0]
    assert fingerprint(one) == fingerprint(small(origin="there", title="another"))
    assert len(fingerprint(one)) == 16
    for other in (
        replace(series, values=series.values + 1),
        replace(series, entity="b"),
        replace(series, values=series.values.reshape(2, 3), channels=()),
    ):
        test = TestSeries(other, np.arange(len(other)) == 1)
        assert fingerprint(one) != fingerprint(small(train=(other,), test=(test,)))
    one_label = small(test=(TestSeries(series, np.array([0, 0, 1])),))
    assert fingerprint(one) != fingerprint(one_label)


def test_a_verdict_names_all_that_differs(tmp_path: Path) -> None:
    nips = load_benchmark("nips-ts", tmp_path)
    short = nips.train[0].values[:100]
    test = TestSeries(TrainSeries(short), np.zeros(100, np.uint8))
    shorter = replace(nips, train=(TrainSeries(short),), test=(test,))
    assert check(shorter) == (
        "differs: 100 train rows, not 20,000; 100 test rows, not 20,000; "
        "0.0 % anomalous, not 22.44; 0 segments, not 1,730"
    )
    # one value is noticed, and other channels where entities are missing
    values = nips.train[0].values.copy()
    values[7] += 1
    other = replace(nips, train=(TrainSeries(values),))
    assert check(other) == "differs: sizes are right, values are not those published"
    assert check(small(coverage="1 of 28 machines")) == "differs: 2 channels, not 38"


def test_arrays_and_text_need_numpy_alone(tmp_path: Path) -> None:
    """The GPU image has no polars: what it can be given must be readable there."""
    write_npz(load_benchmark("nips-ts", tmp_path), tmp_path / "nips_ts.npz")
    for part, rows in (("train", 4), ("test", 3)):
        np.save(tmp_path / f"MSL_{part}.npy", np.zeros((rows, 55)))
        (tmp_path / "SMAP" / part).mkdir(parents=True)
        np.save(tmp_path / "SMAP" / part / "P-1.npy", np.zeros((rows, 25)))
    np.save(tmp_path / "MSL_test_label.npy", np.zeros(3))
    (tmp_path / "SMAP" / "labeled_anomalies.csv").write_text(
        'chan_id,spacecraft,anomaly_sequences\nP-1,SMAP,"[[0, 1]]"\n'
    )
    for part, width in (("train", 38), ("test", 38), ("test_label", 1)):
        write_lines(tmp_path / "SMD" / part / "machine-1-1.txt", [[0] * width] * 3)
    code = f"""
import sys
for name in ("polars", "fastexcel", "pandas", "narwhals", "pyarrow"):
    sys.modules[name] = None
from reproduce.benchmarks import load_benchmark
for name in ("nips-ts", "msl", "smap", "smd"):
    print(load_benchmark(name, {str(tmp_path)!r}).title)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stderr == ""
    assert done.stdout.splitlines() == [
        "NeurIPS-TS", "MSL", "SMAP (1 of 55 entities)", "SMD (1 of 28 machines)",
    ]  # fmt: skip
