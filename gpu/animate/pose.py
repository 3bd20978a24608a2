"""The scene's pose on the target: matrices of nodes, objects and joints, weights of morph targets, lights, at the moment.

A small scene's pose is one launch of one block; a larger one's is a launch a step (docs/decisions/deforming-meshes.md).
"""

from __future__ import annotations

import dataclasses

import numpy as np

from ..scene import Light, Moment, Scene
from ..target.base import Array, Target, UnitSource
from . import deform_tables, tables

MOMENT = np.dtype([("time", "f4"), ("clip", "i4")])
PLACEMENT_BYTES = 112
POSE_THREADS = 256
AT_ONCE = 1024
"""A scene with no more nodes, objects, joints, lights and weights together is posed by one block."""


class Pose:
    """Holds what moves a scene. `placements` of its objects, `weights`, `joints` and `lights` are of the moment last launched; `key_slots` tells the
    slot of each mesh's keys, in the order of the key times."""

    def __init__(
        self, target: Target, scene: Scene, sources: tables.SourceTables, skins: deform_tables.SkinTables, weights: deform_tables.WeightTables
    ):
        self._target = target
        self._unit = target.unit(UnitSource("gpu/animate/pose.cu", constants=_CONSTANTS))
        self._moment = target.zeros(MOMENT.itemsize, np.uint8, "animation")
        self._upload_nodes(scene, weights)
        self._upload_objects(scene, sources)
        self._upload_deformers(skins, weights, any(mesh.skin is not None for mesh in scene.meshes))
        self._lights_at_rest = target.zeros((tables.MAX_LIGHTS, tables.LIGHT_FLOATS), np.float32, "animation")
        self._light_nodes = target.zeros(tables.MAX_LIGHTS, np.int32, "animation")
        self.lights = target.zeros((tables.MAX_LIGHTS, tables.LIGHT_FLOATS), np.float32, "surface")
        self.take_lights(scene.lights)
        items = len(scene.nodes) + len(scene.objects) + self._joint_count + self.light_count + self._slot_count
        self._is_small = items <= AT_ONCE

    def take_lights(self, lights: tuple[Light, ...]) -> None:
        """Other lights from the next launch on; those past MAX_LIGHTS are left out."""
        self.light_count = min(len(lights), tables.MAX_LIGHTS)
        rest, nodes = tables.light_tables(lights)
        self._target.write(self._lights_at_rest[: len(rest)], rest)
        self._target.write(self._light_nodes[: len(nodes)], nodes)

    def write_moment(self, moment: Moment | tuple[float, int]) -> None:
        """Set the instant of the next launches."""
        time, clip = (moment.time, moment.clip) if isinstance(moment, Moment) else moment
        self._target.write(self._moment, np.array((time, clip), MOMENT).reshape(1).view(np.uint8))

    def launch(self, not_finite: Array) -> None:
        """Evaluate the moment; the counter `not_finite` becomes 0."""
        launch = self._target.launch
        tracks = (self._moment, self._tracks.tracks, self._tracks.times, self._tracks.values)
        nodes = (self._rest, self._tracks.channels, self._node_count)
        weights = (self._slots, self._tracks.weight_channels, self._row_count, self._slot_count, self.weights)
        objects = (self._objects, self._key_times, self.key_slots, self._object_count, self.placements)
        lights = (self._lights_at_rest, self._light_nodes, self.light_count, self.lights)
        joints = (self._joint_nodes, self._inverse_binds, self._joint_count, self.joints)
        here, there = self._matrices
        if self._is_small:
            composed = (self._ancestors, len(self._ancestors), here, there)
            arguments = (*tracks, *nodes, *weights, *composed, *objects, *lights, *joints, not_finite)
            launch(self._unit, "pose_at_once", 1, *arguments, block=POSE_THREADS, blocks=1)
            return
        launch(self._unit, "evaluate_tracks", max(self._node_count, self._slot_count), *tracks, *nodes, here, *weights)
        for ancestors in self._passes:
            launch(self._unit, "compose_nodes", self._node_count, here, ancestors, self._node_count, there)
            here, there = there, here
        count = max(self._object_count, self.light_count, self._joint_count, 1)
        launch(self._unit, "place_parts", count, self._moment, here, *objects, *lights, *joints, not_finite)

    # -- once a scene ---------------------------------------------------------------------------------------------
    def _upload_nodes(self, scene: Scene, weights: deform_tables.WeightTables) -> None:
        target = self._target
        rest, parents = tables.node_tables(scene.nodes)
        driven = [deform_tables.weight_tracks(scene, clip, weights.rows) for clip in range(len(scene.clips))]
        tracks = tables.track_tables(scene, driven, len(weights.rows))
        self._tracks = tables.TrackTables(*(target.upload(getattr(tracks, field.name), "animation") for field in dataclasses.fields(tracks)))
        self._rest, self._node_count = target.upload(rest, "animation"), len(scene.nodes)
        self._ancestors = target.upload(np.stack(tables.ancestor_tables(parents)), "animation")
        self._passes = [self._ancestors[number] for number in range(len(self._ancestors))]
        # Passes read the one and write the other; the last one's is the nodes' matrices to the world.
        self._matrices = tuple(target.empty((len(scene.nodes), 12), np.float32, "animation") for _ in range(2))

    def _upload_objects(self, scene: Scene, sources: tables.SourceTables) -> None:
        target, self._object_count = self._target, len(scene.objects)
        columns = (sources.strides, sources.first, sources.keys, sources.first_time)
        rows = [(thing.node, *(column[thing.mesh] for column in columns)) for thing in scene.objects]
        self._objects = target.upload(np.array(rows or [(0, 0, 0, 1, 0)], np.int32), "animation")
        self._key_times = target.upload(sources.key_times, "animation")
        self.key_slots = target.upload(sources.key_slots, "animation")
        self.placements = target.zeros((max(1, len(rows)), PLACEMENT_BYTES), np.uint8, "animation")

    def _upload_deformers(self, skins: deform_tables.SkinTables, weights: deform_tables.WeightTables, has_skins: bool) -> None:
        target, slots = self._target, weights.slots
        self._joint_nodes, self._inverse_binds = target.upload(skins.nodes, "animation"), target.upload(skins.inverse_binds, "animation")
        self._joint_count = len(skins.nodes) if has_skins else 0
        self.joints = target.zeros((len(skins.nodes), 16), np.float32, "animation")
        self._slots = target.upload(slots.view(np.uint8) if len(slots) else np.zeros(deform_tables.SLOT.itemsize, np.uint8), "animation")
        self._slot_count, self._row_count = len(slots), len(weights.rows)
        self.weights = target.zeros(max(1, len(slots)), np.float32, "animation")


_CONSTANTS = (("COMPOSED_NODES", tables.COMPOSED_NODES), ("POSE_THREADS", POSE_THREADS))
