"""Takes back what PySide6 does at each import.

It reads the source of every module that is imported after it, to know whether `from __feature__ import` may change how
Qt's methods are spelt there. Nobody here spells them in another way; a start reads some 350 files less, and imports
within functions cost what they cost elsewhere.
"""

from __future__ import annotations

import builtins

import PySide6.QtCore  # noqa: F401 - begins it


def take_back() -> None:
    """Import as was done before, where PySide6 has changed that."""
    setattr(builtins, "__import__", getattr(builtins, "__orig_import__", builtins.__import__))  # noqa: B010


take_back()
