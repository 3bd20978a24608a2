"""Sensors by their spelling and on nodes: where their rays begin and point, and that they move with what they hang
on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import raygrove as rg
from raygrove.gpu.analysis.workload import HungRays, Rays
from raygrove.gpu.face.workloads import workload_of
from raygrove.gpu.node_transforms import world_matrix
from raygrove.gpu.ray_sources import SENSORS, RaySource, parse_source
from raygrove.gpu.scene import Moment
from raygrove.gpu.settings import OptionError


@pytest.fixture(scope="module")
def walker() -> rg.Clip:
    return rg.open("walker")


def rays_of(text: str, clip: rg.Clip) -> Rays:
    found = workload_of(text, clip.to_plain())
    assert isinstance(found, Rays)
    return found


@pytest.mark.parametrize(
    ("text", "shortest"),
    [
        ("picture", "picture"),
        (" ", "picture"),
        ("a folder/rays.NPZ", "a folder/rays.NPZ"),
        ("lidar", "lidar"),
        ("lidar:columns=512:rows=16:fov=-15,15", "lidar:rows=16"),
        ('dome:node="left hand":at=0,1.5,-2:up=z', 'dome:node="left hand":at=0,1.5,-2:up=z'),
        ("cameras:cameras=4:fov=90:t_max=1e2", "cameras:t_max=100:cameras=4:fov=90"),
    ],
)
def test_a_spelling_has_one_shortest_form(text: str, shortest: str) -> None:
    assert str(parse_source(text)) == shortest
    assert parse_source(shortest) == parse_source(text)


def test_a_node_may_be_called_like_a_file() -> None:
    found = parse_source("lidar:node=x.npz")
    assert found.kind == "lidar" and found.sensor is not None and found.sensor.node == "x.npz"
    assert parse_source("lidar.npz") == RaySource("file", "lidar.npz")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("radar", "picture, a file FILE.npz, or a sensor with :option=value: lidar, dome, cameras"),
        ("rays.txt", "a file FILE.npz"),
        ("lidar@refit", "a file FILE.npz"),
        ("lidar:rows=0", "a whole number from 1 to 4096"),
        ("lidar:rows=x", "a whole number from 1 to 4096"),
        ("lidar:beams=3", "the known names here are"),
        ("lidar:fov=20,-20", "the lowest elevation comes first"),
        ("lidar:fov=-100,20", "from -90 to 90"),
        ("dome:at=1,2", "3 numbers"),
        ("dome:t_min=5:t_max=2", "t_max is above t_min"),
        ("lidar:rows=4096:columns=65536", "up to 16,777,216 rays, and these are 268,435,456"),
    ],
)
def test_what_says_no_rays_is_a_sentence(text: str, sentence: str) -> None:
    with pytest.raises(OptionError, match=sentence):
        parse_source(text)


def test_each_kind_has_as_many_rays_as_it_says(walker: rg.Clip) -> None:
    for name, kind in SENSORS.items():
        rays = rays_of(name, walker)
        assert len(rays) == kind().count
        np.testing.assert_allclose(np.linalg.norm(rays.directions, axis=1), 1.0, atol=1e-6)
        middle = (np.array(walker.to_plain().lower) + walker.to_plain().upper) / 2.0
        np.testing.assert_allclose(rays.origins, np.tile(middle, (len(rays), 1)), atol=1e-5)


def test_which_way_is_ahead_left_and_up(walker: rg.Clip) -> None:
    """Of four beams on the horizon the third looks ahead and the second to the left, whichever axis is up."""
    flat = "lidar:rows=1:columns=4:fov=0,0"
    along_z, along_x = rays_of(flat, walker).directions, rays_of(f"{flat}:up=z", walker).directions
    np.testing.assert_allclose(along_z, [[0, 0, 1], [-1, 0, 0], [0, 0, -1], [1, 0, 0]], atol=1e-6)
    np.testing.assert_allclose(along_x, [[-1, 0, 0], [0, 1, 0], [1, 0, 0], [0, -1, 0]], atol=1e-6)
    turned = rays_of(f"{flat}:turn=90", walker).directions
    np.testing.assert_allclose(turned[2], [-1, 0, 0], atol=1e-6)
    dome = rays_of("dome:rows=3:columns=4", walker).directions
    assert dome[:, 1].min() >= -1e-6 and dome[:, 1].max() == pytest.approx(1.0)


def test_depth_cameras_look_around_at_even_angles(walker: rg.Clip) -> None:
    rays = rays_of("cameras:cameras=4:width=3:height=3:fov=90:at=1,2,3", walker)
    middles = rays.directions.reshape(4, 9, 3)[:, 4]
    np.testing.assert_allclose(middles, [[0, 0, -1], [-1, 0, 0], [0, 0, 1], [1, 0, 0]], atol=1e-6)
    np.testing.assert_allclose(rays.origins[0], np.array([1, 2, 3]) - walker.to_plain().origin)
    first = rays.directions[:9].reshape(3, 3, 3)
    assert first[0, 1, 1] > 0 > first[2, 1, 1] and first[1, 2, 0] > 0 > first[1, 0, 0], "row 0 is above, right is right"


@pytest.mark.parametrize("time", [0.0, 0.4, 0.9])
def test_a_sensor_on_a_node_is_where_the_node_is(walker: rg.Clip, time: float) -> None:
    """By the node's matrix in float64; its axes without scale."""
    scene = walker.to_plain()
    found = workload_of("cameras:cameras=1:width=2:height=1:node=head:at=0,0.5,0:turn=180", scene)
    assert isinstance(found, HungRays)
    rays = found.at(Moment(time))
    number = next(place for place, node in enumerate(scene.nodes) if node.name == "head")
    matrix = world_matrix(scene, number, time)
    axes = matrix[:3, :3] / np.linalg.norm(matrix[:3, :3], axis=0)
    np.testing.assert_allclose(rays.origins[1], axes @ [0, 0.5, 0] + matrix[:3, 3], atol=1e-5)
    np.testing.assert_allclose(rays.directions.mean(axis=0) / np.linalg.norm(rays.directions.mean(axis=0)),
                               axes @ [0, 0, 1], atol=1e-5)  # fmt: skip
    by_number = workload_of(f"cameras:cameras=1:width=2:height=1:node={number}:at=0,0.5,0:turn=180", scene)
    np.testing.assert_array_equal(by_number.at(Moment(time)).origins, rays.origins)


def test_a_sensor_of_the_library_hangs_as_its_spelling_does(walker: rg.Clip) -> None:
    """`Sensor.on` with the pose that turns a lidar's axes into the spelling's."""
    scene = walker.to_plain()
    to_y_up = np.array([[0, -1, 0, 0], [0, 0, 1, 0], [-1, 0, 0, 0]])
    spelt = workload_of("lidar:rows=3:columns=8:fov=-20,10:node=head", scene)
    made = workload_of(rg.sensors.lidar(3, 8, (-20.0, 10.0)).on("head", to_y_up), scene)
    for time in (0.0, 0.7):
        one, other = spelt.at(Moment(time)), made.at(Moment(time))
        np.testing.assert_allclose(one.directions, other.directions, atol=1e-6)
        np.testing.assert_allclose(one.origins, other.origins, atol=1e-6)


def test_a_race_of_a_sensor_that_moves_finds_what_brute_force_finds(walker: rg.Clip) -> None:
    hung = rg.sensors.lidar(8, 32, (-60.0, 30.0)).on("head")
    race = rg.race(walker, ["lbvh@refit", "hploc/bvh4", "brute_force"], rays=hung, frames=range(3), repeat=6,
                   device="cpu")  # fmt: skip
    assert race.mismatches == 0 and race.size == (256, 1)
    proof = race.contestants[2].proof
    assert proof.rays == 3 * 256 and 0 < proof.hits < proof.rays
    scene = walker.to_plain()
    standing = workload_of(hung, scene).at(Moment(0.0))
    still = rg.race(walker, ["brute_force"], rays=rg.RaySet(standing.origins, standing.directions), frames=range(3),
                    repeat=6, device="cpu")  # fmt: skip
    assert still.contestants[0].proof.hits != proof.hits, "the other one has moved"


def test_advice_is_of_a_sensor_that_moves(walker: rg.Clip) -> None:
    advice = rg.advise(walker, "lbvh", "dome:rows=4:columns=16:node=head", frames=range(3), device="cpu", beside=())
    assert advice.rays == 64 == advice.measured_rays and advice.frames == 3


@pytest.mark.parametrize(
    ("rays", "sentence"),
    [
        ("lidar:node=wheel", "there is no node called 'wheel'"),
        ("lidar:node=99", "the nodes have the numbers 0 to"),
        ("picture", "picture stands for the rays of a picture"),
        (RaySource(), "picture stands for the rays of a picture"),
        (rg.sensors.lidar(2, 2).on("nose"), "there is no node called 'nose'"),
        (3, "these are int"),
    ],
)
def test_rays_that_are_not_there_are_a_sentence(walker: rg.Clip, rays: Any, sentence: str) -> None:
    with pytest.raises(rg.Error, match=sentence):
        workload_of(rays, walker.to_plain())


def test_a_pose_that_is_none_is_a_sentence() -> None:
    with pytest.raises(rg.Error, match=r"a pose is \(3, 4\), finite numbers"):
        rg.sensors.lidar(2, 2).on("head", np.eye(4))


def test_embree_refuses_rays_that_move(walker: rg.Clip) -> None:
    with pytest.raises(rg.Error, match="the same rays in every frame here, and these hang on a node"):
        rg.race(walker, ["embree"], rays="dome:node=head", frames=range(1), device="cpu")


def test_at_most_keeps_neighbours_together(walker: rg.Clip) -> None:
    hung = workload_of("lidar:rows=16:columns=64:node=head", walker.to_plain())
    some = hung.at_most(256)
    assert len(some) == 256 and len(hung) == 1024
    whole, part = hung.at(Moment(0.5)).directions, some.at(Moment(0.5)).directions
    assert all((whole == run).all(axis=1).any() for run in part[::64])


def test_hot_spots_of_a_sensor_are_those_of_its_rays(walker: rg.Clip) -> None:
    """Of a frame, what a tree over the same triangles counts of the same rays in arrays."""
    hung = rg.sensors.lidar(6, 24, (-60.0, 30.0)).on("head")
    found = rg.hot_spots(walker, "lbvh/bvh2", rays=hung, frame=12, size=(16, 12), device="cpu")
    scene = walker.to_plain()
    time = 12 / (scene.fps or walker.fps)
    rays = workload_of(hung, scene).at(Moment(time))
    with rg.build(*walker.at(time), "lbvh/bvh2", device="cpu") as tree:
        same = tree.hot_spots(rg.RaySet(rays.origins, rays.directions))
    assert found.counts.rays == 144 and found.rays == "given" and found.kind == "closest"
    assert found.visits.sum() == same.visits.sum() > 144 and found.tests.sum() == same.tests.sum() > 0
    warps = rg.divergence(walker, "lbvh/bvh2", rays=hung, frame=12, size=(16, 12), device="cpu")
    with rg.build(*walker.at(time), "lbvh/bvh2", device="cpu") as tree:
        of_tree = rg.divergence(tree, rg.RaySet(rays.origins, rays.directions))
    assert warps.tiles is None and warps.steps.sum() > 0
    np.testing.assert_array_equal(warps.steps, of_tree.steps)


def test_rays_are_called_by_what_casts_them(walker: rg.Clip, tmp_path: Path) -> None:
    plain, file = walker.to_plain(), tmp_path / "beams.npz"
    some = rg.RaySet([0.0, 1.0, 3.0], [0.0, 0.0, -1.0])
    some.save(file)
    sensor = rg.sensors.lidar(rows=2, columns=8)
    for rays, said in (
        ("lidar:columns=512:rows=16", "rays of lidar:rows=16"),
        ("dome:node=head", "rays of dome:node=head"),
        (str(file), "rays of beams.npz"),
        (some, "rays of a set"),
        (sensor.rays(np.eye(4)[None, :3]), "rays of a sensor"),
        (sensor.on("head"), "rays of a sensor"),
    ):
        found = workload_of(rays, plain)
        assert (found.said, found.taken(np.zeros(1, np.int64)).said) == (said, said)
