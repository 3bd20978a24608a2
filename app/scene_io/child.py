"""The importing child process: `python -m raygrove.app.scene_io.child FD` reads a job (JSON) from stdin and writes the
scene to file FD; of a picture, the state that was saved in it; of a tree, its columns.

Lines of JSON on stdout tell the parent of progress, of the end, or of an error with its sentence. Memory is limited
before any foreign code is loaded; libraries that print are sent to stderr; before a file is looked at, and after the
modules that read it are loaded, the process gives up what it does not need (sandbox.py). It dies with its parent.
"""

from __future__ import annotations

import gc
import json
import os
import sys
import tempfile
from collections.abc import Callable
from typing import Any, BinaryIO, TextIO

import raygrove.whole_code  # noqa: F401 - before other modules are imported
from raygrove.gpu.linux import end_with_parent, lower_limits

from . import sandbox
from .errors import OutsideError, RefusedError, SceneError, display_path
from .limits import ImportLimits

Reader = Callable[[BinaryIO], object]
"""Reads what a job asks for, and writes it to the file."""


def main() -> int:
    """Read the job, import, report; returns the exit code."""
    lines = _protect_stdout()
    job = json.loads(sys.stdin.readline())
    gc.disable()  # among the million objects of a scene it would search again and again for cycles that are none
    limits = ImportLimits(**job["limits"])
    _limit(limits)
    tempfile.tempdir = job.get("scratch")
    try:
        read = _reader_of(job, limits, lines)
        sandbox.enter(_files_of(job), limits, job.get("scratch"))
        file = os.fdopen(int(sys.argv[1]), "wb")  # never closed: on a full disk that would fail once more
        read(file)
        file.flush()
        _say(lines, done=True)
    except SceneError as error:
        kinds = {"refused": isinstance(error, RefusedError), "outside": isinstance(error, OutsideError)}
        _say(lines, error=str(error), path=error.path, **kinds)
    except MemoryError:
        _say(lines, memory=True)
    return 0


def _files_of(job: dict[str, Any]) -> list[str]:
    return (
        list(job["paths"])
        if "paths" in job
        else [job.get("picture") or job.get("tree") or job.get("rays") or job["environment"]]
    )


def _protect_stdout() -> TextIO:
    """Keep the pipe for ourselves: whatever a library prints goes to stderr."""
    lines = os.fdopen(os.dup(1), "w", encoding="utf-8", errors="backslashreplace")
    os.dup2(2, 1)
    return lines


def _limit(limits: ImportLimits) -> None:
    end_with_parent()
    # The parent counts seconds of the clock; those of the processor are for the case that it is gone.
    seconds = int(limits.seconds) * (os.cpu_count() or 1) + 5
    lower_limits(limits.memory_mib << 20, seconds, mapped_bytes=limits.disk_mib << 20)


def _reader_of(job: dict[str, Any], limits: ImportLimits, lines: TextIO) -> Reader:
    """What does the job; the modules that it needs are loaded now, while Python may keep their compiled code."""
    if "picture" in job:
        from .picture_texts import read_picture

        return lambda file: file.write(json.dumps(read_picture(job["picture"])).encode())
    if "tree" in job:
        from .trees.read import read_tree
        from .trees.read import write as write_tree

        return lambda file: write_tree(read_tree(job["tree"], job["format"], limits), file)
    if "rays" in job:
        from . import ray_file

        return lambda file: ray_file.write(ray_file.read_rays(job["rays"], limits), file)
    from . import exchange

    if "environment" in job:
        from raygrove.gpu.scene import Scene

        from .environments import read_environment

        return lambda file: exchange.write(Scene("environment", environment=read_environment(job["environment"])), file)
    return _scene_reader(job, limits, lines)


def _scene_reader(job: dict[str, Any], limits: ImportLimits, lines: TextIO) -> Reader:
    from . import exchange
    from .read import read_files

    def progress(fraction: float, text: str) -> None:
        _say(lines, progress=fraction, text=text)

    def read(file: BinaryIO) -> None:
        scene = read_files(job["paths"], limits, job["fps"], progress, job.get("once_more", False))
        progress(0.95, "Handing over")
        try:
            exchange.write(scene, file)
        except OSError as error:
            why = f"no room for the imported scene ({error.strerror}). Free space on the disk of temporary files."
            raise SceneError(f"{display_path(job['paths'][0])}: {why}", job["paths"][0]) from error

    return read


def _say(lines: TextIO, **message: Any) -> None:
    lines.write(json.dumps(message) + "\n")
    lines.flush()


if __name__ == "__main__":
    ended = main()
    sys.stderr.flush()
    os._exit(ended)  # all is handed over: libraries that end threads and free memory take seconds on a busy machine
