"""Values of a glTF that are of no kind that can stand in their place: libassimp takes its own in their stead without a
word, 0 for a text, no translation for one of two numbers, so that a damaged word gives another scene.

Only places are looked at of which libassimp says nothing; what it refuses has sentences of its own. A whole number
written as 3.0, which JSON lets it be, is written as 3: libassimp would take it for 0.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple


class Kind(NamedTuple):
    """What may stand in a place, in words; whether a value is that; null means that nothing stands there."""

    words: str
    fits: Callable[[Any], bool]


def _is_number(value: Any) -> bool:
    return value is None or type(value) in (int, float)


def _vector(count: int) -> Kind:
    def fits(value: Any) -> bool:
        return value is None or (type(value) is list and len(value) == count and {*map(type, value)} <= {int, float})

    return Kind(f"{count} numbers", fits)


WHOLE = Kind("a whole number from 0", lambda value: value is None or (type(value) is int and value >= 0))
ONE = Kind(WHOLE.words, lambda value: type(value) is int and value >= 0)
"""The same where something has to stand."""
KNOWN = Kind("", lambda value: type(value) is not float or not value.is_integer())
"""What libassimp refuses by itself where it is none, so that only 3.0 is looked for."""
NUMBER = Kind("a number", _is_number)
EACH = Kind("a number", lambda value: type(value) in (int, float))
OBJECT = Kind("an object", lambda value: value is None or type(value) is dict)
TEXT = Kind("a text", lambda value: value is None or type(value) is str)
BOOL = Kind("true or false", lambda value: value is None or type(value) is bool)
WHOLES = (WHOLE, ONE, KNOWN)
CAMERA = Kind("perspective or orthographic", lambda value: value in ("perspective", "orthographic"))
CURVE = Kind(
    "LINEAR, STEP or CUBICSPLINE", lambda value: type(value) is not str or value in ("LINEAR", "STEP", "CUBICSPLINE")
)
V2, V3, V4, M4 = map(_vector, (2, 3, 4, 16))
QUICK: dict[str, set[type]] = {WHOLE.words: {int}, NUMBER.words: {int, float}, TEXT.words: {str}, BOOL.words: {bool}}
"""Types of which each value fits, whole numbers from 0 on."""
NONE: set[type] = set()
ANY, MOST_SHOWN = "*", 16
TRANSFORM = {"KHR_texture_transform": {"offset": V2, "scale": V2, "rotation": NUMBER, "texCoord": WHOLE}}
TEXTURE = {"index": KNOWN, "texCoord": WHOLE, "scale": NUMBER, "extensions": TRANSFORM}
SPARSE = {"bufferView": WHOLE, "byteOffset": WHOLE, "componentType": WHOLE}
SURFACES = {
    "KHR_materials_transmission": {"transmissionFactor": NUMBER},
    "KHR_materials_ior": {"ior": NUMBER},
    "KHR_materials_emissive_strength": {"emissiveStrength": NUMBER},
    "KHR_materials_volume": {"thicknessFactor": NUMBER, "attenuationDistance": NUMBER, "attenuationColor": V3},
}
SPOT = {"innerConeAngle": NUMBER, "outerConeAngle": NUMBER}
LIGHT = {"color": V3, "intensity": NUMBER, "range": NUMBER, "spot": SPOT}
PART = {"attributes": {ANY: KNOWN}, "indices": KNOWN, "material": KNOWN, "mode": WHOLE, "targets": [{ANY: KNOWN}]}
RULES: dict[str, Any] = {
    "scene": WHOLE,
    "scenes": [{"nodes": [KNOWN]}],
    "buffers": [{"byteLength": KNOWN}],
    "bufferViews": [{"buffer": KNOWN, "byteOffset": WHOLE, "byteLength": KNOWN, "byteStride": WHOLE}],
    "accessors": [
        {
            "bufferView": KNOWN, "byteOffset": WHOLE, "componentType": ONE, "count": KNOWN, "type": TEXT,
            "normalized": BOOL, "sparse": {"count": WHOLE, "indices": SPARSE, "values": SPARSE},
        }
    ],
    "nodes": [
        {
            "mesh": KNOWN, "skin": KNOWN, "camera": WHOLE, "children": [KNOWN], "translation": V3, "rotation": V4,
            "scale": V3, "matrix": M4, "weights": [EACH], "extensions": {"KHR_lights_punctual": {"light": WHOLE}},
        }
    ],
    "meshes": [{"primitives": [PART], "weights": [EACH]}],
    "skins": [{"joints": [ONE], "inverseBindMatrices": KNOWN, "skeleton": KNOWN}],
    "animations": [
        {
            "samplers": [{"input": KNOWN, "output": KNOWN, "interpolation": CURVE}],
            "channels": [{"sampler": KNOWN, "target": {"node": KNOWN, "path": TEXT}}],
        }
    ],
    "materials": [
        {
            "pbrMetallicRoughness": {
                "baseColorFactor": V4, "metallicFactor": NUMBER, "roughnessFactor": NUMBER,
                "baseColorTexture": TEXTURE, "metallicRoughnessTexture": TEXTURE,
            },
            "emissiveFactor": V3, "alphaMode": TEXT, "alphaCutoff": NUMBER, "doubleSided": BOOL,
            "normalTexture": TEXTURE, "emissiveTexture": TEXTURE, "extensions": SURFACES,
        }
    ],
    "textures": [{"source": KNOWN, "sampler": WHOLE}],
    "images": [{"bufferView": KNOWN}],
    "cameras": [
        {
            "type": CAMERA,
            "perspective": {"yfov": NUMBER, "aspectRatio": NUMBER, "znear": NUMBER, "zfar": NUMBER},
            "orthographic": {"xmag": NUMBER, "ymag": NUMBER, "znear": NUMBER, "zfar": NUMBER},
        }
    ],
    "extensions": {"KHR_lights_punctual": {"lights": [LIGHT]}},
}  # fmt: skip


def wrong_value(document: Any) -> tuple[str, bool]:
    """The first value that cannot stand in its place, with that place, "" where there is none; and whether a whole
    number that was written as a fraction has been written as one in the document."""
    if _all_fit(RULES, [document]):
        return "", False
    changed = False
    for parent, key, place, kind in list(_unfit(RULES, document, "")):
        value = parent[key]
        if type(value) is float and value.is_integer() and kind in WHOLES:
            parent[key], changed = int(value), True
        if not kind.fits(parent[key]) and value == value:  # NaN is no JSON, which is told with its line
            return f"{place} is {_shown(value)}, and {kind.words} should stand there", changed
    return "", changed


def _shown(value: Any) -> str:
    if isinstance(value, list | dict) and len(value) > MOST_SHOWN:
        return f"a list of {len(value):,}" if isinstance(value, list) else f"an object of {len(value):,} keys"
    try:
        return json.dumps(value)[:40]
    except RecursionError:
        return "something nested"


def _all_fit(rule: Any, values: list[Any]) -> bool:
    """Whether all values fit a rule: place by place for all together, as there may be very many."""
    if isinstance(rule, dict):
        parts = [value for value in values if value is not None]
        if {*map(type, parts)} - {dict}:
            return False
        if ANY in rule:
            return _all_fit(rule[ANY], [value for part in parts for value in part.values()])
        there = set(itertools.chain.from_iterable(parts)) & rule.keys()
        return all(_all_fit(rule[key], [part[key] for part in parts if key in part]) for key in there)
    if isinstance(rule, list):
        lists = [value for value in values if type(value) is list]
        return _all_fit(rule[0], list(itertools.chain.from_iterable(lists)))
    types = {*map(type, values)}
    if rule is KNOWN:
        return float not in types
    if types <= QUICK.get(rule.words, NONE):
        return rule not in WHOLES or min(values, default=0) >= 0
    return all(map(rule.fits, values))


def _unfit(rule: Any, value: Any, place: str) -> Iterator[tuple[Any, Any, str, Kind]]:
    """What does not fit, one by one: what it stands in, its key there, its place in words, and what should be there."""
    if isinstance(rule, dict) and type(value) is dict:
        pairs = [(key, rule.get(key, rule.get(ANY))) for key in value]
    elif isinstance(rule, list) and type(value) is list:
        pairs = [(key, rule[0]) for key in range(len(value))]
    else:
        return
    for key, below in pairs:
        at = f"{place}[{key}]" if type(value) is list else f"{place}.{key[:40]}".lstrip(".")
        kind = OBJECT if isinstance(below, dict) else below
        if isinstance(kind, Kind) and not kind.fits(value[key]):
            yield value, key, at, kind
        elif below is not None:
            yield from _unfit(below, value[key], at)
