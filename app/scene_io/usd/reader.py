"""A stage -> Scene: its prims from the root down, each that has a place a node."""

from __future__ import annotations

import dataclasses
import os
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
from pxr import Tf, Usd, UsdGeom

from raygrove.app.scene_io.bright_lights import tamed
from raygrove.app.scene_io.errors import SceneError, display_path
from raygrove.app.scene_io.limits import ImportLimits
from raygrove.app.scene_io.references import References
from raygrove.app.scene_io.transforms import nodes_of
from raygrove.app.scene_io.winding import with_fronts
from raygrove.gpu.scene import Clip, Environment, Mesh, Object, Remark, Scene, Spheres

from .instancers import place_instances
from .layers import damaged, open_stage, said
from .lights import DOMES, LIGHTS, camera_of, dome_of, light_of, up_axis
from .materials import Materials
from .meshes import MeshReader
from .parts import Part
from .pictures import Pictures
from .points import read_points
from .shapes import SHAPES, mesh_of, sphere_of
from .skeletons import Skeletons, Skinned
from .times import Times

SKIPPED = ("Material", "Shader", "NodeGraph", "GeomSubset", "BlendShape", "SkelAnimation")
UNSEEN_PURPOSES = ("proxy", "guide")
STEP_DEGREES = 60.0
MOST_STEPS = 10_000
SENTENCES = {
    "faceless": "Meshes without a face, or whose faces do not fit their points, were left out.",
    "faces": "Faces with an index out of range were dropped.",
    "subdivision": "Subdivision surfaces are shown as their control meshes.",
    "primvars": "Normals or texture coordinates that are not as many as they should be were left out.",
    "topology": "Meshes whose faces change over time are shown as they are at first.",
    "frames": "Time samples with another number of points than their mesh has were left out.",
    "widths": "Points without a width of their own are drawn with the width 1.",
    "kinds": "Curves, volumes, patches and other things that are no triangles or spheres were left out.",
    "prototypes": "Prototypes of point instancers that are missing, or hold themselves, were left out.",
    "instances": "Point instancers whose arrays do not fit each other were left out.",
    "sheared": "Nodes with a shear: the shear was left out, the rest of their transform was kept.",
    "skeletons": "Meshes whose skeleton is missing or has no joint stand still.",
    "skins": "Skins that do not fit their mesh or skeleton were left out.",
    "trimmed": "Vertices have more than four joint weights: the four largest are used.",
    "shapes": "Blend shapes that do not fit their mesh were left out.",
    "inbetweens": "Shapes between blend shapes were left out: their weights go straight.",
    "dome": "The picture of a dome light could not be read: the light was left out.",
    "domes": "More than one dome light: the first one lights the scene.",
    "foreign": "Materials of another kind than UsdPreviewSurface are drawn in the display colour.",
    "network": "Values that come from shaders other than textures were left out.",
    "specular": "Materials with a specular colour are drawn as if they had none.",
    "tiles": "Textures of several tiles (UDIM): the first tile is drawn everywhere.",
    "apart": "Materials have textures that lie apart from one another: all are placed as the first.",
    "colors": "Meshes have vertex colours, which are not drawn.",
    "shown": "Things that appear or vanish over time are shown as they are at first.",
}


def read_stage(path: str, limits: ImportLimits) -> Scene:
    """The scene of a USD file; `SceneError` with a sentence where it cannot be had."""
    references = References(os.path.dirname(path), limits.allow_outside)
    try:
        stage, remarks = open_stage(path, references)
        return StageReader(path, limits, stage, references).read(remarks)
    except (SceneError, MemoryError):
        raise
    except Tf.ErrorException as error:
        raise damaged(path, said(error)) from error
    except Exception as error:  # whatever a damaged file does to the library, the person gets a sentence
        why = f"its reader stopped at what it could not understand ({type(error).__name__}: {error})"
        raise damaged(path, why.rstrip(".")) from error


class StageReader:
    """Fills a part with the nodes of all prims, and lists with what is placed at them."""

    def __init__(self, path: str, limits: ImportLimits, stage: Usd.Stage, references: References) -> None:
        self.path, self.limits, self.stage, self.references = path, limits, stage, references
        self.counts: Counter[str] = Counter()
        self.times = Times(stage)
        self.materials = Materials(Pictures(Path(path).parent, references, limits.texture_size), self.times)
        self.reader = MeshReader(path, limits, self.times, self.materials)
        self.skeletons = Skeletons(path, limits, self.times, self.counts)
        self.meshes: list[Mesh] = []
        self.spheres: list[Spheres] = []
        self.environment: Environment | None = None
        self._kept: dict[tuple[str, int], Object] = {}
        self._prototypes: dict[str, Part | None] = {}

    def read(self, remarks: list[Remark]) -> Scene:
        """The whole scene."""
        part = Part(self.path, Path(self.path).name, up_axis(self.stage))
        self._walk(part, list(self.stage.GetPseudoRoot().GetFilteredChildren(Usd.TraverseInstanceProxies())), 0)
        duration = self.times.finish()
        nodes, sheared = nodes_of(part.names, part.parents, np.array(part.matrices))
        self.counts["sheared"] += sheared
        self._check_size(part.objects)
        for counts in (self.reader.counts, self.materials.counts):
            self.counts.update(counts)
        rate = self.stage.GetFramesPerSecond()
        clips = (Clip("animation", duration, tuple(part.channels)),) if part.channels and duration > 0.0 else ()
        said_of = [Remark(self.counts[key], sentence) for key, sentence in SENTENCES.items() if self.counts[key]]
        scene = Scene(
            Path(self.path).name, tuple(nodes), tuple(self.meshes), tuple(part.objects), tuple(self.spheres),
            tuple(self.materials.found), tuple(self.materials.pictures.textures), tuple(part.lights),
            tuple(part.cameras), clips, fps=rate if duration > 0.0 and np.isfinite(rate) and rate > 0.0 else 0.0,
            environment=self.environment,
        )  # fmt: skip
        said_of = [*remarks, *said_of, *self.materials.pictures.remarks(), *self.references.remarks()]
        return with_fronts(tamed(dataclasses.replace(scene, remarks=tuple(said_of))))

    def _check_size(self, objects: list[Object]) -> None:
        triangles = sum(len(self.meshes[one.mesh].triangles) for one in objects if one.mesh >= 0)
        spheres = sum(len(self.spheres[one.spheres].centres) for one in objects if one.spheres >= 0)
        limits = self.limits
        for count, most, what, option in (
            (triangles, limits.max_triangles, "triangles", "max_triangles"),
            (spheres, limits.max_particles, "points", "max_particles"),
        ):
            if count > most:
                why = f"has {count:,} {what}, instances counted, and the limit is {most:,}"
                raise SceneError(
                    f"{display_path(self.path)} {why}. Raise import.{option} if the memory allows.", self.path
                )

    def _walk(self, part: Part, tops: list[Usd.Prim], node: int) -> None:
        """Read prims and all below them into a part, below a node of it."""
        waiting: list[Skinned] = []
        stack = [(prim, node) for prim in reversed(tops)]
        while stack:
            prim, parent = stack.pop()
            kind = str(prim.GetTypeName())
            if kind in SKIPPED or not self._is_seen(prim):
                continue
            here = self._node(part, prim, parent)
            if kind == "SkelRoot":
                self.skeletons.look(prim)
            self._content(part, prim, kind, here, waiting)
            if kind != "PointInstancer":
                children = prim.GetFilteredChildren(Usd.TraverseInstanceProxies(Usd.PrimIsActive & Usd.PrimIsLoaded))
                stack += [(child, here) for child in reversed(children) if child.IsDefined() and not child.IsAbstract()]
        self.skeletons.bind(part, waiting, self.meshes)

    def _is_seen(self, prim: Usd.Prim) -> bool:
        imageable = UsdGeom.Imageable(prim)
        if not imageable:
            return True
        visibility = imageable.GetVisibilityAttr()
        self.counts["shown"] += visibility.GetNumTimeSamples() > 1
        is_hidden = visibility.Get(self.times.rest) == UsdGeom.Tokens.invisible
        return not is_hidden and str(imageable.GetPurposeAttr().Get()) not in UNSEEN_PURPOSES

    def _node(self, part: Part, prim: Usd.Prim, parent: int) -> int:
        """The node of a prim that has a place; its parent's of any other."""
        placed = UsdGeom.Xformable(prim)
        if not placed:
            return parent
        parent = 0 if placed.GetResetXformStack() else parent
        node = part.add(prim.GetName(), parent, _matrix(placed, self.times.rest))
        part.nodes_of[str(prim.GetPath())] = node
        samples = placed.GetTimeSamples()
        codes = self.times.codes(samples) if len(samples) > 1 else np.zeros(0)
        if len(codes) > 1:
            codes = _with_turns(placed, codes)
            matrices = np.stack([_matrix(placed, Usd.TimeCode(code)) for code in codes.tolist()])
            self.counts["sheared"] += part.move([node], self.times.seconds(codes), matrices[None])
        return node

    def _content(self, part: Part, prim: Usd.Prim, kind: str, node: int, waiting: list[Skinned]) -> None:
        """What a prim shows."""
        if kind == "Mesh":
            self._mesh(part, prim, node, waiting)
        elif kind in SHAPES or kind in ("Sphere", "Points"):
            self._shape(part, prim, kind, node)
        elif kind == "PointInstancer":
            place_instances(part, prim, node, self.limits, self.times, self._prototype, self.meshes, self.counts)
        elif kind == "Camera":
            part.cameras.append(camera_of(prim, node, self.times))
        elif kind in LIGHTS:
            light = light_of(prim, node, self.times)
            part.lights += [] if light is None else [light]
        elif kind in DOMES:
            self.counts["domes"] += self.environment is not None
            self.environment = self.environment or dome_of(prim, self.references, self.times, self.counts)
        elif UsdGeom.Gprim(prim) or kind in ("Volume", "GeometryLight"):
            self.counts["kinds"] += 1

    def _mesh(self, part: Part, prim: Usd.Prim, node: int, waiting: list[Skinned]) -> None:
        is_bound = self.skeletons.is_bound(prim)
        key = self._key(prim)
        if not is_bound and key in self._kept:
            part.objects.append(dataclasses.replace(self._kept[key], node=node))
            return
        found = self.reader.read(prim)
        if found is None:
            return
        self.meshes.append(found[0])
        part.objects.append(Object(node, len(self.meshes) - 1))
        self._kept[key] = part.objects[-1]
        if is_bound:
            waiting.append(Skinned(node, len(self.meshes) - 1, prim, found[1]))

    def _shape(self, part: Part, prim: Usd.Prim, kind: str, node: int) -> None:
        key = self._key(prim)
        if key not in self._kept:
            material = self.materials.of(prim)
            if kind in SHAPES:
                self.meshes.append(mesh_of(prim, material, self.times))
                self._kept[key] = Object(node, len(self.meshes) - 1)
            else:
                spheres = (
                    sphere_of(prim, material, self.times)
                    if kind == "Sphere"
                    else read_points(self.path, prim, material, self.limits, self.times, self.counts)
                )
                if spheres is None:
                    return
                self.spheres.append(spheres)
                self._kept[key] = Object(node, spheres=len(self.spheres) - 1)
        part.objects.append(dataclasses.replace(self._kept[key], node=node))

    def _key(self, prim: Usd.Prim) -> tuple[str, int]:
        """What tells one thing from another: instances of a prim are one, where their materials are."""
        path = prim.GetPrimInPrototype().GetPath() if prim.IsInstanceProxy() else prim.GetPath()
        return str(path), self.materials.of(prim) if prim.IsInstanceProxy() else -1

    def _prototype(self, prim: Usd.Prim) -> Part | None:
        """The part of a prototype's subtree; None where it holds itself."""
        key = str(prim.GetPath())
        if key not in self._prototypes:
            self._prototypes[key] = None
            part = Part(self.path, prim.GetName())
            self._walk(part, [prim], 0)
            self._prototypes[key] = part
        return self._prototypes[key]


def _matrix(placed: UsdGeom.Xformable, time: Usd.TimeCode) -> np.ndarray:
    """(4, 4) float64, column vectors."""
    return np.array(placed.GetLocalTransformation(time), np.float64).T


def _with_turns(placed: UsdGeom.Xformable, codes: np.ndarray) -> np.ndarray:
    """The time codes, with others between them where an angle goes so far that its end does not tell the way: USD
    interpolates angles, clips the shorter way between rotations."""
    steps = np.ones(len(codes) - 1)
    for op in placed.GetOrderedXformOps():
        if op.GetNumTimeSamples() < 2 or not op.GetOpName().split(":")[1].startswith("rotate"):
            continue
        values: list[Any] = [op.Get(Usd.TimeCode(code)) for code in codes.tolist()]
        angles = np.array(values, np.float64).reshape(len(codes), -1)
        turns = np.abs(np.diff(angles, axis=0)).max(axis=1)
        steps = np.maximum(steps, np.ceil(np.nan_to_num(turns, posinf=0.0) / STEP_DEGREES))
    if steps.max() <= 1.0 or steps.sum() > MOST_STEPS:
        return codes
    pieces = [
        np.linspace(start, end, int(step), endpoint=False)
        for start, end, step in zip(codes[:-1], codes[1:], steps, strict=True)
    ]
    return np.concatenate([*pieces, codes[-1:]])
