"""Raygrove: a viewer for dynamic scenes and a laboratory of acceleration structures.

The folders of the project are its subpackages: `raygrove.gpu` computes (builds, traverses and shades; needs no window),
`raygrove.app` is the program with its window, and `raygrove.bench` measures.

The names of a program that uses it as a library (`import raygrove as rg`) are here, and loaded when they are first
asked for; docs/api.md tells of each:

    open, Clip                      files and built-in scenes, by their names; a mesh that moves, of arrays
    Scene, Mesh, ALL                meshes placed many times, on a device; the group that every ray meets
    build, build_spheres, Structure     a scene, triangles or spheres to a tree; update, trace and ask it
    RaySet, sensors, Hits           rays in arrays, rays of lidars and cameras, what they hit
    render, Pictures                pictures by many cameras at once
    Nearest, Neighbours, PrimitiveLists, FoundLeaves          what is near places, and in boxes and balls
    Queries, Places, Boxes          the same for arrays that are on the target already
    show, Viewer                    the window, waited for or beside a running loop
    NotebookViewer                  a scene to look at in a notebook, and as a page that stands alone
    builder, Tree                   a function of one's own as a structure
    load_tree, save_tree            trees in files .rgtree
    import_tree, use_tree           trees of other programs' files; a tree as a builder
    validate                        whether a tree is sound and fits its geometry
    structures, Configuration, StructureChoice     what there is to build, by name, and how
    choose, Target, TargetOptions   where kernels run: an NVIDIA GPU, or the CPU
    Engine, View, ViewSettings, ArrayPixels, Camera, Moment   pictures of a scene
    Node, Object, Material, Light   of scenes as plain values (raygrove.gpu.scene)
    advise                          when to rebuild in a clip, measured
    race, Race                      configurations on the same frames: costs, ranks, reasons, equal hits
    correlate, Survey               which figures of trees go with the speed of rays, over all structures
    RayLog                          what one ray really did, event by event: tree.step(rays[7])
    divergence                      for whom rays wait: steps of warps, idle lanes
    hot_spots                       where rays spend their steps, by node, object and triangle
    diagnose                        what is wrong with a tree, and what to do
    Error, ConfigurationError, OptionError, HierarchyError, TargetError, NoDeviceError, CompileError, OutOfMemoryError
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from raygrove.version import VERSION

if TYPE_CHECKING:
    from raygrove.app.live.viewer import Viewer, show
    from raygrove.app.notebook.viewer import NotebookViewer
    from raygrove.gpu.analysis.race import Race
    from raygrove.gpu.analysis.ray_log import RayLog
    from raygrove.gpu.analysis.survey import Survey
    from raygrove.gpu.analysis.tree_files import load_tree, save_tree
    from raygrove.gpu.camera import Camera
    from raygrove.gpu.configuration import Configuration, ConfigurationError
    from raygrove.gpu.engine import Engine
    from raygrove.gpu.errors import Error
    from raygrove.gpu.face.building import build, build_spheres
    from raygrove.gpu.face.clips import Clip
    from raygrove.gpu.face.clips import open as open
    from raygrove.gpu.face.foreign_trees import import_tree
    from raygrove.gpu.face.given_trees import use_tree
    from raygrove.gpu.face.hits import Hits
    from raygrove.gpu.face.hot_spots import divergence, hot_spots
    from raygrove.gpu.face.judging import diagnose, validate
    from raygrove.gpu.face.laboratory import advise
    from raygrove.gpu.face.pictures import Pictures, render
    from raygrove.gpu.face.races import correlate, race
    from raygrove.gpu.face.rays import RaySet
    from raygrove.gpu.face.scenes import ALL, Mesh, Scene
    from raygrove.gpu.face.trees import Structure
    from raygrove.gpu.hierarchy.base import HierarchyError, StructureChoice
    from raygrove.gpu.hierarchy.bvh.own.decorator import builder
    from raygrove.gpu.hierarchy.bvh.own.tree import Tree
    from raygrove.gpu.hierarchy.registry import structures
    from raygrove.gpu.library_queries import FoundLeaves, Nearest, Neighbours, PrimitiveLists
    from raygrove.gpu.pixels import ArrayPixels
    from raygrove.gpu.query.query import Queries
    from raygrove.gpu.query.questions import Boxes, Places
    from raygrove.gpu.scene import Light, Material, Moment, Node, Object
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
    "analysis.race": ("Race",),
    "analysis.ray_log": ("RayLog",),
    "analysis.survey": ("Survey",),
    "analysis.tree_files": ("load_tree", "save_tree"),
    "camera": ("Camera",),
    "configuration": ("Configuration", "ConfigurationError"),
    "engine": ("Engine",),
    "errors": ("Error",),
    "face.building": ("build", "build_spheres"),
    "face.clips": ("Clip", "open"),
    "face.hits": ("Hits",),
    "face.hot_spots": ("divergence", "hot_spots"),
    "face.foreign_trees": ("import_tree",),
    "face.given_trees": ("use_tree",),
    "face.judging": ("diagnose", "validate"),
    "face.laboratory": ("advise",),
    "face.pictures": ("Pictures", "render"),
    "face.rays": ("RaySet",),
    "face.races": ("correlate", "race"),
    "face.scenes": ("ALL", "Mesh", "Scene"),
    "face.trees": ("Structure",),
    "hierarchy.base": ("HierarchyError", "StructureChoice"),
    "hierarchy.bvh.own.decorator": ("builder",),
    "hierarchy.bvh.own.tree": ("Tree",),
    "hierarchy.registry": ("structures",),
    "library_queries": ("FoundLeaves", "Nearest", "Neighbours", "PrimitiveLists"),
    "pixels": ("ArrayPixels",),
    "query.query": ("Queries",),
    "query.questions": ("Boxes", "Places"),
    "scene": ("Light", "Material", "Moment", "Node", "Object"),
    "settings": ("OptionError",),
    "target": ("choose",),
    "target.base": ("CompileError", "NoDeviceError", "OutOfMemoryError", "Target", "TargetError", "TargetOptions"),
    "view": ("View", "ViewSettings"),
}
_HOME_OF = {name: f"raygrove.gpu.{module}" for module, names in _HOMES.items() for name in names}
_HOME_OF |= dict.fromkeys(("Viewer", "show"), "raygrove.app.live.viewer")
_HOME_OF["NotebookViewer"] = "raygrove.app.notebook.viewer"

__version__ = VERSION
__all__ = [
    "ALL",
    "ArrayPixels",
    "Boxes",
    "Camera",
    "Clip",
    "CompileError",
    "Configuration",
    "ConfigurationError",
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
    "NotebookViewer",
    "Object",
    "OptionError",
    "OutOfMemoryError",
    "Pictures",
    "Places",
    "PrimitiveLists",
    "Queries",
    "Race",
    "RayLog",
    "RaySet",
    "Scene",
    "Structure",
    "StructureChoice",
    "Survey",
    "Target",
    "TargetError",
    "TargetOptions",
    "Tree",
    "View",
    "ViewSettings",
    "Viewer",
    "__version__",
    "advise",
    "build",
    "build_spheres",
    "builder",
    "choose",
    "correlate",
    "diagnose",
    "divergence",
    "hot_spots",
    "import_tree",
    "load_tree",
    "race",
    "render",
    "save_tree",
    "show",
    "structures",
    "use_tree",
    "validate",
]
"""Not `open`: `from raygrove import *` leaves the built-in one as it is."""


def __getattr__(name: str) -> Any:
    if name == "sensors":
        return importlib.import_module("raygrove.gpu.face.sensors")
    if name not in _HOME_OF:
        raise AttributeError(f"module 'raygrove' has no attribute {name!r}")
    value = getattr(_home_of(name), name)
    globals()[name] = value
    return value


def _home_of(name: str) -> Any:
    """The module that a name is from. Error where that needs what is not installed."""
    home = _HOME_OF[name]
    try:
        return importlib.import_module(home)
    except ModuleNotFoundError as error:
        if not home.startswith("raygrove.app.") or (error.name or "").startswith("raygrove"):
            raise
        from raygrove.gpu.errors import Error
        from raygrove.program import how_to_install

        raise Error(f"the library {error.name} is missing", f"rg.{name}", how_to_install("app").rstrip(".")) from error


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, "open", "sensors"})
