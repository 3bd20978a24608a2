"""Help for each structure and ray type, from where it is written: the docstring of its module, found with the folder,
or of its class where a module has several.

A docstring begins with what the thing is; then come paragraphs that start with the word of a section and a colon.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import re
import sys
from pathlib import Path
from typing import Any

from raygrove.app.settings import option_tables
from raygrove.gpu.settings import OptionField, fields_of

SECTIONS = ("Idea", "Paper", "Cost", "Limits")


@dataclasses.dataclass(frozen=True)
class HelpText:
    """One page: `table` is the options' table in the settings ("hierarchy.lbvh"), `sections` the text of each of
    SECTIONS."""

    table: str
    title: str
    family: str
    summary: str
    sections: dict[str, str]
    facts: tuple[str, ...]
    options: tuple[OptionField, ...]

    @property
    def missing(self) -> tuple[str, ...]:
        """The sections that nobody has written."""
        return tuple(name for name in SECTIONS if not self.sections.get(name))


def pages() -> dict[str, HelpText]:
    """Every structure's, optimiser's and ray type's page by its table, structures by family first."""
    structures = sorted(option_tables.builders().items(), key=lambda item: (item[1].family, item[0]))
    found = [_page(f"hierarchy.{name}", kind, kind.family, _facts(kind)) for name, kind in structures]
    found += [_page(f"optimiser.{name}", kind, "", ()) for name, kind in sorted(option_tables.optimisers().items())]
    found += [_page(f"ray_type.{name}", kind, "", ()) for name, kind in sorted(option_tables.ray_types().items())]
    return {page.table: page for page in found}


def layout_page(family: str, name: str) -> tuple[str, dict[str, str]]:
    """What a layout's module says before its sections, and these; nothing where it has none of its own."""
    module = sys.modules.get(f"raygrove.gpu.hierarchy.{family}.layouts.{name}")
    return parsed((module.__doc__ or "") if module is not None else "")


def layout_sentence(family: str, name: str) -> str:
    """What a layout is, in the first sentence of its module; "" where it has none of its own."""
    return _first_sentence(layout_page(family, name)[0])


@functools.cache
def traversal_sentence(family: str, name: str) -> str:
    """What a traversal does, in the first sentence of its header; "" where it has none of its own."""
    header = Path(option_tables.__file__).parents[2] / "gpu" / "hierarchy" / family / "traversals" / f"{name}.cuh"
    if not header.is_file():
        return ""
    comment = itertools.takewhile(lambda line: line.startswith("// "), header.read_text(encoding="utf-8").splitlines())
    return _first_sentence(" ".join(line.removeprefix("// ") for line in comment))


@functools.cache
def sentence_of(kind: Any) -> str:
    """What a structure, an optimiser or a ray type is, in the first sentence of its help page, for where its title
    stands beside it: what names it in front of a colon is left out."""
    summary, sections = parsed(kind.__doc__ or "")
    if not sections:
        summary, _ = parsed(sys.modules[kind.__module__].__doc__ or "")
    text = _first_sentence(summary)
    text = text.partition(": ")[2] or text
    return text[:1].upper() + text[1:]


def _first_sentence(text: str) -> str:
    """The first sentence; files that it names in brackets are of no use to who chooses."""
    sentence = re.match(r".*?\.(?=\s|$)", " ".join(text.split()))
    return re.sub(r" \([\w./]+\.cuh\)", "", sentence[0]) if sentence else ""


def parsed(docstring: str) -> tuple[str, dict[str, str]]:
    """What a docstring says before its sections, and the sections; lines of a paragraph are joined."""
    summary: list[str] = []
    sections: dict[str, str] = {}
    name = ""
    for paragraph in re.split(r"\n\s*\n", docstring.strip()):
        text = " ".join(paragraph.split())
        match = re.match(rf"({'|'.join(SECTIONS)}): (.+)", text)
        if match:
            name, text = match[1], match[2]
            sections[name] = text
        elif name:
            sections[name] += "\n" + text
        else:
            summary.append(text)
    return "\n".join(summary), sections


def _page(table: str, kind: Any, family: str, facts: tuple[str, ...]) -> HelpText:
    summary, sections = parsed(kind.__doc__ or "")
    if not sections:
        summary, sections = parsed(sys.modules[kind.__module__].__doc__ or "")
    return HelpText(table, kind.title, family, summary, sections, facts, fields_of(kind.Options))


def _facts(kind: Any) -> tuple[str, ...]:
    """What a structure's capabilities say, in words."""
    can = kind.capabilities
    return (
        f"Layouts: {', '.join(kind.layouts())}.",
        "It can be refitted." if can.refit else "It cannot be refitted: it is rebuilt whenever something moves.",
        "A primitive may be referenced by several leaves."
        if can.splits_references
        else "Each primitive is referenced once.",
        "The same input makes the same tree." if can.deterministic else "The same input may make another tree.",
        f"Primitives: {', '.join(can.primitive_kinds)}. Targets: {', '.join(can.targets)}.",
        f"Queries of regions: {', '.join(can.queries) or 'none'}.",
        *(("A function on the host builds it: frames with a rebuild wait for it.",) if can.builds_on_host else ()),
    )
