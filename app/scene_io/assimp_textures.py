"""The textures of one file read by Assimp: files beside the model or pictures inside it -> RGBA8, each once for each
use."""

from __future__ import annotations

import ctypes
import dataclasses
from collections.abc import Callable
from pathlib import Path

import numpy as np

from raygrove.gpu.scene import Remark, Texture

from . import assimp
from .assimp_file import AssimpFile
from .errors import display_path
from .images import ImageError, decode, find, resized

Maker = Callable[..., np.ndarray]


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


class TextureReader:
    """Fills `textures`; texture files are looked for beside the model. `missing` has those that could not be had, with
    the reason."""

    def __init__(self, file: AssimpFile, folder: Path, texture_size: int) -> None:
        self.assimp, self.scene, self.folder, self.texture_size = file.assimp, file.pointer, folder, texture_size
        self.references = file.references
        self.textures: list[Texture] = []
        self.missing: dict[str, str] = {}
        self._ids: dict[tuple[str, ...], int] = {}

    def take(self, names: tuple[str, ...], use: str, make: Maker | None = None) -> int:
        """The id of the texture that `make` makes of the pictures `names` (of one by itself) for a `use`: color, which
        is sRGB, or data; -1 where a picture cannot be had."""
        key = (use, *names)
        if key not in self._ids:
            pictures = [self._picture(name) for name in names]
            found = [picture for picture in pictures if picture is not None]
            self._ids[key] = len(self.textures) if len(found) == len(names) else -1
            if len(found) == len(names):
                pixels = make(*found) if make is not None else found[0]
                self.textures.append(Texture(self._shown_name(names[0]), pixels, use == "color"))
        return self._ids[key]

    def _picture(self, name: str) -> np.ndarray | None:
        try:
            return self._pixels(name)
        except ImageError as error:
            self.missing[name] = str(error)
            return None

    def remarks(self) -> list[Remark]:
        """The textures that could not be had, each with its reason."""
        inside = {name: reason for name, reason in self.missing.items() if self._is_embedded(name)}
        beside = {name: reason for name, reason in self.missing.items() if name not in inside}
        remarks = []
        if beside:
            advice = "Put them beside the model and open it again"
            remarks.append(
                Remark(len(beside), f"Textures missing, drawn in a plain colour: {self._listed(beside)}. {advice}.")
            )
        if inside:
            advice = "Export the model again, or give it textures as PNG or JPEG"
            remarks.append(
                Remark(
                    len(inside),
                    f"Textures inside the file that are drawn in a plain colour: {self._listed(inside)}. {advice}.",
                )
            )
        return remarks

    def _listed(self, missing: dict[str, str]) -> str:
        listed = [f"{display_path(self._shown_name(name))} ({reason})" for name, reason in list(missing.items())[:20]]
        return ", ".join(listed) + (f" and {len(missing) - 20} more" if len(missing) > 20 else "")

    def _is_embedded(self, name: str) -> bool:
        return bool(self.assimp.aiGetEmbeddedTexture(self.scene, name.encode("utf-8", "surrogateescape")))

    def _pixels(self, name: str) -> np.ndarray:
        encoded = name.encode("utf-8", "surrogateescape")
        embedded = self.assimp.aiGetEmbeddedTexture(self.scene, encoded)
        if embedded:
            return self._embedded(embedded.contents)
        return decode(find(name, self.folder, self.references), self.texture_size)

    def _shown_name(self, name: str) -> str:
        """Embedded textures are called *0, *1 ...; they may have a name of their own."""
        if not name.startswith("*"):
            return name
        embedded = self.assimp.aiGetEmbeddedTexture(self.scene, name.encode("utf-8", "surrogateescape"))
        return (embedded.contents.file_name.text if embedded else "") or f"image {name[1:]}"

    def _embedded(self, texture: assimp.Texture) -> np.ndarray:
        if texture.height == 0:
            return decode(ctypes.string_at(texture.data, texture.width), self.texture_size)
        texels = assimp.view(texture.data, np.uint8, (texture.height, texture.width, 4))
        return texels[:, :, [2, 1, 0, 3]]


def with_opacity(color: np.ndarray, opacity: np.ndarray) -> np.ndarray:
    """A colour picture whose alpha is an opacity map: the map's own alpha where it has any, else its brightness."""
    share = opacity[..., 3] if (opacity[..., 3] < 255).any() else opacity[..., :3].max(axis=2)
    result = color.copy()
    result[..., 3] = resized(share, color.shape[1], color.shape[0])
    return result


def packed(roughness: np.ndarray, metalness: np.ndarray) -> np.ndarray:
    """Two grey pictures as one: roughness in green, metalness in blue, of the larger one's size."""
    larger = max((roughness, metalness), key=lambda picture: picture.shape[0] * picture.shape[1])
    height, width = larger.shape[:2]
    result = np.full((height, width, 4), 255, np.uint8)
    result[..., 1], result[..., 2] = (
        resized(roughness[..., 0], width, height),
        resized(metalness[..., 0], width, height),
    )
    return result


def packed_roughness(roughness: np.ndarray) -> np.ndarray:
    """A grey picture of roughness alone: metalness stays what the material says."""
    result = np.full_like(roughness, 255)
    result[..., 1] = roughness[..., 0]
    return result


def packed_metalness(metalness: np.ndarray) -> np.ndarray:
    """A grey picture of metalness alone."""
    result = np.full_like(metalness, 255)
    result[..., 2] = metalness[..., 0]
    return result
