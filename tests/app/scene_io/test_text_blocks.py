"""Texts that are looked at some of their lines at a time."""

from __future__ import annotations

from pathlib import Path

import pytest

from raygrove.app.scene_io import text_blocks
from raygrove.app.scene_io.damage import damage_of, facets_lost
from raygrove.app.scene_io.text_blocks import behind_lines, blocks, line_of, text_of
from tests.app.scene_io.test_damage import NUMBERED


@pytest.mark.parametrize("size", [1, 4, 9, 100])
@pytest.mark.parametrize("text", [b"", b"\n", b"one\ntwo\n\nthree", b"one\n", b"a line\rand one\r", b"no line"])
def test_blocks_hold_whole_lines_and_all_of_them(
    text: bytes, size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(text_blocks, "BLOCK_BYTES", size)
    (tmp_path / "a").write_bytes(text)
    with text_of(str(tmp_path / "a")) as mapped:
        found = list(blocks(mapped))
        assert b"".join(block for _, block in found) == text == mapped[:]
        assert all(block.endswith(b"\n") for _, block in found[:-1])
        assert all(text[place:].startswith(block) for place, block in found)
        for place in range(len(text) + 1):
            assert line_of(mapped, place) == text.count(b"\n", 0, place) + 1
        lines = text.split(b"\n")
        for count in range(len(lines)):
            assert behind_lines(mapped, 0, count) == sum(len(line) + 1 for line in lines[:count])
        assert behind_lines(mapped, 0, 99) == len(text)


@pytest.mark.parametrize("extension", NUMBERED)
def test_damage_is_found_wherever_a_block_ends(extension: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, text = tmp_path / "a", NUMBERED[extension]
    line = text.partition("{}")[0].count("\n") + 1
    for size in range(1, len(text) + 9, 7):
        monkeypatch.setattr(text_blocks, "BLOCK_BYTES", size)
        path.write_text(text.format("1.5"))
        assert damage_of(str(path), None, extension) == ""
        path.write_text(text.format("1.2.3"))
        assert damage_of(str(path), None, extension).startswith(f"line {line}, `")
        assert damage_of(str(path), text.format("1_5").encode(), extension).startswith(f"line {line}, `")


def test_a_large_text_is_not_held_whole(tmp_path: Path) -> None:
    """What Python allocates while a text of 12 MiB is looked at; each was held twice and more, as lines."""
    import tracemalloc

    vertices, faces = "0.125 0.25 0.5\n" * 300_000, "3 0 1 2\n" * 300_000
    head = "ply\nformat ascii 1.0\nelement vertex 300000\nproperty float x\nproperty float y\nproperty float z\n"
    head += "element face 300000\nproperty list uchar int vertex_indices\nend_header\n"
    facet = "facet normal 0 0 1\nouter loop\n" + "vertex 0.125 0.25 0.5\n" * 3 + "endloop\nendfacet\n"
    texts = {
        "off": f"OFF\n300000 300000 0\n{vertices}{faces}", "ply": head + vertices + faces,
        "stl": "solid a\n" + facet * 100_000, "obj": vertices.replace("0.125 ", "v 0.125 "),
    }  # fmt: skip
    for extension, text in texts.items():
        path = tmp_path / f"a.{extension}"
        path.write_text(text)
        tracemalloc.start()
        found = damage_of(str(path), None, extension)
        lost = facets_lost(str(path), None, 100_000) if extension == "stl" else ""
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert found == lost == "" and most < 40 << 20, (extension, most >> 20)
