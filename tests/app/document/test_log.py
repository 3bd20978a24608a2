"""The log: what a document does becomes sentences; changes of one setting, one after another, are one entry."""

from __future__ import annotations

import re
from typing import Any

from raygrove.app.document.document import Document
from raygrove.app.document.jobs import Job
from raygrove.app.document.log import LIMIT, Chronicle, Entry, Log
from raygrove.app.document.state import SceneReference
from raygrove.gpu.scene import Scene
from tests.app.stand_ins import finish


def sentences(log: Log) -> list[str]:
    return [entry.sentence for entry in log.entries]


def test_settings_scenes_and_jobs_are_written_down(document: Document, moving_scene: Scene) -> None:
    log = Log()
    Chronicle(document, log)
    document.change("settings.render.samples", 4)
    document.change("settings.render.samples", 16)
    document.change("settings.hierarchy.lbvh.max_leaf_size", 2)
    document.set_scene(SceneReference("demo", ("two",)), moving_scene)
    document.close_scene()
    assert sentences(log) == [
        "render.samples = 16", "hierarchy.lbvh.max_leaf_size = 2", "two triangles: 2 triangles, 2.00 s, 1 clip.",
        "The scene was closed.",
    ]  # fmt: skip


def test_jobs_say_how_they_ended(document: Document) -> None:
    log = Log()
    Chronicle(document, log)

    def fail(job: Job) -> Any:
        raise RuntimeError("no")

    for title, work in (("Counting", lambda job: 1), ("Failing", fail)):
        job = document.start_job(title, work, lambda job: None)
        finish(document, job)
    lines = sentences(log)
    assert lines[0] == "Counting ..." and re.match(r"Counting is done after \d+\.\d", lines[1])
    assert lines[2] == "Failing ..." and re.match(r"Failing failed after \d+\.\d", lines[3])


def test_only_the_newest_are_kept_and_kinds_can_be_left_out() -> None:
    log = Log()
    heard: list[tuple[Entry, bool]] = []
    log.on_change.append(lambda entry, is_again: heard.append((entry, is_again)))
    for number in range(LIMIT + 5):
        log.add("detail", f"{number}")
    assert len(log.entries) == LIMIT and log.entries[0].sentence == "5"
    log.add("warning", "careful", key="a")
    log.add("warning", "more careful", "why", key="a")
    log.add("error", "broken")
    assert [is_again for _, is_again in heard[-3:]] == [False, True, False]
    lines = log.text("warning").splitlines()
    assert (
        len(lines) == 3
        and lines[0].endswith("warning: more careful")
        and lines[1] == "why"
        and lines[2].endswith("error: broken")
    )
    log.clear()
    assert log.text() == ""
