"""The layers that a stage is composed of, opened one by one before USD composes them: each by the one rule for
references, so that what lies outside the model's folder is cut off before anything reads it.

USD's own resolver opens whatever it is told. So every sublayer, reference and payload (those of variants, too) and
every file of value clips is looked at first, and taken out of its layer where it may not be read. Layers stay open
until the stage is, which then takes these, not those of the disk.
"""

from __future__ import annotations

import glob
import os
import re
from pathlib import Path
from typing import Any

from pxr import Ar, Sdf, Tf, Usd, Work

from raygrove.app.scene_io.costs import asked_within_reason, asks_too_much
from raygrove.app.scene_io.errors import SceneError, display_path
from raygrove.app.scene_io.file_kinds import other_kind
from raygrove.app.scene_io.files import USD_ENDINGS
from raygrove.app.scene_io.references import References
from raygrove.gpu.scene import Remark

from .population import MOST_IN_STAGE, population

MOST_LAYERS = 10_000
BEGINNINGS = (b"#usda", b"PXR-USDC", b"PK\x03\x04")
MESSAGE = re.compile(r"in file \S+ : '(.*?)'\s*(?:\n\s*Error in |$)", re.DOTALL)
LISTED = 20


def said(error: Exception) -> str:
    """What USD says of an error, without where in its sources it says so."""
    try:
        text = str(error).strip()
    except UnicodeDecodeError:
        return "a text in it is no UTF-8"
    found = MESSAGE.findall(text)
    return re.sub(r"pxrInternal\S*::", "", " ".join((found[0] if found else text).split()))[:400].rstrip(". ")


def open_stage(path: str, references: References) -> tuple[Usd.Stage, list[Remark]]:
    """The stage of a file with all that it may read, and remarks on what is missing; `SceneError` where the file
    itself cannot be read or stands for too much."""
    Work.SetConcurrencyLimit(1)  # the import is one process of one thread, as its limits count them
    layers = Layers(path, references)
    remarks = layers.open_all()
    count = population(layers.opened, layers.root.identifier)
    if count > MOST_IN_STAGE:
        why = f"its references stand for {_many(count)} prims, and the limit is {MOST_IN_STAGE:,}"
        raise SceneError(f"{display_path(path)} is not read: {why}. Export it with fewer copies.", path)
    try:
        stage = Usd.Stage.Open(layers.root, Usd.Stage.LoadAll)
    except Tf.ErrorException as error:
        raise damaged(path, said(error)) from error
    errors = stage.GetCompositionErrors()
    if errors:
        first = " ".join(str(errors[0]).split())[:300].rstrip(". ")
        sentence = f"The file contradicts itself and was read as far as it goes; USD says: {first}."
        remarks.append(Remark(len(errors), sentence))
    return stage, remarks


def damaged(path: str, why: str) -> SceneError:
    """The sentence for a file that USD cannot read, for which USD often says line and column behind its path."""
    why = why.replace(f"{path}:", "line ")
    return SceneError(f"{display_path(path)} cannot be read as USD: {why}. Export or fetch it again.", path)


def _many(count: int) -> str:
    return f"{count:,}" if count < 10**12 else "more than a million million"


class Layers:
    """All layers that a file leads to, by identifier. `cut` are the names that were taken out, with the reason."""

    def __init__(self, path: str, references: References) -> None:
        self.path, self.references = path, references
        self.opened: dict[str, Sdf.Layer] = {}
        self.missing: dict[str, str] = {}
        self._check_beginning()
        try:
            root = _open(path, path)
        except Tf.ErrorException as error:
            raise damaged(path, _why_not(error, path)) from error
        if root is None:
            raise damaged(path, "its layer cannot be opened")
        self.root = root

    def _check_beginning(self) -> None:
        with open(self.path, "rb") as file:
            head = file.read(1024)
        if not head.startswith(BEGINNINGS):
            kind = other_kind(head, "usd") or "it begins as no USD file does"
            raise SceneError(f"{display_path(self.path)} cannot be read: {kind}.", self.path)

    def open_all(self) -> list[Remark]:
        """Open what the root leads to, and cut off what may not be read; returns a remark on what is missing."""
        waiting = [self.root]
        while waiting:
            layer = waiting.pop()
            if layer.identifier in self.opened:
                continue
            if len(self.opened) >= MOST_LAYERS:
                why = f"it is made of more than {MOST_LAYERS:,} files"
                raise SceneError(f"{display_path(self.path)} is not read: {why}. Flatten it.", self.path)
            self.opened[layer.identifier] = layer
            for name in filter(None, layer.GetCompositionAssetDependencies()):
                found = self._layer(layer, name)
                if found is not None:
                    waiting.append(found)
            self._check_clips(layer)
        if not self.missing:
            return []
        names = [f"{display_path(name)} ({why})" for name, why in list(self.missing.items())[:LISTED]]
        more = f" and {len(self.missing) - LISTED} more" if len(self.missing) > LISTED else ""
        sentence = (
            f"Layers missing, without which the scene was read: {', '.join(names)}{more}. Put them in its folder."
        )
        return [Remark(len(self.missing), sentence)]

    def _layer(self, layer: Sdf.Layer, name: str) -> Sdf.Layer | None:
        """The layer that `name` stands for in `layer`; None, and the name taken out, where it may or can not be."""
        target = self._allowed(layer, name)
        if target is not None:
            outer = _outer(target)
            try:
                found = _open(target, outer)
            except Tf.ErrorException as error:
                self.missing[name], found = _why_not(error, outer), None
            if found is not None:
                return found
            self.missing.setdefault(name, "cannot be read")
        _take_out(layer, name)
        return None

    def _allowed(self, layer: Sdf.Layer, name: str) -> str | None:
        """The path of a file that may be read; None where it is not there, or may not be."""
        if name.startswith("`"):
            self.missing[name] = "an expression, which is not evaluated"
            return None
        target = layer.ComputeAbsolutePath(name)
        plain, outer = target.split(":SDF_FORMAT_ARGS:")[0], _outer(target)
        inner = Ar.SplitPackageRelativePathInner(plain)[1] or outer
        if Path(inner).suffix[1:].lower() not in USD_ENDINGS:
            self.missing[name] = "no USD file by its name"
            return None
        return target if self._may_read(name, outer) else None

    def _may_read(self, name: str, path: str) -> bool:
        try:
            return not self.references.refusal(os.path.abspath(path))
        except (OSError, ValueError):
            self.missing[name] = "not found"
            return False

    def _check_clips(self, layer: Sdf.Layer) -> None:
        """Value clips (files of time samples) stay where all their files may be read."""
        with_clips: list[Sdf.PrimSpec] = []

        def look(path: Sdf.Path) -> None:
            if path.IsPrimPath() or path.IsPrimVariantSelectionPath():
                spec = layer.GetPrimAtPath(path)
                if spec is not None and spec.HasInfo("clips"):
                    with_clips.append(spec)

        layer.Traverse(Sdf.Path.absoluteRootPath, look)
        for spec in with_clips:
            names = [name for values in dict(spec.GetInfo("clips")).values() for name in _clip_files(layer, values)]
            if any(self._allowed(layer, name) is None for name in names):
                spec.ClearInfo("clips")


def _outer(target: str) -> str:
    """The file that a layer lies in: itself, or its package."""
    return str(Ar.SplitPackageRelativePathOuter(target.split(":SDF_FORMAT_ARGS:")[0])[0])


def _open(target: str, outer: str) -> Sdf.Layer | None:
    """A layer, for which no more memory is taken than the file that it lies in may ask for: of a damaged crate USD
    believes every number. Raises what USD does."""
    with asked_within_reason(os.path.getsize(outer)):
        return Sdf.Layer.FindOrOpen(target)


def _why_not(error: Exception, outer: str) -> str:
    """Why a layer cannot be opened."""
    sentence = said(error)
    return asks_too_much(os.path.getsize(outer)) if "bad_alloc" in sentence else sentence


def _clip_files(layer: Sdf.Layer, values: Any) -> list[str]:
    """The files that a set of value clips names; of a template those that are there."""
    if not isinstance(values, dict):
        return []
    names = [asset.path for asset in values.get("assetPaths") or ()]
    manifest = values.get("manifestAssetPath")
    names += [manifest.path] if manifest else []
    template = values.get("templateAssetPath")
    if template:
        pattern = re.sub(r"#+", "*", glob.escape(layer.ComputeAbsolutePath(template)))
        names += [template.replace("#", "0")] if "#" not in template else glob.glob(pattern)
    return names


def _take_out(layer: Sdf.Layer, name: str) -> None:
    layer.SetPermissionToEdit(True)
    layer.UpdateCompositionAssetDependency(name, "")
    if name in layer.GetCompositionAssetDependencies():
        raise damaged(layer.identifier, f"what it names ({display_path(name)}) cannot be left out")
