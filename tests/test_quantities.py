"""Quantities as texts in sentences."""

import random

import pytest

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
