"""The sanitiser's part for nodes, clips, lights and cameras."""

from __future__ import annotations

import dataclasses
import math
from collections import Counter
from collections.abc import Sequence
from typing import TypeVar

import numpy as np

from raygrove.gpu.scene import LIGHT_KINDS, Channel, Clip, Light, Node, Object, Scene, SceneCamera, Track

from .portions import apart, portions, together
from .transforms import pose_of

HUGE = 1e18
WIDTHS = {"translation": 3, "rotation": 4, "scale": 3}
AT_ONCE = 500_000
"""Key frames of tracks that are looked at together."""
Placed = TypeVar("Placed", Light, SceneCamera, Object)


def clean_nodes(scene: Scene, counts: Counter[str]) -> Scene:
    """Finite transforms, unit quaternions, parents before children; a wrong parent or a circle ends at the root."""
    are_sound = _are_sound(scene.nodes)
    if scene.nodes and are_sound.all() and (pose_of(scene.nodes).parents < np.arange(len(are_sound))).all():
        return scene
    nodes = [
        node if is_sound else _clean_node(node, len(scene.nodes), counts)
        for node, is_sound in zip(scene.nodes, are_sound, strict=True)
    ] or [Node()]
    if all(node.parent < index for index, node in enumerate(nodes)):
        return dataclasses.replace(scene, nodes=tuple(nodes))
    order = _parents_first(nodes, counts)
    new_ids = {old: new for new, old in enumerate(order)}
    moved = []
    for old in order:
        parent = new_ids.get(nodes[old].parent, -1)
        moved.append(dataclasses.replace(nodes[old], parent=parent if parent < new_ids[old] else -1))
    return _renumbered(dataclasses.replace(scene, nodes=tuple(moved)), new_ids)


def _are_sound(nodes: tuple[Node, ...]) -> np.ndarray:
    """(N,) bool: which nodes `_clean_node` would give back as they are."""
    pose = pose_of(nodes)
    is_unit = np.abs(np.linalg.norm(pose.rest["rotation"], axis=1) - 1.0) <= 1e-12
    is_sound = is_unit & (pose.parents >= -1) & (pose.parents < len(nodes))
    for values in pose.rest.values():
        is_sound &= (np.abs(values) <= HUGE).all(axis=1)
    return is_sound


def _clean_node(node: Node, count: int, counts: Counter[str]) -> Node:
    values = np.array([*node.translation, *node.rotation, *node.scale], np.float64)
    length = float(np.linalg.norm(values[3:7]))
    parent = node.parent if -1 <= node.parent < count else -1
    if not (np.abs(values) <= HUGE).all() or not 1e-12 < length < HUGE:
        counts["node"] += 1
        return Node(node.name, parent)
    counts["node"] += parent != node.parent
    rotation = tuple((values[3:7] / length).tolist()) if abs(length - 1.0) > 1e-12 else node.rotation
    return dataclasses.replace(node, parent=parent, rotation=rotation)


def _parents_first(nodes: list[Node], counts: Counter[str]) -> list[int]:
    children: dict[int, list[int]] = {}
    for index, node in enumerate(nodes):
        children.setdefault(node.parent, []).append(index)
    order: list[int] = []
    is_done = [False] * len(nodes)
    stack = list(reversed(children.get(-1, [])))
    remaining = iter(range(len(nodes)))
    while len(order) < len(nodes):
        if not stack:
            # Whoever is left hangs from a circle: cut it here.
            stack.append(next(index for index in remaining if not is_done[index]))
            counts["node"] += 1
        index = stack.pop()
        if not is_done[index]:
            is_done[index] = True
            order.append(index)
            stack += reversed(children.get(index, []))
    return order


def _renumbered(scene: Scene, new_ids: dict[int, int]) -> Scene:
    def placed(things: tuple[Placed, ...]) -> tuple[Placed, ...]:
        return tuple(dataclasses.replace(thing, node=new_ids.get(thing.node, thing.node)) for thing in things)

    def renumbered(clip: Clip) -> Clip:
        channels = [
            dataclasses.replace(channel, node=new_ids.get(channel.node, channel.node)) for channel in clip.channels
        ]
        return dataclasses.replace(clip, channels=tuple(channels))

    clips = [renumbered(clip) for clip in scene.clips]
    meshes = []
    for mesh in scene.meshes:
        skin = mesh.skin and dataclasses.replace(
            mesh.skin, joints=np.array([new_ids.get(int(j), int(j)) for j in mesh.skin.joints], np.int32)
        )
        meshes.append(dataclasses.replace(mesh, skin=skin))
    return dataclasses.replace(
        scene,
        objects=placed(scene.objects),
        lights=placed(scene.lights),
        cameras=placed(scene.cameras),
        clips=tuple(clips),
        meshes=tuple(meshes),
    )


def clean_clips(scene: Scene, counts: Counter[str]) -> Scene:
    """Tracks sorted and finite, of the right width, on nodes that are there; clips without a channel go."""
    clips = []
    sound = iter(_sound_channels([channel for clip in scene.clips for channel in clip.channels], len(scene.nodes)))
    for clip in scene.clips:
        channels = []
        for source in clip.channels:
            channel = next(sound) or _clean_channel(source, scene, counts)
            channels += [] if channel is None else [channel]
        last = max((float(channel.track.times[-1]) for channel in channels), default=0.0)
        duration = clip.duration if math.isfinite(clip.duration) and 0.0 <= clip.duration < HUGE else 0.0
        counts["clip"] += not channels
        if channels:
            clips.append(Clip(clip.name, max(duration, last), tuple(channels)))
    return dataclasses.replace(scene, clips=tuple(clips))


def _sound_channels(channels: Sequence[Channel], node_count: int) -> list[Channel | None]:
    """What `_clean_channel` makes of each channel in which it finds nothing wrong, by a look at all plain ones of a
    path together; None of the others."""
    result: list[Channel | None] = [None] * len(channels)
    for path in WIDTHS:
        chosen = [index for index, one in enumerate(channels) if one.path == path and _is_plain(one, node_count)]
        for some in portions(chosen, [len(channels[index].track.times) for index in chosen], AT_ONCE):
            found = [channels[index] for index in some]
            sizes = np.array([len(channel.track.times) for channel in found])
            starts = np.cumsum(sizes) - sizes
            times = together([channel.track.times for channel in found])
            values = together([channel.track.values for channel in found])
            good = np.isfinite(times) & (np.abs(values) <= HUGE).all(axis=1)
            rises = np.append(True, times[1:] > times[:-1])
            rises[starts] = True
            good &= rises
            parts = None
            if path == "rotation":
                lengths = np.linalg.norm(values.astype(np.float64), axis=1)
                good &= lengths > 1e-12
                parts = apart((values / np.where(good, lengths, 1.0)[:, None]).astype(np.float32), sizes.tolist())
            for place, is_good in enumerate(np.logical_and.reduceat(good, starts).tolist()):
                if is_good:
                    one = found[place]
                    track = one.track if parts is None else dataclasses.replace(one.track, values=parts[place])
                    result[some[place]] = Channel(one.node, path, track)
    return result


def _is_plain(channel: Channel, node_count: int) -> bool:
    track, width = channel.track, WIDTHS[channel.path]
    times, values = track.times, track.values
    return (
        0 <= channel.node < node_count
        and track.interpolation in ("step", "linear")
        and len(times) > 0
        and times.shape == (len(times),)
        and values.shape == (len(times), width)
        and times.dtype == np.float32
        and values.dtype == np.float32
    )


def _clean_channel(channel: Channel, scene: Scene, counts: Counter[str]) -> Channel | None:
    track = channel.track
    times, values = np.asarray(track.times, np.float32), np.asarray(track.values, np.float32)
    is_known = 0 <= channel.node < len(scene.nodes) and (channel.path in WIDTHS or channel.path == "weights")
    is_known &= track.interpolation in ("step", "linear", "cubic") and times.ndim == 1 and len(values) == len(times)
    is_known &= values.ndim == (3 if track.interpolation == "cubic" else 2)
    if not is_known or values.shape[-1] != WIDTHS.get(channel.path, values.shape[-1]):
        counts["track"] += 1
        return None
    good = np.isfinite(times) & (np.abs(values) <= HUGE).all(axis=tuple(range(1, values.ndim)))
    middle = values[:, 1] if track.interpolation == "cubic" else values
    if channel.path == "rotation":
        good &= np.linalg.norm(middle.astype(np.float64), axis=1) > 1e-12
    order = np.argsort(times, kind="stable")
    order = order[good[order]]
    # Of several keys at one time the last one counts.
    counts["keys"] += bool((np.diff(times[good]) <= 0.0).any())
    order = order[np.append(times[order][1:] != times[order][:-1], True)] if len(order) else order
    counts["track"] += not len(order) or not good.all()
    if not len(order):
        return None
    values = values[order]
    if channel.path == "rotation" and track.interpolation != "cubic":
        values = (values / np.linalg.norm(values.astype(np.float64), axis=1)[:, None]).astype(np.float32)
    return Channel(channel.node, channel.path, Track(times[order], values, track.interpolation))


def clean_places(scene: Scene, counts: Counter[str]) -> Scene:
    """Lights and cameras that are finite and hang from a node that is there."""
    lights = [light for light in scene.lights if _is_good_light(light, len(scene.nodes))]
    cameras = [c for c in scene.cameras if 0 <= c.node < len(scene.nodes) and 0.0 < c.fov < 180.0]
    counts["place"] += len(scene.lights) - len(lights) + len(scene.cameras) - len(cameras)
    return dataclasses.replace(scene, lights=tuple(lights), cameras=tuple(cameras))


def _is_good_light(light: Light, node_count: int) -> bool:
    values = np.array(
        [*light.color, *light.position, *light.direction, *light.up, *light.size, light.radius], np.float64
    )
    angles = np.array([light.inner_angle, light.outer_angle], np.float64)
    is_finite = (
        bool((np.abs(values) <= HUGE).all()) and min(light.color) >= 0.0 and min(*light.size, light.radius) >= 0.0
    )
    is_aimed = light.kind in ("point", "sphere") or any(light.direction)
    has_cone = bool((angles >= 0.0).all() and (angles <= 180.0).all())
    return light.kind in LIGHT_KINDS and is_finite and is_aimed and has_cone and -1 <= light.node < node_count
