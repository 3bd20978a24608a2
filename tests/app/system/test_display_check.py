"""Where no window can be opened, a sentence says why before Qt ends the process."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from raygrove.app.cli.main import main
from raygrove.app.system import display_check


@pytest.fixture(autouse=True)
def no_display(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"):
        monkeypatch.delenv(name, raising=False)


def test_without_a_display_the_window_is_refused_with_a_way_out(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["view"]) == 1
    assert "neither DISPLAY nor WAYLAND_DISPLAY" in (err := capsys.readouterr().err) and "render --demo orbit" in err


@pytest.mark.parametrize("display", [":9731", "unix:9731.0", "nonsense", "127.0.0.1:59000"])
def test_a_display_that_is_dead_is_named(monkeypatch: pytest.MonkeyPatch, display: str) -> None:
    monkeypatch.setenv("DISPLAY", display)
    assert f"{display!r} does not answer" in display_check.display_problem()


def test_a_display_that_answers_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        assert display_check._connects(socket.AF_INET, ("127.0.0.1", server.getsockname()[1]))
    monkeypatch.setattr(display_check, "answers", lambda display: True)
    monkeypatch.setattr(display_check, "missing_libraries", lambda: [])
    monkeypatch.setenv("DISPLAY", ":0")
    assert display_check.display_problem() == ""
    monkeypatch.setattr(display_check, "missing_libraries", lambda: ["libxcb-cursor.so.0"])
    assert "apt-get install --no-install-recommends libxcb-cursor0" in display_check.display_problem()


def test_unix_sockets_are_asked(tmp_path: Path) -> None:
    path = str(tmp_path / "X7")
    assert not display_check._connects(socket.AF_UNIX, path)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(path)
        server.listen()
        assert display_check._connects(socket.AF_UNIX, path)


@pytest.mark.parametrize("platform", ["offscreen", "minimal", "vnc"])
def test_platforms_without_a_server_need_none(monkeypatch: pytest.MonkeyPatch, platform: str) -> None:
    monkeypatch.setenv("QT_QPA_PLATFORM", platform)
    assert display_check.display_problem() == ""


def test_wayland_needs_no_x_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WAYLAND_DISPLAY", "wayland-0")
    assert display_check.display_problem() == ""
