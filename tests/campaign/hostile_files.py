"""Models that are made by hand to do harm: each asks for what no model needs, names what is none of its business, or
holds what should break a reader. `make_all` writes them into a folder."""

from __future__ import annotations

import base64
import gzip
import json
import lzma
import os
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from tests.app.scene_io.test_references import COLLADA

TRIANGLE = "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"
CORNERS = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0]], "<f4")
DATA = CORNERS.tobytes() + np.array([0, 1, 2], "<u2").tobytes() + bytes(2) + CORNERS[:, :2].tobytes()
TIMES = np.array([0, 1], "<f4").tobytes() + CORNERS[:2].tobytes()
OUTSIDE = {
    "up": "../../../../../../etc/passwd", "absolute": "/etc/passwd", "url": "file:///etc/passwd",
    "http": "http://127.0.0.1:9/x.bin", "pipe": "pipe", "zero": "/dev/zero", "random": "/dev/urandom",
    "terminal": "/dev/tty", "input": "/dev/stdin", "memory": "/proc/self/mem", "maps": "/proc/self/maps", "empty": "",
    "here": ".", "folder": "/etc", "long": "a" * 5000, "null": "a\0b",
}  # fmt: skip
"""What a model must not read, by a word."""
AXES = "property {} x\nproperty {} y\nproperty {} z\nend_header\n"
PLY_HEAD = b"ply\nformat ascii 1.0\nelement vertex 50000000\n" + AXES.format(*["float"] * 3).encode()
FREE_HEAD = b"ply\nformat binary_little_endian 1.0\nelement vertex 4190000\n" + AXES.format(*["uchar"] * 3).encode()
"""Of as many points as a packed file may have that is small, three bytes each."""
Writer = Callable[[Path], object]


def uri(data: bytes) -> str:
    """Data that a glTF holds itself."""
    return "data:application/octet-stream;base64," + base64.b64encode(data).decode()


def gltf(**changes: Any) -> dict[str, Any]:
    """A glTF of one triangle with texture coordinates, of which some parts are others."""
    float3 = {"componentType": 5126, "count": 3, "type": "VEC3", "min": [0, 0, 0], "max": [1, 1, 0]}
    primitive = {"attributes": {"POSITION": 0, "TEXCOORD_0": 2}, "indices": 1, "material": 0}
    document: dict[str, Any] = {
        "asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": [0]}], "nodes": [{"mesh": 0, "name": "n"}],
        "meshes": [{"primitives": [primitive]}], "materials": [{"name": "m"}],
        "accessors": [
            {"bufferView": 0, **float3}, {"bufferView": 1, "componentType": 5123, "count": 3, "type": "SCALAR"},
            {"bufferView": 2, "componentType": 5126, "count": 3, "type": "VEC2"},
        ],
        "bufferViews": [
            {"buffer": 0, "byteOffset": at, "byteLength": size} for at, size in ((0, 36), (36, 6), (44, 24))
        ],
        "buffers": [{"byteLength": len(DATA), "uri": uri(DATA)}],
    }  # fmt: skip
    return document | changes


def textured(*names: str) -> dict[str, Any]:
    """With a texture of each of these files, each on a primitive of its own."""
    count = range(len(names))
    base = gltf()["meshes"][0]["primitives"][0]
    return gltf(
        images=[{"uri": name} for name in names],
        textures=[{"source": place} for place in count],
        materials=[{"pbrMetallicRoughness": {"baseColorTexture": {"index": place}}} for place in count],
        meshes=[{"primitives": [{**base, "material": place} for place in count]}],
    )


def row(nodes: list[dict[str, Any]], **changes: Any) -> dict[str, Any]:
    """With these nodes, all of them roots."""
    return gltf(nodes=nodes, scenes=[{"nodes": list(range(len(nodes)))}], **changes)


def moving(channels: int, nodes: int, clips: int = 1, times: bytes = TIMES) -> dict[str, Any]:
    """With channels of nodes, the same in each clip."""
    document = row([{"mesh": 0}] * nodes)
    document["buffers"].append({"byteLength": len(times), "uri": uri(times)})
    document["bufferViews"] += [{"buffer": 1, "byteOffset": at, "byteLength": size} for at, size in ((0, 8), (8, 24))]
    document["accessors"] += [
        {"bufferView": 3, "componentType": 5126, "count": 2, "type": "SCALAR", "min": [0], "max": [1]},
        {"bufferView": 4, "componentType": 5126, "count": 2, "type": "VEC3"},
    ]
    tracks = [{"sampler": 0, "target": {"node": node % nodes, "path": "translation"}} for node in range(channels)]
    document["animations"] = [{"samplers": [{"input": 3, "output": 4}], "channels": tracks} for _ in range(clips)]
    return document


def png(width: int, height: int, colour: int = 2, bits: int = 8, is_whole: bool = True) -> bytes:
    """A picture of zeros; one that is not whole has a thousand of its bytes."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    line = bytes(1 + {0: 1, 2: 3}[colour] * width * bits // 8) if is_whole else bytes(1000)
    packer = zlib.compressobj(9)
    packed = b"".join(packer.compress(line) for _ in range(height if is_whole else 1)) + packer.flush()
    header = struct.pack(">IIBBBBB", width, height, bits, colour, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", packed) + chunk(b"IEND", b"")


def nested(key: str, depth: int) -> str:
    """XML whose elements lie in one another."""
    return f"<?xml version='1.0'?><COLLADA>{f'<{key}>' * depth}{f'</{key}>' * depth}</COLLADA>"


def archive(path: Path, *entries: tuple[str, bytes]) -> None:
    """A 3MF with these entries."""
    kind = "http://schemas.microsoft.com/3dmanufacturing/2013/01/3dmodel"
    relation = f'<Relationships><Relationship Target="/3D/3dmodel.model" Type="{kind}"/></Relationships>'
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr("_rels/.rels", relation)
        for name, data in entries:
            made.writestr(name, data)


def documents() -> Iterator[tuple[str, Any]]:
    """Files of glTF and others that are one text: names with their endings, and a document or text."""
    for word, name in OUTSIDE.items():
        yield f"buffer_{word}.gltf", gltf(buffers=[{"byteLength": len(DATA), "uri": name}])
        yield f"texture_{word}.gltf", textured(name)
        if "\0" not in name:
            yield f"library_{word}.obj", f"mtllib {name}\nusemtl root\n{TRIANGLE}"
    yield "outside.lws", "LWSC\n3\nLoadObject /etc/passwd\nShowObject 8 7\nLoadObject pipe\n"
    chain = [{"name": f"n{place}", "children": [place + 1]} for place in range(100_000)]
    yield "deep_10k.gltf", gltf(nodes=[*chain[:9_999], {"mesh": 0}])
    yield "deep_100k.gltf", gltf(nodes=[*chain[:99_999], {"mesh": 0}])
    yield "circle.gltf", gltf(nodes=[{"children": [1], "mesh": 0}, {"children": [0]}])
    yield "shared.gltf", gltf(nodes=[{"children": [place + 1] * 2} for place in range(40)] + [{"mesh": 0}])
    yield "instances_100k.gltf", row([{"mesh": 0, "translation": [place, 0, 0]} for place in range(100_000)])
    mesh = {"primitives": [{"attributes": {"POSITION": 0}, "indices": 1}]}
    yield "meshes_100k.gltf", row([{"mesh": place} for place in range(100_000)], meshes=[mesh] * 100_000)
    yield "primitives_100k.gltf", gltf(meshes=[{"primitives": mesh["primitives"] * 100_000}])
    yield "materials_65k.gltf", gltf(materials=[{"name": f"m{place}"} for place in range(65_536)])
    yield "channels_65k.gltf", moving(65_535, 65_535)
    yield "clips_20k.gltf", moving(1, 1, clips=20_000)
    for word, keys in (("far", [0, 1e30]), ("not_numbers", [np.nan] * 2), ("backwards", [-5, 1e-40])):
        yield f"clip_{word}.gltf", moving(1, 1, times=np.array(keys, "<f4").tobytes() + CORNERS[:2].tobytes())
    for word, value in (("nan", "NaN"), ("infinite", "1e999"), ("huge", "3e38"), ("zero", "0")):
        numbers = row([{"mesh": 0, "matrix": ["@"] * 16}, {"mesh": 0, "scale": ["@"] * 3, "rotation": ["@"] * 4}])
        numbers["materials"] = [{"emissiveFactor": ["@"] * 3, "alphaCutoff": "@"}]
        yield f"numbers_{word}.gltf", json.dumps(numbers).replace('"@"', value)
    sparse = moving(1, 1)
    indices, values = {"bufferView": 1, "componentType": 5123}, {"bufferView": 0}
    sparse["accessors"][0] = {**sparse["accessors"][0], "sparse": {"count": 1, "indices": indices, "values": values}}
    for word, count in (("60m", 60_000_000), ("300m", 300_000_000), ("1g", 1_000_000_000)):
        places = {key: value for key, value in sparse["accessors"][0].items() if key != "bufferView"} | {"count": count}
        yield f"sparse_{word}.gltf", gltf(accessors=[places, *gltf()["accessors"][1:]])
    square = " int[] faceVertexCounts = [3]\n int[] faceVertexIndices = [0, 1, 1]\n point3f[] points = [(0, 0, 0)]\n"
    both = "".join(f' def "{word}" (\n references = </a@>\n )\n {{\n }}\n' for word in "xy")
    doubled = "".join(f'def "a{n}"\n{{\n{both.replace("@", str(n - 1))}}}\n' for n in range(1, 31))
    yield "shared.usda", f'#usda 1.0\ndef Mesh "a0"\n{{\n{square}}}\n{doubled}'
    yield "deep_json.gltf", '{"asset":{"version":"2.0"},"x":' + "[" * 1_000_000 + "]" * 1_000_000 + "}"
    yield "deep_json_open.gltf", "[" * 5_000_000
    yield "deep_xml.dae", nested("node", 200_000)
    yield "entity.dae", COLLADA.format(entities='<!ENTITY e SYSTEM "file:///etc/passwd">', name="&e;")
    laughs = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 10))
    yield "laughs.dae", COLLADA.format(entities=f'<!ENTITY e0 "{"ha" * 10}">{laughs}', name="&e9;")
    named = [{"mesh": 0, "name": "\x1b[31mRED\x1b]0;title\x07\n\u202e"}]
    yield "escapes.gltf", gltf(nodes=named, materials=[{"name": "\x1b[2J"}])
    yield "escaped_texture.gltf", textured("\x1b[31mx.png")
    yield "escaped_library.obj", f"mtllib \x1b[31m.mtl\nusemtl a\n{TRIANGLE}"
    yield "identical.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\n" + "f 1 2 3\n" * 65_536
    yield "esc\x1b[31mred\x1b]0;title\x07.obj", TRIANGLE
    for name in ("new\nline", "-dash", "--help", "x" * 251, "rtl\u202egpj", '"quoted"', "$(id)", "%s%n", "*", "~"):
        yield f"{name}.obj", TRIANGLE


def binaries() -> dict[str, Writer]:
    """Files that are no text, by their names."""
    text = json.dumps(gltf()).encode()
    glb = struct.pack("<4sIIII", b"glTF", 2, 20 + len(text), 0xFFFFFFF0, 0x4E4F534A) + text
    model = ("3D/3dmodel.model", b"<model><resources/></model>")
    return {
        "chunk.glb": lambda path: path.write_bytes(glb + bytes(400_000)),
        "slip.3mf": lambda path: archive(path, model, ("../../../../../../tmp/raygrove-slip.txt", b"x")),
        "bomb.3mf": lambda path: archive(path, ("3D/3dmodel.model", bytes(1 << 30))),
        "bomb.obj.gz": lambda path: path.write_bytes(gzip.compress(b"v 0 0 0\n" * (600 << 17), 9)),
        "points.ply.xz": lambda path: path.write_bytes(lzma.compress(PLY_HEAD + b"0 0 0\n" * 50_000_000, preset=1)),
        "free.ply.gz": lambda path: path.write_bytes(gzip.compress(FREE_HEAD + bytes(3 * 4_190_000))),
        "bomb.npz": lambda path: np.savez_compressed(path, positions=np.zeros((40_000_000, 3), np.float32)),
        "loop.obj": lambda path: path.symlink_to(path.name),
        "pipe.obj": os.mkfifo,
        "empty.obj": lambda path: path.write_bytes(b""),
        "zeros.stl": lambda path: path.write_bytes(bytes(5_000_000)),
    }


PICTURES = {
    "15k.png": (15_000, 15_000), "cut_30k.png": (30_000, 30_000, 2, 8, False), "grey_16k.png": (16_000, 16_000, 0, 16),
    "bits_30k.png": (30_000, 30_000, 0, 1), "grey_20k.png": (20_000, 20_000, 0, 16),
    "20k.png": (20_000, 20_000, 2, 16), "cut_2g.png": (2**31 - 1, 2**31 - 1, 2, 8, False),
}  # fmt: skip


def make_all(folder: Path) -> list[Path]:
    """Write them; returns the models."""
    os.mkfifo(folder / "pipe")
    for name, content in documents():
        text = content if isinstance(content, str) else json.dumps(content)
        (folder / name).write_text(text)
    for name, write in binaries().items():
        write(folder / name)
    for name, (width, height, *rest) in PICTURES.items():
        (folder / name).write_bytes(png(width, height, *rest))
        (folder / f"{name[:-4]}.gltf").write_text(json.dumps(textured(name)))
    many = [f"grey_{place}.png" for place in range(12)]
    for name in many:
        os.link(folder / "grey_16k.png", folder / name)
    (folder / "many_pictures.gltf").write_text(json.dumps(textured(*many)))
    return sorted(path for path in folder.iterdir() if path.suffix != ".png" and path.name != "pipe")
