"""Functions as builders: every layout and optimiser takes their trees, frames go on with them, and what is wrong with a
function or its tree is a sentence before anything follows it."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator
from typing import Annotated, Any, Literal

import numpy as np
import pytest

from raygrove.gpu.engine import Engine, View, ViewSettings
from raygrove.gpu.hierarchy import registry
from raygrove.gpu.hierarchy.base import CannotRefitError, Hierarchy, HierarchyError, StructureChoice
from raygrove.gpu.hierarchy.bvh.optimisers import optimiser_classes
from raygrove.gpu.hierarchy.bvh.own.tree import MOST_DEPTH, Tree, TreeError, checked_tree
from raygrove.gpu.pixels import ArrayPixels
from raygrove.gpu.scene import Moment
from raygrove.gpu.settings import checked, fields_of
from raygrove.gpu.target.base import Target
from raygrove.gpu.update.options import UpdateOptions
from raygrove.testing.closest_hits import triangle_hits
from raygrove.testing.scenes import SCENES, TriangleScene, make, make_with, rays, soup, trace
from raygrove.testing.tree_walker import check_tree, tree_statistics
from tests.gpu.moving_scene import CAMERA, SIZE, moving_scene

from .given_tree import random_tree
from .own_builders import any_tree, builder, cut_in_two, halved, registered, rows_of, with_bounds

LAYOUTS = ("bvh2", "bvh2_compact", "bvh2_soa", "bvh4", "bvh8", "cwbvh")


@pytest.fixture(autouse=True)
def nothing_stays() -> Iterator[None]:
    """No structure of a test is there in the next one."""
    before = set(registry.structures())
    yield
    for name in set(registry.structures()) - before:
        registry.unregister(name)


def assert_hits(made: Hierarchy, scene: TriangleScene, later: bool = False) -> None:
    expected = triangle_hits(scene.corners(later), *rays())
    sure = expected.is_certain
    np.testing.assert_array_equal(trace(made, *rays()).prim_id[sure], expected.prim_id[sure])


# -- what is built -----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("scene_name", ["one", "two", "soup", "degenerate", "moving"])
def test_any_tree_is_built_refitted_and_traced(target: Target, scene_name: str, layout: str) -> None:
    scene = SCENES[scene_name]()
    builder("mine")(any_tree)
    made = make(target, "mine", layout)
    for seed in (1, 2):  # another tree in the memory of the one before
        made = made if seed == 1 else make(target, "mine", layout, seed=seed)
        made.build(scene.upload(target))
        check_tree(made.nodes(), *scene.boxes())
        assert_hits(made, scene)
        made.refit(scene.upload(target, later=True))
        check_tree(made.nodes(), *scene.boxes(later=True))
        assert_hits(made, scene, later=True)


def test_the_tree_is_the_functions(host_target: Target) -> None:
    """Leaves, what they list, and who lies below whom are as the function said."""
    scene = soup(300)
    lower, upper = scene.boxes()
    boxes = np.hstack([lower, upper])
    given = any_tree(boxes, seed=9)
    builder("mine")(lambda bounds: given)
    made = make(host_target, "mine")
    made.build(scene.upload(host_target))
    table = made.nodes()
    places = {0: 0}  # row of the table -> row of the function's tree
    for row in range(len(table)):
        node, below = places[row], np.flatnonzero(table.parent == row)
        places |= dict(zip(below.tolist(), given.children[node].tolist(), strict=True)) if len(below) else {}
        np.testing.assert_array_equal(table.lower[row], given.bounds[node, :3])
        first, count = given.first[node], given.count[node]
        if count > 0:
            listed = table.references[table.first_reference[row] :][: table.reference_count[row]]
            np.testing.assert_array_equal(listed, given.primitives[first : first + count])
    assert len(places) == len(table)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_split_references_keep_their_parts(target: Target, layout: str) -> None:
    scene = soup(300, size=0.3)
    builder("mine", splits_references=True)(cut_in_two)
    made = make(target, "mine", layout)
    for seed in (5, 6):
        made = made if seed == 5 else make(target, "mine", layout, seed=seed)
        made.build(scene.upload(target))
        table = made.nodes()
        check_tree(table, *scene.boxes(), splits_references=True)
        leaves = np.flatnonzero(table.is_leaf)
        whole = np.prod(np.subtract(*scene.boxes()), axis=1)[table.references[table.first_reference[leaves]]]
        parts = np.prod(table.lower[leaves] - table.upper[leaves], axis=1)
        assert len(table.references) == len(leaves) == 600
        np.testing.assert_allclose(parts, whole / 2, rtol=1e-3, atol=1e-6)
        assert_hits(made, scene)
    made.measure()
    target.synchronize()
    assert made.stats().reference_count == 600
    assert made.stats().sah_cost == pytest.approx(tree_statistics(table).sah_cost, rel=1e-5)
    with pytest.raises(CannotRefitError):
        made.refit(scene.upload(target))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_leaves_of_any_size(target: Target, layout: str) -> None:
    """Longer ones than words can say, in a tree that had none before and has none after."""
    scene = soup(700)
    builder("mine")(halved)
    made = make(target, "mine", layout)
    for size in (4, 32, 90, 700, 4):
        object.__setattr__(made.options, "max_leaf_size", size)
        made.build(scene.upload(target))
        table = made.nodes()
        check_tree(table, *scene.boxes())
        assert table.reference_count.max() == min(700, {4: 3, 32: 22, 90: 88}.get(size, 700))
        assert_hits(made, scene)
        made.refit(scene.upload(target, later=True))
        assert_hits(made, scene, later=True)


@pytest.mark.parametrize("optimiser", sorted(optimiser_classes()))
def test_optimisers_take_its_trees(target: Target, optimiser: str) -> None:
    scene = soup(1500)
    builder("mine")(any_tree)
    plain = make(target, "mine", "bvh4")
    improved = make_with(target, "mine", StructureChoice(layout="bvh4", optimiser=optimiser))
    for made in (plain, improved):
        made.build(scene.upload(target))
        made.measure()
    target.synchronize()
    check_tree(improved.nodes(), *scene.boxes())
    assert improved.stats().sah_cost < 0.95 * plain.stats().sah_cost
    assert_hits(improved, scene)


def test_the_function_sees_active_boxes_alone(target: Target) -> None:
    """Those that have none come beside, and are there after a refit that gives them one."""
    scene, seen = soup(500), []
    broken = TriangleScene(scene.positions.copy(), scene.indices, scene.positions)
    broken.positions[scene.indices[::5, 1]] = np.nan

    def build(bounds: np.ndarray) -> Tree:
        seen.append(bounds.copy())
        bounds[:] = 7.0  # its own copy
        return halved(bounds)

    builder("mine")(build)
    made = make(target, "mine")
    made.build(broken.upload(target))
    lower, upper = broken.boxes()
    is_active = (lower <= upper).all(axis=1)
    assert seen[0].dtype == np.float32 and is_active.sum() == 400
    np.testing.assert_array_equal(seen[0], np.hstack([lower, upper])[is_active])
    check_tree(made.nodes(), lower, upper)
    made.refit(scene.upload(target))
    assert_hits(made, scene)
    broken.positions[:] = np.nan
    made.build(broken.upload(target))
    assert len(seen) == 1 and (trace(made, *rays()).prim_id == -1).all()
    check_tree(made.nodes(), *broken.boxes())


# -- frames ------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("mode", ["rebuild", "refit", "auto"])
def test_frames_draw_what_they_draw_by_another_builder(
    target: Target, monkeypatch: pytest.MonkeyPatch, mode: str
) -> None:
    """Whatever is replayed: refits are, rebuilds are not, and both go on in turn."""
    calls: list[int] = []
    captured: list[int] = []
    capture = target.capture

    def noted(body: Callable[[], None]) -> Callable[[], None]:
        captured.append(len(calls))
        return capture(body)

    monkeypatch.setattr(target, "capture", noted)

    def build(bounds: np.ndarray) -> Tree:
        assert not target.is_capturing
        calls.append(len(bounds))
        return halved(bounds)

    builder("mine")(build)
    pictures: dict[str, list[np.ndarray]] = {}
    for name in ("mine", "lbvh"):
        pixels = ArrayPixels(target, *SIZE)
        settings = ViewSettings(name, ray_type="normals", update=UpdateOptions(mode=mode))
        with contextlib.closing(Engine(target, moving_scene())) as engine:
            for step in range(8):
                engine.render_frame(Moment(step / 4), [View(settings, CAMERA, pixels)])
                pictures.setdefault(name, []).append(pixels.download().copy())
            frame = engine.flush()
        if name == "mine":
            assert len(calls) >= (8 if mode == "rebuild" else 1) and bool(captured) == (mode != "rebuild")
            phases = frame.views[0].phases_ms
            assert ("build.function" in phases) == (frame.views[0].update == "rebuild")
            if "build.function" in phases:
                own = sum(ms for phase, ms in phases.items() if phase.startswith("build."))
                assert phases["check.tree"] > 0 and frame.views[0].build_ms == pytest.approx(own)
    for mine, other in zip(pictures["mine"], pictures["lbvh"], strict=True):
        np.testing.assert_array_equal(mine, other)


def test_a_build_is_never_captured(target: Target) -> None:
    builder("mine")(halved)
    scene = soup(50)
    made, primitives = make(target, "mine"), scene.upload(target)
    made.build(primitives)
    with pytest.raises(HierarchyError, match="mine is built by a function on the host, which cannot be captured"):
        target.capture(lambda: made.build(primitives))
    made.refit(primitives)
    replay = target.capture(lambda: made.refit(primitives))
    replay()
    assert_hits(made, scene)


# -- what goes wrong ---------------------------------------------------------------------------------------------------
def nodes(**changes: Any) -> Tree:
    """Four boxes in two leaves, nodes 1 and 2, with something else."""
    sound: dict[str, Any] = {"children": [[1, 2], [0, 0], [0, 0]], "first": [0, 0, 2], "count": [0, 2, 2]}
    return Tree(**{**sound, "primitives": [0, 1, 2, 3], **changes})


def line_of_boxes(**changes: Any) -> Tree:
    """The same with bounds of boxes from (i, 0, 0) to (i + 1, 1, 1)."""
    bounds = [[0, 0, 0, 4, 1, 1], [0, 0, 0, 2, 1, 1], [2, 0, 0, 4, 1, 1]]
    for node, row in changes.pop("rows", {}).items():
        bounds[node] = row
    return nodes(**{"bounds": bounds, **changes})


CHAIN = [[row + 1, row + 2] for row in range(800)] + [[0, 0]]
WRONG: dict[str, tuple[Any, str]] = {
    "no tree": ({"children": []}, "it gave a dict; a raygrove.Tree is asked for"),
    "no node": (nodes(children=[], first=[], count=[]), "it has no node"),
    "rows": (nodes(first=[0, 0]), "first has 2 rows, and count has 3"),
    "floats": (nodes(count=[0.0, 2.0, 2.0]), r"count are whole numbers, \(M,\); these are \(3,\) of float64"),
    "three children": (nodes(children=[[1, 2, 3]] * 3), r"children are whole numbers, \(M, 2\)"),
    "ragged": (nodes(children=[[1, 2], [0]]), "children is no array on the host"),
    "below": (nodes(count=[0, -1, 2]), "node 1 has a count of -1"),
    "no child": (nodes(children=[[1, -1]] * 3), "node 0 has a count of 0, .* its right child is -1"),
    "far child": (nodes(children=[[3, 1]] * 3), "node 0 .* its left child is 3: children are rows from 0 to 2"),
    "own child": (nodes(children=[[1, 0]] * 3), "node 0 has the child 0, which is itself or lies above it: a cycle"),
    "cycle": (
        nodes(children=[[1, 2], [3, 4], [0, 0], [1, 2], [0, 0]], first=[0] * 5, count=[0, 0, 4, 0, 1]),
        "node 3 has the child 1, which is itself or lies above it: a cycle",
    ),
    "twin": (nodes(children=[[2, 2]] * 3), "node 0 has the child 2, which is a child of node 0 already"),
    "shared": (
        nodes(children=[[1, 2], [3, 4], [4, 5]] + [[0, 0]] * 3, first=[0] * 6, count=[0, 0, 0, 2, 1, 1]),
        "node 2 has the child 4, which is a child of node 1 already",
    ),
    "deep": (
        nodes(children=CHAIN, first=[0] * 801, count=[0, 1] * 400 + [1]),
        "a tree has at most 255 inner nodes",
    ),
    "leaf": (nodes(first=[0, 0, 3]), r"node 2 is a leaf of primitives\[3:5\], and primitives has 4 entries"),
    "huge": (nodes(count=[0, 2, 2**62]), r"node 2 is a leaf of primitives\[2:46"),
    "negative": (nodes(first=[0, -1, 2]), r"node 1 is a leaf of primitives\[-1:1\]"),
    "far": (nodes(primitives=[0, 1, 4, 3]), "node 2 lists primitive 4, and there are 4 boxes"),
    "twice": (nodes(first=[0, 0, 1]), "node 2 lists primitive 1, and node 1 lists it already"),
    "again": (nodes(primitives=[0, 1, 3, 3]), "node 2 lists primitive 3, and the same node lists it twice"),
    "missing": (nodes(count=[0, 2, 1]), "primitive 3 is in no leaf that the root leads to"),
    "more missing": (nodes(count=[0, 1, 1]), "primitive 1 is in no leaf that the root leads to, nor are 1 others"),
    "bounds": (nodes(bounds=np.zeros((3, 4))), r"bounds are rows of six numbers, \(M, 6\)"),
    "NaN": (line_of_boxes(rows={2: [2, np.nan, 0, 4, 1, 1]}), "node 2 has a box that is not finite"),
    "overflow": (line_of_boxes(rows={1: [0, 0, 0, 1e300, 1, 1]}), "node 1 has a box that is not finite"),
    "inverted": (line_of_boxes(rows={1: [0, 0, 0, 2, -1, 1]}), "node 1 has a box whose lower corner lies above"),
    "outside": (
        line_of_boxes(rows={0: [0, 0, 0, 3, 1, 1]}),
        re.escape("node 0 has the box (0, 0, 0) to (3, 1, 1), which does not hold that of its child 2, (2, 0, 0) to"),
    ),
    "too small": (
        line_of_boxes(rows={2: [2, 0, 0, 4, 1, 0.5]}),
        r"node 2 has the box \(2, 0, 0\) to \(4, 1, 0.5\), which does not hold that of primitive 2",
    ),
}


def boxes_in_a_row() -> TriangleScene:
    corners = np.array([[[i, 0, 0], [i + 1, 1, 0], [i, 0, 1]] for i in range(4)], np.float32)
    return TriangleScene(corners.reshape(-1, 3), np.arange(12, dtype=np.int32).reshape(-1, 3), corners.reshape(-1, 3))


@pytest.mark.parametrize("fault", WRONG)
def test_a_tree_that_is_none_is_named(host_target: Target, fault: str) -> None:
    """And the tree before stays."""
    given, sentence = WRONG[fault]
    trees = [line_of_boxes(), given]
    builder("mine")(lambda bounds: trees.pop(0))
    made, scene = make(host_target, "mine"), boxes_in_a_row()
    primitives = scene.upload(host_target)
    made.build(primitives)
    before = made.nodes()
    with pytest.raises(
        HierarchyError, match=f"The function .*lambda.* of the structure mine gave no tree: .*{sentence}"
    ):
        made.build(primitives)
    np.testing.assert_array_equal(made.nodes().references, before.references)
    made.refit(primitives)
    assert trace(made, [[2.5, 0.2, 0.2]], [[0.0, 1.0, 0.0]]).prim_id.tolist() == [2]


def test_rounding_is_no_fault(host_target: Target) -> None:
    near = np.nextafter(np.float32(2), np.float32(0))
    builder("mine")(lambda bounds: line_of_boxes(rows={1: [0, 0, 0, near, 1, 1]}))
    made = make(host_target, "mine")
    made.build(boxes_in_a_row().upload(host_target))
    assert made.nodes().upper[:, 0].max() == 4.0


def test_parts_lie_where_their_primitives_are(host_target: Target) -> None:
    builder("without", splits_references=True)(lambda bounds: nodes())
    builder("apart", splits_references=True)(
        lambda bounds: line_of_boxes(primitives=[0, 1, 0, 3], rows={2: [2, 0, 0, 4, 1, 1]})
    )
    for name, sentence in (("without", "it has no bounds"), ("apart", "does not meet that of primitive 0")):
        with pytest.raises(HierarchyError, match=f"{sentence}|primitive 2 is in no leaf"):
            make(host_target, name).build(boxes_in_a_row().upload(host_target))


def test_what_the_function_raises_has_its_line(host_target: Target) -> None:
    def fails(bounds: np.ndarray, *, at: int = 3) -> Tree:
        return len(bounds[at:].reshape(-1, 7))  # type: ignore[return-value]

    builder("mine")(fails)
    line = fails.__code__.co_firstlineno + 1
    sentence = (
        rf"The function .*fails of the structure mine failed in line {line} of test_own_builder.py: ValueError: .*7"
    )
    with pytest.raises(HierarchyError, match=sentence) as caught:
        make(host_target, "mine").build(boxes_in_a_row().upload(host_target))
    assert isinstance(caught.value.__cause__, ValueError)


def test_the_deepest_tree_is_traced(host_target: Target) -> None:
    """As deep as may be: no stack is too short for it."""
    count = MOST_DEPTH + 1
    scene = soup(count)

    def chain(bounds: np.ndarray) -> Tree:
        counts = [0] + [1, 0] * (count - 2) + [1, 1]
        children = [(row + 1, row + 2) if size == 0 else (0, 0) for row, size in enumerate(counts)]
        first = np.cumsum(counts) - counts
        return Tree(children=children, first=first, count=counts, primitives=np.arange(count))

    builder("mine")(chain)
    for layout in LAYOUTS:
        made = make(host_target, "mine", layout)
        made.build(scene.upload(host_target))
        assert made.nodes().depth.max() == MOST_DEPTH
        assert_hits(made, scene)


# -- names and options -------------------------------------------------------------------------------------------------
def test_options_come_from_the_signature() -> None:
    def build(
        bounds: np.ndarray,
        *,
        bins: Annotated[int, (2, 256), "Bins an axis."] = 8,
        rule: Literal["size", "sah"] = "sah",
        share: Annotated[float, (0.0, None)] = 1,
        is_quick: bool = False,
    ) -> Tree:
        return halved(bounds)

    builder("mine", bins=16)(build)
    kind = registry.structure("mine")
    found = {field.name: field for field in fields_of(kind.Options)}
    assert list(found) == ["bins", "rule", "share", "is_quick"]
    assert (found["bins"].default, found["bins"].allowed()) == (16, "a whole number from 2 to 256")
    assert found["bins"].info.sentence == "Bins an axis."
    assert found["rule"].allowed() == "one of size, sah"
    assert (found["share"].default, found["share"].type, found["share"].info.minimum) == (1.0, float, 0.0)
    assert checked(kind.Options, {"bins": 32, "is_quick": True}).bins == 32  # type: ignore[attr-defined]
    with pytest.raises(ValueError, match="mine.bins = 1 is not allowed: a whole number from 2 to 256"):
        checked(kind.Options, {"bins": 1}, "mine.")


def test_options_reach_the_function(host_target: Target) -> None:
    given: list[dict[str, Any]] = []

    def build(bounds: np.ndarray, size: int = 2, **more: Any) -> Tree:
        given.append({"size": size, **more})
        return halved(bounds, max_leaf_size=size)

    builder("mine", depth=5)(build)
    make(host_target, "mine", size=7).build(soup(30).upload(host_target))
    assert given == [{"size": 7, "depth": 5}]


def needs(bounds: np.ndarray, bins: int) -> Tree:
    raise NotImplementedError


def many(bounds: np.ndarray, bins: int | None = None) -> Tree:
    raise NotImplementedError


def listed(bounds: np.ndarray, bins: tuple[int, ...] = ()) -> Tree:
    raise NotImplementedError


def far(bounds: np.ndarray, bins: Annotated[int, (2, 8)] = 16) -> Tree:
    raise NotImplementedError


def nothing() -> Tree:
    raise NotImplementedError


@pytest.mark.parametrize(
    "function, defaults, sentence",
    [
        (needs, {}, r'the parameter bins without a default: builder\("mine", bins=...\) gives it one'),
        (needs, {"bins": 3, "bin": 4}, "has no parameter bin, which the decorator gives a default"),
        (many, {}, "the option bins has several types"),
        (listed, {}, "the option bins is of the type .*tuple.*: options are bool, int, float or str"),
        (far, {}, "the default bins = 16 is not allowed: a whole number from 2 to 8"),
        (nothing, {}, "takes no boxes: its first parameter is the array of them"),
    ],
)
def test_a_function_that_cannot_be_called_so_is_refused(function: Any, defaults: Any, sentence: str) -> None:
    with pytest.raises(TypeError, match=f"The function {function.__name__} of the structure mine.*{sentence}"):
        builder("mine", **defaults)(function)
    assert "mine" not in registry.structures()


def test_a_name_is_one_structures() -> None:
    for name, sentence in (
        ("lbvh", "There is a structure called lbvh already, of the project"),
        ("brute_force", "of the project"),
        ("My tree", "cannot be called 'My tree'"),
        ("class", "cannot be called 'class'"),
    ):
        with pytest.raises(ValueError, match=sentence):
            builder(name)(halved)
    builder("mine")(halved)
    builder("mine")(any_tree)  # of another module

    def again(bounds: np.ndarray) -> Tree:
        raise NotImplementedError

    with pytest.raises(ValueError, match="Two structures are called mine: .*own_builders and .*test_own_builder"):
        builder("mine")(again)
    builder("other")(again)
    builder("other", title="Once more")(again)
    assert registry.structure("other").title == "Once more"


def test_capabilities_say_what_it_can() -> None:
    with registered("mine", cut_in_two, splits_references=True, deterministic=False):
        can = registry.structure("mine").capabilities
        assert can.splits_references and can.builds_on_host and not can.refit and not can.deterministic
        assert "mine" not in registry.own_structures()
    assert "mine" not in registry.structures()
    assert not any(kind.capabilities.builds_on_host for kind in registry.structures().values())


def test_rows_in_any_order_are_the_same_tree(host_target: Target) -> None:
    """Numbers of rows mean nothing: canonical arrays are those of the tree."""
    scene, given = soup(200), random_tree(200, 4)
    tables = []
    for seed in (1, 2):
        rows = rows_of(given, seed)
        with registered("mine", _giving(rows)):
            made = make(host_target, "mine")
            made.build(scene.upload(host_target))
            tables.append([np.ascontiguousarray(column).tobytes() for column in vars(made.nodes()).values()])
    assert tables[0] == tables[1]


def _giving(rows: dict[str, np.ndarray]) -> Any:
    return lambda bounds: with_bounds(rows, bounds)


def is_tree(given: Tree, boxes: np.ndarray) -> bool:
    """By another way than the checks': going down, and counting what was met."""
    met, listed, waiting = set(), [], [0]
    node_count = len(given.count)
    while waiting:
        node = waiting.pop()
        if not 0 <= node < node_count or node in met or given.count[node] < 0:
            return False
        met.add(node)
        first, count, box = int(given.first[node]), int(given.count[node]), given.bounds[node]
        if not np.isfinite(box).all() or (box[:3] > box[3:]).any():
            return False
        if count > 0:
            if first < 0 or first + count > len(given.primitives):
                return False
            held = given.primitives[first : first + count]
            if not ((held >= 0) & (held < len(boxes))).all():
                return False
            listed += held.tolist()
            below = boxes[held]
        else:
            waiting += given.children[node].tolist()
            below = given.bounds[[child for child in given.children[node] if 0 <= child < node_count]]
        if not ((below[:, :3] >= box[:3] - 1e-5) & (below[:, 3:] <= box[3:] + 1e-5)).all():
            return False
    return sorted(listed) == list(range(len(boxes)))


def test_every_spoiled_tree_is_told_from_sound_ones() -> None:
    """A thousand trees with a number or two that are others."""
    random, outcomes = np.random.default_rng(8), []
    for round_number in range(1000):
        count = int(random.integers(1, 12))
        corners = random.random((count, 6)).astype(np.float32)
        boxes = np.hstack([np.minimum(corners[:, :3], corners[:, 3:]), np.maximum(corners[:, :3], corners[:, 3:])])
        given = any_tree(boxes, seed=round_number)
        for _ in range(random.integers(0, 3)):
            column = getattr(given, str(random.choice(["children", "first", "count", "primitives", "bounds"])))
            place = tuple(int(random.integers(size)) for size in column.shape)
            column[place] = random.choice([np.nan, 0.5, 9.0]) if column.dtype.kind == "f" else random.integers(-2, 15)
        try:
            checked_tree(given, boxes, splits_references=False)
            outcomes.append(True)
        except TreeError:
            outcomes.append(False)
        assert outcomes[-1] == is_tree(given, boxes), (round_number, given)
    assert 300 < sum(outcomes) < 700
