"""docs/structures.md from the folders: `python -m raygrove.app.help.structures_docs` writes it, and a test demands that
it is up to date.

Texts come from the docstrings beside the code, as the help pages do; figures from the newest run of `bench structures`
on each device that is kept under bench/results.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from raygrove import checkout
from raygrove.app.help.texts import SECTIONS, HelpText, layout_page, pages, traversal_sentence
from raygrove.app.settings import option_tables
from raygrove.app.settings.older import structure_then

ROOT = Path(__file__).resolve().parents[2]
PATH = ROOT / "docs" / "structures.md"
RESULTS = ROOT / "bench" / "results"

HEAD = """# Structures, optimisers and layouts

Everything that `--hierarchy`, `--optimiser`, `--layout` and `--traversal` name. This page is made from the folders
under `gpu/hierarchy` by `python -m raygrove.app.help.structures_docs`; edit the docstrings there, not this. The same
texts are the window's help pages. How to add one: [adding-a-structure.md](adding-a-structure.md).

SAH cost = (sum of inner areas + sum of leaf areas x references) / root area. Figures are medians of one run on the
built-in scenes `blob` (one closed body) and `room` (an interior); a structure that is too slow for the full size is
measured on a smaller one, and the column *triangles* says which. Builds are replayed as a captured graph where there
is a GPU, as frames do it; rays are millions a second at 1024x768, diffuse ones leave the primary hits by the cosine.
Bytes are those of the default layout, records of the triangles included.
"""


def text() -> str:
    """The page of the project's own."""
    own = {f"hierarchy.{name}" for name in option_tables.own_builders()}
    found = [page for page in pages().values() if page.table in own or page.table.startswith("optimiser.")]
    parts = [HEAD]
    for path in saved_results():
        parts.append(_measured(json.loads(path.read_text(encoding="utf-8")), path.name))
    for page in found:
        parts.append(_section(page))
    for family in sorted({kind.family for kind in option_tables.own_builders().values()}):
        parts.append(_layouts(family))
    return "".join(parts)


def saved_results() -> list[Path]:
    """The newest `DEVICE-YEAR-MONTH-DAY-[LETTER-]structures.json` of each device, by the time of the run: a later one
    of a day has a letter."""
    made = {
        path: json.loads(path.read_text(encoding="utf-8"))["context"]["date"]
        for path in sorted(RESULTS.glob("*-structures.json"))
    }
    newest = {path.name.split("-20")[0]: path for path in sorted(made, key=lambda path: str(made[path]))}
    return [newest[device] for device in sorted(newest)]


def _measured(kept: dict[str, Any], file: str) -> str:
    """The figures of one device, one row per structure and scene."""
    about = kept["context"]
    traced = {
        (_named(row), row["scene"], row["ray_type"]): row["mrays_per_s"]
        for row in kept["results"]
        if row["build_ms"] is None
    }
    lines = [
        f"\n## Measured on {about['device']}\n\nCommit {str(about['commit'])[:9]}, {about['date'][:10]}; raw "
        f"figures in `bench/results/{file}`.\n\n",
        "| Structure | Scene | Triangles | Build ms | Refit ms | SAH cost | Depth | Primary | Diffuse | "
        "Bytes/triangle | Layout |\n",
        "|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---|\n",
    ]
    for row in kept["results"]:
        if row["build_ms"] is None:
            continue
        rates = [_number(traced.get((_named(row), row["scene"], rays)), 0) for rays in ("primary", "diffuse")]
        build_ms = min([row["build_ms"], *row["samples"].get("graph_ms", [])])
        cells = (
            f"{row['triangles']:,}",
            _ms(build_ms),
            _ms(row["refit_ms"]),
            _number(row["sah_cost"]),
            _number(row["depth"], 0),
            *rates,
        )
        each = _number(row["bytes"] / row["triangles"], 0)
        lines.append(f"| {_named(row)} | {row['scene']} | {' | '.join(cells)} | {each} | {row['layout']} |\n")
    lines += [f"\nNot measured: {sentence}\n" for sentence in kept["not_measured"]]
    return "".join(lines)


def _named(row: dict[str, Any]) -> str:
    return f"`{structure_then(row['hierarchy'], row['options'])}`" + (
        "" if row["optimiser"] == "none" else f" + `{row['optimiser']}`"
    )


def _section(page: HelpText) -> str:
    kind, _, name = page.table.partition(".")
    flag = {"hierarchy": "--hierarchy", "optimiser": "--optimiser"}[kind]
    parts = [
        f"\n## `{name}`: {page.title}\n\n`{flag} "
        f"{name}`{f', family {page.family}' if page.family else ''}\n\n{_plain(page.summary)}\n"
    ]
    parts += [
        f"\n**{section}.** {_plain(page.sections[section])}\n" for section in SECTIONS if page.sections.get(section)
    ]
    if page.facts:
        parts.append("\n" + "".join(f"- {fact}\n" for fact in page.facts))
    if page.options:
        parts.append("\n| Option | Default | Allowed | What it does |\n|---|---|---|---|\n")
        for field in page.options:
            cells = (f"`{field.name}`", f"`{field.default}`", field.allowed(), field.info.sentence)
            parts.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |\n")
    return "".join(parts)


def _layouts(family: str) -> str:
    """The layouts of a family that are modules of their own, each with its traversals; others are told of by the
    structures that have them."""
    kinds = [kind for kind in option_tables.own_builders().values() if kind.family == family]
    traversals = {layout: kind.traversals(layout) for kind in kinds for layout in kind.layouts()}
    parts = []
    for name in sorted(traversals):
        summary, sections = layout_page(family, name)
        if not summary:
            continue
        parts.append(f"\n## `{name}`: layout of the family {family}\n\n`--layout {name}`\n\n{_plain(summary)}\n")
        parts += [f"\n**{section}.** {_plain(sections[section])}\n" for section in SECTIONS if sections.get(section)]
        lines = [f"- `--traversal {way}`: {traversal_sentence(family, way)}\n" for way in traversals[name]]
        parts.append("\n" + "".join(lines))
    return "".join(parts)


def _plain(words: str) -> str:
    return words.replace("\n", "\n\n")


def _ms(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}" if value < 10 else f"{value:,.1f}"


def _number(value: float | None, digits: int = 1) -> str:
    return "-" if value is None else f"{value:,.{digits}f}"


def main(names: Sequence[str]) -> None:
    """Print what the page says of these structures and optimisers, also those of other packages; without names write
    the page."""
    if not names:
        checkout.demand("Writing docs/structures.md")
        PATH.write_text(text(), encoding="utf-8")
    for name in names:
        known = pages()
        page = known.get(f"hierarchy.{name}") or known.get(f"optimiser.{name}")
        if page is None:
            raise SystemExit(f"error: there is no structure or optimiser {name!r}.")
        print(_section(page).strip())


if __name__ == "__main__":
    main(sys.argv[1:])
