"""Whole frames for the scenario: a scene of everything that can be drawn, by every layout and ray type."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterable, Iterator

import numpy as np

from raygrove.gpu.attributes import SphereOptions
from raygrove.gpu.camera import Camera
from raygrove.gpu.clip import ClipOptions
from raygrove.gpu.contours import ContourOptions
from raygrove.gpu.engine import Boxes, Engine, Lines, View, ViewSettings
from raygrove.gpu.glyph_shapes import GLYPH_SHAPES, GlyphLinks, Glyphs
from raygrove.gpu.hierarchy.registry import structures, telling_layouts
from raygrove.gpu.region import Region
from raygrove.gpu.scene import (
    Attribute,
    Channel,
    Clip,
    Environment,
    KeyFrames,
    Light,
    Material,
    Mesh,
    Moment,
    MorphTargets,
    Node,
    Object,
    PeriodicBox,
    Scene,
    Skin,
    SphereKeys,
    Spheres,
    Texture,
    Track,
)
from raygrove.gpu.settings import fields_of
from raygrove.gpu.shade.registry import ray_type as ray_type_of
from raygrove.gpu.shade.registry import ray_types
from raygrove.gpu.target.base import Array, Target
from raygrove.gpu.update.options import UpdateOptions

WATCHED = ("memory", "races")
"""What a sanitizer is run for: units that differ in nothing else are left out."""

FIRSTS = ("brute_force", "lbvh", "two_level", "median_sah", "octree_top_down", "grid", "grid_two_level")
"""A structure of each family, and one that looks at objects."""

TRIANGLES = 1700
"""With the other 367 of the scene more than ploc leaves to one block (2,048): rounds pair and join before."""


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


def pictures(watch: str = "all") -> list[dict[str, str]]:
    """Pairs of structure and ray type that meet every layout and every ray type. Where something is watched for, every
    ray type meets one structure, and each family of structures the cheapest ray type: for `memory` in every layout, for
    `races` in one, for `units` not at all. What builders do in a frame they do by themselves, too (`run_structure`)."""
    chosen = [
        (name, layout)
        for name, structure in structures().items()
        for layout in telling_layouts(name)
        if watch == "all"
        or layout == telling_layouts(name)[0]
        or (watch == "memory" and structure.layouts() == telling_layouts(name))
    ]
    names, found = list(ray_types()), []
    for number in range(max(len(chosen), len(names)) if watch == "all" else 0):
        (hierarchy, layout), ray_type = chosen[number % len(chosen)], names[number % len(names)]
        found.append({"hierarchy": hierarchy, "layout": layout, "ray_type": ray_type})
    if watch != "all":
        found += [{"hierarchy": "lbvh", "layout": "bvh4", "ray_type": name} for name in names]
    if watch in WATCHED:
        cheapest = [
            {"hierarchy": name, "layout": layout, "ray_type": "flat"} for name, layout in chosen if name in FIRSTS
        ]
        found += [picture for picture in cheapest if picture not in found]
    for name, kind in ray_types().items():
        strategies = [field for field in fields_of(kind.Options) if field.name == "strategy"]
        found += [
            {"hierarchy": "lbvh", "layout": "bvh4", "ray_type": name, "strategy": o}
            for f in strategies
            for o in f.info.choices[1:]
        ]
    found.append({"hierarchy": "lbvh", "layout": "bvh4", "ray_type": "layers", "gathering": "one_by_one"})
    found.append({"hierarchy": "lbvh", "layout": "bvh8", "ray_type": "ao"})  # incoherent rays of a pack
    opaque = {"hierarchy": "lbvh", "layout": "bvh4", "alpha_mode": "opaque"}
    found.append({"ray_type": "path", "strategy": "wavefront", **opaque})
    if watch not in WATCHED:  # what else is opaque has a branch less
        found.append({"ray_type": "smooth", **opaque})
    if watch == "all":  # one kernel, with a branch less
        found.append({"ray_type": "path", "strategy": "megakernel", **opaque})
    return found


def run_frames(
    target: Target,
    hierarchy: str,
    layout: str,
    ray_type: str,
    strategy: str = "",
    gathering: str = "",
    alpha_mode: str = "mask",
    is_dry: bool = False,
) -> None:
    """Two frames, one of them refitted, and what is painted over them. Of a target that `is_dry`, where nothing runs,
    nothing is read."""
    can_refit = structures()[hierarchy].capabilities.refit
    filtered = {"filtered": True} if hasattr(ray_types()[ray_type].Options, "filtered") else {}
    few = {"points": 300} if ray_type == "radiosity" else {}
    ways = {name: way for name, way in (("strategy", strategy), ("gathering", gathering)) if way}
    options = ray_types()[ray_type].Options(**ways, **filtered) if ways else None
    options = ray_types()[ray_type].Options(**few) if few else options
    update = UpdateOptions("refit" if can_refit else "rebuild")
    settings = ViewSettings(hierarchy, layout=layout, ray_type=ray_type, ray_type_options=options, update=update)
    picture = Picture(target.zeros((21, 43, 4), np.uint8, "test"))
    view = View(settings, Camera(eye=(0.0, 0.5, 4.0)), picture)
    scene = make_scene()
    scene = dataclasses.replace(
        scene, materials=(dataclasses.replace(scene.materials[0], alpha_mode=alpha_mode), *scene.materials[1:])
    )
    engine = Engine(target, scene)
    for frame, time in enumerate((0.0, 0.4)):
        engine.render_frame(Moment(time, 0, frame), [view])
    corner = np.zeros((1, 3), np.float32)
    boxes = Boxes(corner, corner, np.zeros(1, np.int32), 1)
    if not is_dry:
        engine.flush()
        assert engine.totals(view).hits > 0
        engine.pick(view, 21.0, 10.0)
        table = engine.nodes(view)
        if ray_type == "smooth":
            assert engine.visible_nodes(view, table, view.camera.eye).any()
        boxes = Boxes(table.lower, table.upper, table.depth, int(table.depth.max()) + 1)
    if len(scene.objects) > 1 and not scene.glyphs:
        engine.paint_collisions(view)
        engine.colliding_pairs(view, (0, 1))
    engine.hide([1])
    view.settings = dataclasses.replace(settings, clip=ClipOptions(on=True, position=0.6))
    view.most_rows = 8  # rows after rows
    for frame in range(2, 5):
        engine.render_frame(Moment(0.4, 0, frame), [view])
    engine.paint_outline(view, 0)
    if ray_type == "smooth" and structures()[hierarchy].capabilities.queries:
        found = engine.paint_region(view, Region("ball", size=0.7))
        assert is_dry or found.count
    engine.paint_contours(view, ContourOptions(silhouettes=True, halos=True))
    engine.paint_boxes(view, boxes)
    engine.paint_boxes(view, Lines(np.stack([boxes.lower, boxes.upper], axis=1).astype(np.float32), (255, 128, 0)))
    engine.close()


def sphere_scene() -> Scene:
    """A textured soup and, at a moving node, spheres in key frames, some of them of their own colour."""
    scene, random = make_scene(), np.random.default_rng(4)
    centres = random.uniform(-1, 1, (2, 333, 3)).astype(np.float32)
    radii = random.uniform(-0.01, 0.2, (2, 333)).astype(np.float32)
    keys = SphereKeys(np.array([0.0, 1.0], np.float32), centres, radii)
    box = PeriodicBox(np.zeros(3), np.eye(3) * 2.0, (True, True, False))
    spheres = Spheres("spheres", centres[0], radii[0], random.random((333, 3)), 0, key_frames=keys, box=box)
    spheres = dataclasses.replace(spheres, attributes=(Attribute("force", random.random((2, 333, 3), np.float32)),))
    objects = (Object(1, 0), Object(2, spheres=0), Object(0, spheres=0))
    return dataclasses.replace(scene, objects=objects, spheres=(spheres,))


def draw_spheres(target: Target, names: Iterable[str], strategy: str = "", glyphs: bool = False, **chosen: str) -> None:
    """Two frames of triangles and spheres, and glyphs where they are asked for, by each ray type with the options
    `chosen`, with an object hidden in the second. Only launches."""
    chosen |= {"strategy": strategy} if strategy else {}
    picture = Picture(target.zeros((21, 43, 4), np.uint8, "test"))
    for name in names:
        options = ray_type_of(name).Options(**chosen) if chosen else None
        options = ray_type_of(name).Options(points=300) if name == "radiosity" else options
        settings = ViewSettings("lbvh", layout="bvh4", ray_type=name, ray_type_options=options)
        engine = Engine(target, with_glyphs(sphere_scene()) if glyphs else sphere_scene())
        for frame, hidden in enumerate(((), (1,))):
            engine.hide(hidden)
            if frame:
                engine.take_sphere_options(SphereOptions(color_by="force", size_by="force.x", select_by="radius"))
            view = View(settings, Camera(eye=(0.0, 0.5, 4.0)), picture)
            engine.render_frame(Moment(0.4 * frame, 0, frame), [view])
        engine.close()


def with_glyphs(scene: Scene) -> Scene:
    """A glyph of each shape behind, and bonds between the first spheres."""
    random, groups = np.random.default_rng(8), []
    for shape in GLYPH_SHAPES:
        centres, turns = random.uniform(-1, 1, (9, 3)), random.normal(size=(9, 4))
        turns /= np.linalg.norm(turns, axis=1, keepdims=True)
        sizes = random.uniform(0.05, 0.3, (9, 3)).astype(np.float32)
        groups.append(Glyphs(shape, shape, centres.astype(np.float32), sizes, turns.astype(np.float32)))
    links = GlyphLinks(0, np.array([[0, 1], [1, 2], [2, 0]], np.int32))
    thin = np.full((3, 3), 0.03, np.float32)
    groups.append(Glyphs("bonds", "capsule", np.zeros((3, 3), np.float32), thin, links=links))
    objects = tuple(Object(0, glyphs=index) for index in range(len(groups)))
    return dataclasses.replace(scene, glyphs=tuple(groups), objects=(*scene.objects, *objects))


GLASS = Material(
    base_color=(0.9, 0.2, 0.1, 1.0), emission=(0.1, 0.2, 0.1), transmission=0.8, attenuation_color=(0.5, 0.6, 0.7),
    attenuation_distance=0.5,
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
    """A textured soup, one with key frames, one that bends and changes its shape and one that does the latter alone;
    moving nodes and two lights.
    """
    random = np.random.default_rng(3)
    corners = (
        (random.uniform(-1, 1, (TRIANGLES, 1, 3)) + random.normal(scale=0.1, size=(TRIANGLES, 3, 3)))
        .reshape(-1, 3)
        .astype(np.float32)
    )
    triangles = np.arange(len(corners), dtype=np.int32).reshape(-1, 3)
    uvs = random.uniform(-2, 2, (len(corners), 2)).astype(np.float32)
    normals = corners / np.maximum(np.linalg.norm(corners, axis=1, keepdims=True), 1e-6)
    still = Mesh("still", corners, triangles, np.zeros(TRIANGLES, np.int32), normals, uvs)
    keys = KeyFrames(
        np.array([0.0, 1.0], np.float32),
        np.stack([corners[:99], corners[:99] * 0.5]),
        np.stack([normals[:99], normals[:99]]),
    )
    moving = Mesh("moving", corners[:99], triangles[:33], np.ones(33, np.int32), normals[:99], None, keys)
    targets = MorphTargets(
        corners[None, :501] * [[[0.1]], [[0.2]]], random.normal(scale=0.1, size=(2, 501, 3)), np.zeros(2, np.float32)
    )
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
