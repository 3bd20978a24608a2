"""Pages and drawings hold no letter that a reader would mistake (review S2), whoever named what they show."""

from __future__ import annotations

import sys
from xml.etree import ElementTree

import pytest

from raygrove.gpu.analysis.drawing import Drawing, Words
from raygrove.gpu.analysis.pages import document_of, facts_list, table_of
from raygrove.gpu.analysis.plain_letters import plain_letters
from raygrove.printable import printable_lines

NAME = "a\x1b]0;x\x07\u202egnp.\x9b31m\u2066<b>\udcff"
SHOWN = r"a\x1b]0;x\x07\u202egnp.\x9b31m\u2066&lt;b&gt;\xff"


@pytest.mark.parametrize("script", ["", "let plain = 'text'"])
def test_a_page_shows_controls_and_marks_of_direction_as_numbers(script: str) -> None:
    page = document_of(NAME, [table_of((NAME,), [(NAME,)], 1), facts_list({NAME: NAME})], script)
    assert page.count(SHOWN) == 6 and script in page
    assert not [letter for letter in NAME if ord(letter) > 0x7E and letter in page] and "\x1b" not in page


def test_a_drawing_stays_xml_whatever_is_named_in_it() -> None:
    drawing = Drawing(100.0, 50.0, NAME, [Words(1.0, 2.0, NAME)])
    for text in (drawing.svg(), drawing.svg(is_inline=True)):
        assert text.count(SHOWN) == 2
        assert len(ElementTree.fromstring(text)) >= 2


def test_a_page_judges_each_letter_of_unicode_as_the_terminal_does() -> None:
    letters = map(chr, range(sys.maxunicode + 1))
    assert [hex(ord(one)) for one in letters if plain_letters(one) != printable_lines(one)] == []
