"""The thesis' comparison with OpenGL (table 5.10): a fragment shader that tests every pixel against all spheres, and
impostors, timed by OpenGL's own clock in the program's window, which needs a screen."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from ..measured_window import WindowError, ask_window
from .job import SuiteJob
from .scenes import SceneChoice

WAYS = ("impostors", "full_screen")
PATIENCE_S = 300.0


def glsl_rows(job: SuiteJob, choice: SceneChoice, pixels: int, size: tuple[int, int]) -> Iterator[dict[str, Any]]:
    """A row for each way, `ms` None where it takes no such number or too long; one row with `why` where there is no
    window."""
    asked = {
        "spheres": choice.published_triangles,
        "pixels": pixels * 1024 / size[1],
        "size": list(size),
        "ways": WAYS,
        "repeat": job.repeat,
        "device": job.target.name if job.target.kind == "cuda" else "cpu",
        "patience_s": PATIENCE_S,
    }
    what = {"part": "glsl", "scene": choice.published, "spheres": choice.published_triangles}
    try:
        answer = ask_window("spheres", asked)
    except WindowError as error:
        yield {**what, "why": _reason(error)}
        return
    for way, spent in answer["milliseconds"].items():
        yield {**what, "way": way, "ms": spent, "size": answer["size"], "gl_renderer": answer["gl_renderer"]}


def _reason(error: WindowError) -> str:
    """What the window said, or that there is no screen for it."""
    try:
        problems: list[str] = json.loads(error.answer)["problems"]
    except (ValueError, KeyError):
        problems = []
    return problems[0] if problems else "No window with OpenGL can be had here."
