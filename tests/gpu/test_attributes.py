"""What names of attributes stand for, their ranges, and the values of one sphere over time."""

from __future__ import annotations

import dataclasses

import numpy as np

from raygrove.gpu import attributes
from raygrove.gpu.attributes import SphereOptions
from raygrove.gpu.camera import Camera
from raygrove.gpu.engine import Engine, View, ViewSettings
from raygrove.gpu.pixels import ArrayPixels
from raygrove.gpu.scene import Attribute, Material, Moment, Object, Scene, SphereKeys, Spheres
from raygrove.gpu.target.base import Target

TIMES = np.array([0.0, 2.0], np.float32)
CENTRES = np.array([[[-1, 0, 0], [1, 0, 0]], [[-1, 0, 0], [1, 2, 0]]], np.float32)
CHARGE = np.array([[1.0, np.nan], [3.0, 8.0]], np.float32)
FORCE = np.array([[[3, 4, 0], [0, 0, 1]], [[3, 4, 0], [0, 0, 3]]], np.float32)
MASS = Attribute("a.mass", np.array([2.0, 2.0], np.float32))


def scene_of(*more: Attribute) -> Scene:
    """Two spheres, one of which moves."""
    given = (Attribute("charge", CHARGE, "e"), Attribute("force", FORCE), MASS, *more)
    keys = SphereKeys(TIMES, CENTRES)
    two = Spheres("two", CENTRES[0], np.full(2, 0.5, np.float32), attributes=given, key_frames=keys)
    return Scene("two", objects=(Object(0, spheres=0),), spheres=(two,), materials=(Material(),))


def test_names_are_those_of_the_file_and_of_components() -> None:
    scene = scene_of(Attribute("tensor", np.zeros((2, 6), np.float32)))
    names = attributes.names_of(scene)
    assert names[:6] == ("charge", "force", "force.x", "force.y", "force.z", "a.mass")
    assert names[6:9] == ("tensor", "tensor.0", "tensor.1")
    assert names[-5:] == ("radius", "position", "position.x", "position.y", "position.z")
    group = scene.spheres[0]
    assert all(attributes.column(group, name) is not None for name in names)
    assert all(attributes.column(group, name) is None for name in ("", "x", "charge.y", "force.w", "force.", "a", ".x"))
    assert attributes.label_of(scene, "charge") == "charge (e)" and attributes.label_of(scene, "force") == "force"


def test_ranges_span_all_key_frames_and_leave_out_what_is_no_number() -> None:
    scene = scene_of(Attribute("none", np.full(2, np.nan, np.float32)))
    assert attributes.range_of(scene, "charge") == (1.0, 8.0)
    assert attributes.range_of(scene, "force") == (1.0, 5.0)
    assert attributes.range_of(scene, "force.z") == (0.0, 3.0)
    assert attributes.range_of(scene, "none") is None and attributes.range_of(scene, "unknown") is None
    low, high = attributes.range_of(scene, "a.mass") or (0.0, 0.0)
    assert low == 2.0 < high, "a range has an extent"
    options = SphereOptions(color_by="charge", automatic=False, minimum=4.0, maximum=4.0)
    assert attributes.color_range(options, scene)[1] > 4.0
    assert attributes.color_range(dataclasses.replace(options, automatic=True), scene) == (1.0, 8.0)
    assert attributes.color_range(SphereOptions(color_by="none"), scene) == (0.0, 1.0)


def test_a_sphere_has_values_at_an_instant_and_a_curve() -> None:
    group = scene_of().spheres[0]
    charge, force, mass = attributes.values_at(group, 0, 0.5)
    assert charge.values.tolist() == [1.5] and charge.unit == "e" and mass.values.tolist() == [2.0]
    assert force.values.tolist() == [[3.0, 4.0, 0.0]]
    assert np.isnan(attributes.values_at(group, 1, 0.9)[0].values[0]), "the nearer key frame has none"
    assert attributes.values_at(group, 1, 1.1)[0].values.tolist() == [8.0]
    assert attributes.values_at(group, 1, 99.0)[1].values.tolist() == [[0.0, 0.0, 3.0]]
    curve = attributes.curve_of(group, 1, "charge")
    assert curve is not None and curve[0].tolist() == [0.0, 2.0] and np.isnan(curve[1][0]) and curve[1][1] == 8.0
    for name, wanted in (("force", [5.0, 5.0]), ("a.mass", [2.0, 2.0])):
        curve = attributes.curve_of(group, 0, name)
        assert curve is not None and curve[1].tolist() == wanted
    assert attributes.curve_of(group, 0, "unknown") is None


def test_a_picture_shows_them_and_a_pick_tells_them(target: Target) -> None:
    """By the engine: captured frames of a scene that rests take up colours, and give them back."""
    scene = scene_of(Attribute("kind", np.array([0.0, np.nan], np.float32)))
    picture = ArrayPixels(target, 48, 24)
    camera = Camera((0, 0, 6), (0, 0, 0), (0, 1, 0), 45.0)
    view = View(ViewSettings(ray_type="smooth"), camera, picture)
    with Engine(target, scene) as engine:

        def drawn(options: SphereOptions) -> np.ndarray:
            engine.take_sphere_options(options)
            engine.render_frame(Moment(0.0), [view])
            engine.flush()
            return picture.download().astype(int)

        for _ in range(4):
            plain = drawn(SphereOptions())
        colored = drawn(SphereOptions(color_by="kind", colors="viridis", missing=(1.0, 0.0, 0.0)))
        left, right = colored[12, 18], colored[12, 29]
        assert right[0] > right[1] + 30 and right[0] > right[2] + 30, "no value: red"
        assert left[2] > left[1] + 20, "the first of viridis: violet"
        counts = engine.attribute_counts()
        assert counts is not None and counts.missing == 1 and counts.histogram.sum() == 1
        alone = drawn(SphereOptions(select_by="kind"))
        assert np.array_equal(alone[12, 18], plain[12, 18]) and not np.array_equal(alone[12, 29], plain[12, 29])
        hit = engine.pick(view, 18.5, 12.5)
        assert hit is not None and [one.name for one in hit.attributes] == ["charge", "force", "a.mass", "kind"]
        assert hit.attributes[0].values.tolist() == [1.0] and engine.pick(view, 29.5, 12.5) is None
        engine.render_frame(Moment(1.0), [view])
        engine.flush()
        hit = engine.pick(view, 18.5, 12.5)
        assert hit is not None and hit.attributes[0].values.tolist() == [2.0]
        for _ in range(3):
            again = drawn(SphereOptions())
        assert np.array_equal(again, plain)


def test_flat_shows_the_colours_of_an_attribute_alone(target: Target) -> None:
    """Own colours are none of its business."""
    scene = scene_of()
    red = dataclasses.replace(scene.spheres[0], colours=np.full((2, 3), [1.0, 0.0, 0.0], np.float32))
    scene = dataclasses.replace(scene, spheres=(red,))
    picture = ArrayPixels(target, 48, 24)
    view = View(ViewSettings(ray_type="flat"), Camera((0, 0, 6), (0, 0, 0), (0, 1, 0), 45.0), picture)
    with Engine(target, scene) as engine:
        found = []
        for name in ("", "charge", ""):
            engine.take_sphere_options(SphereOptions(color_by=name))
            engine.render_frame(Moment(0.0), [view])
            engine.flush()
            found.append(picture.download()[12, 18, :3].astype(int).tolist())
    assert found[0] == found[2] and len(set(found[0])) == 1, "grey"
    assert found[1][2] > found[1][1] + 20, "the first of viridis: violet"
