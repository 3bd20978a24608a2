"""Assimp's animations -> clips: translation, rotation, scale and weight tracks in seconds.

Assimp gives rotation keys as w, x, y, z and times in ticks (glTF: 1000 a second; 0 means 25). It hands out the values
of cubic keys without their tangents: where `gltf_tracks` has not read these from the file, they are played as linear
ones and counted.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from raygrove.gpu.scene import Channel, Clip, Node, Remark, Track

from . import assimp
from .gltf_tracks import Key

STEP, CUBIC = 0, 3
DEFAULT_TICKS_PER_SECOND = 25.0


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
        clips = [self._clip(self.scene.animations[i].contents, i) for i in range(self.scene.animation_count)]
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

    def _clip(self, animation: assimp.Animation, index: int) -> Clip:
        rate = animation.ticks_per_second if animation.ticks_per_second > 0.0 else DEFAULT_TICKS_PER_SECOND
        channels: list[Channel] = []
        for i in range(animation.channel_count):
            channels += self._node_channels(animation.channels[i].contents, rate, index)
        for i in range(animation.morph_channel_count):
            channels += self._morph_channel(animation.morph_channels[i].contents, rate, index)
        return Clip(animation.name.text or f"clip {index + 1}", animation.duration / rate, tuple(channels))

    def _node_channels(self, source: assimp.NodeAnim, rate: float, index: int) -> list[Channel]:
        node = self.node_ids.get(source.name.text, -1)
        if node < 0:
            self.lost_count += 1
            return []
        rest = self.nodes[node]
        keys = {
            "translation": assimp.view(source.positions, assimp.VECTOR_KEY, (source.position_count,)),
            "rotation": assimp.view(source.rotations, assimp.QUATERNION_KEY, (source.rotation_count,)),
            "scale": assimp.view(source.scalings, assimp.VECTOR_KEY, (source.scaling_count,)),
        }
        channels = []
        for path, values in keys.items():
            exact = self.exact.get((index, source.name.text, path))
            if exact is not None:
                channels.append(Channel(node, path, exact))
                continue
            track = self._track(values, rate, path == "rotation")
            if track is not None and not _is_at_rest(track, getattr(rest, path)):
                channels.append(Channel(node, path, track))
        return channels

    def _track(self, keys: np.ndarray, rate: float, is_rotation: bool) -> Track | None:
        if not len(keys):
            return None
        values = keys["value"][:, [1, 2, 3, 0]] if is_rotation else keys["value"]
        kinds = keys["interpolation"]
        self.cubic_count += int((kinds == CUBIC).any())
        kind = "step" if len(kinds) and (kinds == STEP).all() else "linear"
        return Track((keys["time"] / rate).astype(np.float32), values.astype(np.float32), kind)

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


def _is_at_rest(track: Track, rest: tuple[float, ...]) -> bool:
    """A track of one value that the node has anyway: readers of most formats fill these in."""
    values = np.asarray(rest, np.float32)
    return bool((np.abs(track.values - values) <= 1e-6 * max(1.0, float(np.abs(values).max()))).all())
