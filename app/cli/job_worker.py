"""A worker of a sweep: `python -m raygrove.app.cli.job_worker STORE` says of which version it is, then reads jobs from
stdin, a line of JSON each, keeps each result in the store and says what came of it on stdout. It ends with stdin."""

from __future__ import annotations

import functools
import json
import os
import signal
import sys
from collections.abc import Mapping
from typing import Any

import raygrove.whole_code  # noqa: F401 - before other modules are imported
from raygrove.app.cli.job_running import DeviceBrokenError, RefusedError, Runner, answer_of
from raygrove.app.problems.problems import problem_of
from raygrove.bench.store.cluster import said_to_cluster
from raygrove.bench.store.folder import Store, StoreError
from raygrove.bench.store.jobs import Job, digest_of_sources, other_version
from raygrove.gpu.target.base import NoDeviceError
from raygrove.version import VERSION


def main(folder: str) -> int:
    """Work until stdin ends; returns the exit code."""
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))  # leaves nothing half written
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what a library prints is no answer

    def say(value: dict[str, Any]) -> None:
        answers.write(json.dumps(value) + "\n")
        answers.flush()

    runner = Runner(Store(folder), lambda is_waiting: say({"waits": is_waiting}))
    say(_own())
    for line in sys.stdin:
        order = json.loads(line)
        try:
            say(_answer(runner, order))
        except DeviceBrokenError as error:
            print(error, file=sys.stderr, flush=True)
            return 1  # another process can use the device again
    return 0


def _answer(runner: Runner, order: Mapping[str, Any]) -> dict[str, Any]:
    """Do a job; what came of it. Raises DeviceBrokenError."""
    try:
        return answer_of(runner.run(Job(order["job"], tuple(order["files"]))))
    except RefusedError as error:
        return {"status": "refused", "sentence": str(error)}
    except (StoreError, NoDeviceError, OSError) as error:
        return {"fatal": problem_of(error).sentence}


@functools.cache
def _own() -> dict[str, str]:
    """What this process says of its program."""
    return {"version": VERSION, "sources": digest_of_sources()}


@functools.cache
def _runner(folder: str) -> Runner:
    return Runner(Store(folder), said_to_cluster)


def do_order(order: dict[str, Any]) -> dict[str, Any]:
    """A job of a cluster, on one of its workers: what came of it. Ends the process where its device is broken, so that
    the cluster starts another."""
    if other := other_version(_own(), order["job"]):
        return {"fatal": f"{other}: give all machines one version"}
    try:
        return _answer(_runner(order["store"]), order)
    except StoreError as error:
        return {"fatal": str(error)}
    except DeviceBrokenError as error:
        print(error, file=sys.stderr, flush=True)
        os._exit(1)


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1]))
    except BrokenPipeError:
        sys.exit(0)  # whoever asked is gone; the result is kept
