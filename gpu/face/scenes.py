"""Scenes of meshes that are placed many times: what trees are built over."""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import Error
from ..target.base import Target
from ..target.foreign import in_rows, of_numbers, on_target
from ..trace.arrays import EVERY_GROUP, EVERY_MASK
from . import arrays
from .devices import Device, device_of, of_target

if TYPE_CHECKING:  # plain values are imported by what makes some: a first trace needs none of them
    from .. import scene as plain

ALL = EVERY_GROUP
"""The group of objects that the rays of every group meet, and of rays that meet every object."""

MOST_GROUPS = 1 << 22
GREY = (0.8, 0.8, 0.8)


class Mesh:
    """A mesh in a scene, and where it stands: what `Scene.add_mesh` gives.

    Assign to `vertices`, `transforms`, `groups` or `masks` what they are from now on; the next `update()` of a tree
    sees it. What is written into NumPy arrays of vertices and transforms in place is found, too. Of arrays on a GPU
    nobody can tell without waiting whether they were written in place: transforms there count as moved in every update,
    unless `moves` is False; after vertices were written in place call `touch()`.

    >>> import raygrove as rg
    >>> scene = rg.Scene(device="cpu")
    >>> mesh = scene.add_mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]])
    >>> mesh.vertices = [[0, 0, 1], [1, 0, 1], [0, 1, 1]]
    >>> mesh.triangle_count, mesh.instance_count
    (1, 1)
    """

    def __new__(cls, *arguments: Any, **named: Any) -> Any:
        # Readers of files in other packages make plain meshes by this name: Mesh("name", positions, ...).
        if (arguments and isinstance(arguments[0], str)) or "positions" in named:
            from .. import scene as plain

            return plain.Mesh(*arguments, **named)
        return super().__new__(cls)

    def __init__(
        self,
        device: Device,
        vertices: Any,
        triangles: Any,
        *,
        transforms: Any = None,
        groups: Any = None,
        masks: Any = None,
        color: tuple[float, float, float] = GREY,
        name: str = "",
        check: bool = True,
    ) -> None:
        self._device, self.name, self.moves = device, name, True
        what = "three linear numbers, red, green and blue, such as (0.8, 0.1, 0.1)"
        red, green, blue = arrays.taken_numbers(color, "color", what, 3)
        self.color = (red, green, blue)
        target = device.target
        self._vertices = of_numbers(vertices)
        rows = arrays.taken(target, vertices, "vertices", (None, 3))
        self.vertex_count = len(rows)
        corners = arrays.taken(target, triangles, "triangles", (None, 3), arrays.WHOLE)
        if check:
            arrays.check_corners(corners, self.vertex_count)
        self._triangles = np.array(target.download(corners))
        self.triangle_count = len(self._triangles)
        self._transforms: Any = None
        self.instance_count = 1
        if transforms is not None:
            self.instance_count = len(self._checked_transforms(transforms))
            self._transforms = of_numbers(transforms)
        self._groups = self._numbers("groups", groups, ALL, MOST_GROUPS)
        self._masks = self._numbers("masks", masks, EVERY_MASK, 1 << 32)
        self.shape_count = self.place_count = self.label_count = 0
        """How often vertices, transforms, groups or masks were told to be others."""

    # -- what can be assigned -----------------------------------------------------------------------------------------
    @property
    def vertices(self) -> Any:
        """(V, 3) numbers in scene units, as they were given."""
        return self._vertices

    @vertices.setter
    def vertices(self, values: Any) -> None:
        with self._device.used("Mesh.vertices") as target:
            arrays.check_shape(_seen(target, values, "vertices"), "vertices", (self.vertex_count, 3))
            self._vertices = of_numbers(values)
            self.shape_count += 1

    @property
    def triangles(self) -> np.ndarray:
        """(T, 3) int32, read only: whole numbers of vertices, a copy of what was given."""
        return self._triangles

    @triangles.setter
    def triangles(self, values: Any) -> None:
        raise Error("the triangles of a mesh stay as they are", "Mesh.triangles", "add a mesh of its own for others")

    @property
    def transforms(self) -> Any:
        """(N, 3, 4) numbers, rows of a matrix that takes columns (p' = M p), as they were given; None: it stands where
        its vertices say."""
        return self._transforms

    @transforms.setter
    def transforms(self, values: Any) -> None:
        with self._device.used("Mesh.transforms"):
            found = self._checked_transforms(values)
            if len(found) != self.instance_count:
                raise arrays.ArrayError(
                    f"transforms are those of {self.instance_count} instances; these are {arrays.shown(found)}",
                    remedy="add a mesh of its own for more instances",
                )
            self._transforms = of_numbers(values)
            self.place_count += 1

    @property
    def groups(self) -> np.ndarray:
        """(N,) int32, read only: each instance's group, from 0, or `ALL`."""
        return self._groups

    @groups.setter
    def groups(self, values: Any) -> None:
        self._groups = self._numbers("groups", values, ALL, MOST_GROUPS)
        self.label_count += 1

    @property
    def masks(self) -> np.ndarray:
        """(N,) int32, read only: bits of which a ray has to have one in its own mask to meet the instance; all by
        default."""
        return self._masks

    @masks.setter
    def masks(self, values: Any) -> None:
        self._masks = self._numbers("masks", values, EVERY_MASK, 1 << 32)
        self.label_count += 1

    def touch(self) -> None:
        """Say that vertices were written in place."""
        self.shape_count += 1

    # -- checks -------------------------------------------------------------------------------------------------------
    def _checked_transforms(self, values: Any) -> Any:
        found = _seen(self._device.target, values, "transforms")
        if len(found.shape) != 3 or tuple(found.shape[1:]) not in ((3, 4), (4, 4)):
            raise arrays.ArrayError(f"transforms have the shape (N, 3, 4); these are {arrays.shown(found)}")
        return found

    def _numbers(self, name: str, values: Any, default: int, most: int) -> np.ndarray:
        given = default if values is None else values if not hasattr(values, "get") else values.get()
        found = in_rows(given, name)
        if found.dtype.kind not in "iu" or found.shape not in ((), (self.instance_count,)):
            raise arrays.ArrayError(
                f"{name} are a whole number for each of the {self.instance_count} instances, or one for all; these are "
                f"{arrays.shown(found)}"
            )
        if found.size and not (default <= int(found.min()) and int(found.max()) < most):
            raise arrays.ArrayError(
                f"{name} are from {default} to {most - 1}; these are from {found.min()} to {found.max()}"
            )
        held = np.ascontiguousarray(np.broadcast_to(found, self.instance_count)).astype(np.uint32).view(np.int32)
        held.flags.writeable = False  # what is written in place would not be seen
        return held


def _seen(target: Target, values: Any, name: str) -> Any:
    """The array without a copy, to look at its shape."""
    return on_target(target, values, name)


class Scene:
    """Meshes on a device, each placed once or many times.

    `device` is auto (a GPU where one can be used, else the CPU), cpu, cuda or cuda:N. A context manager; `close` lets
    go of the arrays. One thread uses it at a time.

    >>> import numpy as np, raygrove as rg
    >>> scene = rg.Scene(device="cpu")
    >>> poses = np.tile(np.eye(3, 4, dtype=np.float32), (2, 1, 1))
    >>> poses[1, :, 3] = 0.0, 0.0, -3.0
    >>> robots = scene.add_mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]], transforms=poses)
    >>> tree = rg.build(scene, "two_level@refit")
    >>> hits = tree.trace([[0.2, 0.2, 1.0], [0.2, 0.2, -1.0]], [0.0, 0.0, -1.0])
    >>> hits.t.tolist(), hits.prim_id.tolist()
    ([1.0, 2.0], [0, 1])
    >>> poses[1, 2, 3] = -5.0
    >>> tree.update()
    'refit'
    >>> tree.trace([0.2, 0.2, -1.0], [0.0, 0.0, -1.0]).t.tolist()
    [4.0]
    """

    def __new__(cls, *arguments: Any, **named: Any) -> Any:
        # Readers of files in other packages make plain scenes by this name: Scene("name", meshes=..., objects=...).
        is_named = bool(arguments) and not _is_device(arguments[0])
        if is_named or named.keys() - {"device", "target"}:
            from .. import scene as plain

            if is_named or {"name", *plain.Scene.__dataclass_fields__} & named.keys():
                return plain.Scene(*arguments, **named)
        return super().__new__(cls)

    def __init__(self, device: str = "auto", *, target: Target | None = None) -> None:
        self._device = of_target(target) if target is not None else device_of(device)
        self.meshes: tuple[Mesh, ...] = ()
        self.own_tree: Any = None
        """What `rg.render` looks through, once it was asked for a picture of the scene."""
        self._is_open = True

    @property
    def device(self) -> str:
        """The device's name: cuda:0, host, ..."""
        return self._device.target.name

    @property
    def instance_count(self) -> int:
        """Instances of all meshes."""
        return sum(mesh.instance_count for mesh in self.meshes)

    @property
    def triangle_count(self) -> int:
        """Triangles of all instances: what `prim_id` counts, instance by instance in the order of `add_mesh`."""
        return sum(mesh.instance_count * mesh.triangle_count for mesh in self.meshes)

    def add_mesh(
        self,
        vertices: Any,
        triangles: Any,
        *,
        transforms: Any = None,
        groups: Any = None,
        masks: Any = None,
        color: tuple[float, float, float] = GREY,
        name: str = "",
        check: bool = True,
    ) -> Mesh:
        """Add `vertices` (V, 3) and `triangles` (T, 3), whole numbers of vertices, once, or once for each of
        `transforms` (N, 3, 4).

        `groups`, one or (N,): the rays that an instance is met by, `ALL` (the default) or a number from 0. `masks`:
        bits, of which a ray has to have one. `color`: linear, of pictures. With `check` False nobody looks whether all
        corners are vertices. Triangles with a corner that is not finite are never hit. float32 and int32 arrays on the
        scene's device are not copied and are kept alive. Trees see it at their next `update()`.

        Raises Error where these are no mesh, or lie on another device.
        """
        with self._device.used("Scene.add_mesh"):
            self.check_open("Scene.add_mesh")
            named = {"transforms": transforms, "groups": groups, "masks": masks, "color": color, "name": name}
            mesh = Mesh(self._device, vertices, triangles, **named, check=check)
            self.meshes = (*self.meshes, mesh)
        return mesh

    def to_plain(self) -> plain.Scene:
        """The scene as it stands now as plain values of the host, as the viewer and exports take it: a mesh and an
        object for each instance, their vertices in the world. Waits."""
        from .. import scene as plain

        with self._device.used("Scene.to_plain") as target:
            self.check_open("Scene.to_plain")
            meshes, materials = [], []
            for number, mesh in enumerate(self.meshes):
                vertices = np.asarray(target.download(arrays.taken(target, mesh.vertices, "vertices", (None, 3))))
                materials.append(plain.Material(mesh.name or f"mesh {number}", (*mesh.color, 1.0)))
                kinds = np.full(mesh.triangle_count, number, np.int32)
                for at, matrix in enumerate(self._matrices(target, mesh)):
                    placed = (vertices @ matrix[:, :3].T + matrix[:, 3]).astype(np.float32)
                    name = f"{mesh.name or f'mesh {number}'}{f' {at}' if mesh.instance_count > 1 else ''}"
                    meshes.append(plain.Mesh(name, placed, mesh.triangles, kinds))
        corners = [mesh.positions for mesh in meshes if len(mesh.positions)]
        lower, upper = (
            tuple(getattr(np.concatenate(corners), side)(axis=0).tolist()) if corners else (end,) * 3
            for side, end in (("min", -1.0), ("max", 1.0))
        )
        objects = tuple(plain.Object(0, index) for index in range(len(meshes)))
        return plain.Scene(
            "scene", meshes=tuple(meshes), objects=objects, materials=tuple(materials), lower=lower, upper=upper
        )

    @staticmethod
    def _matrices(target: Target, mesh: Mesh) -> np.ndarray:
        if mesh.transforms is None:
            return np.eye(3, 4)[None]
        shape = tuple(mesh._checked_transforms(mesh.transforms).shape)
        taken = arrays.taken(target, mesh.transforms, "transforms", shape)
        return np.asarray(target.download(taken), np.float64)[:, :3]

    # -- life ---------------------------------------------------------------------------------------------------------
    def check_open(self, where: str) -> None:
        """Error where the scene is closed."""
        if not self._is_open:
            raise ClosedError("the scene is closed", where, "make another one")

    def close(self) -> None:
        """Let go of the meshes; harmless the second time. Trees over the scene stay as they are, can be traced and can
        not be updated."""
        tree, self.own_tree = self.own_tree, None
        if tree is not None:
            tree.close()
        self._is_open, self.meshes = False, ()

    def __enter__(self) -> Scene:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class ClosedError(Error, ValueError):
    """A closed scene or tree was used."""


def _is_device(word: Any) -> bool:
    return isinstance(word, str) and (word in ("auto", "cpu", "host", "cuda") or word.startswith("cuda:"))
