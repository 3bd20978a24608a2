"""Files that appear whole or not at all: written under another name beside their place, then renamed."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """The file to write to, which is at `path` once the block has ended without an error. Raises OSError."""
    path = Path(path)
    try:
        made = tempfile.NamedTemporaryFile(dir=path.parent, prefix=path.name, delete=False)  # noqa: SIM115
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error  # by the name that was asked for
    with made as file:
        try:
            yield file
            file.close()
            os.replace(file.name, path)
        except BaseException as error:
            os.unlink(file.name)
            if isinstance(error, OSError):
                raise OSError(error.errno, error.strerror or str(error), str(path)) from error
            raise
