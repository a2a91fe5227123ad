"""Lines, files and words of the tree at some revisions, by folder.

python benchmarks/sizes.py 7392463 HEAD > benchmarks/reports/sizes.csv
"""

from __future__ import annotations

import argparse
import csv
import subprocess
import sys
from collections import Counter
from pathlib import PurePosixPath

FOLDERS = ("reproduce", "tests", "benchmarks", "website", "examples")


def git(*words: str) -> str:
    return subprocess.run(["git", *words], capture_output=True, check=True).stdout.decode(
        errors="replace"
    )


def folder_of(path: PurePosixPath) -> str | None:
    """The row of a file: a folder of the package, another folder of code, or the pages."""
    if path.suffix == ".py" and path.parts[:2] == ("src", "subadjacent"):
        return "/".join(path.parts[1:3]) if len(path.parts) > 3 else "subadjacent/*.py"
    if path.suffix == ".py" and path.parts[0] in FOLDERS:
        return path.parts[0]
    if path.suffix == ".js" and path.parts[0] == "src":
        return "JavaScript"
    is_page = path.suffix == ".md" and path.parts[0] == "docs"
    return "docs (words)" if is_page or str(path) == "README.md" else None


def sizes(revision: str) -> dict[str, tuple[int, int]]:
    """Files and lines (of pages: words) of every folder."""
    files: Counter[str] = Counter()
    amounts: Counter[str] = Counter()
    for name in git("ls-tree", "-r", "--name-only", revision).splitlines():
        folder = folder_of(PurePosixPath(name))
        if folder is None:
            continue
        text = git("show", f"{revision}:{name}")
        amount = len(text.split()) if folder == "docs (words)" else text.count("\n")
        package = ("subadjacent (all)",) if folder.startswith("subadjacent") else ()
        for row in (folder, *package):
            files[row] += 1
            amounts[row] += amount
    return {row: (files[row], amounts[row]) for row in sorted(files)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("revisions", nargs="+")
    revisions = parser.parse_args().revisions
    found = {revision: sizes(revision) for revision in revisions}
    writer = csv.writer(sys.stdout, lineterminator="\n")
    names = [f"{what} {revision}" for revision in revisions for what in ("files", "lines")]
    writer.writerow(["folder", *names])
    for row in sorted({row for each in found.values() for row in each}):
        writer.writerow([row, *(n for each in found.values() for n in each.get(row, (0, 0)))])


if __name__ == "__main__":
    main()
