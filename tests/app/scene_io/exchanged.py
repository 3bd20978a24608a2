"""The file between child and program, written, read and changed: for the tests of what goes through it."""

from __future__ import annotations

import io
import json
import tempfile
from collections.abc import Callable
from typing import Any

from raygrove.app.scene_io import exchange
from raygrove.gpu.scene import Scene


def written(scene: Scene) -> bytes:
    """The file's bytes."""
    buffer = io.BytesIO()
    exchange.write(scene, buffer)
    return buffer.getvalue()


def read(data: bytes) -> Scene:
    """What the program reads from these bytes."""
    with tempfile.TemporaryFile() as file:
        file.write(data)
        file.flush()
        return exchange.read(file)


def edited(data: bytes, edit: Callable[[Any], None]) -> bytes:
    """The file with its JSON changed."""
    start, length, magic = exchange.TRAILER.unpack(data[-24:])
    document = json.loads(data[start : start + length])
    edit(document)
    text = json.dumps(document).encode()
    return data[:start] + text + exchange.TRAILER.pack(start, len(text), magic)
