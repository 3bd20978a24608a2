"""Without contraction the GPU and the host give the same bytes: animated vertices, nodes, hits and pictures of the same
frames."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from raygrove.gpu.animate.animate import Animator
from raygrove.gpu.camera import Camera
from raygrove.gpu.engine import Engine, View, ViewSettings
from raygrove.gpu.hierarchy.base import NodeTable
from raygrove.gpu.hierarchy.registry import structures
from raygrove.gpu.pixels import ArrayPixels
from raygrove.gpu.scene import Moment
from raygrove.gpu.shade.registry import ray_types
from raygrove.gpu.target.base import Target
from raygrove.gpu.update.options import UpdateOptions
from raygrove.testing import HAS_CUDA, make_target
from tests.gpu.sanitizers.frames import make_scene

pytestmark = pytest.mark.cuda
PRIMARY = ("flat", "smooth", "steps")
"""Ray types that every layout is drawn with; the others trace by the same traversals, compiled into kernels of their
own."""
CHOICES = [
    (name, layout, ray_type)
    for name, structure in structures().items()
    for layout in structure.layouts()
    for ray_type in PRIMARY
]
CHOICES += [
    (name, layout, ray_type)
    for name, layout in (("lbvh", "bvh2"), ("median_sah", "kd8"))
    for ray_type in ray_types()
    if ray_type not in PRIMARY
]
if not HAS_CUDA:
    del CHOICES[1:]  # one says that it is skipped


@pytest.fixture(scope="module")
def both() -> Iterator[tuple[Target, Target]]:
    """The CUDA target (or a skip) and the host target, both without contraction."""
    cuda = make_target("cuda", contraction=False)
    host = make_target("host", contraction=False)
    yield cuda, host
    cuda.close()
    host.close()


def frames(
    target: Target, hierarchy: str, layout: str, ray_type: str
) -> tuple[list[np.ndarray], NodeTable, np.ndarray]:
    """Three pictures of a moving scene (the first rebuilt, the others refitted where that can be), the nodes and the
    vertices at the end."""
    update = "refit" if structures()[hierarchy].capabilities.refit else "rebuild"
    pixels = ArrayPixels(target, 93, 71)
    view = View(
        ViewSettings(hierarchy, layout=layout, ray_type=ray_type, update=UpdateOptions(update)),
        Camera(eye=(0.0, 0.5, 4.0)),
        pixels,
    )
    engine = Engine(target, make_scene())
    pictures = []
    for frame, time in enumerate((0.0, 0.37, 0.8)):
        engine.render_frame(Moment(time, 0, frame), [view])
        pictures.append(pixels.download())
    nodes = engine.nodes(view)
    engine.close()
    return pictures, nodes, target.download(Animator(target, make_scene()).at(Moment(0.8)).positions)


@pytest.mark.parametrize(("hierarchy", "layout", "ray_type"), CHOICES)
def test_frames_are_equal_byte_by_byte(both: tuple[Target, Target], hierarchy: str, layout: str, ray_type: str) -> None:
    (on_cuda, nodes, positions), (on_host, host_nodes, host_positions) = (
        frames(target, hierarchy, layout, ray_type) for target in both
    )
    np.testing.assert_array_equal(positions.view(np.uint32), host_positions.view(np.uint32))
    for column in ("parent", "depth", "lower", "upper", "is_leaf", "first_reference", "reference_count", "references"):
        np.testing.assert_array_equal(getattr(nodes, column), getattr(host_nodes, column), err_msg=column)
    assert ray_type == "steps" or len({picture.tobytes() for picture in on_cuda}) == 3, "the scene moves"
    for ours, theirs in zip(on_cuda, on_host, strict=True):
        np.testing.assert_array_equal(ours, theirs)
