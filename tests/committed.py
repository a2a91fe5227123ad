"""The rows that are committed, and where what is rendered from them lies."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "results"
PAGE = ROOT / "docs" / "results.md"
RENDERED = ROOT / "docs" / "results"
