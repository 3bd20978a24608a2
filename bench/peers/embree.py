"""Embree over the same triangles and rays, as rows of results: `bench.trace.run_trace(..., peers=("embree",))` puts
figures into a row's `peers`."""

from __future__ import annotations

import dataclasses
import statistics
from typing import Any

import numpy as np

from raygrove.gpu.analysis.rivals.embree import PACKS, EmbreeProcess, PeerAbsentError, RaySet
from raygrove.gpu.camera import Camera

__all__ = ["PACKS", "EmbreeProcess", "EmbreeResult", "EmbreeRun", "PeerAbsentError", "RaySet", "measure"]


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
    """Trace the picture of `camera` at `size` with each packet width through a medium tree, and the rays `any_hit`
    (rows, as a RaySet has them) for any hit. Raises PeerAbsentError."""
    sets = [RaySet(camera, size)]
    if any_hit is not None and any_hit.shape[1]:
        sets.append(RaySet(rows=any_hit, is_any=True, is_coherent=False))
    with EmbreeProcess(positions, triangles, sets, threads) as peer:
        found = [{pack: _result(peer, index, pack, repeat, warmup) for pack in PACKS} for index in range(len(sets))]
        return EmbreeRun(peer.version, threads, peer.build_ms, *found)


def _result(peer: EmbreeProcess, index: int, pack: int, repeat: int, warmup: int) -> EmbreeResult:
    traced = peer.trace(index, pack, warmup + repeat)
    samples = traced.samples_ms[warmup:]
    spent = statistics.median(samples)
    return EmbreeResult(pack, peer.sets[index].count / spent / 1e3, spent, traced.hits, traced.sum_t, samples)
