"""Embree 3 (Debian's libembree-dev) over the same triangles and rays: a medium static tree, packets of 16 and 8 and
single rays; primary rays, and any-hit rays of a buffer.

`bench.trace.run_trace(..., peers=("embree",))` puts the figures into a row's `peers`; `python -m raygrove.bench goals
--device cpu` compares with them. The program is compiled at first use and runs as a process of its own, so that
neither library sees the other's threads.
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

from raygrove.gpu.camera import Camera
from raygrove.gpu.target.base import NoDeviceError
from raygrove.gpu.target.cache import cached_file
from raygrove.gpu.target.host_compiler import compiler_version, find_compiler

SOURCE = pathlib.Path(__file__).with_name("embree.cpp")
FLAGS = ("-std=c++17", "-O3", "-march=native", "-fno-math-errno", "-fno-trapping-math", "-pthread")
HEADERS = (pathlib.Path("/usr/include/embree3/rtcore.h"), pathlib.Path("/usr/local/include/embree3/rtcore.h"))


class PeerAbsentError(RuntimeError):
    """The peer is not there, or does not run: the message says what is missing and how to install it."""


@dataclasses.dataclass(frozen=True)
class EmbreeResult:
    """One width of packets: rays per median time, the hits and, of primary rays, the sum of their distances."""

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
    occluded: dict[int, EmbreeResult] = dataclasses.field(default_factory=dict)
    """Of the any-hit rays, where some were given."""

    def as_peers(self, ray_type: str = "primary") -> list[dict[str, Any]]:
        """The form of a row's `peers`: those of primary rays, or of any-hit rays where `ray_type` is another one."""
        chosen = self.results if ray_type == "primary" else self.occluded
        about = {
            "program": f"Embree {self.version}",
            "builder": "medium quality",
            "threads": self.threads,
            "build_ms": self.build_ms,
        }
        return [
            {**about, **dataclasses.asdict(result), "samples_ms": list(result.samples_ms)} for result in chosen.values()
        ]


def program() -> pathlib.Path:
    """The compiled program, from the cache or made now. Raises PeerAbsentError without Embree's headers or a
    compiler."""
    if not any(header.exists() for header in HEADERS):
        raise PeerAbsentError(
            "Embree is not measured: its headers are not installed. Install them with: sudo apt-get install "
            "libembree-dev"
        )
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
    positions: np.ndarray,
    triangles: np.ndarray,
    camera: Camera,
    size: tuple[int, int],
    threads: int,
    repeat: int = 9,
    warmup: int = 2,
    any_hit: np.ndarray | None = None,
) -> EmbreeRun:
    """Trace the picture of `camera` at `size` with each packet width: positions (V, 3) float32, triangles (T, 3) int32,
    `threads` of them at least 1.
    `any_hit` (8, S) float32: rays in rows as BufferRays has them, S a multiple of 64. Raises PeerAbsentError."""
    rows = np.zeros((8, 0), np.float32) if any_hit is None else np.ascontiguousarray(any_hit, np.float32)
    header = np.array([len(positions), len(triangles), *size, threads, repeat, warmup, rows.shape[1]], np.int32)
    with tempfile.TemporaryDirectory(prefix="raygrove-") as folder:
        job = pathlib.Path(folder) / "job"
        with job.open("wb") as file:
            for part in (
                header,
                camera.frame(*size),
                np.ascontiguousarray(positions, np.float32),
                np.ascontiguousarray(triangles, np.int32),
                rows,
            ):
                part.tofile(file)
        try:
            done = subprocess.run([str(program()), str(job)], capture_output=True, text=True, timeout=1800, check=False)
        except (OSError, subprocess.SubprocessError) as error:
            raise PeerAbsentError(f"Embree is not measured: its program could not be run: {error}.") from error
    if done.returncode != 0:
        raise PeerAbsentError(f"Embree is not measured: its program failed. {done.stderr.strip()[:500]}")
    return _read(done.stdout, size[0] * size[1], int((rows[6] < rows[7]).sum()))


def _read(text: str, rays: int, any_hit_rays: int) -> EmbreeRun:
    found = json.loads(text)
    parts = (_results(found["results"], rays), _results(found["occluded"], any_hit_rays))
    return EmbreeRun(found["version"], found["threads"], found["build_ms"], *parts)


def _results(entries: list[dict[str, Any]], rays: int) -> dict[int, EmbreeResult]:
    results = {}
    for entry in entries:
        median = statistics.median(entry["samples_ms"])
        results[entry["pack"]] = EmbreeResult(
            entry["pack"], rays / median / 1e3, median, entry["hits"], entry["sum_t"], tuple(entry["samples_ms"])
        )
    return results
