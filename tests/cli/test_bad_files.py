"""Files as they come: each works, or the command exits with 1 and one clear sentence."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import random
import shutil
import subprocess
import sys
import zipfile
from datetime import datetime, timedelta
from pathlib import Path

import polars as pl
import pytest

from running import COMMAND, GENEROUS, Run
from subadjacent.data.files import open_files

HEADER = "time,a,b\n"
ROWS = "".join(f"2026-01-01T00:{n // 60:02}:{n % 60:02},{n % 7},{n % 5}\n" for n in range(120))
GOOD = HEADER + ROWS


def nested() -> bytes:
    frame = pl.DataFrame({"b": [[1, 2], [3]]})
    return write_parquet(frame)


def zipped(**members: str) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def write_parquet(frame: pl.DataFrame) -> bytes:
    import io

    buffer = io.BytesIO()
    frame.write_parquet(buffer)
    return buffer.getvalue()


BAD = {
    "empty.csv": (b"", "empty"),
    "header only.csv": (HEADER.encode(), "must have rows"),
    "junk.csv": (bytes(range(256)) * 20, ""),
    "junk.parquet": (bytes(range(256)) * 20, ""),
    "cut.parquet": (write_parquet(pl.DataFrame({"a": range(1000)}))[:-50], ""),
    "nested.parquet": (nested(), "at least one column of numbers"),
    "ragged.csv": ((HEADER + ROWS[:100].rsplit("\n", 1)[0] + "\n1,2\n" + ROWS).encode(), ""),
    "text.csv": ((HEADER + "2026-01-01,1,2\n2026-01-02,hot,2\n").encode(), "hot"),
    "twice.csv": (GOOD.replace("time,a,b", "time,a,a").encode(), "a"),
    "no numbers.csv": (
        b"name,place\nx,y\nz,w\n",
        "line 2, column 'name', holds 'x'; line 2, column 'place', holds 'y'",
    ),
    "one bad cell.csv": (
        (GOOD + "2026-01-01T00:02:00,Bad Input,5\n").encode(),
        (
            "line 122, column 'a', must hold a number of at most 1e+100, or nothing where it is "
            "missing; it holds 'Bad Input': correct it, leave the column out (--ignore 'a'), or "
            "let such cells count as missing (--missing 'Bad Input')"
        ),
    ),
    "too large.csv": (
        (GOOD + "2026-01-01T00:02:00,1e400,5\n").encode(),
        "line 122, column 'a', must hold a number of at most 1e+100",
    ),
    "large.csv": ((GOOD + "2026-01-01T00:02:00,1e308,5\n").encode(), "must not exceed 1e+100"),
    "two.zip": (zipped(a=GOOD, b=GOOD), "it holds 2, 'a', 'b'"),
    "parquet.gz": (gzip.compress(nested()), "a packed Parquet file: unpack it"),
    "backwards.csv": (
        (HEADER + "".join(reversed(ROWS.splitlines(keepends=True)))).encode(),
        "",
    ),
    "short.csv": (
        (HEADER + ROWS[:100].rsplit("\n", 1)[0] + "\n").encode(),
        "must have at least 8 rows",
    ),
    "bad time.csv": (
        (HEADER + ROWS + "yesterday,1,2\n").encode(),
        "yesterday",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_file_is_refused_with_one_sentence(command: Run, tmp_path: Path, name: str) -> None:
    content, telling = BAD[name]
    (tmp_path / name).write_bytes(content)
    done = command("fit", name, "-o", "model", "--quiet", code=1)
    assert done.stdout == ""
    (sentence,) = done.stderr.strip().splitlines()
    assert sentence.startswith("error: ")
    assert "--debug" not in sentence, "an error of ours, not one that slipped through"
    assert telling in sentence
    assert name in sentence
    assert not (tmp_path / "model").exists()


WORKING = {
    "bom.csv": b"\xef\xbb\xbf" + GOOD.encode(),
    "semicolons.csv": GOOD.replace(",", ";").encode(),
    "decimal commas.csv": (
        "time;a;b\n"
        + "".join(f"2026-01-01 00:{n // 60:02}:{n % 60:02};{n},5;{n % 3},25\n" for n in range(120))
    ).encode(),
    "tabs.tsv": GOOD.replace(",", "\t").encode(),
    "latin.csv": GOOD.replace("a,b", "Wärme,Druck").encode("latin-1"),
    "sixteen bits.csv": GOOD.encode("utf-16"),
    "no header.csv": "".join(f"{n % 7},{n % 5}\n" for n in range(120)).encode(),
    "epoch seconds.csv": (
        "time,a\n" + "".join(f"{1767225600 + 60 * n},{n % 7}\n" for n in range(120))
    ).encode(),
    "epoch ms.csv": (
        "time,a\n" + "".join(f"{1767225600000 + 60000 * n},{n % 7}\n" for n in range(120))
    ).encode(),
    "zones.csv": (
        "time,a\n"
        + "".join(f"2026-01-01T{n // 60:02}:{n % 60:02}:00+00:00,{n % 7}\n" for n in range(60))
        + "".join(f"2026-01-01T{2 + n // 60:02}:{n % 60:02}:00+01:00,{n}\n" for n in range(60))
    ).encode(),
    "missing words.csv": (GOOD + "2026-01-01T00:02:00,NA,\n").encode(),
    "packed.csv.gz": gzip.compress(GOOD.encode()),
    "packed.csv.bz2": bz2.compress(GOOD.encode()),
    "packed.csv.xz": lzma.compress(GOOD.encode()),
    "packed.zip": zipped(**{"deep/plant.csv": GOOD}),
    "sixteen bits without a mark.csv": GOOD.encode("utf-16-le"),
    "ended by DOS.csv": GOOD.encode() + b"\x1a",
    "title, comments and units.csv": (
        "Plant A\n# exported\n" + HEADER + "s,m/s,°C\n" + ROWS + "# end\n"
    ).encode(),
    "spaces.txt": GOOD.replace(",", "  ").encode(),
    "Unicode minus.csv": GOOD.replace(",3,", ",\u22123,").encode(),
    "errors of a spreadsheet.csv": (GOOD + "2026-01-01T00:02:00,#N/A,#DIV/0!\n").encode(),
    "text.parquet": write_parquet(
        pl.DataFrame(
            {
                "a": [f"{n % 7},5" if n % 9 else "NA" for n in range(120)],
                "state": pl.Series(["on", "off"] * 60, dtype=pl.Categorical),
            }
        ).with_columns(a=pl.col("a").str.replace(",", "."))
    ),
    "good.parquet": write_parquet(pl.DataFrame({"a": [float(n % 7) for n in range(120)]})),
}


@pytest.mark.parametrize("name", WORKING)
def test_an_odd_file_works(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(WORKING[name])
    assert len(open_files([str(tmp_path / name)]).whole()) >= 120


def test_a_file_that_is_not_there_is_named(command: Run) -> None:
    done = command("fit", "nowhere-*.csv", "-o", "model", code=1)
    assert "nowhere-*.csv" in done.stderr


def test_a_folder_is_no_file(command: Run, tmp_path: Path) -> None:
    (tmp_path / "folder.csv").mkdir()
    assert "folder.csv" in command("fit", "folder.csv", "-o", "model", code=1).stderr


def test_an_unreadable_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "secret.csv").write_text(GOOD)
    (tmp_path / "secret.csv").chmod(0)
    # root may read everything, unless it gives that up first
    powers = "-dac_override,-dac_read_search"
    humble = ["setpriv", f"--bounding-set={powers}", f"--inh-caps={powers}"]
    if os.geteuid() != 0:
        humble = []
    elif shutil.which("setpriv") is None:
        pytest.skip("root may read everything, and setpriv is not there to give that up")
    done = subprocess.run(
        [*humble, COMMAND, "fit", "secret.csv", "-o", "model"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=GENEROUS,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr == "error: secret.csv must be readable; permission is denied\n"


def test_an_output_that_cannot_be_written_is_named(command: Run, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    done = command("generate", "plant", "--rows", "200", "-o", "file/plant.csv", code=1)
    assert "file" in done.stderr
    assert (tmp_path / "file").read_text() == "in the way"


@pytest.mark.parametrize(
    ("text", "telling"),
    [
        ("smoohting = 3\n", "smoohting"),
        ("smoothing = \n", "must be TOML"),
        ("smoothing = 0\n", "settings.toml: smoothing must be a whole number"),
        ("contamination = 2\n", "settings.toml: contamination must be"),
        (None, "is not a file"),
    ],
)
def test_a_bad_settings_file_is_refused(
    command: Run, tmp_path: Path, text: str | None, telling: str
) -> None:
    if text is not None:
        (tmp_path / "settings.toml").write_text(text)
    # before the file is looked for
    done = command("fit", "nowhere.csv", "-o", "model", "--config", "settings.toml", code=1)
    assert telling in done.stderr


MUTATIONS, DAMAGES = 40, 20

# damages with which polars 2.1 ends the process that reads the file
ABORTING = [6]

SPLICES = [b"\0", b'"', b";", b",,", b"\r", b"\xff\xfe", b"1e999"]


def mutate(content: bytearray, rng: random.Random) -> None:
    at = rng.randrange(len(content))
    change = rng.choice(["cut", "flip", "double", "splice"])
    if change == "cut":
        del content[at : at + rng.randint(1, 400)]
    elif change == "flip":
        content[at] = rng.randrange(256)
    elif change == "double":
        content[at:at] = content[at : at + rng.randint(1, 60)]
    else:
        content[at:at] = rng.choice(SPLICES)


def test_mutated_files_never_give_a_traceback(command: Run, tmp_path: Path) -> None:
    """Each of them works, or is refused with one sentence."""
    good = "time,score,y\n" + "".join(
        f"2026-01-01T00:{n // 60:02}:{n % 60:02},{n % 7},{n % 2}\n" for n in range(200)
    )
    rng = random.Random(7)
    codes = []
    for _ in range(MUTATIONS):
        content = bytearray(good.encode())
        for _ in range(rng.randint(1, 4)):
            mutate(content, rng)
        (tmp_path / "mutated.csv").write_bytes(bytes(content))
        codes.append(evaluate(command, "mutated.csv").returncode)
    assert set(codes) == {0, 1}


def scored_parquet() -> bytes:
    n = 500
    start = datetime(2026, 1, 1)
    frame = pl.DataFrame(
        {
            "time": [start + timedelta(minutes=minute) for minute in range(n)],
            "score": [float(row % 7) for row in range(n)],
            "y": [row % 2 for row in range(n)],
        }
    )
    buffer = io.BytesIO()
    frame.write_parquet(buffer, compression="snappy", row_group_size=200)
    return buffer.getvalue()


def damage(content: bytes, rng: random.Random) -> bytes:
    """Turned bits, overwritten ranges, and now and then a cut."""
    damaged = bytearray(content)
    for _ in range(rng.randint(1, 2)):
        at = rng.randrange(len(damaged))
        change = rng.choice(["bit", "bit", "bit", "range", "range", "cut"])
        if change == "bit":
            damaged[at] ^= 1 << rng.randrange(8)
        elif change == "range":
            length = min(rng.randint(1, 8), len(damaged) - at)
            damaged[at : at + length] = rng.randbytes(length)
        else:
            del damaged[at : at + rng.randint(1, 60)]
    return bytes(damaged)


def evaluate(run: Run, name: str) -> subprocess.CompletedProcess[str]:
    """Read a file with the command, which works, or says one sentence and nothing else."""
    done = run("evaluate", name, "--label", "y", "--threshold", "3", "-q", code=(0, 1))
    assert "--debug" not in done.stderr, "an error of ours, not one that slipped through"
    if done.returncode == 1:
        (sentence,) = done.stderr.strip().splitlines()
        assert sentence.startswith("error: ")
        assert name in sentence
    else:
        assert done.stderr == ""
    return done


def test_damaged_parquet_files_never_end_the_command(
    command: Run, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Each of them works, or is refused with one sentence."""
    good = scored_parquet()
    codes = []
    for number in range(DAMAGES):
        content = damage(good, random.Random(number)) if number else good
        (tmp_path / "damaged.parquet").write_bytes(content)
        codes.append(evaluate(command, "damaged.parquet").returncode)
    assert codes[0] == 0
    assert 1 in codes
    # nor does the library that reads them say anything by itself
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("seed", ABORTING)
def test_a_file_that_ends_its_reader_does_not_end_the_command(
    process: Run, tmp_path: Path, seed: int
) -> None:
    content = damage(scored_parquet(), random.Random(seed))
    (tmp_path / "alone.parquet").write_bytes(content)
    alone = subprocess.run(
        [sys.executable, "-c", "import polars; polars.read_parquet('alone.parquet')"],
        cwd=tmp_path,
        capture_output=True,
        timeout=GENEROUS,
        check=False,
    )
    if alone.returncode >= 0:
        pytest.skip("this polars writes the file otherwise, or survives it")
    assert evaluate(process, "alone.parquet").stderr == (
        "error: alone.parquet is damaged: it cannot be decoded; get it again, or export it as CSV\n"
    )


@pytest.mark.parametrize(
    ("options", "telling"),
    [
        (["--score", "points"], "has no column 'points'"),
        ([], "--threshold is needed where there is no column 'anomalous'"),
    ],
)
def test_evaluate_says_what_it_misses(
    command: Run, tmp_path: Path, options: list[str], telling: str
) -> None:
    (tmp_path / "scored.csv").write_text("score,y\n1,0\n2,1\n")
    assert telling in command("evaluate", "scored.csv", "--label", "y", *options, code=1).stderr
