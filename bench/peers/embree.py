"""Embree 3 (Debian's libembree-dev) over the same triangles and primary rays: a medium-quality static tree, packets of 16 and 8 and single rays.

`bench.trace.run_trace(..., peers=("embree",))` puts the figures into a row's `peers`; `python -m bench.goals --target host` compares with them. The
program is compiled at first use and runs as a process of its own, so that neither library sees the other's threads.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import pathlib
import statistics
import subprocess
import tempfile
from typing import Any

import numpy as np

from gpu.camera import Camera
from gpu.target.base import NoDeviceError
from gpu.target.cache import cached_file
from gpu.target.host_compiler import compiler_version, find_compiler

SOURCE = pathlib.Path(__file__).with_name("embree.cpp")
FLAGS = ("-std=c++17", "-O3", "-march=native", "-fno-math-errno", "-fno-trapping-math", "-pthread")
HEADERS = (pathlib.Path("/usr/include/embree3/rtcore.h"), pathlib.Path("/usr/local/include/embree3/rtcore.h"))


class PeerAbsentError(RuntimeError):
    """The peer is not there, or does not run: the message says what is missing and how to install it."""


@dataclasses.dataclass(frozen=True)
class EmbreeResult:
    """One width of packets: rays of the picture per median time, the hits and the sum of their distances."""

    pack: int
    mrays_per_s: float
    trace_ms: float
    hits: int
    sum_t: float
    samples_ms: tuple[float, ...]


@dataclasses.dataclass(frozen=True)
class EmbreeRun:
    """A whole run: the library's version, how long its tree took, and the results by packet width."""

    version: str
    threads: int
    build_ms: float
    results: dict[int, EmbreeResult]

    def as_peers(self) -> list[dict[str, Any]]:
        """The form of a row's `peers`."""
        about = {"program": f"Embree {self.version}", "builder": "medium quality", "threads": self.threads, "build_ms": self.build_ms}
        return [{**about, **dataclasses.asdict(result), "samples_ms": list(result.samples_ms)} for result in self.results.values()]


def program() -> pathlib.Path:
    """The compiled program, from the cache or made now. Raises PeerAbsentError without Embree's headers or a compiler."""
    if not any(header.exists() for header in HEADERS):
        raise PeerAbsentError("Embree is not measured: its headers are not installed. Install them with: sudo apt-get install libembree-dev")
    try:
        compiler = find_compiler()
        described = "\n".join([SOURCE.read_text(encoding="utf-8"), *FLAGS, *compiler, compiler_version()])
    except NoDeviceError as error:
        raise PeerAbsentError(f"Embree is not measured: {error}") from error

    def make(path: pathlib.Path) -> None:
        command = [*compiler, *FLAGS, str(SOURCE), "-o", str(path), "-lembree3"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
        if done.returncode != 0:
            raise PeerAbsentError(f"Embree is not measured: its program did not compile.\n{done.stderr.strip()[:2000]}")
        path.chmod(0o755)

    return cached_file("peer-embree-" + hashlib.sha256(described.encode()).hexdigest()[:32], "", make)


def measure(
    positions: np.ndarray, triangles: np.ndarray, camera: Camera, size: tuple[int, int], threads: int, repeat: int = 9, warmup: int = 2
) -> EmbreeRun:
    """Trace the picture of `camera` at `size` with each packet width: positions (V, 3) float32, triangles (T, 3) int32, `threads` of them at least 1.
    Raises PeerAbsentError."""
    header = np.array([len(positions), len(triangles), *size, threads, repeat, warmup, 0], np.int32)
    with tempfile.TemporaryDirectory(prefix="raygrove-") as folder:
        job = pathlib.Path(folder) / "job"
        with job.open("wb") as file:
            for part in (header, camera.frame(*size), np.ascontiguousarray(positions, np.float32), np.ascontiguousarray(triangles, np.int32)):
                part.tofile(file)
        try:
            done = subprocess.run([str(program()), str(job)], capture_output=True, text=True, timeout=1800, check=False)
        except (OSError, subprocess.SubprocessError) as error:
            raise PeerAbsentError(f"Embree is not measured: its program could not be run: {error}.") from error
    if done.returncode != 0:
        raise PeerAbsentError(f"Embree is not measured: its program failed. {done.stderr.strip()[:500]}")
    return _read(done.stdout, size)


def _read(text: str, size: tuple[int, int]) -> EmbreeRun:
    found = json.loads(text)
    results = {}
    for entry in found["results"]:
        median = statistics.median(entry["samples_ms"])
        rate = size[0] * size[1] / median / 1e3
        results[entry["pack"]] = EmbreeResult(entry["pack"], rate, median, entry["hits"], entry["sum_t"], tuple(entry["samples_ms"]))
    return EmbreeRun(found["version"], found["threads"], found["build_ms"], results)
