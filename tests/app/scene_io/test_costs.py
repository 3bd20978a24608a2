"""Files of some kilobytes that ask for gigabytes or hours are refused before a library reads them (review V8, V9)."""

from __future__ import annotations

import base64
import bz2
import gzip
import json
import lzma
import struct
import time
import tracemalloc
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from raygrove.app.scene_io import ImportLimits, SceneError, compressed, gltf_costs, images, load
from raygrove.app.scene_io.compressed import unpack
from raygrove.app.scene_io.images import decode
from raygrove.app.scene_io.read import read_files
from tests.app.scene_io import writers
from tests.app.scene_io.test_references import COLLADA
from tests.campaign import hostile_files

LIMITS = ImportLimits()


def triangle(**changes: Any) -> dict[str, Any]:
    """A glTF of one triangle, of which some parts are others."""
    data = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0]], "<f4").tobytes() + np.array([0, 1], "<f4").tobytes()
    data += np.array([[0, 0, 0], [1, 0, 0]], "<f4").tobytes()
    document: dict[str, Any] = {
        "asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": [0]}], "nodes": [{"mesh": 0}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}}]}],
        "accessors": [
            {"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3", "min": [0, 0, 0], "max": [1, 1, 0]},
            {"bufferView": 1, "componentType": 5126, "count": 2, "type": "SCALAR", "min": [0], "max": [1]},
            {"bufferView": 2, "componentType": 5126, "count": 2, "type": "VEC3"},
        ],
        "bufferViews": [
            {"buffer": 0, "byteOffset": 0, "byteLength": 36}, {"buffer": 0, "byteOffset": 36, "byteLength": 8},
            {"buffer": 0, "byteOffset": 44, "byteLength": 24},
        ],
        "buffers": [
            {"byteLength": 68, "uri": "data:application/octet-stream;base64," + base64.b64encode(data).decode()}
        ],
    }  # fmt: skip
    return document | changes


def written(folder: Path, document: Any) -> Path:
    path = folder / "model.gltf"
    path.write_text(document if isinstance(document, str) else json.dumps(document))
    return path


def moving(count: int) -> dict[str, Any]:
    """Nodes that stand in a row; each is moved by a channel of its own."""
    channels = [{"sampler": 0, "target": {"node": node, "path": "translation"}} for node in range(count)]
    nodes = [{"mesh": 0, "name": f"n{node}"} for node in range(count)]
    return triangle(
        nodes=nodes,
        scenes=[{"nodes": list(range(count))}],
        animations=[{"samplers": [{"input": 1, "output": 2}], "channels": channels}],
    )


SHARED = [{"children": [node + 1] * 2} for node in range(40)] + [{"mesh": 0}]
DEEP = [{"children": [node + 1]} for node in range(30_000)] + [{"mesh": 0}]
NO_BUFFER = {"componentType": 5126, "count": 90_000_000, "type": "VEC3"}
SPARSE = {"count": 1, "indices": {"bufferView": 1, "componentType": 5125}, "values": {"bufferView": 2}}
PRIMITIVE = {"attributes": {"POSITION": 0}}
HOSTILE: dict[str, tuple[Any, str]] = {
    "children that are shared": (triangle(nodes=SHARED), "its 41 nodes stand for more than a million million"),
    "a deep chain": (triangle(nodes=DEEP), "hang 30,001 levels deep, and the limit is 20,000"),
    "deep JSON": ('{"asset":{"version":"2.0"},"x":' + "[" * 200_000 + "]" * 200_000 + "}", "nested too deep"),
    "vertices without a buffer": (
        triangle(accessors=[NO_BUFFER], meshes=[{"primitives": [PRIMITIVE] * 20}]),
        "the same data so often that reading it needs about 27,465 MiB",
    ),
    "a sparse accessor of zeros": (
        triangle(accessors=[{**NO_BUFFER, "count": 300_000_000, "sparse": SPARSE}, *triangle()["accessors"][1:]]),
        r"that 4,577 MiB are made of them, .* let make 1,024. Raise import.unpacked_times if that is right",
    ),
    "keys that all channels share": (
        moving(50_000) | {"accessors": [*triangle()["accessors"][:1], NO_BUFFER, NO_BUFFER]},
        "the same data so often",
    ),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_what_costs_too_much_is_refused_at_once(name: str, tmp_path: Path) -> None:
    document, words = HOSTILE[name]
    begun = time.process_time()
    with pytest.raises(SceneError, match=words) as caught:
        gltf_costs.affordable("model.gltf", written(tmp_path, document).read_bytes(), LIMITS)
    assert time.process_time() - begun < 5.0 and str(caught.value).endswith(".")


def test_the_child_asks_before_it_reads(tmp_path: Path) -> None:
    with pytest.raises(SceneError, match="its 41 nodes stand for"):
        load([written(tmp_path, triangle(nodes=SHARED))])


def test_chunks_that_do_not_fit_a_glb_are_told(tmp_path: Path) -> None:
    path = writers.write_animated_glb(tmp_path / "model.glb")
    data = bytearray(path.read_bytes())
    struct.pack_into("<I", data, 12, 0xFFFFFFF0)
    path.write_bytes(data)
    with pytest.raises(SceneError, match=r"its JSON chunk should have 4,294,967,280 bytes, and [\d,]+ are there"):
        load([path])


def test_what_is_shared_within_reason_opens(tmp_path: Path) -> None:
    nodes = [{"children": [node + 1] * 2} for node in range(6)] + [{"mesh": 0}]
    assert load([written(tmp_path, triangle(nodes=nodes))]).triangle_count == 64


def test_a_circle_of_nodes_is_left_to_the_reader(tmp_path: Path) -> None:
    path = written(tmp_path, triangle(nodes=[{"children": [1], "mesh": 0}, {"children": [0]}]))
    assert gltf_costs.affordable("model.gltf", path.read_bytes(), LIMITS) is None
    with pytest.raises(SceneError):
        load([path])


def test_many_channels_spare_libassimp_its_searches(monkeypatch: pytest.MonkeyPatch) -> None:
    """It looks for the node of each channel among all nodes, unless the node says its pose at rest in full."""
    assert 100**2 < gltf_costs.SEARCHES < 4000**2
    monkeypatch.setattr(gltf_costs, "SEARCHES", 300)
    document = moving(20)
    document["nodes"][1]["scale"] = [2.0, 2.0, 2.0]
    document["nodes"][2]["matrix"] = np.eye(4).reshape(-1).tolist()
    replaced = gltf_costs.affordable("model.gltf", json.dumps(document).encode(), LIMITS)
    assert replaced is not None
    nodes = json.loads(replaced)["nodes"]
    assert nodes[0]["rotation"] == [0.0, 0.0, 0.0, 1.0] and nodes[0]["translation"] == [0.0] * 3
    assert nodes[1]["scale"] == [2.0] * 3 and "scale" not in nodes[2]
    assert gltf_costs.affordable("model.gltf", json.dumps(moving(10)).encode(), LIMITS) is None


def test_a_glb_with_many_channels_is_the_same_scene(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = writers.write_animated_glb(tmp_path / "model.glb")
    monkeypatch.setattr(gltf_costs, "SEARCHES", 0)
    replaced = gltf_costs.affordable("model.glb", path.read_bytes(), LIMITS)
    assert replaced is not None and replaced != path.read_bytes()
    (tmp_path / "full.glb").write_bytes(replaced)
    before, after = load([path]), load([tmp_path / "full.glb"])
    assert [len(clip.channels) for clip in before.clips] == [len(clip.channels) for clip in after.clips]
    assert before.lower == after.lower and before.upper == after.upper


PLY = "ply\nformat ascii 1.0\nelement vertex {}\nproperty float x\nproperty float y\nproperty float z\nend_header\n"
PACKERS: dict[str, Callable[[bytes], bytes]] = {"gz": gzip.compress, "xz": lzma.compress, "bz2": bz2.compress}


@pytest.mark.parametrize("packer", PACKERS)
@pytest.mark.parametrize("ending", ["ply", "obj", "xyz", "csv"])
def test_a_packed_file_of_equal_lines_is_no_model(
    ending: str, packer: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """44 kB of equal points in a .ply.xz took 5.7 GiB and 99 s, 466 kB of an .obj.gz 1.3 GiB and 120 s."""
    monkeypatch.setattr(compressed, "UNPACKED_FREE", 1 << 20)
    count = 180_000
    texts = {"ply": PLY.format(count) + "0 0 0\n" * count, "obj": "v 0 0 0\n" * count,
             "xyz": f"{count}\n\n" + "H 0 0 0\n" * count, "csv": "x,y,z\n" + "0,0,0\n" * count}  # fmt: skip
    path = tmp_path / f"bomb.{ending}.{packer}"
    path.write_bytes(PACKERS[packer](texts[ending].encode()))
    with pytest.raises(SceneError, match=r"unpack to more than 1 MiB, .* Raise import\.unpacked_times if"):
        read_files([str(path)], LIMITS, 25.0, lambda share, words: None)


def test_what_unpacks_to_many_times_its_size_may_be_allowed(tmp_path: Path) -> None:
    count, least = 20_000, ImportLimits(unpacked_times=1)
    positions = np.random.default_rng(1).integers(0, 10, (count, 3))
    text = PLY.format(count) + "\n".join(" ".join(map(str, row)) for row in positions.tolist()) + "\n"
    (tmp_path / "grid.ply.gz").write_bytes(gzip.compress(text.encode()))
    assert load([tmp_path / "grid.ply.gz"], least).sphere_count == count, "so little is free"
    bomb = tmp_path / "bomb.obj.gz"
    bomb.write_bytes(gzip.compress(b"v 0 0 0\n" * 1_600_000))
    with pytest.raises(SceneError, match="unpack to more than 12 MiB"):
        unpack(bomb, LIMITS)
    assert len(unpack(bomb, ImportLimits(unpacked_times=2000))) == 12_800_000
    noise = np.random.default_rng(1).bytes(13 << 20)
    bomb.write_bytes(gzip.compress(noise, 1))
    assert unpack(bomb, ImportLimits(unpacked_times=2)) == noise


def _vtp(size: int, packed: bytes, packer: str) -> str:
    head = np.array([1, size, 0, len(packed)], "<u4").tobytes()
    array = (base64.b64encode(head) + base64.b64encode(packed)).decode()
    return (
        f'<VTKFile type="PolyData" byte_order="LittleEndian" header_type="UInt32" '
        f'compressor="vtk{packer}DataCompressor">'
        f'<PolyData><Piece NumberOfPoints="{size // 12}"><Points><DataArray type="Float32" NumberOfComponents="3" '
        f'format="binary">{array}</DataArray></Points></Piece></PolyData></VTKFile>'
    )


@pytest.mark.parametrize("name", ["zlib.vtp", "lzma.vtp", "points.npz", "cut.npz", "clip.npz", "model.3mf", "lzf.pcd"])
def test_what_is_packed_within_a_file_is_no_model_either(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """480 MB of zeros in 650 kB of a .vtp, in 470 kB of an .npz."""
    monkeypatch.setattr(compressed, "UNPACKED_FREE", 1 << 20)
    size, path = 12 * ((1 << 20) // 12 + 1), tmp_path / name
    plain = bytes(size)
    if name.endswith("vtp"):
        packed = zlib.compress(plain) if name == "zlib.vtp" else lzma.compress(plain)
        path.write_text(_vtp(size, packed, {"zlib": "ZLib", "lzma": "LZMA"}[name[:4]]))
    elif name.endswith("npz"):
        key = "vertices" if name == "clip.npz" else "positions"
        arrays = {key: np.zeros((size // 12, 3), np.float32), "triangles": np.zeros((1, 3), np.int32)}
        np.savez_compressed(path, **{one: arrays[one] for one in ((key, "triangles") if key == "vertices" else (key,))})
        if name == "cut.npz":
            path.write_bytes(path.read_bytes()[:-40])
    elif name.endswith("3mf"):
        hostile_files.archive(path, ("3D/3dmodel.model", plain))
    else:
        lines = f"VERSION .7\nFIELDS x y z\nSIZE 4 4 4\nTYPE F F F\nCOUNT 1 1 1\nWIDTH {size // 12}\nHEIGHT 1\n"
        copies = b"\x00\x00" + b"\xe0\xff\x00" * (size // 264 + 1)
        head = f"{lines}POINTS {size // 12}\nDATA binary_compressed\n".encode()
        path.write_bytes(head + np.array([len(copies), size], "<u4").tobytes() + copies)
    limits = ImportLimits(all_formats=True)
    with pytest.raises(SceneError, match=r"unpack to more than 1 MiB, .* Raise import\.unpacked_times if"):
        read_files([str(path)], limits, 25.0, lambda share, words: None)


def test_grey_pictures_of_16_bits_take_little_more_than_themselves(tmp_path: Path) -> None:
    values = np.linspace(0, 65535, 2000 * 1500).reshape(2000, 1500).astype(np.uint16)
    Image.fromarray(values).save(tmp_path / "grey.png")
    tracemalloc.start()
    pixels = decode(tmp_path / "grey.png", 4096)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 12 * values.size
    assert np.abs(pixels[..., 0].astype(float) - values / 257.0).max() <= 0.51


def test_a_picture_of_more_than_a_gibibyte_is_not_decoded(tmp_path: Path) -> None:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    for sides, bits, kind in (((30_000, 30_000), 16, 0), ((17_000, 16_000), 8, 2), ((17_000, 16_000), 8, 4)):
        header = struct.pack(">IIBBBBB", *sides, bits, kind, 0, 0, 0)
        (tmp_path / "bomb.png").write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", b"x"))
        with pytest.raises(ValueError, match="too many"):  # Pillow keeps a pixel of RGB or grey and alpha in 4 bytes
            decode(tmp_path / "bomb.png", 4096)


def test_pictures_that_hold_little_share_the_room_of_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Twelve such pictures in one model took 22 s and 1.5 GiB (tests/campaign/hostile.py)."""
    monkeypatch.setattr(images, "MAX_BYTES", 3 << 20)
    flat, noise = np.zeros((512, 512, 4), np.uint8), np.random.default_rng(1).integers(0, 256, (512, 512, 4), np.uint8)
    for place in range(4):
        Image.fromarray(flat).save(tmp_path / f"flat{place}.png")
        Image.fromarray(noise).save(tmp_path / f"noise{place}.png")
    room = images.PictureRoom()
    for place in range(4):
        assert decode(tmp_path / f"noise{place}.png", 4096, room).shape == (512, 512, 4), "which costs no room"
    decode(tmp_path / "flat0.png", 4096, room)
    decode((tmp_path / "flat1.png").read_bytes(), 4096, room)
    decode(tmp_path / "flat2.png", 4096, room)
    with pytest.raises(
        images.ImageError, match=r"unpacks from [\d,]+ bytes to 1 MiB, for which the pictures before it"
    ):
        decode(tmp_path / "flat3.png", 4096, room)


def model_of_pictures(folder: Path, side: int) -> Path:
    """A model with five pictures of black pixels, `side` each way."""
    names = [f"{place}.png" for place in range(5)]
    Image.new("L", (side, side)).save(folder / names[0])
    for name in names[1:]:
        (folder / name).hardlink_to(folder / names[0])
    return written(folder, hostile_files.textured(*names))


def test_the_pictures_of_a_model_share_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(images, "MAX_BYTES", 3 << 19)
    scene = read_files([str(model_of_pictures(tmp_path, 512))], ImportLimits(), 0.0, lambda fraction, text: None)
    assert [texture.pixels.shape for texture in scene.textures] == [(512, 512, 4)]
    assert any("4.png (unpacks from" in remark.sentence for remark in scene.remarks)


@pytest.mark.full
def test_the_largest_pictures_of_a_model_share_it(tmp_path: Path) -> None:
    scene = load([model_of_pictures(tmp_path, 13_000)], ImportLimits(texture_size=16384))
    assert [texture.pixels.shape for texture in scene.textures] == [(13_000, 13_000, 4)]
    assert any("4.png (unpacks from" in remark.sentence for remark in scene.remarks)


@pytest.mark.parametrize("word", ["../../x", "1e3", "nan", "\xff"])
def test_a_word_among_the_indices_of_a_collada_file_ends_it(word: str, tmp_path: Path) -> None:
    """libassimp read it for ever, and took all memory that it might (tests/campaign)."""
    text = COLLADA.format(entities="", name="plain").replace("<p>0 1 2</p>", f"<p>0 1\n{word} 2</p>")
    (tmp_path / "model.dae").write_text(text)
    with pytest.raises(SceneError, match=r"model.dae is damaged: line \d has .* among the numbers of <p>"):
        load([tmp_path / "model.dae"], ImportLimits(seconds=30.0, memory_mib=1024))
