"""Bad files and settings: the command exits with 1 and one clear sentence."""

from __future__ import annotations

from pathlib import Path

from running import Run

GOOD = "time,a,b\n" + "".join(
    f"2026-01-01T00:{n // 60:02}:{n % 60:02},{n % 7},{n % 5}\n" for n in range(120)
)
BAD = {
    "junk.parquet": (bytes(range(256)) * 20, "it is something else"),
    "one bad cell.csv": (
        (GOOD + "2026-01-01T00:02:00,Bad Input,5\n").encode(),
        "line 122, column 'a', must hold a number of at most 1e+100",
    ),
    "large.csv": ((GOOD + "2026-01-01T00:02:00,1e308,5\n").encode(), "must not exceed 1e+100"),
    "short.csv": (b"".join(GOOD.encode().splitlines(keepends=True)[:4]), "at least 8 rows"),
}


def test_a_bad_file_is_refused_with_one_sentence(command: Run, tmp_path: Path) -> None:
    for name, (content, reason) in BAD.items():
        (tmp_path / name).write_bytes(content)
        done = command("fit", name, "-o", "model", "--quiet", code=1)
        assert done.stdout == ""
        (sentence,) = done.stderr.strip().splitlines()
        assert sentence.startswith("error: ")
        assert "--debug" not in sentence, "an error that the library did not expect"
        assert reason in sentence
        assert name in sentence
        assert not (tmp_path / "model").exists()


def test_a_bad_settings_file_is_refused(command: Run, tmp_path: Path) -> None:
    for text, reason in (
        (None, "is not a file"),
        ("smoohting = 3\n", "smoohting"),
        ("smoothing = \n", "must be TOML"),
        ("smoothing = 0\n", "settings.toml: smoothing must be a whole number"),
        ("contamination = 2\n", "settings.toml: contamination must be"),
    ):
        if text is not None:
            (tmp_path / "settings.toml").write_text(text)
        # before the file of rows is opened
        done = command("fit", "nowhere.csv", "-o", "model", "--config", "settings.toml", code=1)
        assert reason in done.stderr
