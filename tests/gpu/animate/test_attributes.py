"""Spheres coloured, sized and selected by attributes: against a float64 oracle of its own, over time, with missing
values, on several objects; and what stays when nothing is chosen any more."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from raygrove.gpu.animate.animate import Animator
from raygrove.gpu.animate.attributes import BINS, COLORS
from raygrove.gpu.attributes import SphereOptions
from raygrove.gpu.scene import ABSENT, Attribute, Material, Moment, Node, Object, Scene, SphereKeys, Spheres
from raygrove.gpu.target.base import Target

MAP = np.linspace([0.0, 0.5, 1.0], [1.0, 0.25, 0.0], COLORS).astype(np.float32)
TIMES = np.array([0.0, 1.0, 3.0], np.float32)
INSTANTS = (0.0, 0.25, 0.9, 1.0, 2.5, 9.0)


def groups(count: int = 1300) -> tuple[Spheres, Spheres]:
    """Moving spheres with colours, a vector and a number that lacks some values; still ones with a number alone."""
    random = np.random.default_rng(15)
    centres = random.uniform(-1, 1, (3, count, 3)).astype(np.float32)
    radii = random.uniform(0.1, 0.2, count).astype(np.float32)
    radii[5] = ABSENT
    charge = random.uniform(-2, 2, (3, count)).astype(np.float32)
    charge[1, :40], charge[:, 40:60], charge[2, 60] = np.nan, np.nan, np.inf
    velocity = random.uniform(-1, 1, (3, count, 3)).astype(np.float32)
    attributes = (Attribute("charge", charge, "e"), Attribute("velocity", velocity, "m/s"))
    keys = SphereKeys(TIMES, centres)
    colours = random.random((count, 3)).astype(np.float32)
    moving = Spheres("moving", centres[0], radii, colours, attributes=attributes, key_frames=keys)
    still = Spheres("still", centres[0, :50], radii[6:56], attributes=(Attribute("charge", charge[0, 60:110]),))
    return moving, still


def scene_of(*spheres: Spheres) -> Scene:
    """An object of each, and one more of the first, at a node that scales."""
    objects = (*(Object(0, spheres=i) for i in range(len(spheres))), Object(1, spheres=0))
    nodes = (Node(), Node(scale=(2.0,) * 3, translation=(9.0, 0.0, 0.0)))
    return Scene("attributes", nodes=nodes, objects=objects, spheres=spheres, materials=(Material(),))


def value_of(spheres: Spheres, name: str, time: float) -> np.ndarray | None:
    """Sphere by sphere, in float64; NaN for none."""
    stem, _, part = name.partition(".")
    found = [one for one in spheres.attributes if one.name == stem]
    if not found:
        return None
    values = found[0].values.astype(np.float64)
    if spheres.key_frames is not None:
        after = int(np.clip(np.searchsorted(TIMES, time, side="right"), 1, 2))
        alpha = min(max((time - TIMES[after - 1]) / (TIMES[after] - TIMES[after - 1]), 0.0), 1.0)
        a, b = values[after - 1], values[after]
        is_known = np.isfinite(a) & np.isfinite(b)
        values = np.where(is_known, (1 - alpha) * np.nan_to_num(a) + alpha * np.nan_to_num(b), a if alpha < 0.5 else b)
    if values.ndim == 2:
        values = values[:, "xyz".index(part)] if part else np.sqrt((values**2).sum(axis=1))
    return np.where(np.isfinite(values), values, np.nan)


def of(target: Target, animator: Animator, time: float) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Centres, radii and colours at a time."""
    spheres = animator.at(Moment(time)).spheres
    assert spheres is not None
    colours = None if spheres.colours is None else target.download(spheres.colours).copy()
    return target.download(spheres.centres).copy(), target.download(spheres.radii).copy(), colours


def expected_colours(value: np.ndarray, low: float, high: float, missing: tuple[float, float, float]) -> np.ndarray:
    """By the nearest of the map's colours."""
    with np.errstate(invalid="ignore"):
        place = np.clip((value - low) / (high - low), 0.0, 1.0) * (COLORS - 1)
    exact = np.where(np.isfinite(place), place, 0.0)
    lower, upper = MAP[np.floor(exact).astype(int)], MAP[np.ceil(exact).astype(int)]
    mixed = lower + (upper - lower) * (exact % 1.0)[:, None]
    return np.where(np.isfinite(place)[:, None], mixed, missing)


@pytest.mark.parametrize("name", ["charge", "velocity", "velocity.y"])
def test_colours_follow_an_attribute_over_time(target: Target, name: str) -> None:
    moving, still = groups()
    animator = Animator(target, scene_of(moving, still))
    options = SphereOptions(color_by=name, automatic=False, minimum=-1.5, maximum=1.0, missing=(1.0, 0.0, 1.0))
    assert animator.take_sphere_options(options, MAP), "captured launches know nothing of it"
    half = 0.51 * float(np.abs(np.diff(MAP, axis=0)).max()) + 2e-5
    for time in INSTANTS:
        _, _, colours = of(target, animator, time)
        assert colours is not None
        for group, first in ((moving, 0), (still, 1300), (moving, 1350)):
            value, found = value_of(group, name, time), colours[first : first + len(group.centres)]
            if value is None:
                assert (found == -1.0).all(), "the material's, as before"
                continue
            there = group.radii > 0
            wanted = expected_colours(value, -1.5, 1.0, options.missing)
            np.testing.assert_allclose(found[there], wanted[there], atol=half)
            assert (found[there & np.isnan(value)] == options.missing).all()
    assert not animator.take_sphere_options(dataclasses.replace(options, maximum=2.0), MAP), "a range is written"
    version = animator.surface.version
    assert not animator.take_sphere_options(dataclasses.replace(options, maximum=2.0), MAP)
    assert animator.surface.version == version, "and the same again changes nothing"


def test_sizes_follow_an_attribute_and_keep_what_has_no_value(target: Target) -> None:
    moving, still = groups()
    scene = scene_of(moving, still)
    plain, animator = Animator(target, scene), Animator(target, scene)
    animator.take_sphere_options(SphereOptions(size_by="charge", smallest=0.5, largest=3.0), MAP)
    low, high = -2.0, 2.0
    finite = moving.attributes[0].values[np.isfinite(moving.attributes[0].values)]
    low, high = float(finite.min()), float(finite.max())
    for time in INSTANTS:
        _, radii, _ = of(target, animator, time)
        _, own, _ = of(target, plain, time)
        for group, part in ((moving, slice(0, 1300)), (still, slice(1300, 1350)), (moving, slice(1350, 2650))):
            value = value_of(group, "charge", time)
            assert value is not None
            share = np.clip((np.nan_to_num(value) - low) / (high - low), 0.0, 1.0)
            factor = np.where(np.isnan(value), 1.0, 0.5 + 2.5 * share)
            wanted = np.where(own[part] > 0, own[part] * factor, ABSENT)
            np.testing.assert_allclose(radii[part], wanted, rtol=2e-5)


@pytest.mark.parametrize("others", ["hidden", "dimmed"])
def test_a_range_selects_and_is_counted(target: Target, others: str) -> None:
    moving, still = groups()
    scene = scene_of(moving, still)
    plain, animator = Animator(target, scene), Animator(target, scene)
    options = SphereOptions(select_by="velocity", select_from=0.5, select_to=0.9, others=others)
    animator.take_sphere_options(options, MAP)
    assert animator.attributes is not None
    for time in INSTANTS:
        centres, radii, colours = of(target, animator, time)
        own_centres, own, own_colours = of(target, plain, time)
        assert colours is not None and own_colours is not None
        value = value_of(moving, "velocity", time)
        assert value is not None
        near = np.abs(value[:, None] - [0.5, 0.9]).min(axis=1) < 1e-6
        left_out = np.concatenate([~((value >= 0.5) & (value <= 0.9)), np.zeros(50, bool)] * 2)[:2650] & (own > 0)
        kept = ~left_out
        sure = ~np.concatenate([near, np.zeros(50, bool), near])
        if others == "hidden":
            assert (radii[left_out & sure] == ABSENT).all() and np.isnan(centres[left_out & sure]).all()
        else:
            assert (colours[left_out & sure] < 0.13).all() and (colours[left_out & sure] > 0.0).all()
            assert np.array_equal(radii, own)
        assert np.array_equal(radii[kept & sure], own[kept & sure])
        assert np.array_equal(centres[kept & sure], own_centres[kept & sure], equal_nan=True)
        assert np.array_equal(colours[kept & sure], own_colours[kept & sure])
        counts = animator.attributes.counts()
        assert counts is not None and counts.name == "velocity" and counts.missing == 0
        assert abs(counts.not_selected - int(left_out.sum())) <= 2 * int(near.sum())
        inside = np.clip(np.tile(value[moving.radii > 0], 2), counts.low, counts.high)
        wanted = np.histogram(inside, BINS, (counts.low, counts.high))[0]
        assert counts.histogram.sum() == wanted.sum() == 2 * 1299
        assert np.abs(np.cumsum(counts.histogram) - np.cumsum(wanted)).max() <= 4, "but for the bins' edges"


def test_missing_values_are_counted_where_spheres_are(target: Target) -> None:
    moving, still = groups()
    animator = Animator(target, scene_of(moving, still))
    animator.take_sphere_options(SphereOptions(color_by="charge"), MAP)
    assert animator.attributes is not None
    for time in (0.0, 0.75, 2.9):
        animator.at(Moment(time))
        counts, values = (
            animator.attributes.counts(),
            (value_of(moving, "charge", time), value_of(still, "charge", 0.0)),
        )
        assert counts is not None and values[0] is not None and values[1] is not None
        wanted = 2 * np.isnan(values[0][moving.radii > 0]).sum() + np.isnan(values[1]).sum()
        assert counts.missing == wanted > 0 and counts.not_selected == 0
    animator.hide_others({2})
    counts = animator.attributes.counts()
    assert counts is not None and counts.histogram.sum() + counts.missing == 1299 + 50, "hidden ones are not there"


def test_nothing_chosen_is_as_it_was(target: Target) -> None:
    moving, still = groups()
    scene = scene_of(moving, still)
    plain, animator = Animator(target, scene), Animator(target, scene)
    assert animator.attributes is not None and not animator.attributes.is_active
    animator.take_sphere_options(SphereOptions(color_by="charge", size_by="charge", select_by="velocity.x"), MAP)
    of(target, animator, 0.5)
    assert animator.attributes.is_active
    animator.take_sphere_options(SphereOptions(color_by="of another file"), MAP)
    assert not animator.attributes.is_active and animator.attributes.counts() is None
    for found, wanted in zip(of(target, animator, 0.5), of(target, plain, 0.5), strict=True):
        assert found is not None and wanted is not None and found.tobytes() == wanted.tobytes()
    own = Animator(target, scene_of(dataclasses.replace(moving, colours=None)))
    own.take_sphere_options(SphereOptions(color_by="radius"), MAP)
    assert of(target, own, 0.5)[2] is not None, "an array for colours of none"
    own.take_sphere_options(SphereOptions(), MAP)
    colours = of(target, own, 0.5)[2]
    assert colours is not None and (colours == -1.0).all()
