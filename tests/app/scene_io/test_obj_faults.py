"""The line of an OBJ file that is wrong, in its own words and in the sentence that a person gets."""

from __future__ import annotations

from pathlib import Path

import pytest

from raygrove.app.scene_io import SceneError, load
from raygrove.app.scene_io.obj_faults import fault_of

GOOD = b"# a corner\nv 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\nvn 0 0 1\nf 1/1/1 2//1 3\nf -1 -2 -3\n"


@pytest.mark.parametrize(
    ("added", "expected"),
    [
        (b"f 1 2 9\n", "line 9, `f 1 2 9`: there is no vertex 9, only 3 are there"),
        (b"f 0 1 2\n", "line 9, `f 0 1 2`: there is no vertex 0, they count from 1"),
        (b"\nf 1 2 -4\n", "line 10, `f 1 2 -4`: there is no vertex -4, only 3 stand above"),
        (b"f 1/2 2/1 3/1\n", "line 9, `f 1/2 2/1 3/1`: there is no texture coordinate 2, only 1 are there"),
        (b"f 1//3 2 3\n", "line 9, `f 1//3 2 3`: there is no normal 3, only 1 are there"),
        (b"f 1 x 3\n", "line 9, `f 1 x 3`: `x` is not a whole number"),
        (b"f 1_0 2 3\n", "line 9, `f 1_0 2 3`: `1_0` is not a whole number"),
        (b"v 1 ?.5 3\n", "line 9, `v 1 ?.5 3`: `?.5` is not a number"),
        (b"v 1 2 3\nf 1 2 4\nf -4 -3 -1\n", ""),
        (b"v nan inf 1e400\n", ""),
    ],
)
def test_the_first_fault_is_found(added: bytes, expected: str) -> None:
    assert fault_of(GOOD) == ""
    assert fault_of(GOOD + added) == expected


def test_what_is_no_text_is_shown_short_and_readable() -> None:
    fault = fault_of(b"v " + bytes(range(128, 256)) * 10)
    assert fault.startswith("line 1") and fault.isascii() and len(fault) < 300


def test_the_sentence_names_file_and_line(tmp_path: Path) -> None:
    path = tmp_path / "range.obj"
    path.write_bytes(GOOD + b"f 1 2 9\n")
    with pytest.raises(SceneError, match=r"The first fault: line 9, `f 1 2 9`: there is no vertex 9") as caught:
        load([path])
    assert str(path) in str(caught.value)
