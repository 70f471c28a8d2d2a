"""Shares in sweeps of mixes: who starves whom at each buffer, why, and what depends on the start."""

from __future__ import annotations

import itertools
import random
from typing import TYPE_CHECKING

import pandas as pd
import pytest

import celltcp as ct
from celltcp.comparison.explanation.alike import with_ranges
from celltcp.comparison.explanation.causes_over_all import causes_table
from celltcp.comparison.report.sweep import sweep_part
from celltcp.comparison.sweep.mix_shares import mix_share_texts
from celltcp.comparison.sweep.parameter_sweep import Sweep
from celltcp.selection.explained_results import explain

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

MIX = "bbr+cubic"


def _path(seed: int) -> dict[str, Any]:
    draw = random.Random(f"shares {seed}")
    return {
        "path.rtt": f"{draw.randint(35, 65)}ms",
        "path.down": f"{draw.randint(20, 40)}Mbit/s",
        "flows": [{"name": "first"}, {"name": "second"}],
    }


@pytest.fixture(scope="module", params=range(2))
def swept(request: pytest.FixtureRequest) -> Sweep:
    """BBR beside CUBIC, and CUBIC beside itself, at a shallow and a deep buffer."""
    values = "path.buffer=0.5bdp,8bdp"
    mixes = [MIX, "cubic+cubic"]
    return ct.sweep("steady-20-68", values, mixes, 2, duration="40s", set=_path(request.param))


def _shares(sweep: Sweep, value: str) -> Mapping[str, float]:
    rows = sweep[value].shares.query(f"cca == '{MIX}'").set_index("flow")["goodput_mbps"]
    return {str(flow): float(rate) / float(rows.sum()) for flow, rate in rows.items()}


def test_a_line_has_the_shares_of_a_mix_at_each_value_and_who_is_starved(swept: Sweep) -> None:
    (text,) = (each for each in mix_share_texts(swept) if each.startswith(f"{MIX}: "))
    parts = [
        f"{100 * shares['first']:.0f} : {100 * shares['second']:.0f} with {value}"
        for value in ("0.5bdp", "8bdp")
        for shares in [_shares(swept, value)]
    ]
    assert f"shares of first (bbr) : second (cubic) in %: {', '.join(parts)}" in text
    # Less than a third of the half that each of two has is starved.
    equal = 2 * _shares(swept, "0.5bdp")["second"]
    assert equal < 1 / 3
    assert f"second is starved with 0.5bdp, at {100 * equal:.0f} % of an equal share" in text
    assert not any("starved" in each for each in mix_share_texts(swept) if "cubic+cubic" in each)


def test_an_explanation_of_mixes_begins_with_their_shares_and_has_no_arithmetic_of_losses(
    swept: Sweep,
) -> None:
    explained = explain(swept)
    count = len(mix_share_texts(swept))
    assert explained.over_all[:count] == mix_share_texts(swept)
    reason = explained.over_all[count]
    assert reason.startswith(
        f"{MIX} with 0.5bdp, why second gets less: After an overflow of the buffer"
    )
    assert "bbr does not reduce its rate at such losses" in reason
    assert "RFC 9438" not in explained.text


def test_a_report_on_mixes_begins_with_their_shares(swept: Sweep) -> None:
    first = sweep_part(swept).sections[0]
    assert first.is_front
    assert [*first.text] == mix_share_texts(swept)


def test_shares_that_the_second_half_of_runs_changes_have_a_warning_that_names_start_spread() -> None:
    """BBR sees a deep queue of CUBIC from its start on as RTT of the path, and takes more with time."""
    path = {**_path(0), "path.buffer": "8bdp"}
    result = ct.compare("steady-20-68", MIX, 2, duration="60s", set=path)
    assert any(
        text.startswith("first gets ") and "flows.0.start_spread=1s and flows.1.start_spread=1s" in text
        for text in result.warnings
    )
    path["flows"] = [{**flow, "start_spread": "5s"} for flow in path["flows"]]
    apart = ct.compare("steady-20-68", MIX, 2, duration="60s", set=path)
    assert not any("in the second: shares" in text for text in apart.warnings)


def test_equal_flows_whose_shares_are_settled_have_no_warning() -> None:
    path = {**_path(1), "path.buffer": "2bdp"}
    result = ct.compare("steady-20-68", "cubic+cubic", 3, duration="60s", set=path)
    assert not any("in the second: shares" in text for text in result.warnings)


def test_ranges_of_both_ends_of_a_range_have_a_dash() -> None:
    texts = ["from 175 to 123, every 4.2 s", "from 191 to 134, every 4.7 s"]
    assert with_ranges(texts) == "from 175–191 to 123–134, every 4.2 to 4.7 s"  # noqa: RUF001


def test_causes_that_all_flows_have_as_often_are_no_column_of_their_table() -> None:
    import pandas as pd

    rows = [
        (value, cca, "first", cause, 1.0)
        for value in ("a", "b", "c")
        for cca in ("cubic", "bbr")
        for cause in ("queue", *(["overflows"] if cca == "bbr" else []))
    ]
    causes = pd.DataFrame(rows, columns=["comparison", "cca", "flow", "cause", "weight"])
    table = causes_table(causes, 3)
    assert table is not None
    assert [column.heading for column in table.columns] == ["CCA", "overflows"]
    assert causes_table(causes[causes["cause"] == "queue"], 3) is None


def test_a_flow_without_a_cause_that_sets_it_apart_has_no_row() -> None:
    keys = itertools.product(("1bdp", "2bdp", "4bdp"), ("cubic", "bbr"), "ab")
    rows = [*((*key, "queue", 0.5) for key in keys), ("1bdp", "bbr", "a", "overflows", 0.1)]
    causes = pd.DataFrame(rows, columns=["comparison", "cca", "flow", "cause", "weight"])
    table = causes_table(causes, 3)
    assert table is not None
    assert table.rows == (("bbr", "a", "1"),)
