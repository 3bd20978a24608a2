"""Whether a window can be opened here. Qt ends the process where it cannot, so this is asked before Qt is."""

from __future__ import annotations

import os
import re
import socket

from raygrove.app.system.doctor import install_line, missing_libraries
from raygrove.program import typed

WITHOUT_DISPLAY = f"Pictures need none: {typed()} render --demo orbit --out out/"


def display_problem() -> str:
    """A sentence that says why no window can be opened and what to do, or ""."""
    platform = os.environ.get("QT_QPA_PLATFORM", "")
    if platform and not platform.startswith(("xcb", "wayland")):
        return ""
    display, wayland = os.environ.get("DISPLAY", ""), os.environ.get("WAYLAND_DISPLAY", "")
    if not display and not wayland:
        return f"there is no display here: neither DISPLAY nor WAYLAND_DISPLAY is set. {WITHOUT_DISPLAY}"
    if wayland and not platform.startswith("xcb"):
        return ""
    if not answers(display):
        return f"the display {display!r} does not answer. Start it, or set DISPLAY to one that runs. {WITHOUT_DISPLAY}"
    missing = missing_libraries()
    return (
        f"Qt's window needs libraries that are missing here: {', '.join(missing)}. Install them: "
        f"{install_line(missing)}"
        if missing
        else ""
    )


def answers(display: str) -> bool:
    """Whether an X server listens where DISPLAY says: ":0", "unix:0", "host:10.0"."""
    match = re.fullmatch(r"(.*):(\d+)(\.\d+)?", display)
    if match is None:
        return False
    host, number = match[1], int(match[2])
    if host in ("", "unix"):
        path = f"/tmp/.X11-unix/X{number}"
        return _connects(socket.AF_UNIX, "\0" + path) or _connects(socket.AF_UNIX, path)
    return _connects(socket.AF_INET, (host, 6000 + number))


def _connects(family: socket.AddressFamily, address: str | tuple[str, int]) -> bool:
    with socket.socket(family, socket.SOCK_STREAM) as connection:
        connection.settimeout(3.0)
        try:
            connection.connect(address)
        except OSError:
            return False
    return True
