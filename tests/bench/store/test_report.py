"""The page of results: bars as long as what they are of, names that tell rows apart, pictures in the page."""

from __future__ import annotations

import base64
import re
from pathlib import Path
from typing import Any

import pytest

from raygrove.app.cli.main import main
from raygrove.bench.store.folder import Store
from raygrove.bench.store.report import MOST_BARS, bars, clips_of, names_of, over_frames, parts_of
from raygrove.gpu.analysis.drawing import Line, Rectangle, Words


def row(configuration: str, **others: Any) -> dict[str, Any]:
    return {"scene": "walker", "configuration": configuration, "status": "done", **others}


def test_bars_are_as_long_as_medians_and_whiskers_as_intervals() -> None:
    rows = [row("lbvh", trace_ms=2.0, trace_ms_low=1.5, trace_ms_high=4.0), row("hploc", trace_ms=1.0), row("ploc")]
    made = bars(rows, "trace_ms")
    first, second = (thing.width for thing in made.things if isinstance(thing, Rectangle))
    (whisker,) = (thing.points for thing in made.things if isinstance(thing, Line))
    assert first == pytest.approx(2.0 * second)
    assert whisker[1][0] - whisker[0][0] == pytest.approx(2.5 * second)
    said = [thing.text for thing in made.things if isinstance(thing, Words)]
    assert {"lbvh: 2 ms", "hploc: 1 ms"} <= set(said)
    assert (
        f"the first {MOST_BARS} of 99" in bars([row("lbvh", trace_ms=1.0, seed=n) for n in range(99)], "trace_ms").svg()
    )


def test_names_are_what_rows_differ_in() -> None:
    rows = [row("lbvh", size=[8, 6], seed=1, trace_ms=1.0), row("lbvh", size=[16, 12], seed=1, trace_ms=2.0)]
    assert names_of(rows) == ["size 8x6", "size 16x12"] and names_of(rows[:1]) == ["lbvh"]
    assert names_of([row("lbvh", frame=0), row("hploc", frame=1)]) == ["lbvh frame 0", "hploc frame 1"]
    parts = [row("lbvh", frames=[0, 2], frame=1), row("lbvh", frames=[2, 4], frame=2)]
    assert names_of(parts) == ["frame 1", "frame 2"], "in which part a picture was drawn says nothing of it"
    clips = [row("lbvh", frames=[0, 2], eye=[1, 2]), row("lbvh", frames=[2, 4], eye=[3, 4])]
    assert names_of(clips) == ["frames 0:2 eye 1,2", "frames 2:4 eye 3,4"], "as they are typed"


def test_clips_are_lines_over_their_frames() -> None:
    rows = [row(name, frame=frame, mrays_per_s=10.0 * frame + 1.0) for name in ("lbvh", "hploc") for frame in (2, 0, 1)]
    clips = clips_of([*rows, row("ploc", frame=0, mrays_per_s=1.0)])
    assert clips == dict.fromkeys(("walker lbvh", "walker hploc"), [(0.0, 1.0), (1.0, 11.0), (2.0, 21.0)])
    lines = [thing.points for thing in over_frames(clips).things if isinstance(thing, Line) and len(thing.points) == 3]
    assert len(lines) == 2 and lines[0][2][1] < lines[0][1][1] < lines[0][0][1]  # more is higher up
    many = {f"clip {number}": [(0.0, 1.0), (1.0, 2.0)] for number in range(11)}
    assert "the first 8 of 11" in over_frames(many).svg() and "the first" not in over_frames(clips).svg()


def test_the_page_holds_pictures_and_loads_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = Store.made(tmp_path / "store")
    for configuration in ("lbvh", '"><script>alert(1)</script>'):
        drawn = [{"file": f"frame_000{n}.png", "frame": n, "mrays_per_s": 5.0 + n} for n in range(2)]
        job = {"measure": "render", "scene": "walker", "configuration": configuration}
        sha = store.put({"job": job, "status": "done", "rows": drawn})
        for one in drawn:
            store.pictures_of(sha).mkdir(exist_ok=True)
            (store.pictures_of(sha) / str(one["file"])).write_bytes(f"{configuration}{one['frame']}".encode())
    assert main(["results", str(store.folder), "--out", str(tmp_path / "page.html"), "--quiet"]) == 0
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "default-src 'none'" in page and "prefers-color-scheme: dark" in page and "width=device-width" in page
    assert base64.b64encode(b"lbvh1").decode() in page and page.count("<figure>") == 4 and page.count("<polyline") >= 2
    assert "<script" not in page and not re.findall(r'(?:src|href)="(?!data:)', page) and "://" not in page.replace(
        "http://www.w3.org/2000/svg", "")  # fmt: skip
    (store.pictures_of(sha) / "frame_0001.png").unlink()
    assert "".join(parts_of([row("lbvh", sha=sha, file="frame_0001.png")], str(store.folder))) == ""
