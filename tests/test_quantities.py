"""Quantities as texts in sentences."""

import random

import pytest

from celltcp.scenarios.quantities import between
from celltcp.scenarios.quantity_texts import size_text, three_digits, time_text


@pytest.mark.parametrize("exponent", range(-6, 9))
def test_no_quantity_has_an_exponent(exponent: int) -> None:
    for value in (10.0**exponent, random.Random(exponent).uniform(1, 10) * 10.0**exponent, 0.9999):
        for text in (time_text(value), size_text(1e3 * value), three_digits(max(value, 1.0))):
            assert "e+" not in text
    assert float(time_text(4.4e-2).removesuffix(" ms")) == 44


def test_long_times_are_in_seconds() -> None:
    assert time_text(4.46) == "4.46 s"
    assert time_text(0.99999) == "1 s"
    assert time_text(8640) == "8 640 s"
    assert time_text(0.0445) == "44.5 ms"


def test_times_below_a_nanosecond_are_rounding_errors_of_differences() -> None:
    assert time_text(0.3 - 0.1 - 0.2) == time_text(7e-15) == "0 ms"
    assert float(time_text(1e-9).removesuffix(" ms")) == 1e-6


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        ("40Mbit/s", "80Mbit/s", ["50.4Mbit/s", "63.5Mbit/s"]),
        ("500kbit/s", "4Mbit/s", ["1000kbit/s", "2000kbit/s"]),
        ("10packets", "80packets", ["20packets", "40packets"]),
        ("35", "40", ["37", "38"]),
        ("3packets", "4packets", []),
        ("40Mbit/s", "42Mbit/s", []),
        ("1bdp", "90ms", []),
    ],
)
def test_values_to_try_are_in_equal_ratios_between_two_given_ones(
    low: str, high: str, expected: list[str]
) -> None:
    assert between(low, high) == expected
