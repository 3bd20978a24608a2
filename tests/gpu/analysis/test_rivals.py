"""Embree in races over rays: it follows the clip, finds our hits, and is absent in a sentence."""

from __future__ import annotations

import numpy as np
import pytest

import raygrove as rg
from raygrove.gpu.analysis.rivals import embree
from raygrove.gpu.analysis.rivals.embree_lane import Rival, rival_of
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
    assert rival_of("embree") == Rival("embree", "medium", False, False)
    assert rival_of("embree:quality=high@refit") == Rival("embree:quality=high@refit", "high", True, True)
    assert rival_of("embree:quality=dynamic@rebuild") == Rival("embree:quality=dynamic@rebuild", "medium", True, False)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("embree:quality=best", "one of low, medium, high, dynamic"),
        ("embree:bins=3", "the option quality alone"),
        ("embree/bvh4", "neither optimisers nor layouts"),
        ("embree@auto", "does not follow by auto"),
    ],
)
def test_what_it_cannot_be_is_a_sentence(clip: rg.Clip, rays: rg.RaySet, text: str, sentence: str) -> None:
    with pytest.raises(rg.Error, match=sentence):
        rg.race(clip, ["lbvh", text], rays=rays, device="cpu")


def test_pictures_are_raced_without_it(clip: rg.Clip) -> None:
    with pytest.raises(rg.Error, match="over given rays.*give rays="):
        rg.race(clip, ["embree"], size=(16, 16), device="cpu")
