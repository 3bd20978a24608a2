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
        (b"v 1.#INF00e+000 -1.#IND00e+000 1.#QNAN00E-12", (b"v inf nan nan", 3)),
        (b"1.#INF00e 1.#IND00e+", None),
    ],
)
def test_such_words_alone_are_spelled_out(text: bytes, found: tuple[bytes, int] | None) -> None:
    assert spelled_out(text, "dae" if text.startswith(b"<") else "obj") == found


@pytest.mark.parametrize(
    ("extension", "text"),
    [
        ("obj", b"# was -1.#IND 1.#INF\nv 0 {} 0 # 1.#IND\n"),
        ("off", b"OFF\n# was -1.#IND\n0 {} 0\n"),
        ("ply", b"ply\ncomment was -1.#IND\nobj_info 1.#INF\nend_header\n0 {} 0\n"),
        ("fbx", b"; was -1.#IND\n\ta: 0,{},1\n"),
        ("stl", b"solid of -1.#IND\nvertex 0 {} 0\n"),
        ("dae", b"<!-- was\n-1.#IND --><a>0 {} 0</a><!-- 1.#INF"),
    ],
)
def test_comments_stay_as_they_are(extension: str, text: bytes) -> None:
    """What stands in one was told as a number that was taken for none."""
    assert spelled_out(text.replace(b"{}", b"1"), extension) is None
    assert spelled_out(text.replace(b"{}", b"-1.#IND"), extension) == (text.replace(b"{}", b"nan"), 1)
