"""Clouds of points for the octree suite: models on the floor of a Cornell room, sampled by area to exactly as many
points as were published; besides, a scan and a cube full of points, which are ours."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from raygrove.gpu.animate.animate import Animator
from raygrove.gpu.scene import Moment, Scene
from raygrove.gpu.target.base import Target

from .scenes import Load, SceneAbsentError, SceneChoice, SceneSource, demo, model

SEED = 2008
LAMP_SIDE = 0.25
"""Of the room's, which is 1."""
BUILT_IN_TRIANGLES = 50_000


@dataclasses.dataclass(frozen=True)
class Subject:
    """A model in the room: its file, and the built-in scene in its place where the file is not at hand."""

    file: str
    built_in: str


BUNNY = Subject("static/stanford-bunny.obj", "blob")
DRAGON = Subject("static/dragon_vrip_res2.ply", "walker")
ARMADILLO = Subject("static/armadillo.obj", "orbit")

ROOM = "walls and lamp of a Cornell room and the models in it, one set of points by area, seed 2008; "
UNPUBLISHED = "the paper's set of points is not to be had"
BUNNY_ROOM, GANESHA_ROOM = "Bunny in a room", "Ganesha in a room"
BOTH_ROOM, SCAN, CUBE = "Ganesha and Satyavathi in a room", "Scan of a room", "Cube"

SCENES = (
    SceneChoice(BUNNY_ROOM, 124_531, model(BUNNY.file), False, f"figure 12: {ROOM}{UNPUBLISHED}"),
    SceneChoice(GANESHA_ROOM, 165_646, model(DRAGON.file), False, f"figure 13: {ROOM}{UNPUBLISHED}"),
    SceneChoice(
        BOTH_ROOM, 290_177, model(DRAGON.file), False, f"figure 14: {ROOM}how many points it had was not printed"
    ),
    SceneChoice(SCAN, 112_586, model("points/room_scan1.ply"), False, "a scan as a device gives it", False),
    SceneChoice(CUBE, 124_531, SceneSource(), False, "even in a cube, seed 2008: a volume, no surface", False),
)
"""Points are what these count."""

SUBJECTS = {BUNNY_ROOM: (BUNNY,), GANESHA_ROOM: (DRAGON,), BOTH_ROOM: (DRAGON, ARMADILLO)}


@dataclasses.dataclass(frozen=True, eq=False)
class Cloud:
    """N points: `positions` (N, 3) float32 in a random order, `normals` (N, 3) float32 and `area`, which each of them
    stands for, where there are surfaces (None and 0 elsewhere). `ours` says what was sampled. `corners` (T, 3, 3) are
    the triangles; a scan is a surface without them."""

    ours: str
    positions: np.ndarray
    normals: np.ndarray | None = None
    area: float = 0.0
    corners: np.ndarray | None = None
    is_surface: bool = True

    def places(self, count: int) -> np.ndarray:
        """Other places (count, 3) float32 of the same kind: on the surfaces, or the points again."""
        if self.corners is None:
            chosen = np.random.default_rng(SEED + 1).integers(0, len(self.positions), count)
            return np.asarray(self.positions[chosen])
        return sampled(self.corners, count, SEED + 1)[0]


def make_cloud(target: Target, load: Load, choice: SceneChoice) -> Cloud:
    """The cloud of a choice. Raises SceneAbsentError where a scan is not at hand."""
    count = choice.published_triangles
    if choice.published in SUBJECTS:
        return in_a_room(target, load, SUBJECTS[choice.published], count)
    if not choice.source.file:
        random = np.random.default_rng(SEED)
        return Cloud("points drawn evenly", random.random((count, 3), np.float32), is_surface=False)
    scene = load(choice.source)
    if not scene.spheres:
        raise SceneAbsentError(f"{choice.source.file} holds no points.")
    points = np.concatenate([group.centres for group in scene.spheres]).astype(np.float32)
    return Cloud(choice.name, np.random.default_rng(SEED).permutation(points)[:count])


def in_a_room(target: Target, load: Load, subjects: Sequence[Subject], count: int) -> Cloud:
    """Models side by side on the floor, each as wide as its share of it."""
    names, parts = [], [room_corners()]
    size = 0.6 if len(subjects) == 1 else 0.44
    for place, subject in enumerate(subjects):
        try:
            scene = load(model(subject.file))
            names.append(subject.file.rpartition("/")[2].partition(".")[0])
        except SceneAbsentError:
            scene = load(demo(subject.built_in, BUILT_IN_TRIANGLES))
            names.append(f"built-in {subject.built_in}")
        parts.append(standing(corners_of(target, scene), size, (place + 0.5) / len(subjects)))
    corners = np.concatenate(parts)
    positions, normals = sampled(corners, count, SEED)
    area = float(areas_of(corners).sum() / count)
    return Cloud(f"room with {' and '.join(names)}", positions, normals, area, corners)


def corners_of(target: Target, scene: Scene) -> np.ndarray:
    """A scene's triangles at its beginning, (T, 3, 3) float64. Waits."""
    surface = Animator(target, scene).at(Moment())
    positions, triangles = target.download(surface.positions), target.download(surface.triangles)
    return np.asarray(positions.reshape(len(positions), -1)[:, :3][triangles], np.float64)


def standing(corners: np.ndarray, size: float, x: float) -> np.ndarray:
    """The model with its longest extent `size`, its middle at x and half the depth, on the floor."""
    low, high = corners.min(axis=(0, 1)), corners.max(axis=(0, 1))
    scale = size / max(float((high - low).max()), 1e-30)
    middle = (low + high) / 2.0
    foot = np.array([middle[0], low[1], middle[2]])
    return np.asarray((corners - foot) * scale + np.array([x, 0.001, 0.5]))


def room_corners() -> np.ndarray:
    """A room of side 1, open in front (z = 1), and a lamp below its ceiling: 12 triangles that look inwards."""
    low, lamp = (1.0 - LAMP_SIDE) / 2.0, LAMP_SIDE
    quads = (
        ((0, 0, 0), (0, 0, 1), (1, 0, 0)),
        ((0, 1, 0), (1, 0, 0), (0, 0, 1)),
        ((0, 0, 0), (1, 0, 0), (0, 1, 0)),
        ((0, 0, 0), (0, 1, 0), (0, 0, 1)),
        ((1, 0, 0), (0, 0, 1), (0, 1, 0)),
        ((low, 0.999, low), (lamp, 0, 0), (0, 0, lamp)),
    )
    found = []
    for corner, u, v in np.array(quads, np.float64):
        found += [[corner, corner + u, corner + u + v], [corner, corner + u + v, corner + v]]
    return np.array(found)


def areas_of(corners: np.ndarray) -> np.ndarray:
    """(T,), 0 of triangles that are not finite."""
    cross = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    areas = 0.5 * np.linalg.norm(cross, axis=1)
    return np.where(np.isfinite(areas), areas, 0.0)


def sampled(corners: np.ndarray, count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """`count` points on triangles by area and their normals, (count, 3) float32 each, in a random order."""
    random = np.random.default_rng(seed)
    sums = np.cumsum(areas_of(corners))
    chosen = np.minimum(np.searchsorted(sums, random.random(count) * sums[-1], side="right"), len(corners) - 1)
    root, other = np.sqrt(random.random(count))[:, None], random.random(count)[:, None]
    a, b, c = (corners[chosen, place] for place in range(3))
    points = a * (1.0 - root) + b * root * (1.0 - other) + c * root * other
    normals = np.cross(b - a, c - a)
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-30)
    return points.astype(np.float32), normals.astype(np.float32)
