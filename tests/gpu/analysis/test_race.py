"""Races: what is counted as equal, tied and wrong, who is ranked where and why, and real ones."""

from __future__ import annotations

import dataclasses
import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import raygrove as rg
from raygrove.gpu.analysis import racing
from raygrove.gpu.analysis.drawing import Words
from raygrove.gpu.analysis.hit_proof import HitProof, compared
from raygrove.gpu.analysis.intervals import DRAWN_ORDERS, LEAST_SAMPLES, Measured, measured, outside, ranks, spearman
from raygrove.gpu.analysis.race import Contestant, Race, judged, told_once
from raygrove.gpu.analysis.race_plots import plots, scale_of
from raygrove.gpu.analysis.racing import turns, warp_steps
from raygrove.gpu.analysis.ray_racing import ROUNDINGS, slack_of
from raygrove.gpu.analysis.workload import Rays
from raygrove.gpu.brief import brief
from raygrove.gpu.camera import Camera
from raygrove.gpu.hierarchy.registry import register, structure, structures, unregister
from raygrove.gpu.scene import Moment

RAYS = (24, 32)


# -- intervals --------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("count", [6, 7, 9, 15, 40])
def test_intervals_enclose_the_median_as_often_as_they_say(count: int) -> None:
    """Of skewed times, whose true median is known."""
    times = np.random.default_rng(count).lognormal(0.0, 1.0, (4000, count))
    inside = np.mean([found.low <= 1.0 <= found.high for found in map(measured, times.tolist())])
    narrower = np.sort(times)[:, [outside(count) + 1, -2 - outside(count)]]
    assert 0.94 < inside < 0.995
    assert np.mean((narrower[:, 0] <= 1.0) & (narrower[:, 1] >= 1.0)) < 0.95


def test_the_interval_is_told_by_order_and_needs_six_samples() -> None:
    found = measured([5.0, 1.0, 4.0, 2.0, 3.0, 9.0, 7.0])
    assert (found.median, found.low, found.high) == (4.0, 1.0, 9.0)
    assert found.samples == (5.0, 1.0, 4.0, 2.0, 3.0, 9.0, 7.0)
    assert outside(8) == 0 and outside(9) == 1 and outside(12) == 2
    with pytest.raises(ValueError, match="6 samples or more; these are 5"):
        measured([1.0] * (LEAST_SAMPLES - 1))


def test_rank_correlation_by_its_definition() -> None:
    random = np.random.default_rng(1)
    for count in (3, 5, 8, 12):
        a, b = random.integers(0, 6, count).astype(float), random.permutation(count).astype(float)
        true = np.corrcoef(ranks(a), ranks(b))[0, 1]
        rho, p = spearman(a.tolist(), b.tolist())
        assert rho == pytest.approx(true) and 0.0 < p <= 1.0
    assert spearman([1.0, 2.0, 3.0, 4.0], [9.0, 7.0, 5.0, 1.0]) == (-1.0, pytest.approx(2.0 / 24.0))
    assert np.isnan(spearman([1.0, 1.0, 1.0], [1.0, 2.0, 3.0])).all()
    assert ranks([3.0, 1.0, 3.0]).tolist() == [2.5, 1.0, 2.5]


def test_the_chance_of_a_correlation_of_many_is_that_of_drawn_orders() -> None:
    """Nine values, beside all of their 362,880 orders; and of what is never met by chance p is not 0."""
    rows, random = np.arange(9.0), np.random.default_rng(4)
    orders = np.array(list(itertools.permutations(range(9))), np.float64) - 4.0
    for noise in (2.0, 6.0, 30.0):
        order = np.argsort(rows + random.normal(0.0, noise, 9)).astype(float)
        rho, p = spearman(rows.tolist(), order.tolist())
        true = (np.abs(orders @ (rows - 4.0)) >= abs((order - 4.0) @ (rows - 4.0)) - 1e-9).mean()
        assert p == pytest.approx(true, abs=4.0 * np.sqrt(true * (1.0 - true) / DRAWN_ORDERS) + 1.0 / DRAWN_ORDERS)
    many = np.arange(24.0).tolist()
    assert spearman(many, many) == (1.0, 1.0 / (DRAWN_ORDERS + 1))


# -- hits -------------------------------------------------------------------------------------------------------------
def test_ties_and_mismatches_are_counted_apart() -> None:
    random = np.random.default_rng(2)
    true_t, true_id = random.uniform(1.0, 9.0, RAYS).astype(np.float32), random.integers(0, 99, RAYS)
    true_t[5:9], true_id[5:9] = np.inf, -1
    t, prim_id = true_t.copy(), true_id.copy()
    assert compared(t, prim_id, true_t, true_id)[0] == HitProof(768, 640, 0, 0)
    prim_id[0, 0] += 1  # a tie: another one as far away
    t[1, 3] *= np.float32(1.0 + 1e-6)  # rounding
    t[2, 4], prim_id[2, 4] = t[2, 4] * np.float32(1.001), 100  # another one at another distance: no tie
    t[3, 5], prim_id[3, 5] = np.inf, -1  # lost
    t[6, 7], prim_id[6, 7] = 2.0, 4  # where there is nothing
    proof, mask = compared(t, prim_id, true_t, true_id, frame=11)
    assert dataclasses.replace(proof, first=(), most_apart=0.0) == HitProof(768, 640, 1, 3, (), 2)
    assert proof.most_apart == pytest.approx(0.001 * true_t[2, 4], rel=1e-3)
    assert np.argwhere(mask).tolist() == [[2, 4], [3, 5], [6, 7]]
    assert [(one.frame, one.x, one.y) for one in proof.first] == [(11, 4, 2), (11, 5, 3), (11, 7, 6)]
    assert (proof + proof).mismatches == 6 and (proof + proof).rays == 1536
    assert (proof + proof).one_sided == 4 and (proof + HitProof()).most_apart == proof.most_apart


def test_rays_that_begin_on_a_surface_may_differ_by_roundings_of_where() -> None:
    rays = Rays(
        np.array([[8.0, 0.0, 1.0], [8.0, 0.0, 1.0]], np.float32), np.array([[2.0, 0, 0], [0, 0, 1]], np.float32)
    )
    slack = slack_of(rays)
    eps = 8.0 * float(np.finfo(np.float32).eps)
    assert slack[0].tolist() == pytest.approx([ROUNDINGS * eps / 2.0, ROUNDINGS * eps])
    true_t, ids = np.full((1, 2), 1e-5, np.float32), np.zeros((1, 2), int)
    assert compared(true_t + 1.5 * eps, ids, true_t, ids, slack=slack)[0].mismatches == 0
    assert compared(true_t + 1.5 * eps, ids, true_t, ids)[0].mismatches == 2
    assert compared(true_t + 3.0 * eps, ids, true_t, ids, slack=slack)[1].tolist() == [[True, False]]


def test_warps_take_as_long_as_their_longest_ray() -> None:
    steps = np.random.default_rng(3).integers(0, 50, (13, 21))
    found = warp_steps(steps)
    assert found.shape == (4, 3)
    for row, column in itertools.product(range(4), range(3)):
        assert found[row, column] == steps[4 * row : 4 * row + 4, 8 * column : 8 * column + 8].max()


# -- words ------------------------------------------------------------------------------------------------------------
def known(letter: str, update: float, trace: float, **more: Any) -> Contestant:
    def sure(ms: float, width: float = 0.05) -> Measured:
        return Measured(ms, ms - width, ms + width, (ms,) * 7)

    total = sure(update + trace, more.pop("width", 0.1))
    fields = {"rebuilds": 7, "refits": 0, "rays": 100, "mrays_per_s": 1.0 / trace, "proof": HitProof(100, 50), **more}
    return Contestant(letter, letter.lower(), "bvh4", total, sure(update), sure(trace), sure(0.0), (1.0,), **fields)


def test_ranks_and_reasons() -> None:
    first, second, third = judged([known("A", 3.3, 4.8), known("B", 3.0, 6.0), known("C", 3.0, 6.02)])
    assert [one.rank for one in (first, second, third)] == [1, 2, 2]
    assert first.reason == "A builds 0.3 ms slower and traces 1.2 ms faster than B"
    assert second.reason == "B builds 0.3 ms faster and traces 1.2 ms slower than A"
    alike = judged([known("A", 3.0, 5.0, refits=2), known("B", 3.2, 4.9)])
    assert [one.rank for one in alike] == [1, 1]
    assert alike[1].reason == "B shows no difference from A in sum: it updates 0.2 ms slower"
    assert (first.place, second.place, third.place) == ("1st", "2nd–3rd", "2nd–3rd")
    (alone,) = judged([known("A", 3.0, 5.0)])
    assert alone.reason == ""
    race = Race("s", 1, (0,), (8, 8), "smooth", 7, "d", "cpu", "A", (alone,))
    assert race.verdict == "Hits are not compared: nobody else takes part." and "s, 1 frame, " in race.to_latex()


def test_reasons_say_what_rays_do_more_of_also_where_times_are_not_told_apart() -> None:
    """Steps are counted: a busy machine does not blur them."""
    some = [
        known("A", 3.0, 5.0, mean_visits=20.0, mean_tests=4.0),
        known("B", 3.0, 6.0, mean_visits=16.4, mean_tests=9.6),
    ]
    assert judged(some)[1].reason == (
        "B traces 1 ms slower than A; its rays visit 18 % fewer nodes and test 2.4 times as many primitives"
    )
    alike = judged([known("A", 3.0, 5.0, mean_visits=20.0, mean_tests=4.0),
                    known("B", 3.0, 5.01, mean_visits=23.0, mean_tests=4.02)])  # fmt: skip
    assert alike[1].reason == "B shows no difference from A; its rays visit 15 % more nodes"
    assert judged([known("A", 3.0, 5.0, mean_visits=20.0), known("B", 3.0, 5.0)])[1].reason.endswith("from A")


def test_a_place_reaches_as_far_as_no_difference_is_shown() -> None:
    """A is faster than C for certain, and B, between them, is not told from either."""
    some = judged([known("C", 1.0, 2.3, width=0.2), known("A", 1.0, 1.9, width=0.1), known("B", 1.0, 2.1, width=0.2)])
    c, a, b = some
    assert (a.place, b.place, c.place) == ("1st–2nd", "1st–3rd", "2nd–3rd")
    race = Race("s", 1, (0,), (8, 8), "smooth", 7, "d", "cpu", "A", some)
    assert [line.split()[0] for line in str(race).splitlines()[1:4]] == [a.place, b.place, c.place]
    told = json.loads(race.to_json())["contestants"]
    assert [(one["rank"], one["last_rank"]) for one in told] == [(2, 3), (1, 2), (1, 3)]
    assert r"\midrule" + "\n1st--2nd & A a & " in race.to_latex() and "–" not in race.to_latex()
    assert "<li><b>1st–3rd</b> B  b: " in race.to_html()
    assert {f"{one.place}  {one.letter}  {one.configuration}" for one in some} <= {
        thing.text for thing in plots(race)["costs"].things if isinstance(thing, Words)
    }


def test_lines_far_apart_are_by_powers_of_ten() -> None:
    ticks, share = scale_of([[12.0, 20.0], [500.0, 640.0]])
    assert ticks == [10.0, 100.0, 1000.0] and [share(ms) for ms in ticks] == pytest.approx([0.0, 0.5, 1.0])
    ticks, share = scale_of([[12.0, 20.0], [50.0, 640.0, 64.0]])  # one frame alone is dear
    assert ticks == [0.0, 200.0, 400.0, 600.0, 800.0] and share(400.0) == 0.5
    assert scale_of([[0.0, 0.0], [5.0, 5.0]])[0][0] == 0.0, "nothing has no logarithm"


def test_milliseconds_have_no_exponents() -> None:
    """Of a slow machine, or a large scene."""
    first, second = judged([known("A", 1.0, 5.0), known("B", 14480.1, 5.0)])
    assert second.reason == "B builds 14,479 ms slower than A" and brief(999.4) == "999" and brief(1e6) == "1,000,000"
    assert brief(0.0456) == "0.0456" and first.rank == 1


def test_what_the_first_two_say_of_each_other_is_said_once() -> None:
    same = judged([known("A", 3.0, 5.0), known("B", 3.0, 5.0)])
    assert told_once(same) == ("A shows no difference from B", "")
    first, second, third = judged([known("A", 3.3, 4.8), known("B", 3.0, 6.0), known("C", 9.0, 9.0)])
    assert told_once((first, second, third)) == (first.reason, "", third.reason) and third.reason.startswith("C ")
    assert told_once(judged([known("A", 3.0, 5.0)])) == ("",)


def test_metrics_are_set_beside_speeds() -> None:
    some = [known(letter, 1.0, trace, sah_cost=cost) for letter, trace, cost in
            zip("ABCDE", (1.0, 2.0, 3.0, 4.0, 5.0), (5.0, 11.0, 12.0, 13.0, 14.0), strict=True)]  # fmt: skip
    race = Race("s", 1, (0,), (8, 8), "smooth", 7, "d", "cpu", "A", judged(some))
    (sah,) = [one for one in race.correlations if one.metric == "sah_cost"]
    assert (sah.rho, sah.p, sah.count, sah.outliers) == (-1.0, pytest.approx(2.0 / 120.0), 5, ())
    odd = [*some[:4], dataclasses.replace(some[4], sah_cost=1.0)]
    race = dataclasses.replace(race, contestants=judged(odd))
    assert [one.outliers for one in race.correlations if one.metric == "sah_cost"] == [("E",)]
    assert json.loads(race.to_json())["correlations"][0]["metric"] == "sah_cost"


def test_turns_begin_with_everybody_alike() -> None:
    orders = [turns(4, number) for number in range(8)]
    for place in range(4):
        assert sorted(order[place] for order in orders) == [0, 0, 1, 1, 2, 2, 3, 3]


# -- real ones --------------------------------------------------------------------------------------------------------
def flying_soup() -> rg.Clip:
    """200 triangles that fly apart."""
    random = np.random.default_rng(3)
    still = random.uniform(-1.0, 1.0, (200, 1, 3)) + random.normal(0.0, 0.4, (200, 3, 3))
    away = np.repeat(random.normal(0.0, 1.0, (200, 1, 3)), 3, axis=1)
    vertices = np.stack([still + step * away for step in (0.0, 0.2, 0.4)]).reshape(3, 600, 3)
    return rg.Clip(vertices, np.arange(600).reshape(-1, 3))


@pytest.fixture
def clip() -> rg.Clip:
    return flying_soup()


@pytest.fixture
def stale_structure() -> Iterator[str]:
    """One whose refit does nothing: its boxes stay behind what moves."""

    class Stale(structure("lbvh")):  # type: ignore[misc]
        name = "stale_lbvh"

        def refit(self, primitives: Any) -> None:
            pass

    register(Stale)
    yield "stale_lbvh"
    unregister("stale_lbvh")


def test_every_structure_finds_what_brute_force_finds_and_a_stale_one_is_counted(
    clip: rg.Clip, stale_structure: str
) -> None:
    names = ["lbvh@refit", "brute_force", f"{stale_structure}@refit", "median_sah"]
    found = rg.race(clip, names, frames=range(3), size=(40, 30), repeat=6, device="cpu")
    assert found.against == "B" and found.frames == (0, 1, 2) and found.size == (40, 30)
    good, true, stale, other = found.contestants
    assert true.proof.hits > 300 and true.proof.rays == 3 * 1200
    assert good.proof.mismatches == other.proof.mismatches == true.proof.mismatches == 0
    assert stale.proof.mismatches > 50 and found.mismatches == stale.proof.mismatches
    assert found.wrong["C"].sum() > 0 and not found.wrong["A"].any()
    assert found.verdict.startswith("HITS DIFFER: ") and "(C " in found.verdict
    assert (good.rebuilds, good.refits) == (0, 18) and (other.rebuilds, other.refits) == (18, 0)
    assert all(len(one.ms.samples) == 6 and len(one.frame_ms) == 3 for one in found.contestants)
    assert good.sah_cost is not None and good.longest_warp >= good.mean_warp > 0.0
    assert (true.mean_visits, good.mean_tests) < (1.0, true.mean_tests) and 1.0 < good.mean_visits < good.mean_warp
    assert found.pictures["A"].shape == (30, 40, 4) and np.array_equal(found.pictures["A"], found.pictures["B"])
    told = json.loads(found.to_json())
    assert told["mismatches"] == found.mismatches and len(told["contestants"]) == 4
    lines = str(found).splitlines()
    assert lines[0].split() == ["ms", "per", "frame", "interval", "of", "95", "%", "update", "trace", "shade", "rays/s"]
    first = found.ranking[0]
    start = [*first.place_told.split(), first.letter, first.configuration, f"{first.ms.median:.3f}"]
    assert lines[1].split()[: len(start)] == start
    assert lines[1].split()[-4:-2] == [f"{first.trace_ms.median:.3f}", f"{first.shade_ms.median:.3f}"]
    assert lines[5] == f"{first.reason}." and lines[-1] == found.verdict and len({len(one) for one in lines[:5]}) == 1


@pytest.mark.parametrize("is_by_rays", [False, True])
def test_what_stands_still_is_built_once_but_where_every_frame_rebuilds(is_by_rays: bool) -> None:
    random = np.random.default_rng(3)
    still = rg.Clip(random.uniform(-1.0, 1.0, (1, 600, 3)), np.arange(600).reshape(-1, 3))
    names = ["sbvh@auto", "sbvh@refit", "lbvh@refit", "lbvh"]
    aimed = random.normal(size=(240, 3))
    rays = rg.RaySet(np.zeros((240, 3)), aimed) if is_by_rays else None
    found = rg.race(still, names, size=(40, 30), rays=rays, repeat=6, device="cpu")
    assert [(one.rebuilds, one.refits) for one in found.contestants] == [(0, 0)] * 3 + [(6, 0)]
    assert [one.update_ms.median > 0.0 for one in found.contestants] == [False, False, False, True]
    assert found.mismatches == 0 and found.contestants[0].proof.hits > 10
    assert all(one.trace_ms.median > 0.0 and len(one.ms.samples) == 6 for one in found.contestants)


def test_each_has_the_order_of_its_turn(clip: rg.Clip, monkeypatch: pytest.MonkeyPatch) -> None:
    from raygrove.gpu.analysis import racing

    drawn: list[str] = []
    draw = racing._Lane.draw

    def noted(lane: Any, *given: Any, **named: Any) -> Any:
        drawn.append(lane.view.name)
        return draw(lane, *given, **named)

    monkeypatch.setattr(racing._Lane, "draw", noted)
    rg.race(clip, ["lbvh", "hploc"], frames=range(3), size=(16, 16), repeat=6, device="cpu")
    assert "".join(drawn[:6]) == "ABBAAB" and "".join(drawn[6:18]) == "ABBAAB" + "BAABBA"


@pytest.mark.parametrize(
    ("named", "sentence"),
    [
        ({"contestants": []}, "1 to 8 configurations, and these are 0"),
        ({"contestants": ["lbvh"] * 9}, "1 to 8 configurations, and these are 9"),
        ({"repeat": 5}, "takes 6 passes or more, and these are 5"),
        ({"frames": range(0)}, "1 to 10,000 frames, and these are 0"),
        ({"ray_type": "x-rays"}, "ray_type"),
        ({"contestants": ["lbhv"]}, "did you mean lbvh"),
        ({"contestants": ["median_sah@refit"]}, "cannot be refitted"),
    ],
)
def test_what_cannot_be_raced_is_a_sentence(clip: rg.Clip, named: dict[str, Any], sentence: str) -> None:
    contestants = named.pop("contestants", ["lbvh"])
    with pytest.raises(rg.Error, match=sentence):
        rg.race(clip, contestants, size=(16, 16), device="cpu", **named)


# -- trees of files, and what is written ------------------------------------------------------------------------------
def test_trees_of_files_take_part_under_their_names(clip: rg.Clip, tmp_path: Path) -> None:
    vertices, triangles = clip.at(0.0)
    with rg.build(vertices, triangles, "hploc", device="cpu") as built:
        built.save(tmp_path / "built.rgtree")
    tree = rg.load_tree(tmp_path / "built.rgtree")
    rg.save_tree(tree, tmp_path / "theirs.rgtree", scene=(vertices, triangles))
    given = {"theirs": tmp_path / "theirs.rgtree", "given": tree}
    found = rg.race(clip, ["brute_force", "theirs@refit", "given+reinsertion/bvh4@refit"], trees=given, frames=range(2),
                    size=(24, 18), repeat=6, device="cpu")  # fmt: skip
    assert found.mismatches == 0 and found.contestants[1].proof.hits > 50
    assert [one.configuration for one in found.contestants][1:] == ["theirs@refit", "given+reinsertion/bvh4@refit"]
    assert "theirs" not in structures() and "given" not in structures()
    with pytest.raises(rg.Error, match="a builder called lbvh already"):
        rg.race(clip, ["lbvh"], trees={"theirs": tree, "lbvh": tree}, size=(16, 16), device="cpu")
    assert "theirs" not in structures()
    with pytest.raises(rg.Error, match="of another instant"):
        rg.race(clip, ["theirs"], trees={"theirs": tmp_path / "theirs.rgtree"}, frames=range(1, 2), device="cpu")


def test_races_write_themselves(tmp_path: Path) -> None:
    race = Race("s", 1, (0,), (8, 8), "smooth", 7, "d", "cpu", "A", judged([known("A", 1.0, 2.0)]))
    for write, name in ((race.to_json, "a.json"), (race.to_csv, "a.csv"), (race.to_latex, "a.tex"),
                        (race.to_html, "a.html")):  # fmt: skip
        text = write(tmp_path / name)
        assert (tmp_path / name).read_text() == text == write() and len(text) > 80
    race.plot(tmp_path / "a.pdf")
    assert (tmp_path / "a.pdf").read_bytes().startswith(b"%PDF")
    with pytest.raises(rg.Error, match=r"a.html does not end in .svg or .pdf"):
        race.plot(tmp_path / "a.html")
    with pytest.raises(rg.Error, match=r"a.csv does not end in .html"):
        race.to_html(tmp_path / "a.csv")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.csv", "a.html", "a.json", "a.pdf", "a.tex"]


def test_what_was_wrong_later_is_kept_behind_what_was_wrong_first() -> None:
    truth, ids = np.ones((2, 3)), np.zeros((2, 3), np.int32)
    wrong = truth.copy()
    wrong[1, 2] = 3.0
    first, _ = compared(truth, ids, truth, ids, frame=0)
    later, _ = compared(wrong, ids, truth, ids, frame=1)
    both, twice = first + later, later + dataclasses.replace(later, mismatches=2)
    assert both.mismatches == 1 and [(one.frame, one.x, one.y, one.t) for one in both.first] == [(1, 2, 1, 3.0)]
    assert twice.mismatches == 3 and len(twice.first) == 2


@pytest.mark.parametrize(("frames", "warm"), [(1, 3), (2, 2), (3, 1), (5, 1)])
def test_three_frames_of_each_or_more_warm_up(frames: int, warm: int) -> None:
    """Whatever the clip's length: the third is captured where frames are replayed."""
    course = racing.Course([Moment(float(n)) for n in range(frames)], [Camera()] * frames, (8, 8), repeat=6)
    acted: list[tuple[int, int]] = []
    heard: list[tuple[float, str]] = []
    told = racing.Told(course, lambda share, sentence: heard.append((share, sentence)))
    timed = racing.timed_passes(2, course, lambda place, number: acted.append((place, number)), told)
    assert len(acted) == 2 * frames * (warm + 6) and [len(one) for one in timed] == [6, 6]
    assert all(len(one) == frames for passes in timed for one in passes)
    passes = warm + 6 + 1  # the last compares, and is not among these
    np.testing.assert_allclose([share for share, _ in heard], np.arange(frames * (warm + 6)) / (frames * passes))
    assert heard[0][1] == "Warming up, pass 1." and heard[-1][1] == "Pass 6 of 6."


def test_a_race_of_one_ray_says_one_ray(clip: rg.Clip) -> None:
    alone = rg.RaySet(np.zeros((1, 3)), np.ones((1, 3)))
    found = rg.race(clip, ["lbvh", "hploc"], frames=range(1), rays=alone, repeat=6, device="cpu")
    assert found.verdict.startswith("Hits are equal: 1 ray beside A's, 0 ties"), found.verdict
