"""Ways to look at spheres: ambient occlusion where its value is known, and cut open by the clipping plane."""

from __future__ import annotations

import numpy as np
import pytest

from raygrove.gpu.camera import Camera
from raygrove.gpu.clip import ClipOptions
from raygrove.gpu.engine import Engine, View, ViewSettings
from raygrove.gpu.pixels import ArrayPixels
from raygrove.gpu.scene import Material, Moment, Object, Scene, Spheres
from raygrove.gpu.shade.ao import AoOptions
from raygrove.gpu.target.base import Target

from .linear import draw_linear

CAMERA = Camera((0.0, 0.0, 6.0), (0.0, 0.0, 0.0), (0.0, 1.0, 0.0), 30.0)
SIZE = (24, 24)


def scene_of(*spheres: tuple[float, float, float, float]) -> Scene:
    """Spheres of x, y, z and radius."""
    rows = np.array(spheres, np.float32)
    group = Spheres("some", rows[:, :3], rows[:, 3])
    return Scene("some", objects=(Object(0, spheres=0),), spheres=(group,), materials=(Material(),))


@pytest.mark.parametrize("strategy", ["megakernel", "wavefront"])
def test_occlusion_of_spheres_is_what_geometry_says(target: Target, strategy: str) -> None:
    """A lone sphere hides nothing of its own sky; one behind the eye, around it, all of the other's."""
    options = AoOptions(rays=16, radius=1e3, radius_unit="scene", falloff="none", albedo=1.0, strategy=strategy)
    lone, _ = draw_linear(target, scene_of((0, 0, 0, 1)), CAMERA, SIZE, options, 1, "ao")
    assert (lone[8:16, 8:16] == 1.0).all()
    inside, _ = draw_linear(target, scene_of((0, 0, 0, 1), (0, 0, 0, 50)), CAMERA, SIZE, options, 1, "ao")
    assert (inside == 0.0).all()
    near = AoOptions(rays=16, radius=10.0, radius_unit="scene", falloff="none", albedo=1.0, strategy=strategy)
    open_again, _ = draw_linear(target, scene_of((0, 0, 0, 1), (0, 0, 0, 50)), CAMERA, SIZE, near, 1, "ao")
    assert (open_again[8:16, 8:16] == 1.0).all(), "the sphere around it is beyond the radius"
    # A point of a sphere sees a sphere of radius r at the distance d above it: by the cosine it hides (r / d)^2.
    by_cosine = AoOptions(
        rays=4096, radius=1e3, radius_unit="scene", falloff="none", albedo=1.0, directions="cosine", strategy=strategy
    )
    above = scene_of((0, 0, 0, 1), (0, 0, 3, 1.0))  # behind it the eye at 6 sees the far one's near side
    between = Camera((0.0, 0.0, 1.9), (0.0, 0.0, 0.0), (0.0, 1.0, 0.0), 0.5)
    found, _ = draw_linear(target, above, between, (8, 8), by_cosine, 1, "ao")
    assert found.mean() == pytest.approx(1.0 - (1.0 / 2.0) ** 2, abs=0.01)


@pytest.mark.parametrize("hierarchy", ["lbvh", "brute_force"])
def test_a_cut_sphere_is_open(target: Target, hierarchy: str) -> None:
    """One sees its far wall from within, not a cap: at the centre the depth is that of the far pole."""
    made = scene_of((0, 0, 0, 1))
    picture = ArrayPixels(target, 25, 25)
    # The scene's box goes from -1 to 1: what lies beyond z = 0.5 is taken away.
    clip = ClipOptions(on=True, axis="z", position=0.75)
    view = View(ViewSettings(hierarchy, ray_type="flat", clip=clip), CAMERA, picture)
    with Engine(target, made) as engine:
        engine.render_frame(Moment(), [view])
        found = engine.buffers(view)
        hit = engine.pick(view, 12.5, 12.5)
    assert found["depth"][12, 12] == pytest.approx(7.0, abs=1e-4)
    assert found["normal"][12, 12] == pytest.approx([0.0, 0.0, 1.0], abs=1e-4), "towards the eye"
    assert hit is not None and hit.position[2] == pytest.approx(-1.0, abs=1e-4)
    # Rays that meet the sphere behind the plane meet its outside: those near the rim.
    rim = np.abs(found["depth"] - 6.0) < 0.45
    assert rim.any() and np.isfinite(found["depth"]).sum() > rim.sum()
