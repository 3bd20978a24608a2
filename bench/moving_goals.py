"""Goals of what moves before it is drawn: vertices that are skinned and morphed, objects of the two-level structure,
and key frames that are streamed. goals.py measures them."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence

from raygrove.gpu.animate.animate import Animator
from raygrove.gpu.scene import Moment
from raygrove.gpu.target.base import Target

from .cases.two_level import make_crowd, measure_update
from .goal import Goal, Report
from .measure import median, timed
from .rig import make_rig
from .streaming import TIMES_THE_BUDGET, make_waves, play

RIG_VERTICES = 100_000


def measure_deform(target: Target, report: Report, bar: float, repeat: int) -> None:
    """Everything from tracks to world-space vertices of the rig, as the engine repeats it: captured once, another
    moment each frame.
    """
    scene = make_rig(RIG_VERTICES)
    animator, moments = Animator(target, scene), itertools.count(1)

    def launches(motion: Sequence[Callable[[], None]]) -> None:
        with target.phase("animate"):
            for launch in motion:
                launch()

    def next_motion() -> tuple[Callable[[], None], ...]:
        return animator.prepare(Moment(next(moments) * 1e-3))

    launches(next_motion())
    motion = next_motion()
    launches(motion)
    target.synchronize()
    replay = target.capture(lambda: launches(motion))

    def body() -> None:
        next_motion()
        replay()

    times = timed(target, body, 10 * repeat, 10).phases_ms["animate"]
    mesh = scene.meshes[0]
    targets = 0 if mesh.morph_targets is None else len(mesh.morph_targets.weights)
    note = f"four joints a vertex, {targets} targets, normals too; from tracks to vertices; at best {min(times):.3f}"
    report.goals.append(Goal(f"skinning and morphing, {RIG_VERTICES:,} vertices", bar, median(times), "ms", note=note))


def measure_rigid_motion(target: Target, report: Report, repeat: int) -> None:
    """An update of the two-level structure over its rebuild, where 1 % of the objects move as a whole."""
    triangles, objects = (12_800_000, 1000) if target.kind == "cuda" else (200_000, 200)
    row = measure_update(target, make_crowd(triangles, objects, objects // 100), "two_level", repeat)
    note = f"{row.update_ms:.3f} of {row.rebuild_ms:.3f} ms, {row.moving} of {row.objects} objects"
    what = f"update over rebuild, 1 % of the objects moved, {triangles:,} triangles"
    report.goals.append(Goal(what, 0.10, row.share, "times", note=note))


def measure_streaming(target: Target, report: Report, repeat: int) -> None:
    """A sequence of four times its memory beside itself resident: the frame's time, and no frame that waits."""
    count, keys = (20_000, 64) if target.kind == "host" else (100_000, 160)
    scene, size = make_waves(count, keys), (320, 240) if target.kind == "host" else (1024, 768)
    resident, streamed = (play(target, scene, share, 10 * max(4, repeat), size) for share in (1, TIMES_THE_BUDGET))
    facts, what = streamed.streaming, f"{TIMES_THE_BUDGET} times the memory of {keys} key frames, {count:,} vertices"
    note = (
        f"{streamed.frame_ms:.3f} and {resident.frame_ms:.3f} ms; issuing {streamed.host_ms:.3f} and "
        f"{resident.host_ms:.3f} ms"
    )
    ratio = streamed.frame_ms / resident.frame_ms if resident.frame_ms else None
    report.goals.append(Goal(f"frame time, streamed over resident, {what}", 1.1, ratio, "times", note=note))
    note = (
        f"{facts.bytes_streamed / 2**20:.0f} MiB streamed into {facts.slots} slots of "
        f"{facts.slot_bytes / 2**20:.0f} MiB"
    )
    report.goals.append(
        Goal("frames of steady play that waited for a key frame", 0.0, float(facts.stalls), "frames", note=note)
    )
