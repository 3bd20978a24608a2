"""Every arrangement gives the hits of brute force, bit for bit, whatever the spheres, the camera and the tiles."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from raygrove.gpu.camera import Camera
from raygrove.gpu.glyph_shapes import GLYPH_SHAPES
from raygrove.gpu.glyphs import caster as caster_module
from raygrove.gpu.glyphs.caster import TileCaster
from raygrove.gpu.glyphs.options import ARRANGEMENTS, GlyphOptions
from raygrove.gpu.hierarchy.base import HierarchyError, Primitives
from raygrove.gpu.hierarchy.primitives import glyph_primitives, sphere_primitives, triangle_primitives
from raygrove.gpu.hierarchy.registry import make_structure
from raygrove.gpu.target.base import Target
from raygrove.gpu.target.kernel_use import KernelUse
from raygrove.gpu.trace.trace import VIEW_FRAME, CameraRays, HitBuffer, Tracer, see_through, upload_rays

SIZE = (83, 61)
CAMERAS = {
    "outside": Camera(eye=(0.2, 0.4, 3.0)),
    "inside": Camera(eye=(0.1, 0.2, 0.3), look_at=(1.0, 0.0, 0.0), fov=110.0),
    "orthographic": Camera(eye=(0.0, 1.0, 3.0), orthographic=True, height=1.5),
    "between near and far": Camera(eye=(0.2, 0.4, 3.0), near=2.6, far=3.3),
    "narrow": Camera(eye=(0.0, 0.0, 300.0), fov=0.2),
}
LISTS = ("scatter", "front_to_back", "cpu", "none")
WAYS = [("splat", "auto"), *itertools.product(ARRANGEMENTS[1:], LISTS)]


def spheres(target: Target, count: int = 900) -> Primitives:
    """Of many sizes, some of them twice; inactive ones, points, numbers that are none, and one round everything."""
    random = np.random.default_rng(5)
    centres = random.uniform(-1, 1, (count, 3)).astype(np.float32)
    radii = (0.1 * random.random(count) ** 3 + 0.004).astype(np.float32)
    radii[5::20], radii[6::20], radii[7], centres[8] = -1.0, 0.0, np.nan, np.inf
    centres[9::20], radii[9::20] = centres[10::20], radii[10::20]
    radii[11], radii[12] = 1e-8, 1e3
    return sphere_primitives(target.upload(centres, "test"), target.upload(radii, "test"))


def glyphs(target: Target, count: int = 420, sphere_count: int = 40) -> Primitives:
    """Every shape of glyphs behind some spheres: long ones and flat ones, some twice, one round everything, and some
    that are not there."""
    random = np.random.default_rng(9)
    centres = random.uniform(-1, 1, (count, 3))
    turns = random.normal(size=(count, 4))
    turns /= np.linalg.norm(turns, axis=1, keepdims=True)
    sizes = 0.002 + 0.12 * random.random((count, 3)) ** 3
    marks = -2.0 - np.arange(count) % len(GLYPH_SHAPES)
    rows = np.concatenate([centres, np.zeros((count, 1)), turns, sizes, marks[:, None]], axis=1).astype(np.float32)
    rows[21::40] = rows[20::40]
    rows[5::20, 8], rows[7, 0], rows[8, 11], rows[8, :3] = -1.0, np.nan, -0.0, np.nan
    rows[14, 8:11] = 50.0
    centres_of, radii = random.uniform(-1, 1, (sphere_count, 3)), random.uniform(0.01, 0.1, sphere_count)
    others = sphere_primitives(
        target.upload(centres_of.astype(np.float32), "test"), target.upload(radii.astype(np.float32), "test")
    )
    return glyph_primitives(others if sphere_count else None, target.upload(rows, "test"), count)


def crowd(target: Target) -> Primitives:
    """Spheres that hide what is behind them, the farther ones first by prim_id."""
    random = np.random.default_rng(8)
    centres = random.uniform(-1.5, 1.5, (500, 3)).astype(np.float32)
    centres = centres[np.argsort(centres[:, 2])]
    return sphere_primitives(target.upload(centres, "test"), target.upload(np.full(500, 0.5, np.float32), "test"))


def beside_large_ones(target: Target) -> Primitives:
    """A few large spheres, many times each, and small ones before, beside and behind them."""
    random = np.random.default_rng(11)
    large = np.repeat(random.uniform(-0.9, 0.9, (6, 3)), 60, axis=0)
    centres = np.concatenate([large, random.uniform(-1.2, 1.2, (2500, 3))]).astype(np.float32)
    radii = np.where(np.arange(len(centres)) < len(large), 0.45, 0.02).astype(np.float32)
    order = random.permutation(len(centres))
    return sphere_primitives(target.upload(centres[order], "test"), target.upload(radii[order], "test"))


def beside_discs(target: Target, camera: Camera) -> Primitives:
    """What `camera` sees: a few large discs, many times each, and behind them, beside and at their rims spheres of
    about a pixel."""
    random = np.random.default_rng(7)
    right, up, forward = camera.basis()
    discs, others = 360, 8000
    distance = np.concatenate([random.uniform(2.0, 2.05, discs), random.uniform(2.5, 4.0, others)])
    place = np.concatenate([np.repeat(random.uniform(-0.5, 0.5, (6, 2)), 60, axis=0), random.random((others, 2)) - 0.5])
    tall = 2.0 * np.tan(np.radians(camera.fov) / 2.0) * distance
    centres = np.array(camera.eye) + distance[:, None] * forward
    centres += (tall * place[:, 0] * SIZE[0] / SIZE[1])[:, None] * right + (tall * place[:, 1])[:, None] * up
    sizes = np.where(np.arange(len(tall)) < discs, 0.2, random.uniform(0.3, 1.0, len(tall)) / SIZE[1])
    order, radii = random.permutation(len(tall)), (tall * sizes).astype(np.float32)
    return sphere_primitives(
        target.upload(centres.astype(np.float32)[order], "test"), target.upload(radii[order], "test")
    )


def rays_of(
    target: Target,
    camera: Camera,
    clip: tuple[float, float, float, float] | None = None,
    rows: tuple[int, int] = (0, SIZE[1]),
) -> CameraRays:
    """A picture's rays, or those of `rows` = (first, count)."""
    frame = np.zeros((), VIEW_FRAME)
    see_through(frame, camera, *SIZE, clip)
    frame["jitter"], frame["first_row"] = (0.3, 0.8), rows[0]
    return CameraRays(target.upload(frame.reshape(1).view(np.uint8), "test"), SIZE[0], rows[1])


def arrays_of(target: Target, hits: HitBuffer) -> tuple[np.ndarray, ...]:
    """Distances, prim_ids, and where on its sphere each ray hits."""
    t, prim_id, u, v = (target.download(array).copy() for array in (hits.t, hits.prim_id, hits.u, hits.v))
    return t, prim_id, np.where(prim_id < 0, 0.0, u), np.where(prim_id < 0, 0.0, v)


def brute_force(
    target: Target, primitives: Primitives, rays: CameraRays, least: float = 0.03
) -> tuple[np.ndarray, ...]:
    """What a structure that tests everything gives; `least` is the share of rays that hit."""
    structure = make_structure(target, "brute_force")
    structure.build(primitives)
    found = arrays_of(target, Tracer(target, structure.traversal()).trace(rays, scratch="expected"))
    assert (found[1] >= 0).mean() > least
    return found


def cast(target: Target, options: GlyphOptions, primitives: Primitives, rays: CameraRays) -> TileCaster:
    """A caster whose lists have room for what it met."""
    caster = TileCaster(target, options)
    for _ in range(3):
        caster.make_room(primitives)
        caster.cast(rays)
    return caster


def check(target: Target, caster: TileCaster, rays: CameraRays, expected: tuple[np.ndarray, ...]) -> None:
    """The very hits."""
    for found, one in zip(arrays_of(target, caster.cast(rays)), expected, strict=True):
        np.testing.assert_array_equal(found, one)


@pytest.mark.parametrize(("arrangement", "lists"), WAYS)
def test_hits_are_those_of_brute_force(exact_target: Target, arrangement: str, lists: str) -> None:
    options = GlyphOptions(arrangement=arrangement, lists=lists, tiles=7)
    primitives = spheres(exact_target)
    for camera in CAMERAS.values():
        rays = rays_of(exact_target, camera)
        expected = brute_force(exact_target, primitives, rays)
        check(exact_target, cast(exact_target, options, primitives, rays), rays, expected)


def test_rounding_hides_no_sphere_of_a_picture_that_is_very_narrow(
    exact_target: Target, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There it moves what is seen by parts of a pixel."""
    monkeypatch.setattr(caster_module, "OWN_BOXES", ("cuda", "host"))
    camera = Camera(eye=(0.3, -2.2, 1.9), fov=0.0002)
    primitives, rays = beside_discs(exact_target, camera), rays_of(exact_target, camera)
    expected = brute_force(exact_target, primitives, rays)
    check(exact_target, cast(exact_target, GlyphOptions("splat", near_first=True), primitives, rays), rays, expected)


@pytest.mark.parametrize("own_boxes", [(), ("cuda", "host")], ids=["boxes", "own_boxes"])
@pytest.mark.parametrize("warps", [1, 50, 300])
def test_splatting_warps_take_as_many_spheres_as_there_are(
    exact_target: Target, warps: int, own_boxes: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A warp takes 32, 18 or 3 at a time here, of which some are large, some not there, and the last batch is cut."""
    monkeypatch.setattr(caster_module, "SPLATTING_WARPS", warps)
    monkeypatch.setattr(caster_module, "OWN_BOXES", own_boxes)
    for primitives in (scene(exact_target) for scene in (spheres, glyphs, crowd, beside_large_ones)):
        views = [rays_of(exact_target, CAMERAS[name]) for name in ("outside", "inside", "orthographic")]
        for rays in (*views, rays_of(exact_target, CAMERAS["outside"], rows=(24, 24))):
            expected = brute_force(exact_target, primitives, rays)
            for near_first in (False, True):
                options = GlyphOptions("splat", near_first=near_first)
                check(exact_target, cast(exact_target, options, primitives, rays), rays, expected)


MORE_OF_GLYPHS: tuple[dict[str, Any], ...] = (
    {},
    {"lists": "none", "spheres_in": "read_only"},
    {"box_loops": False, "intrinsics": "fast"},
)
OF_GLYPHS = [
    GlyphOptions(arrangement="splat"),
    GlyphOptions(arrangement="pixels_by_pixels", lists="front_to_back", depth_tiles=3, tiles=7),
    GlyphOptions(arrangement="spheres_by_pixels", depth_tiles=3, ray_setup="tile", tiles=7),
    *(
        pytest.param(GlyphOptions(arrangement=name, tiles=7, **more), marks=pytest.mark.full)
        for name in ARRANGEMENTS[1:]
        for more in MORE_OF_GLYPHS
    ),
]


@pytest.mark.parametrize("options", OF_GLYPHS, ids=lambda options: f"{options.arrangement}-{options.lists}")
def test_glyphs_are_hit_as_by_brute_force_too(exact_target: Target, options: GlyphOptions) -> None:
    if options.intrinsics == "fast" and exact_target.kind != "host":
        pytest.skip("spheres are tested by approximations there")
    for primitives in (glyphs(exact_target), glyphs(exact_target, sphere_count=0)):
        for camera in CAMERAS.values():
            rays = rays_of(exact_target, camera)
            expected = brute_force(exact_target, primitives, rays)
            check(exact_target, cast(exact_target, options, primitives, rays), rays, expected)


@pytest.mark.parametrize(
    "options",
    [
        GlyphOptions(arrangement="spheres_by_pixels", box_loops=False, tiles=5),
        GlyphOptions(arrangement="spheres_by_spheres", box_loops=False, local_buffer=False, tiles=5),
        GlyphOptions(arrangement="pixels_by_spheres", local_buffer=False, tiles=3, block_x=16, block_y=1),
        GlyphOptions(arrangement="spheres_by_box_pixels", tiles=1, block_x=32, block_y=32),
        GlyphOptions(arrangement="pixels_by_pixels", tiles=200),
        GlyphOptions(arrangement="pixels_by_pixels", depth_tiles=5, tiles=4),
        GlyphOptions(arrangement="spheres_by_pixels", lists="front_to_back", depth_tiles=64, ray_setup="tile", tiles=4),
        GlyphOptions(arrangement="spheres_by_pixels", lists="none", ray_setup="tile", box_loops=False, tiles=4),
        GlyphOptions(arrangement="spheres_by_pixels", sphere_layout="structs", ray_setup="tile", tiles=3),
        GlyphOptions(arrangement="pixels_by_spheres", depth_tiles=3, sphere_layout="structs", tiles=4),
        GlyphOptions(arrangement="spheres_by_spheres", lists="cpu", depth_tiles=8, local_buffer=False, tiles=4),
        GlyphOptions(arrangement="spheres_by_box_pixels", depth_tiles=8, spheres_in="read_only", tiles=4),
        GlyphOptions(arrangement="spheres_by_spheres", lists="cpu", sphere_layout="structs", ray_setup="tile"),
        GlyphOptions(arrangement="splat", sphere_layout="structs", spheres_in="read_only"),
        GlyphOptions(),
    ],
    ids=lambda options: "-".join(str(value) for value in vars(options).values()),
)
def test_so_they_are_with_every_other_option(exact_target: Target, options: GlyphOptions) -> None:
    primitives = spheres(exact_target, 300)
    for camera, clip, rows in (
        ("outside", (1.0, 0.0, 0.0, 0.1), (0, SIZE[1])),
        ("inside", None, (16, 24)),
    ):
        rays = rays_of(exact_target, CAMERAS[camera], clip, rows)
        expected = brute_force(exact_target, primitives, rays)
        check(exact_target, cast(exact_target, options, primitives, rays), rays, expected)
    if options.depth_tiles > 1:  # and where near spheres cover the picture, so that tiles end early
        primitives, rays = crowd(exact_target), rays_of(exact_target, Camera(eye=(0.0, 0.0, 4.0), fov=20.0))
        expected = brute_force(exact_target, primitives, rays)
        assert (expected[1] >= 0).sum() == SIZE[0] * SIZE[1]
        check(exact_target, cast(exact_target, options, primitives, rays), rays, expected)


GRIDS = (32, 48, 64, 80, 96, 128, 160, 192, 224, 256)
BLOCKS = [(x, y) for x in (16, 32) for y in (1, 2, 4, 8, 16, 32)]


@pytest.mark.parametrize("part", [0, pytest.param(1, marks=pytest.mark.full)])
def test_every_grid_and_block_of_the_thesis_gives_them_too(exact_target: Target, part: int) -> None:
    """Chapter 5: ten grids, and blocks from 16x1 to 32x32, in turn; a unit each, half of them by turns in width and
    height."""
    primitives, rays = spheres(exact_target, 200), rays_of(exact_target, CAMERAS["outside"])
    expected = brute_force(exact_target, primitives, rays)
    for turn, (x, y) in enumerate(BLOCKS):
        if (turn + turn // 6) % 2 != part:
            continue
        options = GlyphOptions(
            arrangement="spheres_by_pixels", lists="scatter", tiles=GRIDS[turn % 10], block_x=x, block_y=y
        )
        check(exact_target, cast(exact_target, options, primitives, rays), rays, expected)


def test_intrinsics_move_hits_by_their_last_digits(exact_target: Target) -> None:
    """By counted pixels on a GPU: at rims alone another sphere is hit. On the CPU they are exact."""
    options = GlyphOptions(arrangement="spheres_by_spheres", intrinsics="fast", tiles=5)
    primitives, rays = spheres(exact_target, 300), rays_of(exact_target, CAMERAS["outside"])
    expected = brute_force(exact_target, primitives, rays)
    found = arrays_of(exact_target, cast(exact_target, options, primitives, rays).cast(rays))
    if exact_target.kind == "host":
        np.testing.assert_array_equal(found[0], expected[0])
    same = found[1] == expected[1]
    assert same.mean() > 0.998
    hit = same & (expected[1] >= 0)
    np.testing.assert_allclose(found[0][hit], expected[0][hit], rtol=1e-3)


def test_spheres_lie_in_the_layer_in_which_they_begin(host_target: Target) -> None:
    """Layers are of equal depth from the nearest sphere that is seen to the farthest."""
    depths = np.array([3.0, 5.9, 6.1, 8.9, 9.1, 14.9, 15.0, -4.0], np.float32)
    centres = np.stack([np.zeros(8), np.zeros(8), -depths], 1).astype(np.float32)
    primitives = sphere_primitives(
        host_target.upload(centres, "test"), host_target.upload(np.full(8, 0.25, np.float32), "test")
    )
    rays = rays_of(host_target, Camera(eye=(0.0, 0.0, 0.0), look_at=(0.0, 0.0, -1.0), fov=40.0))
    cast(host_target, GlyphOptions(arrangement="spheres_by_pixels", depth_tiles=4, tiles=2), primitives, rays)
    layers = host_target.download(host_target.scratch("glyphs.layers", 8, np.uint8))
    assert layers[:7].tolist() == [0, 0, 1, 1, 2, 3, 3]


def test_lists_that_do_not_fit_cost_no_pixel_and_grow(exact_target: Target) -> None:
    centres = np.random.default_rng(6).uniform(-0.8, 0.8, (300, 3)).astype(np.float32)
    radii = np.full(300, 0.06, np.float32)
    primitives = sphere_primitives(exact_target.upload(centres, "test"), exact_target.upload(radii, "test"))
    rays = rays_of(exact_target, Camera(eye=(0.0, 0.0, 2.4)))
    expected = brute_force(exact_target, primitives, rays)
    for lists in LISTS[:2]:
        caster = TileCaster(exact_target, GlyphOptions(arrangement="spheres_by_pixels", lists=lists, tiles=60))
        caster.make_room(primitives)
        first, generation = caster.lists.capacity, caster.generation
        check(exact_target, caster, rays, expected)
        assert exact_target.download(caster.lists.is_full)[0] == 1
        caster.make_room(primitives)
        caster.make_room(primitives)
        assert caster.lists.capacity > first and caster.generation > generation
        check(exact_target, caster, rays, expected)
        assert exact_target.download(caster.lists.is_full)[0] == 0


@pytest.mark.parametrize(("arrangement", "lists"), [WAYS[0], *itertools.product(ARRANGEMENTS[1:3], LISTS[:2])])
def test_a_million_spheres_in_one_pixel(exact_target: Target, arrangement: str, lists: str) -> None:
    """Of equally near ones the first is seen, and no list keeps them from it."""
    count, camera = 1_000_000, Camera(eye=(0.0, 0.0, 3.0), fov=40.0)
    centres = np.random.default_rng(7).uniform(-0.1, 0.1, (count, 3)).astype(np.float32)
    centres[:, 2] = np.round(centres[:, 2], 2)
    radii = np.full(count, 0.01, np.float32)
    primitives = sphere_primitives(exact_target.upload(centres, "test"), exact_target.upload(radii, "test"))
    frame = np.zeros((), VIEW_FRAME)
    see_through(frame, camera, 5, 5, None)
    frame["jitter"] = 0.5
    rays = CameraRays(exact_target.upload(frame.reshape(1).view(np.uint8), "test"), 5, 5)
    expected = brute_force(exact_target, primitives, rays, 0.0)
    assert np.count_nonzero(expected[1] >= 0) == 1, "the pixel in the middle"
    options = GlyphOptions(arrangement=arrangement, lists=lists, tiles=2)
    check(exact_target, cast(exact_target, options, primitives, rays), rays, expected)


def test_a_picture_cut_as_printed_lacks_its_edges(exact_target: Target) -> None:
    options = GlyphOptions(arrangement="spheres_by_pixels", tile_rounding="printed", tiles=10)
    primitives, rays = spheres(exact_target, 100), rays_of(exact_target, CAMERAS["inside"])
    expected = brute_force(exact_target, primitives, rays)[1]
    found = arrays_of(exact_target, cast(exact_target, options, primitives, rays).cast(rays))[1]
    assert (expected >= 0).mean() > (found >= 0).mean() > 0.5
    np.testing.assert_array_equal(found[found >= 0], expected[found >= 0])


def test_no_spheres_give_no_hits(exact_target: Target) -> None:
    empty = sphere_primitives(exact_target.empty((0, 3), np.float32, "test"), exact_target.empty(0, np.float32, "test"))
    rays = rays_of(exact_target, Camera())
    t, prim_id, _, _ = arrays_of(exact_target, cast(exact_target, GlyphOptions(), empty, rays).cast(rays))
    assert (prim_id == -1).all() and (t == np.finfo(np.float32).max).all()


def test_what_it_cannot_do_is_said(host_target: Target) -> None:
    caster = TileCaster(host_target)
    with pytest.raises(HierarchyError, match="make_room"):
        caster.cast(rays_of(host_target, Camera()))
    positions, indices = np.zeros((3, 3), np.float32), np.zeros((1, 3), np.int32)
    with pytest.raises(HierarchyError, match="Choose columns"):
        TileCaster(host_target, GlyphOptions(sphere_layout="structs")).make_room(glyphs(host_target))
    with pytest.raises(HierarchyError, match="triangle primitives"):
        caster.make_room(triangle_primitives(host_target.upload(positions, "t"), host_target.upload(indices, "t")))
    caster.make_room(spheres(host_target))
    with pytest.raises(HierarchyError, match="any hits"):
        caster.cast(rays_of(host_target, Camera()), "any")
    with pytest.raises(HierarchyError, match="BufferRays"):
        caster.cast(upload_rays(host_target, np.zeros((1, 3)), np.ones((1, 3))))


def test_what_the_arrangements_kernel_takes_of_a_gpu_is_told(
    host_target: Target, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the kernel that was launched last, asked once for each; a host says nothing."""
    asked = []

    def kernel_use(target: Target, unit: Any, kernel: str, threads: int) -> KernelUse:
        assert kernel in unit.kernels
        asked.append((kernel, threads))
        return KernelUse(40, 512, threads, 9)

    some, rays = spheres(host_target), rays_of(host_target, CAMERAS["outside"])
    caster = TileCaster(host_target, GlyphOptions(arrangement="spheres_by_pixels", block_x=16, block_y=4))
    assert caster.use is None
    caster.make_room(some)
    caster.cast(rays)
    assert caster.use is None, "a host has no multiprocessors"
    monkeypatch.setattr(type(host_target), "kernel_use", kernel_use, raising=False)
    caster = TileCaster(host_target, GlyphOptions(arrangement="spheres_by_pixels", block_x=16, block_y=4))
    for options in (caster.drawn_by, GlyphOptions(arrangement="splat")):
        caster.draw_by(options)
        for _ in range(2):
            caster.make_room(some)
            caster.cast(rays)
            assert caster.use is not None and (caster.use.registers, caster.use.blocks) == (40, 9)
    assert asked == [("cast_tiles", 64), ("splat_spheres", 256)]
