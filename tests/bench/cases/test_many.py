"""The files of very many things hold what they say, and what they cost is said."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from raygrove.app.scene_io import load
from raygrove.bench.cases import main, many


@pytest.mark.parametrize("kind", many.KINDS)
def test_files_hold_so_many(kind: str, tmp_path: Path) -> None:
    path = tmp_path / f"{kind}.gltf"
    path.write_text(json.dumps(many.KINDS[kind](7)))
    scene = load([path])
    counts = {"meshes": len(scene.meshes), "primitives": len(scene.objects), "instances": len(scene.objects)}
    counts |= {"channels": sum(len(clip.channels) for clip in scene.clips), "clips": len(scene.clips)}
    assert counts[kind] == 7 and scene.triangle_count == (4 if kind == "clips" else 28)
    assert not scene.remarks


def test_a_missed_goal_is_the_exit_status(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    costs = iter([{"child": 3.0, "program": 1.5, "clock": 9.0}, {"child": 4.0, "program": 1.5, "clock": 2.0}] * 2)
    monkeypatch.setattr(many, "opened", lambda path: next(costs))
    assert main(["many", "--only", "clips", "--count", "2", "--repeat", "2"]) == 0
    assert "4.5" in capsys.readouterr().out, "the least counts"
    monkeypatch.setattr(many, "GOAL_S", 4.4)
    assert main(["many", "--only", "clips", "--count", "2", "--repeat", "2"]) == 1
