"""Spheres by OpenGL against rays in float64: the same picture, but for pixels at rims, which are counted."""

from __future__ import annotations

import numpy as np
import pytest

from raygrove.gpu.display.sphere_look import WAYS, SphereLook
from raygrove.gpu.shade.srgb import encode
from tests.app.ui.picture.sphere_scene import SIZE, looks, some_colours, some_spheres
from tests.app.ui.picture.test_viewport_gl import Stage, stage

pytestmark = pytest.mark.gl
__all__ = ["stage"]
RIM_PIXELS = 0.003
"""Share of pixels whose rays pass so near a rim that float and double may differ."""


def expected(look: SphereLook, spheres: np.ndarray, colours: np.ndarray | None = None) -> np.ndarray:
    """(height, width, 3) uint8 by float64: the nearer root within the ray, else the farther; flat shading."""
    width, height = SIZE
    camera = dict(zip(("eye", "ahead", "across", "down"), look.camera.astype(np.float64).reshape(4, 4), strict=True))
    x, y = np.meshgrid((np.arange(width) + 0.5) / width - 0.5, (np.arange(height) + 0.5) / height - 0.5)
    moved = x[..., None] * camera["across"][:3] + y[..., None] * camera["down"][:3]
    origin, direction = np.broadcast_to(camera["eye"][:3], moved.shape), camera["ahead"][:3] + moved
    least, most = (np.full((height, width), camera[row][3]) for row in ("ahead", "across"))
    if camera["eye"][3]:
        origin, direction = origin + moved, np.broadcast_to(camera["ahead"][:3], moved.shape)
    else:
        stretch = np.linalg.norm(direction, axis=-1)
        direction, least, most = direction / stretch[..., None], least * stretch, most * stretch
    if look.clip is not None:
        leaving, inside = direction @ look.clip[:3], look.clip[3] - origin @ look.clip[:3]
        most = np.where(leaving >= 0, np.minimum(most, inside / leaving), most)
        least = np.where(leaving < 0, np.maximum(least, inside / leaving), least)
    rays, origins, near, far = (a.reshape(height * width, -1) for a in (direction, origin, least, most))
    nearest, light = np.full(height * width, np.inf), np.zeros(height * width)
    own = np.array(np.broadcast_to(look.color, (height * width, 3)), np.float64)
    for index, (*centre, radius) in enumerate(spheres.astype(np.float64)):
        if not radius > 0.0 or not np.isfinite(centre).all():
            continue
        along = ((centre - origins) * rays).sum(-1)
        beside = centre - origins - along[:, None] * rays
        inside = radius**2 - (beside**2).sum(-1)
        met = np.flatnonzero(inside >= 0)  # few rays of all
        along, reach, ray, least, most = along[met], np.sqrt(inside[met]), rays[met], near[met, 0], far[met, 0]
        first = along - reach
        t = np.where((first > least) & (first <= most), first, along + reach)
        found = (t > least) & (t <= most) & (t < nearest[met])
        met, t, ray = met[found], t[found], ray[found]
        normal = (origins[met] + t[:, None] * ray - centre) / radius
        light[met] = look.ambient + (1 - look.ambient) * abs((normal * ray).sum(-1))
        nearest[met] = t
        own[met] = look.color if colours is None or colours[index, 0] < 0.0 else colours[index]
    is_met, shaded = np.isfinite(nearest).reshape(height, width, 1), (light[:, None] * own).reshape(height, width, 3)
    high = 0.5 + 0.5 * direction[..., 1:2]
    behind = np.array(look.below) * (1 - high) + np.array(look.above) * high
    linear = np.where(is_met, shaded, behind) * look.exposure
    if look.tone == "reinhard":
        linear = linear / (1.0 + (linear @ [0.2126, 0.7152, 0.0722])[..., None])
    if look.tone == "filmic":
        linear = linear * (linear * 2.51 + 0.03) / (linear * (linear * 2.43 + 0.59) + 0.14)
    return np.round(255.0 * encode(linear)).astype(np.uint8)


def test_both_ways_draw_what_rays_in_float64_see(stage: Stage) -> None:
    answers = stage("spheres")
    for name, look in looks().items():
        picture = expected(look, some_spheres())
        assert len(np.unique(picture.reshape(-1, 3), axis=0)) > 10, "a picture that would hide little"
        for way in (*WAYS, "small_points"):
            difference = abs(answers[f"{name}_{way}"][..., :3].astype(int) - picture).max(axis=-1)
            assert (difference > 1).mean() <= RIM_PIXELS, (name, way, int((difference > 1).sum()))
            assert float(answers[f"{name}_{way}_ms"]) > 0.0
    picture = expected(looks()["perspective"], some_spheres(), some_colours())
    for way in WAYS:
        difference = abs(answers[f"coloured_{way}"][..., :3].astype(int) - picture).max(axis=-1)
        assert (difference > 1).mean() <= RIM_PIXELS, (way, int((difference > 1).sum()))
    for name in looks():
        assert int(answers[f"{name}_full_screen_strips"]) > 1 == int(answers[f"{name}_impostors_strips"])


def test_the_window_draws_what_rays_draw_and_times_it(stage: Stage) -> None:
    answers = stage("sphere_window")
    rays = answers["rays"].astype(int)
    assert len(np.unique(rays.reshape(-1, 3), axis=0)) > 100
    for way, words in (("impostors", "impostors"), ("full_screen", "fragment shader")):
        difference = abs(answers[way].astype(int) - rays).max(axis=-1)
        assert (difference > 1).mean() <= RIM_PIXELS, (way, int((difference > 1).sum()))
        assert float(answers[f"{way}_ms"]) > 0.0
        assert str(answers[f"{way}_way"]) == f"OpenGL, {words}"
        rows = {line[:24].strip(): line.split() for line in str(answers[f"{way}_rows"]).splitlines()}
        shown = next(words for name, words in rows.items() if name.startswith("Drawn by OpenGL"))
        assert float(shown[-2].replace(",", "")) == pytest.approx(float(answers[f"{way}_ms"]), rel=0.01)
        assert [str(rays.shape[1]), "x", str(rays.shape[0])] == next(
            words for name, words in rows.items() if name.startswith("Drawn size")
        )[2:5]
    assert int(answers["drawn_while_more_came"]) >= 2, "what takes long is drawn to its end"
    assert "did not compile" in str(answers["refused"]) and int(answers["after_it"]) == 0
    assert str(answers["rays_way"]) == "OpenGL, copied"
    assert "painted by Qt" in str(answers["said"][0]) and "display.view" in str(answers["said"][0])
