"""Eight planted faults are named, each by its own code; good trees over good scenes hear nothing."""

import dataclasses
import json

import numpy as np
import pytest

import raygrove as rg
from raygrove.gpu.analysis.diagnosis import Findings
from raygrove.gpu.analysis.validation import boxes_of
from raygrove.gpu.target.base import Target

from .test_validation import halved, soup

VERTICES, TRIANGLES = soup(400)
BOXES = boxes_of(VERTICES, TRIANGLES)
SEED = np.random.default_rng(8)
SHUFFLED = SEED.permutation(400)


def columns(boxes: np.ndarray = BOXES, leaf: int = 1) -> dict[str, np.ndarray]:
    return halved(boxes, leaf)


def refitted(tree: dict[str, np.ndarray], boxes: np.ndarray) -> dict[str, np.ndarray]:
    """The same links with the smallest boxes, found from the leaves up."""
    bounds = np.zeros((len(tree["count"]), 6), np.float32)
    for node in range(len(bounds) - 1, -1, -1):  # children have higher rows
        if tree["count"][node]:
            ids = tree["primitives"][tree["first"][node] :][: tree["count"][node]]
            below = boxes[ids]
        else:
            below = bounds[tree["children"][node]]
        bounds[node] = [*below[:, :3].min(axis=0), *below[:, 3:].max(axis=0)]
    return {**tree, "bounds": bounds}


def codes(tree: dict[str, np.ndarray], vertices: np.ndarray = VERTICES) -> list[str]:
    return [finding.code for finding in rg.diagnose(rg.Tree(**tree), vertices, TRIANGLES)]


def test_a_tree_built_over_zeros_and_never_updated() -> None:
    assert codes(columns(np.zeros_like(BOXES))) == ["zero_buffer"]


def test_a_tree_built_over_zeros_and_refitted() -> None:
    """The fault that nothing shows but time: boxes are right, the links know nothing of space."""
    (found,) = rg.diagnose(rg.Tree(**refitted(columns(np.zeros_like(BOXES)), BOXES)), VERTICES, TRIANGLES)
    assert found.code == "zero_buffer" and found.gain is not None and found.gain > 2.0
    assert f"{found.gain:.1f} times" in found.sentence and found.remedy


def test_a_root_that_is_none() -> None:
    tree = columns()
    order = np.arange(len(tree["count"]))
    order[[0, 1]] = [1, 0]
    moved = {name: values[order] for name, values in tree.items() if name != "primitives"}
    moved["children"] = np.where(tree["count"][order][:, None] == 0, order[moved["children"]], 0)
    (found,) = rg.diagnose(rg.Tree(**moved, primitives=tree["primitives"]), VERTICES, TRIANGLES)
    assert found.code == "wrong_root" and found.evidence["parent"] == 1


def test_a_row_that_is_not_used_is_no_node_above_the_root() -> None:
    """Zeros, as tinybvh leaves row 1: they name rows 0 and 1 as children. What is lost is lost all the same."""
    tree = columns()
    unused = {name: np.insert(values, 1, 0, axis=0) for name, values in tree.items() if name != "primitives"}
    links = np.where(unused["children"] > 0, unused["children"] + 1, 0)
    links[1] = [0, 1]
    last = int(np.flatnonzero(unused["count"])[-1])
    unused["first"][last] = unused["first"][np.flatnonzero(unused["count"])[0]]
    found = rg.diagnose(rg.Tree(**{**unused, "children": links}, primitives=tree["primitives"]), VERTICES, TRIANGLES)
    told = {one.code for one in found}
    assert "wrong_root" not in told and {"lost_primitive", "duplicate_primitive"} <= told


def test_a_refit_that_makes_all_boxes_the_roots() -> None:
    tree = columns()
    tree["bounds"][:] = tree["bounds"][0]
    (found,) = rg.diagnose(rg.Tree(**tree), VERTICES, TRIANGLES)
    assert found.code == "root_sized" and found.gain is not None and found.gain > 10.0


def test_a_tree_of_an_older_pose() -> None:
    frames = np.stack([VERTICES, VERTICES + np.float32(0.5), VERTICES + np.float32(1.0)])
    (found,) = rg.diagnose(rg.Tree(**columns()), frames, TRIANGLES)
    assert found.code == "stale_pose" and "They fit the pose 2 frames earlier." in found.sentence
    moved = rg.diagnose(rg.Tree(**columns()), VERTICES + np.float32(1.0), TRIANGLES)
    assert [one.code for one in moved] == ["stale_pose"]
    assert moved[0].evidence["farthest"] == pytest.approx(1.0) and "by up to 1 (" in moved[0].sentence


def test_a_tree_that_was_refitted_alone() -> None:
    """Its primitives changed their places; its boxes are right."""
    late = soup(400, seed=30)[0]
    frames = np.stack([VERTICES + np.float32(step / 4) * (late - VERTICES) for step in range(5)])
    (found,) = rg.diagnose(rg.Tree(**refitted(columns(), boxes_of(late, TRIANGLES))), frames, TRIANGLES)
    assert found.code == "refit_only"
    assert "The tree fits frame 0, and was refitted alone in the 4 frames since: rays cost" in found.sentence
    (next_one,) = rg.diagnose(rg.Tree(**refitted(columns(), boxes_of(late, TRIANGLES))), frames[[0, -1]], TRIANGLES)
    assert "refitted alone in the 1 frame since:" in next_one.sentence
    assert found.gain is not None and found.gain > 1.5


def test_primitives_that_are_twice_or_nowhere() -> None:
    tree = columns(leaf=2)
    leaf = int(np.flatnonzero(tree["count"] > 1)[3])
    lost = {**tree, "count": tree["count"].copy()}
    lost["count"][leaf] -= 1
    assert codes(lost) == ["lost_primitive"]
    twice = {**tree, "first": tree["first"].copy(), "count": tree["count"].copy()}
    twice["count"][leaf] = 3
    assert codes(refitted(twice, BOXES)) == ["duplicate_primitive"]


def test_a_chain_of_empty_leaves() -> None:
    """Three nodes in a row, each with a leaf of nothing beside it."""
    tree = columns()
    count = len(tree["count"])
    leaf = int(np.flatnonzero(tree["count"])[5])
    parent = int(np.argwhere(tree["children"] == leaf)[-1][0])
    side = int(np.argwhere(tree["children"][parent] == leaf)[0][0])
    links = [[count + 1, count + 3], [count + 2, count + 4], [leaf, count + 5], [-1, -1], [-1, -1], [-1, -1]]
    grown = {
        "children": np.vstack([tree["children"], links]), "first": np.append(tree["first"], np.zeros(6, int)),
        "count": np.append(tree["count"], np.zeros(6, int)), "primitives": tree["primitives"],
        "bounds": np.vstack([tree["bounds"], np.repeat(tree["bounds"][leaf][None], 6, axis=0)]),
    }  # fmt: skip
    grown["children"][parent, side] = count
    (found,) = rg.diagnose(rg.Tree(**grown), VERTICES, TRIANGLES)
    assert found.code == "empty_leaf_chain" and found.evidence["chain"] == 3 and found.evidence["count"] == 3


def test_what_geometry_alone_tells() -> None:
    frames = np.stack([np.zeros_like(VERTICES), VERTICES])
    assert [one.code for one in rg.diagnose(frames, TRIANGLES)] == ["zero_buffer"]
    half = np.stack([VERTICES, VERTICES.copy()])
    half[1, :300] += np.float32(0.1)
    assert [one.code for one in rg.diagnose(half, TRIANGLES)] == ["unmoved"]
    far = VERTICES.copy()
    far[:3] = [[-5, -5, -5], [1e4, 0, 0], [0, 1e4, 1e4]]
    assert [one.code for one in rg.diagnose(far, TRIANGLES)] == ["spanning_object", "codes_too_short"]


DEMOS, BUILDERS = ("orbit", "walker", "cloth", "explode", "blob"), ("lbvh", "hploc", "binned_sah", "sweep_sah")
BY_TURNS = [
    pytest.param(demo, builder, marks=() if builder == BUILDERS[index % 4] or not turn else pytest.mark.full)
    for turn, builder in enumerate(BUILDERS)
    for index, demo in enumerate(DEMOS)
]
"""Each scene with the first builder, and each builder with one or two scenes; the rest under -m full."""


@pytest.mark.parametrize(("demo", "builder"), BY_TURNS)
def test_good_scenes_hear_nothing(demo: str, builder: str, host_target: Target) -> None:
    clip = rg.open(demo)
    vertices, triangles = clip.at(0.5 * clip.duration)
    with rg.build(vertices, triangles, builder, target=host_target) as structure:
        found = rg.diagnose(structure)
    assert found == (), [one.sentence for one in found]


def test_findings_are_json_and_raise() -> None:
    found = rg.diagnose(rg.Tree(**columns(np.zeros_like(BOXES))), VERTICES, TRIANGLES)
    assert json.loads(found.to_json())[0]["code"] == "zero_buffer" and found.is_bad
    with pytest.raises(rg.Error, match=r"rg.diagnose: .*zero") as raised:
        found.raise_if_bad()
    assert found[0].remedy in str(raised.value) and str(found).startswith("error: ")
    advice = Findings([dataclasses.replace(found[0], severity="advice")])
    advice.raise_if_bad()
    Findings().raise_if_bad()
    assert not advice.is_bad and str(Findings()) == "Nothing is wrong."
