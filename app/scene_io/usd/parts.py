"""Nodes, and what is placed at them: of the whole scene, or of a subtree that is placed many times."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from raygrove.app.scene_io.errors import SceneError, display_path
from raygrove.app.scene_io.transforms import decompose
from raygrove.gpu.scene import Channel, Light, Mesh, Object, SceneCamera, Skin, Track

MAX_NODES = 1_000_000


class Part:
    """A tree of nodes; its first node is the root. Indices of nodes count within the part."""

    def __init__(self, path: str, name: str, matrix: np.ndarray | None = None) -> None:
        self.path = path
        self.names: list[str] = []
        self.parents: list[int] = []
        self.matrices: list[np.ndarray] = []
        self.objects: list[Object] = []
        self.channels: list[Channel] = []
        self.lights: list[Light] = []
        self.cameras: list[SceneCamera] = []
        self.nodes_of: dict[str, int] = {}
        self.add(name, -1, np.eye(4) if matrix is None else matrix)

    def add(self, name: str, parent: int, matrix: np.ndarray) -> int:
        """A new node; `SceneError` where there are too many."""
        self.check_room(1)
        self.names.append(name)
        self.parents.append(parent)
        self.matrices.append(matrix if np.isfinite(matrix).all() else np.eye(4))
        return len(self.names) - 1

    def check_room(self, more: int) -> None:
        """`SceneError` where so many more nodes are too many."""
        if len(self.names) + more > MAX_NODES:
            why = f"it has more than {MAX_NODES:,} nodes, instances counted"
            raise SceneError(f"{display_path(self.path)} is not read: {why}. Export it with fewer copies.", self.path)

    def move(self, nodes: Sequence[int], times: np.ndarray, matrices: np.ndarray) -> int:
        """Channels of nodes from their matrices (N, K, 4, 4) at `times`; returns how many of them lost a shear."""
        count, steps = matrices.shape[:2]
        sound = np.where(np.isfinite(matrices).all(axis=(2, 3), keepdims=True), matrices, np.eye(4))
        parts = decompose(sound.reshape(-1, 4, 4))
        translations, rotations, scales = (part.reshape(count, steps, -1) for part in parts[:3])
        signs = np.where((rotations[:, 1:] * rotations[:, :-1]).sum(axis=2) < 0.0, -1.0, 1.0)
        rotations[:, 1:] *= np.cumprod(signs, axis=1)[:, :, None]
        for path, values in (("translation", translations), ("rotation", rotations), ("scale", scales)):
            moves = (values != values[:, :1]).any(axis=(1, 2))
            for index in np.flatnonzero(moves).tolist():
                track = Track(times, values[index].astype(np.float32))
                self.channels.append(Channel(nodes[index], path, track))
        return int(np.count_nonzero(parts[3].reshape(count, steps).any(axis=1)))

    def place(self, part: Part, nodes: Sequence[int], meshes: list[Mesh]) -> None:
        """Copies of `part`, one below each of `nodes`. Skins are copied, too: their joints are nodes."""
        size = len(part.names)
        self.check_room(size * len(nodes))
        for node in nodes:
            first = len(self.names)
            self.names += part.names
            self.parents += [node if parent < 0 else parent + first for parent in part.parents]
            self.matrices += part.matrices
            self.objects += [_moved(thing, first, meshes) for thing in part.objects]
            self.channels += [dataclasses.replace(one, node=one.node + first) for one in part.channels]
            self.lights += [dataclasses.replace(one, node=one.node + first) for one in part.lights]
            self.cameras += [dataclasses.replace(one, node=one.node + first) for one in part.cameras]


def _moved(thing: Object, first: int, meshes: list[Mesh]) -> Object:
    skin = meshes[thing.mesh].skin if thing.mesh >= 0 else None
    if skin is None:
        return dataclasses.replace(thing, node=thing.node + first)
    copied = Skin(skin.joints + first, skin.inverse_bind, skin.joint_ids, skin.weights)
    meshes.append(dataclasses.replace(meshes[thing.mesh], skin=copied))
    return Object(thing.node + first, len(meshes) - 1)
