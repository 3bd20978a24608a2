"""What of materials is not drawn is told: of OBJ libraries, and of a glTF's textures."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path

import pytest
from PIL import Image

from raygrove.app.scene_io import ImportLimits
from raygrove.app.scene_io.obj_materials import REFLECTIONS, remarks_of, unknown_materials
from raygrove.app.scene_io.read import read_files
from raygrove.gpu.scene import Scene

FACE = "v 0 0 0\nv 0 1 0\nv 0 0 1\nvt 0 0\nf -3/1 -2/1 -1/1\n"


def opened(path: Path) -> tuple[Scene, list[str]]:
    scene = read_files([str(path)], ImportLimits(), 0.0, lambda fraction, text: None)
    return scene, [one.sentence for one in scene.remarks]


def written(folder: Path, names: list[str], library: str, first: str = "mtllib m.mtl\n") -> Path:
    (folder / "m.mtl").write_text(library)
    Image.new("RGB", (2, 2), (255, 0, 0)).save(folder / "a.png")
    (folder / "a.obj").write_text(first + "".join(f"usemtl {name}\n{FACE}" for name in names))
    return folder / "a.obj"


def test_a_material_that_no_library_has_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    library = "newmtl one\nKd 1 0 0\n  newmtl two words \n"
    assert opened(written(tmp_path, ["one", "two words"], library))[1] == []
    scene, said = opened(written(tmp_path, ["one", "three", " four ", "three", "five", "six"], library))
    assert said == [
        "Materials that no library of the model has are drawn plain: three, four, five and 1 more. Export it with its "
        "materials."
    ]
    assert scene.remarks[0].count == 4
    assert "drawn plain: one." in opened(written(tmp_path, ["one"], library, first=""))[1][0]
    told = opened(written(tmp_path, ["one"], library, first="mtllib other.mtl\n"))[1]
    assert len(told) == 1 and "other.mtl was not found" in told[0]


def test_the_first_line_counts_too() -> None:
    text = b"usemtl a\r\nf 1 2 3\r\nusemtl b\r\n usemtl d\r\n#usemtl e\r\nusemtl \r\n"
    assert unknown_materials(text, [b"newmtl b\r\nnewmtl c\r\n"]) == ["a"]
    assert unknown_materials(b"f 1 2 3\n", []) == []


def test_large_libraries_are_looked_at_without_being_held(tmp_path: Path) -> None:
    paths = [str(tmp_path / name) for name in ("a.mtl", "empty.mtl", "b.mtl")]
    for path, name in zip(paths, ("a", "", "b"), strict=True):
        filled = f"# {'-' * 996}\n" * 1000 + f"newmtl {name}\nrefl a.png\n"
        Path(path).write_text(filled if name else "")
    tracemalloc.start()
    try:
        found = remarks_of(b"usemtl a\nusemtl b\nusemtl c\n", paths)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert [(one.count, one.sentence == REFLECTIONS) for one in found] == [(1, False), (2, True)]
    assert peak < 500_000


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("refl -type sphere a.png", "Pictures of what materials reflect (refl) are not drawn."),
        ("map_d a.png", "Materials have a map of opacity and none of colour: it is not drawn. Give them both."),
        ("map_Kd a.png", ""),
        ("map_Kd a.png\nmap_d a.png", ""),
    ],
)
def test_maps_that_are_not_drawn_are_told(
    line: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    found = opened(written(tmp_path, ["one"], f"newmtl one\nKd 1 0 0\n{line}\n"))[1]
    assert found == ([said] if said else [])


@pytest.mark.parametrize(
    ("texture", "said"),
    [
        ({"extensions": {"MSFT_texture_dds": {"source": 0}}}, "(MSFT_texture_dds)"),
        ({"extensions": {"EXT_texture_avif": {"source": 0}}}, "(EXT_texture_avif)"),
        ({"source": 0, "extensions": {"MSFT_texture_dds": {"source": 0}}}, ""),
        ({"extensions": {"EXT_texture_webp": {"source": 0}}}, ""),
        ({"extensions": {"ACME_filter": {"sharp": True}}}, "name no picture"),
    ],
)
def test_pictures_of_a_gltf_that_are_not_read_are_told(
    texture: dict[str, object], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Image.new("RGB", (2, 2), (255, 0, 0)).save(tmp_path / "a.png")
    (tmp_path / "a.bin").write_bytes(bytes(16) + b"\0\0\x80?" + bytes(16) + bytes(24))
    accessor = {"componentType": 5126, "count": 3}
    document = {
        "asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": [0]}], "nodes": [{"mesh": 0}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0, "TEXCOORD_0": 1}, "material": 0}]}],
        "materials": [{"pbrMetallicRoughness": {"baseColorTexture": {"index": 0}}}],
        "textures": [texture], "images": [{"uri": "a.png"}], "extensionsUsed": list(texture.get("extensions", ())),
        "buffers": [{"byteLength": 60, "uri": "a.bin"}],
        "bufferViews": [{"buffer": 0, "byteLength": 36}, {"buffer": 0, "byteOffset": 36, "byteLength": 24}],
        "accessors": [
            accessor | {"bufferView": 0, "type": "VEC3", "min": [0, 0, 0], "max": [0, 1, 0]},
            accessor | {"bufferView": 1, "type": "VEC2"},
        ],
    }  # fmt: skip
    (tmp_path / "a.gltf").write_text(json.dumps(document))
    scene, found = opened(tmp_path / "a.gltf")
    assert [said in one for one in found if "Textures of materials" in one] == ([True] if said else [])
    assert bool(scene.textures) is not bool(said)
