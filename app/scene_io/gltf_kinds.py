"""Whether there are numbers in a glTF where it asks for them, and of the kinds that their use asks for: libassimp takes
them for others without a word, whole numbers for coordinates, one number for three, and leaves out what it cannot
find, so that a damaged word gives another scene."""

from __future__ import annotations

import json
from collections import defaultdict
from typing import Any

FLOAT = frozenset({5126})
SIGNED, UNSIGNED, WIDE = frozenset({5120, 5122}), frozenset({5121, 5123}), frozenset({5121, 5123, 5125})
FIRST, LAST = 5120, 5126
QUANTIZED, PACKED = "KHR_mesh_quantization", "KHR_draco_mesh_compression"
READ_PICTURES = frozenset({"EXT_texture_webp", "KHR_texture_basisu"})
"""Extensions whose pictures libassimp hands on; what cannot be decoded is told by who does that."""
PATHS = ("translation", "rotation", "scale", "weights")
INDICES, TIMES, INVERSE_BINDS = "indices", "input of a track", "inverseBindMatrices"
TEXCOORD, MOVED = "TEXCOORD", "TEXCOORD of a target"
ATTRIBUTES: dict[str, tuple[set[str], frozenset[int], frozenset[int]]] = {
    "POSITION": ({"VEC3"}, FLOAT, FLOAT | SIGNED | UNSIGNED),
    "NORMAL": ({"VEC3"}, FLOAT, FLOAT | SIGNED),
    "TANGENT": ({"VEC3", "VEC4"}, FLOAT, FLOAT | SIGNED),
    TEXCOORD: ({"VEC2"}, FLOAT | UNSIGNED, FLOAT | SIGNED | UNSIGNED),
    "JOINTS": ({"VEC4"}, WIDE, WIDE),
    "WEIGHTS": ({"VEC4"}, FLOAT | UNSIGNED, FLOAT | UNSIGNED),
}
"""By the beginning of their names: types, and types of their numbers without and with KHR_mesh_quantization."""
OTHERS: dict[str, tuple[set[str], frozenset[int]]] = {
    INDICES: ({"SCALAR"}, WIDE),
    INVERSE_BINDS: ({"MAT4"}, FLOAT),
    TIMES: ({"SCALAR"}, FLOAT),
    MOVED: ({"VEC2"}, FLOAT | SIGNED | UNSIGNED),
    "translation": ({"VEC3"}, FLOAT),
    "scale": ({"VEC3"}, FLOAT),
    "rotation": ({"VEC4"}, FLOAT | SIGNED | UNSIGNED),
    "weights": ({"SCALAR"}, FLOAT | SIGNED | UNSIGNED),
}


def wrong_kind(document: Any) -> str:
    """An accessor that is of another kind than glTF lets it be where it is used, with its place; "" where there is
    none. Raises what a damaged document raises; a type of numbers that nobody knows is left to others."""
    is_whole = QUANTIZED in (*document.get("extensionsUsed", ()), *document.get("extensionsRequired", ()))
    allowed = {name: (types, whole if is_whole else plain) for name, (types, plain, whole) in ATTRIBUTES.items()}
    allowed |= OTHERS
    kinds = [(one.get("type"), one.get("componentType")) for one in document.get("accessors", ())]
    for use, numbers in _uses(document).items():
        known = allowed.get(use) or allowed.get(use.partition("_")[0])
        if known is None:
            continue
        strange = {
            kind for kind in {kinds[one] for one in numbers if 0 <= one < len(kinds)} if not _is_one(kind, *known)
        }
        if strange:
            number = min(one for one in numbers if 0 <= one < len(kinds) and kinds[one] in strange)
            place = 0 if kinds[number][0] not in known[0] else 1
            key, ought = ("type", "componentType")[place], " or ".join(map(str, sorted(known[place])))
            said = json.dumps(kinds[number][place])[:20]
            return f"accessors[{number}].{key} is {said}, and {use[:20]} takes {ought}"
    return ""


def no_number(document: Any) -> str:
    """What a mesh says in the place of an accessor's number, with its place: libassimp leaves out, without a word, what
    a text stands for; "" where there is none. Attributes of somebody's own (`_NAME`) are not read."""
    for number, mesh in enumerate(document.get("meshes", ())):
        for place, part in enumerate(mesh.get("primitives", ())):
            at = f"meshes[{number}].primitives[{place}]"
            named = [(f"{at}.attributes", part.get("attributes", {}))]
            named += [(f"{at}.targets[{one}]", target) for one, target in enumerate(part.get("targets", ()))]
            named += [(at, {INDICES: part[INDICES]})] if INDICES in part else []
            for where, accessors in named:
                for name, value in accessors.items():
                    if (type(value) is not int or value < 0) and not name.startswith("_"):
                        said = json.dumps(value)[:20]
                        return f"{where}.{name[:20]} is {said}, and the number of an accessor should stand there"
    return ""


def without_keys(document: Any) -> int:
    """How many channels that move a node have no sampler, or one without times or values."""
    count = 0
    for animation in document.get("animations", ()):
        samplers = animation.get("samplers", ())
        is_whole = [isinstance(one, dict) and "input" in one and "output" in one for one in samplers]
        for channel in animation.get("channels", ()):
            number = channel.get("sampler", len(is_whole))
            is_read = type(number) is int and number >= 0  # others are refused
            has_keys = is_read and number < len(is_whole) and is_whole[number]
            count += is_read and not has_keys and "node" in channel.get("target", ())
    return count


def without_pictures(document: Any) -> tuple[int, int, tuple[str, ...]]:
    """How many textures of materials name no picture, and how many only one of a kind that libassimp does not read,
    with the extensions that name it: it leaves both out and says nothing."""
    bare, unread = set[int](), dict[int, list[str]]()
    for place, texture in enumerate(document.get("textures", ())):
        if texture.get("source") is None:
            others = [name for name, one in (texture.get("extensions") or {}).items() if "source" in one]
            if not others:
                bare.add(place)
            elif READ_PICTURES.isdisjoint(others):
                unread[place] = others
    count, named = 0, list[int]()
    for material in document.get("materials", ()):
        surface = material.get("pbrMetallicRoughness") or {}
        given = [material.get(name) for name in ("normalTexture", "emissiveTexture")]
        given += [surface.get(name) for name in ("baseColorTexture", "metallicRoughnessTexture")]
        places = [one.get("index") for one in given if one is not None]
        count += sum(place is None or place in bare for place in places)
        named += [place for place in places if place in unread]
    return count, len(named), tuple(sorted({name for place in named for name in unread[place]}))


def drop_lost_skins(document: Any) -> int:
    """Take away skins of nodes that are not among the file's, and say how many: libassimp reads the mesh without, and
    says nothing."""
    count = len(document.get("skins", ()))
    skins = [(node, node.get("skin")) for node in document.get("nodes", ())]
    lost = [node for node, skin in skins if type(skin) is int and skin >= count]  # others are refused
    for node in lost:
        del node["skin"]
    return len(lost)


def drop_aimless(document: Any) -> int:
    """Take away the channels that say no node, or no way of moving one that is known, and animations that have no
    others, and say how many: libassimp has some of them move the first node. What moves something by an extension
    (KHR_animation_pointer) is among them."""
    count, kept = 0, []
    for animation in document.get("animations", ()):
        channels = animation.get("channels", ())
        aimed = [one for one in channels if _is_aimed(one)]
        count += len(channels) - len(aimed)
        if aimed or not channels:
            kept.append(animation | {"channels": aimed} if channels else animation)
    if count:
        document["animations"] = kept
    return count


def _is_aimed(channel: Any) -> bool:
    target = channel.get("target") or {}
    return target.get("node") is not None and target.get("path") in PATHS


def _is_one(kind: tuple[Any, Any], types: set[str], numbers: frozenset[int]) -> bool:
    name, number = kind
    is_unknown = type(number) is not int or not FIRST <= number <= LAST
    return name in types and (number in numbers or is_unknown)


def _uses(document: Any) -> dict[str, set[int]]:
    """Accessors by what they are used as."""
    uses: defaultdict[str, set[int]] = defaultdict(set)
    for mesh in document.get("meshes", ()):
        for part in mesh["primitives"]:
            if PACKED in part.get("extensions", ()):
                continue  # what is unpacked has the kinds that its package says
            if INDICES in part:
                uses[INDICES].add(part[INDICES])
            for name, number in part["attributes"].items():
                uses[name].add(number)
            for target in part.get("targets", ()):
                for name, number in target.items():
                    uses[MOVED if name.partition("_")[0] == TEXCOORD else name].add(number)
    uses[INVERSE_BINDS] = {skin[INVERSE_BINDS] for skin in document.get("skins", ()) if INVERSE_BINDS in skin}
    for animation in document.get("animations", ()):
        samplers = animation["samplers"]
        for channel in animation["channels"]:
            sampler = samplers[channel["sampler"]]
            uses[TIMES].add(sampler["input"])
            uses[channel["target"]["path"]].add(sampler["output"])
    return uses
