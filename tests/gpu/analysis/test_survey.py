"""What goes with speed over more structures than one race holds."""

from __future__ import annotations

import contextlib
import csv
import dataclasses
import io
import json
from typing import Any

import numpy as np
import pytest

from raygrove.gpu.analysis.drawing import Rectangle, Words, width_of
from raygrove.gpu.analysis.hit_proof import HitProof, compared
from raygrove.gpu.analysis.hot_frames import hot_spots_of_rays
from raygrove.gpu.analysis.race import LETTERS, METRICS, Correlation
from raygrove.gpu.analysis.racing import Course
from raygrove.gpu.analysis.ray_lanes import StructureLane
from raygrove.gpu.analysis.survey import Survey, every_structure, survey
from raygrove.gpu.analysis.survey_page import WIDTH, scatter
from raygrove.gpu.analysis.traced_rays import in_rows
from raygrove.gpu.camera import Camera
from raygrove.gpu.errors import Error
from raygrove.gpu.face.races import entry_of
from raygrove.gpu.face.workloads import workload_of
from raygrove.gpu.hierarchy.registry import structures
from raygrove.gpu.scene import Moment
from raygrove.gpu.target.base import Target
from raygrove.gpu.view import ViewSettings
from tests.gpu.moving_scene import CAMERA, moving_scene

TEXTS = ("lbvh", "hploc", "binned_sah", "lbvh/bvh2", "hploc/bvh2", "binned_sah/bvh2", "median_sah", "octree_complete",
         "sbvh@refit", "lbvh+rotations")  # fmt: skip
SVG = "http://www.w3.org/2000/svg"
COURSE = Course([Moment(0.3, frame_id=4)], [Camera(CAMERA.eye, CAMERA.look_at)], (32, 24), 6)


@pytest.fixture(scope="module")
def found(host_target: Target) -> Survey:
    entries = [entry_of(text, ViewSettings(ray_type="flat")) for text in TEXTS]
    return survey(host_target, moving_scene(), entries, COURSE)


def test_all_race_in_heats_and_what_cannot_is_named(found: Survey) -> None:
    assert {one.configuration for one in found.contestants} == {*TEXTS} - {"sbvh@refit"}
    assert [name for name, _ in found.left_out] == ["sbvh@refit"] and "cannot be refitted" in found.left_out[0][1]
    speeds = [one.mrays_per_s for one in found.contestants]
    assert speeds == sorted(speeds, reverse=True) and min(speeds) > 0.0 and found.mismatches == 0
    assert found.frames == (4,) and "32 x 24 pixels" in found.rays_said


def test_correlations_are_those_of_ranks_and_outliers_are_named(found: Survey) -> None:
    """Spearman's as Pearson's of ranks, in float64; an outlier is a configuration far from where its figure puts it."""
    strengths = [abs(one.rho) for one in found.correlations]
    assert strengths == sorted(strengths, reverse=True) and len(strengths) >= 5
    for one in found.correlations:
        some = [row for row in found.contestants if getattr(row, one.metric) is not None]
        figures = np.array([float(getattr(row, one.metric)) for row in some])
        speeds = np.array([row.mrays_per_s for row in some])
        by_figure, by_speed = ((values[:, None] > values).sum(1) + 0.5 * (values[:, None] == values).sum(1)
                               for values in (figures, speeds))  # fmt: skip
        assert one.count == len(some) and one.rho == pytest.approx(np.corrcoef(by_figure, by_speed)[0, 1])
        fastest = by_figure if one.rho > 0.0 else len(some) - by_figure
        far = {row.configuration for row, apart in zip(some, np.abs(fastest - by_speed), strict=True)
               if apart >= len(some) / 2.0}  # fmt: skip
        assert set(one.outliers) == far


def test_it_is_written_as_json_and_csv(found: Survey) -> None:
    rows = list(csv.DictReader(io.StringIO(found.to_csv())))
    assert [row["configuration"] for row in rows] == [one.configuration for one in found.contestants]
    assert set(METRICS) <= rows[0].keys() and float(rows[0]["mrays_per_s"]) == found.contestants[0].mrays_per_s
    told = json.loads(found.to_json())
    assert len(told["contestants"]) == len(rows) and told["left_out"][0][0] == "sbvh@refit"
    assert [one["metric"] for one in told["correlations"]] == [one.metric for one in found.correlations]
    shown = str(dataclasses.replace(found, contestants=found.contestants[:4]))
    assert "sbvh@refit: left out, " in shown and "SAH cost" in shown


def test_names_in_the_plot_are_clear_of_marks_and_of_each_other(found: Survey) -> None:
    """Marks close to one another, at nearly the same speed, all with names."""
    some = tuple(dataclasses.replace(one, sah_cost=10.0 + 0.2 * n, mrays_per_s=20.0 - 0.1 * n)
                 for n, one in enumerate(found.contestants[:5]))  # fmt: skip
    shown = Correlation("sah_cost", -1.0, 0.01, 5, ())
    things = scatter(dataclasses.replace(found, contestants=some), shown).things
    marks = [(one.x, one.x + one.width, one.y + one.height / 2.0 + 4.0) for one in things if isinstance(one, Rectangle)]
    names = [one for one in things if isinstance(one, Words) and one.text in {row.configuration for row in some}]
    assert len(marks) == len(names) == 5
    taken = list(marks)
    for one in names:
        width = width_of(one.text, 11.0)
        left = one.x if one.anchor == "start" else one.x - width
        assert not any(left < end and begin < left + width and abs(one.y - y) < 11.0 for begin, end, y in taken), one
        taken.append((left, left + width, one.y))


def test_hits_of_all_heats_are_compared_with_those_of_one(found: Survey) -> None:
    assert found.against == TEXTS[0] and len(found.contestants) > len(LETTERS)
    rays = {one.configuration: one.proof.rays for one in found.contestants}
    assert len(set(rays.values())) == 1 and found.contestants[-1].proof.hits > 0
    others = sum(rays.values()) - rays[TEXTS[0]]
    assert found.verdict.startswith(f"Hits are equal: {others:,} rays beside lbvh's, ")
    assert found.verdict in str(found) and json.loads(found.to_json())["verdict"] == found.verdict


def test_a_structure_of_a_later_heat_that_finds_other_hits_is_named(
    host_target: Target, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A tree that lacks half of the triangles races in a heat of its own."""
    monkeypatch.setattr("raygrove.gpu.analysis.survey.LETTERS", "A")
    monkeypatch.setattr("raygrove.gpu.analysis.racing.compared", lambda *some, **more: halved_hits(*some, **more))
    entries = [entry_of(text, ViewSettings(ray_type="flat")) for text in ("lbvh", "hploc")]
    wrong = survey(host_target, moving_scene(), entries, COURSE)
    missed = {one.configuration: one.proof.mismatches for one in wrong.contestants}
    assert missed["lbvh"] == 0 and missed["hploc"] > 0 and wrong.mismatches == missed["hploc"]
    assert wrong.verdict.startswith("HITS DIFFER: ") and "(hploc " in wrong.verdict


def halved_hits(
    depth: np.ndarray, ids: np.ndarray, true_depth: np.ndarray, true_ids: np.ndarray, **more: Any
) -> tuple[HitProof, np.ndarray]:
    """As `compared`, where other arrays than the oracle's own have lost the hits of the upper half."""
    if depth is not true_depth:
        depth, ids = depth.copy(), ids.copy()
        depth[: len(depth) // 2], ids[: len(ids) // 2] = np.inf, -1
    return compared(depth, ids, true_depth, true_ids, **more)


def test_the_page_has_a_plot_the_correlations_and_all_figures(found: Survey) -> None:
    page = found.to_html(command="raygrove race --correlate <x>")
    assert "Content-Security-Policy" in page and "raygrove race --correlate &lt;x&gt;" in page
    assert all(f">{one.configuration}</td>" in page for one in found.contestants)
    assert page.count("<rect") == found.correlations[0].count and "Rank correlation (Spearman)" in page
    assert "sbvh@refit: left out, " in page and "http" not in page.replace("http-equiv", "").replace(SVG, "")


def test_one_poor_structure_does_not_push_the_others_into_a_corner(found: Survey) -> None:
    """Where figures are far apart the axis is logarithmic, and says so; marks stand in the order of the figures."""
    costs = [10.0, 11.0, 14.0, 18.0, 300.0]
    shown = next(one for one in found.correlations if one.metric == "sah_cost")

    def marks(costs: list[float]) -> tuple[list[float], str]:
        some = (dataclasses.replace(one, sah_cost=cost) for one, cost in zip(found.contestants, costs, strict=False))
        plot = scatter(dataclasses.replace(found, contestants=tuple(some)), shown)
        places = [thing.x for thing in plot.things if isinstance(thing, Rectangle)]
        return places, " ".join(thing.text for thing in plot.things if isinstance(thing, Words))

    places, words = marks(costs)
    assert places == sorted(places) and "SAH cost, logarithmic" in words and {"10", "500"} <= set(words.split())
    assert places[3] - places[0] > 0.1 * WIDTH and places[4] < WIDTH
    places, words = marks([0.0, *costs[1:]])
    assert "logarithmic" not in words, "0 has no place on it"
    places, words = marks(costs[:4])
    assert "logarithmic" not in words and places[1] - places[0] == pytest.approx((places[3] - places[0]) / 8.0)


def test_of_fewer_than_four_nothing_is_correlated(found: Survey) -> None:
    few = dataclasses.replace(found, contestants=found.contestants[:3])
    assert not few.correlations and "takes 4 structures or more, and these are 3" in str(few)
    assert "takes 4 structures or more" in few.to_html() and "takes 4" not in str(found)


def test_every_structure_but_brute_force_is_meant() -> None:
    assert set(every_structure()) == {*structures()} - {"brute_force"}


def test_nothing_that_can_be_raced_is_an_error(host_target: Target) -> None:
    entries = [entry_of("sbvh@refit", ViewSettings(ray_type="flat"))]
    with pytest.raises(Error, match="no structure can be raced here"):
        survey(host_target, moving_scene(), entries, COURSE)


def test_rays_of_a_set_are_correlated_as_a_camera_s_are(host_target: Target, monkeypatch: pytest.MonkeyPatch) -> None:
    """In heats of two, so that those of a later heat are compared with the first, too. What warps take is as it is
    counted of the same rays through one of the trees."""
    monkeypatch.setattr("raygrove.gpu.analysis.survey.LETTERS", "AB")
    scene = moving_scene()
    rays = workload_of("dome:rows=4:columns=32", scene)
    texts = ("hploc", "lbvh/bvh2", "brute_force", "binned_sah/bvh2", "sbvh@refit")
    entries = [entry_of(text, ViewSettings()) for text in texts]
    found = survey(host_target, scene, entries, COURSE, rays=rays)
    assert {one.configuration for one in found.contestants} == {*texts[:4]} and found.left_out[0][0] == "sbvh@refit"
    assert found.rays_said == "128 rays of dome:rows=4:columns=32" and found.against == "brute_force"
    assert found.mismatches == 0 and {one.proof.rays for one in found.contestants} == {128}
    assert {one.metric for one in found.correlations} <= {*METRICS} and "rays of dome" in found.to_html()
    with contextlib.closing(StructureLane(host_target, scene, entries[1].settings, rays)) as lane:
        lane.play(COURSE.moments[0])
        warps = lane.warps()
        assert len(warps.steps) == 128 // 32 and warps.longest >= warps.mean > 1.0
        one = next(row for row in found.contestants if row.configuration == texts[1])
        assert (one.mean_warp, one.longest_warp) == (warps.mean, warps.longest)
        counted = hot_spots_of_rays(host_target, lane.rig.hierarchy, in_rows(host_target, lane.rig.rays))
        assert (one.mean_visits, one.mean_tests) == (None, counted.tests.sum() / 128), "as hot spots count"
    hidden = survey(host_target, scene, entries[:1], COURSE, rays=rays, hidden=range(len(scene.objects)))
    assert hidden.contestants[0].proof.hits == 0 < found.contestants[0].proof.hits
