"""USD files (.usda, .usdc, .usd, .usdz) -> Scene by Pixar's library, in the importing child.

layers.py population.py       the layers that a stage is composed of, each by the rule for references; what it costs
reader.py parts.py times.py   prims -> nodes, objects and channels; subtrees placed many times; time codes -> seconds
meshes.py shapes.py           meshes, and the shapes that USD has by name
skeletons.py                  skins and blend shapes by UsdSkel
points.py instancers.py       points as spheres; prototypes placed by point instancers
materials.py pictures.py      UsdPreviewSurface and its textures
lights.py                     lights and cameras
"""

from __future__ import annotations

import os

from raygrove.app.scene_io.compressed import is_packed
from raygrove.app.scene_io.errors import SceneError, display_path
from raygrove.app.scene_io.limits import ImportLimits
from raygrove.gpu.scene import Scene
from raygrove.program import how_to_install


def read_usd(path: str, limits: ImportLimits) -> Scene:
    """The scene of a USD file, not yet sanitised; `SceneError` with a sentence where it cannot be had."""
    if is_packed(path):
        raise SceneError(f"{display_path(path)}: USD files are read as they are. Unpack it first.", path)
    _choose_surroundings()
    try:
        from .reader import read_stage
    except ImportError as error:
        why = f"USD files are read by the package usd-core, which is not installed. {how_to_install('usd')}"
        raise SceneError(f"{display_path(path)}: {why}", path) from error
    return read_stage(path, limits)


def _choose_surroundings() -> None:
    """Nothing of the environment that USD listens to when it is loaded: folders to search, plug-ins to load."""
    for name in [name for name in os.environ if name.startswith(("PXR_", "USD_", "AR_", "SDF_", "PCP_", "TF_"))]:
        del os.environ[name]
