"""``python -m website [folder]``: build the site, and follow its links; what is wrong ends it."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from sphinx.cmd.build import build_main

from website.check import problems
from website.gather import ROOT, Gathering


def build(site: Path, work: Path) -> int:
    """Build the site anew; 0 when nothing is wrong."""
    for folder in (site, work):
        shutil.rmtree(folder, ignore_errors=True)
    source = work / "source"
    Gathering(ROOT, source).run()
    options = ["-b", "html", "-c", str(Path(__file__).parent), "-d", str(work / "doctrees")]
    strict = ["--fail-on-warning", "--keep-going", "--quiet", "--jobs", "2"]
    failed = build_main([*options, *strict, str(source), str(site)])
    wrong = list(problems(site))
    for sentence in wrong:
        print(sentence, file=sys.stderr)
    return int(bool(failed or wrong))


if __name__ == "__main__":
    sys.exit(build(Path(sys.argv[1] if len(sys.argv) > 1 else "site"), Path("build/website")))
