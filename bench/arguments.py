"""Arguments of measurements as data: those that many have, said once, and how a case says its own."""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
from collections.abc import Iterator
from typing import Any

from raygrove.gpu.target import choose
from raygrove.gpu.target.base import Target


class UsageError(ValueError):
    """Arguments that cannot be meant; the sentence says why."""


@dataclasses.dataclass(frozen=True)
class Argument:
    """An argument of a case: its names and options, as argparse's `add_argument` takes them."""

    names: tuple[str, ...]
    options: dict[str, Any]

    def add_to(self, parser: argparse.ArgumentParser) -> None:
        """Make it one of the parser's."""
        parser.add_argument(*self.names, **self.options)


def argument(*names: str, **options: Any) -> Argument:
    """An argument; what argparse's `add_argument` takes."""
    return Argument(names, options)


# -- what many cases have ---------------------------------------------------------------------------------------------
def size_of(text: str) -> tuple[int, int]:
    """WIDTHxHEIGHT."""
    width, height = (int(side) for side in text.split("x"))
    if min(width, height) < 1:
        raise ValueError
    return width, height


def point_of(text: str) -> tuple[float, float, float]:
    """X,Y,Z."""
    x, y, z = (float(part) for part in text.split(","))
    return x, y, z


def at_least_one(text: str) -> int:
    """A whole number from 1 on."""
    number = int(text)
    if number < 1:
        raise ValueError
    return number


size_of.__name__, point_of.__name__, at_least_one.__name__ = "WIDTHxHEIGHT", "X,Y,Z", "whole number from 1 on"
"""What argparse calls what it could not read."""


def size(default: str, of: str = "the pictures") -> Argument:
    """How large pictures are."""
    return argument(
        "--size", type=size_of, default=default, metavar="WxH", help=f"pixels of {of} (default: %(default)s)"
    )


def repeat(default: int) -> Argument:
    """How often something is measured."""
    return argument(
        "--repeat",
        type=at_least_one,
        default=default,
        metavar="N",
        help="runs of each measurement, whose median counts (default: %(default)s)",
    )


DEVICE = argument("--device", default="auto", help="auto, cpu, cuda or cuda:N (default: %(default)s)")
OUT = argument("--out", default="", metavar="PREFIX", help="also write PREFIX.json and PREFIX.txt")
FILES = argument("files", nargs="*", metavar="FILE", help="a scene from files; none: the built-in room")
EYE = argument("--eye", type=point_of, metavar="X,Y,Z", help="where the camera stands in FILE")
LOOK_AT = argument("--look-at", type=point_of, metavar="X,Y,Z", help="what it looks at; goes with --eye")


def check_view(names: argparse.Namespace) -> None:
    """Raises UsageError where only one of --eye and --look-at was given."""
    if (names.eye is None) != (names.look_at is None):
        raise UsageError("--eye and --look-at go together.")


@contextlib.contextmanager
def chosen(name: str) -> Iterator[Target]:
    """The target that --device names, until the block ends. Raises UsageError for a name that there is not, and
    NoDeviceError."""
    try:
        made = choose(name)
    except ValueError as error:
        raise UsageError(str(error)) from error
    with contextlib.closing(made):
        yield made
