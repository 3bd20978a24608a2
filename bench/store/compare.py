"""Two sets of results beside each other: what became slower, faster, wrong or missing, so that a repository can be
guarded by it.

Intervals of the ratio of two medians are percentile bootstrap intervals (Efron and Tibshirani, An Introduction to the
Bootstrap, 1993, chapter 13) of the rounds of each side; the effect is Cliff's delta (Psychological Bulletin 114, 1993),
how much oftener a round of B is larger than one of A than smaller.
"""

from __future__ import annotations

import dataclasses
import math
import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from raygrove.gpu.analysis.intervals import CONFIDENCE, LEAST_SAMPLES
from raygrove.gpu.errors import Error

from .folder import DONE
from .jobs import canonical, question_of, typed

RESAMPLES = 2000
THRESHOLD = 0.05
"""By how much B may be slower than A."""
EQUAL_SUMS = 1e-5
"""Sums of distances that differ by a smaller part are of the same hits, summed in another order."""
SLOWER, FASTER, SAME, UNDECIDED, FEW = "slower", "faster", "same", "undecided", "too few"
DIFFERS, LOST, MISSING, NEW = "differs", "lost", "missing", "new"
FAILING = (SLOWER, DIFFERS, LOST, MISSING)
"""Verdicts with which a comparison ends badly."""
FOUND = {"hits": "hits", "sum_t": "distances of hits", "image_sha256": "pictures"}
"""What results say that they found, and its words."""
EFFECTS = ((0.147, "negligible"), (0.33, "small"), (0.474, "medium"), (math.inf, "large"))
"""Words for Cliff's delta, after Romano and others, 2006."""
Key = tuple[str, str]


@dataclasses.dataclass(frozen=True)
class Side:
    """One part of one result: a row for each kind of ray or picture."""

    what: Mapping[str, Any]
    part: str
    scene: str
    rounds: Mapping[str, Sequence[float]]
    found: Mapping[str, Any]
    status: str
    sentence: str
    machine: str | None
    noise: Sequence[str]


@dataclasses.dataclass(frozen=True)
class Row:
    """A figure of both sides: medians, B over A as cost (rates are turned round), and its interval. `options` are the
    other words of its job in which the jobs that are compared differ."""

    scene: str
    configuration: str
    options: str
    part: str
    metric: str
    verdict: str
    sentence: str
    a: float | None = None
    b: float | None = None
    ratio: float | None = None
    low: float | None = None
    high: float | None = None
    effect: float | None = None

    def as_json(self) -> dict[str, Any]:
        """Plain values."""
        return dataclasses.asdict(self)


@dataclasses.dataclass(frozen=True)
class Comparison:
    """All rows, those of failing verdicts first."""

    rows: tuple[Row, ...]
    threshold: float

    @property
    def fails(self) -> bool:
        """Whether a gate is to be closed; also where nothing was compared."""
        return not any(row.verdict not in (MISSING, NEW) for row in self.rows) or any(
            row.verdict in FAILING for row in self.rows
        )

    @property
    def sentence(self) -> str:
        """What came of it."""
        counts = {name: sum(row.verdict == name for row in self.rows) for name in _ORDER}
        said = ", ".join(f"{count:,} {name}" for name, count in counts.items() if count) or "nothing to compare"
        return f"B beside A, by more than {100.0 * self.threshold:g} %: {said}."


_ORDER = (SLOWER, DIFFERS, LOST, MISSING, UNDECIDED, FEW, FASTER, SAME, NEW)


def sides_of(records: Iterable[Mapping[str, Any]], name: str, sources: str = "") -> dict[Key, Side]:
    """The parts of results by their question. `sources` begins the digest of those that are meant. Raises Error where a
    question has results of several versions."""
    found: dict[Key, Side] = {}
    versions: dict[str, str] = {}
    for record in records:
        what = record["job"]
        made_by = str(what.get("sources", ""))
        if not made_by.startswith(sources):
            continue
        question = canonical(question_of(what))
        if versions.setdefault(question, made_by) != made_by:
            raise Error(f"it holds results of several versions of the sources: {versions[question][:8]} and "
                        f"{made_by[:8]}", name, f"name one, as {name}@{made_by[:8]}")  # fmt: skip
        for side in _sides(record, what):
            found[question, side.part] = side
    return found


def _sides(record: Mapping[str, Any], what: Mapping[str, Any]) -> Iterator[Side]:
    about = record.get("context") or {}
    for row in record.get("rows") or [{"rounds": record.get("samples", {})}]:
        part = str(row.get("ray_type") or what.get("ray_type") or "") if what.get("measure") == "trace" else ""
        if "frame" in row:
            part = f"frame {row['frame']}"
        proof = {key: row[key] for key in ("hits", "sum_t", "image_sha256") if row.get(key) is not None}
        yield Side(what, part, str(row.get("scene") or what.get("scene", "")), row.get("rounds") or {}, proof,
                   str(record.get("status", DONE)), str(record.get("sentence", "")), about.get("device"),
                   tuple(record.get("noise", ())))  # fmt: skip


def compared(a: Mapping[Key, Side], b: Mapping[Key, Side], threshold: float = THRESHOLD) -> Comparison:
    """Every figure of A beside B's."""
    rows: list[Row] = []
    lost = {key[0] for key, side in b.items() if side.status != DONE}
    keys = _differing_words((*a.values(), *b.values()))
    for key, side in a.items():
        if side.status != DONE:
            continue
        other = b.get(key)
        if other is None and key[0] in lost:
            other = b.get((key[0], ""))
        options = _options(side, keys)
        rows += [dataclasses.replace(row, options=options) for row in _of_sides(side, other, threshold)]
    rows += [dataclasses.replace(_row(side, NEW, "A has no result of it"), options=_options(side, keys))
             for key, side in b.items()
             if (key not in a or a[key].status != DONE) and side.status == DONE]  # fmt: skip
    order = {name: place for place, name in enumerate(_ORDER)}

    def turn(row: Row) -> tuple[object, ...]:
        place = (row.scene, row.configuration, row.options)
        return order[row.verdict], place, len(row.part), row.part  # frame 2 before frame 10

    return Comparison(tuple(sorted(rows, key=turn)), threshold)


def _differing_words(sides: Iterable[Side]) -> tuple[str, ...]:
    """The words of jobs in which these differ, but for those that rows have anyway and those of no question."""
    jobs = [question_of(side.what) for side in sides]
    keys = sorted({key for job in jobs for key in job} - {"scene", "configuration", "name"})
    return tuple(key for key in keys if len({canonical({key: job.get(key)}) for job in jobs}) > 1)


def _options(side: Side, keys: Iterable[str]) -> str:
    return " ".join(f"{key}={typed(side.what[key], key)}" for key in keys if key in side.what)


def _of_sides(a: Side, b: Side | None, threshold: float) -> Iterator[Row]:
    if b is None:
        yield _row(a, MISSING, "B has no result of it")
        return
    if b.status != DONE:
        yield _row(a, LOST, f"it {b.status}: {b.sentence}")
        return
    where = "" if a.machine == b.machine else f"; A was measured on {a.machine}, B on {b.machine}"
    if differing := _differing(a.found, b.found, is_same_machine=not where):
        yield _row(a, DIFFERS, f"{differing}{where}")
    elif not any(a.rounds.values()):
        yield from _alike(a, b, where)
    for metric, samples in a.rounds.items():
        if metric not in b.rounds:
            yield _row(a, MISSING, "B has no such figure", metric)
        elif samples and b.rounds[metric]:
            yield _judged(a, metric, samples, b.rounds[metric], threshold, where)


def _differing(a: Mapping[str, Any], b: Mapping[str, Any], *, is_same_machine: bool) -> str:
    """What both found and not alike. Pictures are the same on one device architecture only."""
    for key in a.keys() & b.keys():
        if key == "sum_t" and math.isclose(a[key], b[key], rel_tol=EQUAL_SUMS):
            continue
        if a[key] != b[key] and (key != "image_sha256" or is_same_machine):
            return FOUND[key] + " differ"
    return ""


def _alike(a: Side, b: Side, where: str) -> Iterator[Row]:
    """What was found is the same, of a result without times, as pictures are; those of two devices may differ."""
    both = a.found.keys() & b.found.keys()
    same = [words for key, words in FOUND.items() if key in both and (not where or a.found[key] == b.found[key])]
    if same:
        yield _row(a, SAME, f"the same {', '.join(same)}{where}")
    elif both:
        yield _row(a, UNDECIDED, f"pictures of two devices are not compared{where}")


def _judged(a: Side, metric: str, ours: Sequence[float], theirs: Sequence[float], threshold: float, where: str) -> Row:
    is_rate = metric.endswith("_per_s")
    first, second = (theirs, ours) if is_rate else (ours, theirs)
    medians = statistics.median(ours), statistics.median(theirs)
    if min(len(ours), len(theirs)) < LEAST_SAMPLES or min(*ours, *theirs) <= 0.0:
        return _row(a, FEW, f"a verdict takes {LEAST_SAMPLES} figures above 0 a side{where}", metric, *medians)
    ratio, low, high = ratio_of_medians(first, second)
    delta = cliffs_delta(first, second)
    if low > 1.0 + threshold:
        verdict = SLOWER
    elif high < 1.0 - threshold:
        verdict = FASTER
    else:
        verdict = SAME if 1.0 - threshold <= low and high <= 1.0 + threshold else UNDECIDED
    effect = next(word for bound, word in EFFECTS if abs(delta) < bound)
    said = f"{ratio:.3f} x [{low:.3f}, {high:.3f}], {effect} effect{where}"
    return _row(a, verdict, said, metric, *medians, ratio, low, high, delta)


def _row(side: Side, verdict: str, sentence: str, metric: str = "", *figures: float) -> Row:
    configuration = str(side.what.get("configuration", side.what.get("name", "")))
    return Row(side.scene, configuration, "", side.part, metric, verdict, sentence, *figures)


def ratio_of_medians(a: Sequence[float], b: Sequence[float], seed: int = 0) -> tuple[float, float, float]:
    """The median of b over that of a, and its interval; the same for the same figures."""
    draw = np.random.default_rng(seed)
    medians = [
        np.median(values[draw.integers(0, len(values), (RESAMPLES, len(values)))], axis=1)
        for values in (np.asarray(a, np.float64), np.asarray(b, np.float64))
    ]
    outside = 100.0 * (1.0 - CONFIDENCE) / 2.0
    low, high = np.percentile(medians[1] / medians[0], [outside, 100.0 - outside])
    return statistics.median(b) / statistics.median(a), float(low), float(high)


def cliffs_delta(a: Sequence[float], b: Sequence[float]) -> float:
    """From -1 (every figure of b is smaller than each of a) to 1."""
    return float(np.sign(np.asarray(b)[:, None] - np.asarray(a)[None, :]).mean())
