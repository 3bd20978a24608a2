"""What a program calls: a window beside a loop, in a process of its own that ends with either."""

from __future__ import annotations

import os
import pathlib
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import raygrove as rg
from raygrove.app.live import viewer as viewers
from raygrove.app.live.viewer import Viewer, on_host, parts_of, shape_of, structure_words, world
from tests.waiting import EVENT_S

TRIANGLE = (np.eye(3, dtype=np.float32), np.array([[0, 1, 2]]))


def wait_for(condition: Callable[[], Any], what: str) -> None:
    until = time.monotonic() + EVENT_S
    while not condition():
        assert time.monotonic() < until, what
        time.sleep(0.02)


def commands(parent: int = 0) -> set[int]:
    """The processes that are windows of a viewer: of a program where it is named, as others may run beside it."""
    found = set()
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes().split(b"\0")
            state, started_by = (folder / "stat").read_text().rpartition(")")[2].split()[:2]
        except OSError:
            continue
        if b"--live" in words and state != "Z" and parent in (0, int(started_by)):
            found.add(int(folder.name))
    return found


def test_a_loop_runs_beside_its_window() -> None:
    """At full speed: a call takes no longer than a copy, until the window is closed."""
    before = commands(os.getpid())
    with Viewer(TRIANGLE, "lbvh/bvh4", keep=8) as viewer:
        assert viewer.is_open and commands(os.getpid()) > before
        started = time.monotonic()
        steps = 0
        spent = time.process_time()
        while time.monotonic() - started < 1.5:
            assert viewer.update(TRIANGLE[0] + steps)
            steps += 1
        assert (time.process_time() - spent) / steps < 1e-3
        assert viewer.update(transforms=np.eye(4)[None]) and not viewer.wait(0.0)
        assert viewer._ring.published == steps + 2
    assert not viewer.is_open and not viewer.update(TRIANGLE[0])
    viewer.close()
    assert commands(os.getpid()) <= before


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_a_window_that_ends_is_seen(how: signal.Signals) -> None:
    viewer = Viewer(TRIANGLE)
    time.sleep(2.0 if how != signal.SIGKILL else 0.2)  # Python hears signals once it runs
    viewer._process.send_signal(how)
    wait_for(lambda: not viewer.is_open, "the window did not end")
    assert not viewer.update(TRIANGLE[0])
    viewer.close()


LOOP = """
import os, sys, time
import numpy as np
import raygrove as rg

viewer = rg.Viewer((np.eye(3), [[0, 1, 2]]))
print(viewer._process.pid, flush=True)
while True:
    viewer.update(np.eye(3))
    time.sleep(0.01)
    if os.path.exists(sys.argv[1]):
        break
"""


@pytest.mark.parametrize("how", ["killed", "ended"])
def test_a_loop_that_ends_takes_its_window_along(tmp_path: pathlib.Path, how: str) -> None:
    loop = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(LOOP), str(tmp_path / "end")], stdout=subprocess.PIPE, text=True
    )
    assert loop.stdout is not None
    window = int(loop.stdout.readline())
    time.sleep(3.0)
    assert window in commands()
    if how == "killed":
        loop.kill()
    else:
        (tmp_path / "end").touch()
    loop.wait(EVENT_S)
    wait_for(lambda: window not in commands(), "the window stayed")


# -- what is shown -----------------------------------------------------------------------------------------------------
def test_scenes_of_meshes_are_joined() -> None:
    poses = np.tile(np.eye(3, 4), (2, 1, 1))
    poses[1, 0, 3] = 5.0
    meshes = [
        SimpleNamespace(vertices=TRIANGLE[0], triangles=TRIANGLE[1], transforms=poses, color=(1.0, 0.0, 0.0)),
        SimpleNamespace(vertices=TRIANGLE[0] * 2, triangles=TRIANGLE[1], transforms=None, color=(0.0, 0.0, 1.0)),
    ]
    parts, frames = parts_of(SimpleNamespace(meshes=meshes))
    made = shape_of(parts)
    assert len(frames) == 0 and made.instance_count == 3 and made.instance_of.tolist() == [0] * 3 + [1] * 3 + [2] * 3
    assert made.triangles.tolist() == [[0, 1, 2], [3, 4, 5], [6, 7, 8]] and made.mesh_of.tolist() == [0, 0, 1]
    np.testing.assert_array_equal(made.vertices[3:6], TRIANGLE[0])
    np.testing.assert_array_equal(world(parts)[3:6], TRIANGLE[0] + (5, 0, 0))
    np.testing.assert_array_equal(world(parts)[6:], TRIANGLE[0] * 2)


def test_a_clip_is_held_whole() -> None:
    ring = viewers.ring_of((np.stack([TRIANGLE[0] * step for step in range(9)]), TRIANGLE[1]), 4)
    assert ring.capacity == 9 and [frame.vertices[0, 0] for frame in ring.held()] == list(range(9))
    ring = viewers.ring_of(SimpleNamespace(vertices=TRIANGLE[0], triangles=TRIANGLE[1]), 4)
    assert ring.capacity == 4 and len(ring.held()) == 1


def test_arrays_of_others_are_brought() -> None:
    class OnDevice:
        def get(self) -> np.ndarray:
            return TRIANGLE[0]

    class Tensor:
        def detach(self) -> Tensor:
            return self

        def cpu(self) -> np.ndarray:
            return TRIANGLE[0]

    for values in (OnDevice(), Tensor(), TRIANGLE[0].tolist()):
        np.testing.assert_array_equal(on_host(values), TRIANGLE[0])


@pytest.mark.parametrize(
    "scene, sentence",
    [
        ("model.obj", "A viewer shows a scene of meshes, a clip, or .vertices, triangles.; this is str"),
        ((np.zeros((3, 2)), TRIANGLE[1]), r"vertices are numbers, \(V, 3\) or \(T, V, 3\); these are \(3, 2\)"),
        ((np.zeros((0, 3)), TRIANGLE[1]), r"these are \(0, 3\)"),
        ((TRIANGLE[0], [[0, 1, 3]]), "triangles are rows of 3 vertices; these go from 0 to 3"),
        ((TRIANGLE[0], [[0.0, 1.0, 2.0]]), "rows of three whole numbers"),
        ((TRIANGLE[0], np.zeros((0, 3), int)), "There is no triangle to show"),
    ],
)
def test_what_is_no_mesh_is_refused(scene: Any, sentence: str) -> None:
    before = commands()
    with pytest.raises(ValueError, match=sentence):
        Viewer(scene)
    with pytest.raises(ValueError, match=sentence):
        rg.show(scene)
    assert commands(os.getpid()) <= before


def test_other_updates_are_refused() -> None:
    with Viewer(TRIANGLE) as viewer:
        for values, sentence in (
            ({"vertices": np.zeros((4, 3))}, r"vertices are \(3, 3\) numbers; these are \(4, 3\)"),
            ({"vertices": np.zeros((3, 3), complex)}, "complex"),
            ({"transforms": np.zeros((1, 3, 3))}, r"transforms are numbers, \(N, 3, 4\) or \(N, 4, 4\)"),
            ({"transforms": np.zeros((2, 3, 4))}, "There are 1 instances; these are 2 transforms"),
            ({"vertices": TRIANGLE[0], "transforms": np.zeros((1, 3, 4))}, "not both"),
        ):
            with pytest.raises(ValueError, match=sentence):
                viewer.update(**values)
        assert viewer.update()
    with pytest.raises(ValueError, match="keep is a number of frames from 1"):
        Viewer(TRIANGLE, keep=0)


def test_the_windows_structure_is_the_trees(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert structure_words(None) == [] and structure_words("hploc/bvh4") == ["--hierarchy", "hploc/bvh4"]
    made = SimpleNamespace(configuration="lbvh+reinsertion/bvh8")
    assert structure_words(made, is_apart=True) == ["--hierarchy", "lbvh+reinsertion/bvh8"]
    (tmp_path / "own_for_viewer.py").write_text(
        'import raygrove as rg\n\n@rg.builder("own_for_viewer")\ndef build(bounds): ...\n'
    )
    monkeypatch.syspath_prepend(tmp_path)
    __import__("own_for_viewer")
    try:
        words = structure_words("own_for_viewer/bvh2", is_apart=True)
        assert words == ["--hierarchy", "own_for_viewer/bvh2", "--plug-in", str(tmp_path / "own_for_viewer.py")]
        monkeypatch.setattr(rg.structures()["own_for_viewer"], "__module__", "__main__")
        with pytest.raises(ValueError, match="put its function into a file of its own and import it, or use show"):
            structure_words("own_for_viewer/bvh2", is_apart=True)
        assert structure_words("own_for_viewer") == ["--hierarchy", "own_for_viewer"]
    finally:
        from raygrove.gpu.hierarchy.registry import unregister

        unregister("own_for_viewer")


def test_show_waits_for_its_window(tmp_path: pathlib.Path) -> None:
    """And knows the builders of the program: closed here after a moment, as Ctrl+C closes it."""
    script = """
        import os, signal, threading
        import numpy as np
        import raygrove as rg

        calls = []

        @rg.builder("own")
        def own(bounds):
            calls.append(len(bounds))
            return rg.Tree(children=[[0, 0]], first=[0], count=[len(bounds)], primitives=np.arange(len(bounds)))

        def end():
            while not calls:
                threading.Event().wait(0.1)
            threading.Event().wait(1.0)
            os.kill(os.getpid(), signal.SIGINT)

        threading.Thread(target=end, daemon=True).start()
        try:
            rg.show((np.eye(3), [[0, 1, 2]]), "own/bvh2")
        except KeyboardInterrupt:
            print("closed after", bool(calls))
    """
    (tmp_path / "script.py").write_text(textwrap.dedent(script))
    done = subprocess.run(
        [sys.executable, "script.py"], cwd=tmp_path, capture_output=True, text=True, env=dict(os.environ), timeout=300
    )
    assert done.returncode == 0 and done.stdout == "closed after True\n", done.stderr


def test_show_is_the_main_threads() -> None:
    import threading

    found: list[BaseException] = []

    def call() -> None:
        try:
            rg.show(TRIANGLE)
        except RuntimeError as error:
            found.append(error)

    thread = threading.Thread(target=call)
    thread.start()
    thread.join()
    assert "only the main thread may" in str(found[0])


def test_the_librarys_own_scenes_and_trees() -> None:
    """What `raygrove.Scene` holds now, and the configuration of a tree over it."""
    scene = rg.Scene(device="cpu")
    poses = np.tile(np.eye(3, 4, dtype=np.float32), (2, 1, 1))
    mesh = scene.add_mesh(*TRIANGLE, transforms=poses)
    with rg.build(scene, "lbvh/bvh4") as tree, Viewer(scene, tree, keep=4) as viewer:
        assert "--hierarchy" in structure_words(tree) and "lbvh" in structure_words(tree)[1]
        poses[1, 0, 3] = 7.0
        mesh.transforms = poses
        assert viewer.update()
        first, second = viewer._ring.held()
        assert (first.vertices[3, 0], second.vertices[3, 0]) == (1.0, 8.0)


def test_the_librarys_own_clips() -> None:
    clip = rg.Clip(np.stack([TRIANGLE[0] * step for step in (1, 2, 3)]), TRIANGLE[1], fps=10.0)
    held = viewers.ring_of(clip, 1).held()
    assert [frame.vertices[0, 0] for frame in held] == [1.0, 2.0, 3.0]
