"""Text that comes from a file, made safe to show: in a terminal, a window, a log, a table.

A name in a model may hold what a terminal obeys (escape sequences set its title, its clipboard, what is on it) and what
turns the order of letters round, so that a file ending seems to be another one. Letters without width make two names
that look the same; the joiners among them (U+200C, U+200D) stay, as words of Persian and Hindi need them.
"""

from __future__ import annotations

import re

_UNSAFE = re.compile(
    "[\x00-\x1f\x7f-\x9f"  # the controls of ASCII and of Latin-1: escape, bell, carriage return, CSI as one letter
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # what changes the direction of writing
    "\u2028\u2029"  # what ends a line or a paragraph
    "\xad\u180e\u200b\u2060-\u2065\u206a-\u206f\ufeff\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"  # what has no width
    "\ufff9-\ufffb\U000e0000-\U000e007f"  # notes between lines, and letters that are not seen
    "\ud800-\udfff]"  # halves of letters: what in a file's name is not UTF-8
)


def printable(text: str, keep: str = "") -> str:
    r"""`text` with each control, mark of direction, letter without width and half letter as Python would write it
    (\x1b, \u202e), but for those in `keep`. Whatever comes back can be encoded."""
    if text.isprintable():  # as most texts are: letters, digits, signs and spaces alone
        return text
    return _UNSAFE.sub(lambda found: found[0] if found[0] in keep else _escaped(found[0]), text)


def printable_lines(text: str) -> str:
    """The same for text of several lines: ends of lines and tabs stay."""
    return printable(text, "\n\t")


def _escaped(letter: str) -> str:
    number = ord(letter)
    if 0xDC80 <= number <= 0xDCFF:  # a byte of a file's name, as os.fsdecode keeps it
        return f"\\x{number - 0xDC00:02x}"
    return f"\\x{number:02x}" if number < 0x100 else f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"
