"""Named columns of numbers -> a frame: which name means what, in whichever format it stands.

x y z, xu yu zu, positions (N, 3), "Points:0"    positions           radius, diameter, radii     radii
r g b, red green blue, color (N, 3)              colours             id, particle_id, atom_id    ids
element, species                                 elements            vx vy vz, a_x a_y a_z, a:0  a vector
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np

from raygrove.gpu.scene import Attribute, PeriodicBox

from . import colours, elements
from .frame import Frame, ParticleError

AXES = (
    ("x", "y", "z"), ("xu", "yu", "zu"), ("points_0", "points_1", "points_2"), ("px", "py", "pz"),
    ("position_x", "position_y", "position_z"), ("pos_x", "pos_y", "pos_z"), ("points_x", "points_y", "points_z"),
)  # fmt: skip
UNIT = re.compile(r"\s*[\[(][^\])]*[\])]\s*\Z")
"""What stands behind a name in brackets: "x (m)"."""
POSITIONS = ("positions", "position", "pos", "points", "coordinates", "xyz")
RED_GREEN_BLUE = (("red", "green", "blue"), ("r", "g", "b"), ("diffuse_red", "diffuse_green", "diffuse_blue"))
COLOURS = ("color", "colour", "colors", "colours", "rgb")
RADII = ("radius", "radii")
DIAMETERS = ("diameter", "diameters")
IDS = ("id", "ids", "particle_id", "particle_ids", "particle_identifier", "atom_id", "global_id")
ELEMENTS = ("element", "elements", "species")
KINDS = ("type", "types", "particle_type", "kind")
VECTORS = {
    "v": "velocity",
    "f": "force",
    "n": "normal",
    "i": "image",
    "mu": "dipole",
    "omega": "omega",
    "angmom": "angmom",
}
"""What vx, vy, vz and others are called together."""
ROW = re.compile(r"at row (\d+)(?:, column (\d+))?")
COMPONENT = re.compile(r"(.+?)(?:_|)([xyz]|[012])\Z")


def plain(name: str) -> str:
    """A name in lower case with _ for what is no letter and no digit, to compare by."""
    return re.sub(r"[^a-z0-9]+", "_", UNIT.sub("", name).strip().lower()).strip("_")


def frame_of(
    columns: Mapping[str, np.ndarray | Sequence[str]],
    box: PeriodicBox | None = None,
    time: float | None = None,
    stamp: tuple[float, str] | None = None,
    units: Mapping[str, str] | None = None,
) -> Frame:
    """The frame of columns by their names: numbers (N,) or (N, C), or texts. `ParticleError` where no three of them are
    positions."""
    left: dict[str, tuple[str, np.ndarray | Sequence[str]]] = {}
    for name, values in columns.items():
        left.setdefault(plain(name), (name, values))
    positions, is_flat = _positions(left)
    radii = _radii(left)
    tint = _colours(left)
    ids = next((_ids(left.pop(name)[1]) for name in IDS if name in left and _is_whole(left[name][1])), None)
    atoms = None
    for name in ELEMENTS:
        if name in left and not isinstance(left[name][1], np.ndarray):
            atoms = elements.numbers_of(list(left.pop(name)[1]))  # type: ignore[arg-type]
    attributes = _attributes(left, units or {})
    if atoms is not None and atoms.any():
        attributes = (Attribute("element", atoms, "atomic number"), *attributes)
    return Frame(positions, radii, tint, ids, atoms, attributes, box, time, stamp, is_flat=is_flat)


def _positions(left: dict[str, tuple[str, np.ndarray | Sequence[str]]]) -> tuple[np.ndarray, bool]:
    """Positions, and whether they are in a plane for want of a third number."""
    for name in POSITIONS:
        values = left[name][1] if name in left else None
        if isinstance(values, np.ndarray) and values.ndim == 2 and values.shape[1] == 3:
            del left[name]
            return values, False
    for names in AXES:
        together = _taken(left, names)
        if together is not None:
            return together, False
    for names in AXES:
        texts = [left[name] for name in names if name in left and not isinstance(left[name][1], np.ndarray)]
        if texts and all(name in left for name in names):
            title, values = texts[0]
            wrong = next((text for text in values if not is_number(str(text).encode())), "")
            raise ParticleError(f'column {title} holds "{str(wrong)[:40]}", which is no number')
    flat = _taken(left, AXES[0][:2])
    if flat is not None:  # a plane
        return np.column_stack([flat, np.zeros(len(flat))]), True
    raise ParticleError(f"no columns x, y and z are among {', '.join(name for name, _ in left.values()) or 'none'}")


def _taken(left: dict[str, tuple[str, np.ndarray | Sequence[str]]], names: Sequence[str]) -> np.ndarray | None:
    """The columns of these names as one (N, C), taken out of `left`; None unless all are there as numbers."""
    found = [left[name][1] for name in names if name in left]
    arrays = [values for values in found if isinstance(values, np.ndarray) and values.ndim == 1]
    if len(arrays) != len(names):
        return None
    for name in names:
        del left[name]
    return np.stack(arrays, axis=1)


def _radii(left: dict[str, tuple[str, np.ndarray | Sequence[str]]]) -> np.ndarray | None:
    for names, factor in ((RADII, 1.0), (DIAMETERS, 0.5)):
        for name in names:
            values = left[name][1] if name in left else None
            if isinstance(values, np.ndarray) and values.ndim == 1:
                del left[name]
                return values * factor
    return None


def _colours(left: dict[str, tuple[str, np.ndarray | Sequence[str]]]) -> np.ndarray | None:
    for names in RED_GREEN_BLUE:
        together = _taken(left, names)
        if together is not None:
            return colours.linear_from_display(together)
    for name in COLOURS:
        values = left[name][1] if name in left else None
        if isinstance(values, np.ndarray) and values.ndim == 2 and values.shape[1] in (3, 4):
            del left[name]
            return colours.linear_from_display(values[:, :3])
    return None


def _is_whole(values: np.ndarray | Sequence[str]) -> bool:
    """Whether they may be ids: whole numbers that int64 and float64 hold."""
    if not isinstance(values, np.ndarray) or values.ndim != 1:
        return False
    return values.dtype.kind in "ui" or bool((np.abs(values) < 2.0**53).all() and (values == np.floor(values)).all())


def _ids(values: np.ndarray | Sequence[str]) -> np.ndarray:
    return np.asarray(values).astype(np.int64)


def _attributes(
    left: dict[str, tuple[str, np.ndarray | Sequence[str]]], units: Mapping[str, str]
) -> tuple[Attribute, ...]:
    """What is left: components brought together as vectors, texts numbered in the order of the alphabet."""
    result: list[Attribute] = []
    groups: dict[str, list[str]] = {}
    for name, (_, values) in left.items():
        match = COMPONENT.match(name)
        if match is not None and isinstance(values, np.ndarray) and values.ndim == 1:
            groups.setdefault(match[1], []).append(name)
    for start, names in groups.items():
        wanted = [[n for n in names if n.removeprefix(start).lstrip("_") == end] for end in ("x", "y", "z")]
        wanted = wanted if all(wanted) else [[n for n in names if n[-1] == end] for end in "012"]
        if all(len(found) == 1 for found in wanted):
            title = VECTORS.get(start, start)
            vectors = _taken(left, [found[0] for found in wanted])
            if vectors is not None:
                result.append(Attribute(title, float32(vectors), units.get(title, "")))
    for name, values in left.values():
        unit = units.get(name, "")
        if isinstance(values, np.ndarray):
            if values.ndim in (1, 2) and values.dtype.kind in "uif":
                result.append(Attribute(name, float32(values), unit))
        else:
            known = sorted(set(values))
            numbers = {text: float(number) for number, text in enumerate(known)}
            listed = ", ".join(f"{number} {text}" for number, text in enumerate(known[:8]))
            result.append(Attribute(name, np.array([numbers[text] for text in values], np.float32), unit or listed))
    return tuple(result)


def float32(values: np.ndarray) -> np.ndarray:
    """The values as float32; what is too large for it becomes infinite without a warning."""
    with np.errstate(over="ignore", invalid="ignore"):
        return np.asarray(values).astype(np.float32)


def without_cut_row(lines: list[bytes], width: int) -> list[bytes]:
    """The lines of numbers without the last one where the file ends within it: where it has fewer than `width` words,
    or the last of them, which no line break follows, is no number."""
    if not lines:
        return lines
    words = lines[-1].split()
    is_open = not lines[-1].endswith((b"\n", b"\r"))
    return lines[:-1] if len(words) < width or (is_open and not is_number(words[-1])) else lines


def read_rows(
    lines: Sequence[bytes],
    count: int,
    width: int,
    texts: Sequence[int] = (),
    first_line: int = 0,
    may_go_on: bool = False,
) -> list[np.ndarray | list[str]]:
    """`count` lines of `width` numbers as columns of float64; the columns in `texts` as they stand. Only where they
    `may_go_on` more follows in a line. `ParticleError` names the row that does not fit, by its line where that of the
    first is known."""
    if len(lines) < count:
        raise ParticleError(f"{count:,} particles should follow, and {len(lines):,} lines are there")
    if not count:
        return [[] if index in texts else np.zeros(0) for index in range(width)]
    kinds = [("S32" if index in texts else np.float64) for index in range(width)]
    dtype = np.dtype([(f"c{index}", kind) for index, kind in enumerate(kinds)])
    try:
        table = np.loadtxt(lines, dtype, comments=None, ndmin=1, usecols=range(width) if may_go_on else None)
    except (ValueError, TypeError) as error:
        raise ParticleError(_at_line(str(error), lines, first_line)) from error
    if len(table) != count:
        raise ParticleError(f"{count:,} particles should follow, and {len(table):,} lines hold numbers")
    return [
        [text.decode("latin-1") for text in table[f"c{index}"].tolist()]
        if index in texts
        else np.ascontiguousarray(table[f"c{index}"])
        for index in range(width)
    ]


def _at_line(said: str, lines: Sequence[bytes], first_line: int) -> str:
    """What numpy says of a row, by the line of the file and with what stands there."""
    found = ROW.search(said)
    if found is None:
        return said.rstrip(".")
    row = int(found[1]) - (0 if "string" in said else 1)  # numpy counts from 0 here, from 1 there
    if not 0 <= row < len(lines):
        return said.rstrip(".")
    where = f"line {first_line + row:,}" if first_line else f"row {row + 1:,}"
    words = lines[row].split()
    column = int(found[2] or 0)
    if 1 <= column <= len(words) and not is_number(words[column - 1]):
        return f"{where} has {shown(words[column - 1])} where a number should be"
    return f"{where} does not have the columns that it should: {shown(lines[row])}"


def is_number(word: bytes) -> bool:
    """Whether a word of a text is a number."""
    try:
        float(word)
    except ValueError:
        return False
    return b"_" not in word


def numbers(words: Sequence[bytes]) -> np.ndarray:
    """Words as float64; ValueError for one that is no number, 1_5 among them, which numpy takes."""
    if b"_" in b" ".join(words):
        raise ValueError(next(shown(word) for word in words if b"_" in word))
    return np.array(words, "S").astype(np.float64)


def as_kind(values: np.ndarray, kind: str, name: str) -> np.ndarray:
    """Numbers of a text as whole ones where the file says that they are; `ParticleError` for a fraction among them, and
    for one that the kind does not hold."""
    if np.dtype(kind).kind not in "ui":
        return values
    least, most = np.iinfo(kind).min, np.iinfo(kind).max
    with np.errstate(invalid="ignore"):
        wrong = values[~((values == np.floor(values)) & (values >= least) & (values <= most))]
    if len(wrong):
        raise ParticleError(f"{name} holds {wrong[0]:g}, and should hold whole numbers from {least:,} to {most:,}")
    return values.astype(np.int64)


def strays(words: Sequence[str]) -> list[str]:
    """The words of a column that are no numbers, where most of them are; none of a column of names."""
    found = [word for word in words if not is_number(word.encode())]
    return found if 2 * len(found) < len(words) else []


def shown(line: bytes) -> str:
    """A line of a file as a sentence may show it."""
    text = line.decode("utf-8", "replace").strip()
    return f'"{text[:40]}"' if text.isprintable() and "\N{REPLACEMENT CHARACTER}" not in text else "no text"
