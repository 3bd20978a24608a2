"""The command line as a process of its own: what only shows there."""

from __future__ import annotations

import functools
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def start(*arguments: str) -> subprocess.Popen[str]:
    """The program, which hears Ctrl-C even where the tests themselves were told not to (in the background of a shell)."""
    command = [sys.executable, str(ROOT / "main.py"), *arguments]
    hear = functools.partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT.parent, preexec_fn=hear)


def test_help_imports_nothing_heavy() -> None:
    code = "import sys; sys.path.insert(0, sys.argv[1]); from app.cli import main; main(['render', '--help']); print(*sys.modules, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code, str(ROOT)], capture_output=True, text=True, timeout=60, check=True)
    heavy = {"numpy", "cupy", "PySide6", "OpenGL", "PIL", "cuda", "platformdirs", "tomli_w", "gpu"} & set(done.stderr.split())
    assert not heavy and "examples:" in done.stdout


def test_ctrl_c_ends_at_once_and_leaves_no_broken_file(tmp_path: Path) -> None:
    process = start("render", "--demo", "walker", "--target", "host", "--frames", "0:5000", "--size", "64x48", "--out", f"{tmp_path}/")
    end = time.monotonic() + 60.0
    while not any(tmp_path.glob("frame_*.png")):
        assert process.poll() is None and time.monotonic() < end
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=20)
    assert process.returncode == 130 and "interrupted" in err and "Traceback" not in err and out == ""
    assert not list(tmp_path.glob(".*")), "temporary files stayed"
    for picture in tmp_path.glob("frame_*.png"):
        assert picture.read_bytes().endswith(b"IEND\xaeB`\x82")


@pytest.mark.parametrize("arguments", [[], ["--demo", "walker"]])
def test_ctrl_c_closes_the_window(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str]) -> None:
    """Whenever it comes: while the window is made, too."""
    monkeypatch.setenv("QT_QPA_PLATFORM", "offscreen")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))  # no previews are kept, so the first page draws them in a process of its own
    process = start("view", *arguments, "--set", "render.target=host")
    time.sleep(3.0)
    assert process.poll() is None
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (130, "") and "Traceback" not in err and "Destroyed" not in err


def test_a_closed_pipe_is_no_traceback() -> None:
    process = start("info", "--demo", "walker", "--json")
    assert process.stdout is not None and process.stderr is not None
    process.stdout.close()
    err = process.stderr.read()
    assert process.wait(60) == 1 and "Traceback" not in err and "Exception ignored" not in err


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&- <&-"])
def test_streams_that_are_closed_change_nothing_else(tmp_path: Path, closed: str) -> None:
    (tmp_path / "one.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
    picture = tmp_path / "one.png"
    arguments = f"render {tmp_path}/one.obj --target host --size 16x16 --out {picture}"
    done = subprocess.run(
        f"{sys.executable} {ROOT}/main.py {arguments} {closed}", shell=True, capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, "error" in done.stderr) == (0, False), done.stderr
    assert picture.read_bytes().endswith(b"IEND\xaeB`\x82")


@pytest.mark.parametrize(("arguments", "code"), [(["--version"], 0), (["render", "--size", "0x0"], 2), (["info", "absent.obj"], 3)])
def test_exit_codes_reach_the_shell(arguments: list[str], code: int) -> None:
    process = start(*arguments)
    out, err = process.communicate(timeout=60)
    assert process.returncode == code and "Traceback" not in err
    assert bool(out) == (code == 0)


@pytest.mark.parametrize("text", ["v 0 0 0\nf 1 2 3\n", "no model at all"])
def test_a_window_that_could_not_open_its_file_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    """Where nobody sees it, it closes by itself; the sentence stands on stderr."""
    monkeypatch.setenv("QT_QPA_PLATFORM", "offscreen")
    (tmp_path / "bad.obj").write_text(text)
    process = start("view", str(tmp_path / "bad.obj"))
    out, err = process.communicate(timeout=60)
    assert process.returncode == 3 and "bad.obj" in err and "Traceback" not in err and out == ""
