"""Where shadow rays end: before the light's own surface whatever the scale, and no earlier than rounding asks for."""

from __future__ import annotations

import numpy as np
import pytest

from raygrove.gpu.shade.material_row import MaterialRow
from raygrove.gpu.shade.surface_view import TriangleSurface
from raygrove.gpu.target.base import UnitSource
from raygrove.gpu.target.host import HostTarget
from raygrove.gpu.target.structs import pack

COUNT = 1 << 13
UNIT = UnitSource("tests/gpu/shade/shadow_ends.cu", constants=(("SURFACE_KIND", 0),), rays_per_thread=1)


def ends(target: HostTarget, positions: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    """What end_shadow_rays finds, of `positions` (2 COUNT, 3, 3): triangles that are lit and those that shine."""

    def upload(values: np.ndarray, kind: str = "f4") -> np.ndarray:
        return target.upload(np.ascontiguousarray(values, kind), "test")

    emitters, cdf = np.arange(1, 2 * COUNT, 2), (np.arange(COUNT) + 1.0) / COUNT
    arrays = {
        "positions": upload(positions.reshape(-1, 3)),
        "triangles": upload(np.arange(6 * COUNT), "i4"),
        "material_ids": upload(np.zeros(2 * COUNT), "i4"),
        "materials": upload(np.zeros(MaterialRow.floats())),
        "emitters": upload(emitters, "i4"),
        "emitter_cdf": upload(cdf),
    }
    none = dict.fromkeys(("normals", "uvs", "textures", "texels", "decode", "lights", "gloss"))
    view = pack(TriangleSurface(**arrays, **none, light_count=0, has_textures=0, emitter_count=COUNT, features=0))
    hidden = target.zeros(COUNT, np.int32, "test")
    rows = upload(numbers)
    target.launch(target.unit(UNIT), "end_shadow_rays", COUNT, surface=view, numbers=rows, count=COUNT, hidden=hidden)
    return np.array(target.download(hidden))


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3, 1e6])
@pytest.mark.parametrize("apart", [0.0, 10.0], ids=["side by side", "far apart"])
def test_no_light_hides_itself(host_target: HostTarget, scale: float, apart: float) -> None:
    random = np.random.default_rng(5)
    numbers = random.random((COUNT, 4))
    numbers[:, :2] *= 0.5  # inside the triangle
    positions = random.uniform(-1.0, 1.0, (COUNT, 2, 3, 3)) + random.uniform(-apart, apart, (COUNT, 2, 1, 3))
    found = ends(host_target, scale * positions, numbers)
    assert not (found & 3).any(), f"{(found & 3 > 0).sum()} of {COUNT} lights are in their own shadow"
    has_room = (found & 8) == 0
    assert has_room.mean() > 0.9
    assert ((found & 4) > 0)[has_room].mean() > 0.9, "what stands a little before a light throws a shadow"
