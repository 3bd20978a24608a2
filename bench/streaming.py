"""Steady play of a sequence that takes several times the memory its key frames may have, beside the same sequence
resident: a waving sheet, or drifting spheres."""

from __future__ import annotations

import contextlib
import dataclasses
import time
from collections.abc import Iterator

import numpy as np

from raygrove.gpu.animate.key_schedule import keyed_meshes
from raygrove.gpu.animate.spheres import keyed_spheres
from raygrove.gpu.camera import fit
from raygrove.gpu.engine import Engine, View, ViewSettings
from raygrove.gpu.pixels import ArrayPixels
from raygrove.gpu.scene import KeyFrames, Mesh, Moment, Node, Object, Scene, SphereKeys, Spheres
from raygrove.gpu.stats import FrameStatistics, KeyStreaming
from raygrove.gpu.target.base import Target

from .measure import median

TIMES_THE_BUDGET = 4
KEYS_A_SECOND, FRAMES_A_SECOND = 30.0, 60.0


@dataclasses.dataclass(frozen=True)
class Played:
    """One run: medians of the target's and of the issuing thread's milliseconds per frame, the worst of the latter, and
    what streamed."""

    frame_ms: float
    host_ms: float
    worst_host_ms: float
    streaming: KeyStreaming


def make_waves(vertices: int, keys: int) -> Scene:
    """A sheet of about so many vertices that waves for `keys` key frames."""
    side = max(2, round(vertices**0.5))
    x, z = np.meshgrid(
        np.linspace(-1.0, 1.0, side, dtype=np.float32), np.linspace(-1.0, 1.0, side, dtype=np.float32), indexing="ij"
    )
    positions, normals = (np.empty((keys, side * side, 3), np.float32) for _ in range(2))
    for key in range(keys):
        phase = 6.0 * x + 2.0 * np.pi * key / keys
        slope = 0.6 * np.cos(phase)
        lengths = np.sqrt(1.0 + slope * slope)
        positions[key] = np.stack([x, 0.1 * np.sin(phase), z], axis=-1).reshape(-1, 3)
        normals[key] = np.stack([-slope / lengths, 1.0 / lengths, np.zeros_like(x)], axis=-1).reshape(-1, 3)
    corner = (np.arange(side - 1)[:, None] * side + np.arange(side - 1)).reshape(-1).astype(np.int32)
    triangles = np.concatenate(
        [np.stack([corner, corner + 1, corner + side], 1), np.stack([corner + 1, corner + side + 1, corner + side], 1)]
    )
    frames = KeyFrames(np.arange(keys, dtype=np.float32) / np.float32(KEYS_A_SECOND), positions, normals)
    mesh = Mesh(
        "waves",
        positions[0],
        triangles.astype(np.int32),
        np.zeros(len(triangles), np.int32),
        normals[0],
        key_frames=frames,
    )
    return Scene("waves", (Node(),), (mesh,), (Object(0, 0),), lower=(-1.0, -0.1, -1.0), upper=(1.0, 0.1, 1.0))


def make_swarm(count: int, keys: int) -> Scene:
    """So many spheres that drift for `keys` key frames."""
    random = np.random.default_rng(2015)
    steps = random.normal(0.0, 0.01, (keys, count, 3)).astype(np.float32)
    steps[0] = random.uniform(-1.0, 1.0, (count, 3))
    centres = np.cumsum(steps, axis=0, out=steps)
    radii = np.full(count, 0.5 / max(1.0, count ** (1 / 3)), np.float32)
    frames = SphereKeys(np.arange(keys, dtype=np.float32) / np.float32(KEYS_A_SECOND), centres)
    spheres = Spheres("swarm", centres[0], radii, key_frames=frames)
    lower, upper = (-1.1, -1.1, -1.1), (1.1, 1.1, 1.1)
    return Scene("swarm", objects=(Object(0, spheres=0),), spheres=(spheres,), lower=lower, upper=upper)


def play(
    target: Target,
    scene: Scene,
    share: int,
    frames: int,
    size: tuple[int, int] = (1024, 768),
    key_stream: str = "copies",
) -> Played:
    """Play at FRAMES_A_SECOND of the clock with 1 / share of the memory that all keys take; `key_stream` is the
    setting's."""
    view = View(ViewSettings(), fit(scene.lower, scene.upper, aspect=size[0] / size[1]), ArrayPixels(target, *size))
    with _budget(target, scene, share, key_stream), contextlib.closing(Engine(target, scene)) as engine:
        for number in range(8):
            engine.render_frame(Moment(number * 1e-4, frame_id=-1), [view])
        engine.flush()
        finished: dict[int, FrameStatistics] = {}
        started = time.perf_counter()
        for number in range(frames):
            time.sleep(max(0.0, started + number / FRAMES_A_SECOND - time.perf_counter()))
            done = engine.render_frame(Moment(number / FRAMES_A_SECOND % scene.duration(), frame_id=number), [view])
            if done is not None and done.frame_id >= 0:
                finished[done.frame_id] = done
        last = engine.flush()
    host = [one.host_ms for one in finished.values()]
    assert last.key_frames is not None
    return Played(median([one.frame_ms for one in finished.values()]), median(host), max(host), last.key_frames)


@contextlib.contextmanager
def _budget(target: Target, scene: Scene, share: int, key_stream: str) -> Iterator[None]:
    """The settings that leave 1 / share of the keys' bytes, as long as it lasts."""
    things = (*keyed_meshes(scene.meshes), *keyed_spheres(scene))
    before, total = target.options, sum(len(thing.times) * thing.key_bytes for thing in things)
    room = max(1, total // share >> 20) if share > 1 else 1 << 20
    target.options = dataclasses.replace(before, key_memory_mib=room, key_stream=key_stream)
    try:
        yield
    finally:
        target.options = before
