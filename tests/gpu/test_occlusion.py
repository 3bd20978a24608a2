"""Which nodes are hidden behind others, against rays in random directions that numpy intersects with every triangle in
float64."""

from __future__ import annotations

import contextlib

import numpy as np
import pytest

import raygrove
from raygrove.gpu.hierarchy.base import NodeTable
from raygrove.gpu.hierarchy.primitives import triangle_primitives
from raygrove.gpu.hierarchy.registry import make_structure
from raygrove.gpu.occlusion import CELL_RESOLUTION, places_in, visible_nodes
from raygrove.gpu.target.base import Target
from raygrove.gpu.trace.trace import Tracer

STRUCTURES = ["octree_top_down", "lbvh", "grid"]
CLUSTERS = {"behind": (5.0, 0.0, 0.0), "beside": (5.0, 5.0, 0.0), "at the back": (-5.0, 0.0, 0.0)}


def rooms() -> np.ndarray:
    """(T, 3, 3): two rooms with a wall between them, which has a door, and small things all over both."""
    random = np.random.default_rng(7)
    things = random.uniform([-2, -1, -1], [2, 1, 1], (900, 3))[:, None] * 0.95 + random.normal(0, 0.03, (900, 3, 3))

    def wall(corner: list[float], first: list[float], second: list[float]) -> np.ndarray:
        a, b, c = (np.array(part, float) for part in (corner, first, second))
        return np.array([[a, a + b, a + b + c], [a, a + b + c, a + c]])

    between = [wall([0, -1, -1], [0, 1.3, 0], [0, 0, 2]), wall([0, 0.7, -1], [0, 0.3, 0], [0, 0, 2])]
    around = [
        *(wall([x, -1, -1], [0, 2, 0], [0, 0, 2]) for x in (-2, 2)),
        *(wall([-2, y, -1], [4, 0, 0], [0, 0, 2]) for y in (-1, 1)),
        *(wall([-2, -1, z], [4, 0, 0], [0, 2, 0]) for z in (-1, 1)),
    ]
    return np.concatenate([things, *between, *around])


def wall_and_clusters() -> np.ndarray:
    """(T, 3, 3): a square wall at x = 2, and small triangles around the places of CLUSTERS."""
    square = np.array([[2, -1, -1], [2, 1, -1], [2, 1, 1], [2, -1, -1], [2, 1, 1], [2, -1, 1]], float).reshape(-1, 3, 3)
    random = np.random.default_rng(1)
    return np.concatenate([square, *(at + random.uniform(-0.2, 0.2, (12, 3, 3)) for at in CLUSTERS.values())])


def leaves_near(table: NodeTable, at: tuple[float, float, float]) -> np.ndarray:
    """(N,) bool: the leaves of a cluster."""
    return np.asarray(np.all(np.abs((table.lower + table.upper) / 2 - at) < 0.3, axis=1) & table.is_leaf)


def first_hits(
    corners: np.ndarray, origin: np.ndarray, directions: np.ndarray, clip: tuple[float, ...] | None = None
) -> np.ndarray:
    """(R, 3): where rays first meet a triangle that the plane leaves; by Cramer's rule, every pair."""
    a, b, c = corners[:, 0], corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    nearest = np.full(len(directions), np.inf)
    for start, one, two in zip(origin - a, b, c, strict=True):
        normal = np.cross(one, two)
        with np.errstate(all="ignore"):
            scale = -1.0 / (directions @ normal)
            t = (start @ normal) * scale
            turned = np.cross(directions, start)  # of both coordinates
            u, v = -(turned @ two) * scale, (turned @ one) * scale
            is_hit = (t > 0) & (u >= 0) & (v >= 0) & (u + v <= 1)
            if clip is not None:
                is_hit &= (origin + t[:, None] * directions) @ np.array(clip[:3]) <= clip[3]
        nearest = np.where(is_hit & (t < nearest), t, nearest)
    return origin + nearest[:, None] * directions


def directions_of(count: int, seed: int) -> np.ndarray:
    rows = np.random.default_rng(seed).normal(size=(count, 3))
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def leaves_of(table: NodeTable, points: np.ndarray) -> np.ndarray:
    """(R, L) bool: which leaves hold each point, boxes widened a little, so that rounding decides nothing."""
    lower, upper = (side[table.is_leaf].astype(float) for side in (table.lower, table.upper))
    inside = (points[:, None] >= lower - 1e-6) & (points[:, None] <= upper + 1e-6)
    return np.asarray(inside.all(axis=2))


@pytest.mark.parametrize("name", STRUCTURES)
def test_what_rays_see_is_visible_from_a_place(target: Target, name: str) -> None:
    """No leaf that holds what a ray hits first, and nothing else does, is hidden; and much that no ray sees is."""
    corners = rooms()
    with raygrove.build(
        corners.reshape(-1, 3), np.arange(3 * len(corners)).reshape(-1, 3), name, target=target
    ) as made:
        table = made.nodes()
        for number, eye in enumerate(([-1.2, 0.1, 0.2], [1.5, -0.4, 0.0])):
            seen = made.visible_nodes(eye)
            held = leaves_of(table, first_hits(corners, np.array(eye), directions_of(3000, number)))
            is_missed = ~(held & seen[table.is_leaf]).any(axis=1) & held.any(axis=1)
            assert is_missed.mean() < 0.002, "only what is seen through openings narrower than two depths"
            beyond = table.lower[:, 0] > 0.02 if eye[0] < 0.0 else table.upper[:, 0] < -0.02
            assert seen[0] and (~seen[beyond]).mean() > 0.35, "the other room is behind the wall, but for its door"
            assert not seen[(table.parent >= 0) & ~seen[table.parent]].any(), "what lies in a hidden node is hidden"


def test_what_rays_from_a_cell_see_is_visible_from_it(target: Target) -> None:
    """From random places within a leaf, of which the tests' places are none."""
    corners, random = rooms(), np.random.default_rng(3)
    indices = np.arange(3 * len(corners)).reshape(-1, 3)
    with raygrove.build(corners.reshape(-1, 3), indices, "grid", target=target) as made:
        table = made.nodes()
        lower, upper = np.array([-1.4, -0.2, -0.2]), np.array([-1.1, 0.1, 0.1])
        seen = made.visible_nodes(places_in(lower, upper), CELL_RESOLUTION)
        one = made.visible_nodes(places_in(lower, upper, 1), CELL_RESOLUTION)
        assert (seen | ~one).all() and one.sum() < seen.sum() < 0.9 * len(table), "a cell sees more than its centre"
        missed = []
        for number in range(8):
            eye = random.uniform(lower, upper)
            held = leaves_of(table, first_hits(corners, eye, directions_of(600, number)))
            missed.append((~(held & seen[table.is_leaf]).any(axis=1) & held.any(axis=1)).mean())
        assert np.mean(missed) < 0.005


def test_a_box_behind_a_wall_is_hidden_and_beside_it_is_not(target: Target) -> None:
    """A wall, a cluster behind it, one beside it, one behind the eye."""
    corners = wall_and_clusters()
    with raygrove.build(corners.reshape(-1, 3), np.arange(3 * len(corners)).reshape(-1, 3), target=target) as made:
        table, seen = made.nodes(), made.visible_nodes([0.0, 0.0, 0.0])
        for name, at in CLUSTERS.items():
            inside = leaves_near(table, at)
            assert inside.any() and seen[inside].any() == (name != "behind"), name
        assert made.visible_nodes([4.0, 0.0, 0.0])[0]
        with pytest.raises(ValueError, match="power of two"):
            made.visible_nodes([0.0, 0.0, 0.0], resolution=100)
        with pytest.raises(ValueError, match="not finite"):
            made.visible_nodes([np.nan, 0.0, 0.0])


@pytest.mark.parametrize("name", STRUCTURES)
def test_what_a_plane_cuts_away_hides_nothing(target: Target, name: str) -> None:
    """Rays that see what a slanted plane leaves, from a place that it leaves and from one that it cuts away."""
    corners, normal = rooms(), np.array([0.3, 0.2, 0.9]) / np.linalg.norm([0.3, 0.2, 0.9])
    clip = (*normal.tolist(), 0.15)
    indices = np.arange(3 * len(corners)).reshape(-1, 3)
    with raygrove.build(corners.reshape(-1, 3), indices, name, target=target) as made:
        table, tracer = made.nodes(), Tracer(target, made._hierarchy.traversal())
        ends = np.stack([normal * table.lower, normal * table.upper])
        is_beyond = ends.min(axis=0).sum(axis=1) > 0.15 + 1e-3
        for number, eye in enumerate(([-1.2, 0.1, 0.2], [1.5, -0.4, 0.9])):
            assert (normal @ eye > 0.15) == bool(number)
            held = leaves_of(table, first_hits(corners, np.array(eye), directions_of(3000, number), clip))
            missed = {}
            for cut in (clip, None):
                seen = visible_nodes(tracer, table, np.array(eye), clip=cut)
                is_missed = ~(held & seen[table.is_leaf]).any(axis=1) & held.any(axis=1)
                missed[cut] = is_missed.sum() / held.any(axis=1).sum()
                assert cut is None or not seen[is_beyond].any(), "nothing is seen of what is cut away"
                is_large = name == "octree_top_down"  # cells of which few are hidden
                assert cut is None or is_large or (~seen[~is_beyond]).mean() > 0.03, "what is left goes on hiding"
            assert missed[clip] < 0.004, "only what is seen through openings narrower than two depths"
            assert not number or missed[None] > 0.02, "it would be hidden by what is cut away"


@pytest.mark.parametrize(
    ("clip", "seen"),
    [
        (None, {"beside", "at the back"}),
        ((-1.0, 0.0, 0.0, -3.0), {"behind", "beside"}),
        ((-1.0, 0.0, 0.0, -2.0), {"behind", "beside"}),
        ((-1.0, 0.0, 0.0, -1.9), {"beside"}),
        ((1.0, 0.0, 0.0, 3.0), {"at the back"}),
        ((0.0, 1.0, 0.0, -1.5), set()),
        ((0.0, 0.0, 1.0, 2.0), {"beside", "at the back"}),
    ],
    ids=["none", "behind the wall", "in the wall", "before the wall", "the back", "nothing is left", "all is left"],
)
def test_a_wall_hides_while_it_is_not_cut_away(
    target: Target, clip: tuple[float, float, float, float] | None, seen: set[str]
) -> None:
    corners = wall_and_clusters()
    with raygrove.build(corners.reshape(-1, 3), np.arange(3 * len(corners)).reshape(-1, 3), target=target) as made:
        table = made.nodes()
        found = visible_nodes(Tracer(target, made._hierarchy.traversal()), table, np.zeros(3), clip=clip)
        assert {name for name in CLUSTERS if found[leaves_near(table, CLUSTERS[name])].any()} == seen


def test_a_structure_of_one_box_is_seen_without_rays(target: Target, monkeypatch: pytest.MonkeyPatch) -> None:
    """Brute force tests every primitive by every ray: it would keep the window waiting."""
    with contextlib.closing(make_structure(target, "brute_force")) as made:
        corners = target.upload(rooms().astype(np.float32).reshape(-1, 3), "test")
        indices = target.upload(np.arange(len(corners), dtype=np.int32).reshape(-1, 3), "test")
        made.build(triangle_primitives(corners, indices))
        tracer = Tracer(target, made.traversal())
        monkeypatch.setattr(tracer, "trace", lambda *_, **__: pytest.fail("rays were cast"))
        np.testing.assert_array_equal(visible_nodes(tracer, made.nodes(), np.zeros((1, 3))), [True])
