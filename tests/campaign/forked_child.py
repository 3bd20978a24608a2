"""The importing child forked instead of started: the same `child.main`, limits and sandbox, without half a second of
imports, so that a campaign tries thousands of files."""

from __future__ import annotations

import contextlib
import importlib
import io
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, BinaryIO

from raygrove.app.scene_io import child, importer

GROWN_MIB: list[float] = []
"""How much more memory each child had at its most than this process when it was forked."""


class ForkedChild:
    """What the importer uses of a process."""

    def __init__(self, descriptor: int, words: BinaryIO) -> None:
        to_child, from_parent = os.pipe()
        to_parent, from_child = os.pipe()
        self.returncode = 0
        self._is_over = False
        self._began_kib = int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") // 1024
        self.pid = os.fork()
        if not self.pid:
            _be_child(to_child, from_child, words.fileno(), descriptor)
        os.close(to_child)
        os.close(from_child)
        self.stdin, self.stdout = io.FileIO(from_parent, "w"), io.FileIO(to_parent)

    def wait(self, timeout: float | None = None) -> int:
        """As `Popen.wait`."""
        end = None if timeout is None else time.monotonic() + timeout
        while not self._is_over:
            pid, status, used = os.wait4(self.pid, 0 if end is None else os.WNOHANG)
            if pid:
                self._is_over, self.returncode = True, os.waitstatus_to_exitcode(status)
                GROWN_MIB.append(max(used.ru_maxrss - self._began_kib, 0) / 1024)
            elif end is not None and time.monotonic() > end:
                raise subprocess.TimeoutExpired("the forked child", timeout or 0.0)
            else:
                time.sleep(0.002)
        return self.returncode


def _be_child(stdin: int, stdout: int, stderr: int, descriptor: int) -> None:
    code = 1
    try:
        os.setsid()
        for source, target in ((stdin, 0), (stdout, 1), (stderr, 2)):
            os.dup2(source, target)
        sys.stdin = os.fdopen(0, "r")
        sys.stdout, sys.stderr = os.fdopen(1, "w"), os.fdopen(2, "w", buffering=1)
        sys.argv = ["child", str(descriptor)]
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        code = child.main()
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(code)


SAID: list[str] = []
"""The last words of children, where another library is taken."""


def take_library(path: Path) -> None:
    """Have the children read by this libassimp in the place of the package's. One that was built with AddressSanitizer
    takes terabytes of addresses, so that memory is not limited; `SAID` gets what it says of a fault."""
    from raygrove.app.scene_io import assimp

    found = path.resolve(strict=True)
    assimp.library_path = lambda: found
    child.lower_limits = lambda *_, **__: None  # type: ignore[assignment]
    last_words = importer._last_words

    def noted(words: BinaryIO) -> str:
        SAID.append(last_words(words))
        return SAID[-1]

    importer._last_words = noted


def take_forked_children() -> None:
    """Have the importer fork, with what its children load already loaded."""
    from raygrove.app.scene_io import assimp, environments, exchange, images, read  # noqa: F401

    for name in ("raygrove.app.scene_io.usd.reader", "DracoPy", "meshopt", "chemfiles", "gsd.hoomd", "laspy"):
        with contextlib.suppress(ImportError):
            importlib.import_module(name)

    def start(descriptor: int, words: BinaryIO) -> Any:
        return ForkedChild(descriptor, words)

    importer._start = start
