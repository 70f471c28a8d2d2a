"""Selected congestion controls on a real Linux kernel."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest

import celltcp as ct
from celltcp._core import native_ccas
from celltcp.campaign.engines import Engine
from celltcp.campaign.jobs import jobs_for
from celltcp.campaign.run import run_jobs
from celltcp.scenarios.scenarios import load_scenario

RULES = "auto:policy=rules,requirement=delay"


def run(
    linux: Engine, cca: str, scenario: str, duration: str, changes: tuple[str, ...] = ()
) -> dict[str, pa.Table]:
    loaded = load_scenario(scenario, duration=duration, changes=changes)
    return run_jobs(jobs_for(loaded, [cca], 1, 1, linux), workers=1)


def told(tables: dict[str, pa.Table], name: str) -> pd.DataFrame:
    return tables[name].to_pandas()


def test_decisions_switch_the_connection_and_are_recorded(linux: Engine) -> None:
    tables = run(linux, RULES, "mobility/forward-60-4g", "8s")
    decisions = told(tables, "decisions")
    assert decisions["cause"].iloc[0] == "establishment"
    changes = decisions[decisions["from_cca"] != decisions["to_cca"]]
    assert len(changes) >= 1
    events = told(tables, "events")
    switched = [detail.split()[0] for detail in events.loc[events["kind"] == "switch", "detail"]]
    assert switched == list(changes["to_cca"])
    assert told(tables, "flows")["cca"].iloc[0] == RULES


def test_estimates_are_those_of_the_network(linux: Engine) -> None:
    """A link of 20 Mbit/s with 68 ms, watched under CUBIC."""
    tables = run(linux, "auto:policy=fixed,cca=cubic", "steady-20-68", "8s")
    estimates = told(tables, "estimates")
    slots = told(tables, "slots")
    assert set(slots["t_s"]) <= set(estimates["t_s"])
    assert len(estimates) == 80
    later = estimates[estimates["t_s"] >= 4]
    assert (later["base_rtt_ms"].between(68, 70)).all()
    assert (later["capacity_mbps"].between(17, 20)).all()
    assert (later["latency"] == "4g").all()
    assert set(estimates["using_cca"]) == {"cubic"}


def test_the_radio_hints_at_movement_and_speed(linux: Engine) -> None:
    auto = "auto:policy=thesis-inflight,requirement=delay,hints=on"
    tables = run(linux, auto, "mobility/backward-120-low", "2s")
    informed = told(tables, "decisions").iloc[1]
    assert informed["cause"] == "establishment"
    assert informed["reason"].startswith("backward at 120 km/h, latency low, start-up")
    assert set(told(tables, "estimates")["speed"]) == {"120"}


def test_every_connection_gets_its_own_selector(linux: Engine) -> None:
    changes = ("flows.0.workload.kind=sequence", "flows.0.workload.count=3")
    tables = run(linux, RULES, "steady-20-68", "20s", changes)
    first = told(tables, "decisions").drop_duplicates("flow")
    assert list(first["flow"]) == [0, 1, 2]
    assert (first["cause"] == "establishment").all()
    estimates = told(tables, "estimates")
    last = told(tables, "slots").groupby("flow")["t_s"].max()
    assert (estimates.groupby("flow")["t_s"].max() <= last + 0.5).all()


def test_policies_come_from_files(linux: Engine, tmp_path: Path) -> None:
    text = 'name = "mine"\ndescription = "A test."\n[method.fixed]\ncca = "westwood"\n'
    (tmp_path / "mine.toml").write_text(text)
    tables = run(linux, f"auto:policy={tmp_path / 'mine.toml'}", "steady-20-68", "3s")
    assert list(told(tables, "decisions")["to_cca"]) == ["westwood"]
    assert told(tables, "flows")["goodput_mbps"].iloc[0] > 5


def test_the_same_seed_gives_the_same_decisions(linux: Engine) -> None:
    first, again = (run(linux, RULES, "mobility/forward-60-4g", "5s") for _ in range(2))
    for name in ("decisions", "estimates", "slots"):
        assert told(first, name).equals(told(again, name)), name


def test_a_choice_that_the_kernel_lacks_is_refused(linux: Engine, tmp_path: Path) -> None:
    text = 'name = "mine"\ndescription = "A test."\n[method.fixed]\ncca = "ledbat"\n'
    (tmp_path / "mine.toml").write_text(text)
    there = set(linux.ccas)
    lacking = next(name for name in native_ccas() if name not in there)
    (tmp_path / "mine.toml").write_text(text.replace("ledbat", lacking))
    with pytest.raises(ct.CelltcpError, match=rf"mine\.toml has or may choose '{lacking}'"):
        run(linux, f"auto:policy={tmp_path / 'mine.toml'}", "steady-20-68", "3s")


def test_a_small_flow_starts_with_the_window_of_the_policy(linux: Engine, tmp_path: Path) -> None:
    text = (
        'name = "mine"\ndescription = "A test."\n'
        "[initial_window]\nsegments = 24\nlargest_flow = 5\nrequirements = ['fct']\n"
        "[method.fixed]\ncca = 'cubic'\n"
    )
    (tmp_path / "mine.toml").write_text(text)
    auto = f"auto:policy={tmp_path / 'mine.toml'},requirement=fct,flow_size="

    def first_window(size: str) -> int:
        """Segments in the first slot of the first connection, before the first ACK comes back."""
        slots = told(run(linux, auto + size, "stress/short-1m", "1s"), "slots")
        return int(slots.loc[slots["delivered_bytes"] > 0, "delivered_bytes"].iloc[0]) // 1448

    assert first_window("1MB") == 24
    assert first_window("6MB") == 10


def test_other_flows_to_the_destination_keep_their_initial_window(
    linux: Engine, tmp_path: Path
) -> None:
    (tmp_path / "two.toml").write_text(
        "name = 'two'\ndescription = 'A test.'\nduration = '1500ms'\n"
        "[path]\nrtt = '150ms'\nbuffer = '1bdp'\ndown = { rate = '50Mbit/s' }\n"
        "[[flows]]\nworkload = { kind = 'sequence', size = '30kB', count = 1 }\n"
        "[[flows]]\ncca = 'cubic'\nstart = '1s'\n"
        "workload = { kind = 'sequence', size = '30kB', count = 1 }\n"
    )
    tables = run(linux, "auto:requirement=fct", str(tmp_path / "two.toml"), "1500ms")
    slots = told(tables, "slots")
    begun = slots[slots["delivered_bytes"] > 0].groupby("flow")["delivered_bytes"].first()
    assert [size // 1448 for size in begun] == [20, 10]
