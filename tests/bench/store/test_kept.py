"""Measurements that `bench` saved, read as results: every file of bench/results, and files that are none."""

from __future__ import annotations

import json
import pathlib
from typing import Any

import pytest

from raygrove.bench.saved import RESULTS
from raygrove.bench.store.compare import compared, sides_of
from raygrove.bench.store.kept import is_kept, kept_results
from raygrove.bench.store.reading import is_store, read_results
from raygrove.bench.store.tables import flat_rows, told_columns
from raygrove.gpu.errors import UnreadableError

ABOUT = {"device": "H200", "target": "cuda:0", "raygrove": "1.0", "commit": "abc123", "date": "2026-11-29"}
BUILD: dict[str, Any] = {
    "scene": "blob", "triangles": 2000, "target": "cuda:0", "hierarchy": "lbvh", "optimiser": "rotations",
    "layout": "bvh4", "update": "refit", "size": [4, 2], "options": {"hierarchy.lbvh.max_leaf_size": 4}, "hits": 7,
    "build_ms": 2.0, "node_count": 9, "samples": {"build_ms": [1.0, 2.0, 3.0], "build.nodes": [0.5, 0.5, 0.5]},
}  # fmt: skip


def kept(folder: pathlib.Path, rows: list[dict[str, Any]], name: str = "mine.json", **content: Any) -> str:
    path = folder / name
    path.write_text(json.dumps({"context": ABOUT, "results": rows, **content}))
    return str(path)


def test_a_row_of_bench_says_what_a_job_says(tmp_path: pathlib.Path) -> None:
    (record,) = kept_results(kept(tmp_path, [BUILD]))
    assert record["job"] == {
        "device": "cuda", "version": "1.0", "sources": "abc123", "configuration": "lbvh+rotations/bvh4@refit",
        "measure": "build", "scene": "blob", "triangles": 2000, "size": [4, 2],
    }  # fmt: skip
    (row,) = flat_rows([record])
    assert (row["build_ms"], row["hits"], row["machine"], row["started"]) == (2.0, 7, "H200", "2026-11-29")
    assert record["rows"][0]["rounds"] == {"build_ms": [1.0, 2.0, 3.0]}  # phases are parts of it


def test_figures_without_samples_stand_alone(tmp_path: pathlib.Path) -> None:
    rows: list[dict[str, Any]] = [
        {"bodies": 10, "forces": "direct", "ms": 2.0, "samples": [1.0, 2.0, 9.0], "drift": None},
        {"what": "pairs", "count": 5, "ms": {"own": 0.5, "target": 0.25}, "nodes": 3, "goal": 1.0},
        {"scene": "orbit", "depth": 4, "trace_ms": 3.0, "wall_ms": [5.0, 6.0]},
        {"scene": "orbit", "depth": 30, "sah_cost": 3.0},
    ]
    direct, pairs, orbit, tree = kept_results(kept(tmp_path, rows))
    assert direct["job"] | {"bodies": 10, "forces": "direct"} == direct["job"]
    assert direct["rows"][0]["rounds"] == {"ms": [1.0, 2.0, 9.0]}
    assert pairs["rows"][0]["rounds"] == {"nodes": [3.0], "own.ms": [0.5], "target.ms": [0.25]}
    assert orbit["job"]["depth"] == 4 and orbit["rows"][0]["rounds"] == {"trace_ms": [3.0], "wall_ms": [5.0, 6.0]}
    assert "depth" not in tree["job"] and tree["rows"][0]["depth"] == 30


def test_rows_of_equal_words_are_told_apart_by_their_options_or_their_turn(tmp_path: pathlib.Path) -> None:
    other = {**BUILD, "options": {"hierarchy.lbvh.max_leaf_size": 8}}
    found = [one["job"] for one in kept_results(kept(tmp_path, [BUILD, other, BUILD]))]
    assert [(job["hierarchy.lbvh.max_leaf_size"], job.get("turn")) for job in found] == [(4, 1), (8, None), (4, 2)]


def test_two_runs_of_bench_are_compared(tmp_path: pathlib.Path) -> None:
    fast = {**BUILD, "samples": {"build_ms": [1.0, 1.01, 1.0, 1.01, 1.0, 1.0]}}
    slow = {**BUILD, "samples": {"build_ms": [2.0, 2.01, 2.0, 2.01, 2.0, 2.0]}, "hits": 7}
    a, b = (sides_of(read_results(kept(tmp_path, [row], name)), name)
            for row, name in ((fast, "before.json"), (slow, "after.json")))  # fmt: skip
    assert [(row.verdict, row.metric, row.configuration) for row in compared(a, b).rows] == [
        ("slower", "build_ms", "lbvh+rotations/bvh4@refit")
    ]
    b = sides_of(read_results(kept(tmp_path, [{**fast, "hits": 8}])), "b")
    assert "differs" in [row.verdict for row in compared(a, b).rows]


@pytest.mark.parametrize("path", sorted(RESULTS.glob("*.json")), ids=lambda path: path.stem)
def test_every_kept_result_of_the_project_is_read(path: pathlib.Path) -> None:
    if path.stem.endswith("device-check"):
        with pytest.raises(UnreadableError, match="no rows of figures"):
            list(kept_results(str(path)))
        return
    records = list(kept_results(str(path)))
    measured = [record for record in records if record["rows"][0]["rounds"]]
    has_none = path.stem.endswith(("worlds", "damaged-files", "mutants"))
    assert len(measured) > 0.9 * len(records) or has_none, "the others say why there is none"
    sides = sides_of(records, path.name)
    assert len(sides) == len(records)  # each has a question of its own
    few = dict(list(sides.items())[:40])
    rows = compared(few, few).rows
    assert {row.verdict for row in rows} <= {"same", "undecided", "too few"}
    shown, rest = told_columns(list(flat_rows(records)))
    assert shown and not {*shown} & {*rest}


def test_a_folder_of_saved_measurements_is_read_whole(tmp_path: pathlib.Path) -> None:
    kept(tmp_path, [BUILD], "h200-2026-11-29-builds.json")
    kept(tmp_path, [{"count": 5, "ms": 0.5}], "h200-2026-11-29-sorting.json")
    kept(tmp_path, [], "h200-2026-11-29-none.json")
    (tmp_path / "notes.json").write_text("{}")  # of no measurement by its name
    assert is_kept(str(tmp_path)) and not is_store(str(tmp_path))
    left_out: list[str] = []
    found = list(read_results(str(tmp_path), left_out))
    assert [record["job"]["report"] for record in found] == ["builds", "sorting"]
    assert len(left_out) == 1 and "none.json" in left_out[0] and "no rows of figures" in left_out[0]
    assert told_columns(list(flat_rows(found)))[0][:2] == ["report", "scene"]


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "1", "{}", '{"context": {}}', '{"context": 1, "results": [{"ms": 1.0}]}',
     '{"context": {}, "results": [1]}', '{"context": {}, "parts": [1]}', "[" * 100_000],
)  # fmt: skip
def test_what_is_no_measurement_is_a_sentence(text: str, tmp_path: pathlib.Path) -> None:
    (tmp_path / "x.json").write_text(text)
    with pytest.raises(UnreadableError, match=r"x\.json"):
        list(read_results(str(tmp_path / "x.json")))
    with pytest.raises(UnreadableError, match="cannot be read"):
        list(read_results(str(tmp_path / "gone.json")))


@pytest.mark.parametrize("samples", [{"ms": ["a"]}, [None], {"ms": {}}, "x", {"ms": [True]}])
def test_strange_samples_are_no_figures(samples: Any, tmp_path: pathlib.Path) -> None:
    (record,) = kept_results(kept(tmp_path, [{"what": "x", "ms": 1.0, "samples": samples}]))
    assert record["rows"][0]["rounds"] == {"ms": [1.0]}
