"""The figures that the project has promised, in one run: `python -m bench.goals [FILE ...] [--target host|cuda] [--out PREFIX]`.

FILE are the models by which builders are judged beside the built-in scenes (model_goals.py lists them); a goal of one that was not given is not
measured, and says so. Bars that need a window, a display or minutes are read from the newest file that is kept of their own command
(kept_goals.py). So a report is the list of all bars: each with how it was measured, reached, missed or not measured, and why.

A script, not a library: it makes the built-in scenes itself. Without files it needs numpy and the target's libraries only. With --out it writes
PREFIX.json and PREFIX.txt beside what it prints. Exit code 0 when it has measured, whether or not every goal was reached.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import functools
import itertools
import json
import pathlib
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from app.scene_io import SceneError, load
from app.scene_io.demos import make_demo
from gpu.animate.animate import Animator
from gpu.engine import ViewSettings
from gpu.hierarchy.base import HierarchyError
from gpu.hierarchy.registry import structure
from gpu.scene import Moment, Scene
from gpu.target import choose
from gpu.target.base import NoDeviceError, Target, TargetError

from .build import run_build
from .builder_goals import BUILDERS, COLLAPSED, KD_BUILDS, MOST_COLLAPSE
from .context import context, heading
from .frame import run_frame
from .goal import Goal, Report
from .kept_goals import kept_goals
from .measure import Task, median, timed
from .model_bars import measure_bars
from .model_goals import judge, known_models
from .replay import PHASES_EVERY, build_as_graph, live_frames
from .rig import make_rig
from .rows import Row
from .streaming import TIMES_THE_BUDGET, make_waves, play
from .trace import run_trace
from .tree_costs import CLIPPED, MOST_CLIPPED_TIMES, MOST_TIMES, clipping_costs, tree_costs
from .two_level import make_crowd, measure_update


@dataclasses.dataclass(frozen=True)
class Bars:
    """What a target's goals are: triangles -> most milliseconds, `build_60_ms` of Morton codes of 60 bits; `deform_ms` for RIG_VERTICES skinned and
    morphed vertices."""

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
RIG_VERTICES = 100_000
LAYOUT_BYTES = {"bvh2": 160.0, "bvh4": 200.0}
SCRATCH_BYTES = 72.0


def measure_goals(
    target: Target, repeat: int, say: Callable[[str], None], keep: Callable[[Report], None] = lambda report: None, models: Sequence[Scene] = ()
) -> Report:
    """Every goal that this kind of target has. `keep` gets the report after each part, so that a run which is cut short leaves something; a part that
    fails is a goal not measured, with the sentence why."""
    report = Report()
    bars = HOST if target.kind == "host" else CUDA
    is_host = target.kind == "host"
    trace, best = (_trace_beside_embree, _incoherent_beside_embree) if is_host else (_trace_on_device, _best_trace_on_device)
    parts: list[tuple[str, Callable[[], None]]] = [
        (f"building blob of {count:,} triangles", functools.partial(_builds, target, report, bars, count, repeat)) for count in bars.build_ms
    ]
    if target.kind == "cuda":
        parts.append(("replaying other builders", functools.partial(_builders, target, report, repeat)))
        parts.append(("building kd-trees in every frame", functools.partial(_kd_builds, target, report, repeat)))
    parts.append(("comparing the cost of trees", functools.partial(_trees, target, report)))
    parts += [(words, functools.partial(part, target, report, repeat)) for words, part in (*judge(models), *measure_bars(target.kind, models))]
    parts.append(("skinning and morphing", functools.partial(_deform, target, report, bars, repeat)))
    parts.append(("moving one object in a hundred", functools.partial(_rigid_motion, target, report, repeat)))
    parts.append(("streaming key frames", functools.partial(_streaming, target, report, repeat)))
    parts += [
        ("tracing", functools.partial(trace, target, report, repeat)),
        ("tracing with the best tree", functools.partial(best, target, report, repeat)),
    ]
    parts += [
        ("drawing orbit", functools.partial(_frames, target, report, repeat)),
        ("reading what is kept of other commands", lambda: report.goals.extend(kept_goals(target.kind))),
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
    rows = {layout: run_build(target, Task(scene, ViewSettings(layout=layout), repeat=repeat)) for layout in LAYOUT_BYTES}
    report.builds += rows.values()
    row = rows[default_layout(target)]
    note = f"{row.layout}, {row.triangles:,} triangles; at best {min(row.samples['build_ms']):.3f}"
    if target.kind == "host" or count not in GRAPHS_ALONE:
        report.goals.append(Goal(f"LBVH rebuild, {count:,} triangles", bars.build_ms[count], row.build_ms, "ms", note=note))
    if target.kind == "cuda":
        graph = build_as_graph(target, scene, ViewSettings(), repeat)
        note_light = f"{note}; {graph.light_ms:.3f} without events of its phases"
        report.goals.append(Goal(f"LBVH rebuild as a graph, {count:,} triangles", bars.build_ms[count], graph.spent_ms, "ms", note=note_light))
        report.goals.append(Goal(f"kernels of that graph, {count:,} triangles", MOST_KERNELS, float(graph.kernels), "kernels"))
        note_host = (
            f"target idle, host awake; {graph.host_timed_ms:.4f} where phases are timed, 1 frame in {PHASES_EVERY}, {graph.host_light_ms:.4f} else"
        )
        report.goals.append(Goal(f"host work of that graph, {count:,} triangles", REPLAY_HOST_MS, graph.host_ms, "ms", note=note_host))
    if count in bars.build_60_ms:
        settings = ViewSettings(hierarchy_options=structure("lbvh").Options(code_bits="60"))
        long_codes = build_as_graph(target, scene, settings, repeat)
        report.goals.append(Goal(f"LBVH rebuild of 60 bits as a graph, {count:,} triangles", bars.build_60_ms[count], long_codes.spent_ms, "ms"))
    if count in bars.refit_ms:
        report.goals.append(Goal(f"refit, {count:,} triangles", bars.refit_ms[count], row.refit_ms, "ms", note=note))
    for layout, built in rows.items():
        report.goals.append(Goal(f"memory of {layout}, {count:,} triangles", LAYOUT_BYTES[layout], _each(built.bytes, built), "bytes/triangle"))
    scratch = max((_each(built.scratch_bytes, built) or 0.0) for built in rows.values())
    report.goals.append(Goal(f"scratch, {count:,} triangles", SCRATCH_BYTES, scratch, "bytes/triangle"))


def _builders(target: Target, report: Report, repeat: int) -> None:
    """Whole rebuilds by other builders as graphs, and what the compressed wide layout takes beside its tree."""
    for count, bars in BUILDERS.items():
        scene = make_demo("blob", count)
        for name, bar in bars.items():
            built = build_as_graph(target, scene, ViewSettings(hierarchy=name, layout="bvh2"), max(3, repeat // 2))
            phases = ", ".join(f"{phase.removeprefix('build.')} {spent:.3f}" for phase, spent in built.phases_ms.items())
            report.goals.append(Goal(f"{name} rebuild as a graph, {count:,} triangles", bar, built.spent_ms, "ms", note=phases))
            if name not in COLLAPSED:
                continue
            wide = build_as_graph(target, scene, ViewSettings(hierarchy=name, layout="cwbvh"), max(3, repeat // 2))
            spent = wide.phases_ms.get("build.layout", 0.0)
            note = f"{spent:.3f} of {built.spent_ms:.3f} ms"
            share = spent / built.spent_ms if built.spent_ms else None
            report.goals.append(Goal(f"collapse to cwbvh over the bvh2 of {name}, {count:,} triangles", MOST_COLLAPSE, share, "times", note=note))


def _kd_builds(target: Target, report: Report, repeat: int) -> None:
    """Kd-trees rebuilt in every frame of a scene that moves: through the engine, which replays its launches as a graph after a few frames, and with
    each launch issued by the host. Both with all that the host does, without the rays."""
    for builder, options, name, count, bar in KD_BUILDS:
        scene, kind = make_demo(name, count), structure(builder)
        settings = ViewSettings(builder, hierarchy_options=kind.Options(**options))
        what = " ".join([builder, *options.values()])
        for way, repeats in (("as frames replay it", True), ("launched one by one", False)):
            live = live_frames(target, scene, settings, max(3, repeat), (1024, 768), repeats)
            note = f"frame {live.wall_ms:.3f} ms: issuing {live.host_ms:.3f}, build {live.build_ms:.3f}, rays {live.rays_ms:.3f}"
            report.goals.append(Goal(f"{what} live, {way}, {name} of {count:,} triangles", bar, live.update_ms, "ms", note=note))


def _trees(target: Target, report: Report) -> None:
    """What builders' trees cost over those of binned_sah, in two scenes, and what cutting boxes in small nodes alone costs."""
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
        what = f"SAH cost of sah_events over boxes cut along all axes, blob of {count:,} triangles as a stand-in for {name}"
        report.goals.append(Goal(what, MOST_CLIPPED_TIMES, ratio, "times", note=told))


def _deform(target: Target, report: Report, bars: Bars, repeat: int) -> None:
    """Everything from tracks to world-space vertices of the rig, as the engine repeats it: captured once, another moment each frame."""
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
    report.goals.append(Goal(f"skinning and morphing, {RIG_VERTICES:,} vertices", bars.deform_ms, median(times), "ms", note=note))


def _rigid_motion(target: Target, report: Report, repeat: int) -> None:
    """An update of the two-level structure over its rebuild, where 1 % of the objects move as a whole."""
    triangles, objects = (12_800_000, 1000) if target.kind == "cuda" else (200_000, 200)
    row = measure_update(target, make_crowd(triangles, objects, objects // 100), "two_level", repeat)
    note = f"{row.update_ms:.3f} of {row.rebuild_ms:.3f} ms, {row.moving} of {row.objects} objects"
    what = f"update over rebuild, 1 % of the objects moved, {triangles:,} triangles"
    report.goals.append(Goal(what, 0.10, row.share, "times", note=note))


def _streaming(target: Target, report: Report, repeat: int) -> None:
    """A sequence of four times its memory beside itself resident: the frame's time, and no frame that waits."""
    count, keys = (20_000, 64) if target.kind == "host" else (100_000, 160)
    scene, size = make_waves(count, keys), (320, 240) if target.kind == "host" else (1024, 768)
    resident, streamed = (play(target, scene, share, 10 * max(4, repeat), size) for share in (1, TIMES_THE_BUDGET))
    facts, what = streamed.streaming, f"{TIMES_THE_BUDGET} times the memory of {keys} key frames, {count:,} vertices"
    note = f"{streamed.frame_ms:.3f} and {resident.frame_ms:.3f} ms; issuing {streamed.host_ms:.3f} and {resident.host_ms:.3f} ms"
    ratio = streamed.frame_ms / resident.frame_ms if resident.frame_ms else None
    report.goals.append(Goal(f"frame time, streamed over resident, {what}", 1.1, ratio, "times", note=note))
    note = f"{facts.bytes_streamed / 2**20:.0f} MiB streamed into {facts.slots} slots of {facts.slot_bytes / 2**20:.0f} MiB"
    report.goals.append(Goal("frames of steady play that waited for a key frame", 0.0, float(facts.stalls), "frames", note=note))


def _trace_beside_embree(target: Target, report: Report, repeat: int) -> None:
    for count, is_goal in ((100_000, True), (512_000, False)):
        row = run_trace(target, Task(make_demo("blob", count), repeat=repeat), peers=("embree",), kinds=("primary",))[0]
        report.traces.append(row)
        packs = {peer["pack"]: peer for peer in row.peers if "pack" in peer}
        if not is_goal:
            continue
        absent = next((peer["absent"] for peer in row.peers if "absent" in peer), "")
        share = row.mrays_per_s / packs[8]["mrays_per_s"] if 8 in packs and row.mrays_per_s else None
        rates = f"{row.mrays_per_s:.1f} (packs of {target.lane_count}) and {packs[8]['mrays_per_s']:.1f} MRays/s" if 8 in packs else absent
        note = f"{rates}, hits {row.hits:,} and {packs[8]['hits']:,}" if 8 in packs else absent
        report.goals.append(Goal(f"primary rays over Embree's packets of 8, {count:,} triangles", 1.0, share, "times", at_most=False, note=note))


def best_tree(kind: str) -> ViewSettings:
    """What rays are traced through where a goal names the best tree. Packs test a leaf at once: on the host leaves are large. On CUDA
    a node and a primitive are a step each, which is what the defaults say (docs/performance/tracing.md)."""
    if kind == "host":
        options = structure("binned_sah").Options(max_leaf_size=8, intersection_cost=0.25)
        return ViewSettings("binned_sah", layout="bvh8", hierarchy_options=options)
    return ViewSettings("binned_sah", layout="bvh2")


def _incoherent_beside_embree(target: Target, report: Report, repeat: int) -> None:
    for name in ("blob", "room"):
        task = Task(make_demo(name, 100_000), best_tree("host"), repeat=repeat)
        row = run_trace(target, task, peers=("embree",), kinds=("diffuse any-hit",))[0]
        report.traces.append(row)
        peers = [peer for peer in row.peers if "mrays_per_s" in peer]
        best = max(peers, key=lambda peer: peer["mrays_per_s"], default=None)
        share = row.mrays_per_s / best["mrays_per_s"] if best and row.mrays_per_s else None
        note = f"{row.hierarchy} on {row.layout}: {row.mrays_per_s or 0.0:.1f} MRays/s"
        note += f", Embree by {best['pack']}: {best['mrays_per_s']:.1f}" if best else ", Embree is not there"
        report.goals.append(Goal(f"incoherent any-hit rays over Embree's best, {name}", 0.95, share, "times", at_most=False, note=note))


def _best_trace_on_device(target: Target, report: Report, repeat: int) -> None:
    for name, count, bars in (("blob", 512_000, (3.4, 1.76)), ("room", 499_712, (None, 1.35))):
        rows = run_trace(target, Task(make_demo(name, count), best_tree(target.kind), repeat=repeat), kinds=("primary", "diffuse"))
        report.traces += rows
        for row, bar in zip(rows, bars, strict=True):
            if bar is not None:
                rate, note = (row.mrays_per_s or 0.0) / 1e3, f"{row.hierarchy} on {row.layout}"
                report.goals.append(Goal(f"{row.ray_type} rays with the best tree, {name}", bar, rate, "GRays/s", at_most=False, note=note))


def _trace_on_device(target: Target, report: Report, repeat: int) -> None:
    for name, count, bar in (("blob", 512_000, 2.7), ("room", 499_712, None), ("blob", 12_800_000, None)):
        scene = make_demo(name, count)
        for layout in LAYOUT_BYTES:
            rows = run_trace(target, Task(scene, ViewSettings(layout=layout), repeat=repeat))
            report.traces += rows
            if bar is not None and layout == default_layout(target):
                rate = (rows[0].mrays_per_s or 0.0) / 1e3
                report.goals.append(Goal(f"primary rays, {name} of {count:,} triangles", bar, rate, "GRays/s", at_most=False, note=layout))


def _frames(target: Target, report: Report, repeat: int) -> None:
    scene = make_demo("orbit")
    size = (512, 384) if target.kind == "host" else (1024, 768)
    moments = tuple(Moment(scene.duration() * step / 60.0) for step in range(60))
    row = run_frame(target, Task(scene, size=size, moments=moments, repeat=max(1, repeat // 10), warmup=5))
    report.frames.append(row)
    report.goals.append(Goal("memory allocated by frames after the first ones", 0.0, row.samples["allocated_bytes"][0], "bytes"))
    if target.kind == "host":
        rate = median(row.samples["frames_per_s"])
        report.goals.append(Goal("orbit, 512x384, headless", 30.0, rate, "frames/s", at_most=False, note=f"{row.ray_type}, {row.update}"))
    else:
        over = median(row.samples["host_over_device_ms"])
        note = f"{median(row.samples['wall_ms']):.3f} a frame, {median(row.samples['frame_ms']):.3f} of it the device"
        report.goals.append(Goal("orbit, 1024x768: host work over device time", 0.15, over, "ms", note=note))


def default_layout(target: Target) -> str:
    """What `auto` is for LBVH on this target."""
    return structure("lbvh").default_layout(target.kind)


def _each(amount: int | None, row: Row) -> float | None:
    return None if amount is None else amount / row.triangles


@contextlib.contextmanager
def _target(name: str) -> Iterator[Target]:
    made = choose(name)
    try:
        yield made
    finally:
        made.close()


def main(arguments: list[str] | None = None) -> int:
    """The script. Words go to stderr, tables to stdout."""
    parser = argparse.ArgumentParser(prog="python -m bench.goals", description="Measure the project's goals in one run.")
    parser.add_argument("files", nargs="*", metavar="FILE", help="models by which builders are judged")
    parser.add_argument("--target", default="auto", help="auto, host, cuda or cuda:N")
    parser.add_argument("--repeat", type=int, default=20, help="runs of each measurement; the median counts")
    parser.add_argument("--out", help="also write PREFIX.json and PREFIX.txt")
    names = parser.parse_args(arguments)
    try:
        models = known_models([load([file]) for file in names.files])
        with _target(names.target) as target:
            about = context(target, command=["python", "-m", "bench.goals", *(sys.argv[1:] if arguments is None else arguments)])

            def keep(report: Report) -> None:
                if names.out:
                    pathlib.Path(names.out + ".json").write_text(json.dumps(report.as_json(about), indent=1) + "\n", encoding="utf-8")
                    pathlib.Path(names.out + ".txt").write_text(_page(about, report) + "\n", encoding="utf-8")

            report = measure_goals(target, max(1, names.repeat), lambda words: print(words, file=sys.stderr), keep, models)
    except SceneError as error:
        print(error, file=sys.stderr)
        return 3
    except (NoDeviceError, ValueError) as error:
        print(error, file=sys.stderr)
        return 4
    print(_page(about, report))
    return 0


def _page(about: dict[str, Any], report: Report) -> str:
    return "\n".join([*heading(about), "command: " + " ".join(about["command"]), "", report.text()])


if __name__ == "__main__":
    raise SystemExit(main())
