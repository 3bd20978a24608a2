"""What a race found: costs with intervals, ranks, the reasons in words, and whether all found the same hits."""

from __future__ import annotations

import dataclasses
import math
import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..brief import brief, filled, percent
from .hit_proof import HitProof
from .intervals import Measured, nth, ranks, spearman

LETTERS = "ABCDEFGH"
"""Contestants by their place in the list, as many as there can be."""
PARTS = {"update_ms": "updates", "trace_ms": "traces", "shade_ms": "shades"}
METRICS = {
    "sah_cost": "SAH cost",
    "end_point_overlap": "end-point overlap",
    "leaf_variability": "leaf-count variability",
    "depth": "depth",
    "bytes": "bytes",
    "mean_warp": "mean steps of warps",
    "longest_warp": "longest warp",
    "mean_visits": "nodes visited by a ray",
    "mean_tests": "primitives tested by a ray",
}
"""What is compared with measured speed, and its words."""
STEPS = {"mean_visits": ("visit", "nodes"), "mean_tests": ("test", "primitives")}
LEAST_TOLD, MANY_TIMES = 0.01, 2.0
"""Steps of rays are said to differ from this share on, and as so many times from that one on."""
MOST_OTHER_HITS = 0.01
"""Of the rays of another program, the share that may have other hits. Each program rounds in its own way, and rays
through edges and along silhouettes show it: of Embree's, up to 0.7 % of a dome's over the built-in scenes. One ray in a
hundred that does something else cannot move a cost by more than about as much, which is less than intervals are
wide. Of our own structures none may."""
LEAST_CORRELATED = 4
"""Of three contestants every third order of ranks is the same or the opposite: a correlation of 1 or -1 means
nothing."""


@dataclasses.dataclass(frozen=True)
class Contestant:
    """A configuration in a race, in milliseconds per frame. `update_ms` is builds and refits, `ms` all parts; a sample
    is the mean of one pass through the frames. `frame_ms` are medians by frame. `rank` is 1 more than there are
    contestants that are faster for certain: whose intervals end before this one's begins; `last_rank` what it would be
    were all those faster that are not slower for certain.

    `rebuilds` and `refits` are of all timed frames. Figures of the tree are those of the last frame, None where a
    structure has none; steps are nodes visited and primitives tested, of warps of 8 x 4 pixels in the last frame: a
    warp takes as long as its longest ray. Over rays of a set a warp is 32 that follow one another, and its steps are
    those of the traversal that runs (divergence.py). `mean_visits` and `mean_tests` are nodes visited and primitives
    tested by a ray on average, of a picture's rays; those of a set have the latter alone.

    `note` is what is to be known of it: that a file's boxes were wrong. `is_rival`: it is another program, whose other
    hits are counted and shown, and are borne up to MOST_OTHER_HITS of its rays."""

    letter: str
    configuration: str
    layout: str
    ms: Measured
    update_ms: Measured
    trace_ms: Measured
    shade_ms: Measured
    frame_ms: tuple[float, ...]
    rebuilds: int
    refits: int
    rays: int
    mrays_per_s: float
    proof: HitProof
    sah_cost: float | None = None
    end_point_overlap: float | None = None
    leaf_variability: float | None = None
    depth: int | None = None
    bytes: int | None = 0
    mean_warp: float | None = None
    longest_warp: int | None = None
    mean_visits: float | None = None
    mean_tests: float | None = None
    rank: int = 1
    last_rank: int = 1
    reason: str = ""
    note: str = ""
    is_rival: bool = False

    @property
    def is_borne(self) -> bool:
        """Whether it is another program with some other hits, but few."""
        return self.is_rival and 0 < self.proof.mismatches <= MOST_OTHER_HITS * self.proof.rays

    @property
    def place_told(self) -> str:
        """The same, and how many other hits it has."""
        count = self.proof.mismatches
        return f"{self.place}, {count:,} other hit{'s' * (count != 1)}" if count else self.place

    @property
    def place(self) -> str:
        """Its rank in words: "2nd", or "1st–2nd" where no difference between those is shown."""
        first, last = nth(self.rank), nth(self.last_rank)
        return first if first == last else f"{first}–{last}"


@dataclasses.dataclass(frozen=True)
class Correlation:
    """How the ranks of a metric and those of measured rays a second go together: `rho` from -1 to 1, `p` the
    probability of one as far from 0 by chance, over the contestants that have the metric. `outliers` are letters of
    those whose speed lies at least half of the field from where that order puts them."""

    metric: str
    rho: float
    p: float
    count: int
    outliers: tuple[str, ...]


@dataclasses.dataclass(frozen=True, eq=False)
class Race:
    """What `rg.race` found; `contestants` in the order in which they were given. `against` is the letter of the one
    that all hits are compared with. `pictures` and `wrong` are of the last frame, by letter: RGBA (H, W, 4) uint8, and
    masks (H, W) of mismatches. `remarks` are sentences about the whole: that not all of a clip was raced."""

    scene: str
    triangles: int
    frames: tuple[int, ...]
    size: tuple[int, int]
    ray_type: str
    repeat: int
    device: str
    target: str
    against: str
    contestants: tuple[Contestant, ...]
    pictures: dict[str, np.ndarray] = dataclasses.field(default_factory=dict, repr=False)
    wrong: dict[str, np.ndarray] = dataclasses.field(default_factory=dict, repr=False)
    remarks: tuple[str, ...] = ()

    @property
    def rays_said(self) -> str:
        """What was traced in each frame, in words: the pixels of a picture, or rays, by their sensor or file."""
        if self.size[1] == 1:
            return f"{self.size[0]:,} {self.ray_type}"
        return f"{self.size[0]} x {self.size[1]} pixels, ray type {self.ray_type}"

    @property
    def ranking(self) -> tuple[Contestant, ...]:
        """Fastest first."""
        return tuple(sorted(self.contestants, key=lambda one: (one.rank, one.ms.median)))

    @property
    def mismatches(self) -> int:
        """Rays of all contestants that found something else."""
        return sum(one.proof.mismatches for one in self.contestants)

    @property
    def faults(self) -> int:
        """The same without those of other programs that have few: what a race is no proof with."""
        return sum(one.proof.mismatches for one in self.contestants if not one.is_borne)

    @property
    def ties(self) -> int:
        """Rays of all contestants that found another primitive at an equal distance."""
        return sum(one.proof.ties for one in self.contestants)

    @property
    def verdict(self) -> str:
        """Whether the hits are equal, as a sentence."""
        return verdict_of(self.contestants, self.against)

    @property
    def notes(self) -> tuple[str, ...]:
        """What is to be known of it all and of contestants, whose sentences follow their letter and configuration."""
        said = (f"{one.letter} {one.configuration}: {one.note}" for one in self.contestants if one.note)
        return (*self.remarks, *said)

    @property
    def correlations(self) -> tuple[Correlation, ...]:
        """Of each metric that four contestants or more have."""
        return correlations_of(self.contestants)

    def as_json(self) -> dict[str, Any]:
        """All but the pictures, as plain values; numbers that are not finite are None."""
        fields = {field.name for field in dataclasses.fields(self)} - {"pictures", "wrong"}
        plain = {name: getattr(self, name) for name in sorted(fields)}
        plain["contestants"] = [dataclasses.asdict(one) for one in self.contestants]
        plain["correlations"] = [dataclasses.asdict(one) for one in self.correlations]
        return dict(
            finite({**plain, **{name: getattr(self, name) for name in ("mismatches", "faults", "ties", "verdict")}})
        )

    def to_json(self, path: str | os.PathLike[str] | None = None) -> str:
        """`as_json` as text, also written to `path` where there is one; so do the others. Files appear whole or not at
        all. Raises OSError where one cannot be written."""
        return self._written(".json", path)

    def to_csv(self, path: str | os.PathLike[str] | None = None) -> str:
        """A line a contestant."""
        return self._written(".csv", path)

    def to_latex(self, path: str | os.PathLike[str] | None = None) -> str:
        """A table for the package booktabs."""
        return self._written(".tex", path)

    def to_html(self, path: str | os.PathLike[str] | None = None) -> str:
        """The report: one page with ranking, plots, figures and pictures, which loads nothing."""
        return self._written(".html", path)

    def plot(self, path: str | os.PathLike[str]) -> None:
        """Write the bars of costs, as SVG or PDF by the ending. Raises Error for another ending, OSError."""
        from .race_files import PLOT_ENDINGS, save

        save(self, path, PLOT_ENDINGS)

    def _written(self, ending: str, path: str | os.PathLike[str] | None) -> str:
        from .race_files import contents, save

        if path is not None:
            save(self, path, (ending,))
        return contents(self, ending).decode()

    def __str__(self) -> str:
        from .race_tables import text_of

        return text_of(self)


DIFFER = "HITS DIFFER: {wrong:,} of {rays:,} rays beside {against}'s ({who}); {ties}."
EQUAL = "Hits are equal: {rays:,} rays beside {against}'s, {ties}."


def verdict_of(contestants: Sequence[Contestant], against: str) -> str:
    """Whether the hits of all equal those of the one with that letter, as a sentence."""
    if [one.letter for one in contestants] == [against]:
        return "Hits are not compared: nobody else takes part."
    held = [one for one in contestants if one.letter != against and not one.is_borne]
    rays, tied = sum(one.proof.rays for one in held), sum(one.proof.ties for one in held or contestants)
    ties = filled("{tied:,} ties at equal distances", tied=tied)
    said = [_other_hits(one, against) for one in contestants if one.is_borne]
    differ = [one for one in held if one.proof.mismatches]
    if differ:
        wrong = sum(one.proof.mismatches for one in differ)
        who = ", ".join(f"{one.letter} {one.proof.mismatches:,}" for one in differ)
        said.insert(0, filled(DIFFER, wrong=wrong, rays=rays, against=against, who=who, ties=ties))
    elif held:
        said.insert(0, filled(EQUAL, rays=rays, against=against, ties=ties))
    else:
        said.append(f"{ties[:1].upper()}{ties[1:]}.")
    return " ".join(said)


def _other_hits(one: Contestant, against: str) -> str:
    """What another program found otherwise, as a sentence."""
    proof, parts = one.proof, []
    if proof.one_sided:
        parts.append(f"one hits and the other does not on {proof.one_sided:,}")
    if proof.mismatches > proof.one_sided:
        parts.append(f"distances differ by up to {brief(proof.most_apart)}")
    share = brief(100.0 * proof.mismatches / proof.rays, 2)
    return (
        f"{one.letter}, another program, has other hits than {against} on {proof.mismatches:,} of its {proof.rays:,} "
        f"rays ({share} %): {' and '.join(parts)}. Up to {percent(MOST_OTHER_HITS)} is taken for rounding at edges."
    )


def judged(contestants: Sequence[Contestant]) -> tuple[Contestant, ...]:
    """Contestants with their ranks and reasons."""
    ranked = [
        dataclasses.replace(
            one,
            rank=1 + sum(other.ms.high < one.ms.low for other in contestants),
            last_rank=len(contestants) - sum(other.ms.low > one.ms.high for other in contestants),
        )
        for one in contestants
    ]
    order = sorted(ranked, key=lambda one: (one.rank, one.ms.median))
    beside = {one.letter: order[0] if one is not order[0] else order[min(1, len(order) - 1)] for one in order}
    return tuple(dataclasses.replace(one, reason=reason_of(one, beside[one.letter])) for one in ranked)


def told_once(ranking: Sequence[Contestant]) -> tuple[str, ...]:
    """Their reasons, fastest first. The first and the next are compared with each other, so that what the next one
    would say has been said."""
    return tuple("" if place == 1 else one.reason for place, one in enumerate(ranking))


def reason_of(one: Contestant, other: Contestant) -> str:
    """Why it is faster or slower than another, in words: the parts whose intervals do not overlap, and what its rays do
    more or fewer of, which is counted and so known also where times are not."""
    if one.letter == other.letter:
        return ""
    words = []
    for part, verb in PARTS.items():
        ours, theirs = getattr(one, part), getattr(other, part)
        if ours.overlaps(theirs):
            continue
        if part == "update_ms":
            verb = _update_verb(one, other)
        gap = ours.median - theirs.median
        words.append(f"{verb} {_ms(abs(gap))} {'slower' if gap > 0.0 else 'faster'}")
    told = " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 2 else words)
    steps = steps_told(one, other)
    if one.ms.overlaps(other.ms):
        said = f"{one.letter} shows no difference from {other.letter}" + (f" in sum: it {told}" if told else "")
    else:
        said = (
            f"{one.letter} {told} than {other.letter}" if told else f"{one.letter} differs from {other.letter} in sum"
        )
    return f"{said}; its rays {steps}" if steps else said


def steps_told(one: Contestant, other: Contestant) -> str:
    """What rays of one do more or fewer of than those of another, in words: "visit 18 % fewer nodes and test 2.4 times
    as many primitives"; "" where that is not known, or the same."""
    words = []
    for name, (verb, what) in STEPS.items():
        ours, theirs = getattr(one, name), getattr(other, name)
        if ours is None or not theirs or abs(ours / theirs - 1.0) < LEAST_TOLD:
            continue
        share = ours / theirs - 1.0
        much = percent(abs(share)) + (" more" if share > 0.0 else " fewer")
        words.append(
            f"{verb} {f'{brief(ours / theirs, 2)} times as many' if ours >= MANY_TIMES * theirs else much} {what}"
        )
    return " and ".join(words)


def _update_verb(one: Contestant, other: Contestant) -> str:
    if not one.refits and not other.refits:
        return "builds"
    return "updates"


def few_sentence(count: int) -> str:
    """Why so many contestants have no rank correlation; "" where they have."""
    if count >= LEAST_CORRELATED:
        return ""
    there = f"these are {count}" if count > 1 else "there is one"
    return (
        f"Rank correlation takes {LEAST_CORRELATED} structures or more, and {there}: the ranks of fewer agree or are "
        "opposite by chance alone too often to mean anything."
    )


def correlations_of(contestants: Sequence[Contestant]) -> tuple[Correlation, ...]:
    """Of each metric that LEAST_CORRELATED contestants or more have."""
    found = (_correlation(contestants, metric) for metric in METRICS)
    return tuple(one for one in found if one is not None)


def _correlation(contestants: Sequence[Contestant], metric: str) -> Correlation | None:
    some = [one for one in contestants if getattr(one, metric) is not None]
    if len(some) < LEAST_CORRELATED:
        return None
    values, speeds = [float(getattr(one, metric)) for one in some], [one.mrays_per_s for one in some]
    rho, p = spearman(values, speeds)
    if math.isnan(rho):
        return None
    expected = ranks(values) if rho > 0.0 else len(some) + 1 - ranks(values)
    apart = np.abs(expected - ranks(speeds))
    far = tuple(one.letter for one, places in zip(some, apart, strict=True) if places >= len(some) / 2.0)
    return Correlation(metric, rho, p, len(some), far)


def _ms(ms: float) -> str:
    if ms >= 1000.0:
        return f"{brief(ms)} ms"
    return f"{ms:.1f} ms" if ms >= 10.0 else f"{brief(ms, 2)} ms"


def finite(value: Any) -> Any:
    """Plain values whose numbers are finite, others None, as JSON has them."""
    if isinstance(value, dict):
        return {key: finite(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [finite(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
