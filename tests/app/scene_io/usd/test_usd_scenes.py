"""Places, time, materials, lights and cameras of USD, and skins by UsdSkel."""

from __future__ import annotations

import math
import zipfile
from pathlib import Path

import numpy as np
import pytest

from raygrove.app.scene_io import load
from tests.app.scene_io import writers

from .stages import SKINNED, SQUARE, mesh, placed, read, said, skinned, stage, vertices


def test_z_is_turned_up_and_a_reset_starts_at_the_root(tmp_path: Path) -> None:
    """Of a stage with Z up, (x, y, z) is (x, z, -y) of ours; a prim that resets its stack lies as if it had no
    parent."""
    shift = 'double3 xformOp:translate = {}; uniform token[] xformOpOrder = [{}"xformOp:translate"]'
    text = f"""def Xform "a" {{ {shift.format((0, 0, 5), "")};
        def Mesh "b" {{ {SQUARE}; {shift.format((0, 2, 0), "")} }}
        def Mesh "c" {{ {SQUARE}; {shift.format((0, 2, 0), '"!resetXformStack!", ')} }} }}"""
    scene = read(stage(tmp_path / "a.usda", text, 'upAxis = "Z"'))
    first, second = scene.objects
    assert vertices(scene, first)[0] == pytest.approx([0, 5, -2])
    assert vertices(scene, second)[0] == pytest.approx([0, 0, -2])


def test_turns_take_the_way_that_angles_tell(tmp_path: Path) -> None:
    """A full turn in two time samples begins and ends alike, and is a quarter turned after a quarter of the time."""
    more = """
        float xformOp:rotateZ.timeSamples = { 0: 0, 48: 360 }
        uniform token[] xformOpOrder = ["xformOp:rotateZ"]"""
    scene = read(stage(tmp_path / "a.usda", mesh(more=more), "timeCodesPerSecond = 24"))
    assert scene.duration() == 2.0
    for time, corner in ((0.5, [0, 1, 0]), (1.0, [-1, 0, 0]), (1.5, [0, -1, 0])):
        assert vertices(scene, scene.objects[0], time)[1] == pytest.approx(corner, abs=1e-5), time


def test_the_stage_says_when_the_animation_begins(tmp_path: Path) -> None:
    more = """
        double3 xformOp:translate.timeSamples = { 0: (0, 0, 0), 100: (100, 0, 0) }
        uniform token[] xformOpOrder = ["xformOp:translate"]"""
    head = "startTimeCode = 50; endTimeCode = 80; timeCodesPerSecond = 10; framesPerSecond = 10".replace(";", "\n")
    scene = read(stage(tmp_path / "a.usda", mesh(more=more), head))
    assert (scene.duration(), scene.fps) == (3.0, 10.0)
    assert placed(scene, scene.objects[0], 0.0)[0, 3] == 50.0 and placed(scene, scene.objects[0], 3.0)[0, 3] == 80.0


def preview(inputs: str, shaders: str = "") -> str:
    """A square bound to a material of these inputs."""
    return f"""def Mesh "m" (prepend apiSchemas = ["MaterialBindingAPI"]) {{ {SQUARE}
        texCoord2f[] primvars:map1 = [(0, 0), (1, 0), (1, 1), (0, 1)] (interpolation = "vertex")
        rel material:binding = </mat> }}
    def Material "mat" {{ token outputs:surface.connect = </mat/s.outputs:surface>
        def Shader "s" {{ uniform token info:id = "UsdPreviewSurface"; token outputs:surface
            {inputs} }}
        {shaders} }}"""


def texture(name: str, file: str, st: str = "/mat/reader.outputs:result") -> str:
    return f"""def Shader "{name}" {{ uniform token info:id = "UsdUVTexture"; asset inputs:file = @{file}@
        float2 inputs:st.connect = <{st}>; float outputs:r; float outputs:g; float outputs:b; float3 outputs:rgb }}\n"""


READER = """def Shader "reader" { uniform token info:id = "UsdPrimvarReader_float2"
    string inputs:varname = "map1"; float2 outputs:result }\n"""


def picture(path: Path, color: tuple[int, int, int]) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(writers.png(np.full((2, 2, 4), (*color, 255), np.uint8)))
    return path


def test_a_preview_surface_is_what_its_inputs_say(tmp_path: Path) -> None:
    inputs = """color3f inputs:diffuseColor = (0.2, 0.4, 0.6); float inputs:metallic = 0.75
        float inputs:roughness = 0.25
        color3f inputs:emissiveColor = (1, 2, 3); float inputs:opacity = 0.5; float inputs:ior = 1.8"""
    found = read(stage(tmp_path / "a.usda", preview(inputs))).materials[1]
    assert found.base_color == pytest.approx((0.2, 0.4, 0.6, 0.5)) and found.alpha_mode == "blend"
    assert (found.metallic, found.roughness, found.emission) == (0.75, 0.25, (1.0, 2.0, 3.0))
    assert found.ior == pytest.approx(1.8)


def test_textures_are_found_by_the_primvar_and_the_transform(tmp_path: Path) -> None:
    """Colour, and roughness and metalness from channels of two pictures; coordinates scaled twofold and shifted."""
    picture(tmp_path / "tex" / "color.png", (250, 120, 10))
    picture(tmp_path / "tex" / "rough.png", (40, 80, 120))
    picture(tmp_path / "tex" / "metal.png", (200, 150, 100))
    inputs = """color3f inputs:diffuseColor.connect = </mat/color.outputs:rgb>
        float inputs:roughness.connect = </mat/rough.outputs:g>
        float inputs:metallic.connect = </mat/metal.outputs:b>"""
    move = """def Shader "move" { uniform token info:id = "UsdTransform2d"; float2 inputs:scale = (2, 2)
        float2 inputs:translation = (0.5, 0); float2 inputs:in.connect = </mat/reader.outputs:result>
        float2 outputs:result }\n"""
    at = "/mat/move.outputs:result"
    shaders = READER + move + "".join(texture(one, f"./tex/{one}.png", at) for one in ("color", "rough", "metal"))
    scene = read(stage(tmp_path / "a.usda", preview(inputs, shaders)))
    found = scene.materials[1]
    assert scene.textures[found.base_color_texture].pixels[0, 0].tolist() == [250, 120, 10, 255]
    assert scene.textures[found.base_color_texture].is_srgb
    packed = scene.textures[found.metallic_roughness_texture]
    assert packed.pixels[0, 0].tolist()[1:3] == [80, 100] and not packed.is_srgb
    assert (found.metallic, found.roughness) == (1.0, 1.0)
    uvs = scene.meshes[0].uvs
    assert uvs is not None and uvs[2].tolist() == [2.5, -1.0]  # v was 2 upwards


def test_a_package_brings_its_pictures(tmp_path: Path) -> None:
    """A .usdz is a ZIP whose files are not compressed and begin at multiples of 64 bytes."""
    inner = preview("color3f inputs:diffuseColor.connect = </mat/color.outputs:rgb>", texture("color", "wood.png"))
    text = stage(tmp_path / "inner.usda", inner).read_bytes()
    data = picture(tmp_path / "wood" / "x.png", (9, 99, 199)).read_bytes()
    path = tmp_path / "a.usdz"
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in (("inner.usda", text), ("wood.png", data)):
            entry = zipfile.ZipInfo(name)
            assert archive.fp is not None
            begin = archive.fp.tell() + 30 + len(name) + 4
            entry.extra = b"\x86\x19" + (-begin % 64).to_bytes(2, "little") + bytes(-begin % 64)
            archive.writestr(entry, content)
    scene = read(path)
    assert scene.textures[0].pixels[0, 0].tolist() == [9, 99, 199, 255] and scene.textures[0].name == "wood.png"


def test_lights_have_the_strength_that_usdlux_means(tmp_path: Path) -> None:
    """Radiance L: a sphere shines pi r^2 L to all sides, a rectangle its area times L ahead, a distant light its solid
    angle times L; divided by their areas where that is asked for."""
    away = '    double3 xformOp:translate = (90, 0, 0)\n    uniform token[] xformOpOrder = ["xformOp:translate"]\n'
    text = (
        mesh(more=away)
        + """
        def SphereLight "a" { float inputs:intensity = 2; float inputs:radius = 0.5 }
        def RectLight "b" { float inputs:intensity = 1; float inputs:exposure = 1; float inputs:width = 2
            float inputs:height = 3; color3f inputs:color = (1, 0.5, 0) }
        def DistantLight "c" { float inputs:intensity = 3; bool inputs:normalize = 1 }
        def SphereLight "d" (prepend apiSchemas = ["ShapingAPI"]) { float inputs:intensity = 1
            float inputs:radius = 1; bool inputs:normalize = 1
            float inputs:shaping:cone:angle = 40; float inputs:shaping:cone:softness = 0.5 }
        def DomeLight "e" { float inputs:intensity = 0.5; color3f inputs:color = (0, 1, 0) }
    """
    )
    scene = read(stage(tmp_path / "a.usda", text))
    sphere, rectangle, distant, spot = scene.lights
    assert sphere.kind == "sphere" and sphere.color[0] == pytest.approx(2 * math.pi * 0.25) and sphere.radius == 0.5
    assert rectangle.color == pytest.approx((12.0, 6.0, 0.0)) and rectangle.size == (2.0, 3.0)
    assert (distant.kind, distant.color[0], distant.direction) == ("directional", 3.0, (0.0, 0.0, -1.0))
    assert (spot.kind, spot.color[0], spot.inner_angle, spot.outer_angle) == ("spot", 0.25, 20.0, 40.0)
    assert scene.environment is not None and scene.environment.pixels[0, 0].tolist() == [0.0, 0.5, 0.0]


def test_a_camera_has_its_angle_and_place(tmp_path: Path) -> None:
    text = (
        mesh()
        + """def Camera "eye" { float focalLength = 50; float verticalAperture = 50
        double3 xformOp:translate = (0, 0, 9); uniform token[] xformOpOrder = ["xformOp:translate"] }"""
    )
    scene = read(stage(tmp_path / "a.usda", text))
    assert scene.cameras[0].fov == pytest.approx(2 * math.degrees(math.atan(0.5)))
    assert scene.nodes[scene.cameras[0].node].translation == (0.0, 0.0, 9.0)


def test_hidden_things_proxies_and_guides_are_not_drawn(tmp_path: Path) -> None:
    hidden = '    token visibility = "invisible"\n'
    text = mesh("a", hidden) + mesh("b", '    uniform token purpose = "proxy"\n') + mesh("c")
    text += f'def Xform "d" {{ {hidden} {mesh("e")} }}\ndef BasisCurves "hair" {{ point3f[] points = [(0, 0, 0)] }}'
    scene = read(stage(tmp_path / "a.usda", text))
    assert [one.name for one in scene.meshes] == ["c"] and "Curves, volumes" in said(scene)


def test_a_skin_follows_its_joints(tmp_path: Path) -> None:
    """The knee at (10, 1, 0) turns by a quarter about z, the hip moves by 2 along z: what hangs from the knee is turned
    about it, what hangs from the hip only moves."""
    scene = read(stage(tmp_path / "a.usda", SKINNED.format(more="")))
    assert skinned(scene, 0.0) == pytest.approx(np.array([(10, 0, 0), (11, 0, 0), (11, 2, 0), (10, 2, 0)]), abs=1e-5)
    assert skinned(scene, 1.0) == pytest.approx(np.array([(10, 0, 2), (11, 0, 2), (9, 2, 2), (9, 1, 2)]), abs=1e-5)


def test_blend_shapes_have_their_weights_by_name(tmp_path: Path) -> None:
    scene = read(stage(tmp_path / "a.usda", SKINNED.format(more="")))
    morph = scene.meshes[0].morph_targets
    assert morph is not None and morph.weights.tolist() == [1.0, 0.0]  # tall, wide
    assert morph.positions[0].tolist() == [[0, 0, 0], [0, 0, 0], [0, 0, 0], [0, 3, 0]]
    assert morph.positions[1].tolist() == [[0, 0, 0], [5, 0, 0], [5, 0, 0], [0, 0, 0]]
    track = next(one.track for one in scene.clips[0].channels if one.path == "weights")
    assert track.values.tolist() == [[1, 0], [0, 1]] and track.times.tolist() == [0.0, 1.0]


def test_the_child_reads_in_its_sandbox_what_this_process_does(tmp_path: Path) -> None:
    path = stage(tmp_path / "a.usda", SKINNED.format(more="\n" + mesh()))
    here, there = read(path), load([path])
    assert there.triangle_count == here.triangle_count == 4 and there.remarks == here.remarks
    assert [one.name for one in there.nodes] == [one.name for one in here.nodes]
    assert (there.meshes[0].positions == here.meshes[0].positions).all() and there.duration() == 1.0
