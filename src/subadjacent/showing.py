"""Makes text from outside, such as names of files and channels, safe to display.

A terminal obeys control characters: a name may hold one that clears the screen, sets the title or
writes the rest of the line backwards. They are shown as escapes instead, as Python writes them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

# all control characters but the end of a line and the tab; marks that turn the direction of
# writing; separators of lines that are not shown as such; and bytes of a file name that are not
# UTF-8, which Python keeps as lone surrogates and no stream would take
UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)
# lone surrogates that stand for the bytes 0x80 to 0xff
FIRST_BYTE, LAST_BYTE = 0xDC80, 0xDCFF

MAX_LISTED = 5
"""Names that a message lists."""

# what HTML and Markdown give a meaning to within a line; an underscore within a word has none
_MARKUP = re.compile(r"([\\`*\[\]<>&|~]|(?<![^\W_])_|_(?![^\W_]))")


def visible(text: str) -> str:
    r"""Text with control characters as escapes, such as ``\x1b``; ends of lines and tabs stay."""
    return UNSAFE.sub(_escape, text)


def on_one_line(text: str) -> str:
    """Do as ``visible`` for a name, with line breaks and other white space as single spaces."""
    return visible(" ".join(text.split()))


def in_markdown(text: str) -> str:
    """A name as plain text of a Markdown page: nothing in it is markup or HTML."""
    return _MARKUP.sub(r"\\\1", on_one_line(text)).replace("\\<", "&lt;").replace("\\&", "&amp;")


def in_json(document: str) -> str:
    """A JSON document with the characters that ``visible`` escapes as escapes of JSON."""
    return UNSAFE.sub(lambda match: f"\\u{ord(match[0]):04x}", document)


def listed(names: Sequence[str]) -> str:
    """Names behind each other, the first few of many, and how many more there are."""
    rest = len(names) - MAX_LISTED
    return ", ".join(names[:MAX_LISTED]) + (f" and {rest:,} more" if rest > 0 else "")


def _escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    if FIRST_BYTE <= code <= LAST_BYTE:
        code -= 0xDC00
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
