"""Copied programs are run, one by a Python of its own: the pictures are those that were copied, byte for byte."""

from __future__ import annotations

import dataclasses
import runpy
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from raygrove.app.document.opening import cameras_of, open_scene
from raygrove.app.document.state import SceneReference, State
from raygrove.app.edits.objects import ObjectsError
from raygrove.app.frames import as_python
from raygrove.app.frames.exporting import smooth_samples, with_samples
from raygrove.app.frames.headless import render_frames
from raygrove.app.frames.legends import explained
from raygrove.app.settings.settings import Settings, set_option
from raygrove.gpu.target import choose

SIZE = (48, 36)
FEW = {"render.device": "cpu", "display.still_samples": 2}
TETRAHEDRON = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"
CASES: dict[str, tuple[tuple[str, ...], dict[str, Any]]] = {
    "the library alone": (("walker",), {"render.hierarchy": "hploc", "render.ray_type": "flat"}),
    "options": (
        ("walker",),
        {
            "demo.triangles": 500,
            "render.ray_type": "steps",
            "ray_type.steps.maximum": 31,
            "hierarchy.lbvh.max_leaf_size": 2,
            "clip.on": True,
            "contours.silhouettes": True,
            "material.body.base_color": (0.9, 0.1, 0.1),
        },
    ),
    "spheres": (("molecule",), {"demo.triangles": 600, "spheres.colors": "magma", "render.ray_type": "smooth"}),
    "a file": (("one.obj",), {"import.scale": 2.0, "motion.name": "turntable", "render.ray_type": "ao"}),
    "files": (("one.obj", "two.obj"), {}),
}


def shown(case: str, tmp_path: Path) -> tuple[State, Any]:
    """A state with a camera that stands askew, and its scene."""
    (tmp_path / "one.obj").write_text(TETRAHEDRON)
    (tmp_path / "two.obj").write_text(TETRAHEDRON.replace("v 0 0 1", "v 0 0 3"))
    names, changes = CASES[case]
    is_file = names[0].endswith(".obj")
    reference = SceneReference(
        "files" if is_file else "demo", tuple(str(tmp_path / name) for name in names) if is_file else names
    )
    settings = Settings()
    for key, value in {**FEW, **changes}.items():
        settings = set_option(settings, key, value)
    scene = open_scene(reference, settings)
    (camera, *_) = cameras_of(scene)
    camera = dataclasses.replace(camera, up=(0.1, 1.0, -0.2), fov=50.0)
    hidden = (1,) if len(scene.objects) > 2 and not scene.sphere_count else ()
    state = State(reference, settings, cameras=(camera,), hidden=hidden)
    return dataclasses.replace(state, timeline=dataclasses.replace(state.timeline, time=0.013)), scene


def drawn(state: State, scene: Any) -> np.ndarray:
    """What the program itself draws of it."""
    settings = with_samples(state.settings, smooth_samples(state.settings))
    for name, side in zip(("width", "height"), SIZE, strict=True):
        settings = set_option(settings, f"render.{name}", side)
    target = choose("cpu")
    try:
        (frame,) = render_frames(target, scene, dataclasses.replace(state, settings=settings), [(0, 0.013)])
    finally:
        target.close()
    return explained(frame.pixels, state, scene, frame.statistics[-1].views[0].steps)[..., :3]


def run_here(program: Path) -> None:
    runpy.run_path(str(program), run_name="__main__")


def run_by_its_own(program: Path) -> None:
    made = subprocess.run([sys.executable, str(program)], capture_output=True, text=True)
    assert made.returncode == 0, made.stderr


@pytest.mark.parametrize(("case", "run"), [*((case, run_here) for case in CASES), ("a file", run_by_its_own)])
def test_a_copied_program_draws_the_same_picture(
    case: str, run: Callable[[Path], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    state, scene = shown(case, tmp_path)
    (tmp_path / "copied.py").write_text(as_python.program(state, scene, SIZE))
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    run(tmp_path / "copied.py")
    with Image.open(tmp_path / "elsewhere" / as_python.OUT) as image:
        picture = np.asarray(image)
    wanted = drawn(state, scene)
    assert np.array_equal(picture, wanted) and wanted.std() > 5.0
    other = drawn(dataclasses.replace(state, settings=set_option(state.settings, "render.ray_type", "normals")), scene)
    assert not np.array_equal(wanted, other)


LARGE = (500, 240)
LEGENDS: dict[str, tuple[str, dict[str, Any]]] = {
    "a range": ("walker", {"render.ray_type": "steps", "ray_type.steps.maximum": 31}),
    "a fitted range": ("walker", {"render.ray_type": "steps", "ray_type.steps.automatic": True}),
    "an attribute": ("molecule", {"spheres.color_by": "mobility", "render.ray_type": "smooth"}),
}


@pytest.mark.parametrize("case", LEGENDS)
def test_a_copied_program_draws_the_legend_too(case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It left the heat map unexplained: a picture that is as large as a window has a legend."""
    name, changes = LEGENDS[case]
    monkeypatch.setitem(CASES, case, ((name,), {"demo.triangles": 500, **changes}))
    monkeypatch.setattr(sys.modules[__name__], "SIZE", LARGE)
    state, scene = shown(case, tmp_path)
    (tmp_path / "copied.py").write_text(as_python.program(state, scene, LARGE))
    monkeypatch.chdir(tmp_path)
    run_here(tmp_path / "copied.py")
    with Image.open(as_python.OUT) as image:
        picture = np.asarray(image)
    wanted = drawn(state, scene)
    without = dataclasses.replace(state, settings=set_option(state.settings, "render.legend", False))
    assert np.array_equal(picture, wanted) and not np.array_equal(wanted, drawn(without, scene))
    assert "legend" not in as_python.program(without, scene, LARGE)


def test_defaults_are_left_out_and_the_library_is_enough(tmp_path: Path) -> None:
    state, scene = shown("the library alone", tmp_path)
    text = as_python.program(dataclasses.replace(state, hidden=()), scene, SIZE)
    assert "rg.open('walker').to_plain()" in text and "hierarchy='hploc'" in text
    assert "from raygrove" not in text and "triangle_test" not in text and "hide" not in text


@pytest.mark.parametrize(
    ("key", "value", "named"),
    [
        ("boxes.show", True, "boxes of nodes"),
        ("periodic_box.show", True, "periodic box"),
        ("tile_marks.grid", True, "tiles"),
        ("collisions.show", True, "collisions"),
        ("display.spheres", "impostors", "OpenGL"),
    ],
)
def test_what_the_window_alone_draws_is_refused_by_name(key: str, value: Any, named: str, tmp_path: Path) -> None:
    state, scene = shown("the library alone", tmp_path)
    changed = dataclasses.replace(state, settings=set_option(state.settings, key, value))
    with pytest.raises(ObjectsError, match=named):
        as_python.program(changed, scene, SIZE)
