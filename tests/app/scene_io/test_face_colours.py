"""A PLY's faces have their colours, whichever reader reads them and however their rows lie."""

from __future__ import annotations

import dataclasses
import struct
from pathlib import Path

import numpy as np
import pytest

from raygrove.app.export.scene_files import Instant, ply_of
from raygrove.app.scene_io import ImportLimits, load
from raygrove.app.scene_io.face_colours import NOT_DRAWN
from raygrove.app.scene_io.plain_readers import LEVELS, MOST_COLOURS, palette_of, read_plain
from raygrove.app.scene_io.read import read_files
from raygrove.gpu.scene import Material, Scene
from raygrove.gpu.shade import srgb

POINTS = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (2, 0, 0), (2, 1, 0)]
TRIANGLES = [((0, 1, 2), (255, 0, 0)), ((0, 2, 3), (0, 188, 0)), ((1, 4, 5), (0, 0, 255))]
MIXED = [((0, 1, 2, 3), (255, 0, 0)), ((1, 4, 5), (0, 188, 0)), ((1, 5, 2), (0, 0, 255))]
Row = tuple[tuple[int, ...], tuple[int, int, int]]


def ply(form: str, rows: list[Row], behind: str = "") -> bytes:
    """Vertices with a temperature; faces with a number before their colours and one behind."""
    head = f"ply\nformat {form} 1.0\ncomment one\nelement vertex {len(POINTS)}\n"
    head += "".join(f"property float {name}\n" for name in (*"xyz", "warmth"))
    head += f"element face {len(rows)}\nproperty list uchar int vertex_indices\nproperty short group\n"
    head += "".join(f"property uchar {name}\n" for name in ("red", "green", "blue")) + behind + "end_header\n"
    if form == "ascii":
        body = "".join(f"{x} {y} {z} 20.5\n" for x, y, z in POINTS)
        body += "".join(f"{len(f)} {' '.join(map(str, f))} -3 {c[0]} {c[1]} {c[2]}\n" for f, c in rows)
        return (head + body).encode()
    order = "<" if "little" in form else ">"
    body_bytes = b"".join(struct.pack(order + "4f", *point, 20.5) for point in POINTS)
    for face, colour in rows:
        body_bytes += struct.pack(f"{order}B{len(face)}ih3B", len(face), *face, -3, *colour)
    return head.encode() + body_bytes


def colours(scene: Scene) -> list[tuple[int, ...]]:
    """Of each triangle, as screens show them."""
    (mesh,) = scene.meshes
    linear = np.array([scene.materials[one].base_color[:3] for one in mesh.material_ids])
    return [tuple(row) for row in np.round(255 * srgb.encode(linear)).astype(int).tolist()]


@pytest.mark.parametrize("once_more", [False, True])
@pytest.mark.parametrize("rows", [TRIANGLES, MIXED])
@pytest.mark.parametrize("form", ["ascii", "binary_little_endian", "binary_big_endian"])
def test_faces_have_their_colours_by_both_readers(form: str, rows: list[Row], once_more: bool, tmp_path: Path) -> None:
    path = tmp_path / "model.ply"
    path.write_bytes(ply(form, rows))
    scene = read_files([str(path)], ImportLimits(), 30.0, lambda *_: None, once_more)
    assert colours(scene) == [colour for face, colour in rows for _ in face[2:]]
    assert not any("colours" in remark.sentence and "vertices" not in remark.sentence for remark in scene.remarks)


def test_what_is_exported_opens_with_its_colours(tmp_path: Path) -> None:
    instant = Instant(
        name="model", positions=np.array(POINTS, np.float32), uvs=None,
        normals=np.tile(np.float32([0, 0, 1]), (6, 1)),
        triangles=np.array([face for face, _ in TRIANGLES], np.int32), material_ids=np.array([1, 0, 1], np.int32),
        materials=(Material(base_color=(0.5, 0.25, 0.125, 1.0)), Material(base_color=(0.0, 1.0, 0.0, 1.0))),
        textures=(), origin=(0.0, 0.0, 0.0),
    )  # fmt: skip
    path = tmp_path / "model.ply"
    path.write_bytes(ply_of(instant))
    scene = load([path])
    assert colours(scene) == [(0, 255, 0), (188, 137, 99), (0, 255, 0)] and not scene.remarks


def test_key_frames_have_the_colours_of_the_first(tmp_path: Path) -> None:
    paths = [tmp_path / f"frame_{number}.ply" for number in range(2)]
    for path in paths:
        path.write_bytes(ply("ascii", TRIANGLES))
    assert colours(load(paths)) == [colour for _, colour in TRIANGLES]


@pytest.mark.parametrize("once_more", [False, True])
def test_colours_that_cannot_be_told_apart_are_told(once_more: bool, tmp_path: Path) -> None:
    """Behind another list a row has no place that is known beforehand."""
    path = tmp_path / "model.ply"
    data = ply("ascii", TRIANGLES, "property list uchar float texcoord\n")
    head, _, body = data.partition(b"end_header\n")
    lines = body.decode().splitlines()
    lines = lines[: len(POINTS)] + [line + " 2 0.5 0.5" for line in lines[len(POINTS) :]]
    path.write_bytes(head + b"end_header\n" + "\n".join(lines).encode() + b"\n")
    scene = read_files([str(path)], ImportLimits(), 30.0, lambda *_: None, once_more)
    assert [remark.count for remark in scene.remarks if remark.sentence == NOT_DRAWN] == [1]


def test_floats_of_one_are_full_light(tmp_path: Path) -> None:
    """Whole numbers among them are no bytes."""
    data = ply("ascii", [((0, 1, 2), (1, 0, 1))])
    for name in (b"red", b"green", b"blue"):
        data = data.replace(b"property uchar " + name, b"property float " + name)
    (tmp_path / "model.ply").write_bytes(data)
    assert colours(load([tmp_path / "model.ply"])) == [(255, 0, 255)]


def test_very_many_colours_are_rounded_and_told() -> None:
    """Those beyond the most had been drawn in the first colour, and nothing was said."""
    grey = np.linspace(0.0, 1.0, MOST_COLOURS + 1)
    many = np.stack([grey, 1.0 - grey, grey], axis=1)
    exact, rounded = palette_of(many[1:]), palette_of(many)
    assert len(exact.colours) == MOST_COLOURS and not exact.remark
    assert f"{MOST_COLOURS + 1:,} colours" in rounded.remark and len(rounded.colours) <= MOST_COLOURS
    assert np.abs(rounded.colours[rounded.ids] - many).max() <= 0.5 / (LEVELS - 1) + 1e-9
    text = "".join(f"{r:.6f} {g:.6f} {b:.6f} 0 0 0 1 0 0 0 1 0\n" for r, g, b in many)
    scene = read_plain("many.raw", text.encode(), "raw")
    assert [remark.sentence for remark in scene.remarks] == [rounded.remark]
    of_file = np.array([scene.materials[one].base_color[:3] for one in scene.meshes[0].material_ids])
    assert np.abs(of_file - many).max() <= 0.5 / (LEVELS - 1) + 1e-6


def test_a_raw_file_of_very_many_colours_says_so(tmp_path: Path) -> None:
    grey = np.linspace(0.0, 1.0, MOST_COLOURS + 1)
    path = tmp_path / "many.raw"
    path.write_text("".join(f"{one:.6f} 0 0 0 0 0 1 0 0 0 1 0\n" for one in grey))
    assert any("were rounded" in remark.sentence for remark in load([path]).remarks)


def test_without_colours_nothing_changes(tmp_path: Path) -> None:
    data = ply("ascii", TRIANGLES)
    for old, new in ((b"red", b"one"), (b"green", b"two"), (b"blue", b"three")):
        data = data.replace(b"uchar " + old, b"uchar " + new)
    (tmp_path / "model.ply").write_bytes(data)
    scene = load([tmp_path / "model.ply"])
    assert not scene.remarks and {dataclasses.astuple(one) for one in scene.materials} == {
        dataclasses.astuple(one) for one in scene.materials[:1]
    }
