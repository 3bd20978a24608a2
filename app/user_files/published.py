"""Presets "as published": the forms of structures and rays that papers describe, as settings that are shipped and
cannot be changed. What of a form cannot be chosen is said in the preset itself, as "not built".

Sources: D. Meister, Methods for Fast Construction of Bounding Volume Hierarchies, 2014; S. Kolodzey, Parallele SAH
KD-Tree Konstruktion auf GPUs fuer Raytracing dynamischer Szenen, 2014; B. Chang, W. Seo, I. Ihm, On the Efficient
Implementation of a Real-time Kd-tree Construction Algorithm, 2012, of the kd-tree of Zhou et al. 2008.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping
from types import MappingProxyType

from raygrove.app.settings.settings import Settings, option_field, set_option

PREFIX = "published/"
OptionValue = str | int | float | bool

_QUEUE_SIZE = (
    "the thesis reads back how long a queue is; here all levels that there may be are launched, the last ones empty, "
    "so that nothing waits for the host and a build can be replayed"
)
_POOL = (
    "the thesis keeps warps running that take tasks from a pool; here rounds of kernels do, as no block may wait for "
    "another, which on a CPU may not have begun"
)
_LISTS = (
    "the thesis sorts one list of all levels and takes nodes of one child out afterwards; here eight levels are sorted "
    "at a time, and no such nodes are made, for the same tree: how long his list is only the device knows"
)
_SCANS = (
    "the thesis moves the kinds of events, a byte each, with them from level to level; here a kind is a bit of the "
    "event's number, from which the bytes that are scanned, four a load, are written in each level"
)
_STREAMS = (
    "the thesis copies counts of events and nodes to the host by a second stream; here nothing is read back, and as "
    "many levels are launched as there may be"
)
_CUDPP = (
    "Zhou's segmented scans and reductions are CUDPP's; here they are differences of whole prefix sums, which run on "
    "both targets"
)
_TEXTURES = (
    "Zhou and Chang read bit sets from texture memory; here they are plain arrays, which GPUs since Maxwell read "
    "through the same cache"
)
_BLOCK_SCANS = (
    "[E] has scans within the blocks of small nodes, too; here children and leaves get their places by prefix sums "
    "over all small nodes of a round"
)


@dataclasses.dataclass(frozen=True)
class Published:
    """One form: what it is, where it is described, the settings it says, and what of it is not built."""

    title: str
    source: str
    options: Mapping[str, OptionValue]
    not_built: tuple[str, ...] = ()

    @functools.cached_property
    def settings(self) -> Settings:
        """The built-in settings with those that the form says."""
        settings = Settings()
        for key, value in self.options.items():
            settings = set_option(settings, key, value)
        return settings

    @property
    def equal_keys(self) -> tuple[str, ...]:
        """The keys whose published value is the built-in one: said all the same, so that they stay."""
        return tuple(key for key, value in self.options.items() if value == option_field(key).default)

    @property
    def sentence(self) -> str:
        """What is said of it: title, source, and what is not built."""
        missing = f" Not built: {'; '.join(self.not_built)}." if self.not_built else ""
        return f"As published: {self.title} ({self.source}).{missing}"


def _meister(builder: str, title: str, section: str, *not_built: str, **options: OptionValue) -> Published:
    """Unit triangles, Phong's shading without shadows, four rays in uniform directions: Meister's."""
    common: dict[str, OptionValue] = {
        "render.hierarchy": builder,
        "render.triangle_test": "unit_triangle",
        "render.ray_type": "smooth",
        "ray_type.smooth.shadows": False,
        "ray_type.smooth.model": "phong",
        "ray_type.ao.rays": 4,
        "ray_type.ao.directions": "uniform",
        "ray_type.ao.radius": 1.0,
        "ray_type.ao.radius_unit": "scene",
        "ray_type.ao.falloff": "none",
        "ray_type.diffuse.rays": 4,
        "ray_type.diffuse.directions": "uniform",
    }
    own = {f"hierarchy.{builder}.{name}": value for name, value in {"max_leaf_size": 8, **options}.items()}
    return Published(title, f"Meister 2014, {section}", MappingProxyType({**common, **own}), not_built)


def _kd_tree(
    title: str, source: str, not_built: tuple[str, ...], builder: str, traversal: str, **options: OptionValue
) -> Published:
    """Rays that are reflected and refracted, with one lamp's shadows: both papers trace them."""
    own = {f"hierarchy.{builder}.{name}": value for name, value in options.items()}
    rays: dict[str, OptionValue] = {
        "render.hierarchy": builder,
        "render.traversal": traversal,
        "render.ray_type": "whitted",
    }
    return Published(title, source, MappingProxyType({**rays, **own}), not_built)


_PRESETS = {
    "meister2014/lbvh_lauterbach": _meister(
        "lbvh_lauterbach", "Lauterbach's spatial medians", "section 5.2.1", _LISTS, lists="whole"
    ),
    "meister2014/sah_lauterbach": _meister(
        "sah_lauterbach", "Lauterbach's SAH", "section 5.2.2", _QUEUE_SIZE, planes="uniform", planes_per_axis=32
    ),
    "meister2014/hlbvh_treelets": _meister(
        "hlbvh_treelets", "HLBVH by treelets", "section 5.3", coarse_bits=15, treelet_levels=3
    ),
    "meister2014/hlbvh_median": _meister(
        "hlbvh_median", "HLBVH by work queues", "section 5.4.1", _QUEUE_SIZE, launches="levels"
    ),
    "meister2014/hlbvh_sah": _meister(
        "hlbvh_sah",
        "HLBVH by work queues, SAH above",
        "section 5.4.2",
        _QUEUE_SIZE,
        cluster_bits="15",
        bins=32,
        top_splits="bins",
        launches="levels",
    ),
    "meister2014/lbvh": _meister("lbvh", "Karras' linear BVH", "section 5.5", construction="search"),
    "meister2014/task_pool": _meister("task_pool", "SAH by a task pool", "section 5.6", _POOL, split="sah"),
    "kolodzey2014/sah_events": _kd_tree(
        "Kolodzey's SAH kd-tree",
        "Kolodzey 2014, chapters 4 and 6",
        (_SCANS, _STREAMS),
        "sah_events",
        "short_stack",
        max_leaf_size=63,
        stop="size",
        clipping="split_axis",
        boxes="soa",
        moving="masks",
        candidates="shuffle",
        flags="bytes",
        cascading=True,
        triangles="vertices",
        reduction="whole_and_segments",
    ),
    "chang2012/median_sah": _kd_tree(
        "Chang's kd-tree, steps [A] to [E]",
        "Chang, Seo and Ihm, implementation II",
        (_BLOCK_SCANS, _TEXTURES),
        "median_sah",
        "auto",
        implementation="atomics",
        small_nodes="rounds",
    ),
    "zhou2008/median_sah": _kd_tree(
        "Zhou's kd-tree",
        "Chang, Seo and Ihm, implementation I, after Zhou et al. 2008",
        (_CUDPP, _TEXTURES),
        "median_sah",
        "auto",
        implementation="primitives",
        small_nodes="rounds",
    ),
}
PUBLISHED: Mapping[str, Published] = MappingProxyType({PREFIX + name: form for name, form in _PRESETS.items()})
"""The forms by the names of their presets."""


def in_force(settings: Settings) -> str:
    """The published preset whose values are all those of the settings, the one that says most of several; "" for
    none."""
    found = [name for name, form in PUBLISHED.items() if _agrees(settings, form)]
    return max(found, key=lambda name: len(PUBLISHED[name].options), default="")


def _agrees(settings: Settings, form: Published) -> bool:
    chosen = {"hierarchy": settings.hierarchy_options, "ray_type": settings.ray_type_options}
    for key, value in form.options.items():
        group, *names = key.split(".")
        options = chosen[group](names[0]) if len(names) == 2 else getattr(settings, group)
        if getattr(options, names[-1]) != value:
            return False
    return True
