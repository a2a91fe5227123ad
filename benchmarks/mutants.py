"""Random changes of the sources, and whether the tests of their folder notice each.

    python benchmarks/mutants.py draw
    python benchmarks/mutants.py run "now"

`draw` changes an operator, a number, a condition or the order of two arguments in lines drawn at
random. `run` makes each change in a copy of the tree, runs the tests named like the module, then
all of its folder until one fails, and writes the answer into a column of the table; answers that
are there stay.
"""

from __future__ import annotations

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

ROOT = Path(__file__).resolve().parents[1]
TABLE = ROOT / "benchmarks" / "reports" / "mutants.csv"
COUNT, SEED = 60, 0
# seconds of one run of tests; a change that makes a loop endless is noticed, too
LIMIT = 900
SWAPS: dict[type, type] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.And: ast.Or,
    ast.Or: ast.And,
}  # fmt: skip
COMMUTATIVE = ("min", "max", "minimum", "maximum", "convolve")


def changed(node: ast.AST) -> ast.expr | None:
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
        case ast.Constant(bool() as value):
            return ast.Constant(not value)
        case ast.Constant(int() | float() as value):
            return ast.Constant(value + 1)
        case ast.Call(function, [first, second, *rest], keywords):
            if not ast.unparse(function).endswith(COMMUTATIVE):
                return ast.Call(function, [second, first, *rest], keywords)
    return None


def changes(path: Path) -> Iterator[tuple[int, str, str]]:
    """Line number, line and changed line, of every change of a file that stands on one line."""
    lines = path.read_text(encoding="utf-8").splitlines()
    for node in ast.walk(ast.parse("\n".join(lines))):
        new = changed(node)
        if new is None or not isinstance(node, ast.expr) or node.lineno != node.end_lineno:
            continue
        line = lines[node.lineno - 1]
        # decorators and imports are left alone; offsets count bytes
        if line.isascii() and not line.strip().startswith(("@", "from ", "type ")):
            text = ast.unparse(ast.fix_missing_locations(new))
            after = f"{line[: node.col_offset]}({text}){line[node.end_col_offset :]}"
            yield node.lineno, line, after


def draw() -> list[dict[str, str]]:
    """Changes at random: a file is as likely as it has places to change, and drawn once."""
    files = sorted([*ROOT.glob("src/**/*.py"), *ROOT.glob("reproduce/**/*.py")])
    possible = {path: found for path in files if (found := sorted(set(changes(path))))}
    chance = random.Random(SEED)
    keys = {path: chance.random() ** (1 / len(found)) for path, found in possible.items()}
    rows = []
    for path in sorted(keys, key=keys.__getitem__)[-COUNT:]:
        number, line, after = chance.choice(possible[path])
        file = str(path.relative_to(ROOT))
        rows.append({"file": file, "line": str(number), "text": line, "change": after})
    return sorted(rows, key=lambda row: row["file"])


def tests_of(file: str, tree: Path) -> Iterator[list[Path]]:
    """The tests that have the module's name, then its folder's."""
    path = Path(file.removeprefix("src/subadjacent/"))
    named = sorted(tree.glob(f"tests/**/test_{path.stem}.py"))
    yield [one for one in named if set(path.parts[:-1]) <= set(one.parts)] or named
    folder = next(one for one in (tree / "tests" / path).parents if one.is_dir())
    yield sorted(folder.glob("test_*.py")) if folder.name == "tests" else [folder]


def notice(row: dict[str, str], tree: Path) -> str:
    """Answer yes where a test fails with a change, else no; gone, where the line is no more."""
    path = tree / row["file"]
    original = path.read_text(encoding="utf-8") if path.exists() else ""
    lines = original.splitlines()
    places = [at for at, line in enumerate(lines, start=1) if line == row["text"]]
    if not places:
        return "gone"
    lines[min(places, key=lambda at: abs(at - int(row["line"]))) - 1] = row["change"]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": f"{tree}/src:{tree}", "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-n", "0", "-p", "no:cacheprovider"]
    how = {"cwd": tree, "env": environment, "capture_output": True, "timeout": LIMIT}
    try:
        for chosen in filter(None, tests_of(row["file"], tree)):
            # 1: a test failed; 2: the tests could not even be collected
            if subprocess.run([*command, *chosen], **how, check=False).returncode in (1, 2):
                return "yes"
    except subprocess.TimeoutExpired:
        return "yes"
    finally:
        path.write_text(original, encoding="utf-8")
    return "no"


def run(column: str) -> None:
    """Fill a column of the table, row by row."""
    with TABLE.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "tree"
        shutil.copytree(ROOT, tree, symlinks=True, ignore=shutil.ignore_patterns(".git"))
        for row in rows:
            row[column] = row.get(column) or notice(row, tree)
            print(row["file"], row["line"], row[column], flush=True)
            write([{**dict.fromkeys([*rows[0]], ""), **each} for each in rows])


def write(rows: list[dict[str, str]]) -> None:
    """Write the table."""
    with TABLE.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["draw"]:
            write(draw())
        case ["run", column]:
            run(column)
        case _:
            raise SystemExit(__doc__)
