"""The precompiled header of the host's units: made once it pays, the same code, and done without where it fails."""

from __future__ import annotations

import pathlib
import shutil
from typing import Any

import pytest

from raygrove.gpu.target import cache, host_compiler, host_prelude
from raygrove.gpu.target.base import UnitSource
from raygrove.gpu.target.translation_unit import write_unit

KERNELS = write_unit(UnitSource("tests/gpu/target/contract.cu", rays_per_thread=8), "host", 8)


@pytest.fixture
def commands(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The commands of the compiler, in a cache that is empty."""
    if "clang" in host_compiler.compiler_version().lower():
        pytest.skip("clang compiles units without it")
    monkeypatch.setenv("RAYGROVE_CACHE", str(tmp_path / "cache"))
    host_compiler._prelude.cache_clear()
    seen: list[list[str]] = []
    run = host_compiler._run_compiler

    def noted(*given: Any, **named: Any) -> Any:
        seen.append(given[0])
        return run(*given, **named)

    monkeypatch.setattr(host_compiler, "_run_compiler", noted)
    return seen


def compile_units(count: int, first: int = 0) -> list[bytes]:
    """The libraries of a unit compiled `count` times, each under a digest of its own."""
    before = set(cache.cache_folder().glob("host-*"))
    for number in range(first, first + count):
        host_compiler.compile_library(KERNELS.text, f"{KERNELS.digest} {number}", True)
    return [path.read_bytes() for path in set(cache.cache_folder().glob("host-*")) - before]


@pytest.fixture(scope="module")
def made_once(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """A cache with the header of these flags, as a process that was here before left it."""
    folder = tmp_path_factory.mktemp("prelude") / "cache"
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("RAYGROVE_CACHE", str(folder))
        host_compiler._prelude.cache_clear()
        compile_units(host_prelude.PAYS_FROM)
    host_compiler._prelude.cache_clear()
    return folder


@pytest.fixture
def with_header(made_once: pathlib.Path, commands: list[list[str]]) -> list[list[str]]:
    """The commands of the compiler, in such a cache."""
    shutil.copytree(made_once, cache.cache_folder(), dirs_exist_ok=True)
    return commands


def makes(command: list[str]) -> bool:
    return "c++-header" in command


def uses(command: list[str]) -> bool:
    return "-include" in command


def test_it_is_made_when_it_pays_and_the_code_is_the_same(commands: list[list[str]]) -> None:
    units = compile_units(host_prelude.PAYS_FROM + 1)
    assert [makes(command) for command in commands].index(True) == host_prelude.PAYS_FROM - 1
    assert [uses(command) for command in commands] == [False] * host_prelude.PAYS_FROM + [True] * 2
    assert len(units) == host_prelude.PAYS_FROM + 1 and len(set(units)) == 1


def test_it_is_made_beforehand_for_who_expects_many_units(commands: list[list[str]]) -> None:
    host_compiler.make_headers(True)
    host_compiler.make_headers(True)
    compile_units(1)
    assert [makes(command) for command in commands] == [True, False]
    assert [uses(command) for command in commands] == [False, True]


def test_no_unit_waits_for_another_thread_that_makes_it(commands: list[list[str]]) -> None:
    prelude = host_compiler._command(host_compiler._key("", True, ())[0])[1]
    with prelude._making:
        compile_units(host_prelude.PAYS_FROM + 1)
    assert not any(map(uses, commands)) and not any(map(makes, commands))


def test_another_process_uses_it_at_once(with_header: list[list[str]]) -> None:
    compile_units(1, first=100)
    assert [uses(command) for command in with_header] == [True]


@pytest.mark.parametrize("flags", ["-O1", "-fno-math-errno"])
def test_each_set_of_flags_has_its_own(
    with_header: list[list[str]], monkeypatch: pytest.MonkeyPatch, flags: str
) -> None:
    monkeypatch.setenv("RAYGROVE_HOST_FLAGS", flags)
    compile_units(1, first=100)
    assert [uses(command) for command in with_header] == [False]


def test_one_that_cannot_be_made_is_done_without(
    commands: list[list[str]], tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "broken.cuh").write_text("#error no such thing")
    monkeypatch.setattr(host_prelude, "PATH", str(tmp_path / "broken.cuh"))
    assert len(compile_units(host_prelude.PAYS_FROM + 1)) == host_prelude.PAYS_FROM + 1
    assert sum(map(makes, commands)) == 1 and not any(map(uses, commands))


def test_one_that_cannot_be_read_is_done_without(with_header: list[list[str]]) -> None:
    compile_units(1, first=100)
    (header,) = cache.cache_folder().glob("*.gch")
    header.write_bytes(b"")
    assert len(compile_units(2, first=200)) == 2
    assert [uses(command) for command in with_header] == [True, True, False, False]


def test_headers_are_the_projects_wherever_the_program_was_started(
    commands: list[list[str]], tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "gpu/target/cuda_on_host.cuh"
    other.parent.mkdir(parents=True)
    other.write_text("#error of another checkout")
    monkeypatch.chdir(tmp_path)
    assert len(compile_units(1)) == 1
