"""Exports from end to end: what `render` and the window write reads back, cancels act at once, and no way of ending
leaves half a file."""

from __future__ import annotations

import csv
import dataclasses
import json
import os
import random
import signal
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from raygrove.app.cli.main import main
from raygrove.app.document.jobs import Cancelled, Job
from raygrove.app.document.state import SceneReference, State
from raygrove.app.export.sequence import OutputError
from raygrove.app.frames import exporting
from raygrove.app.frames.exporting import plan_of
from raygrove.app.scene_io.demos import make_demo
from raygrove.app.settings.settings import Settings, set_option
from raygrove.gpu.camera import fit
from tests.app.stand_ins import wait_for_exports
from tests.conftest import patience
from tests.waiting import PROCESS_S

ROOT = Path(__file__).resolve().parents[3]
SMALL = ["--device", "cpu", "--size", "64x48", "--set", "demo.triangles=500"]
SCENE = make_demo("walker", 500)


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """Run `render`; stdout."""

    def call(*arguments: str) -> str:
        code = main(["render", *arguments])
        said = capsys.readouterr()
        assert code == 0, said.err
        return said.out

    return call


def test_exported_pictures_have_as_many_colours_as_asked_for(run: Callable[..., str], tmp_path: Path) -> None:
    for name, more in (("all", []), ("few", ["--set", "render.palette=5"])):
        run("--demo", "walker", *SMALL, *more, "--out", str(tmp_path / f"{name}.png"))
    pictures = {}
    for name in ("all", "few"):
        with Image.open(tmp_path / f"{name}.png") as image:
            pictures[name] = np.asarray(image.convert("RGB")).astype(float)
            assert image.mode == ("P" if name == "few" else "RGB") and "raygrove" in str(image.info)
    assert 1 < len(np.unique(pictures["few"].reshape(-1, 3), axis=0)) <= 5
    assert np.abs(pictures["few"] - pictures["all"]).mean() < 20.0


def state_of(**settings: Any) -> State:
    """The walker, small."""
    made = set_option(Settings(), "demo.triangles", 500)
    for key, value in {"device": "cpu", "width": 64, "height": 48, **settings}.items():
        made = set_option(made, f"render.{key}", value)
    return State(SceneReference("demo", ("walker",)), made, cameras=(fit(SCENE.lower, SCENE.upper),))


def pixels_of(path: Path) -> np.ndarray:
    with Image.open(path) as image:
        return np.asarray(image.convert("RGB")).astype(int)


def test_a_picture_is_drawn_again_from_what_it_carries(run: Any, tmp_path: Path) -> None:
    first, again = tmp_path / "first.png", tmp_path / "again.png"
    run(
        "--demo",
        "walker",
        *SMALL,
        "--time",
        "1.3",
        "--eye",
        "3,2,4",
        "--ray-type",
        "flat",
        "--samples",
        "2",
        "--out",
        str(first),
    )
    run(str(first), "--out", str(again))
    assert np.array_equal(pixels_of(first), pixels_of(again)) and pixels_of(again).std() > 5
    frame = json.loads(run(str(first), "--json"))["frames"][0]
    assert (frame["time"], frame["size"], frame["ray_type"], frame["triangles"]) == (
        1.3,
        [64, 48],
        "flat",
        SCENE.triangle_count,
    )
    stronger = json.loads(
        run(str(first), "--json", "--ray-type", "steps", "--size", "32x24", "--time", "0", "--fov", "30")
    )["frames"][0]
    assert (stronger["time"], stronger["size"], stronger["ray_type"]) == (0.0, [32, 24], "steps")


def test_a_written_picture_is_as_smooth_as_the_still_window(run: Any, tmp_path: Path) -> None:
    """As many samples as display.still_samples, unless the command line says how many; and it is drawn again with as
    many, here and in a window."""
    pictures = {}
    for name, flags in {"usual": (), "sixteen": ("--samples", "16"), "one": ("--samples", "1")}.items():
        path = tmp_path / f"{name}.png"
        run("--demo", "walker", *SMALL, *flags, "--out", str(path))
        pictures[name] = pixels_of(path)
    assert np.array_equal(pictures["usual"], pictures["sixteen"])
    assert not np.array_equal(pictures["usual"], pictures["one"])
    run(str(tmp_path / "one.png"), "--out", str(tmp_path / "again.png"))
    assert np.array_equal(pixels_of(tmp_path / "again.png"), pictures["one"])
    frame = json.loads(run("--demo", "walker", *SMALL, "--json"))["frames"][0]
    assert frame["rays"] <= 4 * 64 * 48, "without a picture to keep, a frame is drawn as the settings say"


def test_a_picture_without_a_state_is_exit_code_3(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    Image.fromarray(np.zeros((4, 4, 3), np.uint8)).save(tmp_path / "plain.png")
    assert main(["render", str(tmp_path / "plain.png")]) == 3
    said = capsys.readouterr()
    assert "no state was saved in it" in said.err and said.out == ""


def test_a_video_has_the_frames_of_the_sequence(run: Any, tmp_path: Path) -> None:
    av = pytest.importorskip("av", reason="PyAV is not installed (the extra `video`)")
    run("--demo", "walker", *SMALL, "--frames", "3:9", "--out", f"{tmp_path}/all/")
    run("--demo", "walker", *SMALL, "--frames", "3:9", "--out", f"{tmp_path}/film.mp4")
    with av.open(f"{tmp_path}/film.mp4") as container:
        frames = [frame.to_ndarray(format="rgb24").astype(int) for frame in container.decode(video=0)]
    assert len(frames) == 6
    for number, seen in enumerate(frames, 3):
        drawn = pixels_of(tmp_path / "all" / f"frame_{number:04d}.png")
        # Colour has half the pixels: compare means of blocks of 4 x 4.
        blocks = [image.reshape(12, 4, 16, 4, 3).mean(axis=(1, 3)) for image in (seen, drawn)]
        assert np.abs(blocks[0] - blocks[1]).mean() < 2.5 and np.abs(blocks[0] - blocks[1]).max() < 40


def test_a_turntable_goes_round_once(run: Any, tmp_path: Path) -> None:
    arguments = ["--demo", "walker", *SMALL, "--time", "0.5", "--fps", "8"]
    run(*arguments, "--turntable", "1", "--out", f"{tmp_path}/turn/")
    run(*arguments, "--out", f"{tmp_path}/still.png")
    names = sorted(path.name for path in (tmp_path / "turn").glob("*.png"))
    assert names == [f"frame_{number:04d}.png" for number in range(8)]
    pictures = [pixels_of(tmp_path / "turn" / name) for name in names]
    assert np.array_equal(pictures[0], pixels_of(tmp_path / "still.png"))
    assert all(np.abs(one - other).mean() > 1 for one, other in zip(pictures, pictures[1:] + pictures[:1], strict=True))
    run(f"{tmp_path}/turn/frame_0003.png", "--out", f"{tmp_path}/third.png")
    assert np.array_equal(pixels_of(tmp_path / "third.png"), pictures[3]), "each picture carries its own camera"


def test_exr_holds_the_buffers_of_the_engine(run: Any, tmp_path: Path) -> None:
    OpenEXR = pytest.importorskip("OpenEXR", reason="OpenEXR is not installed (the extra `exr`)")
    from raygrove.app.frames.headless import render_frames
    from raygrove.gpu.target.host import HostTarget

    state = state_of()
    target = HostTarget()
    (drawn,) = render_frames(target, SCENE, state, [(0, 0.5)], with_buffers=True)
    target.close()
    job = Job("export")
    plan = exporting.ExportPlan(f"{tmp_path}/z_%02d.exr", ((0, 0.5), (1, 0.6)), 30.0)
    files = exporting.export(job, state, SCENE, plan)
    assert [path.name for path in files] == ["z_00.exr", "z_01.exr"] and drawn.buffers is not None
    with OpenEXR.File(str(files[0]), separate_channels=True) as file:
        found = {name: channel.pixels for name, channel in file.channels().items()}
    assert np.array_equal(found["Z"], drawn.buffers["depth"]) and np.isfinite(found["Z"]).any()
    assert np.array_equal(found["N.Y"], drawn.buffers["normal"][:, :, 1])
    for name, source in (
        ("id", "prim_id"),
        ("object", "object_id"),
        ("steps", "steps"),
        ("tests", "tests"),
        ("boxes", "boxes"),
    ):
        assert np.array_equal(found[name].view(np.int32), drawn.buffers[source])


def test_tables_have_a_row_a_frame_from_both(run: Any, tmp_path: Path) -> None:
    run(
        "--demo",
        "walker",
        *SMALL,
        "--frames",
        "2:5",
        "--statistics",
        f"{tmp_path}/a.json",
        "--out",
        f"{tmp_path}/a.csv",
    )
    plan = exporting.plan_of(state_of(), SCENE, f"{tmp_path}/b.csv", range(2, 5))
    exporting.export(Job("csv"), state_of(), SCENE, plan)
    exporting.export(Job("json"), state_of(), SCENE, dataclasses.replace(plan, out=f"{tmp_path}/b.json"))
    for name in "ab":
        with (tmp_path / f"{name}.csv").open() as file:
            rows = list(csv.DictReader(file))
        data = json.loads((tmp_path / f"{name}.json").read_text())
        assert [int(row["frame"]) for row in rows] == [2, 3, 4] == [frame["frame"] for frame in data["frames"]]
        for row in (*rows, *data["frames"]):
            assert float(row["time"]) == pytest.approx(int(row["frame"]) / 30)
            assert (
                float(row["build_ms"]) > 0
                and float(row["trace_ms"]) > 0
                and int(row["triangles"]) == SCENE.triangle_count
            )
            assert row["hierarchy"] == "lbvh" and float(row["sah_cost"]) > 1
        assert data["context"]["device"] and data["frames"][0]["phases_ms"]["trace.primary"] > 0


@pytest.mark.parametrize("out", ["one.mp4", "p_%04d.png", "z_%04d.exr", "one.json"])
def test_a_cancel_at_any_moment_acts_at_once_and_leaves_what_was_there(tmp_path: Path, out: str) -> None:
    rng = random.Random(out)
    plan = exporting.plan_of(state_of(width=320, height=240, samples=4), SCENE, str(tmp_path / out), range(4000))
    (tmp_path / "one.mp4").write_bytes(b"before")
    (tmp_path / "one.json").write_bytes(b"before")
    delays = []
    for _ in range(8):
        job = Job("export")
        moment: list[float] = []
        timer = threading.Timer(
            rng.uniform(0.0, 0.4), lambda moment=moment, job=job: (moment.append(time.perf_counter()), job.cancel())
        )
        timer.start()
        with pytest.raises(Cancelled):
            exporting.export(job, state_of(width=320, height=240, samples=4), SCENE, plan)
        delays.append(time.perf_counter() - moment[0])
    # A machine with more to do than processors may delay some; a cancel that waits for something delays most of them.
    assert statistics.median(delays) < patience(0.5), delays
    wait_for_exports()
    names = {path.name for path in tmp_path.iterdir()}
    assert not [name for name in names if name.startswith(".")]
    assert (tmp_path / "one.mp4").read_bytes() == b"before" == (tmp_path / "one.json").read_bytes()
    assert not [name for name in names if name.endswith((".png", ".exr"))], "some pictures are no sequence"
    for path in tmp_path.glob("p_*.png.part"):
        assert pixels_of(path).shape == (240, 320, 3), "each is whole"


def test_a_cancel_does_not_wait_for_a_picture_that_takes_long(tmp_path: Path) -> None:
    begun, release = threading.Event(), threading.Event()
    ended: list[bool] = []

    def slow(state: State) -> Any:
        begun.set()
        ended.append(release.wait(60))
        raise AssertionError("nobody waits for this")

    def cancel() -> None:
        begun.wait(60)
        job.cancel()

    job = Job("export")
    threading.Thread(target=cancel).start()
    with pytest.raises(Cancelled):
        exporting.export(
            job, state_of(), SCENE, exporting.plan_of(state_of(), SCENE, str(tmp_path / "one.png"), range(1)), slow
        )
    assert ended == []
    release.set()
    wait_for_exports()


def test_progress_is_told_and_errors_come_through(tmp_path: Path) -> None:
    told: list[tuple[float | None, str]] = []

    class Telling(Job):
        def report(self, progress: float | None = None, message: str = "") -> None:
            told.append((progress, message))
            super().report(progress, message)

    exporting.export(
        Telling("export"),
        state_of(),
        SCENE,
        exporting.plan_of(state_of(), SCENE, str(tmp_path / "p_%04d.png"), range(60)),
    )
    fractions = [progress for progress, _ in told if progress is not None]
    assert (
        fractions == sorted(fractions)
        and any(0.0 < one < 1.0 for one in fractions)
        and any("of 60" in message for _, message in told)
    )
    (tmp_path / "file").touch()
    with pytest.raises(OSError, match="inside.png"):
        exporting.export(
            Job("export"),
            state_of(),
            SCENE,
            exporting.plan_of(state_of(), SCENE, str(tmp_path / "file" / "inside.png"), range(1)),
        )


FULL = """
mount -t tmpfs -o size=48k none "$1" || exit 77
printf before > "$1/one.$3"
cd "$2"
"$4" main.py render --demo orbit --device cpu --size 320x240 --samples 1 --frames 0:40 --set demo.triangles=2000 \\
    --quiet --out "$1/$5"
code=$?
ls -A "$1"; head -c 6 "$1/one.$3"
exit $code
"""


@pytest.mark.parametrize(("ending", "out"), [("mp4", "one.mp4"), ("png", "p_%d.png"), ("exr", "z_%d.exr")])
def test_a_disk_that_fills_leaves_the_old_file_and_nothing_else(tmp_path: Path, ending: str, out: str) -> None:
    pytest.importorskip("av", reason="PyAV is not installed (the extra `video`)")
    pytest.importorskip("OpenEXR", reason="OpenEXR is not installed (the extra `exr`)")
    if subprocess.run(["unshare", "-rm", "true"], capture_output=True, check=False).returncode:
        pytest.skip("a file system of our own cannot be mounted here (user namespaces are off)")
    command = ["unshare", "-rm", "sh", "-c", FULL, "sh", str(tmp_path), str(ROOT), ending, sys.executable, out]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PROCESS_S, check=False)
    if done.returncode == 77:
        pytest.skip("a file system of our own cannot be mounted here")
    assert done.returncode == 1 and "No space left on device" in done.stderr and out.partition("%")[0] in done.stderr, (
        done.stderr
    )
    assert ".part" not in done.stdout and "Traceback" not in done.stderr
    assert done.stdout.endswith("before")


@pytest.mark.parametrize("kills", [4, pytest.param(100, marks=[pytest.mark.full, pytest.mark.timeout(600)])])
@pytest.mark.parametrize("out", ["one.mp4", "one.png"])
def test_a_process_that_is_killed_leaves_the_old_or_the_new_file(
    tmp_path: Path, out: str, kills: int, record_property: Callable[[str, object], None]
) -> None:
    """A child saves the same file again and again, and is killed at random moments."""
    record_property("kills", kills)
    path = tmp_path / out
    path.write_bytes(b"before")
    program = (
        "import sys, pathlib, numpy as np; from raygrove.app.export.images import save_png; from "
        "raygrove.app.export.video import open_video\n"
        "path = pathlib.Path(sys.argv[1]); image = np.random.default_rng(1).integers(0, 256, (120, 160, 4), "
        "np.uint8); print(flush=True)\n"
        "while True:\n"
        "    if path.suffix == '.png': save_png(path, image, {'raygrove.version': '1'})\n"
        "    else:\n"
        "        with open_video(path, 160, 120, 30.0) as writer: [writer.add(image) for _ in range(5)]\n"
    )
    rng, environment = random.Random(2), {**os.environ, "PYTHONPATH": str(ROOT)}
    killed = 0
    while killed < kills or path.read_bytes() == b"before":  # a busy machine may finish none in so short a time
        killed += 1
        child = subprocess.Popen(
            [sys.executable, "-c", program, str(path)], stdout=subprocess.PIPE, cwd=ROOT, env=environment
        )
        assert child.stdout is not None and child.stdout.readline()
        time.sleep(patience(rng.uniform(0.0, 0.25)))
        child.send_signal(signal.SIGKILL)
        child.wait()
        child.stdout.close()
        assert path.read_bytes() == b"before" or is_whole(path)
    assert is_whole(path)


def is_whole(path: Path) -> bool:
    if path.suffix == ".png":
        return pixels_of(path).shape == (120, 160, 3)
    import av

    with av.open(str(path)) as container:
        return len(list(container.decode(video=0))) == 5


@pytest.mark.parametrize(("out", "what"), [("a.mp4", "a video"), ("a_%04d.exr", "a file of numbers")])
def test_a_palette_is_refused_where_the_file_has_none(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, out: str, what: str
) -> None:
    pytest.importorskip("av" if out.endswith("mp4") else "OpenEXR")
    path = tmp_path / out
    code = main(["render", "--demo", "walker", *SMALL, "--set", "render.palette=5", "--out", str(path)])
    said = capsys.readouterr().err
    assert code == 2 and f"{path}: {what} has no palette" in said and "render.palette is 5: set it to 0" in said, said
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(OutputError, match="has no palette"):
        exporting.export(Job(""), state_of(palette=5), SCENE, plan_of(state_of(), SCENE, str(path), range(1)))
