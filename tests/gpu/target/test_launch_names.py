"""Every launch names what its kernel takes: asked of all structures in all their layouts and traversals, with packs of
one ray as on CUDA, where nothing is compiled and nothing runs."""

from __future__ import annotations

from tests.gpu.target.every_kernel import trace_every_way
from tests.gpu.target.recording import RecordingTarget


def test_every_structure_names_what_its_kernels_take() -> None:
    target = RecordingTarget(is_dry=True)
    trace_every_way(target)
    assert sum(map(len, target.launched.values())) > 400
