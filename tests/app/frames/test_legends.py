"""Which scale a picture has: the ray type's, or that of the attribute which colours spheres; and in what is written."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from raygrove.app.cli.main import main
from raygrove.app.document.state import State
from raygrove.app.frames.legends import explained, legend_of
from raygrove.app.settings.settings import Settings, set_option
from raygrove.gpu.scene import Attribute, Scene, SphereKeys, Spheres
from raygrove.gpu.stats import STEP_BUCKETS, StepCounts

NAMES = ("speed", "none")
ATTRIBUTES = (
    Attribute("speed", np.array([1.0, 3.0], np.float32), "m/s"),
    Attribute("none", np.full(2, np.nan, np.float32)),
)
SCENE = Scene("two", spheres=(Spheres("two", np.zeros((2, 3)), np.ones(2), attributes=ATTRIBUTES),))


def state_of(**options: object) -> State:
    settings = Settings()
    for key, value in options.items():
        settings = set_option(settings, key.replace("__", "."), value)
    return State(settings=settings)


def test_an_attribute_has_a_scale_where_colours_are_shown() -> None:
    assert legend_of(state_of(), SCENE) is None
    scale = legend_of(state_of(spheres__color_by="speed", spheres__colors="magma"), SCENE)
    assert (scale.label, scale.low, scale.high) == ("speed (m/s)", 1.0, 3.0)
    assert (scale.has_less, scale.has_more, scale.missing) == (False, False, None)
    narrow = {"spheres__automatic": False, "spheres__minimum": -1.0, "spheres__maximum": 7.0}
    scale = legend_of(state_of(spheres__color_by="speed", **narrow), SCENE)
    assert (scale.low, scale.high, scale.has_less, scale.has_more) == (-1.0, 7.0, False, False)
    within = {"spheres__automatic": False, "spheres__minimum": 2.0, "spheres__maximum": 2.5}
    scale = legend_of(state_of(spheres__color_by="speed", **within), SCENE)
    assert scale.has_less and scale.has_more
    for ray_type in ("flat", "path", "whitted", "diffuse"):
        assert legend_of(state_of(spheres__color_by="speed", render__ray_type=ray_type), SCENE) is not None
    for ray_type in ("ao", "normals", "ids"):
        assert legend_of(state_of(spheres__color_by="speed", render__ray_type=ray_type), SCENE) is None
    for name in ("none", "of another scene"):
        assert legend_of(state_of(spheres__color_by=name), SCENE) is None
    assert legend_of(state_of(spheres__color_by="speed"), None) is None
    by_opengl = {"display__spheres": "impostors", "render__ray_type": "ao"}
    assert legend_of(state_of(spheres__color_by="speed", **by_opengl), SCENE).high == 3.0, "flat shading"
    assert legend_of(state_of(**by_opengl), SCENE) is None


def test_what_has_no_value_is_in_the_legend_where_it_is_drawn() -> None:
    values = np.array([[1.0, np.nan], [2.0, 3.0]], np.float32)
    keys = SphereKeys(np.array([0.0, 1.0], np.float32), np.zeros((2, 2, 3), np.float32))
    absent = dataclasses.replace(keys, radii=np.array([[1.0, -1.0], [1.0, 1.0]], np.float32))
    for key_frames, expected in ((keys, (255, 0, 255)), (absent, None)):
        group = Spheres(
            "two", np.zeros((2, 3)), np.ones(2), attributes=(Attribute("speed", values),), key_frames=key_frames
        )
        scale = legend_of(state_of(spheres__color_by="speed"), Scene("two", spheres=(group,)))
        assert scale.missing == expected, "who is absent lacks no value"
        assert (scale.low, scale.high) == (1.0, 3.0)


def test_a_heat_map_has_its_own_with_the_range_of_the_picture() -> None:
    steps = state_of(render__ray_type="steps", spheres__color_by="speed")
    assert legend_of(steps, SCENE, (7.0, 9.0)).high == 96.0
    fitted = state_of(render__ray_type="steps", ray_type__steps__automatic=True)
    scale = legend_of(fitted, SCENE, (7.0, 9.0))
    assert (scale.low, scale.high) == (7.0, 9.0)
    counts = StepCounts(scale.label, np.zeros(STEP_BUCKETS, np.int64), 7, 9)
    pixels = np.zeros((480, 640, 4), np.uint8)
    assert explained(pixels, fitted, SCENE, counts).any()
    without = dataclasses.replace(fitted, settings=set_option(fitted.settings, "render.legend", False))
    assert explained(pixels, without, SCENE, counts) is pixels


def test_written_pictures_have_it(tmp_path: Path) -> None:
    flags = ("render", "--quiet", "--demo", "molecule", "--set", "demo.triangles=64", "--size", "500x160")
    flat = (*flags, "--samples", "1", "--ray-type", "flat", "--color-by", "mobility")
    assert main([*flat, "--out", str(tmp_path / "with.png")]) == 0
    assert main([*flat, "--set", "render.legend=false", "--out", str(tmp_path / "without.png")]) == 0
    found, plain = (np.asarray(Image.open(tmp_path / name)).astype(int) for name in ("with.png", "without.png"))
    changed = np.abs(found - plain).max(axis=2) > 0
    assert changed[90:, :300].mean() > 0.5 and not changed[:80].any() and not changed[:, 300:].any()


def test_spheres_without_a_value_are_counted_aloud(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    charge = np.array([1.0, np.nan, 3.0, np.nan], np.float32)
    positions = np.arange(12, dtype=np.float32).reshape(4, 3)
    np.savez(tmp_path / "ions.npz", positions=positions, radius=np.float32(0.5), charge=charge)
    flags = ("render", str(tmp_path / "ions.npz"), "--size", "16x16", "--ray-type", "flat", "--samples", "1")
    assert main([*flags, "--color-by", "charge"]) == 0
    assert "Frame 0: 2 spheres have no charge" in capsys.readouterr().err
    assert main([*flags, "--color-by", "radius"]) == 0
    assert "have no" not in capsys.readouterr().err
