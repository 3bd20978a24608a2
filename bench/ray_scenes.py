"""The scenes and views that speed is judged by: even bodies and rooms, scans, and real scenes of unlike triangles seen
from within and from outside. A goal is the worst over all of them (docs/performance/rays.md).

Views and their light were written before anything was measured in them. Coordinates are the files'; scenes of files
are known by their numbers of triangles.
"""

from __future__ import annotations

import dataclasses
import functools
import pathlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from raygrove.app.scene_io import load
from raygrove.app.scene_io.demos import make_demo
from raygrove.gpu.camera import Camera, Vector
from raygrove.gpu.scene import Mesh, Node, Object, Scene


@dataclasses.dataclass(frozen=True)
class View:
    """A camera of a scene, and where the light of its shadow rays stands."""

    name: str
    camera: Camera
    light: Vector


@dataclasses.dataclass(frozen=True)
class Subject:
    """A scene by its name, its triangles, and its views; `demo` is the built-in scene it is, `copies` how often the
    model of `of_model` stands along each of x and z in one mesh. Neither: a model of its own."""

    name: str
    triangles: int
    views: tuple[View, ...]
    demo: str = ""
    of_model: str = ""
    copies: int = 1

    @property
    def model_triangles(self) -> int:
        """Triangles of the file that it is made from."""
        return self.triangles // self.copies**2


def _view(name: str, eye: Vector, look_at: Vector, fov: float, light: Vector) -> View:
    return View(name, Camera(eye, look_at, fov=fov), light)


BLOB = (
    _view("front", (0.9, 0.8, 2.3), (0.0, 0.0, 0.0), 45.0, (2.0, 3.0, 2.5)),
    _view("back", (-1.1, 0.4, -2.2), (0.0, 0.0, 0.0), 45.0, (-2.5, 3.0, -2.0)),
)
SUBJECTS = (
    Subject("blob", 512_000, BLOB, demo="blob"),
    Subject(
        "room",
        499_712,
        (
            _view("inside", (3.55, 1.75, 2.6), (-1.0, 0.85, -0.9), 60.0, (0.5, 2.6, 0.3)),
            _view("outside", (8.0, 6.0, 9.0), (0.0, 1.0, 0.0), 45.0, (4.0, 9.0, 6.0)),
        ),
        demo="room",
    ),
    Subject(
        "crytek-sponza",
        262_205,
        (
            _view("inside", (-110.0, 25.0, -4.0), (60.0, 45.0, -4.0), 60.0, (0.0, 120.0, -4.0)),
            _view("outside", (-420.0, 330.0, -360.0), (0.0, 40.0, 0.0), 45.0, (-300.0, 500.0, 100.0)),
        ),
    ),
    Subject(
        "dabrovic-sponza",
        66_447,
        (
            _view("inside", (-12.0, 2.2, 0.4), (6.0, 4.5, -0.4), 60.0, (0.0, 13.0, 0.0)),
            _view("outside", (-34.0, 26.0, -30.0), (0.0, 5.0, 0.0), 45.0, (-25.0, 45.0, 10.0)),
        ),
    ),
    Subject(
        "country-kitchen",
        1_443_517,
        (
            _view("inside", (1.2, 1.7, 3.5), (-0.5, 1.1, -1.5), 60.0, (0.3, 2.9, 0.8)),
            _view("outside", (8.0, 5.5, 10.5), (0.3, 1.5, 1.0), 45.0, (6.0, 9.0, 4.0)),
        ),
    ),
    Subject(
        "dragon",
        202_520,
        (
            _view("front", (0.11, 0.19, 0.30), (-0.006, 0.125, -0.005), 45.0, (0.3, 0.6, 0.4)),
            _view("back", (-0.13, 0.17, -0.31), (-0.006, 0.125, -0.005), 45.0, (-0.3, 0.6, -0.4)),
        ),
    ),
    Subject(
        "bunny",
        69_451,
        (
            _view("front", (-0.06, 0.17, 0.26), (-0.017, 0.110, -0.002), 45.0, (0.3, 0.6, 0.4)),
            _view("back", (0.05, 0.15, -0.27), (-0.017, 0.110, -0.002), 45.0, (-0.3, 0.6, -0.4)),
        ),
    ),
    Subject(
        "49-sponzas",
        12_848_045,
        (_view("above", (-500.0, 900.0, -500.0), (1000.0, 0.0, 700.0), 45.0, (-300.0, 2500.0, 400.0)),),
        of_model="crytek-sponza",
        copies=7,
    ),
    Subject("blob-12.8M", 12_800_000, BLOB[:1], demo="blob"),
    Subject(
        "second-kitchen",
        56_939,
        (_view("inside", (-1.4, 1.6, 1.9), (1.8, 1.0, -1.2), 60.0, (0.8, 2.3, 0.0)),),
    ),
)
"""The last is of those that nothing was tuned on."""
BY_NAME = {subject.name: subject for subject in SUBJECTS}
APART = 1.02
"""Of a model's size, between copies of it."""


def given(files: Sequence[str], demo_triangles: int = 0) -> dict[str, Callable[[], Scene]]:
    """How to make each subject that can be had from `files` and the built-in scenes; those with `demo_triangles`
    instead of their own, where that is not 0. ValueError for a file that is none of them."""
    models = {}
    for file in files:
        scene = load([file])
        subject = next((one for one in SUBJECTS if not one.of_model and one.triangles == scene.triangle_count), None)
        if subject is None or subject.demo:
            named = ", ".join(f"{one.name} ({one.triangles:,} triangles)" for one in SUBJECTS if not one.demo)
            name = pathlib.Path(file).name
            raise ValueError(f"{name} has {scene.triangle_count:,} triangles and is none of the scenes: {named}.")
        models[subject.name] = scene
    found: dict[str, Callable[[], Scene]] = {}
    for subject in SUBJECTS:
        if subject.demo:
            found[subject.name] = functools.partial(make_demo, subject.demo, demo_triangles or subject.triangles)
        elif subject.of_model in models:
            found[subject.name] = functools.partial(repeated, subject, models[subject.of_model])
        elif subject.name in models:
            found[subject.name] = functools.partial(models.__getitem__, subject.name)
    return found


def repeated(subject: Subject, model: Scene) -> Scene:
    """Copies of a model side by side along x and z, in one mesh. The model's objects rest at nodes that do not move
    them."""
    shifts = [
        (APART * column * (model.upper[0] - model.lower[0]), 0.0, APART * row * (model.upper[2] - model.lower[2]))
        for row in range(subject.copies)
        for column in range(subject.copies)
    ]
    parts = [model.meshes[thing.mesh] for thing in model.objects if thing.mesh >= 0]
    starts = np.cumsum([0] + [len(part.positions) for part in parts])
    positions = np.concatenate([part.positions for part in parts])
    triangles = np.concatenate([part.triangles + start for part, start in zip(parts, starts, strict=False)])
    everywhere = np.concatenate([positions + np.array(shift, np.float32) for shift in shifts])
    count = len(positions)
    numbers = np.concatenate([triangles + index * count for index in range(len(shifts))]).astype(np.int32)
    mesh = Mesh(subject.name, everywhere, numbers, np.zeros(len(numbers), np.int32))
    bounds: dict[str, Any] = {
        "lower": tuple(everywhere.min(axis=0).tolist()),
        "upper": tuple(everywhere.max(axis=0).tolist()),
    }
    return Scene(subject.name, (Node(),), (mesh,), (Object(0, 0),), **bounds)
