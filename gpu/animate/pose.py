"""The scene's pose on the target: matrices of nodes, objects and joints, weights of morph targets, lights, at the
moment.

A small scene's pose is one launch of one block; a larger one's is a launch a step (docs/decisions/deforming-meshes.md).
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from ..light_row import MAX_LIGHTS, LightRow
from ..scene import Light, Moment, Scene
from ..target.base import Array, Target, UnitSource
from . import deform_tables, structs, tables

POSE_THREADS = 256
AT_ONCE = 1024
"""A scene with no more nodes, objects, joints, lights and weights together is posed by one block."""


class Pose:
    """Holds what moves a scene; `further` are objects without a mesh, after the others: node, key times, and how many
    of its keys have room. `placements` of its objects, `weights`, `joints` and `lights` are of the moment last
    launched; `key_slots` tells the slot of each object's keys, in the order of the key times, where an object's begin
    at its `first_times`."""

    def __init__(
        self,
        target: Target,
        scene: Scene,
        sources: tables.SourceTables,
        skins: deform_tables.SkinTables,
        weights: deform_tables.WeightTables,
        further: tuple[tuple[int, np.ndarray, int], ...] = (),
    ):
        self._target = target
        self._unit = target.unit(UnitSource("gpu/animate/pose.cu", constants=_CONSTANTS))
        self._moment = target.zeros(structs.Moment.dtype().itemsize, np.uint8, "animation")
        self._upload_nodes(scene, weights)
        self._upload_objects(scene, sources, further)
        self._upload_deformers(skins, weights, any(mesh.skin is not None for mesh in scene.meshes))
        self._lights_at_rest = target.zeros((MAX_LIGHTS, LightRow.floats()), np.float32, "animation")
        self._light_nodes = target.zeros(MAX_LIGHTS, np.int32, "animation")
        self.lights = target.zeros((MAX_LIGHTS, LightRow.floats()), np.float32, "surface")
        self.take_lights(scene.lights)
        items = len(scene.nodes) + self._object_count + self._joint_count + self.light_count + self._slot_count
        self._is_small = items <= AT_ONCE

    def take_lights(self, lights: tuple[Light, ...]) -> None:
        """Other lights from the next launch on; those past MAX_LIGHTS are left out."""
        self.light_count = min(len(lights), MAX_LIGHTS)
        rest, nodes = tables.light_tables(lights)
        self._target.write(self._lights_at_rest[: len(rest)], rest)
        self._target.write(self._light_nodes[: len(nodes)], nodes)

    def write_moment(self, moment: Moment | tuple[float, int]) -> None:
        """Set the instant of the next launches."""
        time, clip = (moment.time, moment.clip) if isinstance(moment, Moment) else moment
        self._target.write(self._moment, structs.Moment.table([structs.Moment(time, clip)]).view(np.uint8))

    def launch(self, not_finite: Array) -> None:
        """Evaluate the moment; the counter `not_finite` becomes 0."""
        launch, evaluated, placed = self._target.launch, self._evaluated(), self._placed(not_finite)
        here, there = self._matrices
        if self._is_small:
            launch(
                self._unit,
                "pose_at_once",
                1,
                **evaluated,
                **placed,
                ancestors=self._ancestors,
                pass_count=len(self._ancestors),
                matrices=here,
                other_matrices=there,
                block=POSE_THREADS,
                blocks=1,
            )
            return
        launch(self._unit, "evaluate_tracks", max(self._node_count, self._slot_count), **evaluated, local=here)
        count = self._node_count
        for ancestors in self._passes:
            launch(self._unit, "compose_nodes", count, source=here, ancestors=ancestors, node_count=count, to=there)
            here, there = there, here
        count = max(self._object_count, self.light_count, self._joint_count, 1)
        launch(self._unit, "place_parts", count, moment=self._moment, world=here, **placed)

    @property
    def keys(self) -> dict[str, Any]:
        """What kernels take that find an object's key frames of this instant, by their names for it."""
        return {"moment": self._moment, "posed": self._objects, "key_times": self._key_times}

    def _evaluated(self) -> dict[str, Any]:
        """What kernels take that evaluate tracks, by their names for it."""
        return {
            "moment": self._moment,
            "tracks": self._tracks.tracks,
            "times": self._tracks.times,
            "values": self._tracks.values,
            "rest": self._rest,
            "channels": self._tracks.channels,
            "node_count": self._node_count,
            "slots": self._slots,
            "weight_channels": self._tracks.weight_channels,
            "row_count": self._row_count,
            "slot_count": self._slot_count,
            "weights": self.weights,
        }

    def _placed(self, not_finite: Array) -> dict[str, Any]:
        """What kernels take that place objects, lights and joints, by their names for it."""
        return {
            "objects": self._objects,
            "key_times": self._key_times,
            "key_slots": self.key_slots,
            "object_count": self._object_count,
            "placements": self.placements,
            "lights_at_rest": self._lights_at_rest,
            "light_nodes": self._light_nodes,
            "light_count": self.light_count,
            "lights": self.lights,
            "joint_nodes": self._joint_nodes,
            "inverse_binds": self._inverse_binds,
            "joint_count": self._joint_count,
            "joints": self.joints,
            "not_finite": not_finite,
        }

    # -- once a scene ---------------------------------------------------------------------------------------------
    def _upload_nodes(self, scene: Scene, weights: deform_tables.WeightTables) -> None:
        target = self._target
        rest, parents = tables.node_tables(scene.nodes)
        driven = [deform_tables.weight_tracks(scene, clip, weights.rows) for clip in range(len(scene.clips))]
        tracks = tables.track_tables(scene, driven, len(weights.rows))
        self._tracks = tables.TrackTables(
            *(target.upload(getattr(tracks, field.name), "animation") for field in dataclasses.fields(tracks))
        )
        self._rest, self._node_count = target.upload(rest, "animation"), len(scene.nodes)
        self._ancestors = target.upload(np.stack(tables.ancestor_tables(parents)), "animation")
        self._passes = [self._ancestors[number] for number in range(len(self._ancestors))]
        # Passes read the one and write the other; the last one's is the nodes' matrices to the world.
        self._matrices = tuple(target.empty((len(scene.nodes), 12), np.float32, "animation") for _ in range(2))

    def _upload_objects(
        self, scene: Scene, sources: tables.SourceTables, further: tuple[tuple[int, np.ndarray, int], ...]
    ) -> None:
        target, self._object_count = self._target, len(scene.objects) + len(further)
        objects = [
            structs.Object(
                node=thing.node,
                stride=int(sources.strides[thing.mesh]),
                first_source=int(sources.first[thing.mesh]),
                key_count=int(sources.keys[thing.mesh]),
                first_time=int(sources.first_time[thing.mesh]),
            )
            for thing in scene.objects
        ]
        key_times, key_slots = [sources.key_times], [sources.key_slots]
        for node, times, room in further:  # its shapes are numbered as its slots are
            objects.append(structs.Object(node, 1, 0, len(times), sum(map(len, key_times))))
            key_times.append(times)
            key_slots.append(np.arange(len(times), dtype=np.int32) % np.int32(room))
        self.first_times = [thing.first_time for thing in objects]
        objects = objects or [structs.Object(0, 0, 0, 1, 0)]
        self._objects = target.upload(structs.Object.table(objects).view(np.int32), "animation")
        self._key_times = target.upload(np.concatenate(key_times).astype(np.float32), "animation")
        self.key_slots = target.upload(np.concatenate(key_slots).astype(np.int32), "animation")
        self.placements = target.zeros((len(objects), structs.PLACEMENT_BYTES), np.uint8, "animation")

    def _upload_deformers(
        self, skins: deform_tables.SkinTables, weights: deform_tables.WeightTables, has_skins: bool
    ) -> None:
        target, slots = self._target, weights.slots
        self._joint_nodes, self._inverse_binds = (
            target.upload(skins.nodes, "animation"),
            target.upload(skins.inverse_binds, "animation"),
        )
        self._joint_count = len(skins.nodes) if has_skins else 0
        self.joints = target.zeros((len(skins.nodes), 16), np.float32, "animation")
        self._slots = target.upload(
            slots.view(np.uint8) if len(slots) else np.zeros(structs.WeightSlot.dtype().itemsize, np.uint8), "animation"
        )
        self._slot_count, self._row_count = len(slots), len(weights.rows)
        self.weights = target.zeros(max(1, len(slots)), np.float32, "animation")


_CONSTANTS = (("COMPOSED_NODES", tables.COMPOSED_NODES), ("POSE_THREADS", POSE_THREADS))
