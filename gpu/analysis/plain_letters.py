"""Letters that are not seen, or that turn others round, as numbers in pages and drawings. The program has the same for
all that it shows (package/printable.py); this room knows nothing outside of it, and a test holds both together."""

from __future__ import annotations

import re

_UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # the controls of ASCII and of Latin-1, but for tabs and ends of lines
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # what changes the direction of writing
    "\u2028\u2029"  # what ends a line or a paragraph
    "\xad\u180e\u200b\u2060-\u2065\u206a-\u206f\ufeff\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"  # what has no width
    "\ufff9-\ufffb\U000e0000-\U000e007f"  # notes between lines, and letters that are not seen
    "\ud800-\udfff]"  # halves of letters: what in a file's name is not UTF-8
)


def plain_letters(text: str) -> str:
    """The text of a page or a drawing, with controls but for ends of lines and tabs, marks of direction, letters
    without width and halves of letters as Python would write them."""
    return _UNSAFE.sub(lambda found: _escaped(found[0]), text)


def _escaped(letter: str) -> str:
    number = ord(letter)
    if 0xDC80 <= number <= 0xDCFF:  # a byte of a file's name, as os.fsdecode keeps it
        return f"\\x{number - 0xDC00:02x}"
    return f"\\x{number:02x}" if number < 0x100 else f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"
