"""The textures of one file: each picture once for each use, RGBA8, and a remark on those that could not be had."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from raygrove.gpu.scene import Remark, Texture

from .errors import display_path
from .images import ImageError, PictureRoom, resized

Maker = Callable[..., np.ndarray]


class TextureTable:
    """Fills `textures`; `missing` has those that could not be had, with the reason. A reader says where pictures are:
    `pixels`, and which of them lie inside the file."""

    def __init__(self) -> None:
        self.textures: list[Texture] = []
        self.missing: dict[str, str] = {}
        self.room = PictureRoom()
        self._ids: dict[tuple[str, ...], int] = {}

    def pixels(self, name: str) -> np.ndarray:
        """The picture of this name, (H, W, 4) uint8; `ImageError` where it cannot be had."""
        raise NotImplementedError

    def is_embedded(self, name: str) -> bool:
        """Whether the picture lies inside the file."""
        raise NotImplementedError

    def shown_name(self, name: str) -> str:
        """What a person calls the picture."""
        return name

    def take(self, names: tuple[str, ...], use: str, make: Maker | None = None) -> int:
        """The id of the texture that `make` makes of the pictures `names` (of one by itself) for a `use`: color, which
        is sRGB, or data and a word for what is made of it; -1 where a picture cannot be had."""
        key = (use, *names)
        if key not in self._ids:
            pictures = [self._picture(name) for name in names]
            found = [picture for picture in pictures if picture is not None]
            self._ids[key] = len(self.textures) if len(found) == len(names) else -1
            if len(found) == len(names):
                pixels = make(*found) if make is not None else found[0]
                self.textures.append(Texture(self.shown_name(names[0]), pixels, use == "color"))
        return self._ids[key]

    def _picture(self, name: str) -> np.ndarray | None:
        try:
            return self.pixels(name)
        except ImageError as error:
            self.missing[name] = str(error)
            return None

    def remarks(self) -> list[Remark]:
        """The textures that could not be had, each with its reason."""
        inside = {name: reason for name, reason in self.missing.items() if self.is_embedded(name)}
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
        listed = [f"{display_path(self.shown_name(name))} ({reason})" for name, reason in list(missing.items())[:20]]
        return ", ".join(listed) + (f" and {len(missing) - 20} more" if len(missing) > 20 else "")


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
