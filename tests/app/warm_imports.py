"""Imports without the start of Python: `python -m tests.app.warm_imports FD` has loaded what the importing child loads
and forks a child for each import that it is asked for on the socket FD.

A child that starts from nothing takes 0.2 CPU seconds, nearly all of it for modules; a fork takes a tenth of that, and
all else is as in the program: descriptors, limits, the sandbox, its end with who wanted it. How the child itself starts
is tested where tests take `real_imports`.
"""

from __future__ import annotations

import functools
import gc
import importlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any, BinaryIO

from raygrove.app.scene_io import importer
from tests import costs

MODULES = ("child", "read", "exchange", "environments", "picture_texts", "ray_file", "trees.read")
MOST_BYTES = 1 << 20
ROOT = Path(__file__).resolve().parents[2]


Start = Callable[[int, BinaryIO], Any]


class ForkedImport:
    """Stands in for the Popen of an importing child: `pid`, `stdin`, `stdout`, `returncode`, `wait`."""

    def __init__(self, server: socket.socket, result: int, words: IO[bytes]) -> None:
        given, self.stdin = _pipe("wb")
        self.stdout, said = _pipe("rb", is_read=True)
        self._news, told = _pipe("rb", is_read=True)
        self.returncode: int | None = None
        text = json.dumps({"environment": dict(os.environ), "folder": os.getcwd()}).encode()
        try:
            socket.send_fds(server, [text], [given, said, words.fileno(), result, told])
        finally:
            for descriptor in (given, said, told):
                os.close(descriptor)
        self.pid = int(self._news.readline())

    def wait(self, timeout: float | None = None) -> int:
        """Its exit code, negative for a signal, as Popen has it. Raises TimeoutExpired."""
        if self.returncode is None:
            if not select.select([self._news], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired("an import", timeout or 0.0)
            code, spent = json.loads(self._news.readline())
            self._news.close()
            costs.count_elsewhere(spent)
            self.returncode = int(code)
        return self.returncode


def _pipe(mode: str, *, is_read: bool = False) -> Any:
    read, write = os.pipe()
    return (os.fdopen(read, mode, buffering=0), write) if is_read else (read, os.fdopen(write, mode))


class Server:
    """Starts the server when the first import is wanted. `start` takes the place of the importer's `_start`, which is
    given as `as_the_program_does`."""

    def __init__(self, as_the_program_does: Start) -> None:
        self._lock = threading.Lock()
        self.as_the_program_does = as_the_program_does
        self._child = importer.CHILD_MODULE

    def start(self, descriptor: int, words: BinaryIO) -> Any:
        """A child that reads a job from `stdin` and writes its result to the file `descriptor`; another child than the
        program's begins from nothing."""
        if self._child != importer.CHILD_MODULE:
            return self.as_the_program_does(descriptor, words)
        with self._lock:
            return ForkedImport(self._socket, descriptor, words)

    def begin(self) -> None:
        """Start the server before an import is wanted."""
        assert self._socket

    @functools.cached_property
    def _socket(self) -> socket.socket:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, MOST_BYTES)
        words = [sys.executable, "-P", "-m", "tests.app.warm_imports", str(theirs.fileno())]
        package = Path(sys.modules["raygrove"].__path__[0])  # of a copy with planted faults, perhaps
        paths = [str(package.parent), str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
        threads = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
        environment = {**os.environ, **threads, "PYTHONPATH": os.pathsep.join(paths)}
        self._process = subprocess.Popen(
            words, stdin=subprocess.DEVNULL, pass_fds=(theirs.fileno(),), env=environment, start_new_session=True
        )
        theirs.close()
        return ours

    def end(self) -> None:
        """The server ends where its socket does."""
        if "_socket" in vars(self):
            self._socket.close()
            self._process.wait()


def main() -> None:
    """Fork for each request, until nobody can ask any more."""
    for name in MODULES:
        importlib.import_module(f"raygrove.app.scene_io.{name}")
    gc.freeze()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # who waits for a child is forked for it
    asked = socket.socket(fileno=int(sys.argv[1]))
    while True:
        text, descriptors, _, _ = socket.recv_fds(asked, MOST_BYTES, 5)
        if not text:
            return
        if os.fork() == 0:
            asked.close()
            _keep(json.loads(text), *descriptors)
        for descriptor in descriptors:
            os.close(descriptor)


def _keep(asked: dict[str, Any], given: int, said: int, words: int, result: int, told: int) -> None:
    """Start the child, wait for it, and tell its exit code and the processor seconds that it took."""
    from raygrove.gpu.linux import end_with_parent

    end_with_parent()  # the server, which ends with the tests; whoever asked for it was perhaps a thread that is over
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    child = os.fork()
    if child == 0:
        os.close(told)
        _import(asked, given, said, words, result)
    for descriptor in (given, said, words, result):
        os.close(descriptor)
    os.write(told, b"%d\n" % child)
    _, status, used = os.wait4(child, 0)
    news = [os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime]
    os.write(told, json.dumps(news).encode() + b"\n")
    os._exit(0)


def _import(asked: dict[str, Any], given: int, said: int, words: int, result: int) -> None:
    """What `python -m raygrove.app.scene_io.child` does, in a process that has its modules."""
    from raygrove.app.scene_io import child

    ended = 1
    try:
        os.setsid()
        for place, descriptor in enumerate((given, said, words)):
            os.dup2(descriptor, place)
            os.close(descriptor)
        os.environ.clear()
        os.environ.update(asked["environment"], OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1")
        os.chdir(asked["folder"])
        sys.argv[1] = str(result)
        gc.unfreeze()
        ended = child.main()
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(ended)


if __name__ == "__main__":
    main()
