"""The textures of one file read by Assimp: files beside the model or pictures inside it -> RGBA8, each once for each
use."""

from __future__ import annotations

import ctypes
import dataclasses
from pathlib import Path

import numpy as np

from . import assimp
from .assimp_file import AssimpFile
from .images import decode, find
from .texture_table import TextureTable


@dataclasses.dataclass(frozen=True, eq=False)
class Placement:
    """How a texture lies on a mesh: the set of texture coordinates, and a (2, 3) matrix for them (v downwards) or
    None."""

    uv_set: int = 0
    matrix: np.ndarray | None = None

    def differs(self, other: Placement) -> bool:
        """Whether another texture lies otherwise."""
        if self.matrix is None or other.matrix is None:
            return self.uv_set != other.uv_set or self.matrix is not other.matrix
        return self.uv_set != other.uv_set or not np.allclose(self.matrix, other.matrix)


class TextureReader(TextureTable):
    """Texture files are looked for beside the model."""

    def __init__(self, file: AssimpFile, folder: Path, texture_size: int) -> None:
        super().__init__()
        self.assimp, self.scene, self.folder, self.texture_size = file.assimp, file.pointer, folder, texture_size
        self.references = file.references

    def is_embedded(self, name: str) -> bool:
        return bool(self.assimp.aiGetEmbeddedTexture(self.scene, name.encode("utf-8", "surrogateescape")))

    def pixels(self, name: str) -> np.ndarray:
        encoded = name.encode("utf-8", "surrogateescape")
        embedded = self.assimp.aiGetEmbeddedTexture(self.scene, encoded)
        if embedded:
            return self._embedded(embedded.contents)
        return decode(find(name, self.folder, self.references), self.texture_size, self.room)

    def shown_name(self, name: str) -> str:
        """Embedded textures are called *0, *1 ...; they may have a name of their own."""
        if not name.startswith("*"):
            return name
        embedded = self.assimp.aiGetEmbeddedTexture(self.scene, name.encode("utf-8", "surrogateescape"))
        return (embedded.contents.file_name.text if embedded else "") or f"image {name[1:]}"

    def _embedded(self, texture: assimp.Texture) -> np.ndarray:
        if texture.height == 0:
            return decode(ctypes.string_at(texture.data, texture.width), self.texture_size, self.room)
        texels = assimp.view(texture.data, np.uint8, (texture.height, texture.width, 4))
        return texels[:, :, [2, 1, 0, 3]]
