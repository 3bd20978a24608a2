"""Arrays from the importing child to the program where they are no scene: a line of JSON with their shapes and what
else is to be said, then their bytes."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from typing import Any, BinaryIO

import numpy as np

Kinds = Mapping[str, tuple[type, tuple[int, ...]]]
"""The arrays that there can be: type, and the shape of a row."""

MAX_LINE = 1 << 16


def write_columns(words: dict[str, Any], arrays: Mapping[str, np.ndarray], kinds: Kinds, file: BinaryIO) -> None:
    """Hand them over."""
    file.write(json.dumps({**words, "shapes": {name: rows.shape for name, rows in arrays.items()}}).encode() + b"\n")
    for name, values in arrays.items():
        file.write(np.ascontiguousarray(values, kinds[name][0]).tobytes())


def taken_columns(file: BinaryIO, kinds: Kinds) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """What was written, all sizes compared with the file's. Raises ValueError, KeyError, TypeError or AttributeError
    where a child wrote something else."""
    file.seek(0)
    try:
        words = json.loads(file.readline(MAX_LINE))
    except RecursionError as error:
        raise ValueError("nested too deep") from error
    arrays: dict[str, np.ndarray] = {}
    for name, shape in words.pop("shapes").items():
        kind, rest = kinds[name]
        fits = all(type(side) is int and side >= 0 for side in shape) and tuple(shape[1:]) == rest and shape
        size = math.prod(shape) * np.dtype(kind).itemsize
        if not fits or size > os.fstat(file.fileno()).st_size - file.tell():
            raise ValueError(name)
        arrays[name] = np.frombuffer(file.read(size), kind).reshape(shape)
    return words, arrays
