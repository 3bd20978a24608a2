"""A small reader of glTF: the second try where libassimp dies of a file or refuses it. It knows nodes, meshes of
triangles and base colours; textures, animations, skins, morph targets, lights and cameras are left out."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from raygrove.gpu.scene import Material, Mesh, Node, Object, Scene

from .gltf_texts import Buffers, parts_of
from .plain_readers import PlainError
from .references import References
from .transforms import node_of

TRIANGLES = 4


def read_gltf(name: str, data: bytes, references: References) -> Scene:
    """The scene of the file's bytes; `PlainError` where they are not as glTF 2.0 says."""
    try:
        text, body = parts_of(data)
        document = json.loads(text or b"")
        return _Reader(document, Buffers(document, body, references)).read(name)
    except PlainError:
        raise
    except (OSError, ValueError, LookupError, TypeError, AttributeError, OverflowError, RecursionError) as error:
        raise PlainError(f"it is no plain glTF ({error})") from error


class _Reader:
    """One document."""

    def __init__(self, document: Any, buffers: Buffers) -> None:
        self.document, self.buffers = document, buffers
        self.nodes: list[Node] = []
        self.objects: list[Object] = []

    def read(self, name: str) -> Scene:
        if not str(self.document["asset"]["version"]).startswith("2.") or self.document.get("extensionsRequired"):
            raise PlainError("it is of another version, or needs an extension")
        meshes, places = self._meshes()
        sources = self.document["nodes"]
        scenes = self.document.get("scenes", [])
        roots = scenes[self.document.get("scene", 0)]["nodes"] if scenes else _roots(sources)
        stack = [(root, -1) for root in reversed(roots)]
        while stack:
            index, parent = stack.pop()
            if len(self.nodes) > len(sources):
                raise PlainError("its nodes are no tree")
            source = sources[index]
            self.nodes.append(_node(source, parent))
            self.objects += [Object(len(self.nodes) - 1, mesh) for mesh in places.get(source.get("mesh"), ())]
            stack += [(child, len(self.nodes) - 1) for child in reversed(source.get("children", []))]
        if not self.objects:
            raise PlainError("it places no mesh of triangles")
        return Scene(
            name=name,
            nodes=tuple(self.nodes),
            meshes=tuple(meshes),
            objects=tuple(self.objects),
            materials=(*map(_material, self.document.get("materials", [])), Material()),
        )

    def _meshes(self) -> tuple[list[Mesh], dict[int, list[int]]]:
        """Ours, one a primitive of triangles, and which of them each of the file's is."""
        meshes: list[Mesh] = []
        places: dict[int, list[int]] = {}
        plain = len(self.document.get("materials", []))
        for index, source in enumerate(self.document["meshes"]):
            for primitive in source["primitives"]:
                if primitive.get("mode", TRIANGLES) == TRIANGLES:
                    places.setdefault(index, []).append(len(meshes))
                    meshes.append(self._mesh(str(source.get("name", "")), primitive, plain))
        return meshes, places

    def _mesh(self, name: str, primitive: Any, plain: int) -> Mesh:
        attributes = primitive["attributes"]
        positions = self.buffers.accessor(attributes["POSITION"]).astype(np.float32)
        normals = self.buffers.accessor(attributes["NORMAL"]).astype(np.float32) if "NORMAL" in attributes else None
        flat = (
            self.buffers.accessor(primitive["indices"]).reshape(-1)
            if "indices" in primitive
            else np.arange(len(positions))
        )
        triangles = flat[: len(flat) // 3 * 3].reshape(-1, 3).astype(np.int64)
        if triangles.size and triangles.max() >= len(positions):
            raise PlainError("a triangle names a vertex that is not there")
        material_ids = np.full(len(triangles), primitive.get("material", plain), np.int32)
        return Mesh(name, positions, triangles.astype(np.int32), material_ids, normals)


def _roots(sources: list[Any]) -> list[int]:
    below = {child for source in sources for child in source.get("children", [])}
    return [index for index in range(len(sources)) if index not in below]


def _node(source: Any, parent: int) -> Node:
    name = str(source.get("name", ""))
    if "matrix" in source:
        return node_of(name, parent, np.array(source["matrix"], np.float64).reshape(4, 4).T)
    x, y, z = map(float, source.get("translation", (0, 0, 0)))
    a, b, c, d = map(float, source.get("rotation", (0, 0, 0, 1)))
    u, v, w = map(float, source.get("scale", (1, 1, 1)))
    return Node(name, parent, (x, y, z), (a, b, c, d), (u, v, w))


def _material(source: Any) -> Material:
    shading = source.get("pbrMetallicRoughness", {})
    red, green, blue, alpha = map(float, shading.get("baseColorFactor", (1, 1, 1, 1)))
    metallic, roughness = float(shading.get("metallicFactor", 1)), float(shading.get("roughnessFactor", 1))
    return Material(str(source.get("name", "")), (red, green, blue, alpha), metallic, roughness)
