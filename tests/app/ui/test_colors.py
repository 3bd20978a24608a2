"""What the colours of the window promise, computed."""

from __future__ import annotations

import itertools

import pytest

from raygrove.app.ui.colors import DARK, LIGHT, PHASES, Scheme
from tests.color_science import DEFICIENCIES, ciede2000, contrast, lab

SCHEMES = pytest.mark.parametrize("scheme", [DARK, LIGHT], ids=["dark", "light"])

SHARMA = """
50 2.6772 -79.7751 50 0 -82.7485 2.0425
50 3.1571 -77.2803 50 0 -82.7485 2.8615
50 2.8361 -74.02 50 0 -82.7485 3.4412
50 -1.3802 -84.2814 50 0 -82.7485 1
50 -1.1848 -84.8006 50 0 -82.7485 1
50 -0.9009 -85.5211 50 0 -82.7485 1
50 0 0 50 -1 2 2.3669
50 -1 2 50 0 0 2.3669
50 2.49 -0.001 50 -2.49 0.0009 7.1792
50 2.49 -0.001 50 -2.49 0.001 7.1792
50 2.49 -0.001 50 -2.49 0.0011 7.2195
50 2.49 -0.001 50 -2.49 0.0012 7.2195
50 -0.001 2.49 50 0.0009 -2.49 4.8045
50 -0.001 2.49 50 0.001 -2.49 4.8045
50 -0.001 2.49 50 0.0011 -2.49 4.7461
50 2.5 0 50 0 -2.5 4.3065
50 2.5 0 73 25 -18 27.1492
50 2.5 0 61 -5 29 22.8977
50 2.5 0 56 -27 -3 31.903
50 2.5 0 58 24 15 19.4535
50 2.5 0 50 3.1736 0.5854 1
50 2.5 0 50 3.2972 0 1
50 2.5 0 50 1.8634 0.5757 1
50 2.5 0 50 3.2592 0.335 1
60.2574 -34.0099 36.2677 60.4626 -34.1751 39.4387 1.2644
63.0109 -31.0961 -5.8663 62.8187 -29.7946 -4.0864 1.263
61.2901 3.7196 -5.3901 61.4292 2.248 -4.962 1.8731
35.0831 -44.1164 3.7933 35.0232 -40.0716 1.5901 1.8645
22.7233 20.0904 -46.694 23.0331 14.973 -42.5619 2.0373
36.4612 47.858 18.3852 36.2715 50.5065 21.2231 1.4146
90.8027 -2.0831 1.441 91.1528 -1.6435 0.0447 1.4441
90.9257 -0.5406 -0.9208 88.6381 -0.8985 -0.7239 1.5381
6.7747 -0.2908 -2.4247 5.8714 -0.0985 -2.2286 0.6377
2.0776 0.0795 -1.135 0.9033 -0.0636 -0.5514 0.9082
"""
"""Table 1 of Sharma, Wu and Dalal (2005): two colours in L*a*b*, and their difference."""


def test_ciede2000_is_that_of_its_authors() -> None:
    for line in SHARMA.split("\n")[1:-1]:
        values = [float(word) for word in line.split()]
        one, other = (values[0], values[1], values[2]), (values[3], values[4], values[5])
        assert ciede2000(one, other) == pytest.approx(values[6], abs=5e-5), line
        assert ciede2000(other, one) == pytest.approx(values[6], abs=5e-5), line


def test_contrast_and_simulation_at_known_places() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21.0)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.005), "the grey that just fails 4.5:1"
    for deficiency in DEFICIENCIES:
        lightness, red_green, blue_yellow = lab("#808080", deficiency)
        assert (lightness, red_green, blue_yellow) == pytest.approx((53.585, 0.0, 0.0), abs=0.02), "greys stay grey"
    for deficiency in ("protanopia", "deuteranopia"):
        alike = ciede2000(lab("#a05050", deficiency), lab("#6a6a48", deficiency))
        assert alike < 0.5 * ciede2000(lab("#a05050"), lab("#6a6a48")), deficiency


@SCHEMES
def test_texts_borders_and_phases_stand_out(scheme: Scheme) -> None:
    for ground in (scheme.window, scheme.panel):
        for name in PHASES:
            assert contrast(scheme.phases[name], ground) >= 3.0, (name, ground)
        assert contrast(scheme.border, ground) >= 3.0 and contrast(scheme.other, ground) >= 3.0
    for ground in (scheme.window, scheme.panel, scheme.field, scheme.selected):
        for color in (scheme.text, scheme.secondary):
            assert contrast(color, ground) >= 4.5, (color, ground)
    for ground in (scheme.window, scheme.panel, scheme.field):
        assert contrast(scheme.error, ground) >= 4.5, ground


@pytest.mark.parametrize(("scheme", "least"), [(DARK, 14.3), (LIGHT, 11.6)], ids=["dark", "light"])
def test_any_two_phases_are_told_apart_by_everyone(scheme: Scheme, least: float) -> None:
    assert set(scheme.phases) == set(PHASES)
    distances = {
        (one, other, deficiency): ciede2000(lab(scheme.phases[one], deficiency), lab(scheme.phases[other], deficiency))
        for deficiency in DEFICIENCIES
        for one, other in itertools.combinations(PHASES, 2)
    }
    closest = min(distances, key=lambda pair: distances[pair])
    assert round(distances[closest], 1) >= least, (closest, distances[closest])
