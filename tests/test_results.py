"""Results that are saved, shown again and exported."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.parquet as pq
import pytest

import celltcp as ct
from celltcp._core import result_tables
from celltcp.campaign.engines import engine
from celltcp.campaign.jobs import jobs_for
from celltcp.campaign.run import run_jobs
from celltcp.campaign.shards import Shards
from celltcp.comparison.modes import mode_spans
from celltcp.comparison.plots.series import draw_run_series
from celltcp.present.style import figure
from store import COMPARED

QUICK = ("--runs", "2", "--duration", "3s", "--cca", "cubic,bbr")


def test_saved_results_are_read_back(tmp_path: Path) -> None:
    result = ct.compare("drive", cca=["cubic", "bbr"], runs=2, duration="3s")
    result.save(tmp_path / "out")
    again = ct.load(tmp_path / "out")
    assert isinstance(again, ct.Comparison)
    assert again.to_json() == result.to_json()
    meta = json.loads(pq.read_schema(tmp_path / "out" / "flows.parquet").metadata[b"celltcp"])
    assert meta["seed"] == 1
    assert "[path.down.generate]" in meta["scenario"]


def test_an_interrupted_campaign_goes_on_where_it_stopped(tmp_path: Path, monkeypatch) -> None:
    from celltcp.campaign import run as campaign

    monkeypatch.setattr(campaign, "_MAX_CHUNK_RUNS", 1)
    jobs = jobs_for(ct.load_scenario("drive", duration="20s"), ["cubic", "bbr"], 2, 1, engine())
    whole = run_jobs(jobs, workers=1)
    write, kept = Shards.write, []

    def breaks_in_the_third(self: Shards, done: Any, tables: Any) -> None:
        if len(kept) == 2:
            raise KeyboardInterrupt
        write(self, done, tables)
        kept.extend(done)

    with monkeypatch.context() as changed:
        changed.setattr(Shards, "write", breaks_in_the_third)
        with pytest.raises(KeyboardInterrupt):
            run_jobs(jobs, workers=1, folder=tmp_path)
    real, calls = campaign.run_batch, []
    monkeypatch.setattr(
        campaign,
        "run_batch",
        lambda chunks, *rest: (
            calls.extend(each for chunk in chunks for each in chunk) or real(chunks, *rest)
        ),
    )
    resumed = run_jobs(jobs, workers=1, folder=tmp_path)
    assert len(calls) == 2
    for name, table in whole.items():
        pd.testing.assert_frame_equal(resumed[name].to_pandas(), table.to_pandas())
    assert not (tmp_path / "parts").exists()


def test_tables_have_the_columns_that_the_list_of_tables_names() -> None:
    jobs = jobs_for(ct.load_scenario("drive", duration="2s"), ["cubic"], 1, 1, engine())
    result = run_jobs(jobs)
    for table in result_tables():
        assert table.meaning.endswith(".")
        assert table.optional == (table.name not in result)
        if table.name in result:
            columns = [name for name, _ in table.columns]
            expected = ["run", *columns] if "cca" in columns else ["run", "cca", *columns]
            assert result[table.name].column_names == expected
            assert dict(table.columns)[columns[0]] == (
                result[table.name].schema.field(columns[0]).metadata[b"meaning"].decode()
            )


@pytest.mark.rendered
def test_every_plot_is_drawn(celltcp, stored, tmp_path: Path) -> None:
    stored("r", *COMPARED)
    for plot in ("overview", "throughput-delay", "ecdf", "time-series", "startup"):
        assert celltcp("show", "r", "--plot", plot).returncode == 0
        assert (tmp_path / "r" / f"{plot}.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "r" / "overview.png").stat().st_size > 20_000


@pytest.mark.parametrize("command", [("compare", "--runs", "2"), ("run",)])
def test_where_nothing_is_delivered_pictures_are_empty(celltcp, tmp_path: Path, command) -> None:
    silent = 'path.down.steps=[{ at = "0s", rate = "0bit/s" }, { at = "50s", rate = "1Mbit/s" }]'
    name, *more = command
    done = celltcp(name, "outage", *more, "--set", silent, "--duration", "5s", "--out", "r")
    assert done.returncode == 0, done.stderr
    assert list((tmp_path / "r").glob("*.png"))


def test_exports_hold_what_was_measured(celltcp, stored, tmp_path: Path) -> None:
    stored("r", *COMPARED)
    for form in ("csv", "parquet", "iperf3-json", "qlog"):
        assert celltcp("show", "r", "--format", form).returncode == 0
    flows = ct.load(tmp_path / "r").flows
    first = flows[(flows["cca"] == "bbr") & (flows["run"] == 2)].iloc[0]
    iperf = json.loads((tmp_path / "r" / "iperf3-json" / "bbr-1.json").read_text())
    assert iperf["end"]["sum_received"]["bytes"] == first["bytes"]
    streams = [interval["streams"][0] for interval in iperf["intervals"]]
    assert {"snd_cwnd", "rtt", "retransmits", "bits_per_second"} <= set(streams[0])
    assert abs(sum(stream["bytes"] for stream in streams) - first["bytes"]) <= 0.1 * first["bytes"]
    qlog = json.loads((tmp_path / "r" / "qlog" / "bbr-1.qlog").read_text())
    events = qlog["traces"][0]["events"]
    assert {event["name"] for event in events} == {"recovery:metrics_updated"}
    header = (tmp_path / "r" / "csv" / "slots.csv").read_text().splitlines()[0]
    assert '"goodput_mbps"' in header


def test_the_picture_of_a_run_has_the_goodput_of_every_flow_that_competes() -> None:
    flows = [
        {"name": "first", "cca": "reno"},
        {"name": "second", "cca": "cubic", "start": "4s"},
        {"name": "ping", "workload": {"kind": "request-response", "response": "100B"}},
        {"name": "upload", "from": "phone", "to": "server"},
    ]
    result = ct.run("steady-20-68", duration="10s", set={"flows": flows})
    rates = result.plot.time_series(raw=True).axes[0]
    drawn = {line.get_label(): line for line in rates.get_lines()}
    assert [name for name in drawn if "(" in name] == ["second (cubic)"]
    second = drawn["second (cubic)"]
    (number,) = result.flows.loc[result.flows["name"] == "second", "flow"]
    slots = result.slots[result.slots["flow"] == number]
    assert list(second.get_ydata()) == list(slots["goodput_mbps"])
    assert min(second.get_xdata()) >= 4


def test_samples_qlog_and_picture_have_the_modes_of_the_cca(celltcp, tmp_path: Path) -> None:
    short = ("--duration", "12s", "--quiet")
    done = celltcp("run", "steady-5-18", "--cca", "bbr", *short, "--out", "r")
    assert done.returncode == 0, done.stderr
    result = ct.load(tmp_path / "r")
    spans = mode_spans(result.samples)
    order = [each.mode for each in spans]
    assert order[:3] == ["startup", "drain", "probe_bw"]
    assert "probe_rtt" in order
    probe = next(each for each in spans if each.mode == "probe_rtt")
    # BBR keeps four segments in flight for 200 ms, and one round trip more.
    assert 0.2 <= probe.end_s - probe.start_s < 0.4
    assert celltcp("show", "r", "--format", "qlog").returncode == 0
    (file,) = (tmp_path / "r" / "qlog").iterdir()
    events = json.loads(file.read_text())["traces"][0]["events"]
    changes = [each["data"] for each in events if each["name"].endswith("congestion_state_updated")]
    assert changes[0] == {"new": "startup"}
    assert {"old": "startup", "new": "drain"} in changes
    assert len(changes) >= len(spans)
    picture = figure(8, 6)
    axes = list(picture.subplots(3, 1, sharex=True))
    draw_run_series(axes, "bbr", result.slots, result.samples)
    legend = axes[2].get_legend()
    assert legend is not None
    assert {"startup", "probe_rtt"} <= {text.get_text() for text in legend.get_texts()}


@pytest.mark.parametrize(
    ("cca", "modes"),
    [
        ("cubic", {"slow_start", "recovery", "concave"}),
        ("copa", {"slow_start", "default"}),
        ("reno", {"slow_start", "recovery", "congestion_avoidance"}),
    ],
)
def test_each_cca_names_its_modes(cca: str, modes: set[str]) -> None:
    result = ct.run("steady-20-68", cca, duration="8s", set={"path.buffer": "1bdp"}, samples="10ms")
    assert modes <= {each.mode for each in mode_spans(result.samples)}


def test_a_run_keeps_samples_and_a_capture(celltcp, tmp_path: Path) -> None:
    done = celltcp(
        "run", "steady-5-18", "--cca", "bbr", "--duration", "3s", "--out", "r", "--pcap", "x.pcap"
    )
    assert done.returncode == 0, done.stderr
    samples = pq.read_table(tmp_path / "r" / "samples.parquet")
    assert len(samples) > 400
    assert {"cwnd", "ssthresh", "inflight", "srtt_us", "pacing_rate_bps", "state"} <= set(
        samples.column_names
    )
    assert (tmp_path / "x.pcap").read_bytes()[:4] == bytes.fromhex("4d3cb2a1")
    if shutil.which("tshark") is None:
        pytest.skip("tshark is not installed; the capture was written but not read by it")
    check = ["-o", "tcp.check_checksum:TRUE", "-o", "ip.check_checksum:TRUE"]
    bad = "tcp.checksum.status==0 || ip.checksum.status==0 || _ws.malformed"
    shark = ["tshark", "-r", str(tmp_path / "x.pcap"), *check]
    wrong = subprocess.run([*shark, "-Y", bad], capture_output=True, text=True, check=True)
    assert wrong.stdout == ""
