"""Small writers of model files for tests: OBJ with MTL and a PNG, PLY, GLB with a texture and animations, OBJ
sequences."""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np


def sphere(rings: int = 6, sectors: int = 8, radius: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """A closed ball: positions (V, 3) float64, triangles (T, 3), counter-clockwise from outside."""
    rows = [(0.0, radius, 0.0)]
    for ring in range(1, rings):
        polar = np.pi * ring / rings
        for sector in range(sectors):
            angle = 2.0 * np.pi * sector / sectors
            rows.append(
                (
                    radius * np.sin(polar) * np.cos(angle),
                    radius * np.cos(polar),
                    -radius * np.sin(polar) * np.sin(angle),
                )
            )
    rows.append((0.0, -radius, 0.0))
    last, triangles = len(rows) - 1, []
    for sector in range(sectors):
        after = (sector + 1) % sectors
        triangles.append((0, 1 + sector, 1 + after))
        triangles.append((last, last - sectors + after, last - sectors + sector))
        for ring in range(rings - 2):
            a, b = 1 + ring * sectors + sector, 1 + ring * sectors + after
            triangles += [(a, a + sectors, b), (b, a + sectors, b + sectors)]
    return np.array(rows), np.array(triangles)


def png(pixels: np.ndarray) -> bytes:
    """An RGBA8 PNG of (H, W, 4) uint8."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    height, width = pixels.shape[:2]
    rows = b"".join(b"\0" + row.tobytes() for row in np.ascontiguousarray(pixels, np.uint8))
    header = struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def quarters() -> np.ndarray:
    """A 4 x 2 picture that tells its corners apart: red, green above blue, white."""
    pixels = np.zeros((2, 4, 4), np.uint8)
    pixels[0, :2], pixels[0, 2:] = (255, 0, 0, 255), (0, 255, 0, 255)
    pixels[1, :2], pixels[1, 2:] = (0, 0, 255, 255), (255, 255, 255, 255)
    return pixels


def write_obj(path: Path, positions: np.ndarray, triangles: np.ndarray, digits: int = 9) -> Path:
    """A plain OBJ: positions and faces."""
    lines = ["v " + " ".join(f"{value:.{digits}g}" for value in row) for row in positions]
    lines += ["f " + " ".join(str(int(i) + 1) for i in row) for row in triangles]
    path.write_text("\n".join(lines) + "\n")
    return path


def write_textured_obj(folder: Path) -> Path:
    """Two quads, one textured (Kd 0.5), one shiny red without a texture, with normals and texture coordinates."""
    (folder / "picture.png").write_bytes(png(quarters()))
    (folder / "quads.mtl").write_text(
        "newmtl painted\nKd 0.5 0.5 0.5\nmap_Kd picture.png\nnewmtl red\nKd 0.9 0.1 0.2\nKs 1 1 1\nNs 48\nKe 0.25 "
        "0 0\nd 0.75\n"
    )
    (folder / "quads.obj").write_text(
        "mtllib quads.mtl\nv 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 0 0 2\nv 1 0 2\nv 1 1 2\nv 0 1 2\nvt 0 0\nvt 1 "
        "0\nvt 1 1\nvt 0 1\nvn 0 0 1\n"
        "g left\nusemtl painted\nf 1/1/1 2/2/1 3/3/1 4/4/1\ng right\nusemtl red\nf 5/1/1 6/2/1 7/3/1 8/4/1\n"
    )
    return folder / "quads.obj"


def write_ply(
    path: Path, positions: np.ndarray, triangles: np.ndarray, form: str = "ascii", kind: str = "float"
) -> Path:
    """A PLY, `form` ascii, binary_little_endian or binary_big_endian; coordinates float or double."""
    axes = "".join(f"property {kind} {axis}\n" for axis in "xyz")
    head = f"ply\nformat {form} 1.0\nelement vertex {len(positions)}\n{axes}element face {len(triangles)}\n"
    head += "property list uchar int vertex_indices\nend_header\n"
    if form == "ascii":
        body = "".join(" ".join(repr(float(v)) for v in row) + "\n" for row in positions)
        path.write_text(head + body + "".join(f"3 {a} {b} {c}\n" for a, b, c in triangles))
        return path
    order = "<" if "little" in form else ">"
    faces = np.zeros(len(triangles), np.dtype([("n", "u1"), ("i", order + "i4", 3)]))
    faces["n"], faces["i"] = 3, triangles
    points = np.asarray(positions).astype(order + ("f4" if kind == "float" else "f8"))
    path.write_bytes(head.encode() + points.tobytes() + faces.tobytes())
    return path


def write_3ds(path: Path, *meshes: tuple[np.ndarray, np.ndarray]) -> Path:
    """A 3DS of meshes, each positions (V, 3) and triangles (T, 3), without materials."""

    def chunk(kind: int, body: bytes) -> bytes:
        return struct.pack("<HI", kind, 6 + len(body)) + body

    objects = b""
    for number, (positions, triangles) in enumerate(meshes):
        points = struct.pack("<H", len(positions)) + np.asarray(positions, "<f4").tobytes()
        faces = np.zeros((len(triangles), 4), "<u2")
        faces[:, :3] = triangles
        body = chunk(0x4110, points) + chunk(0x4120, struct.pack("<H", len(faces)) + faces.tobytes())
        objects += chunk(0x4000, b"mesh %d\0" % number + chunk(0x4100, body))
    path.write_bytes(chunk(0x4D4D, chunk(0x0002, struct.pack("<I", 3)) + chunk(0x3D3D, objects)))
    return path


class Glb:
    """Builds a binary glTF 2.0: arrays go into the buffer, everything else is plain JSON to be edited."""

    def __init__(self) -> None:
        self.data = b""
        self.json: dict[str, Any] = {
            "asset": {"version": "2.0"},
            "scene": 0,
            "scenes": [{"nodes": [0]}],
            "bufferViews": [],
            "accessors": [],
        }

    def view(self, raw: bytes) -> int:
        """Bytes as a buffer view."""
        self.data += b"\0" * (-len(self.data) % 4)
        self.json["bufferViews"].append({"buffer": 0, "byteOffset": len(self.data), "byteLength": len(raw)})
        self.data += raw
        return len(self.json["bufferViews"]) - 1

    def accessor(self, array: np.ndarray, kind: str) -> int:
        """An array as an accessor of SCALAR, VEC2 ... MAT4."""
        code = {"f4": 5126, "u4": 5125, "u2": 5123}[array.dtype.str[1:]]
        flat = array.reshape(len(array), -1)
        entry = {"bufferView": self.view(array.tobytes()), "componentType": code, "count": len(array), "type": kind}
        entry |= {"min": flat.min(axis=0).tolist(), "max": flat.max(axis=0).tolist()}
        self.json["accessors"].append(entry)
        return len(self.json["accessors"]) - 1

    def save(self, path: Path) -> Path:
        """Write the file."""
        self.json["buffers"] = [{"byteLength": len(self.data)}]
        text = json.dumps(self.json).encode()
        text += b" " * (-len(text) % 4)
        body = self.data + b"\0" * (-len(self.data) % 4)
        chunks = struct.pack("<I4s", len(text), b"JSON") + text + struct.pack("<I4s", len(body), b"BIN\0") + body
        path.write_bytes(b"glTF" + struct.pack("<II", 2, 12 + len(chunks)) + chunks)
        return path


def edit_glb(path: Path, edit: Callable[[dict[str, Any]], None]) -> Path:
    """Change a binary glTF's JSON in place."""
    data = path.read_bytes()
    length = struct.unpack_from("<I", data, 12)[0]
    document = json.loads(data[20 : 20 + length])
    edit(document)
    text = json.dumps(document).encode()
    text += b" " * (-len(text) % 4)
    body = struct.pack("<I4s", len(text), b"JSON") + text + data[20 + length :]
    path.write_bytes(b"glTF" + struct.pack("<II", 2, 12 + len(body)) + body)
    return path


TURN = np.array([[0.0, 0.0, 0.0, 1.0], [0.0, 0.70710678, 0.0, 0.70710678], [0.0, 1.0, 0.0, 0.0]], np.float32)


def write_animated_glb(path: Path) -> Path:
    """A textured quad on an arm: the arm turns about Y (linear), the hand steps along X; a camera and a point light."""
    glb = Glb()
    corners = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]], np.float32)
    uvs = np.array([[0, 1], [1, 1], [1, 0], [0, 0]], np.float32)
    primitive = {
        "attributes": {"POSITION": glb.accessor(corners, "VEC3"), "TEXCOORD_0": glb.accessor(uvs, "VEC2")},
        "indices": glb.accessor(np.array([0, 1, 2, 0, 2, 3], np.uint32), "SCALAR"),
        "material": 0,
    }
    times = glb.accessor(np.array([0.0, 0.5, 2.0], np.float32), "SCALAR")
    steps = glb.accessor(np.array([[3, 0, 0], [4, 0, 0], [5, 0, 0]], np.float32), "VEC3")
    glb.json |= {
        "nodes": [
            {"name": "arm", "children": [1, 2], "translation": [0, 2, 0], "scale": [2, 2, 2]},
            {"name": "hand", "mesh": 0, "translation": [3, 0, 0]},
            {"name": "eye", "camera": 0, "translation": [0, 0, 9]},
        ],
        "meshes": [{"name": "quad", "primitives": [primitive]}],
        "materials": [
            {
                "name": "paint",
                "pbrMetallicRoughness": {
                    "baseColorFactor": [0.5, 0.25, 1.0, 1.0], "metallicFactor": 0.75, "roughnessFactor": 0.125,
                    "baseColorTexture": {"index": 0}
                },
                "emissiveFactor": [0.5, 0.0, 1.0],
            }
        ],
        "textures": [{"source": 0}],
        "images": [{"bufferView": glb.view(png(quarters())), "mimeType": "image/png"}],
        "cameras": [{"type": "perspective", "name": "view", "perspective": {"yfov": 0.8, "aspectRatio": 1.5,
        "znear": 0.1}}],
        "animations": [
            {
                "name": "wave",
                "samplers": [
                    {"input": times, "output": glb.accessor(TURN, "VEC4"), "interpolation": "LINEAR"},
                    {"input": times, "output": steps, "interpolation": "STEP"},
                ],
                "channels": [
                    {"sampler": 0, "target": {"node": 0, "path": "rotation"}}, {"sampler": 1, "target": {"node": 1,
                    "path": "translation"}},
                ],
            }
        ],
    }  # fmt: skip
    return glb.save(path)


def write_skinned_glb(path: Path, weigh: float = 1.0) -> Path:
    """A strip of 6 vertices on two joints, with one morph target that lifts everything by 1, and its weights animated.
    A vertex's joint weights add up to `weigh`."""
    glb = Glb()
    points = np.array([[0, y, 0] for y in (0, 1, 2)] + [[1, y, 0] for y in (0, 1, 2)], np.float32)
    joints = np.zeros((6, 4), np.uint16)
    joints[:, 1] = 1
    weights = np.zeros((6, 4), np.float32)
    weights[:, 1] = points[:, 1] / 2.0
    weights[:, 0] = 1.0 - weights[:, 1]
    weights *= np.float32(weigh)
    binds = np.stack([np.eye(4), np.eye(4)]).astype(np.float32)
    binds[1, 3, 1] = -1.0  # column-major: translation by -1 along Y
    lift = np.tile(np.array([[0, 1, 0]], np.float32), (6, 1))
    primitive = {
        "attributes": {
            "POSITION": glb.accessor(points, "VEC3"), "JOINTS_0": glb.accessor(joints, "VEC4"),
            "WEIGHTS_0": glb.accessor(weights, "VEC4"),
        },
        "indices": glb.accessor(np.array([0, 3, 1, 1, 3, 4, 1, 4, 2, 2, 4, 5], np.uint32), "SCALAR"),
        "targets": [{"POSITION": glb.accessor(lift, "VEC3")}],
    }  # fmt: skip
    times = glb.accessor(np.array([0.0, 1.0], np.float32), "SCALAR")
    glb.json |= {
        "scenes": [{"nodes": [0, 1]}],
        "nodes": [
            {"name": "body", "mesh": 0, "skin": 0},
            {"name": "low", "children": [2]},
            {"name": "high", "translation": [0, 1, 0]},
        ],
        "meshes": [{"name": "strip", "primitives": [primitive], "weights": [0.25]}],
        "skins": [{"joints": [1, 2], "inverseBindMatrices": glb.accessor(binds, "MAT4")}],
        "animations": [
            {
                "name": "lift",
                "samplers": [
                    {
                        "input": times,
                        "output": glb.accessor(np.array([0.0, 1.0], np.float32), "SCALAR"),
                        "interpolation": "LINEAR",
                    }
                ],
                "channels": [{"sampler": 0, "target": {"node": 0, "path": "weights"}}],
            }
        ],
    }
    return glb.save(path)


def write_sequence(folder: Path, count: int = 4) -> list[Path]:
    """A ball that swells: frame k is 1 + k / 2 as large; frame_0000.obj and on."""
    positions, triangles = sphere()
    return [write_obj(folder / f"frame_{k:04d}.obj", positions * (1.0 + k / 2.0), triangles) for k in range(count)]
