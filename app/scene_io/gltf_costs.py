"""What reading a glTF will cost, told from its JSON before libassimp sees it: files of some kilobytes can ask for
gigabytes, hours, or more stack than there is.

libassimp copies a node for each way that leads to it, an accessor for each primitive that names it, a sampler for each
channel, and calls itself once a level. Sums over the JSON tell all of that in time that grows as its length does. What
the JSON gets wrong otherwise is left to the readers, which have their own words for it.
"""

from __future__ import annotations

import contextlib
import json
import os
import struct
import urllib.parse
from collections.abc import Callable, Sequence
from typing import Any

from .cuts import cut_short, shortfall
from .errors import SceneError, display_path
from .gltf_extensions import DRACO, INSTANCING, LIGHTS, MESHOPT, written_out
from .gltf_kinds import drop_aimless, drop_lost_skins, no_number, without_keys, without_pictures, wrong_kind
from .gltf_names import told_apart
from .gltf_texts import GLB, MAX_JSON, Buffers, GlbError, parts_of, put_together
from .gltf_values import wrong_value
from .limits import ImportLimits
from .references import References

WRONG = (LookupError, TypeError, ValueError, AttributeError, OverflowError, struct.error)
"""What damage does to who reads a document."""
ADDED = tuple(word.encode() for word in (DRACO, INSTANCING, LIGHTS, MESHOPT, "KHR_mesh_quantization"))
MAX_NODES = 1_000_000
MAX_DEPTH = 20_000
"""libassimp calls itself for each level and its stack ends somewhat beyond."""
NODE_BYTES, BONE_BYTES, VERTEX_BYTES, FACE_BYTES, KEY_BYTES = 1400, 1200, 16, 64, 32
FREE_BYTES, PACKED_TIMES = 1 << 30, 4
"""What every file may be made into, and how many times more one may that Draco or meshopt packed."""
SEARCHES = 10_000_000
"""Comparisons of names that take libassimp about a tenth of a second."""
STILL = (
    "Channels of animations whose sampler is missing, or lacks times or values, were left out: what they move rests."
)
AIMLESS = (
    "Channels of animations that say no node, or nothing of it that is known, were left out: what they are meant to "
    "move rests."
)
SKINLESS = "Skins of nodes that the file does not have were left out: what they are meant to bend stays as it is."
BARE = "Textures of materials that name no picture were left out: their colours alone are drawn."
UNREAD = (
    "Textures of materials have pictures of a kind that is not read ({}): their colours alone are drawn. Export them "
    "as PNG, JPEG or WebP."
)
REST = {"translation": [0, 0, 0], "rotation": [0, 0, 0, 1], "scale": [1, 1, 1]}
"""Whole numbers, as these are written faster."""


def affordable(name: str, raw: bytes, limits: ImportLimits, references: References | None = None) -> bytes | None:
    """`SceneError` where reading the glTF `raw` would cost more than the limits. Else the file in words that libassimp
    reads in time that grows as its length does, without extensions that it does not know (gltf_extensions.py), and with
    a name of its own for each node that is meant (gltf_names.py); None where it does so as it is."""
    try:
        text, body = parts_of(raw)
    except GlbError as error:
        missing = shortfall(raw, "glb")
        why = f"{_shown(name)} is damaged: {error}. Fetch it again, or export it anew."
        raise (cut_short(name, missing) if missing else SceneError(why, name)) from None
    if text is None:
        raise _of_another_version(name, str(int.from_bytes(raw[4:8], "little")))
    if len(text) > MAX_JSON:
        return None
    try:
        document = json.loads(text)
    except RecursionError as error:
        why = "its JSON is nested too deep to be a glTF's"
        raise SceneError(f"{_shown(name)} is not read: {why}. Export it anew.", name) from error
    except ValueError:
        return None
    with contextlib.suppress(*WRONG):  # told by those who read it; what its extensions say holds all the same
        _check(name, document, len(raw), limits)
    if other := _other_version(document):
        raise _of_another_version(name, other)
    wrong, changed = wrong_value(document)
    if wrong := wrong or _told(no_number, document) or _told(wrong_kind, document):
        raise SceneError(f"{_shown(name)} is damaged: {wrong}. Fetch it again, or export it once more.", name)
    said = references or References()
    changed |= _tell_left_out(document, said)
    try:
        changed |= written_out(name, document, Buffers(document, body, said), limits)
        changed |= told_apart(document)
        return put_together(document, body, raw[:4] == GLB) if _with_rest(document) or changed else None
    except OSError:
        return None
    except WRONG as error:
        if not any(word in text for word in ADDED):
            return None
        # Without what they say libassimp would take whole numbers for fractions, and one copy for all, and say nothing.
        why = "what it says by its extensions does not fit"
        raise SceneError(f"{_shown(name)} is damaged: {why}. Export it again, or without them.", name) from error


def _other_version(document: Any) -> str:
    """The version that a glTF says it is of, where that is none of 2; whose values other rules hold for."""
    asset = document.get("asset") if isinstance(document, dict) else None
    version = asset.get("version") if isinstance(asset, dict) else None
    return version[:20] if isinstance(version, str) and not version.startswith("2") else ""


def _of_another_version(name: str, version: str) -> SceneError:
    why = f"it is glTF of version {version}, and 2.0 is read"
    return SceneError(f"{_shown(name)} is not read: {why}. Export it as glTF 2.0 (.glb).", name)


def _tell_left_out(document: Any, references: References) -> bool:
    """Keep for remarks what stands for nothing in the document; whether it was changed for that."""
    aimless = 0
    with contextlib.suppress(*WRONG):
        aimless = drop_aimless(document)
        for count, sentence in ((aimless, AIMLESS), (without_keys(document), STILL)):
            if count:
                references.leave_out(count, sentence)
    lost = 0
    with contextlib.suppress(*WRONG):
        if lost := drop_lost_skins(document):
            references.leave_out(lost, SKINLESS)
    with contextlib.suppress(*WRONG):
        bare, unread, names = without_pictures(document)
        if bare:
            references.leave_out(bare, BARE)
        if unread:
            references.leave_out(unread, UNREAD.format(", ".join(names)))
    return bool(aimless or lost)


def _told(find: Callable[[Any], str], document: Any) -> str:
    """What a search finds wrong, where nothing else is."""
    try:
        return find(document)
    except WRONG:
        return ""


def _check(name: str, document: Any, size: int, limits: ImportLimits) -> None:
    nodes = document.get("nodes", [])
    count, depth = _expanded([node.get("children", ()) for node in nodes], _roots(document))
    if count > MAX_NODES:
        why = f"its {len(nodes):,} nodes stand for {_many(count)}, as they share their children"
        raise SceneError(
            f"{_shown(name)} is not read: {why}, and the limit is {MAX_NODES:,}. Export it with fewer, joined objects.",
            name,
        )
    if depth > MAX_DEPTH:
        why = f"its nodes hang {depth:,} levels deep, and the limit is {MAX_DEPTH:,}"
        raise SceneError(f"{_shown(name)} is not read: {why}. Export it with a flatter hierarchy.", name)
    made = _bytes(document)
    needed = (made + count * NODE_BYTES) >> 20
    if needed > limits.memory_mib:
        why = f"it names the same data so often that reading it needs about {_many(needed)} MiB"
        raise SceneError(
            f"{_shown(name)} is not read: {why}, and an import may use {limits.memory_mib:,} MiB. Raise "
            "import.memory_mib if the machine has them, or export it with fewer copies.",
            name,
        )
    most = max(FREE_BYTES, _times(document, limits) * (size + _beside(document)))
    if made > most:
        why = f"it shares its data, or leaves them out, so often that {_many(made >> 20)} MiB are made of them"
        raise SceneError(
            f"{_shown(name)} is not read: {why}, and a file of its size is let make {most >> 20:,}. Raise "
            "import.unpacked_times if that is right, or export it with fewer copies.",
            name,
        )


def _times(document: Any, limits: ImportLimits) -> int:
    packed = {DRACO, MESHOPT}.intersection(document.get("extensionsUsed", ()))
    return limits.unpacked_times * (PACKED_TIMES if packed else 1)


def _beside(document: Any) -> int:
    """Bytes of the files that it has beside itself."""
    names = {buffer.get("uri", "data:") for buffer in document.get("buffers", ())}
    paths = [os.path.normpath(urllib.parse.unquote(name)) for name in names if not name.startswith("data:")]
    return sum(os.path.getsize(path) for path in paths if os.path.isfile(path))


def _shown(name: str) -> str:
    return display_path(os.path.abspath(name))


def _many(count: int) -> str:
    return f"{count:,}" if count < 10**12 else "more than a million million"


def _roots(document: Any) -> Sequence[int]:
    scenes = document.get("scenes", [])
    return scenes[document.get("scene", 0)].get("nodes", ()) if scenes else range(len(document.get("nodes", [])))


def _expanded(children: list[Sequence[int]], roots: Sequence[int]) -> tuple[int, int]:
    """How many nodes there are once each way to a node has its own, and the levels of the deepest. A node above itself
    counts once: libassimp refuses it."""
    counts, depths = [0] * len(children), [0] * len(children)
    for root in roots:
        stack = [(root, False)]
        while stack:
            node, is_done = stack.pop()
            if is_done:
                counts[node] = 1 + sum(counts[child] for child in children[node])
                depths[node] = 1 + max((depths[child] for child in children[node]), default=0)
            elif not counts[node]:
                counts[node] = depths[node] = 1
                if not children[node]:
                    continue
                stack.append((node, True))
                stack += [(child, False) for child in children[node] if not counts[child]]
    return sum(counts[root] for root in roots), max((depths[root] for root in roots), default=0)


def _bytes(document: Any) -> int:
    """What libassimp allocates for vertices, faces, joints and key frames, roughly and rather too little."""
    counts = [accessor["count"] for accessor in document.get("accessors", [])]
    of_mesh, vertices, faces = [], [], []
    for mesh in document.get("meshes", []):
        primitives = mesh.get("primitives", [])
        of_mesh.append(len(primitives))
        for primitive in primitives:
            vertices += primitive.get("attributes", {}).values()
            if "indices" in primitive:
                faces.append(primitive["indices"])
            for target in primitive.get("targets", ()):
                vertices += target.values()
    total = VERTEX_BYTES * sum(map(counts.__getitem__, vertices))
    total += FACE_BYTES * sum(counts[index] // 3 for index in faces)
    joints = [len(skin["joints"]) for skin in document.get("skins", [])]
    for node in document.get("nodes", []):
        if "skin" in node and "mesh" in node:
            total += BONE_BYTES * joints[node["skin"]] * of_mesh[node["mesh"]]
    for animation in document.get("animations", []):
        keys = [counts[sampler["input"]] for sampler in animation["samplers"]]
        total += KEY_BYTES * sum(keys[channel["sampler"]] for channel in animation["channels"])
    return total


def _with_rest(document: Any) -> bool:
    """Write out the rest pose of nodes that channels move, where that spares libassimp from looking for each of them
    among all nodes by name (it does so once for each kind of key that is missing). Returns whether it was done."""
    nodes = document.get("nodes", [])
    channels = [channel for animation in document.get("animations", []) for channel in animation["channels"]]
    if len(channels) * len(nodes) < SEARCHES:
        return False
    for channel in channels:
        node = nodes[channel["target"]["node"]]
        if "matrix" not in node:
            for path, value in REST.items():
                node.setdefault(path, value)
    return True
