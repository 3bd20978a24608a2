"""Scattering at surfaces: reciprocal, no energy gained, densities that are those of the samples; the same in packs and
lane by lane."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest

from raygrove.gpu.shade.gloss import gloss_table
from raygrove.gpu.target.base import Target, UnitSource
from tests.gpu.near import are_near

WHITE = (1.0, 1.0, 1.0)
COUNT = 1 << 15
MATERIALS: dict[str, tuple[Any, ...]] = {  # base colour, metallic, roughness, transmission, index beyond over before
    "matte": (WHITE, 0.0, 1.0, 0.0, 1.0),
    "plastic": (WHITE, 0.0, 0.3, 0.0, 1.5),
    "rough": (WHITE, 0.0, 1.0, 0.0, 1.5),
    "lacquer": (WHITE, 0.0, 0.0, 0.0, 1.5),
    "gold": ((1.0, 0.7, 0.3), 1.0, 0.5, 0.0, 1.5),
    "half metal": (WHITE, 0.5, 0.7, 0.0, 1.8),
    "frosted": (WHITE, 0.0, 0.6, 1.0, 1.5),
    "frosted from within": (WHITE, 0.0, 0.6, 1.0, 1 / 1.5),
    "half frosted": (WHITE, 0.2, 0.5, 0.6, 1.4),
    "glass": (WHITE, 0.0, 0.0, 1.0, 1.5),
    "glass from within": (WHITE, 0.0, 0.0, 1.0, 1 / 1.5),
    "diamond": (WHITE, 0.0, 0.4, 0.9, 2.4),
    "nothing": (WHITE, 0.0, 0.5, 1.0, 1.0),
}
ROUGH = [name for name, m in MATERIALS.items() if m[2] > 0.45 and name != "nothing"]
COSINES = (1.0, 0.7, 0.3, 0.05)


def packed(material: str | tuple[Any, ...], index: float | None = None) -> np.ndarray:
    base, *rest = MATERIALS[material] if isinstance(material, str) else material
    return np.array([*base, *rest[:3], rest[3] if index is None else index], np.float32)


def towards(cosine: float) -> np.ndarray:
    return np.array([np.sqrt(1 - cosine**2), 0.0, cosine], np.float32)


def run(
    target: Target,
    kernel: str,
    name: str | tuple[Any, ...],
    out: np.ndarray,
    rows: np.ndarray,
    width: int = 0,
    index: float | None = None,
) -> np.ndarray:
    """The kernel's rows for one direction `out` (3,) or as many as there are items (3, n); `index` in place of the
    material's."""
    unit = target.unit(UnitSource("tests/gpu/shade/bsdf.cu", rays_per_thread=width))
    n, lanes = rows.shape[1], width or target.lane_count
    outs = np.ascontiguousarray(np.broadcast_to(out.reshape(3, -1), (3, n)), np.float32)
    results = target.zeros((9 if kernel == "sample" else 4, n), np.float32, "test")
    arrays = {
        "gloss": target.upload(gloss_table(), "test"),
        "parameters": target.upload(packed(name, index), "test"),
        "out": target.upload(outs, "test"),
        "numbers" if kernel == "sample" else "incoming": target.upload(np.ascontiguousarray(rows, np.float32), "test"),
    }
    target.launch(unit, kernel, n // lanes, **arrays, n=n, results=results)
    return target.download(results).astype(np.float64)


@functools.cache
def sphere(count: int = COUNT) -> np.ndarray:
    """Directions evenly over the sphere (3, count): Fibonacci's spiral."""
    index = np.arange(count) + 0.5
    z, angle = 1.0 - 2.0 * index / count, np.pi * (1.0 + 5.0**0.5) * index
    side = np.sqrt(1.0 - z * z)
    return np.stack([side * np.cos(angle), side * np.sin(angle), z])


@functools.cache
def numbers() -> np.ndarray:
    """Points of an evenly spread sequence (3, COUNT) (Roberts 2018)."""
    g = 1.2207440846057596
    return (0.5 + np.arange(COUNT)[None, :] * np.array([[1 / g], [1 / g**2], [1 / g**3]])) % 1.0


@pytest.mark.parametrize("name", MATERIALS)
def test_no_energy_is_gained(target: Target, name: str) -> None:
    for cosine in COSINES:
        drawn = run(target, "sample", name, towards(cosine), numbers())
        # Power, not radiance: transmitted radiance is larger or smaller by the square of the index.
        power = drawn[3:6] * np.where(drawn[8] > 0.5, MATERIALS[name][4] ** 2, 1.0)
        albedo = power.mean(axis=1)
        assert np.all(np.isfinite(drawn)) and np.all(albedo <= 1.004) and np.all(albedo > 0.2), (cosine, albedo)
        if name in ("matte", "glass", "glass from within", "nothing"):
            assert albedo == pytest.approx(1.0, abs=0.003), cosine


@pytest.mark.parametrize("name", ["plastic", "rough", "lacquer"])
def test_a_white_base_under_gloss_is_white(target: Target, name: str) -> None:
    for cosine in COSINES:
        albedo = run(target, "sample", name, towards(cosine), numbers())[3:6].mean(axis=1)
        assert albedo == pytest.approx(1.0, abs=0.008), (cosine, albedo)


def gltf_mix(out: np.ndarray, into: np.ndarray, base: float, roughness: float) -> np.ndarray:
    """The dielectric of the glTF 2.0 specification (B.2.2 and B.3), times the cosine of `into` (3, N): fresnel_mix of
    Lambert's base and GGX."""
    half = out[:, None] + into
    half = half / np.linalg.norm(half, axis=0)
    alpha2 = roughness**4
    distribution = alpha2 / np.pi / ((alpha2 - 1.0) * half[2] ** 2 + 1.0) ** 2
    seen = (
        into[2] * np.sqrt(alpha2 + (1 - alpha2) * out[2] ** 2) + out[2] * np.sqrt(alpha2 + (1 - alpha2) * into[2] ** 2)
    ) * 2.0
    fresnel = 0.04 + 0.96 * (1.0 - np.abs(out @ half)) ** 5
    return (base / np.pi * (1.0 - fresnel) + fresnel * distribution / seen) * into[2]


@pytest.mark.parametrize("roughness", [0.3, 0.6, 1.0])
def test_base_colours_are_those_of_gltf(target: Target, roughness: float) -> None:
    above = sphere(2 * COUNT)[:, :COUNT]
    for base in (0.2, 0.5, 0.8):
        grey = ((base, base, base), 0.0, roughness, 0.0, 1.5)
        for cosine in (1.0, 0.7, 0.4):
            found = run(target, "evaluate", grey, towards(cosine), above)[0].mean() * 2 * np.pi
            wanted = gltf_mix(towards(cosine).astype(np.float64), above, base, roughness).mean() * 2 * np.pi
            # Schlick's term is up to 0.008 below Fresnel's, and takes more from the base than rough gloss reflects.
            assert found == pytest.approx(wanted, rel=0.04 if cosine > 0.5 else 0.06, abs=0.008), (base, cosine)


@pytest.mark.parametrize("name", ROUGH)
def test_densities_are_those_of_the_samples(target: Target, name: str) -> None:
    for cosine in COSINES[1:]:
        out = towards(cosine)
        drawn = run(target, "sample", name, out, numbers())
        valid = drawn[6] > 0
        again = run(target, "evaluate", name, out, drawn[:3])
        assert are_near(again[3][valid], drawn[6][valid], rel=2e-3)
        everywhere = sphere()
        found = run(target, "evaluate", name, out, everywhere)
        assert found[3].mean() * 4 * np.pi == pytest.approx(valid.mean(), abs=0.012), (
            "the density does not integrate to one (or to what is valid)"
        )
        for moment in (np.ones(3), [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]):
            direct = (found[:3] * (np.asarray(moment) @ (everywhere**2))).mean(axis=1) * 4 * np.pi
            sampled = (drawn[3:6] * (np.asarray(moment) @ (drawn[:3] ** 2))).mean(axis=1)
            assert sampled == pytest.approx(direct, rel=0.02, abs=2e-3), (cosine, moment)


@pytest.mark.parametrize("name", ROUGH)
def test_light_goes_both_ways_alike(target: Target, name: str) -> None:
    directions = sphere(4096)
    above = np.abs(directions)
    there = np.roll(directions, 1000, axis=1)
    there = there[:, np.abs(there[2]) > 0.02][:, :3200]
    here = above[:, above[2] > 0.02][:, : there.shape[1]]
    value = run(target, "evaluate", name, here, there)[:3] / np.abs(there[2])
    index = MATERIALS[name][4]
    # Looked at from the other end; through the surface that is from beyond, where the ratio of indices is the inverse.
    for is_through in (False, True):
        some = np.flatnonzero((there[2] < 0) == is_through)
        some = some[: len(some) // 16 * 16]
        flip, other = (-1.0, 1 / index) if is_through else (1.0, index)
        back = run(target, "evaluate", name, there[:, some] * flip, here[:, some] * flip, index=other)[:3] / np.abs(
            here[2, some]
        )
        forth = value[:, some] * (index**2 if is_through else 1.0)  # value / index^2 is reciprocal
        assert are_near(forth, back, rel=5e-3, abs=1e-4)
        assert not is_through or MATERIALS[name][3] == 0 or np.mean(forth > 0) > 0.1


def test_a_mirror_and_clear_glass_are_found_by_sampling_alone(target: Target) -> None:
    out = towards(0.8)
    drawn = run(target, "sample", "glass", out, numbers())
    assert np.all(drawn[7] == 1) and run(target, "evaluate", "glass", out, drawn[:3])[:4].max() == 0
    through = drawn[8] > 0.5
    reflected = drawn[:3, ~through]
    assert are_near(reflected, np.array([[-out[0]], [0.0], [out[2]]]), rel=1e-6, abs=1e-6)
    assert are_near(drawn[:3, through][0] * 1.5, -out[:1], rel=1e-6, abs=1e-6), "Snell"
    n, c, s = 1.5, 0.8, np.sqrt(1 - (0.6 / 1.5) ** 2)
    fresnel = 0.5 * (((n * c - s) / (n * c + s)) ** 2 + ((c - n * s) / (c + n * s)) ** 2)
    assert (~through).mean() == pytest.approx(fresnel, abs=0.003)


def test_beyond_the_critical_angle_all_is_reflected(target: Target) -> None:
    drawn = run(target, "sample", "glass from within", towards(0.5), numbers())  # critical at cosine 0.745
    valid = drawn[6] > 0
    assert np.all(drawn[8][valid] == 0) and valid.mean() > 0.999 and are_near(drawn[3:6, valid], np.ones(1), abs=1e-4)


def test_packs_and_lanes_agree(target: Target) -> None:
    if target.lane_count == 1:
        pytest.skip("a CUDA thread works one lane")
    for name in ("plastic", "half frosted", "glass"):
        wide, single = (run(target, "sample", name, towards(0.6), numbers()[:, :4096], width) for width in (0, 1))
        assert are_near(wide, single, rel=1e-4, abs=1e-5)


def test_strange_directions_give_numbers(target: Target) -> None:
    edge = np.array([[1.0, 1.0, 0.0, 0.6], [0.0, 0.0, 0.0, 0.0], [0.0, 1e-8, 1.0, 0.8]])
    for name in MATERIALS:
        for out in (towards(0.0), towards(1e-7), towards(1.0)):
            assert np.all(np.isfinite(run(target, "evaluate", name, out, np.tile(edge, 4))))
            corners = np.array(
                [[0.0, 0.0, 0.9999999, 0.9999999], [0.0, 0.9999999, 0.0, 0.9999999], [0.0, 0.9999999, 0.9999999, 0.0]]
            )
            assert np.all(np.isfinite(run(target, "sample", name, out, np.tile(corners, 4))))
