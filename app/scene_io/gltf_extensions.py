"""What a glTF's extensions say, written out in words that libassimp reads: it leaves instances out, takes whole numbers
for floating-point ones, and gives a light to one node alone, all without a word.

    KHR_mesh_quantization          places, normals and texture coordinates in whole numbers -> float32
    EXT_mesh_gpu_instancing        instances of a node's mesh -> nodes below it
    KHR_lights_punctual            a light of several nodes -> one for each
    KHR_draco_mesh_compression     decoded by the package DracoPy, where it is installed
    EXT_meshopt_compression        decoded by the package meshopt, where it is installed (gltf_meshopt.py)
"""

from __future__ import annotations

import importlib
import os
from typing import Any

import numpy as np

from raygrove.program import how_to_install

from .errors import SceneError, display_path
from .gltf_meshopt import MESHOPT, PackedError, is_needed, unpack_views
from .gltf_texts import COMPONENTS, Buffers
from .limits import ImportLimits

FLOAT = 5126
LARGEST = {5120: 127.0, 5121: 255.0, 5122: 32767.0, 5123: 65535.0}
"""What stands for 1 in accessors of whole numbers that are normalised."""
TYPES = {1: "SCALAR", 2: "VEC2", 3: "VEC3", 4: "VEC4"}
DRACO = "KHR_draco_mesh_compression"
INSTANCING, LIGHTS = "EXT_mesh_gpu_instancing", "KHR_lights_punctual"
MAX_NODES = 1_000_000
TRANSFORM = {"TRANSLATION": "translation", "ROTATION": "rotation", "SCALE": "scale"}
REST = {"translation": [0.0, 0.0, 0.0], "rotation": [0.0, 0.0, 0.0, 1.0], "scale": [1.0, 1.0, 1.0]}


def written_out(name: str, document: Any, buffers: Buffers, limits: ImportLimits) -> bool:
    """Change the document so that it says the same without these extensions; whether there was anything to change.
    `SceneError` where an extension cannot be read, or stands for more than the limits."""
    return _Plain(name, document, buffers, limits).run()


class _Plain:
    """One document, and what is put behind its buffers."""

    def __init__(self, name: str, document: Any, buffers: Buffers, limits: ImportLimits) -> None:
        self.name, self.document, self.buffers, self.limits = name, document, buffers, limits
        self.added: list[bytes] = []
        self.size = 0

    def run(self) -> bool:
        used = {*self.document.get("extensionsUsed", ()), *self.document.get("extensionsRequired", ())}
        changes = MESHOPT in used and is_needed(self.document) and self._views()
        changes += sum([DRACO in used and self._draco(), self._floats(), self._instances()])
        changes += LIGHTS in used and self._lights()
        done = {DRACO, MESHOPT, INSTANCING, "KHR_mesh_quantization"}
        if changes and "extensionsRequired" in self.document:
            left = [one for one in self.document["extensionsRequired"] if one not in done]
            self.document["extensionsRequired"] = left
        if self.added:
            self.buffers.add(b"".join(self.added))
        return bool(changes)

    def _refused(self, why: str) -> SceneError:
        return SceneError(f"{display_path(os.path.abspath(self.name))} is not read: {why}.", self.name)

    def _views(self) -> int:
        """Views that meshopt packed, as plain ones."""
        try:
            return unpack_views(
                self.document, self.buffers, self.limits.memory_mib << 18
            )  # as text, and as libassimp's
        except PackedError as error:
            raise self._refused(str(error)) from error

    def _add(self, values: np.ndarray) -> int:
        """An array (N, width) as a new accessor."""
        values = np.ascontiguousarray(values)
        raw = values.tobytes() + bytes(-values.nbytes % 4)
        self.size += len(raw)
        if self.size * 4 > self.limits.memory_mib << 20:  # as text, and as libassimp's
            why = f"unpacked, its numbers take more than the {self.limits.memory_mib:,} MiB that an import may use"
            raise self._refused(f"{why}. Raise import.memory_mib")
        view = {"buffer": len(self.document.get("buffers", ())), "byteOffset": self.size - len(raw)}
        view["byteLength"] = values.nbytes
        self.added.append(raw)
        self.document.setdefault("bufferViews", []).append(view)
        made = {"bufferView": len(self.document["bufferViews"]) - 1, "count": len(values)}
        made["componentType"] = next(code for code, kind in COMPONENTS.items() if np.dtype(kind) == values.dtype)
        limits = {"min": values.min(axis=0).tolist(), "max": values.max(axis=0).tolist()}
        self.document["accessors"].append({**made, "type": TYPES[values.shape[1]], **limits})
        return len(self.document["accessors"]) - 1

    def _primitives(self) -> list[Any]:
        return [primitive for mesh in self.document.get("meshes", ()) for primitive in mesh.get("primitives", ())]

    def _numbers(self, index: int) -> np.ndarray:
        """An accessor's values as float32."""
        return _normalised(self.buffers.accessor(index).astype(np.float32), self.document["accessors"][index])

    def _is_whole(self, index: int) -> bool:
        """Whether an accessor has vectors of whole numbers."""
        accessor = self.document["accessors"][index]
        is_whole = accessor.get("componentType", FLOAT) != FLOAT and accessor.get("type") != "SCALAR"
        return is_whole and "bufferView" in accessor and "sparse" not in accessor

    def _floats(self) -> int:
        """Whole numbers where libassimp takes floating-point ones."""
        made: dict[int, int] = {}
        if not any(map(self._is_whole, range(len(self.document.get("accessors", ()))))):
            return 0
        for primitive in self._primitives():
            for attributes in (primitive.get("attributes", {}), *primitive.get("targets", ())):
                for key, index in attributes.items():
                    if not key.startswith(("POSITION", "NORMAL", "TANGENT", "TEXCOORD")):
                        continue
                    if not self._is_whole(index):
                        continue
                    if index not in made:
                        made[index] = self._add(self._numbers(index))
                    attributes[key] = made[index]
        return len(made)

    def _instances(self) -> int:
        """Nodes below a node in place of its instances, whether or not the file says that it has any."""
        nodes = self.document.get("nodes", [])
        count = 0
        for node in [one for one in nodes if INSTANCING in one.get("extensions", ())]:
            given = node["extensions"].pop(INSTANCING)
            if "mesh" not in node:
                continue
            named = {key: index for key, index in given["attributes"].items() if key in TRANSFORM}
            places = {TRANSFORM[key]: self._numbers(index) for key, index in named.items()}
            lengths = {len(values) for values in places.values()}
            if len(lengths) > 1:
                raise self._refused(
                    f"the instances of node {nodes.index(node)} have attributes of different lengths. Export it again"
                )
            if not lengths:  # a name for each instance, say: all stand where the node does
                continue
            number = lengths.pop()
            if len(nodes) + number > MAX_NODES:
                raise self._refused(f"its instances make more than {MAX_NODES:,} nodes. Export it with fewer copies")
            mesh = node.pop("mesh")
            rows = {path: places[path].tolist() if path in places else [rest] * number for path, rest in REST.items()}
            first = len(nodes)
            for at in range(number):
                nodes.append({"mesh": mesh, **{path: values[at] for path, values in rows.items()}})
            node["children"] = node.get("children", []) + list(range(first, first + number))
            count += 1
        return count

    def _lights(self) -> int:
        """A light of its own for each node after the first that has the same one."""
        lights = self.document.get("extensions", {}).get(LIGHTS, {}).get("lights", [])
        seen: set[int] = set()
        count = 0
        for node in self.document["nodes"]:
            given = node.get("extensions", {}).get(LIGHTS)
            if given is None:
                continue
            if given["light"] in seen:
                lights.append(dict(lights[given["light"]]))
                given["light"] = len(lights) - 1
                count += 1
            seen.add(given["light"])
        return count

    def _draco(self) -> int:
        """Meshes that Draco packed, as plain accessors."""
        packed = [one for one in self._primitives() if DRACO in one.get("extensions", {})]
        if not packed:
            return 0
        try:
            library = importlib.import_module("DracoPy")
        except ImportError as error:
            why = "its meshes are compressed by Draco, which the package DracoPy reads, and that is not installed"
            why = f"{why}. {how_to_install('draco')}"
            raise self._refused(why.rstrip(".")) from error
        for primitive in packed:
            given = primitive["extensions"].pop(DRACO)
            view = self.document["bufferViews"][given["bufferView"]]
            start = view.get("byteOffset", 0)
            try:
                mesh = library.decode(self.buffers.bytes_of(view["buffer"])[start : start + view["byteLength"]])
            except (MemoryError, LookupError):
                raise
            except Exception as error:  # of the library's own, and whatever damage does to it
                raise self._refused(f"what Draco packed in it is damaged ({error})") from error
            columns = {one["unique_id"]: one["data"] for one in mesh.attributes}
            for key, number in given["attributes"].items():
                primitive["attributes"][key] = self._unpacked(key, columns[number], primitive["attributes"].get(key))
            if len(getattr(mesh, "faces", ())):
                primitive["indices"] = self._add(np.asarray(mesh.faces, np.uint32).reshape(-1, 1))
                primitive["mode"] = 4
        return len(packed)

    def _unpacked(self, key: str, values: np.ndarray, index: int | None) -> int:
        """Values of an attribute, floating-point ones but for joints."""
        accessor = self.document["accessors"][index] if index is not None else {"componentType": FLOAT}
        rows = np.asarray(values).reshape(len(values), -1)
        if key.startswith("JOINTS"):
            return self._add(rows.astype(np.uint16))
        return self._add(_normalised(rows.astype(np.float32), accessor))


def _normalised(values: np.ndarray, accessor: Any) -> np.ndarray:
    """Whole numbers that are normalised as -1 or 0 to 1 (glTF 2.0, 3.11)."""
    if not accessor.get("normalized") or accessor["componentType"] not in LARGEST:
        return values
    return np.maximum(values / np.float32(LARGEST[accessor["componentType"]]), np.float32(-1.0))
