"""Effects of the factors of a sweep: each claim is recomputed from the values of the runs."""

from __future__ import annotations

import itertools
import random
import re
import statistics
from collections.abc import Mapping, Sequence

import pytest

from celltcp.comparison.metrics import best_of
from celltcp.comparison.verdicts.stakes import Stake
from test_field_changes import _texts

#: 97.5 % quantiles of Student's t by the number of runs, from a table.
_STUDENT = {2: 12.706, 3: 4.303, 4: 3.182, 5: 2.776, 6: 2.571, 8: 2.365, 10: 2.262}
_HELPS = re.compile(r"([\d.]+) to ([\d.]+) s \((\S+) to (\S+?)\)(?:, undecided against (.*))?")
_UNDECIDED = re.compile(r"undecided \((.*) s\)")
_NONE = re.compile(r"no difference that matters(?: \(([\d.]+) to ([\d.]+) s\))?")


def _is_decided(first: Sequence[float], second: Sequence[float]) -> bool:
    gaps = [a - b for a, b in zip(first, second, strict=True)]
    half = _STUDENT[len(gaps)] * statistics.stdev(gaps) / len(gaps) ** 0.5
    return bool(abs(statistics.mean(gaps)) > half)


def _drawn(
    draw: random.Random, fields: Mapping[str, Sequence[str]], runs: int
) -> dict[str, list[float]]:
    """Returns times whose differences and noise are drawn: many are decided, many are not."""
    noise = draw.choice([0.002, 0.05, 0.1])
    weights = {
        value: draw.choice([1.0, 1.0, 1.3, 3.0]) for values in fields.values() for value in values
    }
    result = {}
    for values in itertools.product(*fields.values()):
        mean = 0.2 * draw.choice([1.0, 1.0, 2.0])
        for value in values:
            mean *= weights[value]
        # Levels are alike, so that differences decide, and not ratios.
        name = f"{', '.join(values[:-1])} with {values[-1]}"
        result[name] = [mean * min(max(draw.gauss(1, noise), 0.75), 1.35) for _ in range(runs)]
    return result


@pytest.mark.parametrize("seed", range(60))
def test_each_claim_agrees_with_the_means_and_intervals_of_the_runs(seed: int) -> None:
    draw = random.Random(seed)
    runs = draw.choice([*_STUDENT])
    fields = {"buffer": ["20", "50", "100"][: draw.choice([2, 3])], "queue": ["droptail", "pie"]}
    factors = {**fields, "The CCA": ["cubic", "bbr"]}
    values = _drawn(draw, factors, runs)
    means = {name: statistics.mean(of) for name, of in values.items()}
    stake = Stake("web", "response_p95_s", "", values, best_of("response_p95_s", values, random=True))
    texts = [text for text in _texts([*fields], factors["The CCA"], stake) if text.startswith("web: ")]
    decided = [
        (one, other)
        for one, other in itertools.combinations(values, 2)
        if _is_decided(values[one], values[other])
    ]
    if not texts:
        assert not decided or min(map(len, factors.values())) > 1
        return
    (text,) = texts
    head, *sentences = text.removeprefix("web: ").split(". ")
    best = min(means, key=means.__getitem__)
    # Ends of the text are rounded as the table is.
    assert head.startswith(f"best mean {means[best]:.3f} s with ")
    named = _named(factors, head.partition(" s with ")[2].partition(";")[0])
    assert _name(factors, named) == best
    assert {each.partition(": ")[0] for each in sentences} == {*factors}
    for sentence in sentences:
        factor, _, claim = sentence.partition(": ")
        _check(factors, factor, named, claim, values)


def _named(factors: Mapping[str, Sequence[str]], text: str) -> dict[str, str]:
    """Returns values by factor; that of an only field stands without its name."""
    parts = [part.partition("=") for part in text.split(" and ")]
    return {
        name if value else next(each for each in factors if name in factors[each]): value or name
        for name, _, value in parts
    }


def _name(factors: Mapping[str, Sequence[str]], named: Mapping[str, str]) -> str:
    ordered = [named[factor] for factor in factors]
    return f"{', '.join(ordered[:-1])} with {ordered[-1]}"


def _check(
    factors: Mapping[str, Sequence[str]],
    factor: str,
    others: Mapping[str, str],
    claim: str,
    values: Mapping[str, Sequence[float]],
) -> None:
    def of(value: str) -> Sequence[float]:
        return values[_name(factors, {**others, factor: value})]

    def mean(value: str) -> float:
        return statistics.mean(of(value))

    best = min(factors[factor], key=mean)
    if match := _HELPS.fullmatch(claim):
        worse, good, old, new, open_ones = match.groups()
        assert (new, good, worse) == (best, f"{mean(best):.3f}", f"{mean(old):.3f}")
        assert _is_decided(of(old), of(new))
        for pair in filter(None, (open_ones or "").split(", ")):
            assert not _is_decided(of(pair.split(" ")[0]), of(new))
    elif match := _UNDECIDED.fullmatch(claim):
        *pairs, last = (pair.split(" ") for pair in match.group(1).split(", "))
        assert last == [best, f"{mean(best):.3f}"]
        assert pairs
        for value, number in pairs:
            assert number == f"{mean(value):.3f}"
            assert not _is_decided(of(value), of(best))
    else:
        match = _NONE.fullmatch(claim)
        assert match, claim
        largest = max(map(mean, factors[factor]))
        numbers = f"{largest:.3f}", f"{mean(best):.3f}"
        assert match.groups() == (numbers if numbers[0] != numbers[1] else (None, None))
        # An undecided difference is none only where its whole interval is small.
        for value in factors[factor]:
            assert abs(mean(value) - mean(best)) <= 0.05 * largest


def test_a_single_field_has_its_effects_in_tables_alone() -> None:
    """The table of best values has a row for each CCA: no sentence repeats it."""
    values = {"20 with cubic": [1.0, 1.01, 1.02], "60 with cubic": [2.0, 2.01, 2.02]}
    values |= {name.replace("cubic", "bbr"): [0.1 * each for each in of] for name, of in values.items()}
    stake = Stake("web", "response_p95_s", "", values, best_of("response_p95_s", values, random=True))
    texts = _texts(["buffer"], ["cubic", "bbr"], stake, buffer="60")
    assert not any("best mean" in text for text in texts), texts
    assert texts[0].startswith("buffer=20 instead of 60 ")


def test_a_value_that_no_other_was_run_beside_is_no_tie() -> None:
    """An unfinished sweep has not run each value yet."""
    values = {"20, pie with cubic": [1.0, 1.01, 1.02], "20, pie with bbr": [2.0, 2.01, 2.02]}
    stake = Stake("web", "response_p95_s", "", values, best_of("response_p95_s", values, random=True))
    texts = _texts(["buffer", "queue"], ["cubic", "bbr"], stake)
    text = next(text for text in texts if "best mean" in text)
    assert "no other value was run" in text
    assert "no difference that matters" not in text
