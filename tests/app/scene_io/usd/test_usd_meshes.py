"""Meshes, shapes and points of USD."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest

from raygrove.app.scene_io import ImportLimits, SceneError
from raygrove.gpu.scene import ABSENT, Mesh
from tests.conftest import patience

from .stages import mesh, placed, read, said, stage, vertices


def area(found: Mesh) -> float:
    corners = found.positions[found.triangles].astype(np.float64)
    crosses = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    return float(np.linalg.norm(crosses, axis=1).sum() / 2.0)


def volume(found: Mesh) -> float:
    """By the divergence theorem: positive where triangles go round counterclockwise, seen from outside."""
    a, b, c = found.positions[found.triangles].astype(np.float64).transpose(1, 0, 2)
    return float((a * np.cross(b, c)).sum() / 6.0)


def test_polygons_become_triangles_that_cover_them(tmp_path: Path) -> None:
    """A triangle, a quadrilateral that is not convex, and a hexagon, side by side: areas 1/2, 3/4 and 3 sqrt(3) / 2."""
    hexagon = [(10 + np.cos(k * np.pi / 3), np.sin(k * np.pi / 3), 0) for k in range(6)]
    arrow = [(5, 0, 0), (6, 0, 0), (5.5, 0.25, 0), (5.5, 1, 0)]  # its third corner is dented, so 1-3 must be cut
    points = [(0, 0, 0), (1, 0, 0), (0, 1, 0), *arrow, *hexagon]
    body = f"""
        int[] faceVertexCounts = [3, 4, 6]
        int[] faceVertexIndices = {list(range(13))}
        point3f[] points = [{", ".join(map(str, [tuple(map(float, p)) for p in points]))}]
    """
    found = read(stage(tmp_path / "a.usda", mesh(body=body))).meshes[0]
    assert len(found.triangles) == 1 + 2 + 4
    x, y = np.array(arrow)[:, 0], np.array(arrow)[:, 1]
    of_arrow = abs(float(x @ np.roll(y, -1) - y @ np.roll(x, -1))) / 2.0
    assert area(found) == pytest.approx(0.5 + of_arrow + 1.5 * np.sqrt(3.0), rel=1e-6)


def test_values_of_corners_split_points(tmp_path: Path) -> None:
    """Two squares that share an edge, with texture coordinates of their own: six points become eight vertices."""
    body = """
        int[] faceVertexCounts = [4, 4]
        int[] faceVertexIndices = [0, 1, 2, 3, 1, 4, 5, 2]
        point3f[] points = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (2, 0, 0), (2, 1, 0)]
        texCoord2f[] primvars:st = [(0, 0), (1, 0), (1, 1), (0, 1)] (interpolation = "faceVarying")
        int[] primvars:st:indices = [0, 1, 2, 3, 0, 1, 2, 3]
    """
    found = read(stage(tmp_path / "a.usda", mesh(body=body))).meshes[0]
    assert len(found.positions) == 8 and found.uvs is not None
    local = found.positions[:, :2] % 1.0
    at_right = found.positions[:, 0] >= 1.0
    assert set(map(tuple, found.uvs.tolist())) == {(0.0, 0.0), (1.0, 0.0), (0.0, 1.0), (1.0, 1.0)}
    assert (found.uvs[:, 1] == 1.0 - found.positions[:, 1]).all()  # v downwards
    assert local.shape == (8, 2) and at_right.sum() == 6


def test_left_handed_meshes_are_turned_and_holes_left_open(tmp_path: Path) -> None:
    more = '    uniform token orientation = "leftHanded"\n'
    right = read(stage(tmp_path / "a.usda", mesh())).meshes[0]
    left = read(stage(tmp_path / "b.usda", mesh(more=more))).meshes[0]
    assert right.normals is not None and left.normals is not None
    assert (right.normals == (0, 0, 1)).all() and (left.normals == (0, 0, -1)).all()
    with pytest.raises(SceneError, match="has no triangles"):
        read(stage(tmp_path / "c.usda", mesh(more="    int[] holeIndices = [0]\n")))


def test_subsets_have_their_materials(tmp_path: Path) -> None:
    body = """
        int[] faceVertexCounts = [3, 3]
        int[] faceVertexIndices = [0, 1, 2, 0, 2, 3]
        point3f[] points = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)]
        rel material:binding = </red>
        def GeomSubset "half" (prepend apiSchemas = ["MaterialBindingAPI"]) {
            uniform token elementType = "face"
            uniform token familyName = "materialBind"
            int[] indices = [1]
            rel material:binding = </blue>
        }
    """
    text = mesh(body=body).replace('"square"', '"square" (prepend apiSchemas = ["MaterialBindingAPI"])')
    for name, color in (("red", "(1, 0, 0)"), ("blue", "(0, 0, 1)")):
        text += f"""def Material "{name}" {{
            token outputs:surface.connect = </{name}/s.outputs:surface>
            def Shader "s" {{ uniform token info:id = "UsdPreviewSurface"
                color3f inputs:diffuseColor = {color}
                token outputs:surface }} }}\n"""
    scene = read(stage(tmp_path / "a.usda", text))
    names = [scene.materials[i].name for i in scene.meshes[0].material_ids]
    assert names == ["red", "blue"]
    assert [scene.materials[i].base_color for i in scene.meshes[0].material_ids] == [(1, 0, 0, 1), (0, 0, 1, 1)]


def test_key_frames_of_points_are_exact(tmp_path: Path) -> None:
    """Two seconds at 24 codes a second, from code 10 on; a sample with another number of points is left out."""
    body = """
        int[] faceVertexCounts = [3]
        int[] faceVertexIndices = [0, 1, 2]
        point3f[] points.timeSamples = {
            10: [(0, 0, 0), (1, 0, 0), (0, 1, 0)], 34: [(0, 0, 2), (1, 0, 2), (0, 1, 2)],
            40: [(0, 0, 0)], 58: [(0, 0, -1), (1, 0, -1), (0, 1, -1)] }
    """
    scene = read(stage(tmp_path / "a.usda", mesh(body=body)))
    keys = scene.meshes[0].key_frames
    assert keys is not None and keys.times.tolist() == [0.0, 1.0, 2.0]
    assert keys.positions[:, :, 2].tolist() == [[0, 0, 0], [2, 2, 2], [-1, -1, -1]]
    assert scene.duration() == 2.0 and "another number of points" in said(scene)


def test_what_changes_its_faces_stands_still(tmp_path: Path) -> None:
    body = """
        int[] faceVertexCounts = [3]
        int[] faceVertexIndices.timeSamples = { 1: [0, 1, 2], 2: [2, 1, 0] }
        point3f[] points.timeSamples = { 1: [(0, 0, 0), (1, 0, 0), (0, 1, 0)], 2: [(0, 0, 1), (1, 0, 0), (0, 1, 0)] }
    """
    scene = read(stage(tmp_path / "a.usda", mesh(body=body)))
    assert scene.meshes[0].key_frames is None and "change over time are shown as they are at first" in said(scene)


def test_points_are_spheres_that_keep_their_ids(tmp_path: Path) -> None:
    """A point that appears, one that goes: each keeps its place by its id, and is absent where it is not."""
    text = """def Points "cloud" {
        point3f[] points.timeSamples = { 0: [(0, 0, 0), (1, 0, 0)], 24: [(5, 0, 0), (2, 0, 0)] }
        int64[] ids.timeSamples = { 0: [7, 3], 24: [9, 3] }
        float[] widths.timeSamples = { 0: [2, 4], 24: [6, 4] }
        color3f[] primvars:displayColor = [(1, 0, 0), (0, 1, 0)] (interpolation = "vertex") }"""
    spheres = read(stage(tmp_path / "a.usda", text)).spheres[0]
    assert spheres.ids is not None and spheres.ids.tolist() == [3, 7, 9]
    keys = spheres.key_frames
    assert keys is not None and keys.times.tolist() == [0.0, 1.0] and keys.radii is not None
    assert keys.radii.tolist() == [[2.0, 1.0, ABSENT], [2.0, ABSENT, 3.0]]
    assert keys.centres[0, 1].tolist() == [0, 0, 0] and keys.centres[:, 0].tolist() == [[1, 0, 0], [2, 0, 0]]


def test_shapes_have_their_size_and_turn_outwards(tmp_path: Path) -> None:
    """Volumes in closed form; round ones a little less, as their surface is made of triangles."""
    text = """
        def Cube "a" { double size = 3 }
        def Cylinder "b" { double height = 2; double radius = 1; uniform token axis = "X" }
        def Cone "c" { double height = 3; double radius = 1; uniform token axis = "Y" }
        def Capsule "d" { double height = 1; double radius = 0.5 }
        def Plane "e" { double width = 2; double length = 4; uniform token axis = "Y" }
        def Sphere "f" { double radius = 2.5 }
    """
    scene = read(stage(tmp_path / "a.usda", text))
    found = {one.name: one for one in scene.meshes}
    exact = {"a": 27.0, "b": 2 * np.pi, "c": np.pi, "d": np.pi / 4 + np.pi / 6}
    for name, value in exact.items():
        assert volume(found[name]) == pytest.approx(value, rel=0.01), name
    sizes = {name: np.ptp(one.positions, axis=0) for name, one in found.items()}
    assert sizes["b"] == pytest.approx([2, 2, 2]) and sizes["c"] == pytest.approx([2, 3, 2], rel=1e-3)
    assert sizes["d"] == pytest.approx([1, 1, 2]) and sizes["e"] == pytest.approx([2, 0, 4])
    assert found["c"].positions[found["c"].positions[:, 1].argmax()] == pytest.approx([0, 1.5, 0])
    assert found["e"].normals is not None and found["e"].normals[0] == pytest.approx([0, 1, 0])
    assert scene.spheres[0].radii.tolist() == [2.5]


INSTANCER = """def PointInstancer "many" {{
    rel prototypes = [</many/protos/square>, </many/protos/ball>]
    int[] protoIndices = {indices}
    point3f[] positions{samples}
    quath[] orientations = [(1, 0, 0, 0), (0.7071, 0, 0, 0.7071), (1, 0, 0, 0)]
    float3[] scales = [(1, 1, 1), (2, 2, 2), (1, 1, 1)]
    {more}
    def Scope "protos" {{
        {square}
        def Sphere "ball" {{ double radius = 0.25
        }} }} }}"""


def instancer(
    samples: str = " = [(0, 0, 0), (10, 0, 0), (20, 0, 0)]", more: str = "", indices: str = "[0, 0, 1]"
) -> str:
    shift = '    double3 xformOp:translate = (0, 0, 3)\n    uniform token[] xformOpOrder = ["xformOp:translate"]\n'
    return INSTANCER.format(samples=samples, more=more, square=mesh(more=shift), indices=indices)


def test_instancers_place_prototypes(tmp_path: Path) -> None:
    """Each instance: the prototype's own place, then size, turn and place of the instance."""
    scene = read(stage(tmp_path / "a.usda", instancer()))
    assert len(scene.meshes) == 1 and len(scene.objects) == 3
    first, second, ball = scene.objects
    assert vertices(scene, first)[2] == pytest.approx([1, 1, 3])
    assert vertices(scene, second)[1] == pytest.approx([10, 2, 6], abs=2e-3)  # (1, 0, 3), doubled, turned about z
    assert placed(scene, ball)[:3, 3] == pytest.approx([20, 0, 0])


def test_instances_move_and_vanish(tmp_path: Path) -> None:
    samples = ".timeSamples = { 0: [(0, 0, 0), (1, 0, 0), (2, 0, 0)], 12: [(0, 5, 0), (1, 0, 0), (2, 0, 0)] }"
    scene = read(stage(tmp_path / "a.usda", instancer(samples, "int64[] invisibleIds = [1]")))
    assert len(scene.objects) == 2 and scene.duration() == 0.5
    assert placed(scene, scene.objects[0], 0.25)[:3, 3] == pytest.approx([0, 2.5, 3])


def test_a_nested_instancer_multiplies_and_one_in_itself_does_not(tmp_path: Path) -> None:
    outer = """def PointInstancer "outer" {
        rel prototypes = </many>
        int[] protoIndices = [0, 0]
        point3f[] positions = [(0, 0, 0), (0, 100, 0)] }\n"""
    scene = read(stage(tmp_path / "a.usda", outer + instancer()))
    assert len(scene.objects) == 9  # the inner one itself, and twice in the outer
    itself = outer.replace("</many>", "</outer>")
    scene = read(stage(tmp_path / "b.usda", itself + mesh()))
    assert len(scene.objects) == 1 and "hold themselves" in said(scene)


def test_too_much_is_refused_with_the_figures(tmp_path: Path) -> None:
    path = stage(tmp_path / "a.usda", instancer())
    with pytest.raises(SceneError, match=r"has 4 triangles, instances counted, and the limit is 3"):
        read(path, ImportLimits(max_triangles=3))
    points = stage(tmp_path / "b.usda", 'def Points "p" { point3f[] points = [(0, 0, 0), (1, 0, 0)]\n }')
    with pytest.raises(SceneError, match=r"has 2 points and the limit is 1\. Raise import\.max_particles"):
        read(points, ImportLimits(max_particles=1))


def test_what_is_not_a_number_is_left_out_and_said(tmp_path: Path) -> None:
    """NaN and infinite places, indices out of range, arrays of the wrong length: remarks, and the rest is drawn."""
    more = """
        texCoord2f[] primvars:st = [(0, 0)] (interpolation = "vertex")
        double3 xformOp:translate = (nan, 0, 0)
        uniform token[] xformOpOrder = ["xformOp:translate"]
    """
    body = """
        int[] faceVertexCounts = [3, 3, 3]
        int[] faceVertexIndices = [0, 1, 2, 0, 2, 9, 0, 1, 3]
        point3f[] points = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (nan, inf, 0)]
    """
    scene = read(stage(tmp_path / "a.usda", mesh(more=more, body=body)))
    assert scene.triangle_count == 1
    for words in ("index out of range", "not a number", "not as many as they should be"):
        assert words in said(scene)
    with pytest.raises(SceneError, match="has no triangles"):
        read(stage(tmp_path / "b.usda", mesh(body="int[] faceVertexCounts = [-3, 2000000000]\n")))


def test_a_mesh_of_ten_time_samples_is_read_at_once(tmp_path: Path) -> None:
    """A sheet of 100,000 points in waves, ten times: half a second of a processor on a quiet machine, from the crate to
    the sanitised scene; each key frame has the normals of its own waves."""
    usd = pytest.importorskip("pxr.Usd", reason="USD files are read by usd-core, which is not installed here")
    from pxr import UsdGeom, Vt

    x, y = np.meshgrid(np.arange(400.0), np.arange(250.0))
    first = (np.arange(249)[:, None] * 400 + np.arange(399)).reshape(-1)
    corners = np.stack([first, first + 1, first + 401, first + 400], axis=1).astype(np.int32)
    made = usd.Stage.CreateNew(str(tmp_path / "sheet.usdc"))
    sheet = UsdGeom.Mesh.Define(made, "/sheet")
    sheet.CreateFaceVertexCountsAttr(Vt.IntArray.FromNumpy(np.full(len(corners), 4, np.int32)))
    sheet.CreateFaceVertexIndicesAttr(Vt.IntArray.FromNumpy(corners.reshape(-1)))
    points = sheet.CreatePointsAttr()
    for code in range(10):
        rows = np.stack([x, y, 20.0 * np.sin(x / 40.0 + code)], axis=-1).reshape(-1, 3)
        points.Set(Vt.Vec3fArray.FromNumpy(rows.astype(np.float32)), code)
    made.GetRootLayer().Save()
    begun = time.process_time()
    keys = read(tmp_path / "sheet.usdc").meshes[0].key_frames
    assert time.process_time() - begun < patience(1.0)
    assert keys is not None and keys.normals is not None and keys.positions.shape == (10, 100_000, 3)
    inner = (x > 0.0) & (x < 399.0)
    for code in (0, 9):
        slope = 0.5 * np.cos(x[inner] / 40.0 + code)
        expected = np.stack([-slope, np.zeros_like(slope), np.ones_like(slope)], axis=1)
        expected /= np.linalg.norm(expected, axis=1, keepdims=True)
        assert np.abs(keys.normals[code][inner.reshape(-1)] - expected).max() < 1e-2
