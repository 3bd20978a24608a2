"""Frames between two processes: none is torn, none is invented, and nothing is left behind."""

from __future__ import annotations

import os
import subprocess
import sys
import time

import numpy as np
import pytest

from raygrove.app.live.ring import HEAD, TRANSFORMS, VERTICES, LiveError, LiveRing, Shape, placed


def shape(vertices: int = 4, instances: int = 1) -> Shape:
    corners = np.arange(3 * vertices, dtype=np.float32).reshape(-1, 3)
    triangles = np.array([[0, 1, 2], [0, 2, 3]], np.int32)
    instance_of = (np.arange(vertices) * instances // vertices).astype(np.int32)
    return Shape(corners, triangles, np.zeros(2, np.int32), instance_of, np.ones((1, 3), np.float32), instances)


def test_the_other_side_reads_what_was_written() -> None:
    ring = LiveRing.create(shape(), 3)
    other = LiveRing.attach(os.dup(ring.descriptor))
    assert other.newest() is None and other.held() == [] and other.capacity == 3
    for name in ("vertices", "triangles", "mesh_of", "instance_of", "colours"):
        np.testing.assert_array_equal(getattr(other.shape, name), getattr(shape(), name))
    for number in range(5):
        ring.publish(VERTICES, np.full((4, 3), number, np.float64), number / 10)
    newest = other.newest()
    assert newest is not None and (newest.number, newest.time) == (4, 0.4) and (newest.vertices == 4).all()
    assert [frame.number for frame in other.held()] == [2, 3, 4]
    assert other.read(1) is None and other.read(5) is None and other.read(-1) is None
    ring.close()
    ring.close()
    assert other.newest() is not None, "who has mapped it keeps it"


def test_transforms_place_each_instance() -> None:
    ring = LiveRing.create(shape(instances=2), 2)
    rows = np.stack([np.eye(3, 4), 2 * np.eye(3, 4)]).astype(np.float32)
    rows[1, :, 3] = 10.0
    ring.publish(TRANSFORMS, rows, np.nan)
    found = ring.newest()
    assert found is not None
    expected = shape().vertices.copy()
    expected[2:] = 2 * expected[2:] + 10
    np.testing.assert_array_equal(found.vertices, expected)
    np.testing.assert_array_equal(placed(ring.shape, rows), expected)


WRITER = """
import sys, numpy as np
from raygrove.app.live.ring import LiveRing, VERTICES
ring, number = LiveRing.attach(int(sys.argv[1])), 0
rows = np.zeros((ring.vertex_count, 3), np.float32)
while True:
    rows[:] = number
    ring.publish(VERTICES, rows, number)
    number += 1
"""


def test_no_frame_is_torn() -> None:
    """A loop at full speed in another process, until it is killed; every frame that is read is one that was written."""
    ring = LiveRing.create(shape(40_000), 4)
    writer = subprocess.Popen([sys.executable, "-c", WRITER, str(ring.descriptor)], pass_fds=[ring.descriptor])
    try:
        seen: list[int] = []
        until = time.monotonic() + 60.0
        while len(set(seen)) < 50 and time.monotonic() < until:
            for frame in (ring.newest(), *ring.held()):
                if frame is not None:
                    assert (frame.vertices == frame.number).all() and frame.time == frame.number
                    seen.append(frame.number)
    finally:
        writer.kill()
        writer.wait()
    assert len(set(seen)) >= 50
    frame = ring.newest()
    assert frame is not None and (frame.vertices == frame.number).all(), "one is whole, wherever the loop was killed"


@pytest.mark.parametrize("fault", ["empty", "text", "capacity", "size", "triangle", "closed"])
def test_other_memory_is_refused(fault: str) -> None:
    ring = LiveRing.create(shape(), 2)
    descriptor = ring.descriptor
    if fault in ("empty", "text"):
        descriptor = os.memfd_create("other")
        os.write(descriptor, b"" if fault == "empty" else b"x" * 4096)
    elif fault == "capacity":
        os.pwrite(descriptor, np.int64(1 << 40).tobytes(), 8 * HEAD.index("capacity"))
    elif fault == "size":
        os.ftruncate(descriptor, 1000)
    elif fault == "triangle":
        ring.shape.triangles[0, 0] = 4
    else:
        descriptor = 987_654
    with pytest.raises(LiveError, match="There is nothing to follow"):
        LiveRing.attach(descriptor)


def test_too_much_memory_is_refused() -> None:
    with pytest.raises(LiveError, match="There is no memory for 100000000 frames of 4,000 vertices"):
        LiveRing.create(shape(4000), 100_000_000)
