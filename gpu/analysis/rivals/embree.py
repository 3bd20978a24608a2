"""Embree over the same triangles and rays: packets of 16 and 8 and single rays; closest and any hits, on camera rays
made on the way and on buffers; trees that are built anew or refitted where the triangles move.

The library is version 4 of the wheel `embreex`, else Debian's libembree3; `embree_view.h` declares what is called of
it, so that no headers are needed. The program is compiled at first use and runs as a process of its own, so that
neither library sees the other's threads. It stays, and acts when it is asked
to: so that two programs can take turns.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import hashlib
import importlib.util
import json
import os
import pathlib
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ...camera import Camera
from ...target.base import NoDeviceError
from ...target.cache import cached_file
from ...target.host_compiler import compiler_version, find_compiler

SOURCE = pathlib.Path(__file__).with_name("embree.cpp")
VIEW = pathlib.Path(__file__).with_name("embree_view.h")
FLAGS = ("-std=c++17", "-O3", "-march=native", "-fno-math-errno", "-fno-trapping-math", "-pthread")
SYSTEM = ("/usr/lib", "/usr/local/lib")
PACKS = (16, 8, 1)
QUALITIES = {"low": 0, "medium": 1, "high": 2}
"""Embree's names of them: Morton codes, the default, and its best tree, which splits triangles."""


class PeerAbsentError(RuntimeError):
    """The peer is not there, or does not run: the message says what is missing and how to install it."""


@dataclasses.dataclass(frozen=True, eq=False)
class RaySet:
    """Rays that are traced together: a picture of `camera`, or `rows` (8, S) float32 as BufferRays has them, S a
    multiple of 64. `is_coherent` tells Embree that neighbours go alike."""

    camera: Camera = Camera()
    size: tuple[int, int] = (0, 0)
    rows: np.ndarray | None = None
    is_any: bool = False
    is_coherent: bool = True

    @property
    def count(self) -> int:
        """Rays that are traced."""
        return self.size[0] * self.size[1] if self.rows is None else int((self.rows[6] < self.rows[7]).sum())

    def parts(self) -> Iterator[np.ndarray]:
        """What the job file holds of it."""
        rows = np.zeros((8, 0), np.float32) if self.rows is None else np.ascontiguousarray(self.rows, np.float32)
        yield np.array([self.is_any, self.is_coherent, *self.size, rows.shape[1]], np.int32)
        yield self.camera.frame(*self.size) if self.rows is None else np.zeros(16, np.float32)
        yield rows


@dataclasses.dataclass(frozen=True)
class Traced:
    """Some traces of one set: hits, the sum of their distances (0 of any hits), times by the clock and by the
    processors."""

    hits: int
    sum_t: float
    samples_ms: tuple[float, ...]
    processor_ms: tuple[float, ...]


@functools.cache
def library() -> str:
    """Embree's library: the wheel's, else the system's. Raises PeerAbsentError."""
    wheel = importlib.util.find_spec("embreex")
    if wheel is not None and wheel.origin:
        found = sorted((pathlib.Path(wheel.origin).parents[1] / "embreex.libs").glob("libembree4*"))
        if found:
            return str(found[0])
    installed = sorted(path for folder in SYSTEM for path in pathlib.Path(folder).glob("*/libembree3.so*"))
    if not installed:
        raise PeerAbsentError(
            "Embree is not measured: its library is not installed. Install it with: pip install embreex; or, for "
            "version 3: sudo apt-get install libembree3-3"
        )
    return str(installed[0])


def program() -> pathlib.Path:
    """The compiled program, from the cache or made now. Raises PeerAbsentError without a compiler."""
    try:
        compiler = find_compiler()
        texts = [path.read_text(encoding="utf-8") for path in (SOURCE, VIEW)]
        described = "\n".join([*texts, *FLAGS, *compiler, compiler_version()])
    except NoDeviceError as error:
        raise PeerAbsentError(f"Embree is not measured: {error}") from error

    def make(path: pathlib.Path) -> None:
        command = [*compiler, *FLAGS, str(SOURCE), "-o", str(path), "-ldl"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
        if done.returncode != 0:
            raise PeerAbsentError(f"Embree is not measured: its program did not compile.\n{done.stderr.strip()[:2000]}")
        path.chmod(0o755)

    return cached_file("peer-embree-" + hashlib.sha256(described.encode()).hexdigest()[:32], "", make)


class EmbreeProcess(contextlib.AbstractContextManager["EmbreeProcess"]):
    """Embree with a tree over positions (V, 3) float32 and triangles (T, 3) int32, ready to trace `sets` by `threads`.
    A `dynamic` tree is one that Embree keeps for meshes that move: only such ones can be refitted. With `robust` no
    ray passes between neighbours; without, as Embree has it unless it is told, some do. Raises PeerAbsentError where it
    is not there or fails."""

    def __init__(
        self,
        positions: np.ndarray,
        triangles: np.ndarray,
        sets: Sequence[RaySet],
        threads: int,
        quality: str = "medium",
        *,
        dynamic: bool = False,
        robust: bool = False,
    ) -> None:
        self.sets, self.threads, self.quality = list(sets), threads, quality
        counts = (len(positions), len(triangles), threads, QUALITIES[quality], dynamic, robust, len(sets))
        header = np.array(counts, np.int32)
        self._exchange = tempfile.NamedTemporaryFile(prefix="raygrove-")  # noqa: SIM115 - as long as the process
        parts = [header, np.ascontiguousarray(positions, np.float32), np.ascontiguousarray(triangles, np.int32)]
        descriptor, name = tempfile.mkstemp(prefix="raygrove-")
        job = pathlib.Path(name)
        try:
            with os.fdopen(descriptor, "wb") as file:
                for part in (*parts, *(part for one in sets for part in one.parts())):
                    part.tofile(file)
            self._process = self._start(job)
            try:
                about = self._answer()
            except BaseException:
                self.close()
                raise
        finally:
            job.unlink()
        self.version, self.build_ms = str(about["version"]), float(about["build_ms"])
        self.build_processor_ms = float(about["build_processor_ms"])

    def trace(self, index: int, pack: int, count: int = 1) -> Traced:
        """Trace the set of that index `count` times, in packets of `pack`."""
        found = self._asked(f"trace {index} {pack} {count}")
        times = (tuple(found["samples_ms"]), tuple(found["processor_ms"]))
        return Traced(int(found["hits"]), float(found["sum_t"]), *times)

    def update(self, positions: np.ndarray, *, refit: bool) -> float:
        """Follow triangles that moved, by a refit or a new tree; milliseconds."""
        self._exchange.seek(0)
        np.ascontiguousarray(positions, np.float32).tofile(self._exchange.file)
        self._exchange.flush()
        return float(self._asked("refit" if refit else "build")["build_ms"])

    def hits(self, index: int, pack: int) -> tuple[np.ndarray, np.ndarray]:
        """Trace the set of that index, of rows, and give t (inf: nothing hit) and prim_id (-1), in the order of the
        rays, those that are idle among them."""
        self._asked(f"hits {index} {pack}")
        rows = self.sets[index].rows
        assert rows is not None, "a picture's rays have no order outside"
        self._exchange.seek(0)
        t = np.fromfile(self._exchange.file, np.float32, rows.shape[1])
        return t, np.fromfile(self._exchange.file, np.int32, rows.shape[1])

    def close(self) -> None:
        """End it."""
        self._process.communicate()
        self._exchange.close()

    def _asked(self, words: str) -> dict[str, Any]:
        pipe = self._process.stdin
        assert pipe is not None
        with contextlib.suppress(BrokenPipeError):  # the answer tells why
            pipe.write(f"{words}\n")
            pipe.flush()
        return self._answer()

    def __exit__(self, *_: object) -> None:
        self.close()

    def _start(self, job: pathlib.Path) -> subprocess.Popen[str]:
        pipe = subprocess.PIPE
        try:
            return subprocess.Popen(
                [str(program()), library(), str(job), self._exchange.name],
                stdin=pipe,
                stdout=pipe,
                stderr=pipe,
                text=True,
            )
        except OSError as error:
            raise PeerAbsentError(f"Embree is not measured: its program could not be run: {error}.") from error

    def _answer(self) -> dict[str, Any]:
        pipe = self._process.stdout
        assert pipe is not None
        line = pipe.readline()
        if not line:
            _, words = self._process.communicate()
            raise PeerAbsentError(f"Embree is not measured: its program failed. {words.strip()[:500]}")
        found: dict[str, Any] = json.loads(line)
        return found
