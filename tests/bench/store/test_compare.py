"""Results beside each other: intervals and effects as others compute them, verdicts, and what closes a gate."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from raygrove.bench.store import compare
from raygrove.bench.store.compare import cliffs_delta, compared, ratio_of_medians, sides_of
from raygrove.gpu.errors import Error

DRAW = np.random.default_rng(7)


def times(middle: float, spread: float = 0.01, count: int = 20) -> list[float]:
    found: list[float] = (middle * np.exp(DRAW.normal(0.0, spread, count))).tolist()
    return found


def record(samples: dict[str, list[float]], name: str = "mine", sources: str = "a", **more: Any) -> dict[str, Any]:
    return {"job": {"name": name, "sources": sources}, "samples": samples, **more}


def verdicts(a: list[dict[str, Any]], b: list[dict[str, Any]]) -> list[str]:
    return [row.verdict for row in compared(sides_of(a, "A"), sides_of(b, "B")).rows]


def test_rows_say_the_words_in_which_their_jobs_differ() -> None:
    def job(seed: int, ray_type: str, sources: str) -> dict[str, Any]:
        what = {"scene": "walker", "configuration": "lbvh", "ray_type": ray_type, "seed": seed, "sources": sources}
        return {"job": what, "samples": {"frame_ms": [1.0] * 8}}

    a = [job(0, "ao", "a"), job(0, "path", "a")]
    b = [job(0, "ao", "b"), job(0, "path", "b")]
    rows = compared(sides_of(a, "A"), sides_of(b, "B")).rows
    assert [row.options for row in rows] == ["ray_type=ao", "ray_type=path"], "sources are no question"
    rows = compared(sides_of(a, "A"), sides_of([*b, job(3, "ao", "b")], "B")).rows
    assert {(row.verdict, row.options) for row in rows} == {
        ("same", "ray_type=ao seed=0"), ("same", "ray_type=path seed=0"), ("new", "ray_type=ao seed=3"),
    }  # fmt: skip


def test_an_interval_is_scipys() -> None:
    stats = pytest.importorskip("scipy.stats")
    a, b = times(3.0, 0.1), times(4.0, 0.2, 15)
    ratio, low, high = ratio_of_medians(a, b)
    theirs = stats.bootstrap(
        (a, b), lambda x, y, axis: np.median(y, axis=axis) / np.median(x, axis=axis), method="percentile",
        n_resamples=4000, random_state=1, vectorized=True,
    ).confidence_interval  # fmt: skip
    assert ratio == np.median(b) / np.median(a)
    assert low == pytest.approx(theirs.low, rel=0.03) and high == pytest.approx(theirs.high, rel=0.03)
    assert ratio_of_medians(a, b) == (ratio, low, high)


def test_an_effect_is_that_of_mann_and_whitney() -> None:
    stats = pytest.importorskip("scipy.stats")
    a, b = times(3.0, 0.3), times(3.3, 0.3, 11)
    b[3] = a[2]
    u = stats.mannwhitneyu(b, a).statistic
    assert cliffs_delta(a, b) == pytest.approx(2.0 * u / (len(a) * len(b)) - 1.0)
    assert cliffs_delta([1.0, 2.0], [3.0]) == 1.0 and cliffs_delta([3.0], [1.0, 2.0]) == -1.0


def test_verdicts_find_what_is_there_and_nothing_else() -> None:
    for _ in range(20):
        calm = [record({"trace_ms": times(5.0)})]
        assert verdicts(calm, [record({"trace_ms": times(5.0 * 1.2)})]) == ["slower"]
        assert verdicts(calm, [record({"trace_ms": times(5.0 / 1.2)})]) == ["faster"]
        assert verdicts(calm, [record({"trace_ms": times(5.0)})]) == ["same"]
    wild = [verdicts([record({"t_ms": times(5.0, 0.3)})], [record({"t_ms": times(5.0, 0.3)})])[0] for _ in range(100)]
    assert wild.count("slower") <= 3 and wild.count("undecided") >= 80  # noise is not called a difference


def test_rates_are_better_when_they_are_larger() -> None:
    assert verdicts([record({"mrays_per_s": times(100.0)})], [record({"mrays_per_s": times(80.0)})]) == ["slower"]
    assert verdicts([record({"mrays_per_s": times(80.0)})], [record({"mrays_per_s": times(100.0)})]) == ["faster"]


@pytest.mark.parametrize("samples", [[1.0] * 5, [], [0.0] * 9])
def test_too_few_figures_give_no_verdict(samples: list[float]) -> None:
    found = verdicts([record({"t_ms": times(1.0)})], [record({"t_ms": samples})])
    assert found in (["too few"], [])


def test_a_gate_is_closed_by_what_is_slower_wrong_lost_or_missing() -> None:
    good = record({"t_ms": times(1.0)})
    cases: list[tuple[list[dict[str, Any]], str, bool]] = [
        ([record({"t_ms": times(1.0)})], "same", False),
        ([record({"t_ms": times(2.0)})], "slower", True),
        ([record({})], "missing", True),
        ([], "missing", True),
        ([record({}, status="crashed", sentence="It ended 3 workers.")], "lost", True),
    ]
    for b, verdict, fails in cases:
        found = compared(sides_of([good], "A"), sides_of(b, "B"))
        assert found.rows[0].verdict == verdict and found.fails is fails, verdict
    new = compared({}, sides_of([good], "B"))
    assert new.rows[0].verdict == "new" and new.fails  # nothing was compared
    assert compared(sides_of([record({}, status="failed")], "A"), sides_of([good], "B")).rows[0].verdict == "new"


def test_hits_and_pictures_are_compared() -> None:
    def row(**found: Any) -> list[dict[str, Any]]:
        rows = [{"ray_type": "primary", "rounds": {}, "hits": 10, "sum_t": 5.0, **found}]
        job = {"measure": "trace", "scene": "walker", "configuration": "lbvh"}
        return [{"job": job, "rows": rows, "context": {"device": found.get("device", "x")}}]

    assert verdicts(row(), row()) == verdicts(row(), row(sum_t=5.0 + 1e-6)) == ["same"]
    assert verdicts(row(), row(hits=11)) == verdicts(row(), row(sum_t=5.1)) == ["differs"]
    assert verdicts(row(image_sha256="a"), row(image_sha256="b")) == ["differs"]
    assert verdicts(row(image_sha256="a"), row(image_sha256="b", device="y")) == ["same"]  # but for pictures
    (found,) = compared(sides_of(row(), "A"), sides_of(row(hits=11, device="y"), "B")).rows
    assert found.sentence == "hits differ; A was measured on x, B on y"
    assert (found.scene, found.configuration, found.part) == ("walker", "lbvh", "primary")


def test_a_gate_of_pictures_is_open_where_they_are_the_same() -> None:
    """Pictures have no times, and are compared all the same."""

    def drawn(picture: str, device: str = "x") -> dict[compare.Key, compare.Side]:
        rows = [{"frame": 3, "image_sha256": picture}]
        job = {"measure": "render", "scene": "walker", "configuration": "lbvh"}
        return sides_of([{"job": job, "rows": rows, "context": {"device": device}}], "A")

    (same,) = compared(drawn("a"), drawn("a")).rows
    assert (same.verdict, same.part, same.sentence) == ("same", "frame 3", "the same pictures")
    assert not compared(drawn("a"), drawn("a")).fails and compared(drawn("a"), drawn("b")).fails
    (other,) = compared(drawn("a"), drawn("b", "y")).rows
    many = [{"frame": number, "image_sha256": "a"} for number in (10, 2, 0)]
    sides = sides_of([{"job": {"scene": scene}, "rows": many} for scene in "ba"], "A")
    assert [(row.scene, row.part) for row in compared(sides, sides).rows] == [
        (scene, f"frame {number}") for scene in "ab" for number in (0, 2, 10)
    ]
    assert other.verdict == "undecided" and "of two devices are not compared; A was measured on x" in other.sentence


def test_versions_are_told_apart() -> None:
    both = [record({"t_ms": times(1.0)}, sources="aaaa1"), record({"t_ms": times(2.0)}, sources="bbbb2")]
    with pytest.raises(Error, match="several versions of the sources: aaaa1 and bbbb2"):
        sides_of(both, "store")
    old, new = sides_of(both, "store", "aaaa"), sides_of(both, "store", "bb")
    assert [row.verdict for row in compared(old, new).rows] == ["slower"]


def test_failing_rows_come_first_and_are_counted() -> None:
    a = [record({"t_ms": times(1.0)}, name=name) for name in "abc"]
    b = [record({"t_ms": times(1.0)}, name="a"), record({"t_ms": times(2.0)}, name="b")]
    found = compared(sides_of(a, "A"), sides_of(b, "B"), 0.1)
    assert [row.verdict for row in found.rows] == ["slower", "missing", "same"]
    assert found.sentence == "B beside A, by more than 10 %: 1 slower, 1 missing, 1 same."
    assert found.rows[0].as_json()["configuration"] == "b"
    assert set(compare.FAILING) < {"slower", "differs", "lost", "missing", "same"}
    assert dataclasses.replace(found, rows=()).fails
