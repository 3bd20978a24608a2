"""Files that appear whole or not at all: written under another name beside their place, then renamed."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO


@contextlib.contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """The file to write to, which is at `path` once the block has ended without an error. Raises OSError, which
    names `path` unless another file is at fault."""
    path = Path(path)
    try:
        made = tempfile.NamedTemporaryFile(dir=path.parent, prefix=path.name, delete=False)  # noqa: SIM115
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error  # by the name that was asked for
    try:
        with made as file:
            try:
                yield file
                file.close()
                os.replace(file.name, path)
            except BaseException:
                with contextlib.suppress(OSError):
                    file.close()  # writes what is left once more, and that error would take the first one's place
                os.unlink(file.name)
                raise
    except OSError as error:
        if error.filename not in (None, made.name):
            raise
        raise OSError(error.errno, error.strerror or str(error), str(path)) from error
