"""Folders that nobody else can change: what is loaded as code, and what is read as the user's own where there is no
home, lies in no others.

A folder is taken where it belongs to this user or to root, neither its group nor anybody else may write into it, and
nobody else can put another one in its place: each folder above it belongs to this user or to root too, and is writable
for others only with the sticky bit, as /tmp is. The path is followed once; what it leads to is looked at from the top
down, so that what is below a folder is asked only once that folder is known to be safe, and it is used under the name
that was looked at.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import pathlib
import shutil
import stat
import tempfile

from ..linux import user, user_name
from .base import TargetError
from .remarks import remark

_OTHERS_WRITE = 0o022

_made_for_this_process: list[pathlib.Path] = []


class NotPrivateError(TargetError):
    """Others could change what lies in a folder: `reason` says why."""

    def __init__(self, folder: pathlib.Path, reason: str) -> None:
        advice = "Set TMPDIR, or RAYGROVE_CACHE for compiled kernels, to a folder that only you can write."
        super().__init__(f"{folder} is not for you alone: {reason}. {advice}")
        self.reason = reason


def open_private(folder: pathlib.Path) -> pathlib.Path:
    """`folder` without symbolic links in its path; what is missing of it is made with mode 0700. Raises
    NotPrivateError, and OSError where it cannot be made or looked at."""
    wanted = pathlib.Path(os.path.realpath(folder))
    for place in wanted.parents[::-1]:
        _check(wanted, place, _status(place), is_above=True)
    _check(wanted, wanted, _status(wanted), is_above=False)
    return wanted


def temporary_folder() -> pathlib.Path:
    """A folder of this user's among the temporary files, the same at every start. Where somebody else has taken its
    name, a new one, which goes when the program ends. Raises NotPrivateError where others can change the folder of
    temporary files itself."""
    above = pathlib.Path(tempfile.gettempdir())
    usual = above / f"raygrove-{user()}"
    try:
        return open_private(usual)
    except NotPrivateError as error:
        reason = error.reason
    for folder in _made_for_this_process:
        if folder.parent == above and folder.is_dir():
            return open_private(folder)
    made = open_private(pathlib.Path(tempfile.mkdtemp(prefix="raygrove-", dir=_safe_above(above))))
    _made_for_this_process.append(made)
    atexit.register(shutil.rmtree, made, ignore_errors=True)
    remark(
        f"{usual} is not used, because {reason}. What would be kept there is lost at the end of the program; "
        f"remove that folder."
    )
    return made


def _safe_above(above: pathlib.Path) -> pathlib.Path:
    """A folder of temporary files in which nobody can replace this user's folders."""
    wanted = pathlib.Path(os.path.realpath(above))
    for place in (*wanted.parents[::-1], wanted):
        _check(wanted, place, place.lstat(), is_above=True)
    return wanted


def _status(place: pathlib.Path) -> os.stat_result:
    try:
        return place.lstat()
    except FileNotFoundError:
        with contextlib.suppress(FileExistsError):  # another process has just made it
            place.mkdir(mode=0o700)
        return place.lstat()


def _check(wanted: pathlib.Path, place: pathlib.Path, status: os.stat_result, is_above: bool) -> None:
    its_name = "it" if place == wanted else str(place)
    trusted = {user(), 0} | (
        {pathlib.Path("/").stat().st_uid} if is_above else set()
    )  # in a container root may go by another number
    if not stat.S_ISDIR(status.st_mode):
        raise NotPrivateError(wanted, f"{its_name} is not a folder")
    if status.st_uid not in trusted:
        raise NotPrivateError(wanted, f"{its_name} belongs to {user_name(status.st_uid)}")
    if status.st_mode & _OTHERS_WRITE and not (is_above and status.st_mode & stat.S_ISVTX):
        raise NotPrivateError(wanted, f"others can write into {its_name} (mode {stat.S_IMODE(status.st_mode):04o})")
