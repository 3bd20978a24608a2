"""Materials of UsdPreviewSurface -> metallic-roughness materials, and where their textures lie.

https://openusd.org/release/spec_usdpreviewsurface.html. All textures of a material share one set of coordinates here:
that of the first one.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from typing import Any

import numpy as np
from pxr import Sdf, Usd, UsdGeom, UsdShade

from raygrove.app.scene_io.texture_table import packed, packed_metalness, packed_roughness, with_opacity
from raygrove.gpu.scene import Material

from .pictures import Pictures
from .times import Times

UNSAID = Material("", (0.6, 0.6, 0.6, 1.0))
"""Where a file says nothing of colours."""
CHANNELS = {"r": 0, "g": 1, "b": 2, "a": 3}


@dataclasses.dataclass(frozen=True)
class Image:
    """A texture that an input is read from: its file, which of its channels, by which primvar and how it lies (a (2, 3)
    matrix or None, v upwards), and what its values are multiplied by."""

    name: str
    channel: str
    primvar: str
    matrix: np.ndarray | None
    scale: tuple[float, float, float, float]


class Materials:
    """Fills `found`; the first one is for what has no material."""

    def __init__(self, pictures: Pictures, times: Times) -> None:
        self.pictures, self.times = pictures, times
        self.found: list[Material] = [UNSAID]
        self.counts: Counter[str] = Counter()
        self._ids: dict[object, int] = {}
        self._placements: dict[int, tuple[str, np.ndarray | None]] = {}

    def of(self, prim: Usd.Prim) -> int:
        """The id of the material that a prim is bound to; of its display colour where there is none."""
        material = UsdShade.MaterialBindingAPI(prim).ComputeBoundMaterial()[0]
        if not material:
            return self._of_display(prim)
        path = str(material.GetPath())
        if path not in self._ids:
            surface = material.ComputeSurfaceSource()[0]
            if not surface or surface.GetShaderId() != "UsdPreviewSurface":
                self.counts["foreign"] += 1
                self._ids[path] = -1
            else:
                self._ids[path] = len(self.found)
                self.found.append(self._material(material.GetPrim().GetName(), surface))
        return self._ids[path] if self._ids[path] >= 0 else self._of_display(prim)

    def placement(self, ids: np.ndarray) -> tuple[str, np.ndarray | None]:
        """The primvar that the textures of these materials use, and how they lie; "st" where there are none."""
        found = [self._placements[i] for i in np.unique(ids).tolist() if i in self._placements]
        self.counts["apart"] += any(not _are_alike(found[0], other) for other in found[1:])
        return found[0] if found else ("st", None)

    def _of_display(self, prim: Usd.Prim) -> int:
        """A material of the one colour that a prim has without any."""
        gprim = UsdGeom.Gprim(prim if prim.IsA(UsdGeom.Gprim) else prim.GetParent())
        color = UsdGeom.PrimvarsAPI(gprim).FindPrimvarWithInheritance("displayColor") if gprim else None
        values = color.ComputeFlattened(self.times.rest) if color and color.HasAuthoredValue() else None
        if not values:
            return 0
        if len(values) > 1:
            self.counts["colors"] += gprim.GetPrim().IsA(UsdGeom.Mesh)
            return 0
        red, green, blue = (min(max(float(value), 0.0), 1e6) for value in values[0])
        opacity = gprim.GetDisplayOpacityPrimvar().ComputeFlattened(self.times.rest)
        alpha = min(max(float(opacity[0]), 0.0), 1.0) if opacity else 1.0
        key = (red, green, blue, alpha)
        if key not in self._ids:
            self._ids[key] = len(self.found)
            self.found.append(Material("", key, alpha_mode="blend" if alpha < 1.0 else "opaque"))
        return self._ids[key]

    def _material(self, name: str, surface: UsdShade.Shader) -> Material:
        inputs = {one: self._input(surface, one) for one in ("diffuseColor", "emissiveColor", "metallic", "roughness",
                  "opacity", "opacityThreshold", "ior", "normal", "useSpecularWorkflow")}  # fmt: skip
        images = {key: value for key, value in inputs.items() if isinstance(value, Image)}
        self.counts["specular"] += bool(_number(inputs["useSpecularWorkflow"], 0.0))
        placements = [(image.primvar, image.matrix) for image in images.values()]
        if placements:
            self.counts["apart"] += any(not _are_alike(placements[0], other) for other in placements[1:])
            self._placements[len(self.found)] = placements[0]
        color, opacity = images.get("diffuseColor"), images.get("opacity")
        cutoff = _number(inputs["opacityThreshold"], 0.0)
        alpha = min(max(_number(inputs["opacity"], 1.0), 0.0), 1.0)
        mode = "mask" if cutoff > 0.0 else "blend" if opacity is not None or alpha < 1.0 else "opaque"
        emission = images.get("emissiveColor")
        normal = images.get("normal")
        return Material(
            name,
            (*_color(inputs["diffuseColor"], 0.18), alpha),
            metallic=min(max(_number(inputs["metallic"], 0.0), 0.0), 1.0),
            roughness=min(max(_number(inputs["roughness"], 0.5), 0.0), 1.0),
            emission=_color(inputs["emissiveColor"], 0.0),
            base_color_texture=self._base_color(color, opacity),
            ior=_number(inputs["ior"], 1.5),
            alpha_mode=mode,
            alpha_cutoff=cutoff if cutoff > 0.0 else 0.5,
            normal_texture=-1 if normal is None else self.pictures.take((normal.name,), "data"),
            metallic_roughness_texture=self._metallic_roughness(images.get("metallic"), images.get("roughness")),
            emission_texture=-1 if emission is None else self.pictures.take((emission.name,), "color"),
        )

    def _base_color(self, color: Image | None, opacity: Image | None) -> int:
        if color is None:
            return -1
        if opacity is None or opacity.name == color.name:
            return self.pictures.take((color.name,), "color")
        channel = CHANNELS.get(opacity.channel, 0)
        found = self.pictures.take((color.name, opacity.name), "color", lambda a, b: with_opacity(a, _grey(b, channel)))
        return found if found >= 0 else self.pictures.take((color.name,), "color")

    def _metallic_roughness(self, metal: Image | None, rough: Image | None) -> int:
        """Roughness in green and metalness in blue, from whichever channels of one or two pictures."""
        m = CHANNELS.get(metal.channel, 0) if metal else 0
        r = CHANNELS.get(rough.channel, 0) if rough else 0
        if metal and rough:
            if metal.name == rough.name and (r, m) == (1, 2):
                return self.pictures.take((metal.name,), "data")
            return self.pictures.take(
                (rough.name, metal.name), f"data {r}{m}", lambda a, b: packed(_grey(a, r), _grey(b, m))
            )
        if rough:
            return self.pictures.take((rough.name,), f"data roughness {r}", lambda a: packed_roughness(_grey(a, r)))
        if metal:
            return self.pictures.take((metal.name,), f"data metalness {m}", lambda a: packed_metalness(_grey(a, m)))
        return -1

    def _input(self, shader: UsdShade.Shader, name: str) -> Any:
        """The value of an input, an Image where it comes from a texture, None where nothing is said."""
        found = shader.GetInput(name)
        attributes = UsdShade.Utils.GetValueProducingAttributes(found) if found else ()
        if not attributes:
            return None
        source = UsdShade.Shader(attributes[0].GetPrim())
        if not UsdShade.Output.IsOutput(attributes[0]):
            return attributes[0].Get(self.times.rest)
        if source.GetShaderId() != "UsdUVTexture":
            self.counts["network"] += 1
            return None
        return self._image(source, attributes[0].GetBaseName())

    def _image(self, texture: UsdShade.Shader, channel: str) -> Image | None:
        file = texture.GetInput("file")
        attributes = UsdShade.Utils.GetValueProducingAttributes(file) if file else ()
        name = asset_name(attributes[0], self.times.rest) if attributes else ""
        if not name:
            return None
        if "<UDIM>" in name:
            self.counts["tiles"] += 1
            name = name.replace("<UDIM>", "1001")
        primvar, matrix = self._coordinates(texture)
        scale = self._input(texture, "scale")
        scale = scale if scale is not None and not isinstance(scale, Image) else (1.0, 1.0, 1.0, 1.0)
        return Image(name, channel, primvar, matrix, tuple(float(part) for part in scale))  # type: ignore[arg-type]

    def _coordinates(self, texture: UsdShade.Shader) -> tuple[str, np.ndarray | None]:
        """The primvar by which a texture is read, and the transform on the way."""
        shader, matrix = texture, None
        for name in ("st", "in"):
            found = shader.GetInput(name)
            attributes = UsdShade.Utils.GetValueProducingAttributes(found) if found else ()
            if not attributes or not UsdShade.Output.IsOutput(attributes[0]):
                return "st", matrix
            shader = UsdShade.Shader(attributes[0].GetPrim())
            if shader.GetShaderId() == "UsdTransform2d":
                matrix = self._transform(shader)
                continue
            return str(self._input(shader, "varname") or "st"), matrix
        return "st", matrix

    def _transform(self, shader: UsdShade.Shader) -> np.ndarray:
        """UsdTransform2d: scale, then rotation counterclockwise in degrees, then translation."""
        scale, shift = self._input(shader, "scale"), self._input(shader, "translation")
        turn = np.radians(_number(self._input(shader, "rotation"), 0.0))
        c, s = np.cos(turn), np.sin(turn)
        linear = np.array([[c, -s], [s, c]]) * np.asarray((1.0, 1.0) if scale is None else scale, np.float64)
        matrix = np.column_stack([linear, np.asarray((0.0, 0.0) if shift is None else shift, np.float64)])
        return matrix if np.isfinite(matrix).all() else np.eye(2, 3)


def asset_name(attribute: Usd.Attribute, time: Usd.TimeCode) -> str:
    """The path that an attribute names, beside the layer that says it; "" where it names none."""
    value = attribute.Get(time)
    if not isinstance(value, Sdf.AssetPath) or not value.path:
        return ""
    stack = attribute.GetPropertyStack(time)
    return str(stack[0].layer.ComputeAbsolutePath(value.path)) if stack else str(value.path)


def _are_alike(first: tuple[str, np.ndarray | None], other: tuple[str, np.ndarray | None]) -> bool:
    a, b = (np.eye(2, 3) if matrix is None else matrix for matrix in (first[1], other[1]))
    return first[0] == other[0] and bool(np.allclose(a, b))


def _grey(picture: np.ndarray, channel: int) -> np.ndarray:
    """A channel of a picture as a grey one."""
    result = np.repeat(picture[..., channel : channel + 1], 4, axis=2)
    result[..., 3] = 255
    return result


def _number(value: Any, default: float) -> float:
    """A number; of a texture what its values are multiplied by."""
    if isinstance(value, Image):
        return value.scale[CHANNELS.get(value.channel, 0)]
    return float(value) if isinstance(value, int | float) and np.isfinite(value) else default


def _color(value: Any, default: float) -> tuple[float, float, float]:
    if isinstance(value, Image):
        red, green, blue = value.scale[:3]
        return red, green, blue
    if value is None or len(value) != 3:
        return default, default, default
    red, green, blue = (float(part) for part in value)
    return red, green, blue
