"""Every case is found by its file, has its arguments as data, and is named rightly wherever a command is written."""

from __future__ import annotations

import pathlib
import re
import subprocess
import sys
from importlib import import_module

import pytest

from raygrove.bench import arguments
from raygrove.bench.cases import main, names, parser_of, summary

ROOT = pathlib.Path(__file__).resolve().parents[2]
COMMAND = re.compile(r"-m (?:raygrove\.)?bench(?P<dot>\.)?\s?(?P<case>\w+)(?P<words>[^`#\n]*)")


@pytest.mark.parametrize("case", names())
def test_a_case_is_data_and_a_function(case: str, capsys: pytest.CaptureFixture[str]) -> None:
    module = import_module(f"raygrove.bench.cases.{case}")
    assert callable(module.run) and all(isinstance(one, arguments.Argument) for one in module.ARGUMENTS)
    assert 10 < len(summary(case)) < 110
    with pytest.raises(SystemExit, match="0"):
        main([case, "--help"])
    shown = capsys.readouterr().out
    assert f"python -m raygrove.bench {case}" in shown and summary(case)[:40] in shown


@pytest.mark.parametrize("case", names())
def test_what_many_cases_have_is_said_once(case: str) -> None:
    """The same words mean the same in every case: only files of another kind than PREFIX.json and PREFIX.txt differ."""
    for one in import_module(f"raygrove.bench.cases.{case}").ARGUMENTS:
        (name, *_) = one.names
        if name == "--device":
            assert one is arguments.DEVICE
        if name == "--out" and case not in ("device_check", "window"):
            assert one is arguments.OUT
        if name == "--size":
            assert one.options["type"] is arguments.size_of
        if name == "--repeat":
            assert one == arguments.repeat(one.options["default"])


def test_every_case_is_listed(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        main(["--help"])
    shown = capsys.readouterr().out
    assert len(names()) >= 16 and all(f"  {case} " in shown and summary(case) in shown for case in names())
    assert "raygrove bench build|trace|frame|suite" in shown


def test_what_cannot_be_meant_is_a_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    for words, said in (
        (["abacus"], "abacus"),
        (["light", "--size", "64"], "--size: invalid WIDTHxHEIGHT value: '64'"),
        (["noise", "--eye", "1,2,3"], "--eye and --look-at go together"),
        (["two_level", "--repeat", "0"], "--repeat: invalid whole number from 1 on value: '0'"),
        (["recursive", "--device", "abacus"], "There is no device 'abacus'"),
    ):
        with pytest.raises(SystemExit, match="2"):
            main(words)
        assert said in capsys.readouterr().err


@pytest.mark.parametrize("program", ("raygrove.bench", "bench"))
def test_it_runs_as_a_module(program: str) -> None:
    """By both names it is the package's own modules that run: a case that measures finds its classes once."""
    done = subprocess.run(
        [sys.executable, "-m", program, "claims", "--help"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0 and "python -m raygrove.bench claims" in done.stdout, done.stderr


def test_the_older_name_of_the_device_is_read() -> None:
    assert parser_of("light").parse_args([]).device == "auto"
    assert parser_of("light").parse_args(["--target", "host"]).device == "host"
    assert parser_of("light").parse_args(["--device", "cpu"]).device == "cpu"


def commands() -> list[tuple[str, str, str]]:
    """Every such command in the pages and the sources: where, the case, the words behind it. Saved results and the page
    that describes them quote commands as they were."""
    found = []
    for pattern in ("*.md", "docs/**/*.md", "app/**/*.py", "bench/*.py", "bench/[a-q]*/**/*.py", "tests/**/*.py"):
        for path in sorted(ROOT.glob(pattern)):
            for match in COMMAND.finditer(path.read_text(encoding="utf-8")):
                found.append((str(path.relative_to(ROOT)), f"{match['dot'] or ''}{match['case']}", match["words"]))
    return found


def test_commands_in_pages_name_cases_and_their_arguments() -> None:
    found = commands()
    assert len(found) > 40
    for place, case, words in found:
        if case != "CASE":
            assert case in names(), f"{place}: there is no case {case}"
            flags = {flag for one in import_module(f"raygrove.bench.cases.{case}").ARGUMENTS for flag in one.names}
            for flag in re.findall(r"(?<![\w-])--[a-z][a-z-]*", words):
                assert flag in flags | {"--help"}, f"{place}: {case} has no {flag}"


def test_a_place_that_cannot_be_written_is_said_before_any_work(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("raygrove.bench.cases.noise.run", lambda _: pytest.fail("work was done"))
    with pytest.raises(SystemExit) as left:
        main(["noise", "--out", "/proc/no/found"])
    assert left.value.code == 2 and "--out /proc/no/found: nothing can be written there" in capsys.readouterr().err
