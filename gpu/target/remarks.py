"""What the person should know although the work goes on: sentences for the log of the window and for the terminal, each
said once a process.

They go by Python's logging, under the name `raygrove`: the window brings that into its log and its mark, the command
line writes warnings.
"""

from __future__ import annotations

NAME = "raygrove"

_said: dict[str, None] = {}


def remark(sentence: str) -> None:
    """Say a sentence, unless it was said before."""
    if sentence not in _said:
        import logging  # a program to which nothing is said does without

        _said[sentence] = None
        logging.getLogger(NAME).warning("%s", sentence)


def sentences() -> list[str]:
    """What was said so far: a window shows what was said before it was there."""
    return list(_said)
