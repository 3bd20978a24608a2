"""Raygrove: a viewer for dynamic scenes and a laboratory of acceleration structures.

The folders of the project are its subpackages: `raygrove.gpu` computes (builds, traverses and shades; needs no window),
`raygrove.app` is the program with its window, and `raygrove.bench` measures.

The names of a program that uses it as a library are here, and loaded when they are first asked for:

    build, build_spheres, Structure     triangles or spheres to a structure
    Hits                            what rays hit
    Nearest, Neighbours, PrimitiveLists, FoundLeaves          what is near places, and in boxes and balls
    Queries, Places, Boxes          the same for arrays that are on the target already
    builder, Tree                   a function of one's own as a structure
    structures, StructureChoice     what there is to build, by name, and how
    choose, Target, TargetOptions   where kernels run: an NVIDIA GPU, or the CPU
    Engine, View, ViewSettings, ArrayPixels, Camera, Moment   pictures of a scene
    Scene, Mesh, Node, Object, Material, Light                the scene, as plain values
    Error, OptionError, HierarchyError, TargetError, NoDeviceError, CompileError, OutOfMemoryError
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from raygrove.version import VERSION

if TYPE_CHECKING:
    from raygrove.gpu.camera import Camera
    from raygrove.gpu.engine import Engine
    from raygrove.gpu.errors import Error
    from raygrove.gpu.hierarchy.base import HierarchyError, StructureChoice
    from raygrove.gpu.hierarchy.bvh.own.decorator import builder
    from raygrove.gpu.hierarchy.bvh.own.tree import Tree
    from raygrove.gpu.hierarchy.registry import structures
    from raygrove.gpu.library import Hits, Structure, build, build_spheres
    from raygrove.gpu.library_queries import FoundLeaves, Nearest, Neighbours, PrimitiveLists
    from raygrove.gpu.pixels import ArrayPixels
    from raygrove.gpu.query.query import Queries
    from raygrove.gpu.query.questions import Boxes, Places
    from raygrove.gpu.scene import Light, Material, Mesh, Moment, Node, Object, Scene
    from raygrove.gpu.settings import OptionError
    from raygrove.gpu.target import choose
    from raygrove.gpu.target.base import (
        CompileError,
        NoDeviceError,
        OutOfMemoryError,
        Target,
        TargetError,
        TargetOptions,
    )
    from raygrove.gpu.view import View, ViewSettings

_HOMES = {
    "camera": ("Camera",),
    "engine": ("Engine",),
    "errors": ("Error",),
    "hierarchy.base": ("HierarchyError", "StructureChoice"),
    "hierarchy.bvh.own.decorator": ("builder",),
    "hierarchy.bvh.own.tree": ("Tree",),
    "hierarchy.registry": ("structures",),
    "library": ("Hits", "Structure", "build", "build_spheres"),
    "library_queries": ("FoundLeaves", "Nearest", "Neighbours", "PrimitiveLists"),
    "pixels": ("ArrayPixels",),
    "query.query": ("Queries",),
    "query.questions": ("Boxes", "Places"),
    "scene": ("Light", "Material", "Mesh", "Moment", "Node", "Object", "Scene"),
    "settings": ("OptionError",),
    "target": ("choose",),
    "target.base": ("CompileError", "NoDeviceError", "OutOfMemoryError", "Target", "TargetError", "TargetOptions"),
    "view": ("View", "ViewSettings"),
}
_HOME_OF = {name: f"raygrove.gpu.{module}" for module, names in _HOMES.items() for name in names}

__version__ = VERSION
__all__ = [
    "ArrayPixels",
    "Boxes",
    "Camera",
    "CompileError",
    "Engine",
    "Error",
    "FoundLeaves",
    "HierarchyError",
    "Hits",
    "Light",
    "Material",
    "Mesh",
    "Moment",
    "Nearest",
    "Neighbours",
    "NoDeviceError",
    "Node",
    "Object",
    "OptionError",
    "OutOfMemoryError",
    "Places",
    "PrimitiveLists",
    "Queries",
    "Scene",
    "Structure",
    "StructureChoice",
    "Target",
    "TargetError",
    "TargetOptions",
    "Tree",
    "View",
    "ViewSettings",
    "__version__",
    "build",
    "build_spheres",
    "builder",
    "choose",
    "structures",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'raygrove' has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOME_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
