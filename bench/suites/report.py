"""What a suite found, as plain values, and as Markdown in the order of the published tables."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from .contents import contents_rows, figures

Cell = str | float | int | None

PUBLISHED = "(published)"
"""How the first cell of a row of published figures ends."""

PRINTED_DECIMALS = 3
"""Decimals of a published figure at most."""

MEDIAN_NOTE = (
    "Frames/s: the median of the frames, each of which counts as long as the target takes for it or the host "
    "until it issues the next, whichever is "
    "longer. Frame ms: what the target takes, the median; small scenes wait for the host."
)
MEAN_NOTE = (
    "Frames/s of this run: frames over the wall time of the whole run, so that the host counts, and what held it "
    "up once does, too. Frame ms: what "
    "the target takes, the median."
)
"""Of runs that were saved before frames were timed one by one."""


@dataclasses.dataclass
class SuiteTable:
    """A table: `number` is the published one's ("7.1"); every row begins with what it is of and whose it is."""

    number: str
    title: str
    columns: tuple[str, ...]
    rows: list[tuple[Cell, ...]] = dataclasses.field(default_factory=list)
    notes: tuple[str, ...] = ()

    def markdown(self) -> str:
        """The table with its heading and notes."""
        lines = [f"### {self.number}  {self.title}", "", _line(self.columns), _line(["---"] * len(self.columns))]
        for row in self.rows:
            shown = _as_printed if str(row[0]).endswith(PUBLISHED) else _shown
            lines.append(_line([shown(cell) for cell in row]))
        return "\n".join(lines + [""] + [f"{note}\n" for note in self.notes])


@dataclasses.dataclass
class Plot:
    """Curves for a published figure: `series` maps a name to x and y; `bars` draws groups of bars over the names in
    `x_names`."""

    number: str
    title: str
    x_title: str
    y_title: str
    series: dict[str, tuple[list[float], list[float]]]
    x_names: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True)
class Picture:
    """What was drawn for the published figure `number`: the file's name, beside the page; "" where it was not kept."""

    number: str
    title: str
    file: str


@dataclasses.dataclass
class SuiteReport:
    """`size` is that of the pictures, (0, 0) where there are none. `rows` are the raw measurements, flat; `scenes` says
    what was taken for what; `absent` what could not be had, and why."""

    suite: str
    about: str
    published: dict[str, Any]
    size: tuple[int, int]
    repeat: int
    scenes: list[dict[str, Any]] = dataclasses.field(default_factory=list)
    absent: list[str] = dataclasses.field(default_factory=list)
    rows: list[dict[str, Any]] = dataclasses.field(default_factory=list)
    tables: list[SuiteTable] = dataclasses.field(default_factory=list)
    plots: list[Plot] = dataclasses.field(default_factory=list)
    pictures: list[Picture] = dataclasses.field(default_factory=list)

    def as_json(self, context: dict[str, Any]) -> dict[str, Any]:
        """Everything, `context` as in `bench --json`."""
        return {"context": context, **dataclasses.asdict(self)}

    def markdown(self, context: dict[str, Any], note: str = "", plots: str = "") -> str:
        """The report for people: where it was measured, what it has of the evaluation, the scenes, the tables, the
        figures. `note` is said of the page as a whole; the files of plots that were drawn begin with `plots`."""
        device, commit, date = (context.get(name) or "-" for name in ("device", "commit", "date"))
        pictures = f"{self.size[0]}x{self.size[1]}, " if any(self.size) else ""
        measured = f"{pictures}medians of {self.repeat}, {device}, commit {str(commit)[:12]}, {date}"
        parts = [
            f"# {self.suite}",
            f"{self.about}\n\nHere: {measured if self.rows else 'nothing was measured'}. "
            f"Published: {self.published['hardware']} "
            f"({self.published['source']}). "
            "A row is either published or measured here, never both; a scene that is not the published one is "
            "called a stand-in." + (f" {note}" if note else ""),
        ]
        if contents := contents_rows(self):
            columns = ("published", "shows", "here")
            parts.append(SuiteTable("Contents", "what the evaluation shows", columns, list(contents)).markdown())
        if self.scenes:
            parts.append(_scene_table(self.scenes).markdown())
        if self.absent:
            parts.append("Not measured:\n\n" + "\n".join(f"- {line}" for line in self.absent))
        if self.published.get("misprints"):
            parts.append(
                "As printed, but odd beside their neighbours, so that they may be misprints: "
                + "; ".join(self.published["misprints"])
                + "."
            )
        parts += [table.markdown() for table in self.tables if table.rows]
        return "\n\n".join([*parts, *figures(self, plots)]).rstrip() + "\n"


def report_from_json(content: dict[str, Any]) -> SuiteReport:
    """The report of a saved file, to draw its plots again or to print it."""
    plots = [Plot(**{**plot, "x_names": tuple(plot["x_names"])}) for plot in content["plots"]]
    tables = [
        SuiteTable(t["number"], t["title"], tuple(t["columns"]), [tuple(row) for row in t["rows"]], tuple(t["notes"]))
        for t in content["tables"]
    ]
    names = ("suite", "about", "published", "repeat", "scenes", "absent", "rows")
    width, height = content["size"]
    pictures = [Picture(**picture) for picture in content.get("pictures", ())]  # reports before 2026-11-28 have none
    return SuiteReport(
        **{name: content[name] for name in names}, size=(width, height), tables=tables, plots=plots, pictures=pictures
    )


def scenes_of(report: SuiteReport, part: str) -> list[str]:
    """What the scenes of a part of the rows are called, in their order."""
    return list(dict.fromkeys(row["scene"] for row in report.rows if row["part"] == part))


def _scene_table(scenes: Sequence[dict[str, Any]]) -> SuiteTable:
    counted = next((scene["counted"] for scene in scenes if "counted" in scene), "triangles")
    columns = (
        "published scene",
        counted,
        "taken here",
        f"{counted} here",
        "diagonal here, scene units",
        "relation",
        "why",
    )
    names = ("published", "published_triangles", "ours", "triangles", "diagonal", "relation", "why")
    rows = [
        tuple(scene.get(name) for name in names) for scene in scenes
    ]  # reports saved before this page knew the diagonal have none
    return SuiteTable("Scenes", "what stands for what", columns, rows)


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _as_printed(cell: Cell) -> str:
    """All digits that were published, and no others; what is computed from published figures has more, and is shown
    like ours."""
    text = f"{cell:,}" if isinstance(cell, float) else ""
    return text if 0 < len(text.partition(".")[2]) <= PRINTED_DECIMALS else _shown(cell)


def _shown(cell: Cell) -> str:
    if cell is None:
        return "-"
    if isinstance(cell, str):
        return cell.replace("|", "\\|")
    if isinstance(cell, int):
        return f"{cell:,}"
    return (
        f"{cell:,.0f}"
        if abs(cell) >= 100
        else f"{cell:.1f}"
        if abs(cell) >= 10
        else f"{cell:.2f}"
        if abs(cell) >= 0.995
        else f"{cell:.3f}"
    )
