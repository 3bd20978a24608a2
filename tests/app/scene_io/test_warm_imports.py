"""Imports of tests are forked where their modules are loaded: what comes of them is what comes of the program's."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import threading
import time
from pathlib import Path

import pytest

from raygrove.app.scene_io import SceneError, importer, load
from tests import costs
from tests.app.scene_io import writers
from tests.app.scene_io.same import same
from tests.app.warm_imports import ForkedImport, Server
from tests.waiting import EVENT_S, PROCESS_S


def test_scenes_and_sentences_are_those_of_the_programs_own_child(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, warm_imports: Server
) -> None:
    moving, bad = writers.write_animated_glb(tmp_path / "moving.glb"), tmp_path / "bad.glb"
    bad.write_bytes(b"no model")
    monkeypatch.setenv("HOME", str(tmp_path))

    def found() -> tuple[object, str]:
        with pytest.raises(SceneError) as caught:
            load([bad])
        return load([moving]), str(caught.value)

    spent = costs._now()["others"]
    scene, sentence = found()
    assert costs._now()["others"] > spent, "what they take counts, though another process has waited for them"
    monkeypatch.setattr(importer, "_start", warm_imports.as_the_program_does)
    own, own_sentence = found()
    assert sentence == own_sentence
    assert same(scene, own)


def test_one_that_is_killed_says_by_what_and_one_that_waits_is_waited_for(warm_imports: Server) -> None:
    with tempfile.TemporaryFile() as result, tempfile.TemporaryFile() as words:
        child = warm_imports.start(result.fileno(), words)
        with pytest.raises(subprocess.TimeoutExpired):
            child.wait(0.05)
        assert child.returncode is None
        until = time.monotonic() + EVENT_S
        while os.getsid(child.pid) != child.pid:  # a busy machine may not have let it run yet
            assert time.monotonic() < until, "it has no session of its own"
            time.sleep(0.01)
        os.kill(child.pid, signal.SIGKILL)
        assert child.wait(PROCESS_S) == child.returncode == -signal.SIGKILL
        for pipe in (child.stdin, child.stdout):
            pipe.close()


def test_they_outlive_the_thread_that_wanted_the_first(warm_imports: Server) -> None:
    """A job of the window opens the first scene, and its thread ends."""
    server = Server(warm_imports.as_the_program_does)
    children: list[ForkedImport] = []
    with tempfile.TemporaryFile() as result, tempfile.TemporaryFile() as words:
        for _ in range(2):
            thread = threading.Thread(target=lambda: children.append(server.start(result.fileno(), words)))
            thread.start()
            thread.join()
        for child in children:
            with child.stdin:
                child.stdin.write(b"{}\n")
            assert child.wait(PROCESS_S) == 1, "a job without limits is an error of the child's"
            child.stdout.close()
    server.end()
