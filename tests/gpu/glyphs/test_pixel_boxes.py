"""Pixel boxes of spheres against float64: no pixel is missing, and hardly one is there in vain."""

from __future__ import annotations

import hypothesis
import hypothesis.strategies as st
import numpy as np
import pytest

from raygrove.gpu.camera import Camera
from raygrove.gpu.hierarchy.primitives import sphere_primitives
from raygrove.gpu.target.base import Target, UnitSource
from raygrove.gpu.trace.trace import VIEW_FRAME, see_through

SIZE = (640, 360)
JITTER = (0.25, 0.75)


def boxes_of(
    target: Target, camera: Camera, centres: np.ndarray, radii: np.ndarray, is_printed: bool = False, lanes: int = 1
) -> np.ndarray:
    """What the kernel says: first x, end x, first y, end y of each sphere, (N, 4). `lanes`: a pack's, 0 for the
    target's own."""
    return boxes_and_keys(target, camera, centres, radii, is_printed, lanes)[0]


def boxes_and_keys(
    target: Target, camera: Camera, centres: np.ndarray, radii: np.ndarray, is_printed: bool, lanes: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The same, the keys that sort as least distances do, and the numbers beside them."""
    frame = np.zeros((), VIEW_FRAME)
    see_through(frame, camera, *SIZE)
    frame["jitter"] = JITTER
    spheres = sphere_primitives(
        target.upload(centres.astype(np.float32), "test"), target.upload(radii.astype(np.float32), "test")
    )
    boxes = target.zeros((len(radii), 2), np.uint32, "test")
    unit = target.unit(
        UnitSource(
            "gpu/glyphs/boxes.cu",
            constants=(("PRINTED_BOXES", is_printed), ("SPHERE_STRUCTS", False), ("GLYPHS", False)),
            rays_per_thread=lanes,
        )
    )
    keys, prim_ids = (target.zeros(len(radii), np.uint32, "test") for _ in range(2))
    target.launch(
        unit,
        "write_boxes",
        len(radii),
        frame=target.upload(frame.reshape(1).view(np.uint8), "test"),
        spheres=spheres.view,
        glyph_rows=None,
        glyph_count=0,
        rows=SIZE[1],
        boxes=boxes,
        structs=None,
        order_keys=keys,
        prim_ids=prim_ids,
    )
    found = target.download(boxes).view(np.uint16).reshape(-1, 4).astype(int)
    return found, target.download(keys).copy(), target.download(prim_ids).copy()


def exact_slopes(across: float, along: float, radius: float) -> tuple[float, float]:
    """Between which slopes the part in front of the eye of a circle is seen, in float64."""
    reach = np.sqrt(max(across**2 + along**2 - radius**2, 0.0))
    if reach == 0.0:
        return -np.inf, np.inf
    run_most, run_least = along * reach - across * radius, along * reach + across * radius
    most = (across * reach + along * radius) / run_most if run_most > 0 else np.inf
    least = (across * reach - along * radius) / run_least if run_least > 0 else -np.inf
    return least, most


def exact_box(camera: Camera, centre: np.ndarray, radius: float) -> tuple[float, float, float, float] | None:
    """The same box in pixels, not rounded; None where the sphere is behind the eye."""
    rows = camera.frame(*SIZE).astype(np.float64).reshape(4, 4)[:, :3]
    place = centre.astype(np.float32).astype(np.float64) - rows[0]
    along = float(place @ rows[1])
    if along + radius <= 0.0:
        return None
    bounds: list[float] = []
    for axis, pixels, jitter in ((rows[2], SIZE[0], JITTER[0]), (rows[3], SIZE[1], JITTER[1])):
        length = float(np.linalg.norm(axis))
        across = float(place @ axis) / length
        slopes = (across - radius, across + radius) if camera.orthographic else exact_slopes(across, along, radius)
        bounds += [(slope / length + 0.5) * pixels - jitter for slope in slopes]
    return bounds[0], bounds[1], bounds[2], bounds[3]


numbers = st.floats(-4.0, 4.0, width=32)


@hypothesis.given(
    place=st.tuples(numbers, numbers, numbers),
    log_radius=st.floats(-6.0, 1.0),
    fov=st.sampled_from([0.5, 20.0, 60.0, 120.0, 170.0]),
    is_orthographic=st.booleans(),
)
def test_boxes_hold_every_pixel_and_hardly_more(
    exact_target: Target, place: tuple[float, float, float], log_radius: float, fov: float, is_orthographic: bool
) -> None:
    camera = Camera(eye=(0.5, 0.25, 2.0), fov=fov, orthographic=is_orthographic)
    centre, radius = np.array(place), float(np.float32(10.0**log_radius))
    first_x, end_x, first_y, end_y = boxes_of(exact_target, camera, centre[None], np.array([radius]))[0]
    exact = exact_box(camera, centre, radius)
    if exact is None:
        assert first_x >= end_x or first_y >= end_y
        return
    expected = [
        (int(np.clip(np.ceil(least), 0, pixels)), int(np.clip(np.floor(most) + 1, 0, pixels)))
        for least, most, pixels in ((exact[0], exact[1], SIZE[0]), (exact[2], exact[3], SIZE[1]))
    ]
    if any(first >= end for first, end in expected):
        return  # nothing of it is in the picture: a box may be there, where rounding could not tell
    (x0, x1), (y0, y1) = expected
    assert first_x <= x0 and first_y <= y0 and end_x >= x1 and end_y >= y1
    distance = float(np.linalg.norm(centre - camera.eye))
    along = abs(float((centre - camera.eye) @ camera.basis()[2]))
    if (
        distance > 1.01 * radius and along > 1.1 * radius and fov > 1.0
    ):  # else slopes are as steep as rounding lets them
        assert first_x >= x0 - 1 and first_y >= y0 - 1 and end_x <= x1 + 1 and end_y <= y1 + 1


@pytest.mark.parametrize(("radius", "is_too_small"), [(0.005, False), (0.6, True)])
def test_boxes_as_printed_miss_pixels_of_large_spheres(exact_target: Target, radius: float, is_too_small: bool) -> None:
    """The thesis takes the distance in space for that in the plane: off the middle the tangents' feet lie too far in,
    by more the larger the sphere is."""
    camera = Camera(eye=(0.0, 0.0, 0.0), look_at=(0.0, 0.0, -1.0), fov=90.0)
    centres = np.array([[x, 0.55, -1.0] for x in np.linspace(-0.6, 0.6, 9)])
    printed = boxes_of(exact_target, camera, centres, np.full(len(centres), radius), is_printed=True)
    exact = [exact_box(camera, centre.astype(np.float32), radius) for centre in centres]
    missing = [box[0] - np.ceil(least[0]) for box, least in zip(printed, exact, strict=True) if least is not None]
    assert len(missing) == len(centres)
    assert bool(max(missing) > 0) is is_too_small


@pytest.mark.parametrize("is_printed", [False, True])
@pytest.mark.parametrize("is_orthographic", [False, True])
def test_packs_have_the_boxes_of_single_spheres(exact_target: Target, is_orthographic: bool, is_printed: bool) -> None:
    """Round the eye, behind it, wide and tiny ones, and some that are not there; the last ones are no whole pack."""
    random = np.random.default_rng(4)
    count = 2021
    centres, radii = random.normal(scale=3.0, size=(count, 3)), 10.0 ** random.uniform(-5.0, 1.0, count)
    radii[5::20], radii[6::20], radii[7], radii[8] = -1.0, 0.0, np.nan, np.inf
    centres[9], centres[10::50, 1], centres[11] = np.inf, np.nan, (0.5, 0.25, 2.0)
    camera = Camera(eye=(0.5, 0.25, 2.0), orthographic=is_orthographic, near=0.1, far=9.0)
    single, packed = (boxes_and_keys(exact_target, camera, centres, radii, is_printed, lanes) for lanes in (1, 0))
    assert len(np.unique(single[0], axis=0)) > 150
    is_there = np.isfinite(centres).all(axis=1) & np.isfinite(radii)
    for one, other in zip(single, packed, strict=True):
        np.testing.assert_array_equal(one[is_there], other[is_there])
    assert not packed[0][~is_there].any()
