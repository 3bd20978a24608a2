"""Plots of a suite's report as SVG, by matplotlib (an extra): the case `plots` draws those of a
saved report again."""

from __future__ import annotations

import pathlib
import textwrap

from .report import Plot, SuiteReport

LETTERS_AN_INCH = 12
"""Of a title: longer ones go on in a second line."""


class PlotsAbsentError(Exception):
    """matplotlib is not installed."""


def draw(report: SuiteReport, prefix: pathlib.Path, device: str) -> list[pathlib.Path]:
    """Write every plot as PREFIX-NUMBER.svg, ours with the device's name; returns the files. Raises PlotsAbsentError
    without matplotlib."""
    try:
        from matplotlib import rc_context
        from matplotlib.figure import Figure
    except ImportError as error:
        raise PlotsAbsentError(
            "Plots need matplotlib, which is not installed: pip install 'raygrove[plots]'. The figures are in the JSON."
        ) from error
    written = []
    for plot in report.plots:
        width = max(6.0, 1.5 + 0.55 * len(plot.x_names))
        figure = Figure(figsize=(width, 4.2), layout="constrained")
        axes = figure.subplots()
        (_bars if plot.x_names else _curves)(axes, plot)
        whose = "" if plot.number.endswith("-published") else f"\nmeasured on {device}"
        axes.set_title(textwrap.fill(plot.title, int(width * LETTERS_AN_INCH)) + whose, fontsize=10)
        axes.set_xlabel(plot.x_title)
        axes.set_ylabel(plot.y_title)
        axes.set_ylim(bottom=0.0)
        axes.grid(axis="y", alpha=0.3)
        if plot.x_names:  # beside bars, which a legend would hide
            figure.legend(fontsize=8, loc="outside right upper")
        else:
            axes.legend(fontsize=8)
        path = prefix.with_name(f"{prefix.name}-{plot.number}.svg")
        with rc_context(
            {"svg.fonttype": "none", "svg.hashsalt": plot.number}
        ):  # text stays text, and the same plot the same bytes
            figure.savefig(path, metadata={"Date": None})
        written.append(path)
    return written


def _bars(axes, plot: Plot) -> None:  # type: ignore[no-untyped-def]
    width = 0.8 / max(1, len(plot.series))
    for index, (name, (x, y)) in enumerate(plot.series.items()):
        axes.bar([place + (index - (len(plot.series) - 1) / 2) * width for place in x], y, width, label=name)
    axes.set_xticks(range(len(plot.x_names)), plot.x_names, rotation=40, ha="right", fontsize=7)


def _curves(axes, plot: Plot) -> None:  # type: ignore[no-untyped-def]
    for name, (x, y) in plot.series.items():
        axes.plot(x, y, marker=".", label=name)
