"""Which Pythons and which versions of other packages the package can be installed and run with.

    python benchmarks/install_matrix.py --write          # every cell that has no row yet
    python benchmarks/install_matrix.py --write --again  # all of them
    python benchmarks/install_matrix.py --python /opt/python3.14/bin/python3.14 --write

Builds wheel and sdist, and installs each in an empty environment without the constraints file: for
every Python that is here, with the lowest versions that the ranges of pyproject.toml allow and that
have a wheel for that Python, and with the newest. What is installed is then run
(install_smoke.py): the library with the core install, command and service with the extra `serve`.
An sdist makes the same wheel, so that there the library is run alone. Networks are run with the
version of torch that constraints.txt names, and with no other: each is hundreds of megabytes.

Needs the package index, and about a minute a cell on one quiet core. Rows are written as they come.
"""

from __future__ import annotations

import argparse
import csv
import os
import shutil
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
REPORT = ROOT / "benchmarks" / "reports" / "install_matrix.csv"
PAGE = ROOT / "docs" / "install.md"
BETWEEN = ("<!-- matrix -->\n", "<!-- /matrix -->")
"""Marks of the page around the table."""
SMOKE = ROOT / "benchmarks" / "install_smoke.py"
VERSIONS = ("3.11", "3.12", "3.13", "3.14")
"""Pythons that are promised to work."""
RESOLUTIONS = {"lowest": "lowest-direct", "newest": "highest"}
"""What the table calls them, and what uv does."""
ARCHIVES = {"wheel": "*.whl", "sdist": "*.tar.gz"}
SHOWN = ("numpy", "scipy", "scikit-learn", "polars", "pydantic", "torch")
"""Packages whose versions are columns: the core's largest, and the extras' most demanding."""
CORE = SHOWN[:3]
COLUMNS = (
    "python", "interpreter", "versions", "archive", *SHOWN, "core_mb", "seconds", "ran",
    "result",
)  # fmt: skip
MEGABYTE = 1e6
ONE_THREAD = {"OMP_NUM_THREADS": "1"}

Row = dict[str, str]


class Cell(NamedTuple):
    """One line of the table."""

    python: str
    versions: str
    archive: str


class StepError(Exception):
    """A step that did not work, with the last of what it said."""


class Bench:
    """A folder with the tool that installs, the two archives, and environments that come and go."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.tools = folder, folder / "tools" / "bin"
        venv.create(folder / "tools", with_pip=True)
        call(self.tools / "pip", "install", "--quiet", "uv", "hatchling")
        call(self.tools / "hatchling", "build", "--directory", folder / "dist", cwd=ROOT)

    def uv(self, *words: object) -> str:
        """What the tool printed."""
        return call(self.tools / "uv", *words)

    def archive(self, kind: str) -> Path:
        """The file of one of ``ARCHIVES``."""
        (found,) = (self.folder / "dist").glob(ARCHIVES[kind])
        return found

    def pins(self, interpreter: Path, versions: str) -> Path:
        """The versions that a cell is installed with: of what we name, and of what that needs."""
        file = self.folder / "pins.txt"
        told = self.uv(
            "pip", "compile", "--quiet", "--python", interpreter, "--only-binary", ":all:",
            "--resolution", RESOLUTIONS[versions], "--extra", "serve", "--no-header",
            "--no-annotate", ROOT / "pyproject.toml",
        )  # fmt: skip
        file.write_text(told)
        return file

    def environment(self, interpreter: Path) -> Path:
        """An empty environment; gives its interpreter."""
        folder = self.folder / "cell"
        self.uv("venv", "--quiet", "--clear", "--python", interpreter, folder)
        return folder / "bin" / "python"

    def install(self, python: Path, archive: str, extra: str, *options: object) -> None:
        """Install our package, and what it needs."""
        what = f"subadjacent{extra} @ {self.archive(archive).as_uri()}"
        self.uv("pip", "install", "--quiet", "--python", python, *options, what)


def call(*words: object, cwd: Path | None = None) -> str:
    """Run something, and give what it printed; its last line where it fails."""
    env = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"} | ONE_THREAD
    done = subprocess.run(
        [str(word) for word in words], cwd=cwd, env=env, capture_output=True, text=True, check=False
    )
    if done.returncode:
        lines = [line.strip() for line in (done.stderr or done.stdout).splitlines() if line.strip()]
        raise StepError(lines[-1] if lines else f"exit code {done.returncode}")
    return done.stdout


def interpreters(given: Sequence[Path]) -> dict[str, Path]:
    """Pythons by version: those that are named, on the path, or of pyenv."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    found: dict[str, Path] = {}
    for version in VERSIONS:
        on_path = shutil.which(f"python{version}")
        places = (*given, *sorted(pyenv.glob(f"{version}.*/bin/python"), reverse=True))
        for place in (*places, *((Path(on_path),) if on_path else ())):
            if version_of(place).startswith(f"{version}."):
                found[version] = place
                break
    return found


def version_of(interpreter: Path) -> str:
    try:
        return call(interpreter, "-c", "import platform; print(platform.python_version())").strip()
    except (StepError, OSError):  # a shim of pyenv's without a version behind it
        return ""


def megabytes(python: Path) -> str:
    """What lies in an environment, with compiled files as pip leaves them."""
    packages = python.parents[1] / "lib"
    sizes = (file.stat().st_size for file in packages.rglob("*") if file.is_file())
    return f"{sum(sizes) / MEGABYTE:.0f}"


def pinned(file: Path) -> dict[str, str]:
    lines = (line.partition(";")[0] for line in file.read_text().splitlines())
    return dict(line.strip().split("==") for line in lines if "==" in line)


def fill(bench: Bench, cell: Cell, interpreter: Path) -> Row:
    """Install and run one cell."""
    row = dict.fromkeys(COLUMNS, "") | cell._asdict() | {"interpreter": version_of(interpreter)}
    started = time.perf_counter()
    try:
        pins = bench.pins(interpreter, cell.versions)
        row |= {name: version for name, version in pinned(pins).items() if name in SHOWN}
        python = bench.environment(interpreter)
        measured = cell.archive == "wheel"
        compiled = ("--compile-bytecode",) if measured else ()
        bench.install(python, cell.archive, "", "--constraint", pins, *compiled)
        row["core_mb"] = megabytes(python) if measured else ""
        row["ran"] = run(python, "library")
        if measured:
            bench.install(python, cell.archive, "[serve]", "--constraint", pins)
            row["ran"] += f", {run(python, 'command', 'service')}"
        row["result"] = "works"
    except StepError as error:
        row["result"] = f"fails: {error}"
    return row | {"seconds": f"{time.perf_counter() - started:.0f}"}


def fill_network(bench: Bench, cell: Cell, interpreter: Path) -> Row:
    """Networks, with the one version of torch that the tests run with."""
    row = dict.fromkeys(COLUMNS, "") | cell._asdict() | {"interpreter": version_of(interpreter)}
    started = time.perf_counter()
    constraints = ROOT / "constraints.txt"
    try:
        python = bench.environment(interpreter)
        # pip, which knows where this machine keeps wheels; uv does not read pip's settings
        what = f"subadjacent[network] @ {bench.archive(cell.archive).as_uri()}"
        words = ("install", "--quiet", "--constraint", constraints, what)
        call(bench.tools / "python", "-m", "pip", "--python", python, *words)
        row |= {name: installed(python, name) for name in (*CORE, "torch")}
        row |= {"ran": run(python, "network"), "result": "works"}
    except StepError as error:
        row["result"] = f"fails: {error}"
    return row | {"seconds": f"{time.perf_counter() - started:.0f}"}


def installed(python: Path, name: str) -> str:
    """The version that an environment has of a package."""
    return call(python, "-c", f"import importlib.metadata as m; print(m.version({name!r}))").strip()


def run(python: Path, *parts: str) -> str:
    call(python, "-W", "error::DeprecationWarning", SMOKE, *parts, cwd=python.parents[1])
    return ", ".join(parts)


def read_rows(report: Path) -> dict[Cell, Row]:
    if not report.exists():
        return {}
    with report.open(newline="") as file:
        return {
            # a column may be younger than a row
            Cell(row["python"], row["versions"], row["archive"]): dict.fromkeys(COLUMNS, "") | row
            for row in csv.DictReader(file)
        }


def write_rows(rows: dict[Cell, Row], report: Path) -> None:
    report.parent.mkdir(parents=True, exist_ok=True)
    with report.open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows[cell] for cell in sorted(rows))
    if report == REPORT:
        PAGE.write_text(with_table(PAGE.read_text(), table(rows)))


def table(rows: dict[Cell, Row]) -> str:
    """The rows as Markdown, without sdists that work, and the names of cells that have none."""
    shown = [
        rows[cell]
        for cell in sorted(rows)
        if cell.archive != "sdist" or rows[cell]["result"] != "works"
    ]
    lines = [
        "| Python | versions | from | ran | result | core, MB | " + " | ".join(SHOWN) + " |",
        "|---|---|---|---|---|" + "--:|" * (len(SHOWN) + 1),
    ]
    names = ("interpreter", "versions", "archive", "ran", "result", "core_mb", *SHOWN)
    # an sdist is installed without extras, so that it has versions of the core alone
    extras = set(SHOWN) - set(CORE)
    lines += [
        "| "
        + " | ".join(
            "" if row["archive"] == "sdist" and name in extras else row[name] for name in names
        )
        + " |"
        for row in shown
    ]
    wanted = cells(dict.fromkeys(VERSIONS, Path()))
    if missing := [" ".join(cell) for cell in wanted if cell not in rows]:
        lines += ["", f"Not tried so far, or not to be had: {'; '.join(missing)}."]
    return "\n".join((*lines, ""))


def with_table(page: str, made: str) -> str:
    """A page with the table between its marks in place of the one that stood there."""
    before, _, rest = page.partition(BETWEEN[0])
    return f"{before}{BETWEEN[0]}{made}{BETWEEN[1]}{rest.partition(BETWEEN[1])[2]}"


def cells(found: dict[str, Path]) -> Iterator[Cell]:
    for archive in ARCHIVES:
        for python in found:
            for versions in RESOLUTIONS:
                yield Cell(python, versions, archive)
    # torch is pinned: of the Python that the tests run with
    if (tested := VERSIONS[0]) in found:
        yield Cell(tested, "constraints, torch", "wheel")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--python", type=Path, action="append", default=[], help="a further one")
    parser.add_argument("--only", nargs="+", default=VERSIONS, help="versions, such as 3.12")
    parser.add_argument("--write", action="store_true", help="to the report, not to the terminal")
    parser.add_argument("--again", action="store_true", help="cells that have a row, too")
    parser.add_argument("--output", type=Path, default=REPORT)
    arguments = parser.parse_args()
    found = {v: p for v, p in interpreters(arguments.python).items() if v in arguments.only}
    rows = read_rows(arguments.output)
    with tempfile.TemporaryDirectory(prefix="subadjacent-matrix-") as folder:
        bench = Bench(Path(folder))
        for cell in cells(found):
            if cell in rows and not arguments.again:
                continue
            make = fill_network if "torch" in cell.versions else fill
            rows[cell] = make(bench, cell, found[cell.python])
            print(*(f"{name}={value}" for name, value in rows[cell].items()), file=sys.stderr)
            if arguments.write:
                # another run may have written rows meanwhile
                rows = read_rows(arguments.output) | {cell: rows[cell]}
                write_rows(rows, arguments.output)
    if arguments.write:
        write_rows(rows, arguments.output)
    print(table(rows))
    if any(row["result"] != "works" for row in rows.values()):
        sys.exit(1)


if __name__ == "__main__":
    main()
