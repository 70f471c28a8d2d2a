"""Colours of congestion controls in pictures."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from matplotlib.colors import to_rgb

from celltcp.present.palette import COLOURS, colour, colours
from celltcp.scenarios.ccas import catalogue

RULES = [f"auto:policy=rules,requirement={each}" for each in ("goodput", "balanced", "delay")]


def test_no_two_in_a_picture_are_alike() -> None:
    everybody = [*(entry["name"] for entry in catalogue()), *RULES, "cubic:hystart=off", "cubic+bbr"]
    result = colours(everybody)
    assert list(result) == everybody
    assert len(set(result.values())) == len(everybody)


def test_colours_do_not_depend_on_who_is_beside_unless_they_would_clash() -> None:
    """Those that pictures are made of most have colours of their own."""
    assert {cca: colours(["vegas", *RULES, cca])[cca] for cca in COLOURS} == COLOURS
    assert colours(["cubic", "vegas"])["vegas"] == colour("vegas")


def test_those_without_colours_of_their_own_differ_at_a_glance() -> None:
    names = ["bba-0", "bola", "robust-mpc", "throughput", "bola-e"]
    shades = [to_rgb(each) for each in colours(names).values()]
    for one, other in combinations(shades, 2):
        assert max(abs(first - second) for first, second in zip(one, other, strict=True)) > 0.3


def test_one_named_twice_has_one_colour() -> None:
    assert colours(["nv", "nv"]) == {"nv": colour("nv")}


def test_a_variant_is_far_from_all_known_ones_of_its_picture_also_from_later_ones() -> None:
    for known in ("reno", "bbr", "vegas"):
        shades = colours(["cubic:hystart=off", known, "cubic:beta=0.8"])
        one, other = (np.array(to_rgb(shades[each])) for each in ("cubic:hystart=off", known))
        assert np.abs(one - other).max() > 0.2
