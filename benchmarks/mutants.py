"""Random changes of the sources, and which of them the tests of their folder notice.

    python benchmarks/mutants.py draw --count 60 > benchmarks/reports/mutants.csv
    python benchmarks/mutants.py run before

`draw` chooses lines at random and changes one operator, number, argument or condition in each.
`run` applies each change to a copy of the tree, runs the tests of the module, then those of its
folder until one fails, and fills a column of the table.
"""

from __future__ import annotations

import argparse
import ast
import csv
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

ROOT = Path(__file__).resolve().parents[1]
TABLE = ROOT / "benchmarks" / "reports" / "mutants.csv"
# seconds of one run of tests; a change that makes a loop endless is noticed, too
LIMIT = 600
COMMUTATIVE = ("min", "max", "minimum", "maximum", "convolve")
SWAPS: dict[type, type] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.And: ast.Or,
    ast.Or: ast.And,
}  # fmt: skip


def changed(node: ast.AST) -> ast.AST | None:
    """A copy of a node with one thing changed, or None where there is nothing to change."""
    match node:
        case ast.Compare(left, [op], [right]) if type(op) in SWAPS:
            return ast.Compare(left, [SWAPS[type(op)]()], [right])
        case ast.BinOp(left, op, right) if type(op) in SWAPS:
            return ast.BinOp(left, SWAPS[type(op)](), right)
        case ast.BoolOp(op, values):
            return ast.BoolOp(SWAPS[type(op)](), values)
        case ast.UnaryOp(ast.Not(), operand):
            return operand
        case ast.Constant(value) if type(value) in (int, float):
            return ast.Constant(value + 1)
        case ast.Constant(value) if type(value) is bool:
            return ast.Constant(not value)
        case ast.Call(function, [first, second, *rest], keywords) if not (
            ast.unparse(function).endswith(COMMUTATIVE)
        ):
            return ast.Call(function, [second, first, *rest], keywords)
    return None


def changes(path: Path) -> Iterator[tuple[int, str, str]]:
    """Line, text and changed text of every possible change that stands on one line."""
    lines = path.read_text(encoding="utf-8").splitlines()
    for node in ast.walk(ast.parse("\n".join(lines))):
        new = changed(node)
        if new is None or not isinstance(node, ast.expr) or node.lineno != node.end_lineno:
            continue
        line = lines[node.lineno - 1]
        # types are not run, and offsets count bytes
        if not line.isascii() or line.strip().startswith(("@", "from ", "type ")):
            continue
        text = ast.unparse(ast.fix_missing_locations(new))
        after = f"{line[: node.col_offset]}({text}){line[node.end_col_offset :]}"
        yield node.lineno, line, after


def draw(count: int, seed: int) -> list[dict[str, str]]:
    """Changes at random: each file as likely as it has lines, and at most one change."""
    files = sorted([*ROOT.glob("src/**/*.py"), *ROOT.glob("reproduce/**/*.py")])
    possible = {path: found for path in files if (found := sorted(set(changes(path))))}
    chance = random.Random(seed)
    keys = {path: chance.random() ** (1 / len(found)) for path, found in possible.items()}
    rows = []
    for path in sorted(keys, key=keys.__getitem__)[-count:]:
        number, line, after = chance.choice(possible[path])
        name = str(path.relative_to(ROOT))
        rows.append({"file": name, "line": str(number), "text": line, "change": after})
    return sorted(rows, key=lambda row: row["file"])


def tests_of(file: str, tree: Path) -> list[list[str]]:
    """What to run for a source file: the tests that have its name, then its folder's."""
    path = Path(file.removeprefix("src/subadjacent/"))
    named = sorted(tree.glob(f"tests/**/test_{path.stem}.py"))
    near = [one for one in named if set(path.parts[:-1]) <= set(one.parts)] or named
    folder = next(one for one in (tree / "tests" / path).parents if one.is_dir())
    whole = sorted(folder.glob("test_*.py")) if folder.name == "tests" else [folder]
    return [[str(one) for one in chosen] for chosen in (near, whole) if chosen]


def notice(row: dict[str, str], tree: Path) -> str:
    """Answer yes where a test fails with a change, else no; gone, where there is no such line."""
    path = tree / row["file"]
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    places = [at for at, line in enumerate(lines) if line == row["text"]]
    if not places:
        return "gone"
    original = path.read_text(encoding="utf-8")
    lines[min(places, key=lambda at: abs(at + 1 - int(row["line"])))] = row["change"]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": f"{tree}/src:{tree}", "OMP_NUM_THREADS": "1"}
    quiet = ("-q", "-x", "-n", "0", "-p", "no:cacheprovider")
    try:
        for chosen in tests_of(row["file"], tree):
            command = [sys.executable, "-m", "pytest", *quiet, *chosen]
            try:
                run = subprocess.run(
                    command, cwd=tree, env=environment, capture_output=True, timeout=LIMIT
                )
            except subprocess.TimeoutExpired:
                return "yes"
            if run.returncode == 1 or run.returncode == 2:
                return "yes"
    finally:
        path.write_text(original, encoding="utf-8")
    return "no"


def write(rows: list[dict[str, str]], file: TextIO) -> None:
    """Write the table."""
    writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    drawing = commands.add_parser("draw")
    drawing.add_argument("--count", type=int, default=60)
    drawing.add_argument("--seed", type=int, default=0)
    running = commands.add_parser("run")
    running.add_argument("column")
    running.add_argument("--table", type=Path, default=TABLE)
    chosen = parser.parse_args()
    if chosen.command == "draw":
        write(draw(chosen.count, chosen.seed), sys.stdout)
        return
    with chosen.table.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "tree"
        shutil.copytree(ROOT, tree, symlinks=True, ignore=shutil.ignore_patterns(".git"))
        # an answer that is there stays, so that a run goes on where another ended
        for row in rows:
            row[chosen.column] = row.get(chosen.column) or notice(row, tree)
            print(row["file"], row["line"], row[chosen.column], flush=True)
            with chosen.table.open("w", newline="", encoding="utf-8") as file:
                write([{**rows[0], **dict.fromkeys(rows[0], ""), **each} for each in rows], file)


if __name__ == "__main__":
    main()
