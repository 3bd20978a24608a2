"""Errors to problems: one place that knows which title, sentence and exit code an error has."""

from __future__ import annotations

import contextlib
import dataclasses
import errno
import os
import traceback
from collections.abc import Iterator

from raygrove.app.export.sequence import OutputError
from raygrove.app.export.video import VideoError
from raygrove.app.problems.problem import Problem
from raygrove.app.scene_io.demos import UnknownDemoError
from raygrove.app.scene_io.errors import SceneError, TreeOfSceneError
from raygrove.app.settings.file import SettingsError
from raygrove.app.user_files.bookmarks import BookmarksError
from raygrove.gpu.display.sphere_look import SphereDrawingError
from raygrove.gpu.errors import Error, UnreadableError
from raygrove.gpu.gravity import ForcesError
from raygrove.gpu.hierarchy.base import HierarchyError, TilesError
from raygrove.gpu.settings import OptionError
from raygrove.gpu.target.base import CompileError, NoDeviceError, OutOfMemoryError, TargetError
from raygrove.gpu.target.private_folders import NotPrivateError
from raygrove.printable import printable, printable_lines

EXIT_FAILURE, EXIT_USAGE, EXIT_FILE, EXIT_NO_DEVICE, EXIT_MEMORY, EXIT_INTERRUPTED = 1, 2, 3, 4, 5, 130


class UsageError(ValueError):
    """What was asked for cannot be meant that way; the message is a sentence."""


class ProgramError(ValueError):
    """A command that was started beside the window failed: what it said last, a sentence."""


KINDS: tuple[tuple[type[BaseException], str, int], ...] = (
    (TreeOfSceneError, "The tree cannot be used", EXIT_FILE),
    (SceneError, "The scene cannot be opened", EXIT_FILE),
    (BookmarksError, "The bookmarks cannot be used", EXIT_FILE),
    (SettingsError, "The settings file cannot be used", EXIT_FILE),
    (OptionError, "This value is not allowed", EXIT_USAGE),
    (UnknownDemoError, "There is no such built-in scene", EXIT_USAGE),
    (ProgramError, "The command failed", EXIT_FAILURE),
    (UsageError, "This is not possible", EXIT_USAGE),
    (SphereDrawingError, "OpenGL cannot draw this", EXIT_USAGE),
    (OutputError, "This cannot be written", EXIT_USAGE),
    (VideoError, "The video cannot be written", EXIT_FAILURE),
    (OutOfMemoryError, "Not enough memory", EXIT_MEMORY),
    (NoDeviceError, "No usable device", EXIT_NO_DEVICE),
    (CompileError, "A kernel does not compile", EXIT_FAILURE),
    (NotPrivateError, "No folder is safe", EXIT_FAILURE),
    (TargetError, "The device failed", EXIT_FAILURE),
    (ForcesError, "These forces take too long", EXIT_USAGE),
    (TilesError, "Tiles cannot draw this", EXIT_USAGE),
    (HierarchyError, "The structure cannot do this", EXIT_FAILURE),
    (UnreadableError, "This cannot be read", EXIT_FILE),
    (Error, "This is not possible", EXIT_FAILURE),
)


@contextlib.contextmanager
def plain_errors_are_usage() -> Iterator[None]:
    """Within, what the library refuses is a mistake of who asked, UsageError; what `KINDS` has by a name of its own
    (memory, devices, files, structures) keeps its exit code."""
    try:
        yield
    except Error as error:
        if next(kind for kind, _, _ in KINDS if isinstance(error, kind)) is not Error:
            raise
        raise UsageError(f"{str(error).rstrip('.')}.") from error


ADVICE = {
    errno.EACCES: "Change the permissions, or name another place.",
    errno.EPERM: "Change the permissions, or name another place.",
    errno.EROFS: "Name a place that can be written.",
    errno.ENOSPC: "Free some space, or name another disk.",
    errno.EDQUOT: "Free some space, or name another disk.",
    errno.EISDIR: "Name another place.",
    errno.EEXIST: "Name another place.",
    errno.ENOTDIR: "Check the path.",
    errno.ENOENT: "Check the path.",
    errno.EMFILE: "Close other programs, or raise the limit of open files (ulimit -n).",
}
"""What to do about what the system refuses."""


def problem_of(error: BaseException) -> Problem:
    """The problem an error is: its own sentence where it was written for a person, else what is known of it."""
    found = _problem_of(error, "".join(traceback.format_exception(error)))
    return dataclasses.replace(found, sentence=printable(found.sentence), details=printable_lines(found.details))


def _problem_of(error: BaseException, details: str) -> Problem:
    for kind, title, code in KINDS:
        if isinstance(error, kind):
            sentence, _, rest = str(error).partition("\n")
            instead: tuple[str, str | bool] | None = getattr(error, "instead", None)
            table = "hierarchy" if isinstance(error, HierarchyError) and instead is None else ""
            said = f"{rest}\n{details}" if rest else details
            trust: tuple[str, tuple[str, ...]] | None = getattr(error, "trust", None)
            return Problem(title, sentence, said, code, table=table, instead=instead, trust=trust)
    if isinstance(error, MemoryError):
        sentence = (
            f"The program ran out of memory: {str(error) or 'an array did not fit'}. A smaller scene or "
            f"picture needs less."
        )
        return Problem("Not enough memory", sentence, details, EXIT_MEMORY)
    if isinstance(error, KeyboardInterrupt):
        return Problem("Interrupted", "Interrupted.", details, EXIT_INTERRUPTED)
    if isinstance(error, OSError):
        return Problem("A file cannot be read or written", _of_system(error), details)
    return Problem("Something went wrong", f"{type(error).__name__}: {error}".rstrip(": .") + ".", details)


def _of_system(error: OSError) -> str:
    """The system's refusal as a sentence: where, why, what to do."""
    if error.errno == errno.ENOENT and not error.filename:
        try:
            os.getcwd()
        except OSError:
            return "The folder that this program was started in is not there any more. Change into another one."
    where = f"{error.filename}: " if error.filename else ""
    return f"{where}{error.strerror or error}. {ADVICE.get(error.errno or 0, '')}".rstrip()
