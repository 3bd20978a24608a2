"""The text of a settings file, changed line by line, so that a person's comments and unknown keys stay where they are.

Every result is read back and compared with what was wanted. A text that cannot be edited this way is written anew,
which loses its comments and is said; its unknown keys are kept all the same.
"""

from __future__ import annotations

import dataclasses
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import tomli_w

LONGEST_VALUE = 200
"""Lines of one value that are looked at before the text counts as one that cannot be edited."""

Leaves = dict[str, Any]
IsOurs = Callable[[str], bool]


class _CannotEditError(ValueError):
    """The text has a form that is not edited line by line."""


@dataclasses.dataclass
class _Draft:
    """The new text as it grows. `places` tells where more keys of a table go: after which line, and behind which dotted
    prefix."""

    lines: list[str]
    places: dict[str, tuple[int, str]]
    seen: set[str]


def merged_text(old: str, wanted: Mapping[str, Any], is_ours: IsOurs) -> tuple[str, str]:
    """`old` changed so that it says `wanted` (dotted keys) and nothing else of ours; and a sentence where something was
    lost."""
    try:
        before = dict(flat(tomllib.loads(old)))
    except (ValueError, RecursionError):
        return fresh_text(wanted), "The old file was not TOML and was written anew."
    foreign = {key: value for key, value in before.items() if not is_ours(key)}
    expected = foreign | dict(wanted)
    try:
        text = _edited(old, wanted, is_ours)
        if dict(flat(tomllib.loads(text))) == expected:
            return text, ""
    except (_CannotEditError, tomllib.TOMLDecodeError):
        pass
    return fresh_text(
        expected
    ), "The file's comments were dropped, because its form could not be edited line by line." if "#" in old else ""


def fresh_text(wanted: Mapping[str, Any]) -> str:
    """A new text: a table a paragraph, a key a line."""
    tables: dict[str, list[str]] = {}
    for key, value in wanted.items():
        table, _, name = key.rpartition(".")
        tables.setdefault(table, []).append(f"{_name(name)} = {as_toml(value)}\n")
    parts = ["".join(tables.pop("", []))]
    parts += [f"[{'.'.join(map(_name, table.split('.')))}]\n{''.join(lines)}" for table, lines in tables.items()]
    return "\n".join(part for part in parts if part)


def as_toml(value: Any) -> str:
    """A value as TOML, on one line."""
    if isinstance(value, list | tuple):
        return "[" + ", ".join(as_toml(one) for one in value) + "]"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_name(name)} = {as_toml(one)}" for name, one in value.items()) + "}"
    return tomli_w.dumps({"x": value}).partition(" = ")[2].strip()


def flat(table: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Dotted keys and values of nested tables, however deep; an empty table says nothing."""
    for name, value in table.items():
        if isinstance(value, Mapping):
            yield from flat(value, f"{prefix}{name}.")
        else:
            yield prefix + name, value


# -- line by line --------------------------------------------------------------------------------------------------
def _edited(old: str, wanted: Mapping[str, Any], is_ours: IsOurs) -> str:
    lines = [line + "\n" for line in old.removesuffix("\n").split("\n")] if old else []
    draft, header, index = _Draft([], {}, set()), "", 0
    while index < len(lines):
        word = lines[index].strip()
        if not word or word.startswith("#"):
            draft.lines.append(lines[index])
            index += 1
        elif word.startswith("["):
            if word.startswith("[["):
                raise _CannotEditError("a list of tables")
            header = next(_tables(tomllib.loads(lines[index])))
            draft.places[header] = (len(draft.lines), "")
            draft.lines.append(lines[index])
            index += 1
        else:
            count = _length_of_entry(lines, index)
            _edit_entry("".join(lines[index : index + count]), header, wanted, is_ours, draft)
            index += count
    return _with_new_keys(draft, wanted)


def _edit_entry(chunk: str, header: str, wanted: Mapping[str, Any], is_ours: IsOurs, draft: _Draft) -> None:
    """One `key = value`: as it is, with another value, or left out because it is back at its built-in value."""
    leaves = dict(flat(tomllib.loads(chunk)))
    keys = {(f"{header}." if header else "") + leaf: leaf for leaf in leaves}
    is_same = all(key in wanted and _equal(wanted[key], leaves[leaf]) for key, leaf in keys.items() if is_ours(key))
    if not is_same:
        if len(keys) != 1 or chunk.count("\n") > 1 or "{" in chunk:
            raise _CannotEditError("a value of several keys or lines")
        (key,) = keys
        if key not in wanted:
            return
        chunk = _with_value(chunk, wanted[key])
    for key, leaf in keys.items():
        draft.seen.add(key)
        draft.places[key.rpartition(".")[0]] = (len(draft.lines), leaf.rpartition(".")[0])
    draft.lines.append(chunk)


def _with_new_keys(draft: _Draft, wanted: Mapping[str, Any]) -> str:
    lines, new = list(draft.lines), {key: value for key, value in wanted.items() if key not in draft.seen}
    additions: dict[int, str] = {}
    for key, value in list(new.items()):
        table, _, name = key.rpartition(".")
        if table in draft.places:
            index, prefix = draft.places[table]
            additions[index] = (
                additions.get(index, "") + f"{prefix + '.' if prefix else ''}{_name(name)} = {as_toml(value)}\n"
            )
            del new[key]
    for index, text in additions.items():
        lines[index] += text
    text, more = "".join(lines), fresh_text(new)
    return f"{text.rstrip()}\n\n{more}" if more and text.strip() else text + more


def _length_of_entry(lines: list[str], index: int) -> int:
    """How many lines the entry has that begins at `index`."""
    for count in range(1, min(LONGEST_VALUE, len(lines) - index) + 1):
        try:
            tomllib.loads("".join(lines[index : index + count]))
        except tomllib.TOMLDecodeError:
            continue
        return count
    raise _CannotEditError("an entry without an end")


def _with_value(line: str, value: Any) -> str:
    """The line with another value; its key, its indentation and its comment stay."""
    key = line[: line.index("=") + 1]
    comment = ""
    for place in (match.start() for match in re.finditer("#", line)):
        try:
            tomllib.loads(line[:place])
        except tomllib.TOMLDecodeError:
            continue
        comment = "  " + line[place:].rstrip("\r\n")
        break
    return f"{key} {as_toml(value)}{comment}\n"


def _tables(table: Mapping[str, Any]) -> Iterator[str]:
    """The dotted name of the one table that a header line makes."""
    for name, inner in table.items():
        yield f"{name}.{next(_tables(inner))}" if inner else name


def _name(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else as_toml(name)


def _equal(one: Any, other: Any) -> bool:
    return type(one) is type(other) and bool(one == other)
