"""The built-in scenes: counts, closed shells, unit normals, seamless loops, the same bytes from the same seed."""

from __future__ import annotations

import numpy as np
import pytest

from raygrove.app.scene_io.demos import DEMOS, DemoOptions, UnknownDemoError, demo_info, make_demo
from raygrove.app.scene_io.demos.shapes import Surface, grid_triangles, lathe, rounded_box, torus, torus_knot
from raygrove.app.scene_io.demos.sphere import displaced, icosphere, icosphere_frequency
from raygrove.gpu.scene import Mesh, Scene
from raygrove.gpu.settings import OptionError, checked, fields_of

NAMES = tuple(info.name for info in DEMOS)


@pytest.fixture(scope="module")
def scenes() -> dict[str, Scene]:
    return {name: make_demo(name) for name in NAMES}


def edge_uses(triangles: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """How often each undirected edge is used, and the balance of its two directions (0 where faces agree in
    orientation)."""
    ends = np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]]).astype(np.int64)
    forwards = ends[:, 0] < ends[:, 1]
    keys = ends.min(axis=1) * (ends.max() + 1) + ends.max(axis=1)
    _, inverse, counts = np.unique(keys, return_inverse=True, return_counts=True)
    return counts, np.bincount(inverse.reshape(-1), np.where(forwards, 1.0, -1.0))


def is_closed(triangles: np.ndarray) -> bool:
    counts, balance = edge_uses(triangles)
    return bool((counts == 2).all() and (balance == 0).all())


def welded(positions: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """Triangles over vertices joined where their positions are equal."""
    _, inverse = np.unique(np.rint(positions.astype(np.float64) * 1e5), axis=0, return_inverse=True)
    return inverse.reshape(-1)[triangles]


def face_normals(mesh: Mesh) -> np.ndarray:
    corners = mesh.positions[mesh.triangles].astype(np.float64)
    return np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])


@pytest.mark.parametrize("name", NAMES)
def test_has_the_promised_number_of_triangles(scenes: dict[str, Scene], name: str) -> None:
    exact = {"blob": 512_000, "room": 499_712, "cloth": 100_000}
    count = scenes[name].primitive_count
    assert count == exact.get(name, count)
    assert abs(count - demo_info(name).triangles) <= 0.01 * demo_info(name).triangles


@pytest.mark.parametrize("name", NAMES)
def test_arrays_are_of_the_declared_kind(scenes: dict[str, Scene], name: str) -> None:
    scene = scenes[name]
    for mesh in scene.meshes:
        assert (
            mesh.positions.dtype == np.float32
            and mesh.triangles.dtype == np.int32
            and mesh.material_ids.dtype == np.int32
        )
        assert (
            mesh.normals is not None and mesh.normals.dtype == np.float32 and mesh.normals.shape == mesh.positions.shape
        )
        assert len(mesh.material_ids) == len(mesh.triangles)
        assert mesh.material_ids.min() >= 0 and mesh.material_ids.max() < len(scene.materials)
        assert mesh.triangles.min() == 0 and mesh.triangles.max() == len(mesh.positions) - 1, "every vertex is used"
        assert np.isfinite(mesh.positions).all()
        assert np.abs(np.linalg.norm(mesh.normals, axis=1) - 1.0).max() < 1e-5
        if any(scene.materials[k].base_color_texture >= 0 for k in np.unique(mesh.material_ids)):
            assert mesh.uvs is not None and mesh.uvs.dtype == np.float32 and np.isfinite(mesh.uvs).all()
        if mesh.key_frames is not None:
            assert np.isfinite(mesh.key_frames.positions).all()
            assert mesh.key_frames.normals is not None
            assert np.abs(np.linalg.norm(mesh.key_frames.normals[-1], axis=1) - 1.0).max() < 1e-5


@pytest.mark.parametrize("name", NAMES)
def test_triangles_face_the_way_of_their_normals(scenes: dict[str, Scene], name: str) -> None:
    for mesh in scenes[name].meshes:
        assert mesh.normals is not None
        agreement = np.sum(face_normals(mesh) * mesh.normals[mesh.triangles].mean(axis=1), axis=1)
        assert (agreement > 0.0).all(), mesh.name


@pytest.mark.parametrize("name", NAMES)
def test_tells_a_viewer_where_to_look(scenes: dict[str, Scene], name: str) -> None:
    scene = scenes[name]
    assert scene.eye is not None and scene.look_at is not None and scene.fps == 0.0
    assert scene.lights or any(max(material.emission) > 0.0 for material in scene.materials)
    assert all(low < high for low, high in zip(scene.lower, scene.upper, strict=True))
    assert scene.duration() == demo_info(name).seconds
    if name in ("orbit", "metal", "glass", "room"):
        assert all(low < e < high for low, e, high in zip(scene.lower, scene.eye, scene.upper, strict=True)), (
            "the eye is inside"
        )
    if name in ("orbit", "metal", "glass", "walker"):
        assert scene.textures and {m.base_color_texture for m in scene.materials} == {-1, 0}
    for mesh in scene.meshes:
        if mesh.key_frames is not None:
            assert (mesh.key_frames.positions >= np.float32(scene.lower)).all() and (
                mesh.key_frames.positions <= np.float32(scene.upper)
            ).all()


@pytest.mark.parametrize("name", NAMES)
def test_node_parents_come_first(scenes: dict[str, Scene], name: str) -> None:
    scene = scenes[name]
    assert all(node.parent < index for index, node in enumerate(scene.nodes))
    assert all(0 <= thing.node < len(scene.nodes) and -1 <= thing.mesh < len(scene.meshes) for thing in scene.objects)


@pytest.mark.parametrize("name", ["orbit", "walker"])
def test_tracks_loop_seamlessly(scenes: dict[str, Scene], name: str) -> None:
    clip = scenes[name].clips[0]
    assert clip.channels
    for channel in clip.channels:
        first, last = channel.track.values[0], channel.track.values[-1]
        if channel.path == "rotation":
            assert abs(abs(float(first @ last)) - 1.0) < 1e-6, "equal up to the sign, which turns nothing"
            assert np.abs(np.linalg.norm(channel.track.values, axis=1) - 1.0).max() < 1e-6
            neighbours = np.sum(channel.track.values[1:] * channel.track.values[:-1], axis=1)
            assert (neighbours > 0.0).all(), "neighbouring keys lie on the same side"
        else:
            assert np.abs(first - last).max() < 1e-6
        assert channel.track.times[0] == 0.0 and channel.track.times[-1] == np.float32(clip.duration)
        assert (np.diff(channel.track.times) > 0.0).all()


def test_cloth_loops_seamlessly(scenes: dict[str, Scene]) -> None:
    keys = scenes["cloth"].meshes[0].key_frames
    assert keys is not None and keys.normals is not None
    assert np.array_equal(keys.positions[0], keys.positions[-1]) and np.array_equal(keys.normals[0], keys.normals[-1])
    assert np.abs(keys.positions[1] - keys.positions[0]).max() > 0.01


def test_cloth_normals_are_those_of_its_triangles(scenes: dict[str, Scene]) -> None:
    mesh = scenes["cloth"].meshes[0]
    assert mesh.key_frames is not None and mesh.key_frames.normals is not None
    for key in (0, len(mesh.key_frames.times) // 2):
        corners = mesh.key_frames.positions[key][mesh.triangles].astype(np.float64)
        faces = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        faces /= np.linalg.norm(faces, axis=1, keepdims=True)
        assert np.sum(faces * mesh.key_frames.normals[key][mesh.triangles[:, 0]], axis=1).min() > 0.99


def test_explode_starts_closed_and_ends_apart(scenes: dict[str, Scene]) -> None:
    mesh = scenes["explode"].meshes[0]
    keys = mesh.key_frames
    assert keys is not None
    assert len(mesh.positions) == 3 * len(mesh.triangles), "no vertex is shared"
    assert is_closed(welded(keys.positions[0], mesh.triangles))
    assert np.abs(keys.positions[0]).max() < 1.6
    first, last = (keys.positions[k].reshape(-1, 3, 3) for k in (0, -1))
    edges = [np.linalg.norm(points[:, 1] - points[:, 0], axis=1) for points in (first, last)]
    assert np.allclose(edges[0], edges[1], rtol=2e-3, atol=2e-6), "triangles fly rigidly"
    neighbours = [np.linalg.norm(np.diff(points.mean(axis=1), axis=0), axis=1) for points in (first, last)]
    assert np.median(neighbours[1]) > 20.0 * np.median(neighbours[0]), "neighbours end far apart"


def test_walker_sets_its_feet_on_the_floor(scenes: dict[str, Scene]) -> None:
    scene = scenes["walker"]
    tracks = {(c.node, c.path): c.track for c in scene.clips[0].channels}
    lowest = []
    for key in range(0, 33):
        worlds: list[np.ndarray] = []
        for index, node in enumerate(scene.nodes):
            local = np.eye(4)
            rotation = tracks.get((index, "rotation"))
            translation = tracks.get((index, "translation"))
            local[:3, :3] = rotation_matrix(rotation.values[key] if rotation else np.array(node.rotation))
            local[:3, 3] = translation.values[key] if translation else node.translation
            worlds.append(local if node.parent < 0 else worlds[node.parent] @ local)
        feet = [thing for thing in scene.objects if "foot" in scene.nodes[thing.node].name]
        assert len(feet) == 2
        heights = [
            (scene.meshes[f.mesh].positions @ worlds[f.node][:3, :3].T + worlds[f.node][:3, 3])[:, 1].min()
            for f in feet
        ]
        lowest.append(min(heights))
    assert min(lowest) > -0.02 and max(lowest) < 0.06


def rotation_matrix(q: np.ndarray) -> np.ndarray:
    x, y, z, w = (float(v) for v in q)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )


def test_shells_are_closed_manifolds(scenes: dict[str, Scene]) -> None:
    assert is_closed(scenes["blob"].meshes[0].triangles)
    by_name = {mesh.name: mesh for name in ("orbit", "metal", "glass", "walker") for mesh in scenes[name].meshes}
    for name in ("sphere", "knot", "torso", "left foot"):
        assert is_closed(by_name[name].triangles), name
    assert is_closed(welded(by_name["room"].positions, by_name["room"].triangles))


def test_walls_of_the_room_are_closed() -> None:
    mesh = make_demo("room", triangles=61 * 2 * 36).meshes[0]
    shell = mesh.triangles[: 16 * 2 * 36]
    assert is_closed(welded(mesh.positions, shell))


@pytest.mark.parametrize("frequency", [1, 2, 3, 7])
def test_icosphere_is_even_and_closed(frequency: int) -> None:
    sphere = icosphere(frequency)
    assert len(sphere.triangles) == 20 * frequency**2 and len(sphere.positions) == 10 * frequency**2 + 2
    assert is_closed(sphere.triangles)
    corners = sphere.positions[sphere.triangles].astype(np.float64)
    areas = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
    assert areas.max() / areas.min() < 1.45
    assert np.abs(np.linalg.norm(sphere.positions, axis=1) - 1.0).max() < 1e-6


def test_displaced_normals_are_those_of_the_surface() -> None:
    surface = displaced(icosphere(40), seed=3)
    corners = surface.positions[surface.triangles].astype(np.float64)
    faces = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    summed = np.zeros((len(surface.positions), 3))
    for corner in range(3):
        np.add.at(summed, surface.triangles[:, corner], faces)
    summed /= np.linalg.norm(summed, axis=1, keepdims=True)
    assert np.sum(summed * surface.normals, axis=1).min() > 0.999


@pytest.mark.parametrize(
    "surface",
    [torus_knot(2, 3, 1.0, 0.5, 0.2, 60, 8), torus(1.0, 0.25, 24, 9), rounded_box(5, 4.0), rounded_box(1, 2.0)],
    ids=["knot", "torus", "rounded box", "octahedral sphere"],
)
def test_solid_shapes_are_closed(surface: Surface) -> None:
    assert is_closed(surface.triangles)
    corners = surface.positions[surface.triangles].astype(np.float64)
    volume = np.sum(corners[:, 0] * np.cross(corners[:, 1], corners[:, 2])) / 6.0
    assert volume > 0.0, "faces look outwards"


def test_lathe_and_grid_share_vertices() -> None:
    column = lathe(lambda t: (0.5 + 0.0 * t, t), 6, 2)
    assert len(column.positions) == 18 and len(column.triangles) == 24
    counts, _ = edge_uses(column.triangles)
    assert (counts == 1).sum() == 12, "open at both ends only"
    assert np.allclose(column.normals[:, 1], 0.0, atol=1e-6)
    assert len(grid_triangles(3, 2)) == 12 and grid_triangles(3, 2).max() == 11


@pytest.mark.parametrize("name", NAMES)
def test_same_seed_same_bytes(name: str) -> None:
    one, two, other = make_demo(name, 3000, 5), make_demo(name, 3000, 5), make_demo(name, 3000, 6)
    for a, b in zip(one.meshes, two.meshes, strict=True):
        assert a.positions.tobytes() == b.positions.tobytes() and a.triangles.tobytes() == b.triangles.tobytes()
        if a.key_frames is not None and b.key_frames is not None:
            assert a.key_frames.positions.tobytes() == b.key_frames.positions.tobytes()
    assert content(one) == content(two)
    assert content(one) != content(other), "another seed gives another scene"


def content(scene: Scene) -> bytes:
    arrays = [mesh.positions for mesh in scene.meshes] + [texture.pixels for texture in scene.textures]
    arrays += [mesh.key_frames.positions for mesh in scene.meshes if mesh.key_frames is not None]
    arrays += [channel.track.values for clip in scene.clips for channel in clip.channels]
    return b"".join(array.tobytes() for array in arrays)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("count", "tolerance"), [(20_000, 0.04), (300_000, 0.02)])
def test_reaches_the_number_asked_for(name: str, count: int, tolerance: float) -> None:
    assert abs(make_demo(name, count).triangle_count - count) <= tolerance * count


@pytest.mark.parametrize("name", NAMES)
def test_smallest_number_still_makes_a_scene(name: str) -> None:
    scene = make_demo(name, 12)
    assert 0 < scene.triangle_count < 1500
    assert all(np.isfinite(mesh.positions).all() for mesh in scene.meshes)


def test_frequency_comes_nearest() -> None:
    for count in (1, 20, 49, 51, 12_345, 512_000, 12_800_000):
        errors = {f: abs(20 * f * f - count) for f in range(1, 900)}
        assert errors[icosphere_frequency(count)] == min(errors.values())
    assert icosphere_frequency(12_800_000) == 800


def test_refuses_what_it_does_not_know() -> None:
    with pytest.raises(
        UnknownDemoError,
        match="no built-in scene named 'teapot'.*orbit, metal, glass, explode, walker, cloth, blob, room",
    ):
        make_demo("teapot")
    for count in (1, 11, 16_000_001, -5):
        with pytest.raises(OptionError, match="demo.triangles"):
            make_demo("blob", count)
    with pytest.raises(OptionError, match="demo.seed"):
        make_demo("blob", 100, seed=-1)


def test_options_are_the_command_lines() -> None:
    assert [field.name for field in fields_of(DemoOptions)] == ["triangles", "seed", "sphere_radius", "sphere_pixels"]
    assert checked(DemoOptions, {"triangles": 5000}) == DemoOptions(5000, 0)
    with pytest.raises(OptionError):
        checked(DemoOptions, {"triangles": 170_000_000})
