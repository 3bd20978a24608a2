"""Morph targets and skins on the target: the vertices of the objects that they deform, from the pose's weights and
joints."""

from __future__ import annotations

import numpy as np

from ..scene import Scene
from ..target.base import Array, Target, UnitSource
from . import deform_tables, tables
from .pose import Pose
from .tables import MAX_BLOCKS


class Deformer:
    """Holds a scene's skins and morph targets on the target. `deforms` tells the objects that it places, (objects,)
    bool."""

    def __init__(
        self,
        target: Target,
        scene: Scene,
        strides: np.ndarray,
        skins: deform_tables.SkinTables,
        weights: deform_tables.WeightTables,
    ) -> None:
        self._target, self._scene, self._weights = target, scene, weights
        self.deforms = np.array([deform_tables.is_deformed(scene.meshes[o.mesh]) for o in scene.objects], bool)
        morphs = deform_tables.morph_tables(scene.meshes)
        source = UnitSource("gpu/animate/deform.cu", constants=(("TILE_VERTICES", deform_tables.TILE_VERTICES),))
        self._unit = target.unit(source) if self.deforms.any() else None
        self._rows = target.upload(deform_tables.deformer_table(scene, strides, morphs, skins, weights), "animation")
        self._targets = tuple(target.upload(values, "animation") for values in (morphs.targets, morphs.normal_targets))
        self._skinned = tuple(target.upload(values, "animation") for values in (skins.joint_ids, skins.weights))

    def moves(self, clip: int, moving_nodes: np.ndarray) -> np.ndarray:
        """(objects,) bool: whose joints the clip moves, or whose weights it drives. What else moves a morphed object is
        its node's matter."""
        driven = {
            int(self._weights.rows[row]) for row in deform_tables.weight_tracks(self._scene, clip, self._weights.rows)
        }
        result = np.zeros(len(self._scene.objects), bool)
        for index, thing in enumerate(self._scene.objects):
            skin = self._scene.meshes[thing.mesh].skin
            result[index] = index in driven or (skin is not None and bool(moving_nodes[np.asarray(skin.joints)].any()))
        return result

    def tiles(self, first_vertex: np.ndarray, counts: np.ndarray, objects: np.ndarray) -> Array:
        """The tiles of the given objects on the target."""
        return self._target.upload(
            tables.tiles_of(first_vertex, counts, objects, deform_tables.TILE_VERTICES), "animation"
        )

    def deform(self, tiles: Array, pose: Pose, buffers: dict[str, Array]) -> None:
        """Write the vertices of the tiles; `buffers` are the shapes to start from, positions, previous positions,
        normals and the counter of vertices that are not finite, by the kernel's names."""
        count = len(tiles)
        if count and self._unit is not None:
            targets, normal_targets = self._targets
            joint_ids, joint_weights = self._skinned
            self._target.launch(
                self._unit,
                "deform_vertices",
                count,
                tiles=tiles,
                tile_count=count,
                placements=pose.placements,
                deformers=self._rows,
                weights=pose.weights,
                targets=targets,
                normal_targets=normal_targets,
                joints=pose.joints,
                joint_ids=joint_ids,
                joint_weights=joint_weights,
                **buffers,
                block=deform_tables.TILE_VERTICES,
                blocks=min(count, MAX_BLOCKS),
            )
