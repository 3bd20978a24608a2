"""Slots between two threads: nobody waits, nothing is lent twice."""

from __future__ import annotations

import threading
import weakref

import numpy as np

from raygrove.app.frames.pixel_slots import HostSlot, SlotExchange


class Host:
    """Enough of a target for a slot."""

    kind = "host"


class Device:
    """A target whose arrays are not the host's."""

    kind = "cuda"

    def __init__(self) -> None:
        self.made: list[np.ndarray] = []

    def empty(self, shape: int | tuple[int, ...], dtype: object, tag: str) -> np.ndarray:
        self.made.append(np.zeros(shape, np.uint8))
        return self.made[-1]

    def download(self, array: np.ndarray) -> np.ndarray:
        return array.copy()


def exchange() -> SlotExchange:
    return SlotExchange((HostSlot(8, 4), HostSlot(8, 4)))


def test_a_slot_holds_smaller_pictures_too() -> None:
    slot = HostSlot(8, 4)
    with slot.image(Host(), 5, 3) as image:  # type: ignore[arg-type]
        assert image.shape == (3, 5, 4) and image.flags.c_contiguous
        image[:] = 7
    assert slot.drawn == (5, 3)
    assert (slot.pixels == 7).all() and slot.pixels.shape == (3, 5, 4)


def test_a_picture_made_elsewhere_is_copied_down() -> None:
    slot, device = HostSlot(8, 4), Device()
    with slot.image(device, 8, 4) as image:  # type: ignore[arg-type]
        assert np.shares_memory(image, device.made[0])
        image[:] = 9
    assert (slot.pixels == 9).all()


def test_a_picture_made_elsewhere_has_one_place_whatever_its_size() -> None:
    """A small one is enlarged in it, frame by frame: nothing is allocated for that, and launches find it again."""
    slot, device = HostSlot(8, 4), Device()
    for width, height in 3 * [(4, 2), (8, 4)]:
        with slot.image(device, width, height) as image:  # type: ignore[arg-type]
            assert image.shape == (height, width, 4) and image.flags.c_contiguous
            image[:] = 10 * width
        assert slot.drawn == (width, height) and (slot.pixels == 10 * width).all()
    assert len(device.made) == 1 and device.made[0].size == 8 * 4 * 4
    other = Device()
    with slot.image(other, 8, 4) as image:  # type: ignore[arg-type]
        assert np.shares_memory(image, other.made[0]), "another target has a place of its own"


def test_two_are_lent_and_no_third() -> None:
    slots = exchange()
    first, second = slots.take_free(), slots.take_free()
    assert first is not second and first is not None and second is not None
    assert slots.take_free() is None


def test_the_newest_picture_is_shown_and_older_ones_are_free_again() -> None:
    slots = exchange()
    first, second = slots.take_free(), slots.take_free()
    assert first is not None and second is not None
    slots.finish(first)
    slots.finish(second)
    assert slots.newest_finished() is second
    assert slots.newest_finished() is None
    assert slots.take_free() is first
    slots.give_back(second)
    assert slots.take_free() is second


def test_a_failed_picture_is_never_shown() -> None:
    slots = exchange()
    slot = slots.take_free()
    assert slot is not None
    slots.finish(slot, is_drawn=False)
    assert slots.newest_finished() is None
    assert {slots.take_free(), slots.take_free()} == set(slots.slots)


def test_closing_waits_for_who_draws() -> None:
    slots = exchange()
    slot = slots.take_free()
    assert slot is not None
    assert not slots.close()
    assert slots.take_free() is None
    gone = [weakref.ref(one) for one in slots.slots]
    slots.finish(slot)
    assert slots.close() and slots.is_closed
    del slot
    assert [one() for one in gone] == [None, None], "whoever still has the exchange has no pictures"


def test_a_waiting_taker_is_woken() -> None:
    slots = exchange()
    lent = [slots.take_free(), slots.take_free()]
    got: list[object] = []
    taker = threading.Thread(target=lambda: got.append(slots.take_free(60.0)))
    taker.start()
    assert lent[0] is not None
    slots.finish(lent[0])
    shown = slots.newest_finished()
    assert shown is not None
    slots.give_back(shown)
    taker.join(60.0)
    assert got == [lent[0]]


def test_pictures_arrive_whole_and_in_order() -> None:
    slots, count = exchange(), 300
    seen: list[int] = []

    def draw() -> None:
        for value in range(1, count + 1):
            slot = None
            while slot is None:
                slot = slots.take_free(1.0)
            with slot.image(Host(), 8, 4) as image:  # type: ignore[arg-type]
                image[:] = value % 251
                slot.value = value  # type: ignore[attr-defined]
            slots.finish(slot)

    drawer = threading.Thread(target=draw)
    drawer.start()
    while not seen or seen[-1] < count:
        slot = slots.newest_finished()
        if slot is None:
            continue
        assert isinstance(slot, HostSlot)
        assert len(np.unique(slot.pixels)) == 1
        seen.append(slot.value)  # type: ignore[attr-defined]
        slots.give_back(slot)
    drawer.join(60.0)
    assert seen == sorted(set(seen))
