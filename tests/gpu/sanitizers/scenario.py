"""Every kernel of the project once, on small input: what the sanitizers watch."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from unittest import mock

import numpy as np

from raygrove.gpu.animate.animate import Animator
from raygrove.gpu.animate.pose import AT_ONCE
from raygrove.gpu.camera import Camera
from raygrove.gpu.hierarchy import quality
from raygrove.gpu.hierarchy.base import Hierarchy, ObjectRange, Primitives, StructureChoice
from raygrove.gpu.hierarchy.bvh import refit
from raygrove.gpu.hierarchy.bvh.builders.ploc import FINAL
from raygrove.gpu.hierarchy.bvh.bvh import BvhHierarchy
from raygrove.gpu.hierarchy.bvh.layouts import bvh4
from raygrove.gpu.hierarchy.bvh.leaf_rows import LeafRows
from raygrove.gpu.hierarchy.kdtree.options import KdTreeOptions
from raygrove.gpu.hierarchy.primitives import sphere_primitives, triangle_primitives
from raygrove.gpu.hierarchy.registry import structures, telling_layouts
from raygrove.gpu.scene import Moment, Node
from raygrove.gpu.target.base import Target
from raygrove.gpu.trace.queue import RayQueue
from raygrove.gpu.trace.scatter import scatter_rays
from raygrove.gpu.trace.trace import VIEW_FRAME, CameraRays, Tracer
from raygrove.testing.scenes import mixed_scene
from tests.gpu.hierarchy.crafted_scenes import CRAFTED, crafted
from tests.gpu.hierarchy.given_tree import GivenBuilder, SplitBuilder, random_tree
from tests.gpu.hierarchy.kd_reference import GivenKdTree, build_reference
from tests.gpu.hierarchy.own_builders import any_tree, cut_in_two, registered

from .bounded import run_bounded
from .enlarged import run_enlarged
from .face import run_face
from .frames import WATCHED, draw_spheres, make_scene, pictures, run_frames
from .glyphs import STRATEGIES, draw_primary_tiles, run_glyphs
from .gravity import run_gravity
from .hot_spots import run_hot_spots
from .noise import run_noise
from .octrees import run_point_trees
from .palettes import run_palettes
from .primitives import run_primitives
from .published_forms import run_published_forms
from .queries import region_jobs
from .radiosity import run_radiosity

TRIANGLES, CRAFTED_TRIANGLES = 1200, 300
"""More than one chunk of the builders (1,024), so that subtrees meet within blocks and between them; and of each scene
made to break builders, more than a leaf, a warp or a block of 256 holds."""
FEW_CRAFTED = {"cuda": (3, 150), "host": (5, CRAFTED_TRIANGLES)}
"""Scenes made to break builders, and triangles of each, that a structure gets where it is watched: every launch is
slow there, and many are made. Structures take turns in which."""


def run_everything(target: Target, part: tuple[int, int] = (0, 1), watch: str = "all") -> None:
    """Primitives, structures by themselves, optimisers, a scene of many nodes, then whole frames.

    Of `part` = (k, n) every n-th of these from the k-th on. Every kernel runs, whatever is watched for. `memory` and
    `races` draw every ray type by one structure, and each structure by one cheap ray type: traversals are the same in
    all. `races` leaves out units, too, that differ in nothing that their threads share: a builder writes its tree
    before a layout is chosen and whatever the primitives are, and the rays of a picture share its sums and queues, not
    what they meet. `units`, for who asks what there is to compile, leaves out what only launches,
    which a dry target does: all frames but those of the ray type that is asked most."""
    for job in everything(watch)[part[0] :: part[1]]:
        job(target)


def name_of(job: Callable[[Target], None]) -> str:
    """A job of `everything` in words: its function and what it was given."""
    given = job.keywords if isinstance(job, functools.partial) else {}
    function = job.func if isinstance(job, functools.partial) else job
    words = ["/".join(map(str, value)) if isinstance(value, tuple) else str(value) for value in given.values()]
    return " ".join([function.__name__, *words])


def everything(watch: str = "all") -> list[Callable[[Target], None]]:
    """What there is to run; each by itself."""
    of_few = (run_primitives, run_point_trees, run_face, run_gravity, run_kd_tree_forms)
    jobs: list[Callable[[Target], None]] = [
        functools.partial(job, few=True) if watch in WATCHED else job for job in of_few
    ]
    jobs += [
        run_hot_spots,
        run_queues,
        run_glyphs,
        run_noise,
        run_palettes,
        run_enlarged,
        run_radiosity,
        run_topologies,
    ]
    jobs += [run_given_kd_tree, run_ploc_rounds, run_medians]
    jobs += [run_published_forms, run_optimisers, run_objects, run_animation]
    jobs += region_jobs("units" if watch == "all" else watch)
    jobs += [functools.partial(run_structure, name=name, watch=watch) for name in structures()]
    drawn = [functools.partial(run_frames, **chosen) for chosen in pictures(watch)]
    if watch == "units":
        return jobs + [next(job for job in drawn if job.keywords["ray_type"] == "smooth")]
    jobs += [functools.partial(draw_primary_tiles, strategies=("wavefront",) if watch in WATCHED else STRATEGIES)]
    jobs += [functools.partial(draw_spheres, names=("flat",), **more) for more in ({}, {"glyphs": True})]
    return jobs + drawn


def run_queues(target: Target) -> None:
    """Rays of a queue without gaps and in bins, of which every third place has none."""
    queue, other = RayQueue(target, "test.from", 900, 2), RayQueue(target, "test.to", 900, 2)
    rows = np.random.default_rng(7).uniform(-1, 1, (10, queue.capacity)).astype(np.float32)
    rows[6], rows[7], rows[7, ::3] = 0.0, 1.0, 0.0
    target.write(queue.rows, rows)
    target.fill(queue.count, 800)
    for move in (queue.compact_into, queue.bin_into):
        move(other)
        assert int(target.download(other.count)[0]) == 800 - 267


def run_structure(target: Target, name: str, watch: str = "all") -> None:
    """A structure in each layout: build, refit, measure, read; triangles and, where it takes them, spheres; none, one,
    many; and what is made to break it. For `races` only one structure is run in more than its first layout, and with
    other primitives; for `memory` structures take turns in which."""
    random, structure = np.random.default_rng(2), structures()[name]
    is_whole = watch != "races" or name == "lbvh"
    for layout in telling_layouts(name)[: None if has_every_layout(target, name, watch) else 1]:
        for count in (0, 1, TRIANGLES):
            corners = random.uniform(-1, 1, (count * 3, 3)).astype(np.float32)
            corners[:3] = np.nan
            indices = np.arange(count * 3, dtype=np.int32).reshape(count, 3)
            made = structure(target, StructureChoice(layout=layout))
            primitives = triangle_primitives(target.upload(corners, "test"), target.upload(indices, "test"))
            made.build(primitives)
            if isinstance(made, BvhHierarchy) and count > 0:
                made.layout.write(made.tree, primitives)
            if made.capabilities.refit:
                made.refit(primitives)
            made.measure()
            assert len(made.nodes().references) >= count - 1  # one is inactive
    if issubclass(structure, BvhHierarchy):
        run_bounded(target, structure, primitives, watch)
    for scene_name, most in crafted_choice(target, name, watch):
        made = structure(target, StructureChoice(layout=telling_layouts(name)[0]))
        made.build(crafted(scene_name, most).upload(target))
        made.measure()
    if not is_whole:
        return
    has_every = structure.layouts() == telling_layouts(name)
    if has_every and (watch in ("all", "units") or name in ("brute_force", "lbvh")):
        made = structure(target, StructureChoice(triangle_test="unit_triangle"))
        made.build(primitives)
        scatter(target, made, corners, indices)
    turn = list(structures()).index(name) % 2 if watch == "memory" and name != "lbvh" else -1
    if "sphere" in structure.capabilities.primitive_kinds and turn != 1:
        centres, radii = random.uniform(-1, 1, (300, 3)), random.uniform(0, 0.1, 300)
        made = structure(target, StructureChoice(layout=structure.default_layout("host")))
        made.build(
            sphere_primitives(
                target.upload(centres.astype(np.float32), "test"), target.upload(radii.astype(np.float32), "test")
            )
        )
    if "mixed" in structure.capabilities.primitive_kinds and turn != 0:
        made = structure(target, StructureChoice(layout=structure.default_layout("host")))
        made.build(mixed_scene(target, 150, 150)[-1])


def has_every_layout(target: Target, name: str, watch: str) -> bool:
    """Whether a structure is built in all of its layouts: a builder writes its tree before it is laid out, so that one
    is enough where launches are slow."""
    return name == "lbvh" or watch not in WATCHED or (watch == "memory" and target.kind != "cuda")


def crafted_choice(target: Target, name: str, watch: str) -> list[tuple[str, int]]:
    """Scenes made to break builders that a structure gets, with the triangles of each: all of them, or its turn."""
    if watch not in WATCHED:
        return [(scene_name, CRAFTED_TRIANGLES) for scene_name in CRAFTED]
    count, most = FEW_CRAFTED[target.kind]
    first = list(structures()).index(name) * count
    return [(list(CRAFTED)[(first + k) % len(CRAFTED)], most) for k in range(count)]


def run_topologies(target: Target) -> None:
    """Trees given by their topology alone: fitted by the family in each layout, refitted, primitives whole and split;
    lbvh both ways, and what pairs clusters along it."""
    corners = np.random.default_rng(3).uniform(-1, 1, (TRIANGLES, 3, 3)).astype(np.float32)
    indices = np.arange(TRIANGLES * 3, dtype=np.int32).reshape(-1, 3)
    primitives = triangle_primitives(target.upload(corners.reshape(-1, 3), "test"), target.upload(indices, "test"))
    for construction in ("search", "climb"):
        linear = structures()["lbvh"]
        linear(target, StructureChoice(linear.Options(construction=construction))).build(primitives)
    for name in ("hploc", "hploc_sah"):
        structures()[name](target, StructureChoice(layout="bvh2")).build(primitives)
    refit_by_groups(target, primitives)
    for name, function, splits in (("own_whole", any_tree, False), ("own_parts", cut_in_two, True)):
        with registered(name, function, splits_references=splits):
            structures()[name](target).build(primitives)
    for layout in GivenBuilder.layouts():
        fit_given(target, corners, layout)
    with mock.patch.dict(bvh4.BY_TILES, {target.kind: True}):
        fit_given(target, corners, "bvh4")
    for made in fit_given(target, corners[:300], "bvh2"):  # few: in trees at random everything overlaps everything
        made.measure_quality()
        with mock.patch.dict(quality.SAMPLES, {target.kind: 100}):
            made.measure_quality()


def fit_given(target: Target, corners: np.ndarray, layout: str) -> list[BvhHierarchy]:
    """A tree at random over triangles whole and split, fitted, measured, and the first one refitted."""
    count = len(corners)
    indices = np.arange(count * 3, dtype=np.int32).reshape(-1, 3)
    primitives = triangle_primitives(target.upload(corners.reshape(-1, 3), "test"), target.upload(indices, "test"))
    given = random_tree(count, 6)
    given.boxes = np.stack([corners.min(axis=1), corners.max(axis=1)], axis=1)[given.order]
    whole, split = GivenBuilder(target, given, layout), SplitBuilder(target, given, layout)
    whole.build(primitives)
    whole.refit(primitives)
    split.build(primitives)
    for made in (whole, split):
        LeafRows(target).write(made.tree)
        made.measure()
        assert len(made.nodes().references) == count
    return [whole, split]


def refit_by_groups(target: Target, primitives: Primitives) -> None:
    """A fit and a refit whose chunks are so small that groups of them go on; in shared memory, and in rounds where that
    has no room.
    """
    for slots in (refit.SLOTS, 0.25):
        with (
            mock.patch.object(refit, "SLOTS", slots),
            mock.patch.dict(refit.CHUNKS, {target.kind: 16}),
            mock.patch.dict(refit.USES_GROUPS, {target.kind: True}),
        ):
            linear = structures()["lbvh"]
            made = linear(target, StructureChoice(linear.Options(construction="search"), "bvh2"))
            made.build(primitives)
            made.refit(primitives)
            assert len(made.nodes().references) == TRIANGLES


def run_ploc_rounds(target: Target) -> None:
    """PLOC over more primitives than its last kernel takes at once, so that rounds of pairs come before it."""
    kind = structures()["ploc"]
    count = FINAL[target.kind] + 100
    corners = np.random.default_rng(7).uniform(-1, 1, (count * 3, 3)).astype(np.float32)
    indices = np.arange(count * 3, dtype=np.int32).reshape(count, 3)
    primitives = triangle_primitives(target.upload(corners, "test"), target.upload(indices, "test"))
    kind(target, StructureChoice(kind.Options(), "bvh2")).build(primitives)


def run_kd_tree_forms(target: Target, few: bool = False) -> None:
    """sah_events as it was before its optimisations, all at once, and with boxes cut along all axes; all but the
    `few` over spheres, too."""
    kind = structures()["sah_events"]
    corners = np.random.default_rng(6).uniform(-1, 1, (TRIANGLES, 3, 3)).astype(np.float32)
    indices = np.arange(TRIANGLES * 3, dtype=np.int32).reshape(TRIANGLES, 3)
    primitives = triangle_primitives(target.upload(corners.reshape(-1, 3), "test"), target.upload(indices, "test"))
    before = {
        "reduction": "nodes",
        "candidates": "shared",
        "flags": "words",
        "boxes": "soa",
        "cascading": False,
        "triangles": "staged",
    }
    for moving in ("gaps",) if few else ("gaps", "masks"):
        made = kind(target, StructureChoice(kind.Options(**before, moving=moving, max_leaf_size=16)))
        made.build(primitives)
    for reduction, flags in (("segments", "words"), ("whole_and_segments", "bytes"))[1 if few else 0 :]:
        listed = {"reduction": reduction, "flags": flags, "triangles": "vertices", "clipping": "split_axis"}
        listed |= {"moving": "masks"} if few else {}
        kind(target, StructureChoice(kind.Options(**listed, max_leaf_size=16, whole_levels=2))).build(primitives)
    kind(target, StructureChoice(kind.Options(clipping="all", max_leaf_size=16))).build(primitives)
    if few:
        return
    spheres = sphere_primitives(
        target.upload(corners[:300, 0].copy(), "test"), target.upload(np.full(300, 0.2, np.float32), "test")
    )
    kind(target, StructureChoice(kind.Options(max_leaf_size=16))).build(spheres)


def run_given_kd_tree(target: Target) -> None:
    """A small kd-tree that is given, by each of its traversals."""
    random = np.random.default_rng(5)
    corners = (random.uniform(-1, 1, (60, 1, 3)) + random.normal(scale=0.1, size=(60, 3, 3))).astype(np.float32)
    indices = np.arange(180, dtype=np.int32).reshape(-1, 3)
    options = KdTreeOptions(max_leaf_size=2)
    tree = build_reference(corners.min(axis=1), corners.max(axis=1), options)
    for traversal in GivenKdTree.traversals("kd8"):
        made = GivenKdTree(target, tree, traversal, options)
        made.build(triangle_primitives(target.upload(corners.reshape(-1, 3), "test"), target.upload(indices, "test")))
        made.measure()
        with mock.patch.dict(quality.SAMPLES, {target.kind: 20}):
            made.measure_quality()
        scatter(target, made, corners.reshape(-1, 3), indices)
        assert len(made.nodes().references) > 60


def run_medians(target: Target) -> None:
    """The kd-tree by medians as Zhou has it, and with two of Chang's improvements the other way round; leaves that are
    too large to be small.
    """
    random = np.random.default_rng(6)
    corners = (random.uniform(-1, 1, (TRIANGLES, 1, 3)) + random.normal(scale=0.05, size=(TRIANGLES, 3, 3))).astype(
        np.float32
    )
    corners[::4] = corners[0]
    indices = np.arange(TRIANGLES * 3, dtype=np.int32).reshape(-1, 3)
    primitives = triangle_primitives(target.upload(corners.reshape(-1, 3), "test"), target.upload(indices, "test"))
    kind = structures()["median_sah"]
    for ways in ({"implementation": "primitives"}, {"sorting": "scans", "small_nodes": "rounds"}):
        made = kind(target, StructureChoice(kind.Options(**ways, max_leaf_size=4)))
        made.build(primitives)
        assert len(made.nodes().references) >= TRIANGLES


def run_objects(target: Target) -> None:
    """One tree per object by another builder, small ones all at once; then one object moves."""
    corners = np.random.default_rng(5).uniform(-1, 1, (TRIANGLES * 3, 3)).astype(np.float32)
    indices = np.arange(TRIANGLES * 3, dtype=np.int32).reshape(-1, 3)
    things = (ObjectRange(0, 20, 0), ObjectRange(20, 600, 0), ObjectRange(620, TRIANGLES - 620, 0))
    kind = structures()["two_level"]
    primitives = triangle_primitives(target.upload(corners, "test"), target.upload(indices, "test"), objects=things)
    options = kind.Options(builder="lbvh")
    kind(target, StructureChoice(options)).build(primitives)
    made = kind(target, StructureChoice(options, optimiser="rotations"))
    made.build(primitives)
    for version in (1, 2):
        made.refit(dataclasses.replace(primitives, objects=(*things[:2], things[2]._replace(version=version))))
    assert len(made.nodes().references) == TRIANGLES


def run_animation(target: Target) -> None:
    """The scene with so many nodes that its pose takes a launch a step; frames pose the scene by itself in one
    block."""
    scene = make_scene()
    animator = Animator(
        target,
        dataclasses.replace(scene, nodes=(*scene.nodes, *(Node("more", index % 40) for index in range(AT_ONCE)))),
    )
    for time in (0.0, 0.4):
        animator.at(Moment(time))
    assert animator.not_finite_count() == 0


def run_optimisers(target: Target) -> None:
    """Each optimiser over one builder's trees, after a build and after a refit; one primitive, and many."""
    random = np.random.default_rng(4)
    builder = structures()["lbvh"]
    for name in builder.optimisers():
        for count in (1, TRIANGLES):
            corners, indices = (
                random.uniform(-1, 1, (count * 3, 3)).astype(np.float32),
                np.arange(count * 3, dtype=np.int32).reshape(count, 3),
            )
            made = builder(target, StructureChoice(optimiser=name))
            primitives = triangle_primitives(target.upload(corners, "test"), target.upload(indices, "test"))
            made.build(primitives)
            made.refit(primitives)
            assert len(made.nodes().references) == count


def scatter(target: Target, made: Hierarchy, corners: np.ndarray, indices: np.ndarray) -> None:
    """Diffuse rays from a small picture's hits."""
    frame = np.zeros((), VIEW_FRAME)
    frame["camera"], frame["width"], frame["height"], frame["jitter"] = (
        Camera(eye=(0.0, 0.5, 4.0)).frame(21, 13),
        21,
        13,
        0.5,
    )
    rays = CameraRays(target.upload(frame.reshape(1).view(np.uint8), "test"), 21, 13)
    tracer = Tracer(target, made.traversal())
    tracer.trace(
        scatter_rays(target, rays, tracer.trace(rays), target.upload(corners, "test"), target.upload(indices, "test")),
        "any",
    )
