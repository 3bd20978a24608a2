"""What is remembered of a scene's files, and which numbered neighbours a file has."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from raygrove.app.document.state import SceneReference
from raygrove.app.ui.session import recent_files
from raygrove.app.ui.session.memory import Memory
from raygrove.app.ui.session.notices import Notice
from raygrove.app.ui.window.main_window import MainWindow
from raygrove.gpu.scene import Scene


@given(
    st.text("ab_ é[", min_size=0, max_size=6),
    st.integers(0, 999),
    st.integers(1, 60),
    st.integers(1, 5),
    st.sampled_from([".obj", ".ply.gz", "_x.xyz"]),
)
def test_runs_of_numbers_come_back_as_they_were(before: str, first: int, count: int, width: int, after: str) -> None:
    files = [f"/models/{before}{first + step:0{width}d}{after}" for step in range(count)]
    entry = recent_files.entry_of(files)
    assert recent_files.files_of(entry) == files and len(entry) < 150


@given(st.lists(st.text("ab1 ", min_size=1, max_size=5).map(lambda name: f"/models/x{name}y"), min_size=1, max_size=6))
def test_other_sets_come_back_as_they_were(files: list[str]) -> None:
    assert recent_files.files_of(recent_files.entry_of(files)) == files


@pytest.mark.parametrize("entry", ["/a/b.obj", "[", '["a", 3]', "[]", "raygrove run ", "raygrove run [1]", ""])
def test_what_is_no_such_text_is_a_path(entry: str) -> None:
    assert recent_files.files_of(entry) == [entry]


@pytest.mark.parametrize("begin", ["", "raygrove run "])
def test_what_is_nested_too_deep_is_a_path(begin: str) -> None:
    entry = begin + "[" * 100_000
    assert recent_files.files_of(entry) == [entry]


@pytest.mark.parametrize("run", ["4,0,1e300", "4,0,1e12", "99999999,0,3", "4,0,-3", "4,0,Infinity", "4,0,9999999999"])
def test_a_damaged_run_takes_no_memory(run: str) -> None:
    entry = f'raygrove run ["a",".obj",{run}]'
    assert recent_files.files_of(entry) == [entry]


def test_neighbours_are_the_run_that_a_file_is_in(tmp_path: Path) -> None:
    for name in ("f_0007", "f_0008", "f_0009", "f_0010", "f_0012", "g_0008", "f_00011", "alone"):
        (tmp_path / f"{name}.obj").touch()
    (tmp_path / "f_0011.ply").touch()
    run = [str(tmp_path / f"f_00{number}.obj") for number in ("07", "08", "09", "10")]
    for path in run:
        assert recent_files.neighbours_of(path) == run
    for name in ("f_0012", "g_0008", "alone", "missing_1"):
        assert recent_files.neighbours_of(str(tmp_path / f"{name}.obj")) == []


def test_a_whole_sequence_is_opened_again(window: MainWindow, tmp_path: Path, moving_scene: Scene) -> None:
    files = [tmp_path / f"{number:04d}.obj" for number in range(1, 49)]
    for path in files:
        path.touch()
    window.document.set_scene(SceneReference("files", tuple(map(str, files))), moving_scene)
    (entry,) = Memory().recent()
    assert recent_files.title_of(entry, with_folder=False) == "0001.obj ... 0048.obj (48)"
    opened: list[list[str]] = []
    window.document.open_files = opened.append  # type: ignore[method-assign,assignment]
    window.open_files([entry])
    assert opened == [[str(path) for path in files]]
    files[-1].unlink()
    assert Memory().recent() == []


def test_who_opens_one_of_a_run_is_offered_all_of_it(window: MainWindow, tmp_path: Path, moving_scene: Scene) -> None:
    files = [tmp_path / f"frame_{number}.obj" for number in range(9, 13)]
    for path in files:
        path.touch()
    shown, cleared, opened = list[Notice](), list[str](), list[list[str]]()
    window.session.notices.shown.connect(shown.append)
    window.session.notices.cleared.connect(cleared.append)
    window.document.open_files = opened.append  # type: ignore[method-assign,assignment]
    window.document.set_scene(SceneReference("files", (str(files[1]),)), moving_scene)
    (notice,) = [one for one in shown if one.topic == "neighbours"]
    assert notice.sentence == "This is one of 4 numbered files, frame_9.obj to frame_12.obj."
    notice.ways[0].run()
    assert opened == [[str(path) for path in files]]
    window.document.set_scene(SceneReference("files", tuple(map(str, files))), moving_scene)
    assert len([one for one in shown if one.topic == "neighbours"]) == 1 and "neighbours" in cleared
    notice.ways[1].run()
    window.document.set_scene(SceneReference("files", (str(files[0]),)), moving_scene)
    assert len([one for one in shown if one.topic == "neighbours"]) == 1


ADD = """
import sys
from raygrove.app.ui.session.memory import Memory
memory = Memory()
for path in sys.argv[1:]:
    memory.add_recent([path])
print(*memory.recent(), sep="\\n")
"""
BETWEEN = """
import subprocess, sys
from raygrove.app.ui.session.memory import Memory
memory = Memory()
memory.recent()
subprocess.run([sys.executable, "-c", sys.argv[1], sys.argv[2]], check=True, stdout=subprocess.DEVNULL)
memory.add_recent([sys.argv[3]])
memory.flush()
print(*memory.recent(), sep="\\n")
"""


def _files(folder: Path, count: int) -> list[str]:
    files = [folder / f"model {number} of a run.obj" for number in range(count)]
    for file in files:
        file.write_text("v 0 0 0\n")
    return [str(file) for file in files]


def _said(program: str, *words: str) -> list[str]:
    """What a program of its own prints: Qt reads where settings are once a process."""
    command = [sys.executable, "-c", program, *words]
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=60).stdout.splitlines()


def test_two_programs_share_what_was_opened_last(tmp_path: Path) -> None:
    files = _files(tmp_path, 8)
    programs = [
        subprocess.Popen([sys.executable, "-c", ADD, *half], stdout=subprocess.DEVNULL)
        for half in (files[:4], files[4:])
    ]
    assert [program.wait(60) for program in programs] == [0, 0]
    assert set(_said(ADD)) == set(files)


def test_a_program_that_runs_takes_in_what_another_has_opened(tmp_path: Path) -> None:
    first, second = _files(tmp_path, 2)
    assert _said(BETWEEN, ADD, first, second) == [second, first]
