"""Transparent layers against an oracle in float64 that sorts every root of every sphere along each ray."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from raygrove.gpu.camera import Camera
from raygrove.gpu.hierarchy.bvh.builders.task_pool import TaskPoolOptions
from raygrove.gpu.scene import Glyphs, Material, Object, Scene, Spheres
from raygrove.gpu.shade.film import sample_place
from raygrove.gpu.shade.layers import LayersOptions, hits_at_once
from raygrove.gpu.target.base import Target
from raygrove.testing import make_target

from .linear import draw_linear
from .pictures import square

SIZE = (40, 30)
CAMERA = Camera((0.3, 0.2, 5.0), (0.0, 0.0, 0.0), (0.0, 1.0, 0.0), 40.0)
GROUND = (0.25, 0.5, 0.75)
OPTIONS = LayersOptions(background_below=GROUND, background_above=GROUND)


def scene() -> Scene:
    """Spheres in one another and apart; those of one object cover all, of the other the half of that."""
    random = np.random.default_rng(8)
    groups = []
    for index, count in enumerate((30, 6)):
        centres = random.uniform(-1.0, 1.0, (count, 3)).astype(np.float32)
        radii = random.uniform(0.1, 0.6, count).astype(np.float32)
        groups.append(Spheres(f"{index}", centres, radii, random.random((count, 3)).astype(np.float32), index))
    materials = Material("solid"), Material("thin", base_color=(1.0, 1.0, 1.0, 0.5), alpha_mode="blend")
    return Scene(
        "layers", objects=(Object(0, spheres=0), Object(0, spheres=1)), spheres=tuple(groups), materials=materials
    )


def oracle(made: Scene, options: LayersOptions) -> tuple[np.ndarray, np.ndarray]:
    """The picture (H, W, 3), and which pixels have neither a grazing ray nor two roots in one place."""
    width, height = SIZE
    rows = CAMERA.frame(width, height).astype(np.float64).reshape(4, 4)
    x, y = sample_place(0, 0)
    s, t = (np.arange(width) + x) / width - 0.5, (np.arange(height) + y) / height - 0.5
    direction = rows[1, :3] + rows[2, :3] * s[None, :, None] + rows[3, :3] * t[:, None, None]
    direction /= np.linalg.norm(direction, axis=-1, keepdims=True)
    centres = np.concatenate([group.centres for group in made.spheres]).astype(np.float64) - rows[0, :3]
    radii = np.concatenate([group.radii for group in made.spheres]).astype(np.float64)
    colours = np.concatenate([group.colours for group in made.spheres if group.colours is not None])
    shares = np.repeat([made.materials[i].base_color[3] for i in (0, 1)], [len(g.radii) for g in made.spheres])
    nearest = direction @ centres.T
    inside = radii**2 - ((centres**2).sum(axis=1) - nearest**2)
    half = np.sqrt(np.maximum(inside, 0.0))
    roots = np.concatenate([nearest - half, nearest + half], axis=-1)
    roots[np.concatenate([inside, inside], axis=-1) <= 0.0] = np.inf
    order, through = np.argsort(roots, axis=-1), np.ones((height, width))
    picture, sorted_roots = np.zeros((height, width, 3)), np.sort(roots, axis=-1)
    for layer in range(min(options.layers, roots.shape[-1])):
        which, at = order[..., layer] % len(radii), sorted_roots[..., layer]
        point = direction * np.where(np.isfinite(at), at, 0.0)[..., None]
        facing = np.abs(((point - centres[which]) / radii[which][..., None] * direction).sum(axis=-1))
        covers = np.where(np.isfinite(at), options.opacity * shares[which], 0.0)
        light = options.ambient + (1.0 - options.ambient) * facing
        picture += colours[which] * (light * through * covers)[..., None]
        through *= 1.0 - covers
    picture += np.array(GROUND) * through[..., None]
    steps = np.diff(np.where(np.isfinite(sorted_roots), sorted_roots, 1e3), axis=-1)
    is_sure = (np.abs(inside).min(axis=-1) > 1e-3) & (np.where(steps > 0.0, steps, 1.0).min(axis=-1) > 1e-5)
    return picture, is_sure


@pytest.mark.parametrize(
    ("layers", "opacity", "hierarchy", "primary", "gathering"),
    [(64, 0.3, "lbvh", "structure", "k_buffer"), (3, 0.5, "brute_force", "structure", "one_by_one"),
     (3, 0.5, "brute_force", "structure", "k_buffer"), (1, 1.0, "lbvh", "structure", "one_by_one"),
     (9, 0.7, "lbvh", "tiles", "k_buffer"), (9, 0.7, "lbvh", "tiles", "one_by_one")],
)  # fmt: skip
def test_pictures_are_those_of_sorted_roots(
    target: Target, layers: int, opacity: float, hierarchy: str, primary: str, gathering: str
) -> None:
    options = dataclasses.replace(OPTIONS, layers=layers, opacity=opacity, gathering=gathering)
    made = scene()
    found, statistics = draw_linear(
        target, made, CAMERA, SIZE, options, 1, "layers", hierarchy=hierarchy, primary=primary
    )
    wanted, is_sure = oracle(made, options)
    assert is_sure.mean() > 0.9
    np.testing.assert_allclose(found[is_sure], wanted[is_sure], atol=2e-3)
    at_once = 0 if primary == "tiles" else 1 if gathering == "one_by_one" else hits_at_once(layers, False)
    assert (statistics.rays_by_kind.get("layers", 0) > 0) == (layers > at_once)


def everything() -> Scene:
    """Spheres, each of which is there twice, many around one another, glyphs with up to four hits a ray, and triangles
    that lie in one another; the eye is inside a sphere."""
    made, random = scene(), np.random.default_rng(3)
    twin, thin = made.spheres[0], made.spheres[1]
    around = Spheres("around", np.array([CAMERA.eye], np.float32), np.ones(1, np.float32), None, 1)
    onion = Spheres("onion", np.full((70, 3), 0.4, np.float32), np.linspace(0.2, 0.9, 70, dtype="f4"), None, 1)
    centres, turns = random.uniform(-1.0, 1.0, (8, 3)), random.normal(size=(8, 4))
    turns /= np.linalg.norm(turns, axis=1, keepdims=True)
    arrows = Glyphs("arrows", "arrow", centres.astype("f4"), np.full((8, 3), 0.3, np.float32), turns.astype("f4"))
    sheet = square(1.2, 0.1)
    return Scene(
        "everything", meshes=(sheet, sheet),
        objects=(Object(0, 0), Object(0, 1), *(Object(0, spheres=i) for i in range(5)), Object(0, glyphs=0)),
        spheres=(twin, twin, thin, around, onion), glyphs=(arrows,), materials=made.materials,
    )  # fmt: skip


@pytest.mark.parametrize(("hierarchy", "layers"), [("task_pool", 5), pytest.param("grid", 150, marks=pytest.mark.full)])
def test_a_buffer_finds_what_rays_find_one_by_one(hierarchy: str, layers: int) -> None:
    """To the last bit; one of the structures has leaves longer than their words say, in the other a primitive lies in
    several cells."""
    options, pictures = dataclasses.replace(OPTIONS, layers=layers, opacity=0.05), {}
    rays = {}
    shallow = TaskPoolOptions(max_depth=1) if hierarchy == "task_pool" else None
    with make_target("host", contraction=False) as target:
        for gathering in ("k_buffer", "one_by_one"):
            options = dataclasses.replace(options, gathering=gathering)
            pictures[gathering], statistics = draw_linear(
                target, everything(), CAMERA, SIZE, options, 1, "layers", hierarchy=hierarchy, hierarchy_options=shallow
            )
            rays[gathering] = statistics.rays_by_kind.get("layers", 0)
    assert np.array_equal(pictures["k_buffer"], pictures["one_by_one"])
    assert len(np.unique(pictures["k_buffer"].reshape(-1, 3), axis=0)) > 300
    assert 2 * rays["k_buffer"] < rays["one_by_one"]


@pytest.mark.parametrize("gathering", ["k_buffer", "one_by_one"])
def test_what_covers_all_is_all_that_is_seen(target: Target, gathering: str) -> None:
    """Rays end there: of 64 layers none but the first is traced where materials are solid and opacity is 1."""
    solid = dataclasses.replace(scene(), objects=(Object(0, spheres=0),))
    options = dataclasses.replace(OPTIONS, layers=64, opacity=1.0, gathering=gathering)
    found, statistics = draw_linear(target, solid, CAMERA, SIZE, options, 1, "layers")
    assert "layers" not in statistics.rays_by_kind
    one, _ = draw_linear(target, solid, CAMERA, SIZE, dataclasses.replace(options, layers=1), 1, "layers")
    assert np.array_equal(found, one)
