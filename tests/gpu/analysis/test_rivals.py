"""Embree and Warp in races over rays: they follow the clip, find our hits, and are absent in a sentence."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import raygrove as rg
from raygrove.gpu.analysis.rivals import embree, warp
from raygrove.gpu.analysis.rivals.embree_lane import EmbreeRival
from raygrove.gpu.analysis.rivals.known import rival_of
from raygrove.gpu.analysis.rivals.warp_lane import ONE_THREAD, WarpRival
from raygrove.gpu.target.base import Target
from tests.gpu.analysis.test_race import flying_soup


@pytest.fixture(scope="module")
def clip() -> rg.Clip:
    return flying_soup()


@pytest.fixture(scope="module")
def rays() -> rg.RaySet:
    random = np.random.default_rng(5)
    return rg.RaySet(
        random.normal(0.0, 2.0, (333, 3)), random.normal(size=(333, 3)), 0.0, random.uniform(1.0, 9.0, 333)
    )


def test_it_finds_the_hits_of_brute_force_while_things_move(clip: rg.Clip, rays: rg.RaySet) -> None:
    try:
        embree.library()
    except embree.PeerAbsentError as error:
        pytest.skip(str(error))
    names = ["brute_force", "embree@refit", "embree:quality=dynamic", "embree:quality=high", "embree:quality=low"]
    race = rg.race(clip, names, rays=rays, frames=range(3), repeat=6, device="cpu")
    assert race.mismatches == 0 and race.contestants[0].proof.hits > 100
    assert {one.proof.hits for one in race.contestants} == {race.contestants[0].proof.hits}
    refit, rebuild = race.contestants[1:3]
    assert (refit.rebuilds, refit.refits) == (0, 18) and (rebuild.rebuilds, rebuild.refits) == (18, 0)
    assert refit.sah_cost is None and refit.layout == "Embree's own" and refit.update_ms.median > 0.0
    assert "Embree" in race.to_html() and len(race.to_csv().splitlines()) == 6


@pytest.fixture
def warp_there() -> None:
    try:
        warp.module()
    except embree.PeerAbsentError as error:
        pytest.skip(str(error))


def test_warp_finds_the_hits_of_brute_force_while_things_move(clip: rg.Clip, rays: rg.RaySet, warp_there: None) -> None:
    names = ["brute_force", "warp@refit", "warp:builder=median", "warp:builder=sah"]
    race = rg.race(clip, names, rays=rays, frames=range(3), repeat=6, device="cpu")
    assert race.mismatches == 0 and race.contestants[0].proof.hits > 100
    assert {one.proof.hits for one in race.contestants} == {race.contestants[0].proof.hits}
    refit, rebuild = race.contestants[1:3]
    assert (refit.rebuilds, refit.refits) == (0, 18) and (rebuild.rebuilds, rebuild.refits) == (18, 0)
    assert refit.sah_cost is None and refit.layout == "Warp's own" and refit.update_ms.median > 0.0
    assert refit.note == ONE_THREAD and ONE_THREAD in race.to_html()


def test_warp_is_given_where_rays_begin(clip: rg.Clip, warp_there: None) -> None:
    """Its rays begin at their origins: those with a least distance are moved, and tell the distance from where they
    were."""
    random = np.random.default_rng(6)
    given = (random.normal(0.0, 2.0, (333, 3)), random.normal(size=(333, 3)), random.uniform(0.1, 2.0, 333), 9.0)
    race = rg.race(clip, ["brute_force", "warp"], rays=rg.RaySet(*given), frames=range(1), device="cpu")
    assert race.mismatches == 0 and race.contestants[1].proof.hits == race.contestants[0].proof.hits > 20


@pytest.mark.cuda
def test_warp_finds_our_hits_on_a_gpu(cuda_target: Target, clip: rg.Clip, rays: rg.RaySet, warp_there: None) -> None:
    race = rg.race(clip, ["brute_force", "warp@refit", "warp:builder=lbvh"], rays=rays, frames=range(3), device="cuda")
    assert race.mismatches == 0 and race.contestants[0].proof.hits > 100
    assert all(one.trace_ms.median > 0.0 and not one.note for one in race.contestants)


def test_where_warp_is_not_there_a_sentence_says_how_to_get_it(
    clip: rg.Clip, rays: rg.RaySet, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "warp", None)
    with pytest.raises(rg.Error, match="Warp is not measured: it is not installed.*pip install warp-lang"):
        rg.race(clip, ["lbvh", "warp"], rays=rays, device="cpu")


def test_where_it_is_not_there_a_sentence_says_how_to_get_it(
    clip: rg.Clip, rays: rg.RaySet, monkeypatch: pytest.MonkeyPatch
) -> None:
    embree.library.cache_clear()
    monkeypatch.setattr(embree.importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr(embree, "SYSTEM", ())
    with pytest.raises(rg.Error, match="pip install embreex"):
        rg.race(clip, ["lbvh", "embree"], rays=rays, device="cpu")
    embree.library.cache_clear()


def test_what_it_can_be() -> None:
    assert rival_of("lbvh") is None
    assert rival_of("embree") == EmbreeRival("embree", "medium", False, False)
    assert rival_of("embree:quality=high@refit") == EmbreeRival("embree:quality=high@refit", "high", True, True)
    assert rival_of("warp:builder=lbvh@refit") == WarpRival("warp:builder=lbvh@refit", "lbvh", True)
    assert rival_of("embree:quality=dynamic@rebuild") == EmbreeRival(
        "embree:quality=dynamic@rebuild", "medium", True, False
    )


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("embree:quality=best", "one of low, medium, high, dynamic"),
        ("embree:bins=3", "the option quality alone"),
        ("embree/bvh4", "neither optimisers nor layouts"),
        ("embree@auto", "does not follow by auto"),
        ("warp:builder=best", "one of sah, median, lbvh"),
        ("warp+reinsertion", "neither optimisers nor layouts"),
        ("warp@auto", "does not follow by auto"),
        ("warp:builder=lbvh", "by lbvh on a GPU alone"),
    ],
)
def test_what_it_cannot_be_is_a_sentence(clip: rg.Clip, rays: rg.RaySet, text: str, sentence: str) -> None:
    with pytest.raises(rg.Error, match=sentence):
        rg.race(clip, ["lbvh", text], rays=rays, device="cpu")


def test_pictures_are_raced_without_it(clip: rg.Clip) -> None:
    with pytest.raises(rg.Error, match="over given rays.*give rays="):
        rg.race(clip, ["embree"], size=(16, 16), device="cpu")
