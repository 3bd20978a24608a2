"""Skins and blend shapes by UsdSkel: joints become nodes below their skeleton, an animation channels of these."""

from __future__ import annotations

import dataclasses
from collections import Counter
from typing import Any

import numpy as np
from pxr import Usd, UsdSkel

from raygrove.app.scene_io.limits import ImportLimits
from raygrove.gpu.scene import Channel, Mesh, MorphTargets, Skin, Track

from .meshes import check_room, rows_of
from .parts import Part
from .times import Times

WIDTH = 4
"""Joints that a vertex hangs from."""


@dataclasses.dataclass(frozen=True, eq=False)
class Skinned:
    """A mesh that was read and hangs from a skeleton: its node, its number, its prim and the points of its vertices."""

    node: int
    mesh: int
    prim: Usd.Prim
    points: np.ndarray


class Skeletons:
    """What binds meshes to skeletons; `counts` gather what is left out."""

    def __init__(self, path: str, limits: ImportLimits, times: Times, counts: Counter[str]) -> None:
        self.path, self.limits, self.times, self.counts = path, limits, times, counts
        self._cache = UsdSkel.Cache()
        self._bound: dict[str, tuple[UsdSkel.Skeleton, Any]] = {}

    def look(self, root: Usd.Prim) -> None:
        """Find what is bound below a SkelRoot."""
        predicate = Usd.TraverseInstanceProxies()
        self._cache.Populate(UsdSkel.Root(root), predicate)
        for binding in self._cache.ComputeSkelBindings(UsdSkel.Root(root), predicate):
            for query in binding.GetSkinningTargets():
                self._bound[str(query.GetPrim().GetPath())] = (binding.GetSkeleton(), query)

    def is_bound(self, prim: Usd.Prim) -> bool:
        """Whether a mesh hangs from a skeleton."""
        return str(prim.GetPath()) in self._bound

    def bind(self, part: Part, waiting: list[Skinned], meshes: list[Mesh]) -> None:
        """Give the meshes of a part their skins and blend shapes, once all its nodes are there."""
        joints: dict[str, int] = {}
        for one in waiting:
            skeleton, query = self._bound[str(one.prim.GetPath())]
            path = str(skeleton.GetPath())
            found = self._cache.GetSkelQuery(skeleton)
            if path not in part.nodes_of or not found or not found.GetJointOrder():
                self.counts["skeletons"] += 1
                continue
            if path not in joints:
                joints[path] = self._joints(part, part.nodes_of[path], found)
            mesh = meshes[one.mesh]
            if query.HasBlendShapes():
                mesh = self._with_shapes(part, mesh, one, query, found)
            if query.HasJointInfluences():
                skin = self._skin(query, found, joints[path], one.points)
                mesh = dataclasses.replace(mesh, skin=skin, key_frames=None if skin is not None else mesh.key_frames)
            meshes[one.mesh] = mesh

    def _joints(self, part: Part, node: int, query: Any) -> int:
        """Nodes for the joints of a skeleton and their channels; returns the first one's number."""
        order, topology = query.GetJointOrder(), query.GetTopology()
        local = _matrices(query.ComputeJointLocalTransforms(self.times.rest))
        if len(local) != len(order):
            local = _matrices(query.ComputeJointLocalTransforms(self.times.rest, True))
        if len(local) != len(order):
            local = np.repeat(np.eye(4)[None], len(order), axis=0)
        first = len(part.names)
        for index, name in enumerate(order):
            parent = topology.GetParent(index)
            part.add(str(name).rsplit("/", 1)[-1], node if parent < 0 else first + parent, local[index])
        animation = query.GetAnimQuery()
        codes = self.times.codes(animation.GetJointTransformTimeSamples()) if animation else np.zeros(0)
        if len(codes) > 1:
            check_room(self.path, self.limits, len(codes), 8 * len(order))
            frames = [_matrices(query.ComputeJointLocalTransforms(Usd.TimeCode(code))) for code in codes.tolist()]
            if all(len(frame) == len(order) for frame in frames):
                nodes = range(first, first + len(order))
                self.counts["sheared"] += part.move(nodes, self.times.seconds(codes), np.stack(frames, axis=1))
        return first

    def _skin(self, query: Any, skeleton: Any, first: int, points: np.ndarray) -> Skin | None:
        found = query.ComputeJointInfluences(self.times.rest)
        width = query.GetNumInfluencesPerComponent()
        bind = _matrices(skeleton.GetJointWorldBindTransforms())
        order = [str(name) for name in skeleton.GetJointOrder()]
        if not found or width < 1 or len(bind) != len(order):
            self.counts["skins"] += 1
            return None
        indices = np.asarray(found[0], np.int64).reshape(-1, width)
        weights = np.nan_to_num(np.asarray(found[1], np.float64).reshape(-1, width), posinf=0.0, neginf=0.0)
        if query.IsRigidlyDeformed():
            count = int(points.max()) + 1
            indices, weights = np.repeat(indices[:1], count, axis=0), np.repeat(weights[:1], count, axis=0)
        own = query.GetJointOrder()
        known = {name: index for index, name in enumerate(order)}
        names = [known.get(str(name), -1) for name in own] if own else list(range(len(order)))
        fits = len(indices) == len(weights) and len(indices) > int(points.max()) and len(names)
        if not fits or indices.min() < 0 or indices.max() >= len(names) or np.linalg.det(bind).min() == 0.0:
            self.counts["skins"] += 1
            return None
        indices = np.array(names)[indices]
        weights = np.where(indices < 0, 0.0, np.maximum(weights, 0.0))
        self.counts["trimmed"] += int(np.count_nonzero((weights > 0.0).sum(axis=1) > WIDTH))
        chosen = np.argsort(-weights, axis=1, kind="stable")[:, :WIDTH]
        indices, weights = np.take_along_axis(indices, chosen, axis=1), np.take_along_axis(weights, chosen, axis=1)
        missing = ((0, 0), (0, WIDTH - indices.shape[1]))
        indices, weights = np.pad(np.maximum(indices, 0), missing), np.pad(weights, missing)
        place = np.array(query.GetGeomBindTransform(self.times.rest), np.float64).T
        inverse = np.linalg.inv(bind) @ place
        joints = np.arange(first, first + len(order), dtype=np.int32)
        return Skin(joints, inverse, indices[points].astype(np.int32), weights[points].astype(np.float32))

    def _with_shapes(self, part: Part, mesh: Mesh, one: Skinned, query: Any, skeleton: Any) -> Mesh:
        """The mesh with its blend shapes, whose weights the skeleton's animation gives."""
        targets = query.GetBlendShapeTargetsRel().GetTargets()
        names = [str(name) for name in query.GetBlendShapesAttr().Get() or ()]
        count = int(one.points.max()) + 1
        check_room(self.path, self.limits, len(targets), len(one.points))
        shifts = [self._shape(one.prim.GetStage().GetPrimAtPath(target), count) for target in targets]
        if len(names) != len(shifts) or any(shift is None for shift in shifts) or not names:
            self.counts["shapes"] += 1
            return mesh
        animation = skeleton.GetAnimQuery()
        order = [str(name) for name in animation.GetBlendShapeOrder() or ()] if animation else []
        places = [order.index(name) if name in order else -1 for name in names]

        def weights_at(time: Usd.TimeCode) -> np.ndarray:
            found = np.asarray(animation.ComputeBlendShapeWeights(time) or (), np.float32) if animation else ()
            return np.array([found[place] if 0 <= place < len(found) else 0.0 for place in places], np.float32)

        codes = self.times.codes(animation.GetBlendShapeWeightTimeSamples()) if animation else np.zeros(0)
        if len(codes) > 1:
            rows = np.stack([weights_at(Usd.TimeCode(code)) for code in codes.tolist()])
            part.channels.append(Channel(one.node, "weights", Track(self.times.seconds(codes), rows)))
        moved = np.stack([shift[one.points] for shift in shifts if shift is not None])
        return dataclasses.replace(mesh, morph_targets=MorphTargets(moved, None, weights_at(self.times.rest)))

    def _shape(self, prim: Usd.Prim, count: int) -> np.ndarray | None:
        """The shift of each point (count, 3); None where it does not fit."""
        shape = UsdSkel.BlendShape(prim)
        offsets = rows_of(shape.GetOffsetsAttr().Get(), 3) if shape else None
        if offsets is None:
            return None
        self.counts["inbetweens"] += len(shape.GetInbetweens())
        chosen = shape.GetPointIndicesAttr().Get()
        places = np.asarray(chosen, np.int64) if chosen else np.arange(len(offsets))
        if len(places) != len(offsets) or (len(places) and places.min() < 0):
            return None
        result = np.zeros((count, 3), np.float32)
        kept = places < count
        result[places[kept]] = offsets[kept]
        return result


def _matrices(found: Any) -> np.ndarray:
    """(N, 4, 4), column vectors."""
    return np.array(found if found is not None else (), np.float64).reshape(-1, 4, 4).transpose(0, 2, 1)
