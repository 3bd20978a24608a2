"""A run of the bench of record: scene by scene, each kept as it is measured, and the arguments that its cases share."""

from __future__ import annotations

import json
import pathlib
import sys
from collections.abc import Callable
from typing import Any

from raygrove.gpu.scene import Scene
from raygrove.gpu.target.base import Target

from .arguments import argument, at_least_one
from .ray_scenes import BY_NAME, SUBJECTS
from .saved import Content, keep

FILES = argument(
    "files",
    nargs="*",
    metavar="FILE",
    help=f"models: {', '.join(one.name for one in SUBJECTS if not one.demo and not one.of_model)}",
)
SCENES = argument(
    "--scenes", nargs="*", choices=list(BY_NAME), default=list(BY_NAME), metavar="SCENE", help="only these"
)
TRIANGLES = argument(
    "--triangles",
    type=at_least_one,
    default=0,
    metavar="N",
    help="of the built-in scenes, instead of their own number: such figures count in no goal",
)

Measure = Callable[[Target, str, Scene], dict[str, Any]]


def measure_all(
    target: Target,
    makers: dict[str, Callable[[], Scene]],
    wanted: list[str],
    prefix: str,
    about: Content,
    measure: Measure,
    page: Callable[[Content], str],
) -> Content:
    """Scene by scene, those that PREFIX-parts holds already left out; PREFIX.json and .txt are written after each."""
    content: Content = {"context": about, "parts": {}, "missing": [name for name in wanted if name not in makers]}
    folder = pathlib.Path(f"{prefix}-parts")
    for name in wanted:
        kept = folder / f"{name}.json"
        if prefix and kept.exists():
            print(f"{name}: kept in {kept}", file=sys.stderr)
            content["parts"][name] = json.loads(kept.read_text(encoding="utf-8"))
        elif name in makers:
            print(name, file=sys.stderr)
            content["parts"][name] = measure(target, name, makers[name]())
            if prefix:
                folder.mkdir(parents=True, exist_ok=True)
                kept.write_text(json.dumps(content["parts"][name]), encoding="utf-8")
        keep(prefix, content, page(content))
    return content


def missing(content: Content) -> str:
    """A sentence for each scene that was asked for and has no file."""
    return "\n".join(
        f"{name}: missing; give the file of {BY_NAME[name].model_triangles:,} triangles."
        for name in content["missing"]
        if name not in content["parts"]
    )
