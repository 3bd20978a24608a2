"""Text of files that no terminal obeys and no reader mistakes."""

from __future__ import annotations

import os
import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from raygrove.printable import printable, printable_lines

KINDS = {"Cc": "controls", "Cs": "half letters", "Zl": "ends of lines", "Zp": "ends of paragraphs"}
TURNS = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}
"""Unicode's bidirectional classes of what changes the direction of writing for what follows."""

JOINERS = "\u200c\u200d"


def is_unsafe(letter: str) -> bool:
    """By Unicode's own tables, not by the list that is tested."""
    if unicodedata.category(letter) == "Cf" and unicodedata.bidirectional(letter) == "BN":  # letters without width
        return letter not in JOINERS
    return unicodedata.category(letter) in KINDS or unicodedata.bidirectional(letter) in TURNS


def test_every_letter_of_unicode_is_judged_as_its_tables_say() -> None:
    wrong = [f"{number:x}" for number in range(sys.maxunicode + 1) if is_unsafe(printable(chr(number))[0])]
    assert wrong == []
    changed = [chr(number) for number in range(sys.maxunicode + 1) if printable(chr(number)) != chr(number)]
    assert {letter for letter in map(chr, range(sys.maxunicode + 1)) if is_unsafe(letter)} <= {*changed}
    assert {unicodedata.category(letter) for letter in changed} <= {*KINDS, "Cf", "Cn"}, "no letter that is seen"


@given(st.text(st.characters()))
def test_what_comes_back_can_be_encoded_and_is_safe(text: str) -> None:
    for safe in (printable(text), printable_lines(text)):
        safe.encode()
        assert not any(is_unsafe(letter) and letter not in "\n\t" for letter in safe)
        assert printable_lines(safe) == safe
    assert "\n" not in printable(text) and printable_lines(text).count("\n") == text.count("\n")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Stone, größer 石", "Stone, größer 石"),
        ("\x1b]52;c;aGk=\x07", r"\x1b]52;c;aGk=\x07"),
        ("\x9b2J", r"\x9b2J"),
        ("photo\u202egnp.exe", r"photo\u202egnp.exe"),
        (os.fsdecode(b"a\xff.obj"), r"a\xff.obj"),
        ("two\nlines", r"two\x0alines"),
        ("\U000e0041", r"\U000e0041"),
        ("\ufeffa\u200bb\u2060c\u2064d\u206fe", r"\ufeffa\u200bb\u2060c\u2064d\u206fe"),
        ("\u0645\u06cc\u200c\u062e", "\u0645\u06cc\u200c\u062e"),  # a word of Persian
    ],
)
def test_what_is_written_for_it(text: str, shown: str) -> None:
    assert printable(text) == shown


def test_half_letters_that_are_no_bytes_are_told_by_their_number() -> None:
    assert printable("\udc10\udc7f") == "\\udc10\\udc7f" and printable("\udc80\udcff") == "\\x80\\xff"
