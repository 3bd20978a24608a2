"""The figures that the project has promised, in one run.

FILE are the models by which builders are judged beside the built-in scenes (bench/model_goals.py lists them); a goal of
one that was not given is not measured, and says so. Bars that need a window, a display or minutes are read from the
newest file saved of their own command (bench/saved_goals.py). So a report is the list of all bars: each with how
it was measured, reached, missed or not measured, and why.

Without files it needs numpy and the target's libraries
only. Exit code 0 when it has measured, whether
or not every goal was reached.
"""

from __future__ import annotations

import argparse
import dataclasses
import functools
import sys
from collections.abc import Callable, Sequence
from typing import Any

from raygrove.app.scene_io import load
from raygrove.app.scene_io.demos import make_demo
from raygrove.gpu.engine import ViewSettings
from raygrove.gpu.hierarchy.base import HierarchyError
from raygrove.gpu.hierarchy.registry import structure
from raygrove.gpu.scene import Moment, Scene
from raygrove.gpu.target.base import Target, TargetError

from ..arguments import DEVICE, OUT, UsageError, argument, chosen, repeat
from ..build import run_build
from ..builder_goals import BUILDERS, COLLAPSED, KD_BUILDS, LAYOUT_BYTES, MOST_COLLAPSE
from ..context import context, heading
from ..frame import run_frame
from ..goal import Goal, Report
from ..measure import Task, median
from ..model_bars import measure_bars
from ..model_goals import judge, known_models
from ..moving_goals import measure_deform, measure_rigid_motion, measure_streaming
from ..replay import PHASES_EVERY, build_as_graph, live_frames
from ..rows import Row
from ..saved import keep
from ..saved_goals import saved_goals
from ..tracing_goals import best_trace_on_device, incoherent_beside_embree, trace_beside_embree, trace_on_device
from ..tree_costs import CLIPPED, MOST_CLIPPED_TIMES, MOST_TIMES, clipping_costs, tree_costs


@dataclasses.dataclass(frozen=True)
class Bars:
    """What a target's goals are: triangles -> most milliseconds, `build_60_ms` of Morton codes of 60 bits; `deform_ms`
    for RIG_VERTICES skinned and morphed vertices."""

    build_ms: dict[int, float]
    refit_ms: dict[int, float]
    deform_ms: float
    build_60_ms: dict[int, float] = dataclasses.field(default_factory=dict)


HOST = Bars({100_000: 5.0, 300_000: 18.0}, {}, 1.5)
CUDA = Bars(
    {69_451: 0.10, 262_267: 0.15, 512_000: 0.22, 12_800_000: 3.0},
    {512_000: 0.06, 12_800_000: 1.0},
    0.02,
    {512_000: 0.29, 12_800_000: 3.7},
)
GRAPHS_ALONE = (69_451, 262_267)
"""So few triangles are promised as a graph: launched one by one, the host is the slower of the two."""
MOST_KERNELS = 14
"""Of a rebuild's graph, the sort's among them."""
REPLAY_HOST_MS = 0.02
"""What the host spends on issuing a rebuild that was captured."""
SCRATCH_BYTES = 72.0


def measure_goals(
    target: Target,
    repeat: int,
    say: Callable[[str], None],
    keep: Callable[[Report], None] = lambda report: None,
    models: Sequence[Scene] = (),
) -> Report:
    """Every goal that this kind of target has. `keep` gets the report after each part, so that a run which is cut short
    leaves something; a part that fails is a goal not measured, with the sentence why."""
    report = Report()
    bars = HOST if target.kind == "host" else CUDA
    is_host = target.kind == "host"
    trace, best = (
        (trace_beside_embree, incoherent_beside_embree) if is_host else (trace_on_device, best_trace_on_device)
    )
    parts: list[tuple[str, Callable[[], None]]] = [
        (f"building blob of {count:,} triangles", functools.partial(_builds, target, report, bars, count, repeat))
        for count in bars.build_ms
    ]
    if target.kind == "cuda":
        parts.append(("replaying other builders", functools.partial(_builders, target, report, repeat)))
        parts.append(("building kd-trees in every frame", functools.partial(_kd_builds, target, report, repeat)))
    parts.append(("comparing the cost of trees", functools.partial(_trees, target, report)))
    parts += [
        (words, functools.partial(part, target, report, repeat))
        for words, part in (*judge(models), *measure_bars(target.kind, models))
    ]
    parts.append(("skinning and morphing", functools.partial(measure_deform, target, report, bars.deform_ms, repeat)))
    parts.append(("moving one object in a hundred", functools.partial(measure_rigid_motion, target, report, repeat)))
    parts.append(("streaming key frames", functools.partial(measure_streaming, target, report, repeat)))
    parts += [
        ("tracing", functools.partial(trace, target, report, make_demo, repeat)),
        ("tracing with the best tree", functools.partial(best, target, report, make_demo, repeat)),
    ]
    parts += [
        ("drawing orbit", functools.partial(_frames, target, report, repeat)),
        ("reading what is saved of other commands", lambda: report.goals.extend(saved_goals(target.kind))),
    ]
    for words, part in parts:
        say(words)
        try:
            part()
        except (TargetError, HierarchyError) as error:
            report.goals.append(Goal(words, 0.0, None, "", note=str(error)))
        keep(report)
    return report


def _builds(target: Target, report: Report, bars: Bars, count: int, repeat: int) -> None:
    """Both layouts; the goals are those of the layout that the target takes by itself. Memory holds for each."""
    scene = make_demo("blob", count)
    rows = {
        layout: run_build(target, Task(scene, ViewSettings(layout=layout), repeat=repeat)) for layout in LAYOUT_BYTES
    }
    report.builds += rows.values()
    row = rows[structure("lbvh").default_layout(target.kind)]
    note = f"{row.layout}, {row.triangles:,} triangles; at best {min(row.samples['build_ms']):.3f}"
    if target.kind == "host" or count not in GRAPHS_ALONE:
        report.goals.append(
            Goal(f"LBVH rebuild, {count:,} triangles", bars.build_ms[count], row.build_ms, "ms", note=note)
        )
    if target.kind == "cuda":
        graph = build_as_graph(target, scene, ViewSettings(), repeat)
        note_light = f"{note}; {graph.light_ms:.3f} without events of its phases"
        report.goals.append(
            Goal(
                f"LBVH rebuild as a graph, {count:,} triangles",
                bars.build_ms[count],
                graph.spent_ms,
                "ms",
                note=note_light,
            )
        )
        report.goals.append(
            Goal(f"kernels of that graph, {count:,} triangles", MOST_KERNELS, float(graph.kernels), "kernels")
        )
        note_host = (
            f"target idle, host awake; {graph.host_timed_ms:.4f} where phases are timed, 1 frame in "
            f"{PHASES_EVERY}, {graph.host_light_ms:.4f} else"
        )
        report.goals.append(
            Goal(f"host work of that graph, {count:,} triangles", REPLAY_HOST_MS, graph.host_ms, "ms", note=note_host)
        )
    if count in bars.build_60_ms:
        settings = ViewSettings(hierarchy_options=structure("lbvh").Options(code_bits="60"))
        long_codes = build_as_graph(target, scene, settings, repeat)
        report.goals.append(
            Goal(
                f"LBVH rebuild of 60 bits as a graph, {count:,} triangles",
                bars.build_60_ms[count],
                long_codes.spent_ms,
                "ms",
            )
        )
    if count in bars.refit_ms:
        report.goals.append(Goal(f"refit, {count:,} triangles", bars.refit_ms[count], row.refit_ms, "ms", note=note))
    for layout, built in rows.items():
        report.goals.append(
            Goal(
                f"memory of {layout}, {count:,} triangles",
                LAYOUT_BYTES[layout],
                _each(built.bytes, built),
                "bytes/triangle",
            )
        )
    scratch = max((_each(built.scratch_bytes, built) or 0.0) for built in rows.values())
    report.goals.append(Goal(f"scratch, {count:,} triangles", SCRATCH_BYTES, scratch, "bytes/triangle"))


def _builders(target: Target, report: Report, repeat: int) -> None:
    """Whole rebuilds by other builders as graphs, and what the compressed wide layout takes beside its tree."""
    for count, bars in BUILDERS.items():
        scene = make_demo("blob", count)
        for name, bar in bars.items():
            built = build_as_graph(target, scene, ViewSettings(hierarchy=name, layout="bvh2"), max(3, repeat // 2))
            phases = ", ".join(
                f"{phase.removeprefix('build.')} {spent:.3f}" for phase, spent in built.phases_ms.items()
            )
            report.goals.append(
                Goal(f"{name} rebuild as a graph, {count:,} triangles", bar, built.spent_ms, "ms", note=phases)
            )
            if name not in COLLAPSED:
                continue
            wide = build_as_graph(target, scene, ViewSettings(hierarchy=name, layout="cwbvh"), max(3, repeat // 2))
            spent = wide.phases_ms.get("build.layout", 0.0)
            note = f"{spent:.3f} of {built.spent_ms:.3f} ms"
            share = spent / built.spent_ms if built.spent_ms else None
            report.goals.append(
                Goal(
                    f"collapse to cwbvh over the bvh2 of {name}, {count:,} triangles",
                    MOST_COLLAPSE,
                    share,
                    "times",
                    note=note,
                )
            )


def _kd_builds(target: Target, report: Report, repeat: int) -> None:
    """Kd-trees rebuilt in every frame of a scene that moves: through the engine, which replays its launches as a graph
    after a few frames, and with each launch issued by the host. Both with all that the host does, without the rays."""
    for builder, options, name, count, bar in KD_BUILDS:
        scene, kind = make_demo(name, count), structure(builder)
        settings = ViewSettings(builder, hierarchy_options=kind.Options(**options))
        what = " ".join([builder, *options.values()])
        for way, repeats in (("as frames replay it", True), ("launched one by one", False)):
            live = live_frames(target, scene, settings, max(3, repeat), (1024, 768), repeats)
            note = (
                f"frame {live.wall_ms:.3f} ms: issuing {live.host_ms:.3f}, build {live.build_ms:.3f}, rays "
                f"{live.rays_ms:.3f}"
            )
            report.goals.append(
                Goal(f"{what} live, {way}, {name} of {count:,} triangles", bar, live.update_ms, "ms", note=note)
            )


def _trees(target: Target, report: Report) -> None:
    """What builders' trees cost over those of binned_sah, in two scenes, and what cutting boxes in small nodes alone
    costs.
    """
    for name in ("blob", "room"):
        scene = make_demo(name, 100_000 if target.kind == "host" else 500_000)
        costs = tree_costs(target, scene)
        told = ", ".join(f"{builder} {cost:.2f}" for builder, cost in costs.items())
        for builder, bar in MOST_TIMES.items():
            ratio = costs[builder] / costs["binned_sah"] if costs["binned_sah"] else None
            report.goals.append(Goal(f"SAH cost of {builder} over binned_sah, {name}", bar, ratio, "times", note=told))
    for name, count in CLIPPED.items():
        costs = clipping_costs(target, make_demo("blob", count))
        told = ", ".join(f"{clipping} {cost:.2f}" for clipping, cost in costs.items())
        ratio = costs["small_nodes"] / costs["all"] if costs["all"] else None
        what = (
            f"SAH cost of sah_events over boxes cut along all axes, blob of {count:,} triangles as a stand-in for "
            f"{name}"
        )
        report.goals.append(Goal(what, MOST_CLIPPED_TIMES, ratio, "times", note=told))


def _frames(target: Target, report: Report, repeat: int) -> None:
    scene = make_demo("orbit")
    size = (512, 384) if target.kind == "host" else (1024, 768)
    moments = tuple(Moment(scene.duration() * step / 60.0) for step in range(60))
    row = run_frame(target, Task(scene, size=size, moments=moments, repeat=max(1, repeat // 10), warmup=5))
    report.frames.append(row)
    report.goals.append(
        Goal("memory allocated by frames after the first ones", 0.0, row.samples["allocated_bytes"][0], "bytes")
    )
    if target.kind == "host":
        rate = median(row.samples["frames_per_s"])
        report.goals.append(
            Goal(
                "orbit, 512x384, headless", 30.0, rate, "frames/s", at_most=False, note=f"{row.ray_type}, {row.update}"
            )
        )
    else:
        over = median(row.samples["host_over_device_ms"])
        note = f"{median(row.samples['wall_ms']):.3f} a frame, {median(row.samples['frame_ms']):.3f} of it the device"
        report.goals.append(Goal("orbit, 1024x768: host work over device time", 0.15, over, "ms", note=note))


def _each(amount: int | None, row: Row) -> float | None:
    return None if amount is None else amount / row.triangles


ARGUMENTS = (
    argument("files", nargs="*", metavar="FILE", help="models by which builders are judged"),
    DEVICE,
    repeat(20),
    OUT,
)


def run(names: argparse.Namespace) -> int:
    """Measure, print, and keep where asked for. Words go to stderr, tables to stdout."""
    try:
        models = known_models([load([file]) for file in names.files])
    except ValueError as error:
        raise UsageError(str(error)) from error
    with chosen(names.device) as target:
        about = context(target, command=names.command)

        def keep_so_far(report: Report) -> None:
            keep(names.out, report.as_json(about), _page(about, report))

        report = measure_goals(target, names.repeat, lambda words: print(words, file=sys.stderr), keep_so_far, models)
    print(_page(about, report))
    return 0


def _page(about: dict[str, Any], report: Report) -> str:
    return "\n".join([*heading(about), "command: " + " ".join(about["command"]), "", report.text()])
