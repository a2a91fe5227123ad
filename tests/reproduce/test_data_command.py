"""`python -m reproduce data`, as a person would type it."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import numpy as np
import pytest

from file_server import FileServer, serve
from running import Run, json_lines

NAMES = ["swat", "wadi", "psm", "msl", "smap", "smd", "nips-ts"]


def psm_files(rows: int = 40) -> dict[str, bytes]:
    """The publishers' files, but short."""
    names = ",".join(f"feature_{number}" for number in range(25))
    values = ",".join(["0.5"] * 25)
    lines = "\n".join(f"{row},{values}" for row in range(rows))
    labels = "\n".join(f"{row},{int(row > 30)}" for row in range(rows))
    features = f"timestamp_(min),{names}\n{lines}\n".encode()
    return {
        "/copy/train.csv": features,
        "/copy/test.csv": features,
        "/copy/test_label.csv": f"timestamp_(min),label\n{labels}\n".encode(),
    }


def test_list_is_a_table_json_or_csv(command: Run, tmp_path: Path) -> None:
    done = command("data", "list", "--root", tmp_path)
    lines = done.stdout.splitlines()
    assert lines[0].split() == ["name", "about", "licence", "there", "verdict"]
    assert [line.split()[0] for line in lines[1:]] == NAMES
    assert "CC BY 4.0" in lines[3]
    assert lines[7].endswith("generated  complete")
    assert done.stderr == ""
    (tmp_path / "msl.npz").write_bytes(b"nothing of the kind")
    found = json_lines(command("data", "list", "--root", tmp_path, "--format", "json").stdout)
    assert [line["name"] for line in found] == NAMES
    assert [line["there"] for line in found] == ["no"] * 3 + ["yes"] + ["no"] * 2 + ["generated"]
    assert found[-1]["verdict"] == "complete"
    # one that cannot be read does not stop the list
    assert found[3]["verdict"].startswith(f"cannot be read: {tmp_path / 'msl.npz'} is damaged")
    assert found[3]["fingerprint"] is None
    options = ("--root", tmp_path, "--format", "csv", "-q", "--no-check")
    rows = list(csv.DictReader(io.StringIO(command("data", "list", *options).stdout)))
    assert rows[5]["title"] == "SMD"
    assert {row["verdict"] for row in rows} == {""}


def test_info_describes_one_dataset(command: Run, tmp_path: Path) -> None:
    found = json.loads(command("data", "info", "SMD", "--root", tmp_path).stdout)
    assert (found["name"], found["channels"], found["entities"]) == ("smd", 38, 28)
    assert found["licence"] == "MIT"
    assert "OmniAnomaly" in found["origin"]
    assert str(tmp_path / "ServerMachineDataset") in found["looked_in"]
    assert ["train", "test", "test_label"] in found["files"]
    assert (found["path"], found["verdict"], found["fingerprint"]) == ("", "", None)
    assert "data get smd" in found["how_to_get"]


def test_path_prints_where_a_dataset_is(command: Run, tmp_path: Path) -> None:
    for part in ("train", "test", "test_label"):
        np.save(tmp_path / f"SMAP_{part}.npy", np.zeros(1))
    assert command("data", "path", "smap", "--root", tmp_path).stdout == f"{tmp_path}\n"
    for verb in ("info", "path", "get"):
        done = command("data", verb, "kdd99", code=2)
        assert "got 'kdd99'" in " ".join(done.stderr.split())
        assert done.stdout == ""
    for name in ("swat", "nips-ts"):
        done = command("data", "path", name, "--root", tmp_path, code=1)
        assert done.stdout == ""
        assert f" is not in {tmp_path}" in done.stderr
        assert done.stderr.count("\n") == 1


@pytest.mark.usefixtures("impatient")
def test_get_fetches_what_is_missing(command: Run, tmp_path: Path) -> None:
    files = psm_files()
    server = FileServer({"/copy/train.csv": files["/copy/train.csv"]})
    with serve(server) as address:
        arguments = ("data", "get", "psm", "--root", "sets", "--from", f"{address}/copy")
        done = command(*arguments, code=1)
        assert "test.csv cannot be fetched (404" in done.stderr
        assert done.stdout == ""
        server.files, server.requests = files, []
        done = command(*arguments)
        assert command(*arguments, "--quiet").stderr == ""
    assert server.requests == ["/copy/test.csv", "/copy/test_label.csv"]
    result = json.loads(done.stdout)
    assert result["path"] == str(Path("sets") / "PSM")
    assert result["verdict"].startswith("differs: 40 train rows, not 132,481; 40 test rows")
    assert len(result["fingerprint"]) == 16
    assert "compared by its content with Table 1" in done.stderr
    for name, content in files.items():
        assert (tmp_path / "sets" / "PSM" / Path(name).name).read_bytes() == content
