"""A race as tables: CSV, and LaTeX with the rules of the package booktabs."""

from __future__ import annotations

import csv
import io

from .race import METRICS, Race

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
    writer.writerow(["rank", "letter", "configuration", "layout", *intervals, *plain, "hits", "ties", "mismatches",
                     "reason", "note"])  # fmt: skip
    for one in race.contestants:
        parts = [getattr(one, part) for part in PARTS]
        numbers = [number for part in parts for number in (part.median, part.low, part.high)]
        facts = [getattr(one, name) for name in plain]
        proof = (one.proof.hits, one.proof.ties, one.proof.mismatches)
        row = [one.rank, one.letter, one.configuration, one.layout, *numbers, *facts, *proof, one.reason, one.note]
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
        lines.append(f"{one.rank} & {name} & {parts} & [{one.ms.low:.3f}, {one.ms.high:.3f}] \\\\")
    about = f"{race.scene}, {len(race.frames)} frames, {race.rays_said}, {race.device}"
    sentence = f"% Milliseconds a frame, medians of {race.repeat} passes. {about}."
    sentence = " ".join([sentence, race.verdict, *race.notes])
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", " ".join(sentence.split()), ""])


def escaped(text: str) -> str:
    """A text as LaTeX prints it."""
    return "".join(_SPECIAL.get(one, one) for one in text)
