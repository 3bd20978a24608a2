"""Files of trees: docs/trees.md performed, the C header compiled and run, and files that are damaged."""

import json
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import raygrove as rg
from raygrove.gpu.analysis.tree_files import TreeFileError
from raygrove.gpu.analysis.whole_file import whole_file
from raygrove.gpu.hierarchy.bvh.own.tree import TreeError, checked_tree

DOCS = pathlib.Path(__file__).parents[3] / "docs"
BOXES = np.array([[i, 0, 0, i + 1, 1, 1] for i in range(3)], np.float32)
BOUNDS = np.array([[0, 0, 0, 3, 1, 1], [0, 0, 0, 2, 1, 1], [2, 0, 0, 3, 1, 1]], np.float32)
COLUMNS = {"children": [[1, 2], [0, 0], [0, 0]], "first": [0, 0, 2], "count": [0, 2, 1], "primitives": [1, 0, 2]}
PROGRAM = """#include "rgtree.h"
int main(int n, char **words) {
    int32_t count[] = {0, 2, 1}, first[] = {0, 0, 2}, children[] = {1, 2, 0, 0, 0, 0}, primitives[] = {1, 0, 2};
    float bounds[] = {0, 0, 0, 3, 1, 1, 0, 0, 0, 2, 1, 1, 2, 0, 0, 3, 1, 1};
    float *boxes = n > 2 && words[2][0] ? NULL : bounds;
    rgtree tree = {3, 3, count, first, children, primitives, boxes, "by hand", 0, NULL, NULL};
    float times[] = {0, 0.5f}, frames[36];
    int i;
    for (i = 0; i < 36; i++) frames[i] = bounds[i % 18] + (i < 18 ? 0.0f : 0.25f);
    if (n > 3) {
        tree.frame_count = 2;
        tree.frame_times = times;
        tree.frame_bounds = frames;
    }
    return !rgtree_write(words[1], &tree);
}
"""


def save(path: pathlib.Path, **changes: Any) -> pathlib.Path:
    rg.save_tree(rg.Tree(**{**COLUMNS, "bounds": BOUNDS, **changes}), path)
    return path


def changed(path: pathlib.Path, change: Callable[[dict[str, Any]], object]) -> pathlib.Path:
    """The file with its header changed."""
    data = path.read_bytes()
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + length])
    change(header)
    text = json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + data[8 + length :])
    return path


def assert_is_the_tree(tree: rg.Tree, bounds: np.ndarray | None = BOUNDS) -> None:
    for name, values in COLUMNS.items():
        assert np.array_equal(getattr(tree, name), values), name
    assert tree.bounds is None if bounds is None else tree.bounds.tobytes() == bounds.tobytes()


def test_a_tree_comes_back_bit_for_bit_and_is_mapped(tmp_path: pathlib.Path) -> None:
    tree = rg.load_tree(save(tmp_path / "a.rgtree"))
    assert_is_the_tree(tree)
    assert isinstance(tree.bounds, np.memmap) and not tree.bounds.flags.writeable
    assert len(checked_tree(tree, BOXES, False).listed) == 3
    rg.save_tree(tree, tmp_path / "b.rgtree")
    assert (tmp_path / "a.rgtree").read_bytes() == (tmp_path / "b.rgtree").read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.rgtree", "b.rgtree"]


@pytest.fixture(scope="module")
def c_program(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        pytest.skip("no C compiler is here")
    assert len((DOCS / "rgtree.h").read_text().splitlines()) <= 100
    folder = tmp_path_factory.mktemp("c")
    (folder / "write.c").write_text(PROGRAM)
    words = ["-std=c99", "-Wall", "-Wextra", "-Werror", f"-I{DOCS}", "write.c", "-o", "write"]
    subprocess.run([compiler, *words], cwd=folder, check=True)
    return folder / "write"


@pytest.mark.parametrize("has_bounds", [True, False])
def test_the_c_header_writes_what_is_read(c_program: pathlib.Path, tmp_path: pathlib.Path, has_bounds: bool) -> None:
    subprocess.run([c_program, "c.rgtree", *([] if has_bounds else ["no"])], cwd=tmp_path, check=True)
    tree = rg.load_tree(tmp_path / "c.rgtree")
    assert_is_the_tree(tree, BOUNDS if has_bounds else None)
    assert tree.frame_bounds is None and tree.frame_times is None


@pytest.mark.parametrize("has_bounds", [True, False])
def test_the_c_header_writes_boxes_of_frames(c_program: pathlib.Path, tmp_path: pathlib.Path, has_bounds: bool) -> None:
    words = ["c.rgtree", "frames", "too"] if not has_bounds else ["c.rgtree", "", "frames"]
    subprocess.run([c_program, *words], cwd=tmp_path, check=True)
    tree = rg.load_tree(tmp_path / "c.rgtree")
    assert_is_the_tree(tree, BOUNDS if has_bounds else None)
    assert tree.frame_times.tolist() == [0.0, 0.5]
    assert tree.frame_bounds.tobytes() == np.stack([BOUNDS, BOUNDS + np.float32(0.25)]).tobytes()


def test_the_page_says_what_works(tmp_path: pathlib.Path) -> None:
    (script,) = re.findall(r"```python\n(.*?)```", (DOCS / "trees.md").read_text(), re.DOTALL)
    (tmp_path / "page.py").write_text(script)
    done = subprocess.run([sys.executable, "page.py"], cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "[0]"


CLAIMS: dict[str, tuple[Callable[[dict[str, Any]], object], str]] = {
    "1e9 nodes": (lambda arrays: arrays["count"].update(shape=[10**9]), "count ends at byte"),
    "more than 64 bits": (lambda arrays: arrays["count"].update(shape=[10**30]), "count ends at byte"),
    "negative": (lambda arrays: arrays["first"].update(shape=[-1]), "first has the shape"),
    "a negative offset": (lambda arrays: arrays["first"].update(offset=-8), "first has the shape"),
    "no list": (lambda arrays: arrays["first"].update(shape=3), "needs a type, a shape"),
    "objects": (lambda arrays: arrays["children"].update(type="object"), "the type 'object'"),
    "missing": (lambda arrays: arrays.pop("primitives"), "no array primitives"),
    "triples": (lambda arrays: arrays["children"].update(shape=[2, 3]), "children has the shape"),
}


@pytest.mark.parametrize("name", CLAIMS)
def test_a_header_that_claims_what_is_not_there(tmp_path: pathlib.Path, name: str) -> None:
    change, said = CLAIMS[name]
    path = changed(save(tmp_path / "a.rgtree"), lambda header: change(header["arrays"]))
    with pytest.raises(TreeFileError, match=said) as caught:
        rg.load_tree(path)
    assert str(caught.value).endswith((": write it again, as docs/trees.md says.", ": it is cut off."))


def test_a_file_that_is_cut_off_anywhere(tmp_path: pathlib.Path) -> None:
    data = save(tmp_path / "a.rgtree").read_bytes()
    for length in range(len(data)):
        (tmp_path / "cut.rgtree").write_bytes(data[:length])
        with pytest.raises(TreeFileError, match=r"cut\.rgtree"):
            rg.load_tree(tmp_path / "cut.rgtree")


@pytest.mark.parametrize("text", [b"[" * 100_000, b"{}", b"7", b"\xff", b'{"format": "rgtree", "arrays": {}}'])
def test_a_header_that_is_none(tmp_path: pathlib.Path, text: bytes) -> None:
    (tmp_path / "a.rgtree").write_bytes(len(text).to_bytes(8, "little") + text)
    with pytest.raises(TreeFileError):
        rg.load_tree(tmp_path / "a.rgtree")


def test_a_pipe_is_not_waited_for(tmp_path: pathlib.Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(TreeFileError, match="pipe: it is no regular file"):
        rg.load_tree(tmp_path / "pipe")
    with pytest.raises(TreeFileError, match="there is no such file"):
        rg.load_tree(tmp_path / "nothing")


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"children": [[1, 0], [0, 0], [0, 0]]}, "a cycle"),
        ({"children": [[1, 7], [0, 0], [0, 0]]}, "right child is 7"),
        ({"count": [0, 2, 2_000_000_000]}, "node 2 is a leaf of"),
        ({"primitives": [1, 0, 9]}, "lists primitive 9"),
        ({"primitives": [1, 0, 0]}, "lists it already"),
        ({"bounds": np.where(BOUNDS == 3, np.nan, BOUNDS)}, "not finite"),
    ],
)
def test_a_tree_that_is_none_is_refused_before_it_is_followed(
    tmp_path: pathlib.Path, changes: dict[str, Any], said: str
) -> None:
    tree = rg.load_tree(save(tmp_path / "a.rgtree", **changes))
    with pytest.raises(TreeError, match=said):
        checked_tree(tree, BOXES, False)


def test_what_is_no_column_is_not_written(tmp_path: pathlib.Path) -> None:
    with pytest.raises(TreeFileError, match="whole numbers"):
        save(tmp_path / "a.rgtree", count=[0.5, 1.0, 2.0])
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("claimed", [1 << 62, (1 << 64) - 1, 100_000, (1 << 20) + 1])
def test_a_header_longer_than_the_file_or_than_headers_are(tmp_path: pathlib.Path, claimed: int) -> None:
    data = save(tmp_path / "a.rgtree").read_bytes()
    rest = b" " * (1 << 21) if claimed == (1 << 20) + 1 else data[8:]
    (tmp_path / "a.rgtree").write_bytes(claimed.to_bytes(8, "little") + rest)
    with pytest.raises(TreeFileError, match="give a header of"):
        rg.load_tree(tmp_path / "a.rgtree")


def test_an_index_past_32_bits_stays_what_it_is(tmp_path: pathlib.Path) -> None:
    tree = rg.load_tree(save(tmp_path / "a.rgtree", primitives=[1, 0, (1 << 31) + 2]))
    assert tree.primitives.tolist() == [1, 0, (1 << 31) + 2]


@pytest.mark.parametrize("count", [900, 40_000])
def test_a_full_disk_is_told_with_the_files_name(tmp_path: pathlib.Path, count: int) -> None:
    """Whether it is found full when the file is closed, or before, with bytes that still wait to be written."""
    path, (soft, hard) = tmp_path / "one.rgtree", resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))
    try:
        with pytest.raises(OSError, match=f"File too large: '{path}'"), whole_file(path) as file:
            for _ in range(count):
                file.write(b"some")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert not list(tmp_path.iterdir())


def test_the_error_of_another_file_keeps_its_name(tmp_path: pathlib.Path) -> None:
    path, other = tmp_path / "one.rgtree", tmp_path / "none"
    with pytest.raises(FileNotFoundError, match=f"'{other}'"), whole_file(path) as file:
        file.write(other.read_bytes())
    assert not list(tmp_path.iterdir())
