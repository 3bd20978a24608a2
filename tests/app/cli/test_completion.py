"""The completion scripts, asked as a shell asks them."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from raygrove.app.cli.arguments import COMMANDS
from raygrove.app.cli.completion import SHELLS, flags, keys, script
from raygrove.app.cli.main import main
from raygrove.app.scene_io.demos import ALL_DEMOS
from raygrove.gpu.hierarchy.registry import structures
from raygrove.gpu.update.registry import policies
from tests.waiting import PROCESS_S

ROOT = Path(__file__).resolve().parents[3]
ASK = """
{script}
COMP_WORDS=({words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); COMP_LINE='{words}'; COMP_POINT=${{#COMP_LINE}}
_raygrove 2>/dev/null
printf '%s\\n' "${{COMPREPLY[@]}}"
"""


def offered(words: str, folder: Path = ROOT) -> list[str]:
    """What bash would offer for a line; its last word is the one being typed."""
    text = ASK.format(script=script("bash"), words=words)
    done = subprocess.run(
        ["bash", "--norc", "-c", text], capture_output=True, text=True, timeout=PROCESS_S, check=True, cwd=folder
    )
    return [line for line in done.stdout.split("\n") if line]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("python main.py render --hierarchy ''", set(structures())),
        ("python main.py render --hierarchy brute", {"brute_force"}),
        ("./main.py --demo ''", {info.name for info in ALL_DEMOS}),
        (".venv/bin/python main.py view --ray-type st", {"steps"}),
        ("python3 main.py bench ''", {"build", "trace", "frame", "suite"}),
        ("python main.py render --update = reb", {"rebuild"}),
        ("python main.py --set update.mo", {"update.mode="}),
        ("python main.py --set update.mode = ''", set(policies())),
        ("python main.py --set update.mode =", set(policies())),
        ("python main.py doctor --j", {"--json"}),
        ("python main.py --comp", {"--completion"}),
        ("python main.py render --samples ''", set()),
        ("python other.py --hier", set()),
        ("python main", set()),
    ],
)
def test_bash_offers_what_can_stand_there(words: str, expected: set[str]) -> None:
    assert set(offered(words)) == expected


def test_files_are_offered_beside_commands(tmp_path: Path) -> None:
    for name in ("rend a.obj", "other.obj"):
        (tmp_path / name).touch()
    assert set(offered("python main.py rend", tmp_path)) == {"render", "rend a.obj"}
    assert set(offered("python main.py render --settings ot", tmp_path)) == {"other.obj"}


@pytest.mark.parametrize("command", COMMANDS)
def test_every_flag_of_a_command_is_offered_and_no_other(command: str) -> None:
    assert set(offered(f"python main.py {command} -")) == set(flags(command))
    shows = ("view", "render", "bench", "race", "hotspots", "record", "warm")
    assert ("--ray-type" in flags(command)) == (command in shows)


@pytest.mark.parametrize("shell", SHELLS)
def test_each_script_is_printed_and_reads_well(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--completion", shell]) == 0
    text = capsys.readouterr().out
    assert text == script(shell) and all(key in text for key in keys()) and all(name in text for name in COMMANDS)
    if shutil.which(shell):
        assert (
            subprocess.run(
                [shell, "-n"], input=text, text=True, capture_output=True, timeout=PROCESS_S, check=False
            ).returncode
            == 0
        )


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [(["--completion"], "bash, zsh, fish"), (["--completion=tcsh"], "tcsh: say for which shell")],
)
def test_another_shell_is_a_sentence(arguments: list[str], expected: str, capsys: Any) -> None:
    assert main(arguments) == 2
    assert expected in capsys.readouterr().err


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_offer_the_same(shell: str) -> None:
    if not shutil.which(shell):
        pytest.skip(f"{shell} is not installed")
    if shell == "fish":
        text = (
            script("fish") + "complete -C 'python main.py render --hierarchy '\ncomplete -C 'python main.py bench '\n"
        )
        done = subprocess.run(
            ["fish", "--no-config"], input=text, text=True, capture_output=True, timeout=PROCESS_S, check=True, cwd=ROOT
        )
        assert {"lbvh", "brute_force", "build", "trace"} <= set(done.stdout.split())
        return
    start = script("zsh") + "COMP_WORDS=(python main.py render --hierarchy lb); COMP_CWORD=4\n"
    text = (
        start + "f() { emulate -L ksh; setopt kshglob noshglob braceexpand; _raygrove 2>/dev/null; print -l -- "
        '"${COMPREPLY[@]}" }\nf\n'
    )
    done = subprocess.run(
        ["zsh", "-f"], input=text, text=True, capture_output=True, timeout=PROCESS_S, check=False, cwd=ROOT
    )
    assert "lbvh" in done.stdout.split(), done.stderr


def test_help_names_it_and_stays_quick() -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "main.py"), "--help"], capture_output=True, text=True, timeout=PROCESS_S, check=True
    )
    assert "--completion bash|zsh|fish" in done.stdout


def test_help_names_every_built_in_scene(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["render", "--help"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "a built-in scene: " + ", ".join(info.name for info in ALL_DEMOS) in said
