"""The importing child: crashes, hangs, memory, cancel, progress."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any, BinaryIO

import pytest

from raygrove.app.scene_io import ImportCancelled, ImportLimits, SceneError, child, files, importer, load
from raygrove.gpu.settings import OptionError, checked, fields_of
from tests.app.scene_io import writers
from tests.conftest import patience
from tests.waiting import PROCESS_S

pytestmark = pytest.mark.usefixtures("real_imports")

ROOT = Path(__file__).resolve().parents[3]
FAULTS = {
    "crash": r"crashed \(SIGSEGV\).*damaged",
    "shorter": r"shorter\.obj: it became shorter while it was read, or its disk failed \(SIGBUS\)\. Open it again",
    "abort": r"crashed \(SIGABRT\)",
    "killed": r"crashed \(SIGKILL\).*run out of memory",
    "hang": r"longer than 1 s and was stopped",
    "deaf": r"longer than 1 s and was stopped",
    "memory": r"needs more memory than the [0-9,]+ MiB an import may use\. [0-9,]+ MiB are free",
    "exit": r"ended without a scene \(something odd\)",
    "garbage": r"gave back a scene that cannot be used",
    "nested": r"gave back a scene that cannot be used",
    "nonsense": r"ended without a scene \(no more to say\)",
    "babble": r"ended without a scene|was stopped|crashed",
}


def take_faulty_child(monkeypatch: pytest.MonkeyPatch) -> None:
    """Imports run the tests' child, which the child's Python has to find."""
    monkeypatch.setattr(importer, "CHILD_MODULE", "tests.app.scene_io.faulty_child")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))


def take_shell(monkeypatch: pytest.MonkeyPatch, line: str) -> None:
    """Imports run a line of the shell, which starts in a hundredth of the time that Python takes."""
    pipe = subprocess.PIPE

    def start(_: int, words: BinaryIO) -> subprocess.Popen[bytes]:
        command = ["sh", "-c", f"ulimit -c 0; {line}"]
        return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=words, start_new_session=True)

    monkeypatch.setattr(importer, "_start", start)


@pytest.mark.parametrize("fault", FAULTS)
def test_a_faulty_child_becomes_a_sentence(fault: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    take_faulty_child(monkeypatch)
    path = tmp_path / f"{fault}.obj"
    path.write_bytes(b"v 0 0 0\n")
    seconds = 1.0 if fault in ("hang", "deaf") else 60.0  # what hangs would for ten minutes
    with pytest.raises(SceneError, match=FAULTS[fault]) as caught:
        load([path], ImportLimits(seconds=seconds))
    assert caught.value.path == str(path) and f"{fault}.obj" in str(caught.value)


@pytest.mark.parametrize("fault", ["garbage", "nested"])
def test_what_is_no_picture_tree_or_rays_becomes_a_sentence(
    fault: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also what is nested so deep that Python does not read it."""
    take_faulty_child(monkeypatch)
    path = str(tmp_path / f"{fault}.any")
    limits = ImportLimits()
    for read, said in (
        (lambda: importer.read_picture(path, limits, None), "what is no picture's text"),
        (lambda: importer.read_tree(path, "embree", limits), "what is no tree"),
        (lambda: importer.read_rays(path, limits), "what are no rays"),
    ):
        with pytest.raises(SceneError, match=said):
            read()


def test_progress_that_is_no_share_is_not_heard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    take_faulty_child(monkeypatch)
    heard: list[tuple[float, str]] = []
    (tmp_path / "nonsense.obj").write_bytes(b"v 0 0 0\n")
    with pytest.raises(SceneError, match="no more to say"):
        load([tmp_path / "nonsense.obj"], on_progress=lambda *said: heard.append(said))
    assert heard == []


def test_rare_formats_are_waited_for_less(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Damaged ones of two kilobytes keep the library busy for ever (review V9: .nff and .lws)."""
    limits, rare, common = ImportLimits(), tmp_path / "hang.nff", tmp_path / "one.obj"
    rare.write_bytes(bytes(2000))
    common.write_bytes(bytes(2000))
    assert files.within_patience([str(rare)], limits).seconds == pytest.approx(15.002)
    assert files.within_patience([str(rare)], ImportLimits(seconds=5.0)).seconds == 5.0
    assert files.within_patience([str(common)], limits) is limits
    os.truncate(rare, 40_000_000)
    assert files.within_patience([str(rare)], limits).seconds == pytest.approx(55.0)
    os.truncate(rare, 2000)
    take_faulty_child(monkeypatch)
    monkeypatch.setattr(files, "RARE_LEAST_S", 1.0)
    with pytest.raises(SceneError, match=r"longer than 1 s .*import.seconds, of which a rare format gets one in 8\."):
        load([rare], ImportLimits(seconds=8.0, all_formats=True))


def test_programs_in_the_current_folder_are_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Someone who opens a model in a folder of downloads trusts none of its files."""
    (tmp_path / "one.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
    for name in ("numbers", "app", "numpy", "json"):
        (tmp_path / f"{name}.py").write_text(f"open({str(tmp_path / 'was_run')!r}, 'w')\nraise SystemExit(1)\n")
    monkeypatch.chdir(tmp_path)
    assert load(["one.obj"]).triangle_count == 1
    assert not (tmp_path / "was_run").exists()


def test_too_little_memory_is_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A real file that needs more than the limit, or than is free: the limit is the child's own, so the real reader
    runs into it."""
    path = tmp_path / "large.obj"
    path.write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\n" + "f 1 2 3\n" * 1_500_000)
    with pytest.raises(SceneError, match="needs more memory than the 256 MiB"):
        load([path], ImportLimits(memory_mib=256))
    monkeypatch.setattr(importer, "free_mib", lambda: 400)
    with pytest.raises(SceneError, match="needs more memory than the 300 MiB an import may use. 400 MiB are free"):
        load([path], ImportLimits())


def test_the_child_is_told_how_much_memory_it_may_use(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is free decides where the setting allows more, and the sentence has the number that the child had."""
    monkeypatch.setattr(importer, "free_mib", lambda: 400)
    take_shell(monkeypatch, "cat >&2; echo MemoryError >&2; exit 1")
    (tmp_path / "one.obj").write_bytes(b"v 0 0 0\n")
    told: list[str] = []
    last_words = importer._last_words

    def noted(words: BinaryIO) -> str:
        told.append(last_words(words))
        return told[-1]

    monkeypatch.setattr(importer, "_last_words", noted)
    for setting, given in ((4000, 300), (260, 260)):
        with pytest.raises(SceneError, match=f"needs more memory than the {given} MiB an import may use. 400 MiB are"):
            load([tmp_path / "one.obj"], ImportLimits(memory_mib=setting))
        assert json.loads(told[-1].splitlines()[0])["limits"]["memory_mib"] == given


def test_an_import_gets_no_more_than_a_share_of_the_memory_that_is_free(monkeypatch: pytest.MonkeyPatch) -> None:
    assert 256 < importer.free_mib() < 1 << 24
    monkeypatch.setattr(importer, "free_mib", lambda: 1000)
    assert importer.within_memory(ImportLimits(memory_mib=4000)).memory_mib == 750
    assert importer.within_memory(ImportLimits(memory_mib=500)).memory_mib == 500


def test_cancel_acts_within_half_a_second(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    take_faulty_child(monkeypatch)
    (tmp_path / "hang.obj").write_bytes(b"v 0 0 0\n")
    delays: list[float] = []
    while len(delays) < 5 and min(delays, default=1.0) >= 0.5:  # a busy machine may delay any one
        cancel = threading.Event()
        cancelled_at: list[float] = []

        def stop(cancel: threading.Event = cancel, cancelled_at: list[float] = cancelled_at) -> None:
            cancelled_at.append(time.monotonic())
            cancel.set()

        threading.Timer(0.4, stop).start()
        with pytest.raises(ImportCancelled, match="was cancelled"):
            load([tmp_path / "hang.obj"], ImportLimits(seconds=60.0), cancel=cancel)
        delays.append(time.monotonic() - cancelled_at[0])
    assert min(delays) < patience(0.5), delays


def test_no_child_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[subprocess.Popen[bytes]] = []
    start = importer._start

    def noted(*arguments: Any) -> subprocess.Popen[bytes]:
        started.append(start(*arguments))
        return started[-1]

    monkeypatch.setattr(importer, "_start", noted)
    load([writers.write_obj(tmp_path / "ball.obj", *writers.sphere())])
    take_faulty_child(monkeypatch)
    (tmp_path / "hang.obj").write_bytes(b"v 0 0 0\n")
    with pytest.raises(SceneError):
        load([tmp_path / "hang.obj"], ImportLimits(seconds=0.3))
    assert len(started) == 2 and all(child.returncode is not None for child in started)


def test_progress_rises_to_the_end(tmp_path: Path) -> None:
    seen: list[tuple[float, str]] = []
    load(writers.write_sequence(tmp_path, 3), on_progress=lambda fraction, text: seen.append((fraction, text)))
    fractions = [fraction for fraction, _ in seen]
    assert fractions == sorted(fractions) and fractions[0] >= 0.0 and 0.9 < fractions[-1] <= 1.0
    assert "Reading key frame 2 of 3" in [text for _, text in seen]


def test_the_program_itself_loads_no_library_that_reads_files(tmp_path: Path) -> None:
    path, particles = writers.write_animated_glb(tmp_path / "wave.glb"), tmp_path / "a.pdb"
    particles.write_text("ATOM      1  CA  ALA A   1      11.104   6.134  -6.504  1.00  0.00           C  \nEND\n")
    code = (
        "import sys\nfrom raygrove.app.scene_io import load\n"
        f"assert load([{str(path)!r}]).triangle_count == 2\n"
        f"assert load([{str(particles)!r}]).sphere_count == 1\n"
        "bad = [m for m in sys.modules if m.split('.')[0] in ('PIL', 'PySide6', 'cupy', 'chemfiles', 'gsd') or m == "
        "'raygrove.app.scene_io.assimp']\n"
        "assert not bad, bad\n"
        "assert 'libassimp' not in open('/proc/self/maps').read()\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=PROCESS_S)


def test_limits_are_options_with_ranges() -> None:
    assert {"seconds", "memory_mib", "max_triangles"} <= {field.name for field in fields_of(ImportLimits)}
    assert all(
        field.info.sentence and (field.info.minimum is not None or field.type in (str, bool))
        for field in fields_of(ImportLimits)
    )
    with pytest.raises(OptionError):
        checked(ImportLimits, {"seconds": -1})


def test_the_result_of_a_long_sequence_lies_in_the_cache_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = writers.write_sequence(tmp_path, 3)
    names, size = [str(file) for file in files], sum(file.stat().st_size for file in files)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(importer, "free_mib", lambda: 1024)
    assert importer.result_folder(names) is None and load(files).meshes[0].key_frames is not None
    assert not (tmp_path / "cache").exists()
    with files[0].open("r+b") as file:
        file.truncate((256 << 20) - size + 4096)
    assert (
        importer.result_folder(names) == str(tmp_path / "cache" / "raygrove")
        and importer.result_folder(names[:1]) is None
    )
    monkeypatch.setattr("platformdirs.user_cache_dir", lambda *_, **__: "/dev/null/raygrove")
    assert importer.result_folder(names) is None


def test_what_a_library_prints_is_no_word_of_the_child(capfd: pytest.CaptureFixture[str]) -> None:
    """The pipe to the parent holds the child's own lines, and what writes to descriptor 1 reaches stderr."""
    before = os.dup(1)
    try:
        with child._protect_stdout() as lines:
            os.write(1, b"noise")
            child._say(lines, done=True)
    finally:
        os.dup2(before, 1)
        os.close(before)
    assert capfd.readouterr() == ('{"done": true}\n', "noise")
