"""Rigid motion of a few objects among many: what an update costs beside a rebuild.

What an update costs beside a rebuild, as the engine does both: captured once, replayed every frame. The table goes to
stdout.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import itertools
from collections.abc import Callable, Sequence

import numpy as np

from raygrove.gpu.camera import fit
from raygrove.gpu.scene import Channel, Clip, Mesh, Moment, Node, Object, Scene, Track
from raygrove.gpu.target.base import Target
from raygrove.gpu.view import ViewSettings

from ..arguments import DEVICE, OUT, argument, chosen, repeat
from ..context import context, heading
from ..measure import Stage, median, timed
from ..saved import keep
from ..table import aligned

SECONDS = 2.0


@dataclasses.dataclass(frozen=True)
class Update:
    """Median milliseconds on the target: an update with few objects moved, with all of them, and a rebuild;
    `animate_ms` is of the few. `hits` of a picture after the updates and after a rebuild are equal where all is
    well."""

    structure: str
    triangles: int
    objects: int
    moving: int
    animate_ms: float
    update_ms: float
    phases_ms: dict[str, float]
    rebuild_ms: float
    hits: tuple[int, int]

    @property
    def share(self) -> float:
        """The update's part of a rebuild."""
        return self.update_ms / self.rebuild_ms


def make_crowd(triangles: int, objects: int, moving: int, seed: int = 1) -> Scene:
    """About so many triangles in `objects` balls of one mesh on a cubic grid, the first `moving` of a random order
    turning about themselves."""
    random = np.random.default_rng(seed)
    rows = max(2, round((triangles / objects / 4.0) ** 0.5))
    latitude, longitude = np.meshgrid(
        np.linspace(0.0, np.pi, rows + 1), np.linspace(0.0, 2.0 * np.pi, 2 * rows + 1), indexing="ij"
    )
    bumps = 1.0 + 0.2 * np.sin(5.0 * longitude) * np.sin(latitude) ** 2
    outward = np.stack(
        [np.sin(latitude) * np.cos(longitude), np.cos(latitude), np.sin(latitude) * np.sin(longitude)], axis=-1
    )
    corner = (np.arange(rows)[:, None] * (2 * rows + 1) + np.arange(2 * rows)).reshape(-1)
    below = corner + 2 * rows + 1
    faces = np.concatenate(
        [np.stack([corner, below + 1, below], 1), np.stack([corner, corner + 1, below + 1], 1)]
    ).astype(np.int32)
    positions = (0.4 * bumps[..., None] * outward).reshape(-1, 3).astype(np.float32)
    mesh = Mesh("ball", positions, faces, np.zeros(len(faces), np.int32), outward.reshape(-1, 3).astype(np.float32))
    side = int(np.ceil(objects ** (1.0 / 3.0)))
    nodes = tuple(
        Node(f"ball {i}", translation=(float(i % side), float(i // side % side), float(i // side**2)))
        for i in range(objects)
    )
    half = np.linspace(0.0, np.pi, 9)
    turn = Track(
        np.linspace(0.0, SECONDS, 9).astype(np.float32),
        np.stack([0 * half, np.sin(half), 0 * half, np.cos(half)], axis=1).astype(np.float32),
    )
    channels = tuple(Channel(int(i), "rotation", turn) for i in np.sort(random.permutation(objects)[:moving]))
    placed = tuple(Object(i, 0) for i in range(objects))
    return Scene(
        "crowd",
        nodes,
        (mesh,),
        placed,
        clips=(Clip("turn", SECONDS, channels),),
        lower=(-0.5,) * 3,
        upper=(side - 0.5,) * 3,
    )


def measure_update(target: Target, scene: Scene, name: str, repeat: int, layout: str = "bvh2") -> Update:
    """Refits while the scene plays, then rebuilds of it as it stands."""
    with contextlib.closing(Stage(target, scene, ViewSettings(name, layout=layout))) as stage:
        animator, hierarchy, times = stage.animator, stage.hierarchy, itertools.count(1)
        hierarchy.build(stage.show(Moment()).primitives)

        def launches(motion: Sequence[Callable[[], None]]) -> None:
            with target.phase("animate"):
                for launch in motion:
                    launch()
            hierarchy.refit(animator.surface.primitives)

        def move() -> tuple[Callable[[], None], ...]:
            motion = animator.prepare(Moment(next(times) * 0.01 % SECONDS))
            hierarchy.prepare(animator.surface.primitives, "refit")
            return motion

        launches(move())
        motion = move()
        launches(motion)
        target.synchronize()
        motion = move()
        replay = target.capture(lambda: launches(motion))
        replay()

        def frame() -> None:
            move()
            replay()

        moved = timed(target, frame, repeat, 3)
        camera, size = fit(scene.lower, scene.upper, aspect=4.0 / 3.0), (256, 192)
        refitted = stage.totals(camera, size).hits
        target.synchronize()
        primitives = animator.surface.primitives
        rebuild = target.capture(lambda: hierarchy.build(primitives))
        hierarchy.prepare(primitives, "rebuild")
        rebuilt = timed(target, rebuild, repeat, 3)
        phases = {key: median(values) for key, values in moved.phases_ms.items()}
        moving = len(scene.clips[0].channels)
        counts = (
            name,
            scene.triangle_count,
            len(scene.objects),
            moving,
            phases.pop("animate"),
            sum(phases.values()),
            phases,
        )
        builds = sum(median(values) for values in rebuilt.phases_ms.values())
        return Update(*counts, builds, (refitted, stage.totals(camera, size).hits))


def table(rows: Sequence[Update]) -> str:
    """For people."""
    heads = (
        "structure",
        "triangles",
        "objects",
        "moving",
        "animate ms",
        "update ms",
        "rebuild ms",
        "update / rebuild",
        "hits",
    )
    lines = [
        (
            *(r.structure, r.triangles, r.objects, r.moving, r.animate_ms, r.update_ms, r.rebuild_ms),
            f"{100 * r.share:.2f} %",
            "equal" if len(set(r.hits)) == 1 else str(r.hits),
        )
        for r in rows
    ]
    return aligned(heads, lines)


ARGUMENTS = (
    DEVICE,
    argument("--triangles", type=int, default=12_800_000),
    argument("--objects", type=int, default=1000),
    argument("--moving", type=float, default=0.01, metavar="SHARE", help="of the objects that moves"),
    repeat(20),
    OUT,
)


def run(names: argparse.Namespace) -> int:
    """Measure, print, and keep where asked for."""
    with chosen(names.device) as target:
        about = context(target, command=names.command)
        scene = make_crowd(names.triangles, names.objects, max(1, round(names.moving * names.objects)))
        rows = [measure_update(target, scene, name, names.repeat) for name in ("two_level", "lbvh")]
    phases = (" ".join((row.structure, *(f"{phase} {ms:.4f}" for phase, ms in row.phases_ms.items()))) for row in rows)
    print(text := "\n".join([*heading(about), "", table(rows), *phases]))
    keep(names.out, {"context": about, "results": [dataclasses.asdict(row) for row in rows]}, text)
    return 0
