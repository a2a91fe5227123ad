"""`subadjacent data`, as a person would type it."""

from __future__ import annotations

import csv
import io
import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from benchmark_files import SHARED
from running import GENEROUS, Run, json_lines, wait_until
from serving import Behaviour, serving

NAMES = ["swat", "wadi", "psm", "msl", "smap", "smd", "nips-ts"]


def psm_files(rows: int = 40) -> dict[str, bytes]:
    """What the publishers' folder holds, but short."""
    names = ",".join(f"feature_{number}" for number in range(25))
    values = ",".join(["0.5"] * 25)
    lines = "\n".join(f"{row},{values}" for row in range(rows))
    labels = "\n".join(f"{row},{int(row > 30)}" for row in range(rows))
    return {
        "/copy/train.csv": f"timestamp_(min),{names}\n{lines}\n".encode(),
        "/copy/test.csv": f"timestamp_(min),{names}\n{lines}\n".encode(),
        "/copy/test_label.csv": f"timestamp_(min),label\n{labels}\n".encode(),
    }


def test_list_is_a_table_of_every_set(command: Run, tmp_path: Path) -> None:
    done = command("data", "list", "--root", tmp_path)
    lines = done.stdout.splitlines()
    assert lines[0].split() == ["name", "about", "licence", "there", "verdict"]
    assert [line.split()[0] for line in lines[1:]] == NAMES
    assert "CC BY 4.0" in lines[3]
    assert lines[7].endswith("generated  complete")
    assert done.stderr == ""


def test_list_prints_json_and_csv(command: Run, tmp_path: Path) -> None:
    found = json_lines(command("data", "list", "--root", tmp_path, "--format", "json").stdout)
    assert [one["name"] for one in found] == NAMES
    assert {one["there"] for one in found[:-1]} == {"no"}
    assert (found[-1]["there"], found[-1]["verdict"]) == ("generated", "complete")
    text = command("data", "list", "--root", tmp_path, "--format", "csv", "-q").stdout
    assert [row["title"] for row in csv.DictReader(io.StringIO(text))][5] == "SMD"


@pytest.mark.parametrize(("flag", "verdict"), [("--check", "complete"), ("--no-check", "")])
def test_list_reads_the_sets_unless_told_not_to(
    command: Run, tmp_path: Path, flag: str, verdict: str
) -> None:
    done = command("data", "list", "--root", tmp_path, flag, "--format", "json")
    assert json_lines(done.stdout)[-1]["verdict"] == verdict


def test_a_set_that_cannot_be_read_does_not_stop_the_list(command: Run, tmp_path: Path) -> None:
    (tmp_path / "msl.npz").write_bytes(b"nothing of the kind")
    found = json_lines(command("data", "list", "--root", tmp_path, "--format", "json").stdout)
    assert found[3]["verdict"].startswith("cannot be read: ")
    assert "msl.npz is damaged" in found[3]["verdict"]
    assert found[3]["fingerprint"] is None


@pytest.mark.shared
def test_the_variable_says_where_the_real_sets_are(command: Run) -> None:
    if not (SHARED / "msl.npz").exists():
        pytest.skip(f"benchmark data is not there: {SHARED}")
    env = os.environ | {"SUBADJACENT_DATA": str(SHARED)}
    found = json_lines(command("data", "list", "--format", "json", env=env).stdout)
    verdicts = {one["name"]: one["verdict"] for one in found if one["there"] == "yes"}
    assert verdicts == {
        "msl": "complete",
        "smap": "complete",
        "smd": "19 of 28 machines",
        "nips-ts": "complete",
    }
    assert command("data", "path", "smd", env=env).stdout.strip() == str(SHARED / "smd19.npz")


def test_info_tells_all_about_one_set(command: Run, tmp_path: Path) -> None:
    found = json.loads(command("data", "info", "SMD", "--root", tmp_path).stdout)
    assert (found["name"], found["channels"], found["entities"]) == ("smd", 38, 28)
    assert found["licence"] == "MIT"
    assert "OmniAnomaly" in found["origin"]
    assert str(tmp_path / "ServerMachineDataset") in found["looked_in"]
    assert ["train", "test", "test_label"] in found["files"]
    assert (found["path"], found["verdict"], found["fingerprint"]) == ("", "", None)
    assert "data get smd" in found["how_to_get"]


def test_path_prints_where_a_set_is(command: Run, tmp_path: Path) -> None:
    for part in ("train", "test", "test_label"):
        np.save(tmp_path / f"SMAP_{part}.npy", np.zeros(1))
    done = command("data", "path", "smap", "--root", tmp_path)
    assert done.stdout == f"{tmp_path}\n"


@pytest.mark.parametrize("name", ["swat", "smd", "nips-ts"])
def test_path_of_a_set_that_is_not_there_is_bad_input(
    command: Run, tmp_path: Path, name: str
) -> None:
    done = command("data", "path", name, "--root", tmp_path, code=1)
    assert done.stdout == ""
    assert f" is not in {tmp_path}" in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("verb", ["info", "path", "get"])
def test_an_unknown_set_is_bad_usage(command: Run, verb: str) -> None:
    done = command("data", verb, "kdd99", code=2)
    assert "got 'kdd99'" in " ".join(done.stderr.split())
    assert done.stdout == ""


def test_get_fetches_over_connections_that_break(command: Run, tmp_path: Path) -> None:
    how = Behaviour(psm_files(), cut=3_000)
    with serving(how) as address:
        done = command("data", "get", "psm", "--root", "sets", "--from", f"{address}/copy")
    result = json.loads(done.stdout)
    assert result["path"] == str(Path("sets") / "PSM")
    assert result["verdict"].startswith("differs: 40 train rows, not 132,481; 40 test rows")
    assert len(result["fingerprint"]) == 16
    assert "judged by its content against Table 1" in done.stderr
    assert any(wanted for _, wanted in how.asked)
    for name, content in psm_files().items():
        assert (tmp_path / "sets" / "PSM" / Path(name).name).read_bytes() == content


def test_get_fetches_from_a_server_without_ranges(command: Run, tmp_path: Path) -> None:
    with serving(Behaviour(psm_files(), ranges=False, cut=3_000, cuts=1)) as address:
        done = command("data", "get", "psm", "--root", ".", "--from", f"{address}/copy", "--quiet")
    assert done.stderr == ""
    assert sorted(file.name for file in (tmp_path / "PSM").iterdir()) == [
        "test.csv", "test_label.csv", "train.csv",
    ]  # fmt: skip


def test_get_goes_on_after_files_that_are_there(command: Run) -> None:
    files = psm_files()
    how = Behaviour({"/copy/train.csv": files["/copy/train.csv"]})
    with serving(how) as address:
        arguments = ("data", "get", "psm", "--root", ".", "--from", f"{address}/copy")
        done = command(*arguments, code=1)
        assert "test.csv is not to be had: the server answers 404" in done.stderr
        assert done.stdout == ""
        how.files, how.asked = files, []
        command(*arguments)
    assert [path for path, _ in how.asked] == ["/copy/test.csv", "/copy/test_label.csv"]


def test_get_goes_on_after_an_interruption(
    command: Run, environment: dict[str, str], tmp_path: Path
) -> None:
    stalls = threading.Event()
    how = Behaviour(psm_files(), cut=2_000, stalls=stalls)
    with serving(how) as address:
        arguments = ["data", "get", "psm", "--root", ".", "--from", f"{address}/copy"]
        running = subprocess.Popen(
            [sys.executable, "-m", "reproduce", *arguments],
            cwd=tmp_path,
            env=environment,
            stderr=subprocess.PIPE,
            text=True,
        )
        part = tmp_path / "PSM" / "train.csv.part"
        # then it waits for bytes that do not come
        wait_until(lambda: part.exists() and part.stat().st_size == 2_000, running)
        running.send_signal(signal.SIGINT)
        _, said = running.communicate(timeout=GENEROUS)
        assert running.returncode == 130, said
        stalls.set()
        assert not (tmp_path / "PSM" / "train.csv").exists()
        assert (tmp_path / "PSM" / "train.csv.part").stat().st_size == 2_000
        how.cut, how.asked = None, []
        command(*arguments)
    assert how.asked[0] == ("/copy/train.csv", "bytes=2000-")
    assert sorted(file.name for file in (tmp_path / "PSM").iterdir()) == [
        "test.csv", "test_label.csv", "train.csv",
    ]  # fmt: skip


def test_get_refuses_an_address_that_is_not_safe(command: Run) -> None:
    done = command("data", "get", "psm", "--root", ".", "--from", "http://example.org", code=1)
    assert "address must begin with https://" in done.stderr


@pytest.mark.parametrize("name", ["swat", "wadi"])
def test_get_of_a_set_given_out_on_request_says_how_to_ask(command: Run, name: str) -> None:
    done = command("data", "get", name, "--root", ".", code=1)
    assert "cannot be downloaded" in done.stderr
    assert "itrust.sutd.edu.sg" in done.stderr
    assert done.stdout == ""


def test_get_generates_neurips_ts(command: Run, tmp_path: Path) -> None:
    done = command("data", "get", "nips-ts", "--root", "sets")
    result = json.loads(done.stdout)
    assert result["verdict"] == "complete"
    assert result["path"] == str(Path("sets") / "nips_ts.npz")
    with np.load(tmp_path / "sets" / "nips_ts.npz") as archive:
        assert archive["labels"].sum() == 4_488
