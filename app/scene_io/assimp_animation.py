"""Assimp's animations -> clips: translation, rotation, scale and weight tracks in seconds.

Assimp gives rotation keys as w, x, y, z and times in ticks (glTF: 1000 a second; 0 means 25). It hands out the values
of cubic keys without their tangents: where `gltf_tracks` has not read these from the file, they are played as linear
ones and counted.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping

import numpy as np

from raygrove.gpu.scene import Channel, Clip, Node, Remark, Track

from . import assimp
from .gltf_tracks import Key
from .portions import apart, portions
from .transforms import Pose

STEP, CUBIC = 0, 3
DEFAULT_TICKS_PER_SECOND = 25.0
FIELDS = {"translation": "positions", "rotation": "rotations", "scale": "scalings"}
AT_ONCE = 500_000
"""Key frames of tracks that are read together."""


class AnimationReader:
    """Reads the clips of one file. `node_ids` maps names to nodes; `nodes` hold the values at rest; `exact` are tracks
    that Assimp does not give as they are."""

    def __init__(
        self, scene: assimp.Scene, nodes: list[Node], node_ids: Mapping[str, int], exact: Mapping[Key, Track]
    ) -> None:
        self.scene, self.nodes, self.node_ids, self.exact = scene, nodes, node_ids, exact
        self.cubic_count = self.lost_count = self.still_count = 0

    def read(self) -> tuple[Clip, ...]:
        """Clips that move something, in the file's order."""
        sources = assimp.addresses_of(self.scene.animations, self.scene.animation_count)
        ticks = assimp.doubles(sources, assimp.Animation, "ticks_per_second")
        rates = np.where(ticks > 0.0, ticks, DEFAULT_TICKS_PER_SECOND)
        lengths = (assimp.doubles(sources, assimp.Animation, "duration") / rates).tolist()
        names = assimp.texts(sources + assimp.Animation.name.offset)
        channels = self._node_channels(sources, rates)
        for index in np.flatnonzero(assimp.field(sources, assimp.Animation, "morph_channel_count")).tolist():
            channels[index] += self._morphs(self.scene.animations[index].contents, index)
        clips = [
            Clip(name or f"clip {index + 1}", length, tuple(of_clip))
            for index, (name, length, of_clip) in enumerate(zip(names, lengths, channels, strict=True))
        ]
        self.still_count = sum(not clip.channels for clip in clips)
        return tuple(clip for clip in clips if clip.channels)

    def remarks(self) -> list[Remark]:
        """What could not be read as it is in the file."""
        result = []
        if self.cubic_count:
            result.append(Remark(self.cubic_count, "Tracks with cubic key frames are interpolated linearly."))
        if self.still_count:
            result.append(
                Remark(
                    self.still_count,
                    "Clips that move nothing (no key frames, or none that differs from the rest pose) were left out.",
                )
            )
        if self.lost_count:
            result.append(Remark(self.lost_count, "Tracks that move a node that the file does not have were left out."))
        return result

    def _node_channels(self, animations: np.ndarray, rates: np.ndarray) -> list[list[Channel]]:
        """The channels of nodes of each animation; all animations are read together, as there may be very many."""
        counts = assimp.field(animations, assimp.Animation, "channel_count").astype(np.int64)
        lists = assimp.field(animations, assimp.Animation, "channels")
        sources = assimp.blocks(lists[counts > 0], 2 * counts[counts > 0]).view(np.int64)
        owners = np.repeat(np.arange(len(animations)), counts)
        names = assimp.texts(sources + assimp.NodeAnim.name.offset)
        nodes = np.array([self.node_ids.get(name, -1) for name in names], np.int64)
        self.lost_count += int(np.count_nonzero(nodes < 0))
        channels: list[list[Channel]] = [[] for _ in animations]
        tracks, at_rest = {}, Pose(self.nodes).rest
        for path in ("translation", "rotation", "scale"):
            exact: list[Track | None] = [None] * len(names)
            if self.exact:
                keys = zip(owners.tolist(), names, itertools.repeat(path))
                exact = [self.exact.get(key) for key in keys]
            chosen = np.flatnonzero((nodes >= 0) & np.array([track is None for track in exact], bool))
            rest, ticks = at_rest[path][nodes[chosen]].astype(np.float32), rates[owners[chosen]]
            for index, track in zip(chosen.tolist(), self._tracks(path, sources[chosen], ticks, rest), strict=True):
                exact[index] = track
            tracks[path] = exact
        for index, (owner, node) in enumerate(zip(owners.tolist(), nodes.tolist(), strict=True)):
            if node >= 0:
                parts = [(path, of_path[index]) for path, of_path in tracks.items()]
                channels[owner] += [Channel(node, path, track) for path, track in parts if track is not None]
        return channels

    def _tracks(self, path: str, sources: np.ndarray, rates: np.ndarray, rest: np.ndarray) -> list[Track | None]:
        """One path's track of each channel; None without a key, or where it holds what the node has at rest: readers
        of most formats fill these in."""
        field, kind = FIELDS[path], assimp.QUATERNION_KEY if path == "rotation" else assimp.VECTOR_KEY
        counts = assimp.field(sources, assimp.NodeAnim, f"{field[:-1]}_count").astype(np.int64)
        addresses = assimp.field(sources, assimp.NodeAnim, field)
        tracks: list[Track | None] = [None] * len(sources)
        chosen = np.flatnonzero((counts > 0) & (addresses != 0))
        for portion in portions(chosen.tolist(), counts[chosen].tolist(), AT_ONCE):
            some = np.array(portion)
            words = assimp.blocks(addresses[some], counts[some] * (kind.itemsize // 4))
            keys = words.view(np.uint8).view(kind)
            values = keys["value"][:, [1, 2, 3, 0]] if path == "rotation" else keys["value"]
            times = (keys["time"] / np.repeat(rates[some], counts[some])).astype(np.float32)
            starts = np.cumsum(counts[some]) - counts[some]
            self.cubic_count += int(np.logical_or.reduceat(keys["interpolation"] == CUBIC, starts).sum())
            is_step = np.logical_and.reduceat(keys["interpolation"] == STEP, starts).tolist()
            reach = 1e-6 * np.maximum(1.0, np.abs(rest[some]).max(axis=1))
            near = (
                np.abs(values - np.repeat(rest[some], counts[some], axis=0)) <= np.repeat(reach, counts[some])[:, None]
            )
            is_still = np.logical_and.reduceat(near.all(axis=1), starts).tolist()
            sizes = counts[some].tolist()
            parts = zip(portion, apart(times, sizes), apart(values.astype(np.float32), sizes), strict=True)
            for (index, of_times, of_values), steps, still in zip(parts, is_step, is_still, strict=True):
                if not still:
                    tracks[index] = Track(of_times, of_values, "step" if steps else "linear")
        return tracks

    def _morphs(self, animation: assimp.Animation, index: int) -> list[Channel]:
        rate = animation.ticks_per_second if animation.ticks_per_second > 0.0 else DEFAULT_TICKS_PER_SECOND
        sources = [animation.morph_channels[i].contents for i in range(animation.morph_channel_count)]
        return [channel for source in sources for channel in self._morph_channel(source, rate, index)]

    def _morph_channel(self, source: assimp.MeshMorphAnim, rate: float, index: int) -> list[Channel]:
        name = source.name.text
        node = self.node_ids.get(name, self.node_ids.get(name.split("*")[0], -1))
        if node < 0 or source.key_count == 0:
            self.lost_count += 1
            return []
        exact = self.exact.get((index, name, "weights"))
        if exact is not None:
            return [Channel(node, "weights", exact)]
        times, rows = [], []
        for number in range(source.key_count):
            key = source.keys[number]
            slots = assimp.view(key.values, np.uint32, (key.count,))
            row = np.zeros(key.count, np.float64)
            inside = slots < key.count
            row[slots[inside]] = assimp.view(key.weights, np.float64, (key.count,))[inside]
            times.append(key.time / rate)
            rows.append(row)
        width = min(len(row) for row in rows)
        values = np.array([row[:width] for row in rows], np.float32)
        return [Channel(node, "weights", Track(np.array(times, np.float32), values))] if width else []
