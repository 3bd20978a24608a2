"""Where a measurement was made: device, driver, compiler, versions, commit, options, seed."""

from __future__ import annotations

import datetime
import importlib.metadata
import os
import pathlib
import platform
import subprocess
import sys
from typing import Any

from raygrove import checkout
from raygrove.gpu.settings import fields_of
from raygrove.gpu.target import choose
from raygrove.gpu.target.base import Target, TargetError
from raygrove.version import VERSION

PACKAGES = (
    "numpy",
    "cupy-cuda13x",
    "cupy-cuda12x",
    "cuda-bindings",
    "cuda-cccl",
    "nvidia-cuda-nvrtc",
    "nvidia-cuda-nvrtc-cu12",
)


def context(target: Target, seed: int = 0, command: list[str] | None = None) -> dict[str, Any]:
    """The `context` object of the JSON. Keys are always the same; what cannot be found out is None."""
    return {
        "device": target.device_name,
        "target": target.name,
        "driver": _driver(target),
        "compiler": _compiler(target),
        "threads": getattr(target, "threads", None),
        "load": os.getloadavg()[0] if hasattr(os, "getloadavg") else None,
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "versions": versions(),
        "raygrove": VERSION,
        "commit": commit(),
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "command": command if command is not None else command_line(),
        "options": {field.name: getattr(target.options, field.name) for field in fields_of(target.options)},
        "seed": seed,
    }


def context_of(device: str, command: list[str] | None = None, seed: int = 0) -> dict[str, Any]:
    """The context of what makes no target itself, on that device."""
    target = choose(device)
    try:
        return context(target, seed, command)
    finally:
        target.close()


def command_line() -> list[str]:
    """The words that this process was started with; a package that was started by `-m` by its folder's name."""
    started = pathlib.Path(sys.argv[0])
    return [started.parent.name if started.name == "__main__.py" else started.name, *sys.argv[1:]]


def heading(about: dict[str, Any]) -> list[str]:
    """The lines of a context that a page for people begins with."""
    return [f"{key}: {about[key]}" for key in ("device", "driver", "compiler", "commit", "date", "load")]


def versions() -> dict[str, str]:
    """Python's version, and those of the libraries that matter here and are installed."""
    found = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def commit() -> str | None:
    """What RAYGROVE_COMMIT says, for copies of a tree that are not where it was committed; else the working tree's
    commit, with a plus sign where files differ from it; None where there is no repository."""
    told = os.environ.get("RAYGROVE_COMMIT")
    root = checkout.find()
    if told or root is None:
        return told
    try:
        done = [_git(root, "rev-parse", "HEAD"), _git(root, "status", "--porcelain", "--untracked-files=no")]
    except (OSError, subprocess.SubprocessError):
        return None
    return done[0].strip() + ("+" if done[1].strip() else "")


def _git(root: pathlib.Path, *words: str) -> str:
    done = subprocess.run(["git", "-C", str(root), *words], capture_output=True, text=True, timeout=10, check=True)
    return done.stdout


def _compiler(target: Target) -> str | None:
    if target.kind == "host":
        from raygrove.gpu.target.host_compiler import compiler_version

        try:
            return compiler_version()
        except TargetError:
            return None
    return _said(target, "compiler")


def _driver(target: Target) -> str | None:
    return _said(target, "driver") if target.kind == "cuda" else None


def _said(target: Target, name: str) -> str | None:
    """An attribute that a target may have."""
    value = getattr(target, name, None)
    return None if value is None else str(value)
