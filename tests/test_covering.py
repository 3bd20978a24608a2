"""Few of many cases: those that meet each combination which matters."""

from __future__ import annotations

import itertools
import pathlib
import subprocess
import sys

from tests.covering import covering
from tests.waiting import PROCESS_S

ROOT = pathlib.Path(__file__).resolve().parents[1]

SESSION = """
import pytest

@pytest.fixture(params=["host", "cuda"])
def target(request): return request.param

@pytest.mark.covers("choice.0 scene", "choice.1 way")
@pytest.mark.parametrize("way", ["once", "again"])
@pytest.mark.parametrize("scene", range(4))
@pytest.mark.parametrize("choice", [("a", 1), ("a", 2), ("b", 1), ("b", 2), ("c", 3)], ids=lambda pair: "%s%d" % pair)
def test_of_many(target, choice, scene, way): pass

@pytest.mark.parametrize("scene", [0, pytest.param(1, marks=pytest.mark.full), 2])
@pytest.mark.covers("scene")
def test_some_of_which_are_full(scene): pass

@pytest.mark.parametrize("scene", range(3))
def test_plain(scene): pass
"""


def test_each_pair_is_met_by_few() -> None:
    cases = list(itertools.product(range(5), range(4), range(3), range(2)))
    places = list(itertools.combinations(range(4), 2))
    met = [frozenset((pair, case[pair[0]], case[pair[1]]) for pair in places) for case in cases]
    chosen = covering(met)
    assert frozenset().union(*(met[place] for place in chosen)) == frozenset().union(*met)
    assert 5 * 4 <= len(chosen) <= 26  # of 120; no fewer than the largest pair has


def test_nothing_is_left_of_what_differs_in_everything() -> None:
    assert covering([frozenset({place}) for place in range(7)]) == set(range(7))
    assert covering([]) == set() and covering([frozenset({1}), frozenset({1})]) == {0}


def collected(folder: pathlib.Path, *options: str) -> list[str]:
    """The names of the cases of SESSION that would run."""
    (folder / "pytest.ini").write_text("[pytest]\nmarkers =\n full\n")
    (folder / "test_planted.py").write_text(SESSION)
    given = ["-p", "tests.covering", "-c", str(folder / "pytest.ini"), "-p", "no:xvfb", "-p", "no:cacheprovider"]
    command = [sys.executable, "-m", "pytest", *given, "--collect-only", "-q", *options, str(folder)]
    said = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=PROCESS_S, check=True).stdout
    return [line.partition("::")[2] for line in said.splitlines() if "::" in line]


def test_the_rest_is_full(tmp_path: pathlib.Path) -> None:
    few, rest = collected(tmp_path, "-m", "not full"), collected(tmp_path, "-m", "full")
    assert not set(few) & set(rest) and sorted([*few, *rest]) == sorted(collected(tmp_path))
    of_many = [name.partition("[")[2].rstrip("]").split("-") for name in few if name.startswith("test_of_many")]
    for kind in ("host", "cuda"):
        chosen = [case for case in of_many if kind in case]
        assert len(chosen) == 3 * 4, "as many as there are structures and scenes"
        assert {(case[1][0], case[2]) for case in chosen} == set(itertools.product("abc", "0123"))
        assert {(case[1][1], case[3]) for case in chosen} == set(itertools.product("123", ("once", "again")))
    assert [name for name in few if not name.startswith("test_of_many")] == [
        "test_some_of_which_are_full[0]",
        "test_some_of_which_are_full[2]",
        *(f"test_plain[{number}]" for number in range(3)),
    ]
