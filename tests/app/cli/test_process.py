"""The command line as a process of its own: what only shows there."""

from __future__ import annotations

import contextlib
import functools
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from raygrove.app.system import interrupts
from raygrove.app.user_files import running_state
from tests.waiting import PROCESS_S

ROOT = Path(__file__).resolve().parents[3]


@contextlib.contextmanager
def started(
    *arguments: str, program: str = "main.py", on_ctrl_c: signal.Handlers = signal.SIG_DFL
) -> Iterator[subprocess.Popen[str]]:
    """The program, which hears signals even where the tests themselves were told not to (Ctrl-C in the background of a
    shell, SIGHUP under nohup), unless that is asked for. Neither it nor what it starts outlives the test."""
    command = [sys.executable, str(ROOT / program), *arguments]
    hear = functools.partial(_hear_signals, on_ctrl_c)
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(
        command, text=True, cwd=ROOT.parent, preexec_fn=hear, start_new_session=True, **pipes
    ) as process:
        try:
            yield process
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


def _hear_signals(on_ctrl_c: signal.Handlers) -> None:
    signal.signal(signal.SIGINT, on_ctrl_c)
    for number in interrupts.ENDS:
        signal.signal(number, signal.SIG_DFL)


def assert_interrupted(process: subprocess.Popen[str]) -> str:
    """It ends by itself, in order, and says so; what it wrote on stderr."""
    out, err = process.communicate(timeout=PROCESS_S)
    assert process.returncode == 130, err
    assert out == "" and "interrupted" in err
    assert not [word for word in ("Traceback", "Destroyed", "Fatal", "Error") if word in err], err
    return err


def stderr_after(process: subprocess.Popen[str], number: signal.Signals) -> str:
    """Send a signal; what the program writes on stderr until it ends. Python itself drops an interrupt in the moment
    before the program's first line, where it looks whether that is a folder or an archive, and says so: it is sent
    again."""
    process.send_signal(number)
    assert process.stderr is not None
    lines: list[str] = []
    for line in process.stderr:
        lines.append(line)
        if line == "KeyboardInterrupt\n" and lines[0].startswith("Failed checking if argv[0]"):
            lines.clear()
            process.send_signal(number)
    process.wait(PROCESS_S)
    return "".join(lines)


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys; from raygrove.app.cli.main import main; main(['render', "
        "'--help']); print(*sys.modules, file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(ROOT)], capture_output=True, text=True, timeout=PROCESS_S, check=True
    )
    heavy = {"numpy", "cupy", "PySide6", "OpenGL", "PIL", "cuda", "platformdirs", "tomli_w", "gpu"} & set(
        done.stderr.split()
    )
    assert not heavy and "examples:" in done.stdout


def test_ctrl_c_ends_at_once_and_leaves_no_broken_file(tmp_path: Path) -> None:
    with started(
        "render",
        "--demo",
        "walker",
        "--device",
        "cpu",
        "--frames",
        "0:5000",
        "--size",
        "64x48",
        "--out",
        f"{tmp_path}/",
    ) as process:
        end = time.monotonic() + 240.0
        while not any(tmp_path.glob("frame_*.png*")):
            assert process.poll() is None and time.monotonic() < end
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        assert_interrupted(process)
    assert not list(tmp_path.glob(".*")), "temporary files stayed"
    assert not list(tmp_path.glob("frame_*.png")), "they stand only once all are there"
    for picture in tmp_path.glob("frame_*.png.part"):
        assert picture.read_bytes().endswith(b"IEND\xaeB`\x82")


@pytest.fixture
def unseen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QT_QPA_PLATFORM", "offscreen")
    monkeypatch.setenv(
        "XDG_CACHE_HOME", str(tmp_path)
    )  # no previews are kept, so the first page draws them in a process of its own


def fields_of(process: subprocess.Popen[str]) -> list[str]:
    """What Linux says of its main thread and of it, from the state on."""
    assert process.poll() is None
    return Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()


def wait_for_window(process: subprocess.Popen[str]) -> None:
    """Until the window is there: the program has loaded Qt, and its main thread then wants no processor for half a
    second (one that wants and gets none does not sleep)."""
    end, asleep = time.monotonic() + PROCESS_S, 0
    while asleep < 25:
        assert time.monotonic() < end
        has_qt = "libQt6Widgets" in Path(f"/proc/{process.pid}/maps").read_text()
        asleep = asleep + 1 if fields_of(process)[0] == "S" and has_qt else 0
        time.sleep(0.02)


def wait_for_frames(process: subprocess.Popen[str]) -> None:
    """Until the window has played for a while: it is there after 1.0 to 1.9 processor seconds."""
    end = time.monotonic() + PROCESS_S
    while sum(map(int, fields_of(process)[11:13])) < 3.0 * os.sysconf("SC_CLK_TCK"):
        assert time.monotonic() < end
        time.sleep(0.02)


@pytest.mark.parametrize("later", [0.0, pytest.param(3.0, marks=pytest.mark.full)])
@pytest.mark.parametrize("wait, arguments", [(wait_for_window, []), (wait_for_frames, ["--demo", "walker"])])
def test_ctrl_c_closes_the_window(
    unseen: None, arguments: list[str], wait: Callable[[subprocess.Popen[str]], None], later: float
) -> None:
    with started("view", *arguments, "--set", "render.device=cpu") as process:
        wait(process)
        time.sleep(later)
        assert process.poll() is None
        process.send_signal(signal.SIGINT)
        assert_interrupted(process)


@pytest.fixture
def deaf() -> Iterator[None]:
    """The tests themselves ignore the end of a terminal, as under nohup, which what they start would inherit."""
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    yield
    signal.signal(signal.SIGHUP, before)


MEMORY_OF_WINDOW = "from raygrove.app.ui.session.memory import Memory; print('geometry' in Memory()._values.stored)"


@pytest.mark.parametrize(
    ("number", "on_ctrl_c"),
    [(signal.SIGTERM, signal.SIG_IGN), (signal.SIGHUP, signal.SIG_DFL)],
    ids=["SIGTERM in the background", "SIGHUP"],
)
def test_the_end_of_the_system_or_of_the_terminal_is_a_quit(
    unseen: None, deaf: None, number: signal.Signals, on_ctrl_c: signal.Handlers
) -> None:
    """What the window remembers is kept, and the next start tells of no crash: also in the background of a script,
    where shells have Ctrl+C ignored."""
    with started("view", "--demo", "orbit", "--set", "render.device=cpu", on_ctrl_c=on_ctrl_c) as process:
        end = time.monotonic() + PROCESS_S
        while not list(running_state.folder().glob("*.json")):
            assert process.poll() is None and time.monotonic() < end
            time.sleep(0.02)
        process.send_signal(number)
        _, err = process.communicate(timeout=PROCESS_S)
        assert process.returncode == 128 + number and "Traceback" not in err, err
    kept = subprocess.run([sys.executable, "-c", MEMORY_OF_WINDOW], capture_output=True, text=True, timeout=PROCESS_S)
    assert kept.stdout.strip() == "True", kept.stderr
    assert not list(running_state.folder().iterdir())


DELAYS = (0.05, 0.15, 0.3, 0.5, 0.8, 1.2, 1.8, 2.6)
"""Seconds after the start; the two signals take turns in them. Ctrl-C is tried at named places, too: see below."""


@pytest.mark.parametrize(
    ("number", "first"),
    [
        pytest.param(signal.SIGINT, 0, id="SIGINT", marks=pytest.mark.full),
        pytest.param(signal.SIGTERM, 1, id="SIGTERM"),
        pytest.param(signal.SIGINT, 1, id="SIGINT between", marks=pytest.mark.full),
        pytest.param(signal.SIGTERM, 0, id="SIGTERM between", marks=pytest.mark.full),
    ],
)
def test_signals_swept_over_the_start(unseen: None, number: signal.Signals, first: int) -> None:
    """From before the first import to the window: the program ends in order, and by itself."""
    outcomes = []
    for delay in DELAYS[first::2]:
        with started("view", "--demo", "orbit", "--set", "render.device=cpu") as process:
            time.sleep(delay)
            err = stderr_after(process, number)
            if delay == DELAYS[first] and "init_import_site" in err:
                continue  # on a busy machine Python itself is still starting, and says so in its own words
            assert "Traceback" not in err and "Fatal" not in err, (delay, err)
            outcomes.append((delay, process.returncode))
    # Before Python listens the system's own way of ending counts.
    fine = {130, -signal.SIGINT} if number == signal.SIGINT else {143, -signal.SIGTERM}
    assert all(code in fine for _, code in outcomes), outcomes


PLACES = (
    "call:_open_streams", "call:Document.open_demo", "import:PySide6", "call:feature_imported",
    "call:MainWindow.__init__", "call:QApplication.exec",
)  # fmt: skip

PLACES_BETWEEN = (
    "import:numpy", "import:raygrove.app.user_files.bookmarks", "call:Document.__init__", "import:shiboken6",
    "import:shibokensupport.signature.loader", "call:move_into_pyside_package", "import:PySide6.QtGui",
    "import:PySide6.QtWidgets", "import:raygrove.app.ui.window.main_window", "call:make_application",
    "call:open_window", "call:PainterView.paintEvent", "call:FrameLoop.start", "call:RenderThread.submit",
    "call:open_scene",
)  # fmt: skip
"""Each next to one of the others, with the same code in charge of the signal."""


@pytest.mark.parametrize("place", [*PLACES, *(pytest.param(place, marks=pytest.mark.full) for place in PLACES_BETWEEN)])
def test_ctrl_c_closes_the_window_wherever_it_comes(unseen: None, place: str) -> None:
    """From the program's first line on: amid imports, in calls that Qt makes, and in the moment before Qt listens."""
    with started(
        place, "view", "--demo", "walker", "--set", "render.device=cpu", program="tests/app/interrupted.py"
    ) as process:
        assert "the place was reached" in assert_interrupted(process)


@pytest.mark.parametrize(
    "place",
    [
        "import:raygrove.app.cli.main",
        "import:raygrove.app.cli.arguments",
        "call:main",
        "import:numpy",
        "import:numpy.linalg",
        "import:raygrove.gpu.scene",
    ],
)
def test_ctrl_c_amid_the_imports_of_a_command_is_no_other_error(place: str) -> None:
    with started(place, "info", "--demo", "walker", program="tests/app/interrupted.py") as process:
        assert "the place was reached" in assert_interrupted(process)


def test_a_closed_pipe_is_no_traceback() -> None:
    with started("info", "--demo", "walker", "--json") as process:
        assert process.stdout is not None and process.stderr is not None
        process.stdout.close()
        err = process.stderr.read()
        assert process.wait(240) == 1 and "Traceback" not in err and "Exception ignored" not in err


@pytest.mark.parametrize("closed", [">&-", pytest.param("2>&-", marks=pytest.mark.full), ">&- 2>&- <&-"])
def test_streams_that_are_closed_change_nothing_else(tmp_path: Path, closed: str) -> None:
    (tmp_path / "one.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
    picture = tmp_path / "one.png"
    arguments = f"render {tmp_path}/one.obj --device cpu --size 16x16 --out {picture}"
    done = subprocess.run(
        f"{sys.executable} {ROOT}/main.py {arguments} {closed}",
        shell=True,
        capture_output=True,
        text=True,
        timeout=PROCESS_S,
        check=False,
    )
    assert (done.returncode, "error" in done.stderr) == (0, False), done.stderr
    assert picture.read_bytes().endswith(b"IEND\xaeB`\x82")


@pytest.mark.parametrize(
    ("arguments", "code"), [(["--version"], 0), (["render", "--size", "0x0"], 2), (["info", "absent.obj"], 3)]
)
def test_exit_codes_reach_the_shell(arguments: list[str], code: int) -> None:
    with started(*arguments) as process:
        out, err = process.communicate(timeout=PROCESS_S)
        assert process.returncode == code and "Traceback" not in err
        assert bool(out) == (code == 0)


@pytest.mark.parametrize(
    "text",
    ["v 0 0 0\nf 1 2 3\n", pytest.param("no model at all", marks=pytest.mark.full)],
    ids=["no corner", "no model"],
)
def test_a_window_that_could_not_open_its_file_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    """Where nobody sees it, it closes by itself; the sentence stands on stderr."""
    monkeypatch.setenv("QT_QPA_PLATFORM", "offscreen")
    (tmp_path / "bad.obj").write_text(text)
    with started("view", str(tmp_path / "bad.obj")) as process:
        out, err = process.communicate(timeout=PROCESS_S)
        assert process.returncode == 3 and "bad.obj" in err and "Traceback" not in err and out == ""
