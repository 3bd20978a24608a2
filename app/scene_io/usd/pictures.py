"""Textures of USD files: pictures beside the model by the one rule for references, or inside a .usdz."""

from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np
from pxr import Ar

from raygrove.app.scene_io.images import ImageError, decode, find
from raygrove.app.scene_io.references import References
from raygrove.app.scene_io.texture_table import TextureTable


class Pictures(TextureTable):
    """Names are absolute paths, or places in packages: /folder/model.usdz[textures/wood.png]."""

    def __init__(self, folder: Path, references: References, texture_size: int) -> None:
        super().__init__()
        self.folder, self.references, self.texture_size = folder, references, texture_size

    def is_embedded(self, name: str) -> bool:
        """Whether it lies in a package."""
        return bool(Ar.IsPackageRelativePath(name))

    def shown_name(self, name: str) -> str:
        """The name in its package, or the file's."""
        inner = Ar.SplitPackageRelativePathInner(name)[1] if self.is_embedded(name) else name
        return Path(inner).name

    def pixels(self, name: str) -> np.ndarray:
        """The picture; `ImageError` where it is absent or may not be read."""
        if self.is_embedded(name):
            return decode(self._packed(name), self.texture_size, self.room)
        return decode(find(name, self.folder, self.references), self.texture_size, self.room)

    def _packed(self, name: str) -> bytes:
        outer, inner = Ar.SplitPackageRelativePathOuter(name)
        try:
            refusal = self.references.refusal(outer)
            if refusal:
                raise ImageError(refusal)
            with zipfile.ZipFile(outer) as archive:
                entry = archive.getinfo(inner)
                if entry.compress_type != zipfile.ZIP_STORED:  # as the format demands; and nothing unpacks without end
                    raise ImageError("is compressed in its package, which USD does not allow")
                return archive.read(entry)
        except (OSError, KeyError, zipfile.BadZipFile) as error:
            raise ImageError("not found in its package") from error
