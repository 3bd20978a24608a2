"""Raw numbers with a declared layout: `cloud.f32` with `cloud.f32.toml` beside it.

    fields = ["x", "y", "z", "radius"]      # one name a number, or a table: { name = "red", type = "uint8" }
    type = "float32"                        # of the fields that name none
    byte_order = "little"                   # or "big"
    offset = 0                              # bytes to leave out at the start
    particles = 100000                      # in each frame; without it all of them are one frame

Without such a file an .f32 is x, y, z and an .f64 too, in float64.
"""

from __future__ import annotations

import dataclasses
import os
import tomllib
from collections.abc import Iterator
from typing import Any

import numpy as np

from .columns import frame_of
from .frame import Frame, ParticleError, Source

TYPES = {
    "float16": "f2", "float32": "f4", "float64": "f8", "int8": "i1", "int16": "i2", "int32": "i4", "int64": "i8",
    "uint8": "u1", "uint16": "u2", "uint32": "u4", "uint64": "u8",
}  # fmt: skip
ORDERS = {"little": "<", "big": ">"}
MAX_LAYOUT = 1 << 16
KEYS = ("fields", "type", "byte_order", "offset", "particles")


@dataclasses.dataclass(frozen=True)
class Layout:
    """A record per particle, from `offset`; `particles` a frame, 0 for all."""

    dtype: np.dtype[Any]
    offset: int = 0
    particles: int = 0


def layout_path(path: str) -> str:
    """Where the layout of a raw file is declared."""
    return f"{path}.toml"


def read(source: Source) -> Iterator[Frame]:
    """The frames one after another; a last one that is cut is none."""
    layout = _declared(source)
    size = layout.dtype.itemsize
    with source.open() as file:
        total = max(file.seek(0, os.SEEK_END) - layout.offset, 0)
        count = layout.particles or total // size
        if not count:
            raise ParticleError(f"a particle takes {size} bytes, and {total} are there")
        frames, rest = divmod(total, count * size)
        source.expect(count, max(frames, 1), floats=len(layout.dtype.names or ()))
        file.seek(layout.offset)
        for _ in range(frames):
            table = np.frombuffer(file.read(count * size), layout.dtype)
            yield frame_of({name: np.ascontiguousarray(table[name]) for name in layout.dtype.names or ()})
        if rest and layout.particles:
            raise ParticleError(f"a frame takes {count * size:,} bytes, and {rest:,} are there")
        if rest:
            source.remark(f"The last {rest} bytes are no whole particle and were left out.")


def _declared(source: Source) -> Layout:
    path = layout_path(source.path)
    if not os.path.isfile(path):
        if source.form in ("f32", "f64"):
            return _layout({"fields": ["x", "y", "z"], "type": "float32" if source.form == "f32" else "float64"})
        raise ParticleError(f"its layout is not known. Say it in {os.path.basename(path)} (docs/particles.md)")
    try:
        with open(path, "rb") as file:
            text = file.read(MAX_LAYOUT).decode()
        return _layout(tomllib.loads(text))
    except (OSError, ValueError, RecursionError) as error:
        raise ParticleError(f"its layout {os.path.basename(path)} cannot be used: {str(error).rstrip('.')}") from error


def _layout(said: dict[str, Any]) -> Layout:
    """The layout of a table; ValueError with the reason."""
    unknown = [key for key in said if key not in KEYS]
    if unknown:
        raise ValueError(f"{unknown[0]!r} is not one of {', '.join(KEYS)}")
    order = ORDERS.get(str(said.get("byte_order", "little")))
    if order is None:
        raise ValueError("byte_order is little or big")
    fields = said.get("fields")
    if not isinstance(fields, list) or not fields:
        raise ValueError("fields is a list of names such as x, y and z")
    parts = []
    for field in fields:
        name, kind = (
            (field.get("name"), field.get("type", said.get("type", "float32")))
            if isinstance(field, dict)
            else (
                field,
                said.get("type", "float32"),
            )
        )
        if not isinstance(name, str) or not name:
            raise ValueError("a field has a name")
        if not isinstance(kind, str) or kind not in TYPES:
            raise ValueError(f"the type {kind!r} is not one of {', '.join(TYPES)}")
        parts.append((name, f"{order}{TYPES[kind]}"))
    if len({name for name, _ in parts}) < len(parts):
        raise ValueError("two fields have the same name")
    return Layout(np.dtype(parts), _whole(said, "offset"), _whole(said, "particles"))


def _whole(said: dict[str, Any], name: str) -> int:
    value = said.get(name, 0)
    if type(value) is not int or value < 0:
        raise ValueError(f"{name} is a whole number from 0")
    return value
