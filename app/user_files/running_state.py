"""The state of a program that runs, set aside while it does: what is left of it says that the program has crashed, and
where it was.

One file a process in the folder `running` beside the user's settings, JSON: the entries that a saved picture carries,
when the process began, and how often this state was opened again already. A clean end takes the file away.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import time
from collections.abc import Mapping
from pathlib import Path

from raygrove.app.settings import file as settings_file
from raygrove.app.settings.kept_files import UnusableFileError, read_bytes, write_bytes
from raygrove.gpu.linux import process_start

SIZE_LIMIT_BYTES = 4 << 20
OLDEST_S = 30 * 24 * 3600.0
"""Seconds after which nobody wants to go on."""


@dataclasses.dataclass(frozen=True)
class LeftState:
    """What a program left: the entries of its state (app/document/saved_state.py), how often they were opened again
    already, and the file."""

    texts: Mapping[str, str]
    attempts: int
    path: Path


def folder() -> Path:
    """Where these files are."""
    return settings_file.user_file().with_name("running")


def own_file() -> Path:
    """This process's."""
    return folder() / f"{os.getpid()}.json"


def save(texts: Mapping[str, str], attempts: int = 0) -> None:
    """Set the state of this process aside. Raises OSError."""
    kept = {"texts": dict(texts), "attempts": attempts, "began": process_start(os.getpid())}
    write_bytes(own_file(), json.dumps(kept).encode())


def remove() -> None:
    """This process ends as it should."""
    with contextlib.suppress(OSError):
        own_file().unlink()


def left() -> LeftState | None:
    """The newest state of a program that runs no more; what is older than OLDEST_S, and files that are none, are taken
    away. The caller takes this one away by `forget` when it was dealt with: another one comes next, of a second window
    that ended with the machine."""
    found: list[tuple[float, LeftState]] = []
    with contextlib.suppress(OSError):
        for path in folder().glob("*.json"):
            with contextlib.suppress(OSError):
                when = path.stat().st_mtime
                state = _read(path)
                if state is not None and time.time() - when < OLDEST_S:
                    found.append((when, state))
                elif state is not None or not _runs(path, None):
                    path.unlink()
    return max(found, key=lambda one: one[0])[1] if found else None


def forget(state: LeftState) -> None:
    """It was opened, or is not wanted."""
    with contextlib.suppress(OSError):
        state.path.unlink()


def _read(path: Path) -> LeftState | None:
    """What a file holds; None where its process runs still, or it holds no state."""
    try:
        kept = json.loads(read_bytes(path, SIZE_LIMIT_BYTES) or b"")
        texts, attempts, began = kept["texts"], int(kept["attempts"]), kept["began"]
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError, UnusableFileError):
        return None
    if _runs(path, began) or not isinstance(texts, dict) or not all(isinstance(text, str) for text in texts.values()):
        return None
    return LeftState(texts, attempts, path)


def _runs(path: Path, began: object) -> bool:
    """Whether the process of a file runs still; `began` tells it from another with its number, None takes any."""
    number = path.stem
    now = process_start(int(number)) if number.isdecimal() else ""
    return bool(now) and (began is None or began == now)
