"""A start makes some hundred thousand objects that stay, and none of them is garbage: until the window has been there
for a while, Python looks for no cycles among them, and never again among those that the start has left.
"""

from __future__ import annotations

import gc

_begun: list[bool] = []


def begin() -> None:
    """A program starts that will have a window: look for no garbage, where anybody would."""
    if gc.isenabled():
        gc.disable()
        _begun.append(True)


def end() -> None:
    """The start is over: look for garbage again, though not among what there is by now. Nothing where none began."""
    if _begun:
        gc.freeze()
        forget()


def forget() -> None:
    """There is no start any more: look for garbage again, among everything."""
    if _begun:
        _begun.clear()
        gc.enable()
