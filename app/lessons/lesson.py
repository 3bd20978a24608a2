"""Lessons as files of TOML (docs/lessons.md): a scene, and questions whose answers are measured. Those of the program
lie in `assets/lessons`, a teacher's own in the folder `lessons` beside the user's settings file, or anywhere."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Container, Mapping
from pathlib import Path
from typing import Any

from raygrove.app.scene_io.demos import UnknownDemoError, demo_info
from raygrove.app.settings.file import sentence_of, user_file
from raygrove.app.settings.settings import Settings, set_text
from raygrove.app.settings.toml_files import TomlFileError, read_toml
from raygrove.gpu.analysis.race import LETTERS
from raygrove.gpu.configuration import ConfigurationError
from raygrove.gpu.face.configured import configured
from raygrove.gpu.settings import OptionError
from raygrove.gpu.shade.registry import ray_types

FOLDER = Path(__file__).resolve().parents[2] / "assets" / "lessons"
ENDING = ".toml"
LONGEST, MOST_QUESTIONS, MOST_FRAMES, MOST_PIXELS = 1 << 18, 20, 1000, 1 << 20
QUANTITIES = {
    "ms": ("cost of a frame", "ms"),
    "update_ms": ("build and refit", "ms"),
    "trace_ms": ("trace", "ms"),
    "sah_cost": ("SAH cost", ""),
    "end_point_overlap": ("end-point overlap", ""),
    "depth": ("depth", "levels"),
    "bytes": ("memory", "bytes"),
    "mean_warp": ("mean steps of warps", ""),
    "longest_warp": ("steps of the longest warp", ""),
}
"""What a question may ask about, of a contestant of a race: words and unit."""


class LessonError(ValueError):
    """A file is no lesson: the message is a sentence with the file and the place in it."""


@dataclasses.dataclass(frozen=True)
class Ratio:
    """A quantity of one contestant over one of another, or of the same; `bounds` divide the choices."""

    upper: tuple[str, str]
    lower: tuple[str, str]
    bounds: tuple[float, ...]


@dataclasses.dataclass(frozen=True)
class Question:
    """What is asked, and how it is measured: `contestants` are configurations by their words, raced over `frames` of
    the scene. Which has the least of `quantity` is the answer, or in which of the ranges `ratio` lies. `settings` are
    what the window shows with it; `after` is read when all is measured."""

    text: str
    ask: str
    after: str
    contestants: Mapping[str, str]
    quantity: str
    ratio: Ratio | None
    frames: tuple[int, int]
    size: tuple[int, int]
    ray_type: str
    settings: Mapping[str, str]

    @property
    def choices(self) -> tuple[str, ...]:
        """What can be predicted, in words."""
        if self.ratio is None:
            return tuple(self.contestants)
        bounds = [f"{bound:g}" for bound in self.ratio.bounds]
        between = [f"{low} to {high} times" for low, high in zip(bounds, bounds[1:], strict=False)]
        return (f"less than {bounds[0]} times", *between, f"more than {bounds[-1]} times")


@dataclasses.dataclass(frozen=True)
class Lesson:
    """A lesson. `papers` are what to read afterwards."""

    name: str
    title: str
    minutes: int
    text: str
    demo: str
    triangles: int
    questions: tuple[Question, ...]
    papers: tuple[str, ...]


def lessons(refuse: Callable[[LessonError], object] | None = None) -> dict[str, Lesson]:
    """All there are by their names: the program's, then the user's own. What is none is handed to `refuse` and left
    out; without that it is raised."""
    found = {}
    for name, path in _paths().items():
        try:
            found[name] = read(path)
        except LessonError as error:
            if refuse is None:
                raise
            refuse(error)
    return found


def _paths() -> dict[str, Path]:
    own = sorted(own_folder().glob(f"*{ENDING}"))
    return {path.stem: path for path in (*sorted(FOLDER.glob(f"*{ENDING}")), *own)}


def own_folder() -> Path:
    """Where a teacher's own lie."""
    return user_file().with_name("lessons")


def named(name: str) -> Lesson:
    """The lesson of a name, or of a file. Raises LessonError with the names that there are."""
    if name.endswith(ENDING):
        return read(Path(name))
    found = _paths()
    if name not in found:
        raise LessonError(f"There is no lesson {name!r}; there are {', '.join(found)}, and files that end in {ENDING}.")
    return read(found[name])


def read(path: Path) -> Lesson:
    """The lesson of a file. Raises LessonError."""
    try:
        found = path.stat()
    except OSError:
        return _read(path, 0, 0)  # which says what is wrong
    return _read(path, found.st_mtime_ns, found.st_size)


@functools.lru_cache(maxsize=64)
def _read(path: Path, changed_ns: int, size: int) -> Lesson:
    """Read once as long as the file stays as it is: menus and the palette ask for all of them each time they open."""
    try:
        table = read_toml(path, "lesson", LONGEST)
    except TomlFileError as error:
        raise LessonError(str(error)) from error
    return _Reader(str(path)).lesson(path.stem, table)


class _Reader:
    """Tables of a file to values; what is wrong is a LessonError that names the place."""

    def __init__(self, where: str) -> None:
        self._where = where

    def lesson(self, name: str, table: dict[str, Any]) -> Lesson:
        fields = {field.name for field in dataclasses.fields(Lesson)} - {"name", "questions"}
        self._check_names("", table, fields | {"question"})
        asked = table.get("question", [])
        if not isinstance(asked, list) or not 1 <= len(asked) <= MOST_QUESTIONS:
            raise self._error("question", f"a lesson has 1 to {MOST_QUESTIONS} tables [[question]]")
        demo = self._text("demo", table)
        try:
            demo_info(demo)
        except UnknownDemoError as error:
            raise self._error("demo", str(error)) from error
        return Lesson(
            name, self._text("title", table), self._number("minutes", table, 5, 1, 600), self._text("text", table),
            demo,
            self._number("triangles", table, 0, 0, 1 << 24),
            tuple(self._question(f"question {place + 1}", one) for place, one in enumerate(asked)),
            tuple(self._texts("papers", table)),
        )  # fmt: skip

    def _question(self, where: str, table: Any) -> Question:
        if not isinstance(table, dict):
            raise self._error(where, "it is a table")
        self._check_names(where, table, {field.name for field in dataclasses.fields(Question)})
        contestants = self._table(f"{where}: contestants", table.get("contestants"))
        if not 1 <= len(contestants) <= len(LETTERS):
            raise self._error(f"{where}: contestants", f"they are 1 to {len(LETTERS)}")
        for words, configuration in contestants.items():
            try:
                configured(configuration)
            except (OptionError, ConfigurationError) as error:
                raise self._error(f"{where}: contestants: {words}", str(error)) from error
        quantity, ratio = table.get("quantity", ""), table.get("ratio")
        if (ratio is None) == (quantity == ""):
            raise self._error(where, "it has either a quantity, of which the least is asked, or a ratio")
        if ratio is None and (not _is_one_of(quantity, QUANTITIES) or len(contestants) < 2):
            raise self._error(f"{where}: quantity", f"it is one of {', '.join(QUANTITIES)}, of 2 contestants or more")
        ray_type = table.get("ray_type", "smooth")
        if not _is_one_of(ray_type, ray_types()):
            raise self._error(f"{where}: ray_type", f"it is one of {', '.join(ray_types())}")
        return Question(
            self._text("text", table, where), self._text("ask", table, where), self._text("after", table, where),
            contestants, quantity, None if ratio is None else self._ratio(f"{where}: ratio", ratio, contestants),
            self._pair(f"{where}: frames", table.get("frames", [0, 1]), 0, MOST_FRAMES, is_range=True),
            self._pair(f"{where}: size", table.get("size", [256, 192]), 8, 4096), ray_type,
            self._settings(f"{where}: settings", table.get("settings", {})),
        )  # fmt: skip

    def _ratio(self, where: str, table: Any, contestants: Mapping[str, str]) -> Ratio:
        said = self._error(
            where, 'it is as { of = ["Refit", "trace_ms"], to = ["Rebuild", "trace_ms"], bounds = [1.2, 2] }'
        )
        if not isinstance(table, dict) or set(table) != {"of", "to", "bounds"}:
            raise said
        sides, bounds = (table["of"], table["to"]), table["bounds"]
        for side in sides:
            is_pair = isinstance(side, list) and len(side) == 2
            if not is_pair or not _is_one_of(side[0], contestants) or not _is_one_of(side[1], QUANTITIES):
                raise said
        if not isinstance(bounds, list) or not 1 <= len(bounds) <= 8 or sorted({*map(_positive, bounds)}) != bounds:
            raise self._error(where, "bounds are 1 to 8 rising numbers above 0")
        return Ratio((sides[0][0], sides[0][1]), (sides[1][0], sides[1][1]), tuple(float(bound) for bound in bounds))

    def _settings(self, where: str, table: Any) -> dict[str, str]:
        found, settings = self._table(where, table), Settings()
        for key, value in found.items():
            try:
                settings = set_text(settings, key, value)
            except OptionError as error:
                raise self._error(where, sentence_of(error)) from error
        return found

    def _pair(self, where: str, value: Any, least: int, most: int, *, is_range: bool = False) -> tuple[int, int]:
        is_pair = isinstance(value, list) and len(value) == 2 and all(type(one) is int for one in value)
        if not is_pair or not all(least <= one <= most for one in value) or (is_range and value[0] >= value[1]):
            order = ", the first below the second" if is_range else ""
            raise self._error(where, f"it is two whole numbers from {least} to {most}{order}")
        if not is_range and value[0] * value[1] > MOST_PIXELS:
            raise self._error(where, f"it has at most {MOST_PIXELS:,} pixels")
        return value[0], value[1]

    def _number(self, key: str, table: dict[str, Any], default: int, least: int, most: int) -> int:
        value = table.get(key, default)
        if type(value) is not int or not least <= value <= most:
            raise self._error(key, f"it is a whole number from {least} to {most}")
        return value

    def _text(self, key: str, table: dict[str, Any], where: str = "") -> str:
        value = table.get(key)
        if not isinstance(value, str) or not value.strip():
            raise self._error(f"{where}: {key}" if where else key, "it is a text, and has to be there")
        return value.strip()

    def _texts(self, key: str, table: dict[str, Any]) -> list[str]:
        value = table.get(key, [])
        if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
            raise self._error(key, "it is a list of texts")
        return value

    def _table(self, where: str, value: Any) -> dict[str, str]:
        if not isinstance(value, dict) or not all(isinstance(one, str) for one in value.values()):
            raise self._error(where, "it is a table of texts")
        return value

    def _check_names(self, where: str, table: dict[str, Any], known: set[str]) -> None:
        for name in table:
            if name not in known:
                raise self._error(where, f"there is no {name!r}; there are {', '.join(sorted(known))}")

    def _error(self, where: str, what: str) -> LessonError:
        return LessonError(f"{self._where}{f': {where}' if where else ''}: {what.rstrip('.')}.")


def _is_one_of(value: Any, known: Container[str]) -> bool:
    """Whether it is a text, and known; what else a file may have cannot be looked up."""
    return isinstance(value, str) and value in known


def _positive(value: Any) -> float:
    """A bound; 0 where it is none, which is not above 0 and does not rise."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool) and 0.0 < value < 1e9
    return value if is_number else float("nan")
