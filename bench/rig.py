"""A generated rig to measure skinning and morphing with: a bent, breathing tube of any number of vertices, four joints
each."""

from __future__ import annotations

import numpy as np

from raygrove.gpu.scene import Channel, Clip, Mesh, MorphTargets, Node, Object, Scene, Skin, Track

JOINTS, TARGETS, AROUND = 64, 2, 250
SECONDS = 2.0


def make_rig(vertices: int, joints: int = JOINTS, targets: int = TARGETS) -> Scene:
    """A tube of about `vertices` vertices along Y that bends at `joints` joints and swells by `targets` morph targets,
    all of them at work."""
    rows = max(2, vertices // AROUND)
    height, angle = np.meshgrid(
        np.linspace(0.0, joints - 1.0, rows), np.linspace(0.0, 2.0 * np.pi, AROUND, endpoint=False), indexing="ij"
    )
    outward = np.stack([np.cos(angle), np.zeros_like(angle), np.sin(angle)], axis=-1).reshape(-1, 3)
    along = height.reshape(-1)
    positions = outward + np.stack([np.zeros_like(along), along, np.zeros_like(along)], axis=-1)
    swelling = [0.3 * np.sin((t + 1) * 0.5 * along)[:, None] * outward for t in range(targets)]
    tilting = [
        -0.15 * (t + 1) * np.cos((t + 1) * 0.5 * along)[:, None] * np.array([0.0, 1.0, 0.0]) for t in range(targets)
    ]
    morph = MorphTargets(np.array(swelling, np.float32), np.array(tilting, np.float32), np.zeros(targets, np.float32))
    triangles, materials = _triangles(rows), np.zeros(2 * AROUND * (rows - 1), np.int32)
    mesh = Mesh(
        "tube", _f(positions), triangles, materials, _f(outward), skin=_skin(along, joints), morph_targets=morph
    )
    nodes = (Node("tube"), *(Node(f"joint {j}", j, (0.0, float(j > 0), 0.0)) for j in range(joints)))
    clip = Clip("bend", SECONDS, _channels(joints, targets))
    return Scene("rig", nodes, (mesh,), (Object(0, 0),), clips=(clip,), upper=(joints / 2.0, float(joints), 1.0))


def _skin(along: np.ndarray, joints: int) -> Skin:
    """The four joints around each height, by a cubic B-spline's weights."""
    first = np.floor(along)
    share = along - first
    weights = (
        np.stack(
            [(1 - share) ** 3, 3 * share**3 - 6 * share**2 + 4, -3 * share**3 + 3 * share**2 + 3 * share + 1, share**3],
            axis=1,
        )
        / 6.0
    )
    ids = np.clip(first[:, None] + np.arange(-1, 3), 0, joints - 1)
    binds = np.tile(np.eye(4, dtype=np.float32), (joints, 1, 1))
    binds[:, 1, 3] = -np.arange(joints)
    return Skin(np.arange(1, joints + 1, dtype=np.int32), binds, ids.astype(np.int32), _f(weights))


def _channels(joints: int, targets: int) -> tuple[Channel, ...]:
    times = _f(np.linspace(0.0, SECONDS, 5))
    half = 0.5 * 0.04 * np.sin(np.pi * times / SECONDS)
    turns = _f(np.stack([np.zeros(5), np.zeros(5), np.sin(half), np.cos(half)], axis=1))
    weights = _f(0.5 + 0.4 * np.sin(np.pi * times[:, None] / SECONDS + np.arange(targets)))
    return (
        *(Channel(j, "rotation", Track(times, turns)) for j in range(1, joints + 1)),
        Channel(0, "weights", Track(times, weights)),
    )


def _triangles(rows: int) -> np.ndarray:
    row, column = np.meshgrid(np.arange(rows - 1), np.arange(AROUND), indexing="ij")
    a, b = row * AROUND + column, row * AROUND + (column + 1) % AROUND
    c, d = a + AROUND, b + AROUND
    return (
        np.stack([np.stack([a, c, b], axis=-1), np.stack([b, c, d], axis=-1)], axis=2).reshape(-1, 3).astype(np.int32)
    )


def _f(values: np.ndarray) -> np.ndarray:
    return np.asarray(values, np.float32)
