"""Hostile files are tried, and what is not as promised is seen."""

from __future__ import annotations

import dataclasses
import json
import resource
from pathlib import Path

import pytest

from tests.campaign import hostile, hostile_files
from tests.campaign.hostile import Run

PLAIN = Run(0, "", 1.0, 80.0)


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (Run(0, "Drawn.", 2.0, 900.0), ""),
        (Run(3, "error: one.obj is empty.", 2.0, 90.0), ""),
        (Run(-11, "", 2.0, 90.0), "exit code -11"),
        (Run(1, "error: no.", 2.0, 90.0), "exit code 1"),
        (Run(3, "", 2.0, 90.0), "no sentence"),
        (Run(0, "Traceback (most recent", 2.0, 90.0), "Traceback"),
        (Run(0, "root:x:0:0:root", 2.0, 90.0), "root:x:0"),
        (Run(0, "\x1b[2J", 2.0, 90.0), "a terminal would obey"),
        (Run(0, "", 21.5, 90.0), "21.5 s"),
        (Run(0, "", 2.0, 1200.0), "1,200 MiB, where a triangle takes 80"),
    ],
)
def test_what_is_not_as_promised_is_named(found: Run, words: str) -> None:
    wrong = hostile.wrong_with(found, PLAIN)
    assert not wrong if not words else len(wrong) == 1 and words in wrong[0]


def test_a_file_is_opened_and_drawn_by_the_program_itself(tmp_path: Path) -> None:
    for name, document in hostile_files.documents():
        if name in ("escapes.gltf", "circle.gltf"):
            (tmp_path / name).write_text(json.dumps(document))
    # A process that is started counts what the one that starts it had taken.
    taken = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    plain = dataclasses.replace(PLAIN, mib=PLAIN.mib + taken)
    runs, wrong = hostile.tried(tmp_path / "escapes.gltf", (plain, plain))
    assert [one.code for one in runs] == [0, 0] and not wrong and r"\x1b[2J" in runs[0].said
    assert runs[1].seconds > 0.2 and runs[1].mib > 30
    runs, wrong = hostile.tried(tmp_path / "circle.gltf", (plain, plain))
    assert [one.code for one in runs] == [3] and not wrong and "hangs from itself" in runs[0].said


def test_every_name_is_one_of_its_own() -> None:
    names = [*(name for name, _ in hostile_files.documents()), *hostile_files.binaries()]
    assert len(names) == len(set(names)) > 90
