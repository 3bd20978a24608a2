"""What the importing child gives up before it looks at a file: every file but those it needs, sockets, other programs.
A reader that a damaged file takes over can then neither fetch nor send nor change anything of the user's."""

from __future__ import annotations

import contextlib
import os
import sys
import sysconfig
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from raygrove.gpu import linux_sandbox
from raygrove.gpu.linux_sandbox import SandboxError

from .errors import SceneError
from .limits import ImportLimits

SCRATCH = "raygrove-import-"
"""How a folder for the child's nameless files begins; behind it stands the number of the process that made it."""


def enter(paths: Sequence[str], limits: ImportLimits, scratch: str | None) -> None:
    """Give up all that reading `paths` does not need, as far as this kernel can take it away (`doctor` says so). Called
    before any library starts a thread; what readers load later lies in folders that stay readable. Raises `SceneError`
    where the kernel refuses what it has."""
    if not limits.sandbox:
        return
    try:
        if linux_sandbox.landlock_version():
            writable = [Path(scratch)] if scratch else []
            linux_sandbox.keep_to_files(readable(paths, limits), writable)
        if linux_sandbox.has_seccomp():
            linux_sandbox.refuse_calls()
    except SandboxError as error:
        why = f"The sandbox of the reader could not be made ({error})"
        raise SceneError(f"{why}. Turn it off by import.sandbox = false, if you trust the file.", paths[0]) from error


def readable(paths: Sequence[str], limits: ImportLimits) -> list[Path]:
    """The folders and files that may be read: the models' folders (all there is, with `import.allow_outside`), the
    program's code and its libraries."""
    if limits.allow_outside:
        return [Path("/")]
    folders = dict.fromkeys(Path(path).parent for path in paths)
    return [*folders, *dict.fromkeys(map(Path, paths)), *_code(), *linux_sandbox.own_libraries()]


def _code() -> list[Path]:
    """Where Python finds modules and their compiled code, and what this package is linked to in a checkout."""
    package = Path(sys.modules["raygrove"].__path__[0])
    linked = [path.resolve() for path in package.iterdir()]
    standard = [Path(sysconfig.get_path(name)) for name in ("stdlib", "platstdlib", "purelib", "platlib")]
    searched = [Path(folder) for folder in (*sys.path, sys.pycache_prefix) if folder]
    return [*standard, *searched, package, *linked, *(link for folder in searched for link in _links_of(folder))]


def _links_of(folder: Path) -> list[Path]:
    """Where the links of a folder of modules lead: some installations are links alone."""
    try:
        return [Path(entry.path).resolve() for entry in os.scandir(folder) if entry.is_symlink()]
    except OSError:
        return []


@contextlib.contextmanager
def scratch_folder(parent: str) -> Iterator[str]:
    """A folder of its own for a child's nameless files; those of programs that were killed are swept."""
    with contextlib.suppress(OSError):
        for entry in os.scandir(parent):
            if entry.name.startswith(SCRATCH) and not _is_alive(entry.name.removeprefix(SCRATCH).partition("-")[0]):
                with contextlib.suppress(OSError):
                    os.rmdir(entry.path)  # whose files are nameless is empty
    with tempfile.TemporaryDirectory(prefix=f"{SCRATCH}{os.getpid()}-", dir=parent) as folder:
        yield folder


def _is_alive(number: str) -> bool:
    try:
        os.kill(int(number), 0)
    except PermissionError:
        return True
    except (ValueError, OverflowError, ProcessLookupError):
        return False
    return True
