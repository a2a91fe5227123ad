"""CSV and Parquet files → frames that the library understands, whole or in parts."""

from subadjacent.data.files.roles import Columns
from subadjacent.data.files.rows import ENTITY, TIME, FileRows, Rows, open_files

__all__ = ["ENTITY", "TIME", "Columns", "FileRows", "Rows", "open_files"]
