"""What the default run leaves to `.ci/run`: each value stays, dear tests keep within a budget, and files that are named
run whole."""

from __future__ import annotations

import collections
import itertools
import pathlib

import pytest

from raygrove.gpu.hierarchy.registry import optimisers, structure, structures
from raygrove.gpu.shade.registry import ray_types
from raygrove.gpu.update.registry import policies
from tests import quick
from tests.broad import BUDGET_S, ITEMS
from tests.covering import parameters_of

ROOT = pathlib.Path(__file__).resolve().parents[1]

pytest_plugins = ["pytester"]

OPTIONS = ("-p", "tests.broad", "-p", "no:xvfb", "-p", "no:cacheprovider")

PLANTED = """
import pytest

@pytest.fixture(params=["host", "cuda"])
def target(request): return request.param

@pytest.mark.parametrize("way", ["once", "again"])
@pytest.mark.parametrize("scene", range(3))
@pytest.mark.parametrize("name", list("abcd"))
def test_values(target, name, scene, way): pass

@pytest.mark.each_value("name kind")
@pytest.mark.parametrize("way", range(4))
@pytest.mark.parametrize("kind", ["triangles", "spheres"])
@pytest.mark.parametrize("name", list("abc"))
def test_pairs(name, kind, way): pass

@pytest.mark.each_value
@pytest.mark.parametrize("number", range(5))
def test_each(number): pass

def test_dearer(): pass

def test_dear(): pass

@pytest.mark.parametrize("number", range(4))
def test_cheap_first(number): pass

@pytest.mark.broad("test_values says it of each name")
def test_by_hand(): pass

@pytest.mark.full
@pytest.mark.parametrize("number", range(2))
def test_of_the_night(number): pass
"""

ALONE = """
import pytest

@pytest.mark.parametrize("number", range(3))
def test_alone(number): pass

def test_dear(): pass
"""


@pytest.fixture
def planted(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Planted:
    """A folder with the planted files, as pyproject.toml has it."""
    shares = {"test_cheap_first": 0.25, "test_dear": 0.6, "test_dearer": 0.8, "test_each": 20.0, "test_alone": 20.0}
    dear = {name: share * BUDGET_S for name, share in shares.items()}
    names = [f"test_{file}.py::{name}" for name in dear for file in ("planted", "alone")]
    listed = {name: quick.Cost(dear[name.partition("::")[2]], False) for name in names}
    monkeypatch.setattr(quick, "listed", lambda: listed)
    pytester.makeini("[pytest]\nmarkers =\n full\naddopts = --strict-markers -m 'not full'\n")
    pytester.makepyfile(test_planted=PLANTED, test_alone=ALONE)
    return Planted(pytester)


class Planted:
    """The planted files, collected within the process."""

    def __init__(self, pytester: pytest.Pytester) -> None:
        self.pytester = pytester

    def __call__(self, *options: str) -> list[str]:
        """The names of the cases that would run."""
        calls = self.pytester.inline_run("--collect-only", *OPTIONS, *options)
        return [item.name for item in calls.getcall("pytest_collection_finish").session.items]


def values(names: list[str], test: str) -> list[tuple[str, ...]]:
    """The values of a test's cases by their names."""
    return [tuple(name.partition("[")[2][:-1].split("-")) for name in names if name.startswith(f"{test}[")]


def test_each_value_stays_and_each_pair_that_is_named(planted: Planted) -> None:
    names = planted()
    for kind in ("host", "cuda"):
        few = [case for case in values(names, "test_values") if case[0] == kind]
        assert len(few) == 4 and few[0] == (kind, "a", "0", "once"), few
        assert [set(of_one) for of_one in zip(*few, strict=True)][1:] == [set("abcd"), set("012"), {"once", "again"}]
    pairs = values(names, "test_pairs")
    assert {case[:2] for case in pairs} == set(itertools.product("abc", ("triangles", "spheres")))
    assert {case[2] for case in pairs} == set("0123") and len(pairs) == 6
    assert values(names, "test_each") == [(str(number),) for number in range(5)], "whatever it costs"


def test_dear_tests_of_a_file_keep_within_a_budget(planted: Planted) -> None:
    names = planted()
    assert names.count("test_dear") == 2, "after the cheapest, and alone"
    assert "test_dearer" not in names and values(names, "test_cheap_first") == [("0",)]
    assert not values(names, "test_alone")


@pytest.mark.parametrize(("cost", "cases"), [(1.5, [("0",)]), (5.0, [])])
def test_a_file_of_dear_tests_has_one_case(planted: Planted, cost: float, cases: list[tuple[str]]) -> None:
    planted.pytester.makepyfile(test_alone=ALONE.partition("def test_dear")[0])
    quick.listed()["test_alone.py::test_alone"] = quick.Cost(cost, False)
    assert values(planted(), "test_alone") == cases


def test_the_rest_is_broad_and_who_names_a_file_runs_it(planted: Planted) -> None:
    default, rest, everything = planted(), planted("-m", "broad"), planted("--broad")
    assert collections.Counter(everything) == collections.Counter([*default, *rest])
    assert "test_by_hand" in rest and len(everything) == (48 + 24 + 5 + 1 + 1 + 4 + 1) + (3 + 1)
    assert planted("-m", "not full and not broad") == default
    assert len(planted("test_planted.py")) == len(everything) - 4, "all of it but full"
    assert planted("test_planted.py::test_by_hand") == ["test_by_hand"]
    assert len(planted("test_planted.py", ".")) > len(default), "and beside it the folder's default"
    assert planted("-m", "full") == ["test_of_the_night[0]", "test_of_the_night[1]"]


def test_quick_has_one_case_of_each_quick_test_whatever_the_budget_of_its_file(planted: Planted) -> None:
    for name in ("test_planted.py::test_dearer", "test_alone.py::test_alone"):
        quick.listed()[name] = quick.Cost(20.0, True)
    names = planted("--quick", "-p", "tests.quick")
    assert "test_dearer" in names and values(names, "test_alone") == [("0",)]
    assert "test_dear" not in names, "it is slow"


def test_workers_choose_alike(planted: Planted, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where two have collected other tests xdist fails. The costs of planted tests are not known there."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    ended = planted.pytester.runpytest_subprocess(*OPTIONS, "-n", "2")
    ended.assert_outcomes(passed=len(planted()) + 3 + 1 + 3)


def test_a_mark_by_hand_has_a_reason(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("import pytest\n\n@pytest.mark.broad\ndef test_one(): pass\n")
    ended = pytester.runpytest_inprocess(*OPTIONS)
    assert ended.ret == pytest.ExitCode.USAGE_ERROR
    ended.stderr.fnmatch_lines(["*::test_one is marked broad without a reason*"])


def in_the_default_run(request: pytest.FixtureRequest, folder: str) -> list[pytest.Item]:
    """What the default run has of a folder of tests, where all of it was collected."""
    items = request.config.stash[ITEMS]
    missing = set((ROOT / folder).rglob("test_*.py")) - {item.path for item in items}
    if len(missing) > 20:
        pytest.skip(f"asked where all of {folder} is collected")
    return [item for item in items if item.get_closest_marker("broad") is None and ROOT / folder in item.path.parents]


def test_the_default_run_tests_all_there_is_on_the_host(request: pytest.FixtureRequest) -> None:
    met: set[str] = set()
    for item in in_the_default_run(request, "tests/gpu"):
        if item.get_closest_marker("cuda") is not None:
            continue
        for value in (parameters_of(item) if hasattr(item, "callspec") else {}).values():
            parts = value if isinstance(value, (tuple, list)) else (value,)
            met.update(part for part in parts if isinstance(part, str))
    layouts = {layout for name in structures() for layout in structure(name).layouts()}
    for kind in (structures(), layouts, optimisers(), ray_types(), policies()):
        assert set(kind) <= met, f"not in the default run: {sorted(set(kind) - met)}"
