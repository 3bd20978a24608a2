"""Devices that only wait: a worker of a sweep whose jobs say how long they take. What is left of the time is what
handing out jobs costs, on any number of devices and any number of cores."""

from __future__ import annotations

import argparse
import json
import pathlib
import sys
import time
from collections.abc import Iterator
from typing import Any

from raygrove.version import VERSION

from .device_scaling import Run
from .store.cluster import Cluster, is_cluster
from .store.folder import DONE, Store
from .store.jobs import Job
from .store.workers import Lane, Workers

SOURCES = "simulated"
GOLDEN = 0.6180339887498949


def jobs_of(count: int, seconds: float, spread: float) -> Iterator[Job]:
    """Jobs that take from `seconds` to `spread` times that, evenly, in an order that is the same every time."""
    for number in range(count):
        wait = seconds * (1.0 + (spread - 1.0) * (number * GOLDEN % 1.0))
        yield Job({"measure": "wait", "number": number, "wait": wait, "version": VERSION, "sources": SOURCES})


def do_order(order: dict[str, Any]) -> dict[str, Any]:
    """Do a job, and keep its result; the answer of a worker."""
    begin = time.perf_counter()
    time.sleep(order["job"]["wait"])
    seconds = time.perf_counter() - begin
    Store(order["store"]).put({"job": order["job"], "status": DONE, "seconds": seconds})
    return {"status": DONE, "seconds": seconds}


def waited_for(folder: pathlib.Path, devices: int, names: argparse.Namespace) -> Run:
    """Jobs shared by so many simulated devices."""
    store, lanes = Store.made(folder), [Lane(f"simulated:{number}") for number in range(devices)]
    workers: Cluster | Workers
    if is_cluster(names.engine):
        workers = Cluster(store, names.engine, do_order, lanes=lanes)
    else:
        workers = Workers(store, [sys.executable, "-P", "-m", __name__, str(folder.absolute())], lanes)
    begin = time.perf_counter()
    workers.run(jobs_of(names.jobs, names.seconds, names.spread))
    return Run.of(devices, time.perf_counter() - begin, workers.progress)


def main(folder: str) -> None:
    """A worker, until stdin ends."""
    print(json.dumps({"version": VERSION, "sources": SOURCES}), flush=True)
    for line in sys.stdin:
        print(json.dumps(do_order({**json.loads(line), "store": folder})), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
