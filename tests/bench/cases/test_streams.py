"""The case of streams: a row for each scene and way, resident keys do not stream, the others do."""

from __future__ import annotations

from raygrove.bench.cases.streams import measure
from raygrove.gpu.target.base import Target


def test_measures_each_way_of_each_scene(host_target: Target) -> None:
    before, said = host_target.options, list[str]()
    rows = measure(host_target, 4_900, 40, 12, (16, 12), said.append)
    assert host_target.options == before
    assert [(row["scene"], row["way"]) for row in rows] == [
        (scene, way) for scene in ("waves", "swarm") for way in ("resident", "copies", "mapped")
    ]
    for row in rows:
        assert (row["streamed_mib"] > 0.0) == (row["way"] != "resident") == (row["slots"] < row["keys"])
        assert row["frame_ms"] > 0.0 and row["stalls"] == 0
    assert len(said) == 6 and "swarm, mapped" in said[-1]
