"""Every kernel of the project once, on small input: what the sanitizers watch."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
from collections.abc import Callable, Iterator
from unittest import mock

import numpy as np

from gpu.animate.animate import Animator
from gpu.animate.pose import AT_ONCE
from gpu.camera import Camera
from gpu.clip import ClipOptions
from gpu.engine import Boxes, Engine, View, ViewSettings
from gpu.hierarchy import quality
from gpu.hierarchy.base import Hierarchy, ObjectRange, Primitives
from gpu.hierarchy.bvh import bvh
from gpu.hierarchy.bvh.bvh import BvhHierarchy
from gpu.hierarchy.bvh.layouts import bvh4
from gpu.hierarchy.bvh.leaf_rows import LeafRows
from gpu.hierarchy.kdtree.options import KdTreeOptions
from gpu.hierarchy.primitives import sphere_primitives, triangle_primitives
from gpu.hierarchy.registry import structures, telling_layouts
from gpu.primitives import radix_sort, thesis
from gpu.primitives.compact import compact, compact_indices
from gpu.primitives.reduce import OPERATIONS, reduce
from gpu.scene import Channel, Clip, Environment, KeyFrames, Light, Material, Mesh, Moment, MorphTargets, Node, Object, Scene, Skin, Texture, Track
from gpu.settings import fields_of
from gpu.shade.registry import ray_types
from gpu.target.base import Array, Target
from gpu.trace.queue import RayQueue
from gpu.trace.scatter import scatter_rays
from gpu.trace.trace import VIEW_FRAME, CameraRays, Tracer
from gpu.update_policy import UpdateOptions
from tests.gpu.hierarchy.crafted_scenes import CRAFTED, crafted
from tests.gpu.hierarchy.given_tree import GivenBuilder, SplitBuilder, random_tree
from tests.gpu.hierarchy.kd_reference import GivenKdTree, build_reference

from .bounded import run_bounded

TRIANGLES = 1700
"""More than one chunk of the builders, so that subtrees meet within blocks and between them."""
CRAFTED_TRIANGLES = 700
"""Of each scene made to break builders."""


def run_everything(target: Target, part: tuple[int, int] = (0, 1)) -> None:
    """Primitives, structures by themselves, optimisers, a scene of many nodes, then whole frames.

    Of `part` = (k, n) every n-th of these from the k-th on."""
    for job in everything()[part[0] :: part[1]]:
        job(target)


def everything() -> list[Callable[[Target], None]]:
    """What there is to run; each by itself."""
    jobs: list[Callable[[Target], None]] = [run_primitives, run_queues, run_topologies, run_given_kd_tree, run_kd_tree_forms, run_medians]
    jobs += [run_optimisers, run_objects, run_animation]
    jobs += [functools.partial(run_structure, name=name) for name in structures()]
    return jobs + [functools.partial(run_frames, **chosen) for chosen in pictures()]


def run_primitives(target: Target) -> None:
    """Each primitive, with odd sizes."""
    random = np.random.default_rng(1)
    for dtype in ("f4", "i4", "u4"):
        values = target.upload(random.integers(0, 2**31, 9001).astype(dtype), "test")
        for operation in OPERATIONS:
            reduce(target, operation, values, target.zeros(1, dtype, "test"))
    flags = target.upload(random.integers(0, 2, 9001).astype(np.int32), "test")
    out, count = target.zeros(9001, "u4", "test"), target.zeros(1, "i4", "test")
    compact(target, target.upload(random.integers(0, 2**32, 9001, dtype=np.uint32), "test"), flags, out, count)
    compact_indices(target, flags, out.view("i4"), count)
    for dtype, bits in (("u4", 32), ("u8", 60)):
        keys = random.integers(0, 2**bits, 9001, dtype=np.uint64).astype(dtype)
        target.sort_keys(target.upload(keys, "test"), (0, bits), "sort")
        target.sort_pairs(target.upload(keys, "test"), target.zeros(9001, "u4", "test"), (0, bits), "sort")
        radix_sort.sort_keys(target, target.upload(keys, "test"), (0, bits))
        radix_sort.sort_pairs(target, target.upload(keys, "test"), target.zeros(9001, "u4", "test"), (0, bits))
        for digit_bits in (4, 5):
            thesis.sort_keys(target, target.upload(keys, "test"), (0, bits), digit_bits)
            thesis.sort_pairs(target, target.upload(keys, "test"), target.zeros(9001, "u4", "test"), (0, bits), digit_bits)
    radix_sort.exclusive_scan(target, flags, target.zeros(9001, "i4", "test"))
    for algorithm in ("hillis_steele", "blelloch"):
        thesis.exclusive_scan(target, flags, target.zeros(9001, "i4", "test"), algorithm)


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


def run_structure(target: Target, name: str) -> None:
    """A structure in each layout: build, refit, measure, read; triangles and, where it takes them, spheres; none, one, many; and what is made to
    break it."""
    random, structure = np.random.default_rng(2), structures()[name]
    for layout in telling_layouts(name):
        for count in (0, 1, TRIANGLES):
            corners = random.uniform(-1, 1, (count * 3, 3)).astype(np.float32)
            corners[:3] = np.nan
            indices = np.arange(count * 3, dtype=np.int32).reshape(count, 3)
            made = structure(target, structure.Options(), layout)
            primitives = triangle_primitives(target.upload(corners, "test"), target.upload(indices, "test"))
            made.build(primitives)
            if isinstance(made, BvhHierarchy) and count > 0:
                made.layout.write(made.tree, primitives)
            if made.capabilities.refit:
                made.refit(primitives)
            made.measure()
            assert len(made.nodes().references) >= count - 1  # one is inactive
    if issubclass(structure, BvhHierarchy):
        run_bounded(target, structure, primitives)
    for scene_name in CRAFTED:
        made = structure(target, structure.Options(), telling_layouts(name)[0])
        made.build(crafted(scene_name, CRAFTED_TRIANGLES).upload(target))
        made.measure()
    if structure.layouts() == telling_layouts(name):
        made = structure(target, structure.Options())
        made.test_triangles_by("unit_triangle")
        made.build(primitives)
        scatter(target, made, corners, indices)
    if "sphere" in structure.capabilities.primitive_kinds:
        centres, radii = random.uniform(-1, 1, (300, 3)), random.uniform(0, 0.1, 300)
        made = structure(target, structure.Options(), structure.default_layout("host"))
        made.build(sphere_primitives(target.upload(centres.astype(np.float32), "test"), target.upload(radii.astype(np.float32), "test")))


def run_topologies(target: Target) -> None:
    """Trees given by their topology alone: fitted by the family in each layout, refitted, primitives whole and split; lbvh both ways, and what pairs
    clusters along it."""
    corners = np.random.default_rng(3).uniform(-1, 1, (TRIANGLES, 3, 3)).astype(np.float32)
    indices = np.arange(TRIANGLES * 3, dtype=np.int32).reshape(-1, 3)
    primitives = triangle_primitives(target.upload(corners.reshape(-1, 3), "test"), target.upload(indices, "test"))
    for construction in ("search", "climb"):
        linear = structures()["lbvh"]
        linear(target, linear.Options(construction=construction)).build(primitives)
    for name in ("hploc", "hploc_sah"):
        pairing = structures()[name]
        pairing(target, pairing.Options(), "bvh2").build(primitives)
    refit_by_groups(target, primitives)
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
    """A fit and a refit whose chunks are so small that groups of them go on; in shared memory, and in rounds where that has no room."""
    for slots in (bvh.REFIT_SLOTS, 0.25):
        with (
            mock.patch.object(bvh, "REFIT_SLOTS", slots),
            mock.patch.dict(bvh.REFIT_CHUNKS, {target.kind: 16}),
            mock.patch.dict(bvh.REFIT_GROUPS, {target.kind: True}),
        ):
            made = structures()["lbvh"](target, structures()["lbvh"].Options(construction="search"), "bvh2")
            made.build(primitives)
            made.refit(primitives)
            assert len(made.nodes().references) == TRIANGLES


def run_kd_tree_forms(target: Target) -> None:
    """sah_events as it was before its optimisations, all at once, and with boxes cut along all axes."""
    kind, corners = structures()["sah_events"], np.random.default_rng(6).uniform(-1, 1, (TRIANGLES, 3, 3)).astype(np.float32)
    indices = np.arange(TRIANGLES * 3, dtype=np.int32).reshape(TRIANGLES, 3)
    primitives = triangle_primitives(target.upload(corners.reshape(-1, 3), "test"), target.upload(indices, "test"))
    before = {"reduction": "nodes", "candidates": "shared", "flags": "words", "boxes": "apart", "cascading": False, "triangles": "staged"}
    for moving in ("gaps", "masks"):
        kind(target, kind.Options(**before, moving=moving, max_leaf_size=16)).build(primitives)
    kind(target, kind.Options(clipping="all", max_leaf_size=16)).build(primitives)
    spheres = sphere_primitives(target.upload(corners[:300, 0].copy(), "test"), target.upload(np.full(300, 0.2, np.float32), "test"))
    kind(target, kind.Options(max_leaf_size=16)).build(spheres)


def run_given_kd_tree(target: Target) -> None:
    """A small kd-tree that is given, by each of its walks."""
    random = np.random.default_rng(5)
    corners = (random.uniform(-1, 1, (60, 1, 3)) + random.normal(scale=0.1, size=(60, 3, 3))).astype(np.float32)
    indices = np.arange(180, dtype=np.int32).reshape(-1, 3)
    options = KdTreeOptions(max_leaf_size=2)
    tree = build_reference(corners.min(axis=1), corners.max(axis=1), options)
    for walk in GivenKdTree.traversals("kd8"):
        made = GivenKdTree(target, tree, walk, options)
        made.build(triangle_primitives(target.upload(corners.reshape(-1, 3), "test"), target.upload(indices, "test")))
        made.measure()
        with mock.patch.dict(quality.SAMPLES, {target.kind: 20}):
            made.measure_quality()
        scatter(target, made, corners.reshape(-1, 3), indices)
        assert len(made.nodes().references) > 60


def run_medians(target: Target) -> None:
    """The kd-tree by medians as Zhou has it, and with two of Chang's improvements the other way round; leaves that are too large to be small."""
    random = np.random.default_rng(6)
    corners = (random.uniform(-1, 1, (TRIANGLES, 1, 3)) + random.normal(scale=0.05, size=(TRIANGLES, 3, 3))).astype(np.float32)
    corners[::4] = corners[0]
    indices = np.arange(TRIANGLES * 3, dtype=np.int32).reshape(-1, 3)
    primitives = triangle_primitives(target.upload(corners.reshape(-1, 3), "test"), target.upload(indices, "test"))
    kind = structures()["median_sah"]
    for ways in ({"implementation": "primitives"}, {"sorting": "scans", "small_nodes": "rounds"}):
        made = kind(target, kind.Options(**ways, max_leaf_size=4))
        made.build(primitives)
        assert len(made.nodes().references) >= TRIANGLES


def run_objects(target: Target) -> None:
    """One tree an object by another builder, small ones all at once; then one object moves."""
    corners = np.random.default_rng(5).uniform(-1, 1, (TRIANGLES * 3, 3)).astype(np.float32)
    indices = np.arange(TRIANGLES * 3, dtype=np.int32).reshape(-1, 3)
    things = (ObjectRange(0, 20, 0), ObjectRange(20, 600, 0), ObjectRange(620, TRIANGLES - 620, 0))
    kind = structures()["two_level"]
    primitives = triangle_primitives(target.upload(corners, "test"), target.upload(indices, "test"), objects=things)
    made = kind(target, kind.Options(builder="lbvh"))
    made.build(primitives)
    made.optimise_with("rotations")  # from the next build on, and after refits
    for version in (1, 2):
        made.refit(dataclasses.replace(primitives, objects=(*things[:2], things[2]._replace(version=version))))
    assert len(made.nodes().references) == TRIANGLES


def run_animation(target: Target) -> None:
    """The scene with so many nodes that its pose takes a launch a step; frames pose the scene by itself in one block."""
    scene = make_scene()
    animator = Animator(target, dataclasses.replace(scene, nodes=(*scene.nodes, *(Node("more", index % 40) for index in range(AT_ONCE)))))
    for time in (0.0, 0.4):
        animator.at(Moment(time))
    assert animator.not_finite_count() == 0


def run_optimisers(target: Target) -> None:
    """Each optimiser over one builder's trees, after a build and after a refit; one primitive, and many."""
    random = np.random.default_rng(4)
    builder = structures()["lbvh"]
    for name in builder.optimisers():
        for count in (1, TRIANGLES):
            corners, indices = random.uniform(-1, 1, (count * 3, 3)).astype(np.float32), np.arange(count * 3, dtype=np.int32).reshape(count, 3)
            made = builder(target, builder.Options())
            made.optimise_with(name)
            primitives = triangle_primitives(target.upload(corners, "test"), target.upload(indices, "test"))
            made.build(primitives)
            made.refit(primitives)
            assert len(made.nodes().references) == count


def scatter(target: Target, made: Hierarchy, corners: np.ndarray, indices: np.ndarray) -> None:
    """Diffuse rays from a small picture's hits."""
    frame = np.zeros((), VIEW_FRAME)
    frame["camera"], frame["width"], frame["height"], frame["jitter"] = Camera(eye=(0.0, 0.5, 4.0)).frame(21, 13), 21, 13, 0.5
    rays = CameraRays(target.upload(frame.reshape(1).view(np.uint8), "test"), 21, 13)
    tracer = Tracer(target, made.traversal())
    tracer.trace(scatter_rays(target, rays, tracer.trace(rays), target.upload(corners, "test"), target.upload(indices, "test")), "any")


@dataclasses.dataclass
class Picture:
    """Pixels on the target."""

    image: Array

    @property
    def width(self) -> int:
        return int(self.image.shape[1])

    @property
    def height(self) -> int:
        return int(self.image.shape[0])

    @contextlib.contextmanager
    def map(self) -> Iterator[Array]:
        yield self.image


def pictures() -> list[dict[str, str]]:
    """Pairs of structure and ray type that meet every layout and every ray type."""
    chosen = [(name, layout) for name in structures() for layout in telling_layouts(name)]
    names, found = list(ray_types()), []
    for number in range(max(len(chosen), len(names))):
        (hierarchy, layout), ray_type = chosen[number % len(chosen)], names[number % len(names)]
        found.append({"hierarchy": hierarchy, "layout": layout, "ray_type": ray_type})
    for name, kind in ray_types().items():
        organisations = [field for field in fields_of(kind.Options) if field.name == "organisation"]
        found += [{"hierarchy": "lbvh", "layout": "bvh4", "ray_type": name, "organisation": o} for f in organisations for o in f.info.choices[1:]]
    found.append({"hierarchy": "lbvh", "layout": "bvh8", "ray_type": "ao"})  # a pack's rays each their own way
    opaque = {"hierarchy": "lbvh", "layout": "bvh4", "alpha_mode": "opaque"}
    found += [{"ray_type": "smooth", **opaque}, *({"ray_type": "path", "organisation": o, **opaque} for o in ("megakernel", "wavefront"))]
    return found


def run_frames(target: Target, hierarchy: str, layout: str, ray_type: str, organisation: str = "", alpha_mode: str = "mask") -> None:
    """Two frames, one of them refitted, and what is painted over them."""
    can_refit = structures()[hierarchy].capabilities.refit
    filtered = {"filtered": True} if hasattr(ray_types()[ray_type].Options, "filtered") else {}
    options = ray_types()[ray_type].Options(organisation=organisation, **filtered) if organisation else None
    update = UpdateOptions("refit" if can_refit else "rebuild")
    settings = ViewSettings(hierarchy, layout=layout, ray_type=ray_type, ray_type_options=options, update=update)
    picture = Picture(target.zeros((21, 43, 4), np.uint8, "test"))
    view = View(settings, Camera(eye=(0.0, 0.5, 4.0)), picture)
    scene = make_scene()
    scene = dataclasses.replace(scene, materials=(dataclasses.replace(scene.materials[0], alpha_mode=alpha_mode), *scene.materials[1:]))
    engine = Engine(target, scene)
    for frame, time in enumerate((0.0, 0.4)):
        engine.render_frame(Moment(time, 0, frame), [view])
    engine.flush()
    assert engine.totals(view).hits > 0
    engine.pick(view, 21.0, 10.0)
    table = engine.nodes(view)
    engine.hide([1])
    view.settings = dataclasses.replace(settings, clip=ClipOptions(on=True, position=0.6))
    engine.render_frame(Moment(0.4, 0, 2), [view])
    engine.paint_outline(view, 0)
    engine.paint_boxes(view, Boxes(table.lower, table.upper, table.depth, int(table.depth.max()) + 1))
    engine.close()


GLASS = Material(
    base_color=(0.9, 0.2, 0.1, 1.0), emission=(0.1, 0.2, 0.1), transmission=0.8, attenuation_color=(0.5, 0.6, 0.7), attenuation_distance=0.5,
    metallic_roughness_texture=0, normal_texture=0, emission_texture=0,
)  # fmt: skip
LIGHTS = (
    Light("point", (30.0, 30.0, 30.0), (1.0, 3.0, 3.0)),
    Light("directional", direction=(0.3, -1.0, -0.2), node=1),
    Light("spot", (9.0, 9.0, 9.0), (0.0, 3.0, 0.0), outer_angle=60.0),
    Light("sphere", (9.0, 9.0, 9.0), (3.0, 3.0, 0.0), node=2),
    Light("rectangle", (9.0, 9.0, 9.0), (0.0, 4.0, 1.0)),
)


def make_scene() -> Scene:
    """A textured soup, one with key frames, one that bends and changes its shape and one that does the latter alone; moving nodes and two lights."""
    random = np.random.default_rng(3)
    corners = (random.uniform(-1, 1, (TRIANGLES, 1, 3)) + random.normal(scale=0.1, size=(TRIANGLES, 3, 3))).reshape(-1, 3).astype(np.float32)
    triangles = np.arange(len(corners), dtype=np.int32).reshape(-1, 3)
    uvs = random.uniform(-2, 2, (len(corners), 2)).astype(np.float32)
    normals = corners / np.maximum(np.linalg.norm(corners, axis=1, keepdims=True), 1e-6)
    still = Mesh("still", corners, triangles, np.zeros(TRIANGLES, np.int32), normals, uvs)
    keys = KeyFrames(np.array([0.0, 1.0], np.float32), np.stack([corners[:99], corners[:99] * 0.5]), np.stack([normals[:99], normals[:99]]))
    moving = Mesh("moving", corners[:99], triangles[:33], np.ones(33, np.int32), normals[:99], None, keys)
    targets = MorphTargets(corners[None, :501] * [[[0.1]], [[0.2]]], random.normal(scale=0.1, size=(2, 501, 3)), np.zeros(2, np.float32))
    ids, weights = random.integers(0, 2, (501, 4)).astype(np.int32), np.full((501, 4), 0.25, np.float32)
    skin = Skin(np.array([1, 2], np.int32), np.tile(np.eye(4, dtype=np.float32), (2, 1, 1)), ids, weights)
    shape = Mesh("shape", corners[:501], triangles[:167], np.ones(167, np.int32), normals[:501], morph_targets=targets)
    bent = dataclasses.replace(shape, name="bent", skin=skin)
    times = np.array([0.0, 0.5, 1.0], np.float32)
    turn = np.array([[0, 0, 0, 1], [0, 0.6, 0, 0.8], [0, 1, 0, 0]], np.float32)
    move = np.array([[0, 0, 0], [0.2, 0, 0], [0, 0.2, 0]], np.float32)
    channels = (
        Channel(1, "rotation", Track(times, turn)),
        Channel(1, "translation", Track(times, move)),
        Channel(2, "scale", Track(times, np.ones((3, 3), np.float32) - move, "step")),
        Channel(2, "weights", Track(times, move[:, :2])),
    )
    texels = random.integers(0, 256, (5, 7, 4)).astype(np.uint8)
    return Scene(
        "scenario",
        nodes=(Node(), Node("turning", 0), Node("growing", 1)),
        meshes=(still, moving, shape, bent),
        objects=(Object(1, 0), Object(2, 1), Object(2, 2), Object(0, 3)),
        materials=(Material(base_color_texture=0, alpha_mode="mask"), GLASS),
        textures=(Texture("noise", texels),),
        lights=LIGHTS,
        clips=(Clip("all", 1.0, channels),),
        environment=Environment("sky", random.uniform(0, 2, (6, 11, 3)).astype(np.float32)),
    )
