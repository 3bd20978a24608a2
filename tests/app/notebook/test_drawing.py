"""What stands behind a notebook's viewer: messages in, pictures out; no browser."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import raygrove as rg
from raygrove.app.notebook.drawing import Drawing, plain_of
from raygrove.gpu.errors import Error
from tests.app.scene_io import writers

CORNERS = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0]], np.float32)
MESH = (CORNERS, [[0, 1, 2]])


@pytest.fixture(scope="module")
def drawing() -> Iterator[Drawing]:
    made = Drawing(rg.Clip(np.stack([CORNERS, CORNERS + 1]), MESH[1], fps=1.0), "lbvh", (48, 32), "smooth", "cpu", None)
    yield made
    made.close()


def ask(drawing: Drawing, **message: Any) -> tuple[dict[str, Any], np.ndarray]:
    reply, data = drawing.answer(message)
    image = Image.open(io.BytesIO(data))
    assert image.format == "JPEG"
    return reply, np.asarray(image)


def test_a_picture_comes_with_what_it_cost(drawing: Drawing) -> None:
    reply, pixels = ask(drawing, kind="still")
    rows = dict(reply["statistics"])
    assert pixels.shape == (32, 48, 3) and np.ptp(pixels) > 50, "something is seen before a background"
    assert rows["primitives"] == "1" and rows["nodes"] in ("0", "1") and reply["said"] == ""
    assert rows["device"] not in ("host", "cuda", "") and "structure" not in rows, "the page names the structure itself"
    assert ask(drawing, kind="still", moving=True)[1].shape == (16, 24, 3)


def test_drags_and_the_wheel_move_the_camera_and_reset_brings_it_back(drawing: Drawing) -> None:
    first = drawing.camera
    distance = np.linalg.norm(np.subtract(first.eye, first.look_at))
    ask(drawing, kind="orbit", across=0.25, down=0.0)
    assert np.linalg.norm(np.subtract(drawing.camera.eye, first.look_at)) == pytest.approx(distance)
    assert np.linalg.norm(np.subtract(drawing.camera.eye, first.eye)) > 0.5 * distance, "an eighth of a turn"
    assert drawing.camera.look_at == pytest.approx(first.look_at)
    ask(drawing, kind="zoom", notches=2)
    moved = drawing.camera
    assert np.linalg.norm(np.subtract(moved.eye, moved.look_at)) == pytest.approx(0.81 * distance)
    ask(drawing, kind="pan", across=0.1, down=0.0)
    assert drawing.camera.look_at != pytest.approx(first.look_at)
    ask(drawing, kind="reset")
    assert drawing.camera == first


def test_structure_ray_type_and_instant_are_chosen(drawing: Drawing) -> None:
    reply, _ = ask(drawing, kind="choose", structure="binned_sah@refit", ray_type="normals")
    assert (reply["structure"], reply["ray_type"], reply["said"]) == ("binned_sah@refit", "normals", "")
    before = drawing.picture()[0]
    ask(drawing, kind="time", time=1.0)
    assert (drawing.picture()[0] != before).any()
    ask(drawing, kind="time", time=1e9)
    assert drawing.time == 1.0


@pytest.mark.parametrize(
    "message",
    [
        None, [], "x", {}, {"kind": "orbit", "across": "far", "down": None}, {"kind": "orbit", "across": float("nan")},
        {"kind": "zoom", "notches": 1e300}, {"kind": "time", "time": float("inf")}, {"kind": "pan", "across": True},
        {"kind": "choose", "structure": ["lbvh"]}, {"kind": "no such"},
    ],
)  # fmt: skip
def test_no_message_breaks_it(message: Any, drawing: Drawing) -> None:
    """A page may send anything: the camera stays finite, and a picture comes back."""
    reply, data = drawing.answer(message)
    assert data.startswith(b"\xff\xd8") and np.isfinite([*drawing.camera.eye, drawing.time]).all()
    assert isinstance(reply["said"], str)
    drawing.answer({"kind": "reset"})


def test_names_that_there_are_not_become_a_sentence_and_nothing_changes(drawing: Drawing) -> None:
    drawing.answer({"kind": "choose", "structure": "lbvh", "ray_type": "smooth"})
    for words, said in (({"structure": "nothing"}, "nothing"), ({"ray_type": "never"}, "There is no ray type 'never'")):
        reply, _ = ask(drawing, kind="choose", **words)
        assert said in reply["said"] and reply["structure"] == "lbvh" and reply["ray_type"] == "smooth"


def test_scenes_of_all_kinds_are_taken(tmp_path: Path) -> None:
    scene = rg.Scene(device="cpu")
    scene.add_mesh(*MESH, transforms=np.stack([np.eye(3, 4), np.eye(3, 4) * 2]).astype(np.float32))
    assert plain_of(scene).triangle_count == 2
    assert plain_of(MESH).triangle_count == 1 and plain_of("room").triangle_count > 10
    assert plain_of(str(writers.write_obj(tmp_path / "a.obj", *writers.sphere()))).triangle_count > 50
    with pytest.raises(Error, match="does not exist"):
        plain_of(str(tmp_path / "gone.obj"))
    for size in ((0, 5), 3):
        with pytest.raises(Error, match="a size is"):
            Drawing(MESH, "lbvh", size, "smooth", "cpu", None)  # type: ignore[arg-type]
