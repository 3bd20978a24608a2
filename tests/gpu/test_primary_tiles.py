"""Pictures whose first hits are given by tiles are those of the structure, bit for bit, frame by frame."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from raygrove.gpu.camera import Camera
from raygrove.gpu.engine import Engine, View, ViewSettings
from raygrove.gpu.frame_log import FULL_LISTS
from raygrove.gpu.glyph_shapes import GlyphKeys, GlyphLinks, Glyphs
from raygrove.gpu.glyphs import tile_lists
from raygrove.gpu.glyphs.options import GlyphOptions
from raygrove.gpu.hierarchy.base import HierarchyError, Primitives
from raygrove.gpu.hierarchy.bvh.builders.lbvh import Lbvh
from raygrove.gpu.pixels import ArrayPixels
from raygrove.gpu.scene import Material, Mesh, Moment, Object, Scene, SphereKeys, Spheres
from raygrove.gpu.shade.distributed import DistributedOptions
from raygrove.gpu.shade.whitted import WhittedOptions
from raygrove.gpu.target.base import Target

SIZE = (45, 34)


def sphere_scene(count: int = 60) -> Scene:
    """Spheres that move between two key frames, and one that only the first has."""
    random = np.random.default_rng(2)
    centres = random.uniform(-1, 1, (2, count, 3)).astype(np.float32)
    radii = np.repeat(random.uniform(0.05, 0.3, (1, count)), 2, axis=0).astype(np.float32)
    radii[1, 7] = -1.0
    keys = SphereKeys(np.array([0.0, 1.0]), centres, radii)
    spheres = Spheres("spheres", centres[0], radii[0], random.random((count, 3)).astype(np.float32), key_frames=keys)
    lower, upper = (-1.3, -1.3, -1.3), (1.3, 1.3, 1.3)
    return Scene(
        "spheres",
        spheres=(spheres,),
        objects=(Object(0, spheres=0),),
        materials=(Material(),),
        lower=lower,
        upper=upper,
    )


def glyph_scene(sphere_count: int = 60) -> Scene:
    """The same with bonds between the spheres, and arrows that grow between two key frames."""
    random, scene = np.random.default_rng(3), sphere_scene(sphere_count)
    pairs = random.permutation(sphere_count)[:20].reshape(10, 2).astype(np.int32)
    sizes = np.full((10, 3), 0.04, np.float32)
    bonds = Glyphs("bonds", "capsule", np.zeros((10, 3), np.float32), sizes, links=GlyphLinks(0, pairs))
    centres = random.uniform(-1, 1, (2, 12, 3)).astype(np.float32)
    turns = random.normal(size=(12, 4))
    turns = (turns / np.linalg.norm(turns, axis=1, keepdims=True)).astype(np.float32)
    grown = random.uniform(0.05, 0.3, (2, 12, 3)).astype(np.float32)
    keys = GlyphKeys(np.array([0.0, 1.0]), centres, sizes=grown)
    arrows = Glyphs("arrows", "arrow", centres[0], grown[0], turns, key_frames=keys)
    return dataclasses.replace(
        scene, glyphs=(bonds, arrows), objects=(*scene.objects, Object(0, glyphs=0), Object(0, glyphs=1))
    )


TIMES = (0.0, 0.3, 0.8, 0.8, 0.8, 0.8, 0.8, 0.8)


def pictures(
    target: Target,
    scene: Scene,
    settings: ViewSettings,
    most_rows: int = 0,
    times: Sequence[float] = TIMES,
    tries_arrangements: bool = False,
) -> list[np.ndarray]:
    """What each of some frames leaves in the pixels: moving ones, then one moment over and over, replayed."""
    engine = Engine(target, scene)
    engine.tries_arrangements = tries_arrangements
    pixels = ArrayPixels(target, *SIZE)
    view = View(settings, Camera(eye=(0.4, 0.7, 3.2)), pixels, most_rows=most_rows)
    found = []
    for frame, time in enumerate(times):
        engine.render_frame(Moment(time, 0, frame), [view])
        with pixels.map() as image:
            found.append(target.download(image).copy())
    engine.close()
    return found


@pytest.mark.parametrize("ray_type", ["flat", "smooth", pytest.param("whitted", marks=pytest.mark.full)])
def test_so_they_are_with_bonds_and_arrows(exact_target: Target, ray_type: str) -> None:
    settings = ViewSettings(ray_type=ray_type)
    expected = pictures(exact_target, glyph_scene(), settings)
    found = pictures(exact_target, glyph_scene(), dataclasses.replace(settings, primary="tiles"))
    without = pictures(exact_target, sphere_scene(), settings)
    for frame, (one, other, bare) in enumerate(zip(expected, found, without, strict=True)):
        np.testing.assert_array_equal(one, other, err_msg=f"frame {frame}")
        assert (one != bare).any(axis=-1).mean() > 0.02, "glyphs are seen"


@pytest.mark.parametrize("ray_type", ["flat", "smooth", "ao", "normals", "path", "whitted"])
def test_pictures_are_those_of_the_structure(exact_target: Target, ray_type: str) -> None:
    scene = sphere_scene()
    settings = ViewSettings(ray_type=ray_type, samples=3)
    expected = pictures(exact_target, scene, settings)
    assert len({image.tobytes() for image in expected}) > 4
    tiles = dataclasses.replace(settings, primary="tiles", tiles=GlyphOptions(tiles=6))
    for found, image in zip(pictures(exact_target, scene, tiles), expected, strict=True):
        np.testing.assert_array_equal(found, image)


def test_the_structure_is_built_where_something_asks_for_it_alone(
    exact_target: Target, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Flat rays of moving spheres need none; picking, counting and rays that go on from hits do, and see the frame's
    own moment."""
    built: list[int] = []
    build = Lbvh.build

    def counted(of: Lbvh, primitives: Primitives) -> None:
        built.append(primitives.shape_version)
        build(of, primitives)

    monkeypatch.setattr(Lbvh, "build", counted)
    camera, middle = Camera(eye=(0.4, 0.7, 3.2)), (22.0, 17.0)
    shown: dict[str, list[object]] = {}
    for primary in ("structure", "tiles"):
        engine = Engine(exact_target, sphere_scene())
        view = View(ViewSettings(ray_type="flat", primary=primary), camera, ArrayPixels(exact_target, *SIZE))
        asked = shown[primary] = []
        for frame, time in enumerate((0.0, 0.2, 0.4, 0.4, 0.6)):
            built.clear()
            engine.render_frame(Moment(time, 0, frame), [view])
            if primary == "tiles":
                assert not built, "nothing asks"
            if frame in (0, 1, 3):
                asked += [engine.pick(view, *middle), engine.totals(view), len(engine.nodes(view).lower)]
                assert len(built) == 1 or primary == "structure"
        told = engine.flush().views[0]
        if primary == "tiles":
            assert (told.update, told.reason) == ("nothing", "tiles give all that the picture shows")
        view = dataclasses.replace(view, settings=dataclasses.replace(view.settings, ray_type="ao"))
        engine.render_frame(Moment(0.8, 0, 9), [view])
        with view.pixels.map() as image:
            asked.append(exact_target.download(image).tobytes())
        assert engine.flush().views[0].update != "nothing"
        engine.close()
    assert shown["tiles"] == shown["structure"]


def scene_of_glass_with_holes() -> Scene:
    """The same spheres of glass, and some in front of them that alpha cuts away."""
    scene = sphere_scene()
    holes = dataclasses.replace(scene.spheres[0], centres=scene.spheres[0].centres[::-1] * 0.9, material_id=1)
    return dataclasses.replace(
        scene,
        spheres=(scene.spheres[0], dataclasses.replace(holes, key_frames=None)),
        objects=(Object(0, spheres=0), Object(0, spheres=1)),
        materials=(
            Material(transmission=0.6, roughness=0.0),
            Material(base_color=(0.8, 0.8, 0.8, 0.2), alpha_mode="mask"),
        ),
    )


@pytest.mark.parametrize("strategy", ["megakernel", "wavefront"])
def test_whitted_starts_from_the_hits_it_is_given(exact_target: Target, strategy: str) -> None:
    """The first hits are the tiles', whatever goes on from there: where they lack some, the picture does."""
    scene = scene_of_glass_with_holes() if strategy == "megakernel" else sphere_scene()
    options = WhittedOptions(strategy=strategy, depth=1)
    settings, times = ViewSettings(ray_type="whitted", ray_type_options=options), (0.0, 0.5)
    expected = pictures(exact_target, scene, settings, times=times)
    tiles = dataclasses.replace(settings, primary="tiles", tiles=GlyphOptions(tiles=6))
    for found, image in zip(pictures(exact_target, scene, tiles, times=times), expected, strict=True):
        np.testing.assert_array_equal(found, image)
    cut = GlyphOptions(arrangement="spheres_by_pixels", tile_rounding="printed", tiles=6)
    printed = dataclasses.replace(tiles, tiles=cut)
    assert (pictures(exact_target, scene, printed, times=times)[0] != expected[0]).any()


def test_rays_through_a_lens_are_the_structures(exact_target: Target) -> None:
    scene, times = sphere_scene(), (0.0, 0.5)
    settings = ViewSettings(ray_type="distributed", ray_type_options=DistributedOptions(aperture=0.2))
    tiles = dataclasses.replace(settings, primary="tiles")
    expected = pictures(exact_target, scene, settings, times=times)
    for found, image in zip(pictures(exact_target, scene, tiles, times=times), expected, strict=True):
        np.testing.assert_array_equal(found, image)


def test_lists_of_the_cpu_are_those_of_each_frame(exact_target: Target) -> None:
    """Frames that wait for lists are not replayed: each has its own."""
    scene, settings = sphere_scene(), ViewSettings(ray_type="flat")
    expected = pictures(exact_target, scene, settings)
    tiles = GlyphOptions(arrangement="spheres_by_box_pixels", lists="cpu", tiles=6)
    found = pictures(exact_target, scene, dataclasses.replace(settings, primary="tiles", tiles=tiles))
    for image, one in zip(found, expected, strict=True):
        np.testing.assert_array_equal(image, one)


def test_trying_one_arrangement_after_the_other_shows_in_no_picture(exact_target: Target) -> None:
    scene, settings, times = sphere_scene(), ViewSettings(ray_type="flat"), tuple(np.linspace(0.0, 1.0, 19))
    expected = pictures(exact_target, scene, settings, times=times)
    tiles = dataclasses.replace(settings, primary="tiles")
    found = pictures(exact_target, scene, tiles, times=times, tries_arrangements=True)
    for image, one in zip(found, expected, strict=True):
        np.testing.assert_array_equal(image, one)


@pytest.mark.parametrize(("may_try", "reason"), [(False, "the rule for"), (True, "trying 1 of")])
def test_statistics_say_which_arrangement_and_why(host_target: Target, may_try: bool, reason: str) -> None:
    engine = Engine(host_target, sphere_scene())
    engine.tries_arrangements = may_try
    view = View(ViewSettings(ray_type="flat", primary="tiles"), Camera(), ArrayPixels(host_target, *SIZE))
    engine.render_frame(Moment(0.0, 0, 0), [view])
    said = engine.flush().views[0].primary
    assert said.startswith("spheres_by_pixels, lists scatter in 8 layers, 2 tiles a side (auto: ") and reason in said
    engine.close()


def test_statistics_say_that_lists_were_full(host_target: Target, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tile_lists, "FIRST_TILES_EACH", 1)
    engine = Engine(host_target, sphere_scene())
    tiles = GlyphOptions(arrangement="spheres_by_pixels", lists="scatter", tiles=17)
    settings = ViewSettings(ray_type="flat", primary="tiles", tiles=tiles)
    view = View(settings, Camera(eye=(0.4, 0.7, 3.2)), ArrayPixels(host_target, *SIZE))
    said = []
    for frame in range(3):
        engine.render_frame(Moment(0.0, 0, frame), [view])
        said.append(engine.flush().views[0].primary)
    engine.close()
    assert said[0].endswith(FULL_LISTS) and not said[2].endswith(FULL_LISTS)
    assert said[0].startswith(said[2]), "and nothing else is another"


def test_so_they_are_in_strips(exact_target: Target) -> None:
    scene, settings = sphere_scene(), ViewSettings(ray_type="flat", primary="tiles")
    whole = pictures(exact_target, scene, dataclasses.replace(settings, primary="structure"))[-1]
    np.testing.assert_array_equal(pictures(exact_target, scene, settings, most_rows=16)[-1], whole)


MESH = Mesh("one", np.eye(3, dtype=np.float32), np.array([[0, 1, 2]], np.int32), np.zeros(1, np.int32))


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"meshes": (MESH,), "objects": (Object(0, 0), Object(0, spheres=0))}, "1 triangles"),
        ({"spheres": (), "objects": ()}, "none"),
    ],
)
def test_tiles_refuse_scenes_with_triangles_or_nothing(host_target: Target, fields: dict[str, Any], named: str) -> None:
    engine = Engine(host_target, dataclasses.replace(sphere_scene(), **fields))
    view = View(ViewSettings(primary="tiles"), Camera(), ArrayPixels(host_target, *SIZE))
    with pytest.raises(HierarchyError, match=f"this one has {named}"):
        engine.render_frame(Moment(0.0, 0, 0), [view])
    engine.close()
