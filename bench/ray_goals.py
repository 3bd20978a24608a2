"""What is promised of rays through real scenes: each figure is the worst over the scenes and views of the bench of
record (ray_scenes.py), so that no goal is reached on the scene it was tuned on."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

from .goal import Goal
from .ray_tables import PEERS_FILE, Ratio, best_of, is_host, ours_of, places, ratios, worst
from .saved import Content
from .suites.published import published

Figure = tuple[float | None, str]
FIRST_SIZE, SECOND_SIZE = "1024x768", "1920x1080"
MOST_BUILD_MS = 10.0
KD_TREES = ("median_sah", "sah_events")


@dataclasses.dataclass(frozen=True)
class RayBar:
    """A bar of a kind of target, and how its figure is read from a file of `bench rays`: with a note where it was
    measured, or why not."""

    kind: str
    what: str
    bar: float
    unit: str
    read: Callable[[Content], Figure]

    def goal(self, content: Content) -> Goal:
        """The bar with its figure."""
        figure, note = self.read(content)
        return Goal(self.what, self.bar, figure, self.unit, at_most=False, note=note)


def _told(found: Sequence[Ratio], missing: str) -> Figure:
    least = worst(found)
    return (least.ratio, least.words) if least else (None, missing)


def _over_peer(tree: str, peer: str, *whats: str) -> Callable[[Content], Figure]:
    """Rays through one of our trees over the best of the peers whose names begin so."""

    def read(content: Content) -> Figure:
        found = ratios(
            content,
            lambda scene, mine: mine.get(tree),
            lambda scene, theirs: best_of({name: rate for name, rate in theirs.items() if name.startswith(peer)}),
            lambda what: what in whats,
        )
        return _told(found, f"{tree} on a scene where {peer} was measured")

    return read


def _fast_builds(content: Content) -> Figure:
    """The best of our trees that is built in time, over the best of theirs that a GPU builds in time."""
    their_ms = published(PEERS_FILE)["build_ms"]

    def mine(scene: str, rates: dict[str, float]) -> float | None:
        about = content["parts"][scene]["trees"]
        best = best_of({tree: rate for tree, rate in rates.items() if about[tree]["build_ms"] < MOST_BUILD_MS})
        return best[1] if best else None

    def theirs(scene: str, rates: dict[str, float]) -> tuple[str, float] | None:
        return best_of(
            {
                name: rate
                for name, rate in rates.items()
                if their_ms.get(name, {}).get(scene, MOST_BUILD_MS) < MOST_BUILD_MS
            }
        )

    return _told(ratios(content, mine, theirs), "a scene where peers were measured")


def _best_rate(scene: str, what: str) -> Callable[[Content], Figure]:
    """The best of our trees in the first view of a scene."""

    def read(content: Content) -> Figure:
        for place, rows in places(content).items():
            if (place[0], place[2]) == (scene, what) and content["parts"][scene]["is_whole"]:
                best = best_of(ours_of(content, rows))
                return (best[1], f"{best[0]}, {place[1]}") if best else (None, what)
        return None, f"{scene} was not given"

    return read


def _kd(tree: str) -> Callable[[Content], Figure]:
    """Rays through a kd-tree over those through binned_sah, whatever the rays."""

    def read(content: Content) -> Figure:
        found = []
        for place, rows in places(content).items():
            mine = ours_of(content, rows)
            if tree in mine and mine.get("binned_sah") and content["parts"][place[0]]["is_whole"]:
                found.append(Ratio(*place, mine[tree], mine["binned_sah"]))
        return _told(found, f"{tree} and binned_sah in one run")

    return read


def _over_embree(kinds: Sequence[str], tree: str = "", quality: str = "") -> Callable[[Content], Figure]:
    """Rays through one of our trees, or the best of them, over the fastest of Embree's packets and trees."""

    def read(content: Content) -> Figure:
        def mine(scene: str, rates: dict[str, float]) -> float | None:
            best = best_of(rates)
            return rates.get(tree) if tree else best[1] if best else None

        found = ratios(
            content,
            mine,
            lambda scene, theirs: best_of({name: rate for name, rate in theirs.items() if quality in name}),
            lambda what: what.split()[0] in kinds,
        )
        return _told(found, "Embree in the same run")

    return read


PRIMARY, PRIMARY_LARGE, DIFFUSE = f"buffer {FIRST_SIZE}", f"buffer {SECOND_SIZE}", f"diffuse {FIRST_SIZE}"
ALL = (PRIMARY, PRIMARY_LARGE, DIFFUSE)
BARS = (
    RayBar(
        "cuda",
        "hploc's primary rays over NexusBVH's, 1024x768, the worst scene",
        1.05,
        "times",
        _over_peer("hploc", "NexusBVH", PRIMARY),
    ),
    RayBar(
        "cuda",
        "hploc's primary rays over NexusBVH's, 1920x1080, the worst scene",
        1.05,
        "times",
        _over_peer("hploc", "NexusBVH", PRIMARY_LARGE),
    ),
    RayBar(
        "cuda",
        "hploc's diffuse rays over NexusBVH's, the worst scene",
        1.10,
        "times",
        _over_peer("hploc", "NexusBVH", DIFFUSE),
    ),
    RayBar(
        "cuda",
        "binned_sah's rays over those of cuBQL's SAH, the worst scene and rays",
        1.10,
        "times",
        _over_peer("binned_sah", "cuBQL SAH", *ALL),
    ),
    RayBar(
        "cuda",
        "sbvh's rays over those of tinybvh's SBVH, the worst scene and rays",
        1.05,
        "times",
        _over_peer("sbvh", "tinybvh SBVH, CPU", *ALL),
    ),
    RayBar(
        "cuda", "the best tree built in 10 ms over peers' best, the worst scene and rays", 1.10, "times", _fast_builds
    ),
    RayBar(
        "cuda", "diffuse rays in Crytek Sponza with the best tree", 2.0, "GRays/s", _best_rate("crytek-sponza", DIFFUSE)
    ),
    RayBar(
        "cuda",
        "primary rays at blob of 12.8M triangles with the best tree",
        3.0,
        "GRays/s",
        _best_rate("blob-12.8M", PRIMARY),
    ),
    *(
        RayBar(kind, f"{tree}'s rays over binned_sah's, the worst scene and rays", 0.7, "times", _kd(tree))
        for tree in KD_TREES
        for kind in ("cuda", "host")
    ),
    RayBar("host", "camera rays over Embree's best, the worst scene", 1.0, "times", _over_embree(("camera",))),
    RayBar("host", "any-hit rays over Embree's best, the worst scene", 1.0, "times", _over_embree(("shadow", "ao"))),
    RayBar("host", "diffuse rays over Embree's best, the worst scene", 1.0, "times", _over_embree(("diffuse",))),
    RayBar(
        "host",
        "camera rays through lbvh over Embree's medium tree, the worst scene",
        1.0,
        "times",
        _over_embree(("camera",), "lbvh", "medium"),
    ),
)


def ray_goals(content: Content) -> list[Goal]:
    """Every bar of the kind of target that was measured."""
    kind = "host" if is_host(content) else "cuda"
    return [bar.goal(content) for bar in BARS if bar.kind == kind]
