"""The values of flags, read from words: what is wrong is an `argparse.ArgumentTypeError`, one sentence."""

from __future__ import annotations

import argparse
import re

from raygrove.gpu.configuration import apart

SIZE_LIMIT = 16384
FRAME_LIMIT = 1_000_000
TURN_LIMIT_S = 3600
REPEAT, WARMUP = 20, 5
"""Runs that are measured, and runs before them, where nothing is said: of `bench` and of a sweep's jobs."""


def size(text: str) -> tuple[int, int]:
    """WxH as width and height in pixels."""
    match = re.fullmatch(r"(\d{1,9})[xX](\d{1,9})", text)
    if not match:
        raise argparse.ArgumentTypeError(f"{text!r} is not a size: write width and height as 1024x768")
    width, height = int(match[1]), int(match[2])
    if not (1 <= width <= SIZE_LIMIT and 1 <= height <= SIZE_LIMIT):
        raise argparse.ArgumentTypeError(
            f"a picture of {width} x {height} pixels cannot be drawn: both sides are from 1 to {SIZE_LIMIT}"
        )
    return width, height


def named_file(text: str) -> tuple[str, str]:
    """NAME=FILE as the two."""
    name, equals, file = text.partition("=")
    if not equals or not file or not re.fullmatch(r"[a-z][a-z0-9_]*", name):
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=FILE, a name of small letters, as theirs=theirs.rgtree")
    return name, file


def frames(text: str) -> tuple[int, int]:
    """A:B as the first frame and the one after the last."""
    match = re.fullmatch(r"(\d{1,9}):(\d{1,9})", text)
    if not match:
        raise argparse.ArgumentTypeError(
            f"{text!r} is no range of frames: write the first, from 0, and the one after the last, as 0:60"
        )
    first, end = int(match[1]), int(match[2])
    if not first < end <= FRAME_LIMIT:
        raise argparse.ArgumentTypeError(
            f"{text!r} holds no frame: the first is smaller than the end, and the end at most {FRAME_LIMIT}"
        )
    return first, end


def names(text: str) -> tuple[str, ...]:
    """Names with commas between them."""
    found = tuple(name.strip() for name in text.split(",") if name.strip())
    if not found:
        raise argparse.ArgumentTypeError(f"{text!r} names nothing: write names with commas between them")
    return found


def configurations(text: str) -> tuple[str, ...]:
    """Configurations with commas between them; a comma within double quotes is part of a value."""
    try:
        return apart(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def number(text: str, what: str) -> float:
    """A finite number; `what` says in the error what it was to be."""
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not -1e30 < value < 1e30:
        raise argparse.ArgumentTypeError(f"{text!r} is not {what}")
    return value


def seconds(text: str) -> float:
    """A time of 0 or more seconds."""
    value = number(text, "a time in seconds")
    if value < 0.0:
        raise argparse.ArgumentTypeError(f"{text!r} is before the beginning: a time is 0 or more seconds")
    return value


def turn(text: str) -> float:
    """Seconds that a turn takes."""
    value = seconds(text)
    if not 0.0 < value <= TURN_LIMIT_S:
        raise argparse.ArgumentTypeError(
            f"{text!r} is no turn: it takes more than 0 and at most {TURN_LIMIT_S} seconds"
        )
    return value


def degrees(text: str) -> float:
    """A vertical field of view."""
    value = number(text, "an angle in degrees")
    if not 1.0 <= value <= 170.0:
        raise argparse.ArgumentTypeError(f"{text!r} is no field of view: it is from 1 to 170 degrees")
    return value


def height(text: str) -> float:
    """The height of a picture in scene units."""
    value = number(text, "a height in scene units")
    if not 1e-9 <= value <= 1e12:
        raise argparse.ArgumentTypeError(f"{text!r} is no height of a picture: it is from 1e-9 to 1e12 scene units")
    return value


def percent(text: str) -> float:
    """A part of 0 to 1000 percent."""
    value = number(text.removesuffix("%").strip(), "a number of percent")
    if not 0.0 <= value <= 1000.0:
        raise argparse.ArgumentTypeError(f"{text!r} is no part: it is from 0 to 1000 percent")
    return value


def vector(text: str) -> tuple[float, float, float]:
    """X,Y,Z."""
    parts = text.split(",")
    if len(parts) != 3:
        raise argparse.ArgumentTypeError(f"{text!r} is no position: write three numbers as 1,2,3")
    x, y, z = (number(part, "a number") for part in parts)
    return x, y, z


def shard(text: str) -> tuple[int, int]:
    """I/N as a part of a sweep, the I-th of N."""
    match = re.fullmatch(r"(\d{1,6})/(\d{1,6})", text)
    if not match or not 1 <= int(match[1]) <= int(match[2]):
        raise argparse.ArgumentTypeError(f"{text!r} is no part of a sweep: write 1/4 to 4/4 for four parts")
    return int(match[1]), int(match[2])


class count:  # noqa: N801 - argparse shows it as a type
    """A whole number from `minimum` to `most`."""

    def __init__(self, minimum: int, most: int = 999_999) -> None:
        self.minimum, self.most = minimum, most

    def __call__(self, text: str) -> int:
        if not re.fullmatch(r"\d{1,9}", text) or not self.minimum <= int(text) <= self.most:
            raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from {self.minimum} to {self.most}")
        return int(text)


def assignment(text: str) -> tuple[str, str]:
    """GROUP.KEY=VALUE as key and value."""
    key, sign, value = text.partition("=")
    if not sign or "." not in key:
        raise argparse.ArgumentTypeError(f"{text!r} sets nothing: write GROUP.KEY=VALUE, as in update.mode=refit")
    return key.strip(), value.strip()


def counts(text: str) -> tuple[int, ...]:
    """Whole numbers from 1 with commas between them."""
    if not re.fullmatch(r"\s*\d{1,9}\s*(,\s*\d{1,9}\s*)*", text):
        raise argparse.ArgumentTypeError(f"{text!r} is no list of numbers: write them as 1,2,1")
    return tuple(int(part) for part in text.split(","))
