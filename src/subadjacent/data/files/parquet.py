"""Parquet files → frames, some rows at a time; damage is told from what we do not read."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from subadjacent.data.files.decoding import DECODER
from subadjacent.data.files.delimited import Block
from subadjacent.errors import InputError

MAGIC = b"PAR1"


class Parquet:
    """One Parquet file; ``name`` is what messages call it.

    A file that is cut, or is something else, is told by its first and last bytes; damage in
    between by the process that decodes it.
    """

    decimal_comma = False
    has_header = True

    def __init__(self, path: Path, name: str) -> None:
        self.path, self.name = path, name
        self.notes: tuple[str, ...] = ()
        self.unnamed: set[str] = set()
        with path.open("rb") as file:
            begins = file.read(len(MAGIC)) == MAGIC
            size = file.seek(0, 2)
            file.seek(max(size - len(MAGIC), 0))
            ends = file.read() == MAGIC
        if not size:
            raise InputError(f"{name} must be a Parquet file; it is empty")
        if not begins or not ends or size < 12:
            fault = "it is cut off: get it whole" if begins else "it is something else"
            raise InputError(f"{name} must be a whole Parquet file; {fault}, or export it as CSV")
        schema, self.length = DECODER.schema(path, name)
        self.schema = dict(schema)
        self.columns = tuple(self.schema)

    def sample(self, rows: int) -> Block:
        """The first rows; refuses a file that has none."""
        nested = [one for one, dtype in self.schema.items() if dtype.is_nested()]
        flat = tuple(one for one in self.columns if one not in nested)
        for block in self.blocks(rows, flat):
            return block
        raise InputError(f"{self.name} must have rows of data; it has columns and nothing else")

    def blocks(self, rows: int, columns: tuple[str, ...]) -> Iterator[Block]:
        """All rows in order, at most ``rows`` at a time."""
        for start in range(0, self.length, rows):
            frame = DECODER.rows(self.path, self.name, columns, start, rows)
            numbers = range(start + 1, start + frame.height + 1)
            yield Block(frame, self.name, numbers, "row")
