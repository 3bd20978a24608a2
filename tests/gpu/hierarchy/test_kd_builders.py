"""What every builder of kd-trees must bear: scenes of its own kind of trouble, and triangles that no plane parts."""

from __future__ import annotations

import contextlib
from collections.abc import Callable

import numpy as np
import pytest

from raygrove.gpu.camera import Camera
from raygrove.gpu.engine import Engine, View, ViewSettings
from raygrove.gpu.hierarchy import growing
from raygrove.gpu.hierarchy.base import HierarchyError, StructureChoice
from raygrove.gpu.hierarchy.grown_tree import NODES_NOW, REFERENCES_NOW
from raygrove.gpu.hierarchy.kdtree import kdtree
from raygrove.gpu.hierarchy.kdtree.kdtree import KdTreeHierarchy
from raygrove.gpu.hierarchy.registry import structures
from raygrove.gpu.pixels import ArrayPixels
from raygrove.gpu.scene import KeyFrames, Material, Mesh, Moment, Node, Object, Scene
from raygrove.gpu.target.base import Array, Target
from raygrove.testing import make_target
from raygrove.testing.scenes import SCENES, TriangleScene, make, rays, scene_of, trace
from raygrove.testing.tree_walker import check_tree

BUILDERS = [name for name, kind in structures().items() if issubclass(kind, KdTreeHierarchy)]


def long_needles(count: int = 60) -> TriangleScene:
    """Small triangles, and one that reaches across everything."""
    small = SCENES["soup"]().corners()[:count] * 0.2 + np.arange(count)[:, None, None] * [0.05, 0.0, 0.0]
    return scene_of(np.concatenate([small, [[[-9.0, -9.0, -9.0], [9.0, 9.0, -9.0], [9.0, 9.0, 9.0]]]]))


NASTY = {
    "some": lambda: scene_of(SCENES["soup"]().corners()[:400]),
    "flat": lambda: scene_of(SCENES["soup"]().corners()[:200] * [1.0, 1.0, 0.0]),
    "line": lambda: scene_of(SCENES["soup"]().corners()[:200] * [1.0, 0.0, 0.0]),
    "points": lambda: scene_of(np.repeat(SCENES["soup"]().corners()[:100, :1], 3, axis=1)),
    "needle": long_needles,
    "nothing": lambda: scene_of(np.full((9, 3, 3), np.nan)),
    "huge": lambda: scene_of(SCENES["soup"]().corners()[:200] * 1e17),
    "tiny": lambda: scene_of(SCENES["soup"]().corners()[:200] * 1e-18),
}


def built(target: Target, builder: str, scene: TriangleScene, **options: object) -> KdTreeHierarchy:
    kind = structures()[builder]
    made = kind(target, StructureChoice(kind.Options(**options)))
    assert isinstance(made, KdTreeHierarchy)
    made.build(scene.upload(target))
    return made


@pytest.mark.parametrize("stop", ["sah", "size"])
@pytest.mark.parametrize("name", NASTY)
@pytest.mark.parametrize("builder", BUILDERS)
def test_nasty_scenes_end_in_a_tree(target: Target, builder: str, name: str, stop: str) -> None:
    scene = NASTY[name]()
    made = built(target, builder, scene, max_leaf_size=2, stop=stop)
    table = made.nodes()
    check_tree(table, *scene.boxes(), splits_references=True, splits_space=True)
    assert len(table.references) <= made.options.references_per_primitive * len(scene.indices)
    plain = make(target, "brute_force")
    plain.build(scene.upload(target))
    np.testing.assert_array_equal(trace(made, *rays()).prim_id, trace(plain, *rays()).prim_id)


@pytest.mark.parametrize("builder", BUILDERS)
def test_the_tree_is_the_same_bytes_whatever_the_number_of_blocks(builder: str) -> None:
    """And whichever block comes last and goes on."""
    trees = []
    for threads in (1, 2, 5):
        with contextlib.closing(make_target("host", threads=threads)) as target:
            made = built(target, builder, SCENES["soup"](), max_leaf_size=2)
            counts = target.download(made.tree.counts)
            arrays = (
                made.tree.nodes[: counts[NODES_NOW]],
                made.tree.parent[: counts[NODES_NOW]],
                made.tree.references[: counts[REFERENCES_NOW]],
            )
            trees.append([target.download(array).tobytes() for array in arrays])
    assert trees[0] == trees[1] == trees[2] and len(trees[0][0]) > 2000


@pytest.mark.parametrize("builder", BUILDERS)
def test_a_hundred_thousand_equal_triangles_end_in_a_leaf(target: Target, builder: str) -> None:
    scene = scene_of(np.tile(SCENES["one"]().corners(), (100_000, 1, 1)))
    for stop in ("sah", "size"):
        table = built(target, builder, scene, stop=stop).nodes()
        assert len(table) == 1
        np.testing.assert_array_equal(table.references, np.arange(100_000))


def sheet_that_tears(side: int = 24) -> Scene:
    """Triangles side by side, of which each is listed by many leaves; a second later they are small and far apart."""
    x, z = np.meshgrid(np.arange(side), np.arange(side), indexing="ij")
    corner = np.stack([x, 0.3 * ((x + z) % 2), z], -1).reshape(-1, 1, 3)
    corners = np.concatenate(
        [corner + [[0, 0, 0], [3, 1, 0], [0, 2, 3]], corner + [[3, 0, 0], [3, 2, 3], [0, 1, 3]]]
    ).astype(np.float32)
    middle = corners.mean(axis=1, keepdims=True)
    keys = np.stack([corners, middle + 0.15 * (corners - middle)]).reshape(2, -1, 3).astype(np.float32)
    indices = np.arange(keys.shape[1], dtype=np.int32).reshape(-1, 3)
    frames = KeyFrames(np.array([0.0, 1.0], np.float32), keys)
    mesh = Mesh("sheet", keys[1], indices, np.zeros(len(indices), np.int32), key_frames=frames)
    return Scene("sheet", (Node("sheet"),), (mesh,), (Object(0, 0),), materials=(Material(),))


@pytest.mark.parametrize("builder", BUILDERS)
def test_where_a_frame_does_not_fit_its_error_names_the_structure_and_the_picture_before_stays(
    host_target: Target, builder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kdtree, "MOST_REFERENCES", 2)
    camera = Camera(eye=(12.0, 40.0, 30.0), look_at=(12.0, 0.0, 12.0))
    view = View(ViewSettings(hierarchy=builder, ray_type="ids"), camera, ArrayPixels(host_target, 48, 36))
    assert isinstance(view.pixels, ArrayPixels)
    with contextlib.closing(Engine(host_target, sheet_that_tears())) as engine:
        engine.render_frame(Moment(1.0), [view])
        before = view.pixels.download().copy()
        with pytest.raises(HierarchyError, match=f"{builder} would need more than"):
            for _ in range(4):
                engine.render_frame(Moment(0.0), [view])
                assert engine.flush().views[0].structure.is_stale
        assert len(np.unique(before.reshape(-1, 4), axis=0)) > 20
        np.testing.assert_array_equal(view.pixels.download(), before)
        engine.render_frame(Moment(1.0), [view])
        assert not engine.flush().views[0].structure.is_stale
        np.testing.assert_array_equal(view.pixels.download(), before)


def let_reads_be_late(target: Target, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a GPU: what is read back arrives when the target was waited for, not before."""
    waits, wait = [0], target.synchronize

    def read_later(array: Array) -> Callable[[], np.ndarray | None]:
        values, asked = np.array(array), waits[0]
        return lambda: values if waits[0] > asked else None

    def synchronize() -> None:
        waits[0] += 1
        wait()

    monkeypatch.setattr(target, "read_later", read_later)
    monkeypatch.setattr(target, "synchronize", synchronize)


@pytest.mark.parametrize("are_reads_late", [False, True])
@pytest.mark.parametrize("builder", BUILDERS)
def test_a_picture_that_is_behind_is_drawn_again_with_more_room(
    host_target: Target, builder: str, are_reads_late: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Though nothing moves any more, and by as many samples as it has; where reads are late, too, so that the status of
    an earlier build arrives after that of the newest."""
    growing._rooms.pop(host_target, None)  # of arrays that lay where these lie
    if are_reads_late:
        let_reads_be_late(host_target, monkeypatch)
    camera = Camera(eye=(12.0, 40.0, 30.0), look_at=(12.0, 0.0, 12.0))
    views = [
        View(ViewSettings(hierarchy=name, samples=2), camera, ArrayPixels(host_target, 48, 36), name)
        for name in (builder, "brute_force")
    ]
    with contextlib.closing(Engine(host_target, sheet_that_tears())) as engine:
        engine.render_frame(Moment(1.0), views)
        engine.flush()
        engine.render_frame(Moment(0.0), views)
        assert [view.structure.is_stale for view in engine.flush().views] == [True, False]
        for _ in range(2):
            engine.render_frame(Moment(0.0), views)
            found = engine.flush().views
        assert found[0].reason == "nothing moved" and not found[0].structure.is_stale and found[0].samples == 2
        shown = [view.pixels.download() for view in views if isinstance(view.pixels, ArrayPixels)]
        np.testing.assert_array_equal(*shown)
