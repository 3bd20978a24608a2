"""From arrays or a scene to a tree: the library's `build`."""

from __future__ import annotations

import dataclasses
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike

from ..configuration import Configuration
from ..errors import Error
from ..hierarchy.base import StructureChoice
from ..hierarchy.primitives import sphere_primitives
from ..hierarchy.registry import structures
from ..library_queries import checked_points, checked_radius
from ..target.base import Target
from . import arrays
from .clips import Clip
from .configured import Configured, configured
from .devices import Device, device_of, of_target
from .scenes import Mesh, Scene
from .sources import ClipSource, FixedSource, SceneSource
from .trees import Structure

QUERY_LEAF = 16
"""Points in a leaf: of 1 to 16, 16 was the fastest for the 8 nearest of 100,000 on the host."""

DEFAULT = "hploc"


@overload
def build(
    shape: Scene | Clip | tuple[Any, Any],
    configuration: str | Configuration = DEFAULT,
    *,
    device: str | None = None,
    target: Target | None = None,
    choice: StructureChoice | None = None,
    check: bool = True,
) -> Structure: ...
@overload
def build(
    shape: Any,
    triangles: Any,
    configuration: str | Configuration = DEFAULT,
    *,
    device: str | None = None,
    target: Target | None = None,
    choice: StructureChoice | None = None,
    check: bool = True,
) -> Structure: ...
def build(
    shape: Any,
    *words: Any,
    triangles: Any = None,
    configuration: Any = None,
    name: Any = None,
    device: str | None = None,
    target: Target | None = None,
    choice: StructureChoice | None = None,
    check: bool = True,
) -> Structure:
    """Build a tree over a scene, a clip, or `triangles` (T, 3), rows of `vertices` (V, 3):

        build(scene, "two_level@auto")
        build((vertices, triangles), "binned_sah:bins=32/bvh4")
        build(vertices, triangles, "hploc", device="cpu")

    The configuration is `builder[+optimiser][/layout[/traversal]][@policy]`, each name with `:option=value`
    (`raygrove.structures()` lists the builders); without a policy `update()` rebuilds. `device` is auto (a GPU where
    one can be used, else the CPU), cpu, cuda or cuda:N; a scene has its own. `target` takes a device that the caller
    made and closes, and `choice` says layout, traversal, optimiser and options as values instead. With `check` False
    nobody looks whether all corners are vertices. Triangles with a corner that is not finite are never hit.

    float32 and int32 arrays on the device are not copied, and are kept alive. Raises Error where the arrays are no mesh
    (ValueError, too) or lie on another device, OptionError for what there is not by that name, NoDeviceError where
    nothing can run kernels.

    >>> import raygrove as rg
    >>> mesh = [[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]]
    >>> with rg.build(mesh, "binned_sah:bins=16/bvh4@refit", device="cpu") as tree:
    ...     print(tree.configuration, tree.trace([0.2, 0.2, 1.0], [0.0, 0.0, -1.0]).prim_id)
    binned_sah:bins=16/bvh4@refit [0]
    """
    shape, triangles, said = _sorted(shape, words, triangles, (configuration, name))
    found = _configured(said, choice)
    if isinstance(shape, Scene):
        shape.check_open("rg.build")
        if device is not None and device_of(device).target is not shape._device.target:
            raise Error(
                f"the scene is on {shape.device} and the tree was to be on {device}",
                "rg.build",
                "make the scene by rg.Scene(device=...), and leave device out here",
            )
        return Structure(shape._device, SceneSource(shape._device.target, shape), found)
    own = _device(device, target)
    scene = Scene(target=own.target)
    if isinstance(shape, Clip):
        return Structure(own, ClipSource(own.target, scene, shape), found)
    with own.used("rg.build"):
        scene.meshes = (Mesh(own, shape, triangles, check=check),)
    return Structure(own, SceneSource(own.target, scene), found)


def _sorted(shape: Any, words: tuple[Any, ...], triangles: Any, named: tuple[Any, ...]) -> tuple[Any, Any, Any]:
    """What `build` was given: the shape or its vertices, triangles where those belong to it, and the configuration."""
    rest = list(words)
    if not isinstance(shape, Scene | Clip) and triangles is None:
        if rest and not isinstance(rest[0], str | Configuration):
            triangles = rest.pop(0)
        elif isinstance(shape, tuple) and len(shape) == 2:
            shape, triangles = shape
        else:
            raise Error(
                "there are no triangles",
                "rg.build",
                "give a rg.Scene, a rg.Clip, (vertices, triangles), or both arrays",
            )
    said = [one for one in (*rest, *named) if one is not None]
    if len(said) > 1:
        raise Error(f"there are {len(said)} configurations", "rg.build", "give one")
    return shape, triangles, said[0] if said else DEFAULT


def build_spheres(
    centres: ArrayLike,
    radii: ArrayLike = 0.0,
    configuration: str | Configuration = "lbvh",
    *,
    name: str | None = None,
    device: str | None = None,
    target: Target | None = None,
    choice: StructureChoice | None = None,
) -> Structure:
    """Build a tree over spheres of `centres` (N, 3) and `radii`, (N,) or one for all; with 0 they are points, which
    queries find and rays do not hit.

    By default a tree that is built fast and has leaves for queries: `lbvh` with 16 primitives a leaf. For rays choose
    another (`build`, which says the rest, too; `name` is an older word for the configuration). Spheres that are not
    finite, or with a radius below 0, are never found. Raises ValueError where the arrays are no spheres, OptionError
    for what there is not by that name, NoDeviceError where nothing can run kernels.

    >>> import raygrove as rg
    >>> with rg.build_spheres([[0, 0, 0], [3, 0, 0]], 1.0, device="cpu") as balls:
    ...     print(balls.nearest([2.9, 0.0, 0.0]).prim_id)
    [1]
    """
    rows = checked_points("centres", centres)
    sizes = np.ascontiguousarray(np.broadcast_to(checked_radius(radii, len(rows)), len(rows)))
    own = _device(device, target)
    configuration = name or configuration
    found = _configured(configuration, choice)
    if str(configuration) == "lbvh" and choice is None:
        options = structures()["lbvh"].Options(max_leaf_size=QUERY_LEAF)
        found = dataclasses.replace(found, choice=StructureChoice(options=options, layout="bvh2"))
    upload = own.target.upload
    return Structure(own, FixedSource(sphere_primitives(upload(rows, "mesh"), upload(sizes, "mesh"))), found)


def _device(device: str | None, target: Target | None) -> Device:
    if device is not None and target is not None:
        raise Error("both a device and a target were given", "rg.build", "give one of them")
    return device_of("auto" if device is None else device) if target is None else of_target(target)


def _configured(configuration: Any, choice: StructureChoice | None) -> Configured:
    if not isinstance(configuration, str | Configuration):
        raise arrays.ArrayError(
            f"a configuration is a text like 'hploc/bvh4@auto', not {configuration!r}", "rg.build", "spell it so"
        )
    found = configured(configuration)
    return found if choice is None else dataclasses.replace(found, choice=choice)
