"""A race as tables: text, CSV, and LaTeX with the rules of the package booktabs."""

from __future__ import annotations

import csv
import io

from .race import METRICS, Race, told_once

PARTS = ("update_ms", "trace_ms", "shade_ms", "ms")
_SPECIAL = {
    **{sign: "\\" + sign for sign in "&%$#_{}"},
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "\\": r"\textbackslash{}",
}


def csv_of(race: Race) -> str:
    """A row for each contestant in the order in which they were given; what is not known is empty."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    plain = ("rebuilds", "refits", "rays", "mrays_per_s", *METRICS)
    intervals = [name for part in PARTS for name in (part, f"{part}_low", f"{part}_high")]
    writer.writerow(["rank", "last_rank", "letter", "configuration", "layout", *intervals, *plain, "hits", "ties",
                     "mismatches", "one_sided", "most_apart", "is_rival", "reason", "note"])  # fmt: skip
    for one in race.contestants:
        parts = [getattr(one, part) for part in PARTS]
        numbers = [number for part in parts for number in (part.median, part.low, part.high)]
        facts = [getattr(one, name) for name in plain]
        proof = tuple(getattr(one.proof, name) for name in ("hits", "ties", "mismatches", "one_sided", "most_apart"))
        who = (one.rank, one.last_rank, one.letter, one.configuration, one.layout)
        row = [*who, *numbers, *facts, *proof, one.is_rival, one.reason, one.note]
        writer.writerow(["" if value is None else value for value in row])
    return text.getvalue()


def latex_of(race: Race) -> str:
    r"""A table to \input, which needs the package booktabs; fastest first."""
    lines = [
        "% needs \\usepackage{booktabs}",
        r"\begin{tabular}{rlrrrrl}",
        r"\toprule",
        r"Rank & Configuration & Update & Trace & Shade & Total & 95\,\% interval \\",
        r"\midrule",
    ]
    for one in race.ranking:
        parts = " & ".join(f"{getattr(one, part).median:.3f}" for part in PARTS)
        name = escaped(f"{one.letter} {one.configuration}")
        place = one.place_told.replace("–", "--")
        lines.append(f"{place} & {name} & {parts} & [{one.ms.low:.3f}, {one.ms.high:.3f}] \\\\")
    about = f"{race.scene}, {len(race.frames)} frame{'s' * (len(race.frames) != 1)}, {race.rays_said}, {race.device}"
    sentence = f"% Milliseconds per frame, medians of {race.repeat} passes. {about}."
    sentence = " ".join([sentence, race.verdict, *race.notes])
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", " ".join(sentence.split()), ""])


def escaped(text: str) -> str:
    """A text as LaTeX prints it."""
    return "".join(_SPECIAL.get(one, one) for one in text)


def text_of(race: Race) -> str:
    """The ranking as it is printed: what all costs, and its parts, then the reasons and what is to be known."""
    ranking, best = race.ranking, race.ranking[0].ms.median
    head = ("", "", "", "ms per frame", "interval of 95 %", "", "update", "trace", "shade", "rays/s")
    rows = [
        (
            *(one.place_told, one.letter, one.configuration, f"{one.ms.median:.3f}"),
            *(f"[{one.ms.low:.3f}, {one.ms.high:.3f}]", f"{one.ms.median / best:.2f} x"),
            *(f"{getattr(one, part).median:.3f}" for part in PARTS[:3]),
            f"{one.mrays_per_s:.4g} M",
        )
        for one in ranking
    ]
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    lines = []
    for row in (head, *rows):
        cells = zip(row, widths, "<<<>>>>>>>", strict=True)
        lines.append("  ".join(f"{cell:{side}{width}}" for cell, width, side in cells))
    reasons = [f"{reason}." for reason in told_once(ranking) if reason]
    return "\n".join([*lines, *reasons, race.verdict, *race.notes])
