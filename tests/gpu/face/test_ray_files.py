"""Sets of rays: recorded as pictures cast them, kept in files, and raced."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import raygrove as rg
from raygrove.gpu.analysis.recording import rows_of
from raygrove.gpu.analysis.workload import OF_A_SET
from raygrove.gpu.errors import UnreadableError
from raygrove.gpu.trace.trace import BufferRays

INSIDE = rg.Camera(eye=(0.0, 1.0, 0.0), look_at=(1.0, 1.0, -1.0))
SIZE = (32, 24)


@pytest.fixture(scope="module")
def room() -> rg.Clip:
    return rg.open("room")


def recorded(room: rg.Clip, **named: Any) -> rg.RaySet:
    return rg.RaySet.record(room, size=SIZE, device="cpu", **{"camera": INSIDE, **named})


def test_bounces_begin_where_the_rays_before_them_end(room: rg.Clip) -> None:
    primary, first, second = (recorded(room, bounce=bounce, seed=3) for bounce in (0, 1, 2))
    assert len(primary) == SIZE[0] * SIZE[1] and 0.5 * len(primary) < len(second) <= len(first) <= len(primary)
    with rg.build(*room.at(0.0), "lbvh", device="cpu") as tree:
        assert tree.nearest(first.origins).distance.max() < 1e-2  # the room is 8 long; rays begin just off a surface
        hits = tree.trace(first)
    found = np.isfinite(hits.t)
    ends = (first.origins + first.directions * np.where(found, hits.t, 0.0)[:, None])[found]
    assert np.linalg.norm(second.origins[:, None] - ends[None], axis=2).min(axis=1).max() < 1e-2
    for rays in (first, second):
        assert np.allclose(np.linalg.norm(rays.directions, axis=1), 1.0, atol=1e-4)


def test_occlusion_rays_end_at_their_radius(room: rg.Clip) -> None:
    short = recorded(room, ray_type="ao", rays="occlusion", ray_type_options={"radius": 0.01})
    far = recorded(room, ray_type="ao", rays="occlusion", ray_type_options={"radius": 0.3})
    assert short.t_max.shape == (len(short),) and short.t_max.max() < 0.1 * far.t_max.max()


@pytest.mark.parametrize(
    ("named", "sentence"),
    [
        ({"rays": "cosmic"}, "path casts no rays called 'cosmic' in this picture: choose one of primary, shadow"),
        ({"ray_type": "flat", "bounce": 1}, "flat casts no rays called 'bounce 1'"),
        ({"ray_type": "x"}, "ray_type"),
        (
            {
                "bounce": 2,
                "camera": rg.Camera(eye=(0.0, 0.0, 90.0)),
            },  # all that leaves the room's walls outside is gone
            "'bounce 2' in this picture: choose one of primary, shadow, bounce 1, bounce 3.*or look from a place",
        ),
    ],
)
def test_rays_that_are_not_cast_are_a_sentence(room: rg.Clip, named: dict[str, Any], sentence: str) -> None:
    with pytest.raises(rg.Error, match=sentence):
        recorded(room, **named)


def test_files_give_back_what_was_written(tmp_path: Path) -> None:
    random = np.random.default_rng(1)
    rays = rg.RaySet(random.normal(size=(70, 3)), random.normal(size=(70, 3)), 0.25, random.uniform(1.0, 2.0, 70))
    rays.save(tmp_path / "rays.npz")
    found = rg.RaySet.load(tmp_path / "rays.npz")
    for name in ("origins", "directions", "t_max"):
        assert np.array_equal(getattr(found, name), np.asarray(getattr(rays, name), np.float32))
    assert np.array_equal(found.t_min, np.full(70, 0.25, np.float32))
    np.savez(tmp_path / "bare.npz", origins=rays.origins, directions=rays.directions)
    bare = rg.RaySet.load(tmp_path / "bare.npz")
    assert len(bare) == 70 and float(bare.t_max) == np.inf


@pytest.mark.parametrize(
    ("arrays", "sentence"),
    [
        ({"origins": np.zeros((4, 3))}, "has no directions"),
        ({"directions": np.ones((4, 3))}, "has no origins"),
        ({"origins": np.zeros((4, 3)), "directions": np.ones((5, 3))}, r"origins are \(4, 3\)"),
        ({"origins": np.zeros((4, 3)), "directions": np.ones((4, 3)), "t_max": np.ones(3)}, r"t_max are \(3,\)"),
        ({"origins": np.zeros((4, 3)), "directions": np.zeros((4, 3))}, "has no direction"),
        ({"origins": np.full((4, 3), np.nan), "directions": np.ones((4, 3))}, "not finite"),
        ({"origins": np.full((4, 3), "a"), "directions": np.ones((4, 3))}, "holds no rays"),
        ({"origins": np.ones((3, 3)), "directions": np.ones((4, 3))}, r"are \(3, 3\) of float64, beside 4 directions"),
        ({"origins": np.ones(()), "directions": np.ones((4, 3))}, r"are \(\) of float64, beside 4 directions"),
        ({"origins": np.zeros((0, 3)), "directions": np.ones((0, 3))}, "its directions are empty"),
    ],
)
def test_files_without_rays_are_a_sentence(tmp_path: Path, arrays: dict[str, Any], sentence: str) -> None:
    np.savez(tmp_path / "rays.npz", **arrays)
    with pytest.raises(UnreadableError, match=sentence) as raised:
        rg.RaySet.load(tmp_path / "rays.npz")
    assert "rays.npz holds no rays: " in str(raised.value) and str(raised.value).endswith(".")


def test_a_damaged_file_is_a_sentence_at_every_length(tmp_path: Path) -> None:
    path = tmp_path / "rays.npz"
    rg.RaySet(np.zeros((9, 3)), np.ones((9, 3))).save(path)
    data = path.read_bytes()
    for length in (0, 1, 40, len(data) // 2, len(data) - 30):
        path.write_bytes(data[:length])
        with pytest.raises(rg.Error, match="rays.npz"):
            rg.RaySet.load(path)


def test_a_race_of_rays_is_proved_and_ends_them_where_each_ends(room: rg.Clip) -> None:
    walker = rg.open("walker")
    some = rg.RaySet.record(walker, size=SIZE, device="cpu")
    with rg.build(*walker.at(0.0), "lbvh", device="cpu") as tree:
        t = tree.trace(some).t
    random = np.random.default_rng(2)
    rays = rg.RaySet(
        some.origins, some.directions, some.t_min, np.median(t[np.isfinite(t)]) * random.uniform(0, 2, len(t))
    )
    race = rg.race(walker, ["lbvh@refit", "hploc/bvh4@auto", "brute_force", "lbvh@every_n:n=2"], rays=rays,
                   frames=range(3), repeat=6, device="cpu")  # fmt: skip
    refit, adaptive, true, every = race.contestants
    assert race.mismatches == 0 and race.against == "C" and race.ray_type == OF_A_SET and race.size == (len(rays), 1)
    assert true.proof.rays == 3 * len(rays) and 0 < true.proof.hits < true.proof.rays
    assert refit.rebuilds == 0 and refit.refits == 18 and every.rebuilds == 9
    assert adaptive.rebuilds + adaptive.refits == 18
    assert (
        refit.shade_ms.median == 0.0
        and refit.mean_warp is not None
        and refit.mean_warp > 1.0
        and refit.sah_cost is not None
    )
    assert all(one.ms.median == pytest.approx(one.update_ms.median + one.trace_ms.median, rel=0.5)
               for one in race.contestants)  # fmt: skip
    assert f"{len(rays):,} rays of a set" in race.to_html() and "Pictures of" not in race.to_html()
    unbounded = rg.race(walker, ["lbvh", "brute_force"], rays=rg.RaySet(some.origins, some.directions), frames=range(1),
                        repeat=6, device="cpu")  # fmt: skip
    assert unbounded.contestants[1].proof.hits > 1.5 * true.proof.hits / 3


def test_a_stale_structure_is_found_by_rays_too(room: rg.Clip) -> None:
    from raygrove.gpu.hierarchy.registry import register, structure, unregister

    class Stale(structure("lbvh")):  # type: ignore[misc]
        name = "stale_lbvh_rays"

        def refit(self, primitives: Any) -> None:
            pass

    explode = rg.open("explode")
    rays = rg.RaySet.record(explode, time=1.0, size=SIZE, device="cpu")
    register(Stale)
    try:
        race = rg.race(explode, ["lbvh@refit", "stale_lbvh_rays@refit"], rays=rays, frames=range(0, 30, 15), repeat=6,
                       device="cpu")  # fmt: skip
    finally:
        unregister("stale_lbvh_rays")
    good, stale = race.contestants
    assert good.proof.mismatches == 0 and stale.proof.mismatches > 0
    assert dataclasses.replace(stale.proof, first=()) != stale.proof


def test_what_lies_in_columns_and_is_no_ray_is_not_recorded() -> None:
    """Rays that ended before they began, without a direction, or not finite; and what lies behind those in use."""
    rows = np.zeros((9, 8), np.float32)
    rows[3:6], rows[7] = 1.0, np.inf
    rows[6:8, 1], rows[6:8, 2] = (2.0, 1.0), (1.0, 1.0)
    rows[3:6, 3], rows[0, 4] = 0.0, np.nan
    source = BufferRays(rows, 7)
    target = SimpleNamespace(download=lambda array: array)
    found = rows_of(target, source)  # type: ignore[arg-type]
    assert found.shape == (8, 3) and (found == rows[:8, [0, 5, 6]]).all()
