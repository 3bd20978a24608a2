"""What belongs to the project: the files that the rules of the house read."""

from __future__ import annotations

import os
import pathlib
import shutil
import subprocess
from collections.abc import Iterator


def files_of(root: pathlib.Path, *suffixes: str) -> Iterator[tuple[str, str]]:
    """Name relative to `root` and text of each file of the project (what git would commit, or all files where there is
    no git).
    """
    for name in names_of(root):
        path = root / name
        if path.suffix in suffixes or not suffixes:
            try:
                yield name, path.read_text(encoding="utf-8")
            except (UnicodeDecodeError, FileNotFoundError):
                continue


MADE_FOLDERS = {".git", "__pycache__", ".pytest_cache", ".hypothesis", ".mypy_cache", ".ruff_cache", "out", "build"}
"""What .gitignore names: not part of the project."""


def names_of(root: pathlib.Path) -> list[str]:
    """Every file of the project, relative to `root`; without git, or in an unpacked archive, all but what is made."""
    if (root / ".git").exists() and shutil.which("git"):
        command = ["git", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        return sorted(
            filter(None, subprocess.run(command, capture_output=True, text=True, check=True).stdout.split("\0"))
        )
    names = []
    for folder, folders, files in os.walk(root):
        folders[:] = [name for name in folders if name not in MADE_FOLDERS and not name.startswith(".venv")]
        names += [str((pathlib.Path(folder) / name).relative_to(root)) for name in files]
    return sorted(names)
