"""Queues of rays: without gaps and in bins, in an order that depends on the rays alone; tracing one gives the hits that
its rays have."""

from __future__ import annotations

import numpy as np
import pytest

from raygrove.gpu.target.base import Target, TargetError
from raygrove.gpu.trace import queue as queue_module
from raygrove.gpu.trace.queue import QueuePair, RayQueue
from raygrove.gpu.trace.trace import upload_rays

from .scenes import random_rays, soup, tracer_over

COUNT = 1000


def filled(target: Target, name: str, in_use: int = COUNT) -> tuple[RayQueue, np.ndarray]:
    """A queue of COUNT places of which a third has no ray, `in_use` within its count; and its rows on the host."""
    queue = RayQueue(target, name, COUNT, payload_rows=2)
    origins, directions = random_rays(3, COUNT)
    rows = np.zeros((10, queue.capacity), np.float32)
    rows[0:3, :COUNT], rows[3:6, :COUNT] = origins.T, directions.T
    rows[7, :COUNT] = np.where(np.arange(COUNT) % 3 == 1, 0.0, 10.0)
    rows[8] = np.arange(queue.capacity, dtype=np.int32).view(np.float32)
    rows[9] = np.random.default_rng(4).uniform(size=queue.capacity)
    target.write(queue.rows, rows)
    target.fill(queue.count, in_use)
    return queue, rows


def of(queue: RayQueue) -> np.ndarray:
    """The rows in use."""
    return queue.target.download(queue.rows)[:, : int(queue.target.download(queue.count)[0])]


@pytest.mark.parametrize("in_use", [COUNT, 500, 0])
def test_compaction_takes_out_gaps_and_keeps_the_order(target: Target, in_use: int) -> None:
    queue, rows = filled(target, "first", in_use)
    other = RayQueue(target, "second", COUNT, payload_rows=2)
    queue.compact_into(other)
    kept = [place for place in range(in_use) if place % 3 != 1]
    assert np.array_equal(of(other), rows[:, kept])


@pytest.mark.parametrize("in_use", [COUNT, 500, 1, 0])
def test_bins_hold_one_octant_each_in_the_queues_order(target: Target, in_use: int) -> None:
    queue, rows = filled(target, "first", in_use)
    other = RayQueue(target, "second", COUNT, payload_rows=2)
    queue.bin_into(other)
    octant = ((rows[3:6] < 0) * np.array([[1], [2], [4]])).sum(axis=0)
    kept = sorted((place for place in range(in_use) if place % 3 != 1), key=lambda place: (octant[place], place))
    assert np.array_equal(of(other), rows[:, kept])


def pair_of(target: Target, in_use: int) -> tuple[QueuePair, np.ndarray, np.ndarray]:
    """Two queues whose gaps are at other places, and their rows on the host."""
    first, rows = filled(target, "first", in_use)
    second, other_rows = filled(target, "second", in_use)
    other_rows[7, : COUNT // 2] = 0.0
    other_rows[9] += 1.0
    target.write(second.rows, other_rows)
    return QueuePair(first, second), rows, other_rows


@pytest.mark.parametrize("in_use", [COUNT, 700, 0])
def test_two_queues_merge_place_by_place(target: Target, in_use: int) -> None:
    pair, *both = pair_of(target, in_use)
    merged = RayQueue(target, "third", COUNT, payload_rows=2)
    pair.find_places()
    pair.merge_into(merged)
    kept = [rows[:, place] for place in range(in_use) for rows in both if rows[6, place] < rows[7, place]]
    assert np.array_equal(of(merged).T, np.reshape(kept, (-1, 10)))


def test_rays_beyond_the_room_have_places_beyond_it(target: Target) -> None:
    """Two rays at every place: half of them go, and the others are told by their places."""
    first, rows = filled(target, "first")
    second, _ = filled(target, "second")
    rows[7, :COUNT] = 10.0
    for queue in (first, second):
        target.write(queue.rows, rows)
    pair, merged = QueuePair(first, second), RayQueue(target, "third", COUNT, payload_rows=2)
    pair.find_places()
    pair.merge_into(merged)
    assert np.array_equal(target.download(pair.places)[:COUNT], 2 * np.arange(COUNT))
    found = of(merged)
    assert found.shape[1] == merged.capacity
    assert np.array_equal(found, np.repeat(rows, 2, axis=1)[:, : merged.capacity])
    assert np.array_equal(target.download(first.rows), rows), "those without room stay where they are"


def test_pairs_that_cannot_be_counted_say_so(host_target: Target, monkeypatch: pytest.MonkeyPatch) -> None:
    first, _ = filled(host_target, "first")
    second, _ = filled(host_target, "second")
    monkeypatch.setattr(queue_module, "MOST_ITEMS", 2 * first.capacity - 1)
    with pytest.raises(TargetError, match="A smaller picture has fewer"):
        QueuePair(first, second)
    with pytest.raises(ValueError, match="of the same shape"):
        QueuePair(first, RayQueue(host_target, "third", 2 * COUNT, 2))


@pytest.mark.parametrize("kind", ["closest", "any"])
def test_a_queue_is_traced_as_a_buffer_of_its_rays(target: Target, kind: str) -> None:
    tracer = tracer_over(target, soup(5, 400))
    queue, rows = filled(target, "first", 900)
    hits = tracer.trace(queue.rays, kind, "second")
    prim_id, t = target.download(hits.prim_id).copy(), target.download(hits.t).copy()
    origins, directions, ends = rows[0:3, :900].T, rows[3:6, :900].T, rows[7, :900]
    expected = tracer.trace(upload_rays(target, origins, directions, 0.0, ends), kind)
    assert np.array_equal(prim_id[:900] >= 0, target.download(expected.prim_id)[:900] >= 0)
    assert (prim_id[:900] >= 0).sum() > 100 and np.all(prim_id[900:] == -1)
    if kind == "closest":
        assert np.array_equal(t[:900], target.download(expected.t)[:900])


def test_queues_of_other_shapes_do_not_go_into_one_another(host_target: Target) -> None:
    queue, _ = filled(host_target, "first")
    for other in (queue, RayQueue(host_target, "second", COUNT), RayQueue(host_target, "second", 2 * COUNT, 2)):
        with pytest.raises(ValueError, match="of the same shape"):
            queue.compact_into(other)
