"""A new user's way in the real window with the real engine, without a screen; on screens all ways are walked by a
command (__main__.py)."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from raygrove.gpu.target.base import Target
from tests.app.ui.virtual_screen import ROOT
from tests.app.ui.walk.guide_keys import KEYS
from tests.app.ui.walk.hands import KEYSYMS, MODIFIERS
from tests.app.ui.walk.ways import FRAMES, GUIDE, TOUR, write_model
from tests.waiting import PROCESS_S

KEY_NAMES = r"`((?:(?:Ctrl|Shift|Alt)\+)*(?:[A-Z0-9\[\],]|F\d+|Space|Left|Right|Home|End|Return|Esc))`"
"""How the guide names keys."""

NOT_WALKED = {
    "0": "of the notebook's picture, and a setting's value",
    "Ctrl+C": "of a shell",
    "Shift+F5": "a built-in scene has no file that changes",
}


def test_from_the_start_to_a_heat_map_and_a_video_of_an_own_model(tmp_path: Path, host_target: Target) -> None:
    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen", "TMPDIR": str(tmp_path)}
    command = [sys.executable, "-m", "tests.app.ui.walk", "--here", "--themes", "dark", "--ways", "new_user"]
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=PROCESS_S, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    steps = ("one's own model", "whole sequence", "structure", "heat map", "play", "video", "new_user: ")
    lines = iter(done.stdout.splitlines())
    assert all(any(step in line for line in lines) for step in steps), done.stdout


def test_what_is_walked_is_what_is_written(tmp_path: Path) -> None:
    text = GUIDE.read_text(encoding="utf-8").replace("\n", " ")
    assert not [key.words for key in KEYS if key.words not in text], "the guide says something else"
    named = set(re.findall(KEY_NAMES, text))
    assert named - {key.keys for key in KEYS} == set(NOT_WALKED), "the guide names keys that nobody presses"
    for names in (key.keys.split("+") for key in KEYS):
        assert all(name in MODIFIERS or len(name) == 1 or name in KEYSYMS or name[0].isupper() for name in names)
    from raygrove.app.ui.window.tour_steps import texts

    assert len(TOUR) == len(texts())
    assert all(words in text for (_, text), (said, _) in zip(texts(), TOUR, strict=True) for words in said)
    models = write_model(tmp_path)
    assert len(models) == FRAMES and all(path.read_text().count("\nf ") == 225 for path in models)
