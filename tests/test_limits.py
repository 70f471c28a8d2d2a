"""Limits: what held senders back, in tables, texts, JSON and reports, and in old results."""

from __future__ import annotations

import json
import math
import random
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import celltcp as ct
from celltcp.cli import celltcp as commands
from celltcp.comparison.report.comparison import comparison_part
from celltcp.comparison.tables import limits_sections, limits_table
from celltcp.present.section import whole_percents
from celltcp.results.limits import LIMITS, flow_limits
from celltcp.results.tables import Results, frame

#: Workload of 60 kB twice a second.
_FRAMES = {"kind": "frames", "size": "60kB", "interval": "500ms"}

#: Changes of a link of 20 Mbit/s and 68 ms by the limit that they make the main one of CUBIC.
_MAIN: dict[str, dict[str, Any]] = {
    "receive_window": {"tcp.receive_window_max": "60kB"},
    "send_buffer": {"tcp.send_buffer_max": "60kB"},
    "idle": {"flows.0.workload": _FRAMES, "flows.0.opens": "from"},
    "congestion_window": {"path.buffer": "0.2bdp"},
    "startup": {"duration": "800ms", "path.rtt": "200ms"},
    "outage": {
        "path.down": {"steps": [{"at": "0s", "rate": "9Mbit/s"}, {"at": "1s", "rate": "0bit/s"}]}
    },
}


@pytest.mark.parametrize("limit", _MAIN)
def test_the_main_limit_is_that_of_the_scenario(limit: str) -> None:
    result = ct.compare("steady-20-68", "cubic", 1, set={"duration": "4s", **_MAIN[limit]})
    ((_, flow, shares),) = flow_limits(result.results)
    assert flow == "flow-1"
    assert max(LIMITS, key=lambda each: shares[each]) == limit, shares
    assert math.fsum(shares.values()) == pytest.approx(1)


@pytest.mark.parametrize("rtt", ["1ms", "2ms", "4ms", "20ms"])
@pytest.mark.parametrize("cca", ["bbr", "bbr3", "sprout"])
def test_the_start_up_of_a_cca_that_owns_its_window_ends_on_paths_of_any_length(
    cca: str, rtt: str
) -> None:
    """On a short path BBR's threshold stays above its window, and Sprout has no slow start at all."""
    changes = {"path.rtt": rtt, "path.buffer": "1000packets"}
    result = ct.compare("steady-100-18", cca, 1, duration="4s", set=changes)
    assert flow_limits(result.results)[0].shares["startup"] < 0.1


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("limit", ["receive_window", "send_buffer"])
def test_an_outage_and_the_time_out_after_it_limit_also_a_sender_with_a_full_window(
    limit: str, seed: int
) -> None:
    """ACKs would open a window and the send buffer, but nothing comes."""
    draw = random.Random(seed)
    field = {"receive_window": "tcp.receive_window_max", "send_buffer": "tcp.send_buffer_max"}[limit]
    start_s, length_s = draw.uniform(3, 5), draw.uniform(4, 7)
    changes: dict[str, Any] = {
        field: "60kB",
        "path.blackouts": [{"at": f"{start_s:.2f}s", "duration": f"{length_s:.2f}s"}],
        "duration": "25s",
    }
    result = ct.compare("steady-20-68", draw.choice(["cubic", "bbr"]), 1, set=changes)
    (limits,) = flow_limits(result.results)
    slots = frame(result.results.tables["slots"])
    end_s = start_s + length_s
    arrived = slots[(slots["t_s"] > end_s) & (slots["goodput_mbps"] > 0)]
    assert limits.shares["outage"] == pytest.approx(length_s / 25, abs=0.02)
    wait = (arrived["t_s"].min() - end_s) / 25
    assert limits.shares["timeout"] == pytest.approx(wait, abs=0.02)
    assert limits.shares[limit] > 0.3
    assert math.fsum(limits.shares.values()) == pytest.approx(1)


def test_bbr_is_paced_and_a_lost_tail_waits_for_its_time_out() -> None:
    paced = ct.compare("steady-20-68", "bbr", 1, duration="6s")
    assert flow_limits(paced.results)[0].shares["pacing"] > 0.6
    changes = {
        "tcp.tlp": False,
        "path.blackouts": [{"at": "500ms", "duration": "600ms"}],
        "flows.0.workload": {"kind": "bulk", "bytes": "1MB"},
    }
    lossy = ct.compare("steady-20-68", "cubic", 1, duration="8s", set=changes).results
    timeout = flow_limits(lossy)[0].shares["timeout"]
    seconds = frame(lossy.tables["flows"])["duration_s"][0]
    assert frame(lossy.tables["flows"])["timeouts"][0] >= 1
    assert 0.15 < timeout * seconds < 1, "RTO after the last ACK"


@pytest.mark.parametrize("name", ["drive", "outage", "mobility/forward-60-4g", "stress/video"])
def test_limits_add_up_to_the_time_of_each_connection(name: str) -> None:
    tables = ct.compare(name, "own", 1, duration="4s").results.tables
    rows = frame(tables["limits"]).merge(frame(tables["flows"]), on=["run", "flow"])
    assert len(rows) > 0
    times = rows[[f"{limit}_s" for limit in LIMITS]]
    assert (times >= 0).all(axis=None)
    np.testing.assert_allclose(times.sum(axis=1), rows["duration_s"], atol=1e-6)


def test_a_finite_transfer_ends_with_its_last_byte() -> None:
    tables = ct.compare("steady-20-68", "cubic", 1, duration="5s", set=_short()).results.tables
    (row,) = frame(tables["limits"]).to_dict("records")
    duration = frame(tables["flows"])["duration_s"][0]
    assert duration < 1
    assert sum(row[f"{limit}_s"] for limit in LIMITS) == pytest.approx(duration)
    assert row["idle_s"] == 0


def _short() -> dict[str, Any]:
    return {"flows.0.workload": {"kind": "bulk", "bytes": "300kB"}}


def test_recoveries_have_the_drops_that_led_to_them() -> None:
    tables = ct.compare("steady-20-68", "reno", 1, duration="5s", set=_deep()).results.tables
    first = frame(tables["recoveries"]).iloc[0]
    assert first["slow_start"] == 1
    assert first["overflow"] > 20
    assert first["dropped_s"] < first["t_s"] < first["end_s"]
    flows = frame(tables["flows"]).iloc[0]
    rows = frame(tables["recoveries"])
    assert len(rows) <= flows["recoveries"] + flows["timeouts"]
    assert rows["segments"].sum() <= flows["segments"]
    assert rows["timeouts"].sum() == flows["timeouts"]
    assert rows["undone"].sum() == flows["undone"]


def _deep() -> dict[str, Any]:
    return {"path.buffer": "0.5bdp"}


def test_limits_are_printed_written_and_reported() -> None:
    words = ("steady-20-68", "--duration", "3s", "-q")
    printed = CliRunner().invoke(commands, ["compare", *words, "--cca", "cubic,bbr"])
    assert "What limited the flows, %" in printed.stdout
    single = CliRunner().invoke(commands, ["run", *words, "--json", "-"])
    (shares,) = (each["shares"] for each in json.loads(single.stdout)["limits"])
    assert sum(shares.values()) == pytest.approx(1)
    result = ct.compare("steady-20-68", ["cubic", "bbr"], 2, duration="3s")
    limits = result.to_json()["limits"]
    assert [each["cca"] for each in limits] == ["cubic", "bbr"]
    assert limits[1]["shares"]["pacing"] > limits[0]["shares"]["pacing"] == 0
    (section,) = limits_sections(result.results)
    assert section in comparison_part(result, "").sections


def test_percentages_of_a_whole_add_up_to_100_and_none_is_off_by_one() -> None:
    draw = random.Random(1)
    naive = 0
    for _ in range(1000):
        weights = [draw.expovariate(1) for _ in range(draw.randint(1, 11))]
        shares = [each / sum(weights) for each in weights]
        texts = whole_percents(shares)
        assert sum(map(int, texts)) == 100
        assert all(abs(int(text) - 100 * share) < 1 for text, share in zip(texts, shares, strict=True))
        naive += sum(round(100 * each) for each in shares) != 100
    assert naive > 200
    assert whole_percents([1 / 3, math.nan, 1 / 3, 1 / 3]) == ["34", "-", "33", "33"]
    # What is no whole is not made one.
    assert whole_percents([0.204, 0.3]) == ["20", "30"]


def test_rows_of_the_table_of_limits_add_up_to_100() -> None:
    result = ct.compare("drive", ["cubic", "bbr", "reno", "copa"], 2, duration="6s")
    table = limits_table(result.results)
    assert table is not None
    for row in table.rows:
        assert sum(int(cell) for cell in row[1:]) == 100


def test_results_of_earlier_versions_have_no_limits() -> None:
    results = ct.compare("steady-20-68", ["cubic", "bbr"], 1, duration="2s").results
    earlier = _of_earlier_version(results)
    assert limits_table(earlier) is None
    assert flow_limits(earlier) == []
    assert "limits" not in ct.Comparison(earlier).to_json()


def _of_earlier_version(results: Results) -> Results:
    """Returns results without the tables and the column that came with limits."""
    later = ("limits", "recoveries")
    tables = {name: table for name, table in results.tables.items() if name not in later}
    tables["flows"] = tables["flows"].drop_columns(["spurious_retransmissions"])
    return Results(tables, results.about)


def test_a_kernel_shows_what_its_chronographs_say() -> None:
    results = ct.compare("steady-20-68", "cubic", 1, duration="2s").results
    limits = results.tables["limits"]
    unknown = [f"{name}_s" for name in LIMITS if name not in _CHRONOGRAPHS]
    data = frame(limits).assign(**dict.fromkeys(unknown, math.nan))
    data["idle_s"], data["send_buffer_s"], data["receive_window_s"] = 0.2, 0.3, 0.5
    shown = Results({**results.tables, "limits": limits.from_pandas(data)}, results.about)
    (each,) = flow_limits(shown)
    whole = frame(results.tables["flows"])["duration_s"][0]
    assert each.shares["receive_window"] == pytest.approx(0.5 / whole)
    assert each.network == pytest.approx(1 - 1 / whole)
    table = limits_table(shown)
    assert table is not None
    assert [column.title for column in table.columns][-1] == "network"


#: Limits of which the chronographs of Linux tell.
_CHRONOGRAPHS = ("idle", "send_buffer", "receive_window")


def test_a_cap_of_the_pacing_rate_limits_in_slow_start_too() -> None:
    """A window that is never filled stays in slow start, which holds nothing back."""
    cap = {"flows.0.max_pacing_rate": "5Mbit/s"}
    result = ct.compare("steady-20-68", "cubic,bbr", 1, duration="10s", set=cap)
    for each in flow_limits(result.results):
        assert each.shares["pacing"] > 0.8, each
        assert each.shares["startup"] < 0.1, each


def test_a_full_send_buffer_limits_a_cca_that_it_keeps_in_slow_start() -> None:
    """Linux takes slow start for the limit while the window is less than twice what was in flight."""
    changes = {"tcp.send_buffer_max": "500kB", "path.down.rate": "100Mbit/s", "path.rtt": "150ms"}
    result = ct.compare("steady-20-68", "bbr", 1, duration="15s", set=changes)
    (limits,) = flow_limits(result.results)
    assert limits.shares["send_buffer"] > 0.5, limits
