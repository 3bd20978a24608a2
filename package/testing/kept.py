"""Answers of oracles, kept by the bytes of what was asked: every structure, layout and option is asked about the same
scenes, rays and places, and numpy's answer takes longer than most builds."""

from __future__ import annotations

import collections
import dataclasses
import functools
import hashlib
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

import numpy as np

_MOST = 128
"""Answers that each oracle keeps."""

Given = ParamSpec("Given")
Answer = TypeVar("Answer")


def kept(find: Callable[Given, Answer]) -> Callable[Given, Answer]:
    """`find`, a function of arrays and numbers alone, asked once for the same ones in a process. Nobody can write to an
    array that it gives."""
    answers: collections.OrderedDict[bytes, Answer] = collections.OrderedDict()

    @functools.wraps(find)
    def finding(*given: Given.args, **named: Given.kwargs) -> Answer:
        digest = hashlib.blake2b()
        for name, value in (*enumerate(given), *sorted(named.items())):
            array = np.asarray(value)
            if array.dtype.kind not in "biufc":
                raise TypeError(f"{find.__name__} is kept by arrays and numbers, not by {type(value).__name__}")
            digest.update(f"{name} {array.dtype} {array.shape} ".encode())
            digest.update(array.tobytes())
        key = digest.digest()
        if key not in answers:
            answers[key] = find(*given, **named)
            _seal(answers[key])
        answers.move_to_end(key)
        if len(answers) > _MOST:
            answers.popitem(last=False)
        return answers[key]

    return finding


def _seal(answer: Any) -> None:
    """Let nobody write to an array, or to those of a dataclass."""
    if isinstance(answer, np.ndarray):
        answer.flags.writeable = False
    elif dataclasses.is_dataclass(answer):
        for field in dataclasses.fields(answer):
            _seal(getattr(answer, field.name))
