"""Model folders that someone has changed: each must load and score, or be refused, in bounds.

    python benchmarks/tampering.py --most 1500 --output benchmarks/reports/tampering.csv

A model of every kind is saved. Then every fact, parameter and array of its folder is changed to
odd values, one at a time, with all hashes made again, as one who means harm would. Each folder is
loaded and some rows are scored, in a process with a limit on memory and on time. It must give
finite scores, or be refused with an error of ours.
"""

from __future__ import annotations

import argparse
import copy
import csv
import json
import logging
import multiprocessing
import resource
import signal
import tempfile
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load_file, save_file

from subadjacent.data.plant import multivariate
from subadjacent.detectors.folder import CONFIG, FACTS, WEIGHTS
from subadjacent.detectors.integrity import identity, seal
from subadjacent.detectors.registry import REGISTRY, create, load
from subadjacent.errors import SubAdjacentError

# bytes of address space beyond what the process has when it starts: several times what the largest
# of these models needs, and far below what the changed ones ask for
MEMORY = 2 << 30
# seconds that one folder may take; the slowest that is honest takes less than one
SECONDS = 30
# each is written in the place of every fact
ODD_VALUES: tuple[Any, ...] = (
    None, True, "", "x", -1, 0, 1, 0.5, -0.5, 3, 17, 1e-300, 1e308, 10**4, 10**6, 10**9, 2**63,
    10**30, float("nan"), float("inf"), [], {}, [0], [[]], [1, 2, 3], {"kind": "fixed"},
)  # fmt: skip
OUTCOMES = ("refused", "scored", "not finite", "unhandled", "memory", "time", "crashed")
NETWORK = {"window": 16, "epochs": 1, "size": "tiny", "random_state": 0}
KINDS: dict[str, tuple[str, dict[str, Any]]] = {
    "default": ("default", {}),
    "transformer": ("sub-adjacent-transformer", NETWORK),
    "Anomaly Transformer": ("anomaly-transformer", NETWORK),
    "DAGMM": ("dagmm", NETWORK),
    "LSTM-VAE": ("lstm-vae", NETWORK),
    "MSCRED": ("mscred", NETWORK),
    "OmniAnomaly": ("omni-anomaly", NETWORK),
    "MAD-GAN": ("mad-gan", NETWORK),
    "MTAD-GAT": ("mtad-gat", NETWORK),
    "USAD": ("usad", NETWORK),
    "THOC": ("thoc", NETWORK),
    "UAE": ("uae", NETWORK),
    "GDN": ("gdn", NETWORK),
    "GTA": ("gta", NETWORK),
    "TranAD": ("tranad", NETWORK),
    "NPSR": ("npsr", NETWORK),
    "TimesNet": ("timesnet", NETWORK),
    "LSTM": ("lstm", NETWORK),
    "PCA": ("pca", {}),
    "PCA of windows": ("sub-pca", {"window": 5, "components": 3}),
    "nearest neighbours": ("knn", {"window": 2, "references": 50}),
    "matrix profile": ("matrix-profile", {"window": 5, "references": 100}),
    "linear forecast": ("linear", {"window": 2}),
    "magnitude": ("magnitude", {"smoothing": 3}),
    "random": ("random", {}),
}
_NAMED = {name for name, _ in KINDS.values()}
KINDS |= {
    name: (name, NETWORK if entry.needs else {})
    for name, entry in REGISTRY.items()
    # other libraries' detectors cannot be saved
    if name not in _NAMED and not entry.library
}


class Folder(NamedTuple):
    """What a model folder holds, as it is on disk."""

    config: dict[str, Any]
    facts: dict[str, Any]
    arrays: dict[str, NDArray[Any]]

    @classmethod
    def read(cls, path: Path) -> Folder:
        """Read it without any check."""
        config, facts = (json.loads((path / name).read_text()) for name in (CONFIG, FACTS))
        return cls(config, facts, load_file(path / WEIGHTS))

    def write(self, path: Path) -> None:
        """Write it with hashes that fit."""
        path.mkdir(exist_ok=True)
        (path / CONFIG).write_text(json.dumps(self.config))
        arrays = {name: np.ascontiguousarray(array) for name, array in self.arrays.items()}
        save_file(arrays, path / WEIGHTS)
        facts = dict(self.facts)
        facts["files"] = {name: identity(path / name) for name in (CONFIG, WEIGHTS)}
        beside = {"schema", "versions", "files", "sealed", "threshold"}
        facts["sealed"] = seal({k: v for k, v in facts.items() if k not in beside})
        (path / FACTS).write_text(json.dumps(facts))


class Change(NamedTuple):
    """One thing to change: a place in the JSON or an array, and what to put there."""

    where: tuple[Any, ...]
    what: str
    value: Any = None

    @property
    def said(self) -> str:
        """In words."""
        return f"{'.'.join(map(str, self.where))}: {self.what} {self.value!r}"

    def of(self, folder: Folder) -> Folder:
        """A folder so changed."""
        changed = copy.deepcopy(folder)
        if self.where[0] == "arrays":
            name = self.where[1]
            if self.what == "remove":
                del changed.arrays[name]
            else:
                changed.arrays[name] = CHANGES_OF_ARRAYS[self.what](changed.arrays[name])
            return changed
        part: Any = changed._asdict()
        for step in self.where[:-1]:
            part = part[step]
        if self.what == "remove":
            del part[self.where[-1]]
        else:
            part[self.where[-1]] = self.value
        return changed


def _with(value: float) -> Any:
    def change(array: NDArray[Any]) -> NDArray[Any]:
        array = array.copy()
        if array.size:
            array.flat[array.size // 2] = value
        return array

    return change


CHANGES_OF_ARRAYS: dict[str, Any] = {
    "NaN": lambda array: _with(float("nan"))(array.astype(np.float64)),
    "infinite": lambda array: _with(-float("inf"))(array.astype(np.float32)),
    "huge": _with(120),
    "1e300": lambda array: _with(1e300)(array.astype(np.float64)),
    "zeros": np.zeros_like,
    "negative": lambda array: -1 - array.astype(np.float64),
    "flat": np.ravel,
    "another axis": lambda array: array[None],
    "a number": lambda array: np.asarray(array.astype(np.float64).sum()),
    "turned": np.transpose,
    "shorter": lambda array: array[: len(array) // 2],
    "longer": lambda array: np.concatenate([array, array]),
    "empty": lambda array: array[:0],
    "no columns": lambda array: array[..., :0],
    "8 bits": lambda array: array.astype(np.int8),
    "16 bits": lambda array: array.astype(np.float16),
    "64 bits": lambda array: array.astype(np.float64),
    "flags": lambda array: array.astype(bool),
}


def changes(folder: Folder) -> Iterator[Change]:
    """Every change of every place."""
    for name in ("config", "facts"):
        for where in _places(getattr(folder, name), (name,)):
            yield Change(where, "remove")
            for value in ODD_VALUES:
                yield Change(where, "set", value)
    for name in folder.arrays:
        for what in (*CHANGES_OF_ARRAYS, "remove"):
            yield Change(("arrays", name), what)


def _places(part: Any, where: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    """Where values stand; the hashes are made again and not changed."""
    if where[:2] in (("facts", "files"), ("facts", "sealed")):
        return
    inside = (
        list(part.items()) if isinstance(part, dict)
        # the second is like the first, and the last is an end
        else list(enumerate(part))[:1] + list(enumerate(part))[1:][-1:]
        if isinstance(part, list) else []
    )  # fmt: skip
    for name, value in inside:
        yield (*where, name)
        yield from _places(value, (*where, name))


def thinned(found: Sequence[Change], most: int | None) -> list[Change]:
    """At most so many of the changes, drawn once and for all."""
    if most is None or len(found) <= most:
        return list(found)
    rows = np.random.default_rng(0).choice(len(found), most, replace=False)
    return [found[row] for row in sorted(rows)]


class _TimeUpError(BaseException):
    """No child of Exception: nothing on the way may take it for an error of its own."""


def _outcome(path: Path, rows: dict[str, NDArray[Any]]) -> str:
    try:
        found = load(path, device="cpu").assess(rows)
        found.alarms()
        parts = (found.scores, found.normalized_scores, found.probabilities)
        finite = all(np.isfinite(one).all() for part in parts for one in part.values())
        return "scored" if finite else "not finite"
    except MemoryError:
        return "memory"
    except _TimeUpError:
        return "time"
    except SubAdjacentError:
        return "refused"
    except Exception as error:
        if "alloc" in str(error):
            return "memory"
        return f"unhandled {type(error).__name__}: {error}"[:200]


def _time_up(*_: object) -> None:
    raise _TimeUpError


def _work(pipe: Connection, folder: Folder, kept: Path, rows: dict[str, NDArray[Any]]) -> None:
    """In a process of its own: try one change after the other."""
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    import torch

    torch.set_num_threads(1)
    folder.write(kept)
    assert _outcome(kept, rows) == "scored"
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, used + MEMORY))
    signal.signal(signal.SIGALRM, _time_up)
    pipe.send("ready")
    while (change := pipe.recv()) is not None:
        try:
            change.of(folder).write(kept)
        except Exception:
            pipe.send("impossible")
            continue
        signal.alarm(SECONDS)
        found = _outcome(kept, rows)
        signal.alarm(0)
        pipe.send(found)


def attack(
    folder: Folder, wanted: Sequence[Change], rows: dict[str, NDArray[Any]]
) -> Iterator[tuple[Change, str]]:
    """What each change comes to; a process that it ends is replaced by another."""
    context = multiprocessing.get_context("spawn")
    left = list(wanted)[::-1]
    while left:
        with tempfile.TemporaryDirectory() as scratch:
            here, there = context.Pipe()
            arguments = (there, folder, Path(scratch) / "model", rows)
            process = context.Process(target=_work, args=arguments)
            process.start()
            there.close()
            # to start takes as long as it takes
            assert here.recv() == "ready"
            try:
                while left:
                    change = left.pop()
                    here.send(change)
                    # the alarm does not interrupt a library that computes
                    found = here.recv() if here.poll(2 * SECONDS) else "time"
                    yield change, found
                    if found == "time":
                        break
            except (EOFError, ConnectionError):
                yield change, "crashed"
            finally:
                # in this order, or it would complain of an end that nobody is behind
                process.kill()
                process.join()
                here.close()


def fitted(kind: str) -> tuple[Folder, dict[str, NDArray[Any]]]:
    """A saved model of a kind, and rows to score with it."""
    name, parameters = KINDS[kind]
    plant = multivariate(n=400, channels=2, seed=3)
    train, test = np.asarray(plant.train), np.asarray(plant.test)
    parts = {"a": train[:200], "b": train[200:]}
    with tempfile.TemporaryDirectory() as scratch:
        detector = create(name, **parameters).fit(parts)
        detector.save(Path(scratch) / "model")
        return Folder.read(Path(scratch) / "model"), {"a": test[:60], "new": test[60:90]}


def count(kind: str, most: int | None, only: str) -> dict[str, Any]:
    """What comes of changes of one kind of model, counted; prints those that end otherwise."""
    folder, rows = fitted(kind)
    found = [one for one in changes(folder) if only in one.said]
    counts: Counter[str] = Counter()
    for change, outcome in attack(folder, thinned(found, most), rows):
        counts[outcome.split()[0] if outcome not in OUTCOMES else outcome] += 1
        if outcome not in ("refused", "scored", "impossible"):
            print(f"{kind}, {change.said[:150]}: {outcome}", flush=True)
    tried = sum(counts.values()) - counts["impossible"]
    line = {"kind": kind, "tampered": tried} | {one: counts[one] for one in OUTCOMES}
    print(line, flush=True)
    return line


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--kinds", nargs="+", choices=list(KINDS), default=list(KINDS))
    parser.add_argument("--most", type=int, help="changes of each kind; all where left out")
    parser.add_argument("--only", help="changes of places with this in their name")
    arguments = parser.parse_args()
    logging.disable(logging.CRITICAL)
    try:
        lines = [count(kind, arguments.most, arguments.only or "") for kind in arguments.kinds]
    finally:
        # one who calls this from a program has a log of their own
        logging.disable(logging.NOTSET)
    with arguments.output.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, lines[0], lineterminator="\n")
        writer.writeheader()
        writer.writerows(lines)


if __name__ == "__main__":
    main()
