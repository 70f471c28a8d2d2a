"""Tests of the warnings on figures: limits, repetition, too few runs, what ran."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import celltcp as ct
from celltcp.comparison.tables import LIMITS_TITLE, limits_table
from celltcp.results.statistics import student_quantile, verdict
from celltcp.results.tables import Results

FAST = {"path.down.rate": "1Gbit/s", "path.up.rate": "1Gbit/s"}


def _one(result: ct.Comparison, part: str) -> str:
    (found,) = [each for each in result.warnings if part in each]
    return found


def test_the_receive_window_is_told_with_its_setting() -> None:
    changes = {**FAST, "tcp.receive_window_max": "1MB"}
    result = ct.compare("steady-20-68", ["cubic", "reno"], 1, duration="4s", set=changes)
    warning = _one(result, "the receive window")
    assert warning.startswith("cubic, reno: for ")
    assert warning.endswith(
        "% of the time the receive window was full while the bottleneck had room; "
        "tcp.receive_window_max (1MB) sets it"
    )
    shares = result.flows["receive_window_limited_s"] / result.flows["duration_s"]
    assert ((shares > 0.5) & (shares <= 1)).all()
    wide = {**FAST, "tcp.receive_buffer_max": "1MiB"}
    warning = _one(
        ct.compare("steady-20-68", "cubic", 1, duration="4s", set=wide), "the receive window"
    )
    assert "tcp.receive_buffer_max (1MiB)" in warning


def test_the_send_buffer_is_told_with_its_setting() -> None:
    result = ct.compare("steady-20-68", "cubic", 1, duration="6s", set=FAST)
    assert "tcp.send_buffer_max (4MiB, in memory) sets it" in _one(result, "the send buffer")
    assert result.to_json()["warnings"] == result.warnings


def test_the_application_is_told() -> None:
    slow = {"flows.0.workload": '{ kind = "on-off", on = "1s", off = "3s" }'}
    loaded = ct.load_scenario("steady-20-68", changes=[f"{k}={v}" for k, v in slow.items()])
    warning = _one(ct.compare(loaded, "cubic", 1, duration="12s"), "the application")
    assert warning.endswith("workload of the flow sets it")


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"path.rtt": "9999h"}, "its handshake timed out.*path.rtt .35996400s. is longer than that"),
        ({"path.rtt": "900ms"}, r"it sent no data.*path.rtt .900ms. is longer than that"),
        (
            {"path.loss": "1"},
            "its handshake timed out, and was not complete at the end, [0-9.]+ s later$",
        ),
        ({"path.rtt": "500ms", "path.buffer": "0.001bdp"}, ""),
    ],
)
def test_a_flow_that_delivers_nothing_is_told_with_the_reason(
    changes: dict[str, str], reason: str
) -> None:
    settings = {"runs": 2, "duration": "800ms" if "900ms" in changes.values() else "2s", "set": changes}
    result = ct.compare("drive", ["cubic", "bbr"], **settings)
    told = [each for each in result.warnings if "delivered nothing" in each]
    if not reason:
        assert told == []
        return
    (one,) = told
    assert one.startswith("cubic, bbr: flow-1 delivered nothing in 2 of 2 runs: ")
    assert re.search(reason, one)


def test_flows_that_share_a_path_and_deliver_nothing_are_told(celltcp) -> None:
    command = ("compare", "drive", "--cca", "cubic+bbr,cubic", "--runs", "2", "--duration", "2s")
    done = celltcp(*command, "--set", "path.rtt=1h", "--out", "out")
    assert done.returncode == 0, done.stderr
    assert "cubic+bbr, cubic: flow-1 delivered nothing" in done.stdout
    assert "cubic+bbr: flow-2 delivered nothing" in done.stdout
    assert celltcp("report", "out").returncode == 0
    single = celltcp("run", "drive", "--duration", "2s", "--set", "path.rtt=1h", "--out", "one")
    assert single.returncode == 0, single.stderr
    assert "nan" not in single.stdout
    assert celltcp("report", "one", "--overwrite").returncode == 0


def test_a_network_that_limits_is_not_told() -> None:
    assert ct.compare("steady-20-68", ["cubic", "vegas"], 1, duration="10s").warnings == []
    times = ct.run("steady-20-68", "cubic", duration="5s").flows
    columns = ["application_limited_s", "receive_window_limited_s", "send_buffer_limited_s"]
    assert (times[columns].sum(axis=1) < 1).all()


def test_a_kernel_short_of_memory_is_told() -> None:
    result = ct.compare("steady-20-68", ["bbr", "vegas"], 2, duration="2s")
    assert result.warnings == []
    runs = result.results.tables["runs"]
    place = runs.schema.get_field_index("memory_pressures")
    starved = pa.array([0, 3, 0, 0], runs.schema.field(place).type)
    tables = {**result.results.tables, "runs": runs.set_column(place, "memory_pressures", starved)}
    told = ct.Comparison(Results(tables, result.results.about))
    ccas = [str(cca) for cca in runs["cca"].to_pylist()]
    assert f"{ccas[1]}: the kernel's TCP ran short of memory in 1 of 2 runs" in _one(told, "memory")
    assert told.to_json()["warnings"] == told.warnings
    texts = [each.get_text() for each in told.plot.throughput_delay().texts]
    assert any("ran short of memory" in " ".join(text.split()) for text in texts)


def test_a_trace_that_repeats_within_a_run_is_told(celltcp, tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("time_s,mbps\n0,5\n1,10\n2,3\n")
    done = celltcp("run", "x.csv", "--cca", "bbr", "--duration", "12s")
    assert "lasts 3 s: a run of 12 s has it 4.0 times, one after another" in done.stderr
    result = ct.compare(tmp_path / "x.csv", "bbr", 2, duration="2s")
    assert not any("repeats" in each for each in result.warnings)


@pytest.mark.parametrize("pieces", [3, 5])
def test_runs_as_long_as_the_pieces_of_a_log_begin_at_few_places(pieces: int, tmp_path: Path) -> None:
    log = tmp_path / "drive.csv"
    rows = [f"{100 * piece + second},{8 + piece}" for piece in range(pieces) for second in range(20)]
    log.write_text("\n".join(["time_s,throughput_mbps", *rows]) + "\n")
    runs = 3 * pieces
    long = ct.compare(str(log), "cubic", runs, duration="20s")
    warning = _one(long, "places of the log")
    places = len(set(long.results.tables["runs"]["trace_offset_s"].to_pylist()))
    assert warning.startswith(f"{runs} runs of 20 s begin at {places} places of the log only")
    assert "(--duration 10s)" in warning
    # Shorter runs begin anywhere, as do those of a log without pauses.
    short = ct.compare(str(log), "cubic", runs, duration="10s")
    rows = [f"{second},{8 + second // 20}" for second in range(20 * pieces)]
    log.write_text("\n".join(["time_s,throughput_mbps", *rows]) + "\n")
    whole = ct.compare(str(log), "cubic", runs, duration="20s")
    for result in (short, whole):
        assert not any("places of the log" in each for each in result.warnings)


def test_one_run_of_a_random_scenario_has_no_winner(celltcp) -> None:
    done = celltcp("compare", "drive", "--cca", "cubic,bbr", "--runs", "1", "--duration", "3s")
    assert "best for  goodput: undecided among" in done.stdout
    assert "one run of a random scenario is not conclusive" in done.stdout
    assert ct.compare("drive", ["cubic", "bbr"], 1, duration="3s").recommendation["delay"] == []


def test_what_ran_is_in_the_table_and_in_the_json(celltcp) -> None:
    command = ("compare", "steady-5-18", "--cca", "cubic", "--runs", "1", "--duration", "2s")
    done = celltcp(*command, "--json", "out.json")
    assert f"celltcp {ct.__version__} (" in done.stdout
    assert "native engine" in done.stdout
    document = json.loads(celltcp(*command, "--json", "-").stdout)
    assert document["engine"]["name"] == "native"
    assert document["engine"]["kernel"] is None
    assert len(document["engine"]["build"]) == 16
    assert document["path"]["rtt"] == "18ms"
    assert document["path"]["buffer"]
    assert document["tcp"]["receive_buffer_max"] == "6MiB"


def test_verdicts_tell_ties_from_what_is_undecided() -> None:
    base = [50.0, 90.0, 70.0, 60.0]
    near = [each + change for each, change in zip(base, (0.1, -0.2, 0.1, -0.1), strict=True)]
    result = verdict({"a": base, "near": near, "worse": [each - 9 for each in base]})
    assert (result.best, result.tied, result.undecided) == ("a", ("near",), ())
    far = [58.0, 96.0, 40.0, 62.0]
    result = verdict({"a": base, "far": far})
    assert result.best is None
    assert result.undecided == ("far",)
    assert result.runs_needed is not None
    assert result.runs_needed > 4
    assert verdict({"a": [2.0], "b": [1.0]}).best is None
    assert verdict({"a": [2.0], "b": [1.0]}, random=False).best == "a"
    assert verdict({"a": [0.0], "b": [0.0]}).leader is None


@pytest.mark.parametrize(
    ("freedom", "expected"),
    [(1, 12.706204736), (2, 4.302652730), (3, 3.182446305), (4, 2.776445105), (30, 2.042272456)],
)
def test_quantiles_are_students(freedom: int, expected: float) -> None:
    assert student_quantile(freedom) == pytest.approx(expected, rel=1e-9)


def test_the_buffer_of_a_split_host_limits_the_window() -> None:
    result = ct.compare("steady-100-68", ["cubic@es:buffer=300kB", "cubic"], 1, duration="4s")
    warning = _one(result, "the receive window")
    assert warning.startswith("cubic@es:buffer=300kB: for ")
    assert warning.endswith("; the buffer of the split host sets it")


def test_a_duration_is_advised_where_no_transfer_can_finish() -> None:
    changes = {"flows.0.workload": "{ kind = 'bulk', bytes = '20MB' }"}
    asked = ("steady-20-68", "cubic,bbr", 2)
    warning = _one(ct.compare(*asked, duration="6s", set=changes), "no transfer of flow-1")
    advice = re.fullmatch(
        r"cubic, bbr: no transfer of flow-1 \(20MB\) was complete within the 6 s of a run; "
        r"--duration (\d+)s would likely do",
        warning,
    )
    assert advice is not None
    longer = ct.compare(*asked, duration=f"{advice[1]}s", set=changes)
    assert longer.applications[0].means("completed_share") == [1.0, 1.0]
    assert not any("no transfer" in each for each in longer.warnings)


@pytest.mark.parametrize(
    ("cca", "size", "changes", "durations"),
    [
        ("cubic", "50MB", {}, (2, 10)),
        # In slow start the mean rate so far is that of a small window: it once asked for 1 850 s.
        ("cubic", "50MB", {"path.rtt": "600ms"}, (3, 5, 10)),
        # After an overshoot the window grows again.
        (
            "reno",
            "100MB",
            {"path.rtt": "60ms", "path.down.rate": "80Mbit/s", "path.buffer": "0.5bdp"},
            (4, 8),
        ),
        ("bbr", "20MB", {"path.rtt": "300ms", "path.loss": "0.5%"}, (5,)),
    ],
)
def test_the_advised_duration_does_and_is_not_far_longer_than_needed(
    cca: str, size: str, changes: dict[str, str], durations: tuple[int, ...]
) -> None:
    fields = {"flows.0.workload": {"kind": "bulk", "bytes": size}, **changes}
    whole = ct.compare("steady-20-68", cca, 1, duration="200s", set=fields)
    (needed,) = whole.results.tables["flows"]["completion_s"].to_pylist()
    for duration in durations:
        cut = ct.compare("steady-20-68", cca, 1, duration=f"{duration}s", set=fields)
        advice = re.search(r"--duration (\d+)s would likely do", _one(cut, "no transfer of flow-1"))
        assert advice is not None
        assert needed < int(advice[1]) < 1.4 * needed, (duration, needed)


def test_a_transfer_that_has_come_to_a_stop_has_no_advice() -> None:
    fields = {
        "flows.0.workload": {"kind": "bulk", "bytes": "50MB"},
        "path.blackouts": [{"at": "2s", "duration": "20s"}],
    }
    warning = _one(
        ct.compare("steady-20-68", "cubic", 1, duration="8s", set=fields), "no transfer of flow-1"
    )
    assert warning.endswith(
        "nothing arrived any more at the end of a run, so that a longer one need not do"
    )


def test_a_split_host_that_divides_no_delay_of_a_long_path_is_told_and_whose_limits_are_shown() -> None:
    long = {"path.rtt": "300ms"}
    result = ct.compare(
        "steady-20-68", "cubic", 1, duration="3s", set=long, middlebox=["none", "split"]
    )
    warning = _one(result, "divides no delay")
    assert warning.startswith("split at gateway: the whole RTT of 300ms lies between it and the server")
    table = limits_table(result.results)
    assert table is not None
    assert table.title == f"{LIMITS_TITLE}; of split ones, of the leg of the server"
    hops = [{"name": "internet", "delay": "10ms"}, {"name": "satellite"}]
    divided = ct.compare(
        "steady-20-68",
        "cubic@split:at=node-1",
        1,
        duration="3s",
        set={**long, "path.wired": hops},
    )
    assert not [each for each in divided.warnings if "divides no delay" in each]


def test_sessions_that_start_in_the_same_instant_have_the_field_that_spreads_them() -> None:
    pages = {"flows.0.workload.kind": "page", "flows.0.count": "3", "path.down.rate": "50Mbit/s"}
    together = ct.compare("steady-20-68", "cubic", 1, duration="4s", set=pages)
    assert "flows.0.start_spread=1s" in _one(together, "3 sessions of flow-1 start in the same instant")
    spread = ct.compare(
        "steady-20-68", "cubic", 1, duration="4s", set={**pages, "flows.0.start_spread": "1s"}
    )
    assert not any("same instant" in warning for warning in spread.warnings)
    starts = spread.flows["start_s"]
    assert starts.max() - starts.min() > 0.02
    endless = ct.compare("steady-20-68", "cubic", 1, duration="2s", set={"flows.0.count": "3"})
    assert not any("same instant" in warning for warning in endless.warnings)


def test_an_outage_at_the_start_is_said_with_the_goodput_from_the_request_on() -> None:
    changes = {
        "path.blackouts": "[{ at = '0s', duration = '4s' }]",
        "variation.start_jitter": "0s",
    }
    late = ct.compare("steady-20-68", "cubic", 2, duration="20s", set=changes)
    warning = _one(late, "opened up to")
    assert "2 of 2 connections of flow-1" in warning
    rates = re.findall(r"([\d.]+)(?: Mbit/s)? from the (?:first|request)", warning)
    from_first, from_request = map(float, rates)
    megabits = late.flows["bytes"].sum() * 8e-6
    assert from_request == pytest.approx(megabits / 40, rel=0.01)
    assert from_first == pytest.approx(megabits / late.flows["duration_s"].sum(), rel=0.01)
    in_time = ct.compare("steady-20-68", "cubic", 1, duration="4s")
    assert not any("opened up to" in each for each in in_time.warnings)


@pytest.mark.parametrize("late", [1, 8])
def test_late_openings_are_said_where_they_cost_goodput(late: int) -> None:
    """Connections whose SYN is lost open a second later than the others."""
    changes = {
        "flows.0.count": "10",
        "variation.start_jitter": "0s",
        "path.uplink_loss": f"{{ kind = 'list', packets = {list(range(1, late + 1))} }}",
    }
    result = ct.compare("steady-20-68", ["cubic", "reno"], 1, duration="20s", set=changes)
    opened = [each for each in result.warnings if "opened up to" in each]
    if late == 1:
        assert not opened
        return
    (warning,) = opened
    rates = [float(rate) for rate in re.findall(r"([\d.]+)(?: Mbit/s)? from the ", warning)]
    (cca,) = re.findall(r"with (\w+), a connection has", warning)
    flows = result.flows[result.flows["cca"] == cca]
    megabits = flows["bytes"].sum() * 8e-6
    assert rates[0] == pytest.approx(megabits / flows["duration_s"].sum(), rel=0.01)
    assert rates[1] == pytest.approx(megabits / (10 * 20), rel=0.02)


@pytest.mark.parametrize(
    ("limit", "name"),
    [("tcp.send_buffer_max", "send buffer"), ("tcp.receive_window_max", "receive window")],
)
def test_windows_that_decide_how_flows_share_a_full_path_are_said(limit: str, name: str) -> None:
    """Two windows of a BDP fill the path without a loss, whatever the CCAs would do."""
    changes = {"path.rtt": "40ms", "path.down.rate": "100Mbit/s", "path.buffer": "4bdp"}
    pair = {**changes, "flows": "[{ name = 'one' }, { name = 'two' }]"}
    held = ct.compare("steady-20-68", "cubic+bbr", 1, duration="10s", set={**pair, limit: "400kB"})
    warning = _one(held, "how the flows share the path")
    assert f"the {name} was full" in warning
    assert "cubic+bbr, one" in warning
    assert f"{limit} (400kB" in warning
    causes = {cause.name for each in ct.explain(held).comparisons[""].ccas for cause in each.causes}
    assert name.replace(" ", "_") in causes
    free = ct.compare("steady-20-68", "cubic+bbr", 1, duration="10s", set=pair)
    assert not any("how the flows share" in each for each in free.warnings)
    alone = ct.compare("steady-20-68", "cubic", 1, duration="5s", set={**changes, limit: "400kB"})
    assert not any("how the flows share" in each for each in alone.warnings)


def test_settings_of_the_downlink_are_said_for_uploads() -> None:
    """A loss on the downlink loses ACKs only, which says little about a lossy upload."""
    upload = {"flows.0.from": "phone", "flows.0.to": "server"}

    def warned(**changes: object) -> list[str]:
        fields = {name.replace("__", "."): value for name, value in changes.items()}
        compared = ct.compare("steady-20-68", "cubic", 1, duration="2s", set={**upload, **fields})
        return [each for each in compared.warnings if "all flows are uploads" in each]

    assert warned() == []
    (loss,) = warned(path__loss=0.01)
    assert "path.loss is of the downlink" in loss
    assert loss.endswith("path.uplink_loss is that of the uplink")
    assert warned(path__loss=0.01, path__uplink_loss=0.01) == []
    (buffer,) = warned(path__buffer="300kB")
    assert "path.uplink_buffer" in buffer
    (jitter,) = warned(path__jitter={"mean": "3ms", "sd": "1ms"})
    assert "path.jitter" in jitter
    downloads = ct.compare("steady-20-68", "cubic", 1, duration="2s", set={"path.loss": 0.01})
    assert not any("uploads" in each for each in downloads.warnings)


@pytest.mark.parametrize("ends", [("phone", "server"), ("server", "phone")])
def test_a_sinr_that_is_not_that_of_the_uplink_is_said_for_uploads(
    tmp_path: Path, ends: tuple[str, str]
) -> None:
    """The SINR of a UE leaves the goodput of its upload as it is; that of the uplink does not."""
    source, destination = ends
    scenario = tmp_path / "upload.toml"
    scenario.write_text(
        f"[radio]\n[[radio.ues]]\nsinr = '3dB'\n[[flows]]\nfrom = '{source}'\nto = '{destination}'\n"
    )

    def compared(**changes: object) -> ct.Comparison:
        fields = {name.replace("__", "."): value for name, value in changes.items()}
        return ct.compare(scenario, "cubic", 1, duration="2s", set=fields)

    def warned(result: ct.Comparison) -> list[str]:
        return [each for each in result.warnings if "all flows are uploads" in each]

    weak, strong = compared(), compared(radio__ues__0__sinr="20dB")
    assert not warned(strong)
    if source == "server":
        assert not warned(weak)
        return
    (text,) = warned(weak)
    assert "radio.ues.0.sinr is of the downlink" in text
    assert "radio.uplink.sinr is that of the uplink, 15dB" in text
    goodputs = [each.values("cubic", "goodput_mbps")[0] for each in (weak, strong)]
    assert goodputs[0] == pytest.approx(goodputs[1], rel=0.05)
    both = compared(radio__uplink__sinr="3dB")
    assert not warned(both)
    assert both.values("cubic", "goodput_mbps")[0] < 0.7 * goodputs[0]


@pytest.mark.parametrize(
    ("queue", "marks"),
    [
        ("droptail", False),
        ("codel", False),
        ({"kind": "codel", "ecn": True}, True),
        ({"kind": "fq-codel", "ecn": False}, False),
        ("fq-codel", True),
        ("threshold", True),
    ],
)
def test_dctcp_without_a_queue_that_marks_has_a_warning(queue: object, marks: bool) -> None:
    for field in ("path.queue", "path.wired.0.queue"):
        result = ct.compare("steady-20-68", ["dctcp", "reno"], 1, duration="1s", set={field: queue})
        assert any("no queue of the path marks packets" in each for each in result.warnings) != marks
    reno = ct.compare("steady-20-68", "reno", 1, duration="1s", set={"path.queue": queue})
    assert not any("marks" in each for each in reno.warnings)


@pytest.mark.parametrize("count", [2, 3])
def test_alike_flows_of_which_one_always_wins_get_starts_that_are_drawn(count: int) -> None:
    flows = {
        "path.rtt": "120ms",
        "path.buffer": "4bdp",
        "flows": [{"name": name} for name in "abc"[:count]],
    }
    mix = "+".join(["cubic"] * count)
    spread = {f"flows.{index}.start_spread": "1s" for index in range(count)}
    together, apart, few = (
        ct.compare("steady-20-68", mix, runs, duration="30s", set={**flows, **changes})
        for runs, changes in ((5, {}), (5, spread), (2, {}))
    )
    advice = " and ".join(f"{field}=1s" for field in spread)
    assert advice in _one(together, "gets most in each of the 5 runs")
    # A mix of different CCAs has another reason, and two runs show no rule.
    other = ct.compare("steady-20-68", "cubic+bbr", 5, duration="10s", set={"path.buffer": "8bdp"})
    for result in (apart, few, other):
        assert not any("gets most" in each for each in result.warnings)


def test_alike_flows_that_all_get_nothing_have_no_first_one() -> None:
    changes: dict[str, Any] = {"flows": [{"name": name} for name in "ab"], "path.loss": 1.0}
    result = ct.compare("steady-20-68", "cubic+cubic", 5, duration="2s", set=changes)
    assert not any("gets most" in each for each in result.warnings)


def test_a_sequence_that_a_run_cuts_off_has_a_duration_that_would_do() -> None:
    workload = {"kind": "sequence", "size": "1MB", "gap": "1s", "count": 8}
    changes = {"path.down.rate": "5Mbit/s", "flows.0.workload": workload}
    result = ct.compare("steady-20-68", ["cubic", "bbr"], 2, duration="12s", set=changes)
    warning = _one(result, "of 8 transfers of ")
    assert warning.startswith("cubic, bbr: ")
    duration = re.search(r"--duration (\d+s) would likely do", warning)
    assert duration is not None
    longer = ct.compare("steady-20-68", ["cubic", "bbr"], 2, duration=duration[1], set=changes)
    assert not any("of 8 transfers" in each for each in longer.warnings)
    del workload["count"]
    endless = {**changes, "flows.0.workload": workload}
    result = ct.compare("steady-20-68", "cubic", 1, duration="12s", set=endless)
    assert not any("transfers of" in each for each in result.warnings)


def test_a_window_that_is_full_beside_a_queue_has_the_share_of_the_table_as_well() -> None:
    changes = {**FAST, "tcp.send_buffer_max": "1MiB", "path.rtt": "20ms"}
    result = ct.compare("steady-20-68", "cubic", 1, duration="4s", set=changes)
    warning = _one(result, "the send buffer was full while the bottleneck had room")
    shown = re.search(r"for (\d+) % of the time .* room \((\d+) % in all\)", warning)
    assert shown is not None
    (flow,) = result.flows.to_dict("records")
    assert int(shown[2]) == round(100 * flow["send_buffer_limited_s"] / flow["duration_s"])
    assert int(shown[1]) < int(shown[2])


def test_a_window_limit_of_several_connections_counts_their_time() -> None:
    later = {"flows.0.count": 3, "flows.0.start_spread": "8s"}
    changes = {**FAST, **later, "tcp.receive_buffer_max": "200kB", "path.rtt": "80ms"}
    result = ct.compare("steady-20-68", "cubic", 1, duration="10s", set=changes)
    warning = _one(result, "the receive window was full")
    warned = re.search(r"for (\d+) % of the time .*?(?: \((\d+) % in all\))?; ", warning)
    assert warned is not None
    flows = result.flows
    share = flows["receive_window_limited_s"].sum() / flows["duration_s"].sum()
    assert int(warned[2] or warned[1]) == round(100 * share)


def test_a_player_with_a_full_buffer_has_no_warning_about_its_pauses() -> None:
    video = {"kind": "video", "max_buffer": "10s"}
    result = ct.compare("steady-20-68", "cubic", 1, duration="40s", set={"flows.0.workload": video})
    assert result.flows["application_limited_s"].sum() > 0.5 * result.flows["duration_s"].sum()
    assert not any("had no more to send" in each for each in result.warnings)


def test_pages_that_the_end_cuts_stand_for_no_limit_of_the_application() -> None:
    """Only connections without an end were counted, a few of some hundred."""
    page = {"kind": "page", "document": "30kB", "objects": 39, "object": "30kB", "gap": "5s"}
    changes = {"path.down": {"rate": "20Mbit/s"}, "flows.0.workload": page}
    result = ct.compare("steady-20-68", "cubic,bbr,bbr3", 2, duration="24s", set=changes)
    assert not any("had no more to send" in each for each in result.warnings)


def test_a_send_buffer_that_bounds_the_queue_of_the_only_bulk_flow_has_a_warning() -> None:
    """A buffer of 3000 packets at 40 Mbit/s, of which 4 MiB of memory fill two thirds."""
    ping = {"kind": "request-response", "request": "100B", "response": "50kB", "gap": "500ms"}
    flows = [{"name": "bulk"}, {"name": "api", "workload": ping}]
    changes = {"path.down.rate": "40Mbit/s", "path.rtt": "40ms", "flows": flows}
    deep = {**changes, "path.buffer": "3000packets"}
    result = ct.compare("steady-20-68", "cubic,bbr", 1, duration="20s", set=deep)
    warning = _one(result, "it bounds the rate or the queue")
    assert warning.startswith("cubic, bulk: for ")
    assert "tcp.send_buffer_max (4MiB, in memory) sets it" in warning
    for other in ({"path.buffer": "300packets"}, {"tcp.send_buffer_max": "32MiB"}):
        larger = {**deep, "tcp.receive_buffer_max": "32MiB", **other}
        lifted = ct.compare("steady-20-68", "cubic,bbr", 1, duration="20s", set=larger)
        assert not any("bounds the rate or the queue" in each for each in lifted.warnings)


@pytest.mark.parametrize("seed", [1, 4])
def test_a_generated_capacity_that_the_seeds_draw_otherwise_has_both_means(seed: int) -> None:
    """The mean over T of a process with correlation exp(-t/τ) varies by c √(2 τ / T)."""
    link = {"mean": "20Mbit/s", "variability": 0.4, "correlation": "5s"}
    changes: dict[str, Any] = {"path.down": {"generate": link}, "path.buffer": "9000packets"}
    result = ct.compare("steady-20-18", "cubic", 2, seed=seed, duration="20s", set=changes)
    # A buffer that never empties keeps the link busy: goodput is what it carries.
    rates = [rate * 1500 / 1448 for rate in result.values("cubic", "goodput_mbps")]
    mean = sum(rates) / len(rates)
    warnings = [each for each in result.warnings if "mean capacity" in each]
    assert len(warnings) == (abs(mean / 20 - 1) > 0.06)
    if warnings:
        drawn = float(re.findall(r"mean capacity of ([\d.]+) Mbit/s", warnings[0])[0])
        assert drawn == pytest.approx(mean, rel=0.03)
        # (1.96 · 0.4 · √(2 · 5 / 20) / 0.05)² = 123
        assert warnings[0].startswith(f"seeds {seed} to {seed + 1} have a mean capacity of ")
        assert warnings[0].endswith(
            "path.down.generate has 20Mbit/s; 123 runs have it within 5 % (95 %)"
        )
    # What an upload sends is no capacity of the downlink.
    beside = [{"name": "bulk"}, {"name": "photos", "from": "phone", "to": "server"}]
    mixed = ct.compare(
        "steady-20-18", "cubic", 2, seed=seed, duration="20s", set={**changes, "flows": beside}
    )
    drawn_beside = [each for each in mixed.warnings if "mean capacity" in each]
    for before, after in zip(warnings, drawn_beside, strict=True):
        figures = [float(re.findall(r"capacity of ([\d.]+)", each)[0]) for each in (before, after)]
        assert figures[1] == pytest.approx(figures[0], rel=0.03)
    slower = {**changes, "path.wired": [{"name": "shaper", "rate": "12Mbit/s"}]}
    hidden = ct.compare("steady-20-18", "cubic", 2, seed=seed, duration="20s", set=slower)
    assert not any("mean capacity" in each for each in hidden.warnings)
