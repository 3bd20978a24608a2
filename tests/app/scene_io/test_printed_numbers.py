"""Numbers that are none as one C library prints them."""

from __future__ import annotations

import pytest

from raygrove.app.scene_io.printed_numbers import spelled_out


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (b"v 1.#IND -1.#INF +1.#QNAN00,1.#SNAN", (b"v nan -inf nan,nan", 4)),
        (b"<a>-1.#IND 0</a>", (b"<a>nan 0</a>", 1)),
        (b"<a>0 1.#INF</a>", (b"<a>0 inf</a>", 1)),
        (b"usemtl a1.#IND", None),
        (b"1.#INDEX 1.#IND_a", None),
        (b"v 1.# a comment", None),
        (b"1 2 3", None),
    ],
)
def test_such_words_alone_are_spelled_out(text: bytes, found: tuple[bytes, int] | None) -> None:
    assert spelled_out(text) == found
