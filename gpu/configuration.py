"""One spelling of how a structure is made and follows what moves: `builder[+optimiser][/layout[/traversal]][@policy]`,
each name with `:option=value`. The library, the command line, files and legends write it so.

    hploc
    binned_sah:bins=32/bvh4@auto
    hploc+reinsertion:iterations=3/cwbvh@refit

Text to a value and back, and no more: what the names stand for is known to gpu/hierarchy/configured.py. Neither numpy
nor a registry is imported here.
"""

from __future__ import annotations

import dataclasses
import re

from .errors import Error
from .settings import OptionError

SPELLING = "builder[+optimiser][/layout[/traversal]][@policy]"

_NAME = r"[A-Za-z_][A-Za-z0-9_-]*"
_PLAIN = r'(?:[^\s:+/@="]|\+(?=\d))+'  # a + before a digit is a number's: 1e+5
_QUOTED = r'"(?:[^"\\]|\\.)*"'
_OPTION = re.compile(rf":({_NAME})=({_QUOTED}|{_PLAIN})", re.DOTALL)
_PART = re.compile(_NAME)
_ONE = r'(?:[^,"]|"(?:[^"\\]|\\.)*")+'
_PLAIN_VALUE = re.compile(_PLAIN)


class ConfigurationError(OptionError):
    """A text that is no configuration, or names what there is not; `value` is the whole of it."""

    def __init__(self, what: str, text: str, remedy: str) -> None:
        super().__init__("configuration", text, remedy)
        Error.__init__(self, what, f"configuration {text!r}", remedy)


@dataclasses.dataclass(frozen=True)
class Part:
    """A name and its options, values as they are typed. Raises ValueError for what cannot be spelt."""

    name: str
    options: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        names = [self.name, *(name for name, _ in self.options)]
        for name in names:
            if not _PART.fullmatch(name):
                raise ValueError(f"{name!r} is no name: letters, digits, _ and -, a letter or _ first.")
        if len({*names[1:]}) < len(names) - 1:
            raise ValueError(f"{self.name} is given an option twice: {', '.join(names[1:])}.")

    def __str__(self) -> str:
        return self.name + "".join(f":{name}={_quoted(value)}" for name, value in self.options)


AUTO = Part("auto")


@dataclasses.dataclass(frozen=True)
class Configuration:
    """The parts of a spelling; None where one is not said. As text it is the shortest spelling that means the same.

    >>> from raygrove.gpu.configuration import parse
    >>> str(parse("binned_sah:bins=32/bvh4@auto"))
    'binned_sah:bins=32/bvh4@auto'
    >>> parse("hploc+reinsertion").optimiser.name
    'reinsertion'
    """

    builder: Part
    optimiser: Part | None = None
    layout: Part | None = None
    traversal: Part | None = None
    policy: Part | None = None

    def __str__(self) -> str:
        text = str(self.builder)
        if self.optimiser is not None:
            text += f"+{self.optimiser}"
        if self.layout is not None or self.traversal is not None:
            text += f"/{self.layout or AUTO}"
        if self.traversal is not None:
            text += f"/{self.traversal}"
        return text if self.policy is None else f"{text}@{self.policy}"

    def parts(self) -> tuple[tuple[str, Part], ...]:
        """What is said, as (builder, optimiser, layout, traversal or policy; the part)."""
        named = ((field.name, getattr(self, field.name)) for field in dataclasses.fields(self))
        return tuple((kind, part) for kind, part in named if part is not None)


def is_plain(text: str) -> bool:
    """Whether a text is a name alone, as `hploc` is."""
    return _PART.fullmatch(text) is not None


def parse(text: str) -> Configuration:
    """The configuration that a text spells. ConfigurationError says where it is none.

    Layout and traversal may be `auto`, which is what they are where they are not said.
    """
    reader = _Reader(text)
    builder = reader.part("a builder")
    optimiser = reader.part("an optimiser") if reader.takes("+") else None
    layout = reader.part("a layout") if reader.takes("/") else None
    traversal = reader.part("a traversal") if layout is not None and reader.takes("/") else None
    policy = reader.part("an update policy") if reader.takes("@") else None
    reader.end()
    layout, traversal = (None if part == AUTO else part for part in (layout, traversal))
    return Configuration(builder, optimiser, layout, traversal, policy)


def apart(text: str) -> tuple[str, ...]:
    """The texts of configurations with commas between them; a comma within double quotes is part of a value. ValueError
    where one is empty.

    >>> from raygrove.gpu.configuration import apart
    >>> apart("lbvh@refit, hploc")
    ('lbvh@refit', 'hploc')
    """
    if not re.fullmatch(rf"{_ONE}(?:,{_ONE})*", text) or not all(one.strip() for one in re.findall(_ONE, text)):
        raise ValueError(f"{text!r} are no configurations: write them with commas between them, as in lbvh@refit,hploc")
    return tuple(one.strip() for one in re.findall(_ONE, text))


class _Reader:
    """Goes through the text from left to right."""

    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0

    def takes(self, sign: str) -> bool:
        """Whether the sign comes next; then it is behind."""
        if not self.text.startswith(sign, self.at):
            return False
        self.at += 1
        return True

    def part(self, what: str) -> Part:
        """The name that comes next, and its options."""
        found = _PART.match(self.text, self.at)
        if found is None:
            raise self.error(f"{what} is missing")
        self.at = found.end()
        options: list[tuple[str, str]] = []
        while self.text.startswith(":", self.at):
            option = _OPTION.match(self.text, self.at)
            if option is None:
                raise self.error("an option is missing", "options are :NAME=VALUE")
            self.at = option.end()
            options.append((option[1], _unquoted(option[2])))
        try:
            return Part(found[0], tuple(options))
        except ValueError as error:
            raise ConfigurationError(str(error), self.text, "say each option once") from error

    def end(self) -> None:
        """Raise ConfigurationError where something is left."""
        if self.at < len(self.text):
            raise self.error(f"{self.text[self.at :]!r} is too much")

    def error(self, what: str, remedy: str = f"the spelling is {SPELLING}, each name with :option=value") -> Exception:
        """A mistake at this place."""
        place = f"after {self.text[: self.at]!r} " if self.at else ""
        return ConfigurationError(f"{place}{what}", self.text, remedy)


def _quoted(value: str) -> str:
    if _PLAIN_VALUE.fullmatch(value):
        return value
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _unquoted(value: str) -> str:
    return re.sub(r"\\(.)", r"\1", value[1:-1], flags=re.DOTALL) if value.startswith('"') else value
