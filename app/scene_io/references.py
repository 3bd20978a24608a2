"""The one rule for files that a model names (textures, buffers, material libraries, parts): regular files inside its
own folder, links followed; others where `import.allow_outside` says so. What was not read is remembered for a
remark."""

from __future__ import annotations

import os
import stat

from raygrove.gpu.scene import Remark

from .errors import display_path

ALLOWED = "import.allow_outside=true"
OUTSIDE = "outside the model's folder"
NO_FILE = "no regular file"
LISTED = 20


class References:
    """The files that the model in `folder` may name."""

    def __init__(self, folder: str = ".", allow_outside: bool = False) -> None:
        self._folder, self._allow_outside = os.path.realpath(folder), allow_outside
        self._outside: dict[str, str] = {}  # as they were first named, by where they are
        self._irregular: dict[str, str] = {}
        self._left_out: list[Remark] = []

    def refusal(self, path: str) -> str:
        """Why a file that is there is not read, and empty where it may be; OSError where it is not there. What is
        refused is kept for `remarks`."""
        mode = os.stat(path).st_mode
        real = os.path.realpath(path)
        inside = os.path.commonpath([real, self._folder]) == self._folder
        if not inside and not self._allow_outside:
            if not stat.S_ISDIR(mode):  # which readers try on their way to a file
                self._outside.setdefault(real, path)
            return OUTSIDE
        if not stat.S_ISREG(mode):
            self._irregular.setdefault(real, path)
            return NO_FILE
        return ""

    def leave_out(self, count: int, sentence: str) -> None:
        """Keep for `remarks` what refers, inside the file, to what is not there."""
        self._left_out.append(Remark(count, sentence))

    @property
    def has_refused(self) -> bool:
        """Whether a file was named and not read."""
        return bool(self._outside or self._irregular)

    def outside(self) -> str:
        """What was not read because it lies outside, as text; empty where there is nothing."""
        return _listed(self._outside)

    def remarks(self) -> list[Remark]:
        """What was not read, and what to do about it."""
        found = list(self._left_out)
        if self._outside:
            advice = "Copy them there, or allow it where you trust the model"
            why = f"Files that the model names {OUTSIDE} were not read: {_listed(self._outside)}. {advice}."
            found.append(Remark(len(self._outside), why, ALLOWED))
        if self._irregular:
            why = f"What the model names and is {NO_FILE} was not read: {_listed(self._irregular)}."
            found.append(Remark(len(self._irregular), why))
        return found


def _listed(paths: dict[str, str]) -> str:
    names = [display_path(path) for path in list(paths.values())[:LISTED]]
    return ", ".join(names) + (f" and {len(paths) - LISTED} more" if len(paths) > LISTED else "")
