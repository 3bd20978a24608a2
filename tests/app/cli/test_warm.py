"""`raygrove warm`: what it compiles, says and returns."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from raygrove.app.cli.main import main
from raygrove.app.cli.warm import _choices
from raygrove.app.settings import option_tables
from raygrove.app.settings.settings import Settings, set_option
from raygrove.gpu.enlarge.enlarging import UNIT as ENLARGING
from raygrove.gpu.target.planning import AheadCompiler
from raygrove.testing import make_target

CHOICE = ("--demo", "explode", "--set", "demo.triangles=200", "--device", "cpu", "--ray-type", "depth")


@pytest.fixture
def empty_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    tmp_path.chmod(0o700)
    monkeypatch.setenv("RAYGROVE_CACHE", str(tmp_path))
    monkeypatch.setenv("RAYGROVE_HOST_FLAGS", "-O0")
    return tmp_path


def test_what_was_compiled_is_there_for_whoever_draws(
    empty_cache: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main(["warm", *CHOICE, "--json"]) == 0
    told = capsys.readouterr()
    first = json.loads(told.out)
    assert first["compiled"] == first["units"] > 8 and len(list(empty_cache.glob("host-*.so"))) >= first["units"]
    assert f"{first['units']} of {first['units']} compiled" in told.err
    with make_target("host") as target:
        assert AheadCompiler(target).is_ready(ENLARGING), "what the window enlarges small pictures by, too"
    assert main(["warm", *CHOICE, "--json", "--quiet"]) == 0
    told = capsys.readouterr()
    assert json.loads(told.out)["compiled"] == 0 and told.err == ""

    def refuse(*given: object) -> None:
        raise AssertionError("something was compiled")

    monkeypatch.setattr("raygrove.gpu.target.host_compiler._compile", refuse)
    assert main(["render", *CHOICE, "--size", "16x16", "--samples", "1", "--out", str(empty_cache / "a.png")]) == 0


def test_all_is_every_structure_and_every_ray_type_on_each_family() -> None:
    settings = set_option(Settings(), "render.layout", "bvh2")
    found = list(_choices(settings, True))
    assert {one.hierarchy for one in found} == set(option_tables.own_builders())
    for family in {kind.family for kind in option_tables.own_builders().values()}:
        on_it = [one for one in found if option_tables.own_builders()[one.hierarchy].family == family]
        assert {one.ray_type for one in on_it} == set(option_tables.ray_types()), family
    assert {one.update.mode for one in found} == {"auto"}, "what refits is compiled, too"
    assert [one.layout for one in found if one.hierarchy == "lbvh"][0] == "bvh2"
    assert {one.layout for one in found if one.hierarchy != "lbvh"} == {"auto"}
    assert len(list(_choices(settings, False))) == 1


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("nothing_here.obj",), 3),
        (("--hierarchy", "nobody"), 2),
        (("--device", "cuda:99"), 4),
    ],
)
def test_the_exit_codes_are_those_of_other_commands(
    words: tuple[str, ...], code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["warm", *words]) == code
    assert "error: " in capsys.readouterr().err
