"""What a picture is looked into by: the ray of a pixel is the picture's own, and rows of nodes add up to the tree."""

from __future__ import annotations

import contextlib
import gc
import weakref

import pytest

from raygrove.gpu.analysis.tree_rows import TreeRows
from raygrove.gpu.engine import Engine
from raygrove.gpu.errors import Error
from raygrove.gpu.hierarchy.base import HierarchyError
from raygrove.gpu.inspector import Inspector
from raygrove.gpu.scene import Moment
from raygrove.gpu.target.base import Target
from tests.gpu.moving_scene import moving_scene, view_of

SIZE = (24, 16)


def all_rows(inspector: Inspector) -> TreeRows:
    """Every node, opened page by page."""
    found, waiting = [], list(inspector.root().rows)
    while waiting:
        row = waiting.pop()
        found.append(row)
        waiting += inspector.children(row.node).rows
    return TreeRows(tuple(found), inspector.key, inspector.root().sah_cost)


def test_the_ray_of_a_pixel_is_the_pictures(target: Target) -> None:
    with contextlib.closing(Engine(target, moving_scene())) as engine:
        view = view_of(target, size=SIZE)
        engine.render_frame(Moment(0.7), [view])
        inspector = engine.inspector(view)
        assert inspector is engine.inspector(view), "what a search has read is kept"
        hits = 0
        for x, y in ((12.5, 8.5), (3.5, 4.5), (20.5, 12.5), (9.5, 9.5)):
            followed, counted, hit = inspector.follow(x, y), engine.steps(view, x, y), engine.pick(view, x, y)
            log = followed.log
            assert log.count("NODE_ENTERED", "LEAF_ENTERED") == counted.nodes
            assert log.count("PRIMITIVE_TESTED") == counted.primitives
            assert (log.primitive, log.t) == ((hit.prim_id, hit.t) if hit is not None else (-1, pytest.approx(log.t)))
            hits += hit is not None
            assert all(followed.line(n) is not None for n in range(len(log)))
            for node_id, node in followed.nodes.items():
                path = followed.path(node_id)
                assert path[-1] == node and path[0] == inspector.root().rows[0].node
        assert hits > 0
        before = inspector.key
        engine.render_frame(Moment(1.1), [view])
        assert inspector.key != before == followed.key, "another tree is another key"


def test_a_view_that_was_looked_into_goes_with_its_engine(target: Target) -> None:
    """It waited for Python's search for garbage, with its scene and all of its arrays."""
    engine, view = Engine(target, moving_scene()), view_of(target, size=SIZE)
    engine.render_frame(Moment(0.7), [view])
    assert engine.inspector(view).root().rows
    slot = weakref.ref(engine.drawn_slot(view))
    gc.collect()
    gc.disable()
    try:
        engine.close()
        del engine
        assert slot() is None
    finally:
        gc.enable()


def test_shares_of_the_sah_cost_add_up(target: Target) -> None:
    """Of binary nodes, which are those that the cost is measured on; half extents that rays meet have 8 bits."""
    with contextlib.closing(Engine(target, moving_scene())) as engine:
        view = view_of(target, size=SIZE, hierarchy="lbvh", layout="bvh2")
        engine.render_frame(Moment(0.7), [view])
        engine.flush()
        found = all_rows(engine.inspector(view))
        assert found.sah_cost == pytest.approx(sum(row.sah for row in found.rows), rel=2 * 2.0**-8)
        leaves = [row.node for row in found.rows if row.node.is_leaf]
        assert len(found.rows) == 2 * len(leaves) - 1
        assert sum(leaf.reference_count for leaf in leaves) == 2 + 250 + 250, "floor and soups"
        root = engine.inspector(view).root().rows[0]
        assert (root.area_share, root.node.depth) == (1.0, 0)
        below = engine.inspector(view).children(root.node).rows
        lower = [max(pair) for pair in zip(*(row.node.lower for row in below), strict=True)]
        upper = [min(pair) for pair in zip(*(row.node.upper for row in below), strict=True)]
        x, y, z = (max(0.0, high - low) for low, high in zip(lower, upper, strict=True))
        shared = 2.0 * (x * y + y * z + z * x) if min(x, y, z) > 0.0 else 0.0
        assert root.overlap == pytest.approx(shared / root.node.area)
        assert all(row.overlap is None for row in found.rows if row.node.is_leaf)
        leaf = next(row.node for row in found.rows if row.node.is_leaf)
        prim_id = engine.inspector(view).nodes.references(leaf)[0]
        assert engine.inspector(view).way_to_primitive(prim_id).rows.rows[-1].node == leaf
        assert engine.inspector(view).way_to(leaf.id).rows.rows[-1].node == leaf
        assert engine.inspector(view).way_to(1 << 20).rows.rows == ()


def test_two_trees_of_a_picture_are_put_beside_each_other(target: Target) -> None:
    with contextlib.closing(Engine(target, moving_scene())) as engine:
        other, view = (view_of(target, size=SIZE, hierarchy=name, layout="bvh2") for name in ("binned_sah", "lbvh"))
        engine.render_frame(Moment(0.7), [other])
        engine.flush()
        (alone,) = engine.inspector(other).levels()
        engine.render_frame(Moment(0.7), [view])
        engine.flush()
        ours, theirs = engine.inspector(view).levels("binned_sah/bvh2")
        assert (ours.name, theirs.name) == ("lbvh/bvh2", "binned_sah/bvh2")
        assert theirs == alone, "as the other's own picture has it"
        assert engine.inspector(view).levels() == (ours,)
        assert ours.sah_cost == pytest.approx(engine.inspector(view).root().sah_cost, rel=1e-4)
        with pytest.raises(Error, match="a layout is missing"):
            engine.inspector(view).levels("lbvh/")
        with pytest.raises(Error, match="binned_sah is given some.* leave them out"):
            engine.inspector(view).levels("binned_sah:bins=8/bvh2")
        lower, upper = (-1e9,) * 3, (1e9,) * 3
        assert engine.inspector(view).way_to_box(lower, upper).rows.rows == ()
        root = engine.inspector(view).root().rows[0].node
        assert engine.inspector(view).way_to_box(root.lower, root.upper).rows.rows[-1].node == root


def test_a_family_that_does_not_tell_its_nodes_still_tells_events(
    target: Target, monkeypatch: pytest.MonkeyPatch
) -> None:
    with contextlib.closing(Engine(target, moving_scene())) as engine:
        view = view_of(target, size=SIZE)
        engine.render_frame(Moment(0.7), [view])
        monkeypatch.setattr("raygrove.gpu.inspector.traversed_nodes", refuse)
        followed = engine.inspector(view).follow(12.5, 8.5)
        assert len(followed.log) > 0 and followed.nodes == {} and followed.remark == "No nodes here."


def refuse(hierarchy: object) -> None:
    raise HierarchyError("No nodes here.")
