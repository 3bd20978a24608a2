"""The campaign of kills sees what it is for: results that are lost, damaged, made anew or other than undisturbed."""

from __future__ import annotations

import contextlib
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from raygrove.bench.store.folder import Store
from tests.campaign import kills
from tests.campaign.kills import Campaign, descendants, faults, kept, pictures


def _put(store: Store, number: int) -> str:
    what = {"number": number}
    sha = store.put({"job": what, "status": "done", "rows": [{"file": "frame_0000.png"}]})
    store.pictures_of(sha).mkdir(parents=True, exist_ok=True)
    (store.pictures_of(sha) / "frame_0000.png").write_bytes(b"%d" % number)
    return sha


@pytest.fixture
def store(tmp_path: Path) -> Store:
    made = Store.made(tmp_path / "store")
    for number in range(3):
        _put(made, number)
    return made


def test_what_was_only_added_to_is_sound(store: Store) -> None:
    before = kept(store)
    _put(store, 3)
    assert len(before) == 3 and faults(store, before, pictures(store)) == []


def _rewrite(store: Store, sha: str) -> None:
    time.sleep(0.01)
    _put(store, 0)


@pytest.mark.parametrize(
    ("harm", "said"),
    [
        (lambda store, sha: store.forget(sha), "is gone"),
        (_rewrite, "was written anew"),
        (lambda store, sha: store.path_of(sha).write_text("{"), "is damaged"),
        (lambda store, sha: (store.pictures_of(sha) / "frame_0000.png").write_bytes(b"?"), "is another picture"),
        (lambda store, sha: (store.pictures_of(sha) / "frame_0000.png").unlink(), "No such file"),
    ],
)
def test_what_a_kill_must_not_do_is_found(store: Store, harm: Callable[[Store, str], Any], said: str) -> None:
    before, undisturbed = kept(store), pictures(store)
    harm(store, _put(Store.made(store.folder.parent / "same"), 0))
    assert any(said in fault for fault in faults(store, before, undisturbed))


def test_sources_that_change_amid_a_campaign_are_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    campaign, made = Campaign(tmp_path, "local", random.Random(1), seeds=1), Store.made(tmp_path / "round")
    campaign.sources = "those of before"
    monkeypatch.setattr(campaign, "_started", lambda store, engine: contextlib.nullcontext(_Ended()))
    campaign._round(made, 1)
    (said,) = campaign.findings
    assert "the sources were changed amid the campaign" in said


class _Ended:
    """Stands in for a client that has ended."""

    def poll(self) -> int:
        return 0


def test_processes_of_processes_are_found() -> None:
    code = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'print(1, flush=True); input()'])"
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stdout.readline() == b"1\n"
        (child,) = descendants(process.pid)
        assert descendants(os.getpid()).count(child) == 1
        process.communicate(b"\n")


@pytest.mark.full
def test_a_sweep_that_is_killed_ends_up_undisturbed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kills, "SOONEST_S", 0.05)
    monkeypatch.setattr(kills, "LATEST_S", 0.6)
    campaign = Campaign(tmp_path, "local", random.Random(3), seeds=2)
    campaign.run(2)
    assert campaign.findings == [] and sum(campaign.kills.values()) == 2 and len(campaign.undisturbed) == 8
