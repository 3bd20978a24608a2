"""The texts of a PNG: what is read, and what every way of being broken says. Cut copies, bombs and lies give a
sentence, never a hang."""

from __future__ import annotations

import io
import os
import struct
import threading
import tracemalloc
import zlib
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, PngImagePlugin

from raygrove.app.scene_io import ImportCancelled, SceneError, is_picture, load, load_picture
from raygrove.app.scene_io.picture_texts import SIGNATURE, TEXT_LIMIT, read_picture


def chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


HEADER = chunk(b"IHDR", struct.pack(">IIBBBBB", 30, 20, 8, 2, 0, 0, 0))
END = chunk(b"IEND", b"")


def written(path: Path, *chunks: bytes) -> str:
    path.write_bytes(SIGNATURE + HEADER + b"".join(chunks))
    return str(path)


def packed(keyword: bytes, text: bytes) -> bytes:
    return chunk(b"zTXt", keyword + b"\0\0" + zlib.compress(text))


def made(**texts: str) -> bytes:
    """A PNG by Pillow, with plain and packed entries in turn."""
    information = PngImagePlugin.PngInfo()
    for number, (key, text) in enumerate(texts.items()):
        information.add_itxt(f"raygrove.{key}", text, zip=number % 2 == 0)
    information.add_text("Comment", "not ours")
    information.add_text("raygrove.plain", "läuft", zip=True)
    file = io.BytesIO()
    Image.fromarray(np.zeros((20, 30, 3), np.uint8)).save(file, "PNG", pnginfo=information)
    return file.getvalue()


def test_entries_of_every_kind_are_read(tmp_path: Path) -> None:
    path = tmp_path / "one.png"
    path.write_bytes(made(one="1 läuft", two="2 läuft", empty=""))
    texts, width, height = load_picture(str(path))
    assert texts == {
        "raygrove.one": "1 läuft",
        "raygrove.two": "2 läuft",
        "raygrove.empty": "",
        "raygrove.plain": "läuft",
    }
    assert (width, height) == (30, 20)


def test_every_cut_copy_is_a_sentence(tmp_path: Path) -> None:
    whole = made(one="1", two="2")
    path = tmp_path / "one.png"
    for length in range(1, len(whole)):
        path.write_bytes(whole[:length])
        with pytest.raises(SceneError, match="one.png") as error:
            read_picture(str(path))
        assert str(error.value).endswith("again.")


def test_a_bit_that_fell_over_in_an_entry_is_found(tmp_path: Path) -> None:
    whole = bytearray(made(one="1" * 100))
    place = whole.index(b"raygrove.one") + 20
    whole[place] ^= 4
    (tmp_path / "one.png").write_bytes(whole)
    with pytest.raises(SceneError, match="check sum"):
        read_picture(str(tmp_path / "one.png"))


@pytest.mark.parametrize(
    ("chunks", "expected"),
    [
        ((packed(b"raygrove.a", b"0" * (TEXT_LIMIT + 1)), END), "unpack to more than 4 MiB"),
        ((*[packed(b"raygrove.%d" % i, b"0" * (TEXT_LIMIT // 3)) for i in range(4)], END), "more than 4 MiB"),
        ((struct.pack(">I", 0x7FFFFFFF) + b"zTXtraygrove.a\0\0", END), "more than 4 MiB"),
        ((struct.pack(">I", 0xFFFFFFFF) + b"IDAT", END), "cut short"),
        ((chunk(b"zTXt", b"raygrove.a\0\0" + zlib.compress(b"0" * 99)[:-6]), END), "cut short"),
        ((chunk(b"zTXt", b"raygrove.a\0\0no zlib"), END), "cannot be unpacked"),
        ((chunk(b"iTXt", b"raygrove.a\0\0\0\0\0\xff\xfe"), END), "not Unicode"),
        ((), "cut short"),
    ],
)
def test_bombs_and_lies(tmp_path: Path, chunks: tuple[bytes, ...], expected: str) -> None:
    path = written(tmp_path / "one.png", *chunks)
    tracemalloc.start()
    with pytest.raises(SceneError, match=expected):
        read_picture(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4 * TEXT_LIMIT


def test_odd_entries_are_passed_over(tmp_path: Path) -> None:
    path = written(
        tmp_path / "one.png", chunk(b"tEXt", b""), chunk(b"zTXt", b"x" * 500), chunk(b"tEXt", b"raygrove.a"), END
    )
    assert read_picture(path)["texts"] == {"raygrove.a": ""}


def test_what_is_no_picture_at_all(tmp_path: Path) -> None:
    path = tmp_path / "one.png"
    for data, expected in (
        (b"", "is empty"),
        (b"solid cube\n", "does not begin like one"),
        (SIGNATURE + END, "header is missing"),
    ):
        path.write_bytes(data)
        with pytest.raises(SceneError, match=expected):
            load_picture(str(path))
    os.mkfifo(tmp_path / "pipe.png")
    for name, expected in (("absent.png", "does not exist"), ("pipe.png", "a FIFO"), (".", "is a folder")):
        with pytest.raises(SceneError, match=expected):
            load_picture(str(tmp_path / name))


def test_a_cancel_is_no_fault_of_the_file(tmp_path: Path) -> None:
    cancel = threading.Event()
    cancel.set()
    with pytest.raises(ImportCancelled):
        load_picture(written(tmp_path / "one.png", END), cancel=cancel)


def test_a_picture_among_models_is_told_apart(tmp_path: Path) -> None:
    path = written(tmp_path / "one.png", END)
    with pytest.raises(SceneError, match="a picture, not a model.*opens alone"):
        load([path, path])


def test_only_one_png_is_a_picture() -> None:
    assert (
        is_picture(["a.PNG"])
        and not is_picture(["a.png", "b.png"])
        and not is_picture(["a.obj"])
        and not is_picture([])
    )
