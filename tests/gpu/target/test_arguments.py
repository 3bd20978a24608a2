"""What a launch is given is what the kernel reads: at its first launch, when the same arrays come again, and when they
are gone."""

from __future__ import annotations

import ctypes
import gc
import re
import struct
import weakref
from typing import Any

import numpy as np
import pytest

from raygrove.gpu.target.arguments import ArgumentBlock, Arguments
from raygrove.gpu.target.base import TargetError
from raygrove.gpu.target.structs import address
from raygrove.gpu.target.translation_unit import KernelSignature, Parameter

TYPES = (
    ("count", "int"),
    ("keys", "unsigned*"),
    ("scale", "float"),
    ("out", "float*"),
    ("seed", "uint64"),
    ("is_last", "bool"),
    ("view", "View"),
    ("boxes", "float4*"),
)


def block(*names: str) -> ArgumentBlock:
    types = dict(TYPES)
    parameters = tuple(Parameter(name, types[name].rstrip("*"), types[name].endswith("*")) for name in names)
    return ArgumentBlock(KernelSignature("work", parameters), address)


def read(packed: ArgumentBlock) -> dict[str, Any]:
    """The arguments by name, as the kernel finds them behind the `void**`."""
    codes = {"int": "i", "float": "f", "uint64": "Q", "bool": "?"}
    places = (ctypes.c_void_p * len(packed.signature.parameters)).from_address(packed.address)
    found: dict[str, Any] = {}
    for parameter, place in zip(packed.signature.parameters, places, strict=True):
        if parameter.type_name == "View":
            assert place % 16 == 0
            found[parameter.name] = ctypes.string_at(place, 24)
            continue
        code = "Q" if parameter.is_pointer else codes[parameter.type_name]
        assert place % struct.calcsize(code) == 0
        found[parameter.name] = struct.unpack("=" + code, ctypes.string_at(place, struct.calcsize("=" + code)))[0]
    return found


def expected(arguments: dict[str, Any]) -> dict[str, Any]:
    def value(argument: Any) -> Any:
        if argument is None:
            return 0
        if isinstance(argument, np.ndarray):
            return argument.tobytes() if argument.shape == () else address(argument)
        return argument

    return {name: value(argument) for name, argument in arguments.items()}


def test_a_block_is_as_large_as_the_launch_bounds_at_most() -> None:
    packed = ArgumentBlock(KernelSignature("work", (Parameter("count", "int", False),), most_threads=128), address)
    packed.pack({"count": 1}, 128)
    for _ in range(3):  # also where the arguments are known
        with pytest.raises(TargetError, match=r"work takes blocks of at most 128 threads .* blocks of 256\."):
            packed.pack({"count": 1}, 256)


def test_every_value_arrives_again_and_again() -> None:
    names = tuple(name for name, _ in TYPES)
    packed, (first, second) = block(*names), (np.zeros(4, "u4") for _ in range(2))
    out, view = np.zeros(4, "f4"), np.zeros((), np.dtype([("a", "u8", (3,))]))
    for turn in range(8):
        view["a"] = turn, 2, 3
        keys = (first, second, None)[turn % 3]
        arguments = {
            "view": view,
            "count": turn - 2,
            "keys": keys,
            "scale": -0.0 if turn % 2 else 0.0,
            "out": out,
            "seed": 1 << (60 + turn % 4),
            "is_last": turn % 2 == 0,
            "boxes": None,
        }
        packed.pack(arguments)
        assert read(packed) == expected(arguments)
        assert np.signbit(read(packed)["scale"]) == bool(turn % 2)


def test_arrays_that_come_again_are_looked_at_twice_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[Any] = []
    packed = block("keys", "out", "count")
    anew = packed._pack_anew

    def watched(arguments: Arguments) -> None:
        looked.append(arguments)
        anew(arguments)

    monkeypatch.setattr(packed, "_pack_anew", watched)
    pairs = [(np.zeros(4, "u4"), np.zeros(4, "f4")) for _ in range(3)]
    for turn in range(15):
        keys, out = pairs[turn % 3]
        packed.pack({"out": out, "keys": keys, "count": turn})
        assert read(packed) == {"keys": address(keys), "out": address(out), "count": turn}
    assert len(looked) == 6


def test_an_array_in_the_place_of_one_that_is_gone_is_another() -> None:
    packed, out = block("keys", "out"), np.zeros(4, "f4")
    held = []
    for turn in range(200):
        keys = np.zeros(4 + turn % 7, "u4")  # soon with the identity of one before it
        for _ in range(3):
            packed.pack({"keys": keys, "out": out})
            assert read(packed) == {"keys": address(keys), "out": address(out)}
        if turn % 5 == 0:
            held.append(np.zeros(4 + turn % 7, "u4"))
    del keys
    assert packed._rows == {}


def test_what_does_not_fit_is_said_of_arrays_known_and_unknown() -> None:
    packed, keys, out = block("keys", "out", "boxes", "count"), np.zeros(4, "u4"), np.zeros(4, "f4")
    right = {"keys": keys, "out": out, "boxes": np.zeros((4, 8), "f4"), "count": 1}
    rows = np.zeros((4, 3), "f4")
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"out": keys}, "parameter out: an array of float32 was expected, uint32 was given"),
        ({"count": out}, "parameter count: a number was expected, an array of shape"),
        ({"out": out[::2]}, "parameter out: the array is not contiguous"),
        ({"out": 7}, "parameter out: an array was expected, int was given"),
        ({"boxes": rows[:3]}, r"parameter boxes: whole float4s were expected, an array of shape \(3, 3\) was given"),
        ({"boxes": rows.reshape(-1)[:10]}, r"parameter boxes: whole float4s were expected, an array of shape \(10,\)"),
        ({"count": 1 << 31}, "parameter count: 2147483648 is beyond what int holds"),
        ({"count": -(1 << 40)}, "parameter count: -1099511627776 is beyond what int holds"),
        ({"count": float("inf")}, "parameter count: a number was expected, float was given"),
        ({"count": None}, "parameter count: a number was expected, NoneType was given"),
    ]
    for _ in range(3):
        for arguments, sentence in wrong:
            with pytest.raises(TargetError, match=sentence):
                packed.pack(right | arguments)
        packed.pack(right | {"count": 5.0})  # a whole number is one, whatever its type
        assert read(packed) == expected(right | {"count": 5})


def test_every_name_is_asked_for_before_and_after_the_arrays_are_known() -> None:
    packed = block("keys", "out", "count", "view")
    right = {"keys": np.zeros(4, "u4"), "out": np.zeros(4, "f4"), "count": 1, "view": np.zeros((), [("a", "u8", (3,))])}
    wrong: list[tuple[tuple[str, ...], dict[str, Any], str]] = [
        (("keys",), {}, "Kernel work: keys is missing. Its arguments are keys, out, count, view."),
        (("keys",), {"key": None}, "Kernel work: keys is missing, there is no key (did you mean keys?). "),
        (("count",), {}, "Kernel work: count is missing. "),
        (("count",), {"cuont": 1}, "count is missing, there is no cuont (did you mean count?). "),
        (("view",), {}, "Kernel work: view is missing. "),
        (("view",), {"camera": 0}, "view is missing, there is no camera. "),
        ((), {"turn": 0}, "Kernel work: there is no turn. "),
    ]
    for _ in range(4):
        for left_out, more, sentence in wrong:
            with pytest.raises(TargetError, match=re.escape(sentence)):
                packed.pack({name: value for name, value in right.items() if name not in left_out} | more)
        packed.pack(right)
        assert read(packed) == expected(right)


def test_a_struct_of_another_size_moves_nothing_else() -> None:
    packed, keys = block("keys", "view", "count"), np.zeros(4, "u4")
    for size in (3, 3, 40, 3):
        view = np.zeros((), np.dtype([("a", "u8", (size,))]))
        view["a"] = 9
        packed.pack({"keys": keys, "view": view, "count": 11})
        found = read(packed)
        assert (found["keys"], found["count"]) == (address(keys), 11) and found["view"] == view.tobytes()[:24]


def test_a_kernel_whose_arrays_live_for_one_launch_is_left_alone() -> None:
    packed = block("keys")
    for _ in range(500):
        keys = np.zeros(4, "u4")
        packed.pack({"keys": keys})
        assert read(packed) == {"keys": address(keys)}
        del keys
    assert packed._useless == 32
    lasting = np.zeros(4, "u4")
    for _ in range(3):
        packed.pack({"keys": lasting})
        assert read(packed) == {"keys": address(lasting)}


@pytest.mark.parametrize(("name", "number"), [("count", 1 << 31), ("scale", 1e39), ("seed", -1), ("seed", 1 << 64)])
def test_a_number_of_any_type_that_does_not_fit_is_named(name: str, number: float) -> None:
    packed = block("is_last", "seed", "scale", "count")
    values = {"is_last": True, "seed": 1, "scale": 0.5, "count": 7} | {name: number}
    for _ in range(3):
        with pytest.raises(
            TargetError, match=f"Kernel work, parameter {name}: .* is beyond what {dict(TYPES)[name]} holds"
        ):
            packed.pack(values)


@pytest.fixture
def few_objects() -> None:
    """Python's collector knows what the test makes, and none of what others have left."""
    gc.collect()
    gc.freeze()


def test_nothing_is_kept_of_arrays_that_are_gone(few_objects: None) -> None:
    """Neither the arrays nor that they were known: a program that draws for days gives ever new ones."""
    packed = block("keys", "out")
    kept = np.zeros(3, "f4")

    def known() -> int:
        return sum(type(one) is weakref.ref and one() is None for one in gc.get_objects())

    before = known()
    given = [np.zeros(2 + turn % 5, "u4") for turn in range(300)]  # all at once, so that each has its own identity
    for keys in given:
        packed.pack({"keys": keys, "out": kept})
    del given, keys
    gc.collect()
    assert known() - before < 20
    packed.pack({"keys": None, "out": kept})
    assert read(packed) == {"keys": 0, "out": address(kept)}


def test_a_block_goes_with_the_last_who_holds_it(few_objects: None) -> None:
    """Blocks were in circles, hundreds for each target, and lay in wait for Python's search for garbage."""
    arrays = [np.zeros(4, "u4") for _ in range(3)]
    packed = block("keys", "count", "view", "boxes")
    for turn in range(6):
        view = np.zeros((), [("a", "u8"), ("b", "u8"), ("c", "u8")])
        packed.pack({"keys": arrays[turn % 3], "count": turn, "view": view, "boxes": np.zeros(4, "f4")})
    gone = weakref.ref(packed)
    gc.collect()
    gc.disable()
    try:
        before = len(gc.get_objects())
        del packed
        assert gone() is None and len(gc.get_objects()) < before
        assert not gc.collect(), "nothing of it is left to be searched for"
    finally:
        gc.enable()
    arrays.clear()
