"""The host target's captured launches: recorded once, replayed by one call, under the rules of a CUDA graph.

What is recorded does not run then. A replay passes the very values that were passed: numbers and structs as they were,
arrays by their places. What the host decides while a body runs is decided for all replays, so whatever a GPU would get
wrong in a replayed frame is wrong here, too, and tests see it without a GPU.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Step = tuple[Callable[..., Any], tuple[Any, ...]]


class Recording:
    """Steps in their order. Calling it replays them; the arrays of the arguments, and those of `keep`, live as long as
    it does."""

    def __init__(self) -> None:
        self._steps: list[Step] = []
        self.keep: tuple[Any, ...] = ()

    def add(self, step: Callable[..., Any], *arguments: Any) -> None:
        """Take a call down, with copies of its structs: the caller may change his own."""
        self._steps.append((step, tuple(_as_passed(argument) for argument in arguments)))

    def __call__(self) -> None:
        """Do it all once more."""
        for step, arguments in self._steps:
            step(*arguments)


def _as_passed(argument: Any) -> Any:
    if isinstance(argument, tuple):
        return tuple(_as_passed(one) for one in argument)
    if isinstance(argument, dict):
        return {name: _as_passed(one) for name, one in argument.items()}
    is_struct = isinstance(argument, np.ndarray | np.void) and argument.dtype.names is not None and argument.shape == ()
    return argument.copy() if is_struct else argument
