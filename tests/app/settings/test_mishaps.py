"""Settings files that are damaged, and programs that are killed while they save."""

from __future__ import annotations

import random
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from raygrove.app.settings.file import (
    SettingsError,
    load_settings,
    load_user_settings,
    save_settings,
    settings_text,
    user_file,
)
from raygrove.app.settings.settings import Settings, option_groups, set_option
from raygrove.gpu.settings import fields_of
from tests.waiting import PROCESS_S

MUTANTS, KILLS = 100, 100
ROOT = Path(__file__).resolve().parents[3]


def rich() -> Settings:
    """Settings in which much is said."""
    said = {
        "render.width": 640,
        "render.ray_type": "steps",
        "timeline.speed": 2.5,
        "start.position": (1.0, 2.0, 3.0),
        "update.mode": "refit",
    }
    settings = set_option(Settings(), "hierarchy.lbvh.max_leaf_size", 2)
    for key, value in said.items():
        settings = set_option(settings, key, value)
    return settings


def mutant(data: bytes, number: int) -> bytes:
    """A damaged copy: cut, a bit turned, a piece doubled, a piece lost, or a number made huge. The same number gives
    the same damage."""
    chance = random.Random(number)
    at, length = chance.randrange(len(data)), chance.randrange(1, 24)
    kind = number % 5
    if kind == 0:
        return data[:at]
    if kind == 1:
        return data[:at] + bytes([data[at] ^ (1 << chance.randrange(8))]) + data[at + 1 :]
    if kind == 2:
        return data[:at] + data[at : at + length] * 3 + data[at + length :]
    if kind == 3:
        return data[:at] + data[at + length :]
    return data.replace(
        b"640", chance.choice([b"9" * 5000, b"9" * 400, b"-1", b"nan", b"1e999", b"0x280", b"{}", b"[[[[" * 2000])
    )


@pytest.mark.parametrize("number", range(MUTANTS))
def test_a_damaged_file_of_the_user_is_said_and_the_program_starts(number: int) -> None:
    path = user_file()
    path.parent.mkdir(parents=True)
    whole = ("# mine\n" + settings_text(rich())).encode()
    data = mutant(whole, number)
    path.write_bytes(data)
    settings, warning = load_user_settings()
    for name, options in option_groups(settings):
        for field in fields_of(options):
            field.checked(getattr(options, field.name), name)
    try:
        strict = load_settings(path if path.exists() else path.with_suffix(".toml.bad"))
    except SettingsError as error:
        assert warning and str(path) in str(error)
        assert error.line > 0 or "settings file" in str(error), f"no line: {error}"
        assert path.exists() or path.with_suffix(".toml.bad").read_bytes() == data, "nothing of the user's is lost"
    else:
        assert warning == "" and settings == strict
    save_settings(settings)
    again, still = load_user_settings()
    assert dict(option_groups(again)) == dict(option_groups(settings)) and still.count("\n") <= warning.count("\n")
    tomllib.loads(path.read_text())


def test_some_damage_is_noticed_and_some_is_harmless() -> None:
    """The mutants above do tell a good reader from a bad one."""
    whole = ("# mine\n" + settings_text(rich())).encode()
    noticed = 0
    for number in range(MUTANTS):
        path = user_file()
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(mutant(whole, number))
        noticed += bool(load_user_settings()[1])
    assert 40 < noticed < MUTANTS


KILLER = """
import os, random, signal, sys, time
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from raygrove.app.settings.settings import Settings, set_option
from raygrove.app.settings.file import load_settings, save_settings
path, kills, chance = Path(sys.argv[2]), int(sys.argv[3]), random.Random(7)
first = set_option(set_option(Settings(), "render.width", 111), "start.scene", "/" + "a" * 20000)
second = set_option(set_option(Settings(), "render.width", 222), "start.scene", "/" + "b" * 60000)
save_settings(first, path)
began, paces = time.monotonic(), []
for _ in range(5):
    start = time.monotonic()
    save_settings(second, path)
    paces.append(time.monotonic() - start)
span = 6 * min(paces)  # this machine's pace: a kill falls into one of the first saves
seen, amid, count = set(), 0, 0
while count < kills or (time.monotonic() < began + 200 and not (amid and len(seen) == 2)):
    count += 1
    child = os.fork()
    if child == 0:
        while True:
            save_settings(second, path)
            save_settings(first, path)
    time.sleep(chance.random() * span)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    found = load_settings(path)
    assert found in (first, second), "neither the old file nor the new one"
    seen.add(found.render.width)
    amid += bool(list(path.parent.glob("*.tmp")))
    for left in path.parent.glob("*.tmp"):
        os.utime(left, (1, 1))  # as if long ago
save_settings(first, path)
print(sorted(seen), amid > 0, [one.name for one in path.parent.iterdir()])
"""


@pytest.mark.parametrize("kills", [KILLS, pytest.param(2 * KILLS, marks=pytest.mark.full)])
def test_killed_while_saving_leaves_the_old_file_or_the_new_one(
    tmp_path: Path, kills: int, record_property: Callable[[str, object], None]
) -> None:
    record_property("kills", kills)
    path = tmp_path / "config" / "settings.toml"
    command = [sys.executable, "-c", KILLER, str(ROOT), str(path), str(kills)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PROCESS_S, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "[111, 222] True ['settings.toml']", (
        "both were met, some saves were cut, and what they left was cleared"
    )
