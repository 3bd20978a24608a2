"""Plans: how many jobs tables stand for, and that they are never held together."""

from __future__ import annotations

import itertools
import tracemalloc

import pytest

from raygrove.bench.store.plans import Plan, PlanError, Shard, plan_of


def test_axes_are_combined_for_each_of_the_jobs() -> None:
    plan = plan_of({
        "fixed": {"measure": "frame", "demo": {"seed": 1}},
        "axes": {"scene": ["a", "b"], "demo": {"triangles": [1, 2, 3]}},
        "jobs": [{"ray_type": "ao"}, {"ray_type": "path", "demo": {"seed": 2}}],
    })  # fmt: skip
    points = list(plan.points())
    assert len(plan) == len(points) == 12
    expected = [
        {"measure": "frame", "demo.seed": seed, "ray_type": ray, "scene": scene, "demo.triangles": count}
        for ray, seed in (("ao", 1), ("path", 2)) for scene in "ab" for count in (1, 2, 3)
    ]  # fmt: skip
    assert points == expected
    assert list(plan_of({"fixed": {"a": 1}}).points()) == [{"a": 1}]


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        ({"axis": {}}, "no table"),
        ({"axes": {"scene": "walker"}}, "no list of values"),
        ({"axes": {"scene": []}}, "no list of values"),
        ({"axes": {"scene": ["a", "a"]}}, "names a value twice"),
        ({"axes": {"scene": ["a"]}, "fixed": {"scene": "b"}}, "said elsewhere"),
        ({"axes": {"scene": ["a"]}, "jobs": [{"scene": "b"}]}, "said elsewhere"),
        ({"jobs": {"scene": "b"}}, "double brackets"),
        ({"fixed": 1}, "double brackets"),
    ],
)
def test_what_cannot_be_meant_is_a_sentence(table: dict[str, object], sentence: str) -> None:
    with pytest.raises(PlanError, match=sentence):
        plan_of(table, "plan.toml")


def test_a_million_jobs_take_no_memory() -> None:
    plan = Plan({"measure": "frame"}, {name: list(range(100)) for name in "abc"})
    tracemalloc.start()
    assert len(plan) == 1_000_000
    points = plan.points()
    assert next(points) == {"measure": "frame", "a": 0, "b": 0, "c": 0}
    assert next(itertools.islice(points, 20_000, None)) == {"measure": "frame", "a": 2, "b": 0, "c": 1}
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1 << 20


@pytest.mark.parametrize("count", [1, 2, 3, 7])
def test_shards_share_the_jobs_evenly(count: int) -> None:
    taken = [[index for index in range(100) if Shard(number, count).takes(index)] for number in range(1, count + 1)]
    assert sorted(sum(taken, [])) == list(range(100))
    assert max(map(len, taken)) - min(map(len, taken)) <= 1
