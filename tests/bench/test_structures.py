"""Every structure in one run: which scenes are taken, what a row holds, and that what cannot be measured is said."""

from __future__ import annotations

import pytest

from app.scene_io.demos import make_demo
from bench.structures import SCENES, SIZES, measure_structures
from gpu.hierarchy.base import HierarchyError
from gpu.hierarchy.registry import structures
from gpu.target.base import Target


def test_a_slow_structure_gets_the_smallest_scene_and_a_graph_beside_its_builds(target: Target) -> None:
    said: list[str] = []
    rows, failed = measure_structures(target, ("hploc",), 0.0, 1, said.append)
    assert failed == [] and len(said) == len(SCENES) and all(scene in words for scene, words in zip(SCENES, said, strict=True))
    assert [row.scene for row in rows if row.build_ms is not None and row.samples["graph_ms"][0] > 0.0] == list(SCENES)
    kinds = [(scene, kind) for scene in SCENES for kind in ("primary", "diffuse")]
    assert [(row.scene, row.ray_type) for row in rows if row.trace_ms is not None and row.hits] == kinds
    smallest = {scene: make_demo(scene, SIZES[target.kind][0]).triangle_count for scene in SCENES}
    assert all(row.hierarchy == "hploc" and row.triangles == smallest[row.scene] for row in rows)


def test_what_cannot_be_measured_is_said(target: Target, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> bool:
        raise HierarchyError("It does not fit.")

    monkeypatch.setattr(structures()["hploc"], "emit", refuse)
    rows, failed = measure_structures(target, ("hploc",), 0.0, 1, lambda words: None)
    assert rows == [] and len(failed) == len(SCENES) and all("hploc" in words and "It does not fit." in words for words in failed)
