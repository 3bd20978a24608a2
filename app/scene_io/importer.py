"""Parsing in a child process with limits: a crash, a hang or a bomb in a file becomes a sentence, and the window lives.

The child gets its job on stdin, writes the scene as raw arrays to a nameless temporary file that this process then maps
(`exchange`), and tells progress on stdout. It is killed with its whole group at the time limit, on cancel, and on any
way out of `run`.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import selectors
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from raygrove.gpu.brief import brief
from raygrove.gpu.linux import kill_group, main_memory
from raygrove.gpu.scene import Environment, Remark, Scene

from . import exchange, ray_file, sandbox
from .errors import CrashedError, ImportCancelled, OutsideError, RefusedError, SceneError, display_path
from .files import RARE_SHARE, extension_of, is_rare
from .limits import ImportLimits
from .particles.formats import PARTICLE_ENDINGS
from .trees import read as trees
from .trees.found import FoundTree

CHILD_MODULE = "raygrove.app.scene_io.child"
POLL_SECONDS = 0.05
MAX_LINE = 1 << 20
MAX_PICTURE_JSON = 64 << 20
SHARE_OF_FREE = 0.75
"""How much of the memory that is free an import may take, whatever `import.memory_mib` says."""
UNPACKED_PARTICLES = 4
"""How much larger than its file the scene of a packed trajectory may be: an XTC holds an atom in about 4 bytes."""

READ_ONCE_MORE = frozenset({"obj", "ply", "stl", "gltf", "glb"})
"""Formats with a small reader of our own for what libassimp dies of, or refuses (plain_readers.py, plain_gltf.py)."""

OnProgress = Callable[[float, str], None]


def run(
    paths: Sequence[str],
    limits: ImportLimits,
    fps: float,
    on_progress: OnProgress | None,
    cancel: threading.Event | None,
) -> Scene:
    """Import the files in a child process; `SceneError` with a sentence on any failure, `ImportCancelled` within 0.5 s
    of `cancel`."""
    job = {"paths": list(paths), "fps": fps}
    begun = time.monotonic()
    try:
        return _scene_by(job, paths[0], limits, on_progress, cancel)
    except OutsideError as error:
        error.trust = ("allow_outside", tuple(paths))
        raise
    except (CrashedError, RefusedError) as error:
        if len(paths) > 1 or extension_of(paths[0]) not in READ_ONCE_MORE:
            raise
        rest = dataclasses.replace(limits, seconds=max(limits.seconds - (time.monotonic() - begun), 0.1))
        try:
            scene = _scene_by({**job, "once_more": True}, paths[0], rest, on_progress, cancel)
            said = Remark(1, f"What the first reader made of it: {error}")
            return dataclasses.replace(scene, remarks=(*scene.remarks, said))
        except ImportCancelled:
            raise
        except SceneError:
            raise error from None  # what libassimp made of the file tells more than that the plain reader fails, too


def _scene_by(
    job: dict[str, Any],
    path: str,
    limits: ImportLimits,
    on_progress: OnProgress | None,
    cancel: threading.Event | None,
) -> Scene:
    with _done_in_child(job, path, limits, on_progress, cancel) as result:
        try:
            return exchange.read(result)
        except exchange.ExchangeError as error:
            why = f"the importer gave back a scene that cannot be used: {error}"
            raise SceneError(f"{display_path(path)}: {why}. The file may be damaged.", path) from error


def read_picture(path: str, limits: ImportLimits, cancel: threading.Event | None) -> dict[str, Any]:
    """The size and the text entries of a PNG file, read in a child process (picture_texts.py); errors as of `run`."""
    with _done_in_child({"picture": path}, path, limits, None, cancel) as result:
        result.seek(0)
        try:
            found = json.loads(result.read(MAX_PICTURE_JSON))
            if not isinstance(found, dict):
                raise TypeError("another value")
        except (ValueError, TypeError, RecursionError) as error:
            raise SceneError(
                f"{display_path(path)}: the reader gave back what is no picture's text. The file may be damaged.", path
            ) from error
        return found


def read_environment(path: str, limits: ImportLimits, cancel: threading.Event | None) -> Environment:
    """The environment of a picture, read in a child process (environments.py); errors as of `run`."""
    with _done_in_child({"environment": path}, path, limits, None, cancel) as result:
        try:
            found = exchange.read(result).environment
        except exchange.ExchangeError as error:
            raise SceneError(
                f"{display_path(path)}: the reader gave back what is no environment: {error}. The file may be damaged.",
                path,
            ) from error
        assert found is not None
        return found


def read_tree(path: str, format_name: str, limits: ImportLimits, cancel: threading.Event | None = None) -> FoundTree:
    """The tree of another program's file, read in a child process (trees/); errors as of `run`."""
    with _done_in_child({"tree": path, "format": format_name}, path, limits, None, cancel) as result:
        return trees.taken(result, path)


def read_rays(path: str, limits: ImportLimits) -> dict[str, np.ndarray]:
    """The rays of a file, read in a child process (ray_file.py); errors as of `run`."""
    with _done_in_child({"rays": path}, path, limits, None, None) as result:
        return ray_file.taken(result, path)


@contextlib.contextmanager
def _done_in_child(
    job: dict[str, Any], path: str, limits: ImportLimits, on_progress: OnProgress | None, cancel: threading.Event | None
) -> Iterator[BinaryIO]:
    """The file that a child process has filled as the job says; it is gone afterwards."""
    limits, folder = within_memory(limits), result_folder(job.get("paths", ()))
    with (
        tempfile.TemporaryFile(prefix="raygrove-", dir=folder) as result,
        tempfile.TemporaryFile() as words,
        sandbox.scratch_folder(folder or tempfile.gettempdir()) as scratch,
    ):
        child = _start(result.fileno(), words)
        try:
            text = json.dumps({**job, "scratch": scratch, "limits": dataclasses.asdict(limits)})
            outcome = _Talk(child, path, limits, on_progress, cancel).until_end(text.encode() + b"\n")
        finally:
            _kill(child)
        if not outcome.get("done"):
            raise _error(outcome, child.returncode, path, limits, words)
        yield result


def within_memory(limits: ImportLimits) -> ImportLimits:
    """The limits with no more memory than a share of what the machine has free, so that the system never has to choose
    whom to end and other programs keep some."""
    free = int(free_mib() * SHARE_OF_FREE)
    return dataclasses.replace(limits, memory_mib=min(limits.memory_mib, max(free, 256))) if free else limits


def free_mib() -> int:
    """Memory that is free on this machine, in MiB; 0 where the system does not tell."""
    return main_memory()[1] >> 20


def result_folder(paths: Sequence[str]) -> str | None:
    """Where the child's result goes: the folder of temporary files, for which None stands. That folder may lie in main
    memory: of a sequence, or of particles, that take a quarter of what is free the result goes to the user's cache
    folder, from which its key frames are mapped while it is open."""
    sizes = []
    for path in paths:
        with contextlib.suppress(OSError, ValueError):
            sizes.append(os.path.getsize(path))
    free = free_mib()
    are_particles = bool(paths) and extension_of(paths[0]) in PARTICLE_ENDINGS
    grows = UNPACKED_PARTICLES if are_particles else 1
    if (len(paths) < 2 and not are_particles) or not free or sum(sizes) * grows < free << 18:
        return None
    import platformdirs  # not on a bare machine that only measures

    with contextlib.suppress(OSError):
        folder = Path(platformdirs.user_cache_dir("raygrove", appauthor=False))
        folder.mkdir(parents=True, exist_ok=True)
        return str(folder)
    return None


def _start(descriptor: int, words: BinaryIO) -> subprocess.Popen[bytes]:
    package = Path(sys.modules["raygrove"].__path__[0])  # the child imports it from where this process did
    paths = [str(package.parent), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(paths),
        "OPENBLAS_NUM_THREADS": "1",
        "OMP_NUM_THREADS": "1",
    }
    return subprocess.Popen(
        [sys.executable, "-P", "-m", CHILD_MODULE, str(descriptor)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=words,
        pass_fds=(descriptor,),
        start_new_session=True,
        env=environment,
    )


def _kill(child: subprocess.Popen[bytes]) -> None:
    """End the child and whatever it started, and collect it."""
    with contextlib.suppress(ProcessLookupError):
        kill_group(child.pid)
    child.wait()
    for pipe in (child.stdin, child.stdout):
        if pipe is not None:
            pipe.close()


class _Talk:
    """The conversation with one child, until it ends, the time is up or the caller cancels."""

    def __init__(
        self,
        child: subprocess.Popen[bytes],
        path: str,
        limits: ImportLimits,
        on_progress: OnProgress | None,
        cancel: threading.Event | None,
    ) -> None:
        self.child, self.path, self.limits, self.on_progress, self.cancel = child, path, limits, on_progress, cancel
        self.outcome: dict[str, Any] = {}
        self.rest = b""

    def until_end(self, job: bytes) -> dict[str, Any]:
        """The child's last word: done, error or memory; empty where it ended without one."""
        end = time.monotonic() + self.limits.seconds
        assert self.child.stdin is not None and self.child.stdout is not None
        with selectors.DefaultSelector() as selector:
            selector.register(self.child.stdout, selectors.EVENT_READ)
            self._send(job)
            while True:
                if self.cancel is not None and self.cancel.is_set():
                    raise ImportCancelled(f"Opening {display_path(self.path)} was cancelled.", self.path)
                if time.monotonic() > end:
                    raise self._too_slow()
                if selector.select(POLL_SECONDS) and not self._read():
                    break
        self._wait(end)
        return self.outcome

    def _send(self, job: bytes) -> None:
        assert self.child.stdin is not None
        try:
            self.child.stdin.write(job)
            self.child.stdin.close()
        except BrokenPipeError:
            pass  # The child is already gone; its exit code tells why.

    def _read(self) -> bool:
        """Take what the child has written; False at its end."""
        assert self.child.stdout is not None
        piece = os.read(self.child.stdout.fileno(), 1 << 16)
        *lines, self.rest = (self.rest + piece).split(b"\n")
        for line in lines:
            self._take(line)
        return bool(piece) and len(self.rest) < MAX_LINE

    def _take(self, line: bytes) -> None:
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            return
        if not isinstance(message, dict):
            return
        if "progress" not in message:
            self.outcome = message
            return
        done = message["progress"]
        if self.on_progress is not None and type(done) in (int, float) and 0.0 <= done <= 1.0:
            self.on_progress(done, str(message.get("text", "")))

    def _wait(self, end: float) -> None:
        try:
            self.child.wait(max(min(end - time.monotonic(), 5.0), 0.1))
        except subprocess.TimeoutExpired as error:
            raise self._too_slow() from error

    def _too_slow(self) -> SceneError:
        why = f"reading it took longer than {brief(self.limits.seconds)} s and was stopped"
        share = f", of which a rare format gets one in {RARE_SHARE}" if is_rare(self.path) else ""
        advice = f"The file may be damaged; for a very large one raise import.seconds{share}."
        return SceneError(f"{display_path(self.path)}: {why}. {advice}", self.path)


def _error(outcome: dict[str, Any], code: int, path: str, limits: ImportLimits, words: BinaryIO) -> SceneError:
    """The sentence for a child that did not hand over a scene."""
    if "error" in outcome:
        if outcome.get("outside"):
            return OutsideError(str(outcome["error"]), path)
        kind = RefusedError if outcome.get("refused") else SceneError
        return kind(str(outcome["error"]), str(outcome.get("path") or path))
    said = _last_words(words)
    if (
        outcome.get("memory")
        or "bad_alloc" in said
        or "MemoryError" in said
        or "cannot allocate memory" in said.lower()
    ):
        advice = (
            f"{free_mib():,} MiB are free on this machine: raise import.memory_mib, close other programs, or "
            f"open a smaller file"
        )
        return SceneError(
            f"{display_path(path)}: reading it needs more memory than the {limits.memory_mib:,} MiB an import may use. "
            f"{advice}.",
            path,
        )
    if code == -signal.SIGBUS:  # of a file that is mapped
        why = "it became shorter while it was read, or its disk failed (SIGBUS)"
        return SceneError(f"{display_path(path)}: {why}. Open it again when it is whole.", path)
    if code < 0:
        name = signal.Signals(-code).name if -code in {s.value for s in signal.Signals} else f"signal {-code}"
        hint = " The system may have run out of memory." if -code == signal.SIGKILL else ""
        why = f"the reader crashed ({name}); the file is probably damaged.{hint}"
        kind = SceneError if code == -signal.SIGKILL else CrashedError
        return kind(f"{display_path(path)}: {why} Export it again or in another format.", path)
    reason = f" ({said.splitlines()[-1][:300]})" if said else ""
    return SceneError(
        f"{display_path(path)}: the reader ended without a scene{reason}. Please report this with the file.", path
    )


def _last_words(words: BinaryIO) -> str:
    words.seek(max(words.seek(0, os.SEEK_END) - 4000, 0))
    return words.read().decode("utf-8", "replace").strip()
