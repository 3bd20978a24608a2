"""A job: what is measured or drawn, as plain values with one text and one hash."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import json
import pathlib
from collections.abc import Mapping
from typing import Any

FORMAT = 1
"""Of a job's values; another one makes other hashes."""
BUILT_BY = ("version", "sources")
"""What a job says of the program. The rest is the question, by which results of two versions are compared."""
MEASURES = ("build", "trace", "frame", "render")
SUITE = "suite"
"""The measure of a published evaluation's scene, which no plan says."""
TIMED = (*MEASURES[:3], SUITE)
"""What runs alone on its device."""
DIGEST = "sha256:"
"""How the hash of files begins, where a job has it in the place of a name."""
BETWEEN = {"size": "x", "frames": ":"}
"""What is typed between the numbers of a value; a comma in others."""
SOURCES = ("app", "bench", "gpu")
ENDINGS = (".py", ".cu", ".cuh", ".cpp", ".h")


@dataclasses.dataclass(frozen=True, eq=False)
class Job:
    """`what` is everything that the result follows from, by names: `measure`, `scene` (a built-in scene's name, or the
    hash of its files), `configuration`, flags and settings, `device` (its kind), `version` and `sources`. `files` is
    where the scene lies on this machine, and behind it a file of rays, no part of the hash."""

    what: Mapping[str, Any]
    files: tuple[str, ...] = ()

    @functools.cached_property
    def sha(self) -> str:
        """SHA-256 of the canonical JSON, in hexadecimal."""
        return sha_of(self.what)

    @property
    def is_timed(self) -> bool:
        """Whether it measures times, and is therefore alone on its device."""
        return self.what["measure"] in TIMED


def canonical(what: Mapping[str, Any]) -> str:
    """The one text of plain values: keys sorted, no spaces, ASCII. ValueError for numbers that are not finite."""
    return json.dumps(what, sort_keys=True, separators=(",", ":"), allow_nan=False)


def sha_of(what: Mapping[str, Any]) -> str:
    """SHA-256 of the canonical text."""
    return hashlib.sha256(canonical(what).encode()).hexdigest()


def question_of(what: Mapping[str, Any]) -> dict[str, Any]:
    """A job without what it says of the program."""
    return {key: value for key, value in what.items() if key not in BUILT_BY}


def other_version(said: Mapping[str, Any], what: Mapping[str, Any]) -> str:
    """How what a worker says of its program is not that by which a job was made; nothing where it is."""
    name = next((one for one in BUILT_BY if said.get(one) != what[one]), None)
    if name is None:
        return ""
    is_ = "are" if name == "sources" else "is"
    return f"a worker's {name} {is_} {str(said.get(name))[:12]}, and the jobs' {str(what[name])[:12]}"


def described(what: Mapping[str, Any]) -> str:
    """A job in a line: configuration, scene, measure, and what else was chosen."""
    first = ("measure", "scene", "configuration", "device", "format", *BUILT_BY)
    scene = str(what.get("scene", ""))
    scene = scene[:19] if scene.startswith(DIGEST) else scene
    rest = (f"{key}={_short(typed(value, key))}" for key, value in sorted(what.items()) if key not in first)
    named = (str(what.get(key, "")) for key in ("measure", "configuration", "device"))
    return " ".join(word for word in (*named, scene, *rest) if word)


def _short(text: str) -> str:
    return text[:19] if text.startswith(DIGEST) else text


def typed(value: Any, key: str = "") -> str:
    """A value of a job as it is typed."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return BETWEEN.get(key, ",").join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def digest_of_sources(root: pathlib.Path | None = None) -> str:
    """SHA-256 of the program's kernels and sources but the window's, by name: two results with the same one were made
    by the same code. `root` is the folder that holds gpu/; none: this program's own."""
    root = root or pathlib.Path(__file__).resolve().parents[2]
    digest = hashlib.sha256()
    for room in SOURCES:
        paths = (path for ending in ENDINGS for path in (root / room).rglob(f"*{ending}"))
        for path in sorted(paths):
            name = path.relative_to(root).as_posix()
            if not name.startswith("app/ui/"):
                data = path.read_bytes()
                digest.update(f"{name}\0{len(data)}\0".encode() + data)
    return digest.hexdigest()


def digest_of_files(paths: tuple[str, ...]) -> str:
    """`sha256:` and the digest of the contents of files, in their order."""
    digest = hashlib.sha256()
    for path in paths:
        with open(path, "rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return f"{DIGEST}{digest.hexdigest()}"
