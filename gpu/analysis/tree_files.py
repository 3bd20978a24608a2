"""Files of trees, `.rgtree` (docs/trees.md): eight bytes of header length, a header in JSON, arrays. Arrays are mapped
into memory and not parsed; every size is checked against the file's length before."""

from __future__ import annotations

import hashlib
import json
import math
import os
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import Error
from ..hierarchy.base import NodeTable
from ..hierarchy.bvh.own.tree import Tree
from .whole_file import whole_file

ENDING = ".rgtree"
ANEW = "write it again, as docs/trees.md says"
VERSION = 1
KIND = "bvh2"
MOST_HEADER = 1 << 20
"""Bytes of a header, at most: it has a few hundred."""
ALIGNMENT = 64
"""Arrays begin at multiples of so many bytes from the file's start."""
TYPES = {name: np.dtype(name).newbyteorder("<") for name in ("int32", "uint32", "int64", "float32")}
COLUMNS = {"count": (), "first": (), "children": (2,), "primitives": (), "bounds": (6,)}
"""The arrays of a file and what a row of each is; `bounds` may be missing."""
OF_FRAMES = ("frame_bounds", "frame_times")
"""Both, or none: boxes of nodes at some instants, (T, M, 6), and their seconds."""
FLOATS = ("bounds", *OF_FRAMES)


class TreeFileError(Error):
    """A file holds no tree that can be read: the message says where and why."""


# -- writing -----------------------------------------------------------------------------------------------------------
def save_tree(tree: Tree, path: str | os.PathLike[str], builder: str = "", *, scene: Any = None) -> None:
    """Write a tree into a file `.rgtree`, which appears whole or not at all; `builder` says what made the tree, and
    `scene`, (vertices, triangles), what it is over: the file keeps a hash of them. Indices that need no more are
    written as int32. The tree is not checked. Raises TreeFileError where an array is none."""
    if not isinstance(tree, Tree):
        what = f"a tree is a rg.Tree, and this is {type(tree).__name__}"
        raise TreeFileError(what, "rg.save_tree", "a structure writes its own: structure.save(path)")
    names = [name for name in (*COLUMNS, *OF_FRAMES) if getattr(tree, name) is not None]
    arrays = {name: _written(name, getattr(tree, name)) for name in names}
    _check_frames({name: values.shape for name, values in arrays.items()}, "rg.save_tree")
    entries: dict[str, dict[str, Any]] = {}
    end = 0
    for name, values in arrays.items():
        begin = -(-end // ALIGNMENT) * ALIGNMENT
        end = begin + values.nbytes
        entries[name] = {"type": values.dtype.name, "shape": list(values.shape), "offset": begin}
    header = {"format": "rgtree", "version": VERSION, "kind": KIND, "builder": builder, "arrays": entries}
    if tree.splits_references:
        header["splits_references"] = True
    if scene is not None:
        header["scene"] = scene_hash(*scene)
    text = json.dumps(header).encode()
    text += b" " * (-(len(text) + 8) % ALIGNMENT)
    with whole_file(path) as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for name, values in arrays.items():
            file.seek(8 + len(text) + entries[name]["offset"])
            file.write(values.tobytes())


def tree_of(table: NodeTable) -> Tree:
    """A structure's nodes as a tree of files, the nearer rows first. TreeFileError where a node has not two children,
    as in grids, octrees, and trees over nothing."""
    inner = np.flatnonzero(~table.is_leaf)
    rows = np.arange(1, len(table))[np.argsort(table.parent[1:], kind="stable")]
    if not len(table) or not np.array_equal(table.parent[rows], np.repeat(inner, 2)):
        raise TreeFileError("this is no binary tree: a node has other than two children", remedy="save one of a BVH")
    if (table.is_leaf & (table.reference_count == 0)).any():
        raise TreeFileError("a leaf holds no primitive", remedy="save a tree over something")
    children = np.full((len(table), 2), -1, np.int32)
    children[inner] = rows.reshape(-1, 2)
    count = np.where(table.is_leaf, table.reference_count, 0)
    bounds = np.hstack([table.lower, table.upper])
    return Tree(children=children, first=table.first_reference, count=count, primitives=table.references, bounds=bounds)


def _written(name: str, given: object) -> np.ndarray:
    values = np.asarray(given)
    if name in FLOATS:
        values = values.astype(TYPES["float32"])
    elif values.size == 0 or (values.dtype.kind in "iu" and abs(values.astype(np.int64)).max() < 1 << 31):
        values = values.astype(TYPES["int32"])
    elif values.dtype.kind in "iu":
        values = values.astype(TYPES["int64"])
    else:
        raise TreeFileError(f"{name} are whole numbers, and these are {values.dtype}", "rg.save_tree")
    if name not in OF_FRAMES and (values.ndim != 1 + len(COLUMNS[name]) or values.shape[1:] != COLUMNS[name]):
        raise TreeFileError(f"{name} has the shape {values.shape}; {_wanted(name)}", "rg.save_tree")
    return values


def scene_hash(vertices: Any, triangles: Any) -> str:
    """What tells scenes apart in files of trees: `sha256:` and the digest of the vertices as little-endian float32,
    then of the triangles as int32, each row after row."""
    digest = hashlib.sha256(np.ascontiguousarray(vertices, "<f4").tobytes())
    digest.update(np.ascontiguousarray(triangles, "<i4").tobytes())
    return f"sha256:{digest.hexdigest()}"


# -- reading -----------------------------------------------------------------------------------------------------------
def load_tree(path: str | os.PathLike[str], *, scene: Any = None) -> Tree:
    """The tree of a file `.rgtree`, its arrays mapped and read only. With `scene`, (vertices, triangles), a file that
    says it is of another one is refused. Links and primitives are not followed here: a
    builder that gives this tree has it checked first, and so a file of anybody's is safe. Raises TreeFileError."""
    where = str(path)
    header, start, length = _opened(path)
    if scene is not None and header.get("scene") not in (None, scene_hash(*scene)):
        said = "it is the tree of another scene, or of another instant: the hash of vertices and triangles differs"
        raise TreeFileError(said, where, "give the geometry that it was written with")
    arrays: dict[str, Any] = {
        name: _mapped(path, name, header["arrays"][name], start, length)
        for name in (*COLUMNS, *OF_FRAMES)
        if name in header["arrays"]
    }
    _check_frames({name: values.shape for name, values in arrays.items()}, where)
    return Tree(**arrays, splits_references=header.get("splits_references") is True)


def scene_of_file(path: str | os.PathLike[str]) -> str:
    """The hash of the scene that a file `.rgtree` says it is over (scene_hash); empty where it says none. Raises
    TreeFileError."""
    found = _opened(path)[0].get("scene")
    return found if isinstance(found, str) else ""


def _opened(path: str | os.PathLike[str]) -> tuple[dict[str, Any], int, int]:
    """The header of a file, where its arrays begin, and how long it is."""
    where = str(path)
    if not Path(path).is_file():  # a pipe would be waited for
        raise TreeFileError("it is no regular file" if Path(path).exists() else "there is no such file", where)
    try:
        with open(path, "rb") as file:
            length = os.fstat(file.fileno()).st_size
            header_length = int.from_bytes(file.read(8), "little")
            if length < 8 or header_length > min(length - 8, MOST_HEADER):
                raise TreeFileError(
                    f"its first eight bytes give a header of {header_length:,} bytes, and the file has {length:,} (a "
                    f"header has at most {MOST_HEADER:,})",
                    where,
                    "it is cut off, or no .rgtree",
                )
            header = _header(file.read(header_length), where)
    except OSError as error:
        raise TreeFileError(f"it cannot be read: {error.strerror}", where) from error
    return header, 8 + header_length, length


def _header(text: bytes, where: str) -> dict[str, Any]:
    """The header, with all arrays that there have to be."""
    try:
        header = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise TreeFileError("its header is no JSON", where, ANEW) from error
    if not isinstance(header, dict) or header.get("format") != "rgtree" or not isinstance(header.get("arrays"), dict):
        raise TreeFileError('its header is not one of "format": "rgtree" with "arrays"', where, ANEW)
    if header.get("version") != VERSION or header.get("kind") != KIND:
        said = f"version {header.get('version')!r} and kind {header.get('kind')!r}"
        raise TreeFileError(f"it has {said[:80]}; read are version {VERSION} and kind {KIND!r}", where, ANEW)
    missing = [name for name in COLUMNS if name not in header["arrays"] and name != "bounds"]
    if missing:
        raise TreeFileError(f"it has no array {missing[0]}", where, ANEW)
    return header


def _mapped(path: str | os.PathLike[str], name: str, entry: Any, start: int, length: int) -> np.ndarray:
    """One array, once all that its entry claims is in the file."""
    where = str(path)
    try:
        type_name, shape, offset = entry["type"], tuple(entry["shape"]), entry["offset"]
        numbers = (*shape, offset)
    except (TypeError, KeyError) as error:
        raise TreeFileError(f"array {name} needs a type, a shape and an offset", where, ANEW) from error
    wanted = ("float32",) if name in FLOATS else ("int32", "uint32", "int64")
    if type_name not in wanted:
        said = f"array {name} has the type {str(type_name)[:40]!r}; it may be {', '.join(wanted)}"
        raise TreeFileError(said, where, ANEW)
    is_fit = bool(shape) and (name in OF_FRAMES or shape[1:] == COLUMNS[name])
    if any(type(number) is not int or number < 0 for number in numbers) or not is_fit:
        raise TreeFileError(f"array {name} has the shape {str(entry['shape'])[:80]}; {_wanted(name)}", where, ANEW)
    end = start + offset + math.prod(shape) * TYPES[type_name].itemsize
    if end > length:
        raise TreeFileError(f"array {name} ends at byte {end:,}, and the file has {length:,}", where, "it is cut off")
    if 0 in shape:
        return np.zeros(shape, TYPES[type_name])
    return np.memmap(path, TYPES[type_name], "r", start + offset, shape)


def _check_frames(shapes: dict[str, tuple[int, ...]], where: str) -> None:
    """Boxes of frames are of all nodes, and have their times. Raises TreeFileError."""
    bounds, times = (shapes.get(name) for name in OF_FRAMES)
    if bounds is None and times is None:
        return
    nodes = shapes["count"][0]
    if bounds is None or times is None or bounds != (times[0] if times else -1, nodes, 6) or len(times) != 1:
        said = (
            f"frame_bounds are {bounds} and frame_times {times}; for {nodes:,} nodes they are (T, {nodes}, 6) and (T,)"
        )
        raise TreeFileError(said, where, ANEW)


def _wanted(name: str) -> str:
    if name in OF_FRAMES:
        return "it is (T, M, 6) for frame_bounds, (T,) for frame_times"
    rows = "primitives" if name == "primitives" else "nodes"
    return f"it is a row of {COLUMNS[name][0]} for each of the {rows}" if COLUMNS[name] else f"it is a list of {rows}"
