"""An update policy in a new file is found by the settings, the menu, the command line, the documents and the engine."""

from __future__ import annotations

import pathlib
import subprocess
import sys

from tests.waiting import PROCESS_S

POLICY = '''"""Rebuild and refit in turn."""

from .base import UpdatePolicy
from .history import Decision


class InTurn(UpdatePolicy):
    name = "in_turn"
    title = "In turn"
    sentence = "rebuilds and refits in turn"

    def choose(self, history, hierarchy, options):
        return Decision("refit" if history.is_as_built else "rebuild", "it is its turn")
'''

STRANGER = """
import raygrove.gpu.update
raygrove.gpu.update.__path__.append(r"{folder}")

from raygrove.app.cli.completion import flag_values
from raygrove.app.cli.main import main
from raygrove.app.document.document import Document
from raygrove.app.help.settings_docs import text
from raygrove.app.settings.settings import option_field
from raygrove.app.ui.session.choices import Choices
from raygrove.gpu.camera import Camera
from raygrove.gpu.engine import Engine, View, ViewSettings
from raygrove.gpu.pixels import ArrayPixels
from raygrove.gpu.scene import Moment
from raygrove.gpu.target import choose
from raygrove.gpu.target.base import TargetOptions
from raygrove.gpu.update.options import UpdateOptions
from tests.gpu.moving_scene import moving_scene

assert {{"auto", "in_turn", "rebuild", "refit"}} < set(option_field("update.mode").info.choices)
assert "in_turn rebuilds and refits in turn" in text()
assert main(["render", "--update", "in_turn", "--print-settings"]) == 0
assert "in_turn" in flag_values()["--update"]
document = Document()
offered = {{name: (title, is_free) for name, title, _, is_free in Choices(document).updates()}}
assert offered["in_turn"] == ("In turn", True) , offered
target = choose("host", TargetOptions(threads=1))
engine, found = Engine(target, moving_scene()), []
view = View(ViewSettings(ray_type="flat", update=UpdateOptions("in_turn")), Camera(), ArrayPixels(target, 8, 8))
for frame in range(4):
    engine.render_frame(Moment(0.1 * frame), [view])
    found.append(engine.flush().views[0].update)
assert found == ["rebuild", "refit", "rebuild", "refit"], found
engine.close()
target.close()
"""


def test_a_policy_in_a_new_file_is_found_everywhere(tmp_path: pathlib.Path) -> None:
    (tmp_path / "in_turn.py").write_text(POLICY)
    root = pathlib.Path(__file__).parents[3]
    command = [sys.executable, "-c", STRANGER.format(folder=tmp_path)]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=PROCESS_S, check=False)
    assert done.returncode == 0, done.stderr
    assert 'mode = "in_turn"' in done.stdout
