"""A start makes some hundred thousand objects that stay, and none of them is garbage: until the window has been there
for a while, nobody looks for cycles among them, and never again among those that the start has left.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import threading

from raygrove.app.system import kept_code

_begun: list[bool] = []


def begin() -> None:
    """A program starts that will have a window: look for no garbage, where anybody would, and compile nothing that was
    compiled before."""
    kept_code.begin()
    if gc.isenabled():
        gc.disable()
        _begun.append(True)


def load_binding() -> None:
    """Import what binds Qt to Python before a scene is read beside the window's own imports: it looks through all
    modules (shiboken6 6.11.3), and ends the program where another thread imports one meanwhile."""
    with kept_code.instead_of_compile():
        importlib.import_module("shiboken6")


def compile_first(device: str, contraction: bool) -> None:
    """On a thread, have compiled what the first picture of an empty cache needs, before what draws it is imported. What
    fails fails again with the picture, which says why."""

    def begin_it() -> None:
        with contextlib.suppress(Exception):
            importlib.import_module("raygrove.gpu.target.first_start").begin(device, contraction)

    threading.Thread(target=begin_it, name="first start", daemon=True).start()


def end() -> None:
    """The start is over: whoever looks for garbage from now on, as the window does (app/ui/session/collector.py), does
    not look among what there is by now. Nothing where none began."""
    if _begun:
        gc.freeze()


def forget() -> None:
    """There is neither a start nor a window any more: Python looks for garbage again, whenever it likes."""
    if _begun:
        _begun.clear()
        gc.enable()
