"""What a stage is composed of: each layer by the one rule for references, and what damaged or hostile files get."""

from __future__ import annotations

import builtins
import random
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from raygrove.app.scene_io import ImportLimits, SceneError, load, references
from raygrove.app.scene_io.usd import read_usd
from tests.campaign.run import FINDINGS

from .stages import mesh, read, said, stage

ALLOWING = ImportLimits(allow_outside=True)
WAYS = {
    "sublayer": ("subLayers = [@{}@]", ""),
    "reference": ("", 'def "a" (prepend references = @{}@</square>) {{ }}'),
    "payload": ("", 'def "a" (prepend payload = @{}@</square>) {{ }}'),
    "variant": (
        "",
        'def "a" (variants = {{ string v = "x" }}; prepend variantSets = "v") {{\n variantSet "v" = {{\n "x" (prepend '
        "references = @{}@</square>) {{ }}\n }} }}",
    ),
}


def composed(folder: Path, way: str, name: str) -> Path:
    head, body = WAYS[way]
    folder.mkdir(exist_ok=True)
    return stage(folder / "a.usda", body.format(name) + mesh("own"), head.format(name))


@pytest.mark.parametrize("way", WAYS)
def test_layers_inside_are_read(way: str, tmp_path: Path) -> None:
    path = composed(tmp_path / "model", way, "./parts/b.usda")
    (path.parent / "parts").mkdir()
    stage(path.parent / "parts" / "b.usda", mesh())
    scene = read(path)
    assert len(scene.objects) == 2 and not scene.remarks


@pytest.mark.parametrize("form", ["../outside/b.usda", "absolute", "link", "link to a folder"])
@pytest.mark.parametrize("way", WAYS)
def test_layers_outside_are_read_where_that_is_allowed(way: str, form: str, tmp_path: Path) -> None:
    """Not by their path, not by a link, and not where another layer leads there: USD's own resolver would open each."""
    (tmp_path / "outside").mkdir()
    secret = stage(tmp_path / "outside" / "b.usda", mesh())
    name = {"absolute": str(secret), "link": "./c.usda", "link to a folder": "./away/b.usda"}.get(form, form)
    path = composed(tmp_path / "model", way, name)
    (path.parent / "c.usda").symlink_to(secret)
    (path.parent / "away").symlink_to(secret.parent)
    scene = read(path)
    assert len(scene.objects) == 1 and references.OUTSIDE in said(scene)
    assert [remark.setting for remark in scene.remarks] == [references.ALLOWED]


def test_what_is_allowed_outside_is_read(tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    stage(tmp_path / "outside" / "b.usda", mesh())
    path = composed(tmp_path / "model", "reference", "../outside/b.usda")
    scene = read(path, ALLOWING)
    assert len(scene.objects) == 2 and not scene.remarks


def test_a_layer_inside_that_leads_outside_is_cut_there(tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    stage(tmp_path / "outside" / "b.usda", mesh())
    path = composed(tmp_path / "model", "reference", "./inner.usda")
    inner = 'def "square" (prepend references = @../outside/b.usda@</square>) { }'
    stage(path.parent / "inner.usda", inner)
    assert [one.name for one in read(path).meshes] == ["own"]


def test_textures_and_domes_outside_are_not_read(tmp_path: Path) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    (tmp_path / "secret.png").write_bytes(b"\x89PNG")
    text = mesh() + 'def DomeLight "sky" { asset inputs:texture:file = @../secret.png@ }'
    scene = read(stage(folder / "a.usda", text))
    assert scene.environment is None and references.OUTSIDE in said(scene)


@pytest.mark.parametrize("names", ["asset[] assetPaths = [@{}@]", 'string templateAssetPath = "{}"'])
def test_value_clips_are_read_inside_alone(names: str, tmp_path: Path) -> None:
    """Files of time samples, by name or by a template with numbers."""
    (tmp_path / "outside").mkdir()
    moved = 'over "square" { point3f[] points.timeSamples = { 1: [(0, 0, 7), (1, 0, 7), (1, 1, 7), (0, 1, 7)] } }'
    found = {}
    (tmp_path / "model").mkdir()
    for where in ("outside", "model"):
        stage(tmp_path / where / "clip.1.usda", moved)
        name = ("../outside/" if where == "outside" else "./") + (
            "clip.#.usda" if "template" in names else "clip.1.usda"
        )
        times = "double templateStartTime = 1; double templateEndTime = 1; double templateStride = 1"
        listed = "double2[] active = [(0, 0)]; double2[] times = [(0, 0), (10, 10)]"
        clips = f"""clips = {{ dictionary default = {{ {names.format(name)}
            string primPath = "/square"; {times if "template" in names else listed} }} }}"""
        text = mesh().replace('"square"', f'"square" ({clips})')
        path = stage(tmp_path / "model" / f"{where}.usda", text)
        found[where] = read(path)
    assert references.OUTSIDE in said(found["outside"]) and not said(found["model"])
    assert found["outside"].meshes[0].positions[:, 2].max() == 0.0


CASES: dict[str, tuple[Callable[[Path], Path], str]] = {
    "no USD at all": (lambda f: _bytes(f / "a.usd", b"hello"), "begins as no USD file does"),
    "a picture": (lambda f: _bytes(f / "a.usdz", b"\x89PNG\r\n"), "it is a PNG picture"),
    "text that is cut": (
        lambda f: _bytes(f / "a.usda", b'#usda 1.0\ndef Mesh "a" {\n point3f[] points = [('),
        "line 3",
    ),
    "text in no encoding": (
        lambda f: _bytes(f / "a.usda", b'#usda 1.0\ndef "\xff\xfe" {}'),
        "a text in it is no UTF-8",
    ),
    "a ZIP that is cut": (lambda f: _bytes(f / "a.usdz", b"PK\x03\x04" + bytes(60)), "cannot be read as USD"),
    "a crate that is cut": (lambda f: _bytes(f / "a.usdc", b"PXR-USDC" + bytes(100)), "cannot be read as USD"),
    "nothing in it": (lambda f: stage(f / "a.usda", ""), "has no triangles"),
    "a sublayer of itself": (lambda f: stage(f / "a.usda", mesh(), "subLayers = [@./a.usda@]"), "contradicts itself"),
    "a reference to itself": (
        lambda f: stage(f / "a.usda", 'def "a" (prepend references = </a>) { }\n' + mesh()),
        "contradicts itself",
    ),
    "a missing layer": (
        lambda f: stage(f / "a.usda", 'def "a" (prepend references = @./gone.usda@) { }\n' + mesh()),
        r"Layers missing.*gone\.usda \(not found\)",
    ),
    "a layer of another kind": (
        lambda f: stage(f / "a.usda", 'def "a" (prepend references = @./a.txt@) { }\n' + mesh()),
        r"a\.txt \(no USD file by its name\)",
    ),
    "a damaged layer": (
        lambda f: [_bytes(f / "b.usda", b"#usda 1.0\n{"), stage(f / "a.usda", mesh(), "subLayers = [@./b.usda@]")][1],
        r"Layers missing.*b\.usda",
    ),
}


def _bytes(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path


@pytest.mark.parametrize("name", CASES)
def test_a_sentence_for(name: str, tmp_path: Path) -> None:
    """Refused with a sentence, or drawn as far as it goes with a remark."""
    make, words = CASES[name]
    path = make(tmp_path)
    try:
        sentence = said(read(path))
    except SceneError as error:
        sentence = str(error)
        assert path.name in sentence
    assert re.search(words, sentence) and sentence.endswith(".") and "pxrInternal" not in sentence, sentence


def bomb(levels: int, copies: int) -> str:
    """Prims that refer to the level below so often: copies to the power of levels."""
    text = mesh("level0")
    for level in range(1, levels + 1):
        below = "".join(f'def "c{k}" (prepend references = </level{level - 1}>) {{ }}\n' for k in range(copies))
        text += f'def Xform "level{level}" {{ {below} }}\n'
    return text


def test_references_that_stand_for_too_much_are_refused_before_they_are_composed(tmp_path: Path) -> None:
    path = stage(tmp_path / "a.usda", bomb(12, 10))
    with pytest.raises(SceneError, match=r"stand for more than a million million prims, and the limit is 2,000,000"):
        read(path)
    assert len(read(stage(tmp_path / "b.usda", bomb(2, 3))).objects) == 1 + 3 + 9


def test_huge_counts_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Instancers in instancers stand for more nodes than are allowed, here for a thousand."""
    pytest.importorskip("pxr", reason="USD files are read by usd-core, which is not installed here")
    from raygrove.app.scene_io.usd import parts

    monkeypatch.setattr(parts, "MAX_NODES", 1000)
    text = mesh()
    for level in range(2):
        below = "/square" if not level else f"/i{level - 1}"
        places = ", ".join(f"({k}, 0, 0)" for k in range(60))
        text += f"""def PointInstancer "i{level}" {{ rel prototypes = <{below}>
            int[] protoIndices = {[0] * 60}; point3f[] positions = [{places}] }}\n"""
    with pytest.raises(SceneError, match=r"more than 1,000 nodes, instances counted"):
        read(stage(tmp_path / "a.usda", text))


def test_time_samples_that_do_not_fit_in_memory_are_refused(tmp_path: Path) -> None:
    samples = ", ".join(f"{k}: [(0, 0, {k}), (1, 0, 0), (0, 1, 0)]" for k in range(3000))
    body = f"""int[] faceVertexCounts = [3]; int[] faceVertexIndices = [0, 1, 2]
        point3f[] points.timeSamples = {{ {samples} }}"""
    path = stage(tmp_path / "a.usda", mesh(body=body))
    read(path)
    from raygrove.app.scene_io.usd import meshes

    with pytest.raises(SceneError, match=r"3,000 time samples of 300,000 points take"):
        meshes.check_room("a.usda", ImportLimits(), 3000, 300_000)


def test_cut_and_changed_crates_are_sentences_or_scenes(tmp_path: Path) -> None:
    """A binary file cut anywhere, or with a byte changed, in the child: it never ends without a sentence."""
    pxr: Any = pytest.importorskip("pxr.Usd", reason="USD files are read by usd-core, which is not installed here")
    path = stage(tmp_path / "a.usda", mesh())
    pxr.Stage.Open(str(path)).Export(str(tmp_path / "whole.usdc"))
    whole = (tmp_path / "whole.usdc").read_bytes()
    random_ = random.Random(7)
    for number in range(2):
        data = bytearray(whole)
        if number % 2:
            data = data[: random_.randrange(100, len(data))]
        else:
            for _ in range(8):
                data[random_.randrange(88, len(data))] ^= 1 << random_.randrange(8)
        damaged = _bytes(tmp_path / f"{number}.usdc", bytes(data))
        try:
            assert load([damaged]).triangle_count >= 1
        except SceneError as error:
            assert str(error).endswith(".") and "Traceback" not in str(error) and "report" not in str(error)


@pytest.mark.parametrize("is_root", [True, False])
def test_a_damaged_crate_asks_for_no_more_than_its_size_justifies(is_root: bool, tmp_path: Path) -> None:
    """Two bytes of its index changed: USD took 1.9 GiB of memory for 1,365 bytes, or all that it might."""
    path = tmp_path / "damaged.usdz"
    path.write_bytes((FINDINGS / "usdz-8-39.usdz").read_bytes())
    words = r"its 1,388 bytes ask for more than 512 MiB at once, as no whole file does"
    if is_root:
        with pytest.raises(SceneError, match=words):
            load([path])
    else:
        assert re.search(words, said(load([composed(tmp_path, "sublayer", "damaged.usdz")])))


def test_without_the_library_a_sentence_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *rest: Any) -> Any:
        if name.split(".")[0] == "pxr":
            raise ImportError("No module named 'pxr'", name="pxr")
        return real(name, *rest)

    for name in [one for one in sys.modules if one.startswith("raygrove.app.scene_io.usd.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(SceneError, match=r"read by the package usd-core, which is not installed\."):
        read_usd(str(stage(tmp_path / "a.usda", mesh())), ImportLimits())


def test_several_at_a_time_and_packed_ones_are_sentences(tmp_path: Path) -> None:
    paths = [stage(tmp_path / f"{name}.usda", mesh()) for name in "ab"]
    with pytest.raises(SceneError, match="one at a time"):
        load(paths)
    with pytest.raises(SceneError, match=r"read as they are\. Unpack it first"):
        read_usd(str(tmp_path / "a.usda.gz"), ImportLimits())
