"""What `render` says of a frame, written out: the keys of its JSON, the columns of its tables, and medians over the
times it was drawn."""

from __future__ import annotations

import csv
import dataclasses
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from raygrove.app.cli.main import main
from raygrove.app.cli.rows import frame_row
from raygrove.app.document.state import State
from raygrove.app.frames.headless import Frame
from raygrove.gpu.camera import Camera
from raygrove.gpu.scene import Scene
from raygrove.gpu.stats import KeyStreaming
from raygrove.gpu.target.base import Target
from tests.app.stand_ins import made_statistics

KEYS = (
    "frame", "time", "scene", "triangles", "hidden", "target", "hierarchy", "optimiser", "layout", "traversal",
    "update", "reason", "ray_type", "primary",
    "size", "options", "animate_ms", "build_ms", "refit_ms", "trace_ms", "shade_ms", "frame_ms", "host_ms",
    "mrays_per_s",
    "mrays_per_s_by_kind", "rays", "rays_by_kind", "hits", "sum_t", "sah_cost", "node_count", "leaf_count",
    "empty_leaf_count",
    "reference_count", "depth", "bytes", "scratch_bytes", "end_point_overlap", "leaf_variability", "levels", "launches",
    "phases_ms",
    "peers", "samples", "key_frames", "simulation", "image_sha256",
)  # fmt: skip
"""A script that reads these must find them; it does not mind more."""

COLUMNS = (
    "frame", "time", "update", "animate_ms", "build_ms", "refit_ms", "trace_ms", "shade_ms", "frame_ms", "mrays_per_s",
    "sah_cost", "depth",
    "launches",
)  # fmt: skip


def test_json_and_tables_have_all_their_keys_and_columns(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    common = [
        "render",
        "--demo",
        "walker",
        "--device",
        "cpu",
        "--size",
        "16x12",
        "--set",
        "demo.triangles=500",
        "--quiet",
        "--repeat",
        "2",
    ]
    assert main([*common, "--json", "--frames", "0:2", "--out", f"{tmp_path}/"]) == 0
    data = json.loads(capsys.readouterr().out)
    settings = data["context"]["settings"]
    assert (
        settings["demo"] == {"triangles": 500}
        and settings["render"] | {"device": "cpu", "width": 16, "height": 12} == settings["render"]
    )
    for frame in data["frames"]:
        assert set(KEYS) <= set(frame)
        times = ("animate_ms", "build_ms", "refit_ms", "trace_ms", "shade_ms", "frame_ms", "host_ms", "mrays_per_s")
        assert set(times) <= set(frame["samples"]) and all(len(frame["samples"][name]) == 2 for name in times)
        assert all(frame[name] > 0.0 for name in times if name != "refit_ms") and frame["refit_ms"] == 0.0
    with (tmp_path / "statistics.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == [*COLUMNS, "image_sha256"] and len(rows) == 2
    assert all(row[name] != "" for row in rows for name in row)
    assert main(common) == 0
    head, line = capsys.readouterr().out.splitlines()
    assert head.split() == list(COLUMNS) and len(line.split()) == len(COLUMNS)


def test_a_row_says_what_is_hidden_from_its_structure(capsys: pytest.CaptureFixture[str]) -> None:
    common = [
        "render",
        "--demo",
        "walker",
        "--device",
        "cpu",
        "--size",
        "16x12",
        "--set",
        "demo.triangles=500",
        "--quiet",
        "--json",
    ]
    found = []
    for more in ((), ("--isolate", "head")):
        assert main([*common, *more]) == 0
        found += json.loads(capsys.readouterr().out)["frames"]
    whole, alone = found
    assert whole["hidden"] == 0 and whole["reference_count"] == whole["triangles"] == alone["triangles"]
    assert alone["hidden"] > 0 and alone["reference_count"] == alone["triangles"] - alone["hidden"]


def test_a_row_has_the_figures_of_its_frame(host_target: Target) -> None:
    """Medians of three repetitions; what is no time is the last one's."""
    figures = ((8.0, 7), (2.0, 5), (4.0, 6))
    drawn: list[Any] = []
    for ms, launches in figures:
        sample = made_statistics(
            animate_ms=ms,
            frame_ms=10 * ms,
            host_ms=ms / 10,
            launches=launches,
            key_frames=KeyStreaming(9, 3, 1000, 50, True, 2),
        )
        view = dataclasses.replace(
            sample.views[0], build_ms=ms + 1, refit_ms=ms + 2, trace_ms=ms + 3, shade_ms=ms + 5, mrays_per_s=1 / ms
        )
        drawn.append(dataclasses.replace(sample, views=(view,)))
    frame = Frame(3, 0.25, tuple(drawn), np.zeros((1, 1, 4), np.uint8), Camera(), 77, 123.5)
    row = frame_row(frame, Scene("here"), State(), host_target)
    assert (row["animate_ms"], row["frame_ms"], row["host_ms"]) == (4.0, 40.0, 0.4)
    assert (row["build_ms"], row["refit_ms"], row["trace_ms"], row["shade_ms"], row["mrays_per_s"]) == (
        5.0,
        6.0,
        7.0,
        9.0,
        0.25,
    )
    assert row["samples"]["host_ms"] == [0.8, 0.2, 0.4] and row["samples"]["shade_ms"] == [13.0, 7.0, 9.0]
    assert (row["scene"], row["launches"], row["hits"], row["sum_t"], row["sah_cost"], row["depth"]) == (
        "here",
        6,
        77,
        123.5,
        57.25,
        21,
    )
    assert row["key_frames"] == {
        "keys": 9,
        "slots": 3,
        "slot_bytes": 1000,
        "bytes_streamed": 50,
        "waited": True,
        "stalls": 2,
    }
