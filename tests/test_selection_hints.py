"""Hints: speed and movement reported by the radio, and the choices of table policies by them."""

from __future__ import annotations

import re
import tomllib

import pytest

import celltcp as ct
from celltcp._core import policy_text

MOVEMENTS = ("forward", "backward")
SPEEDS = ("60", "120", "300")
LATENCIES = ("4g", "low")


def cell(policy: str, movement: str, speed: str, latency: str, phase: str | None) -> dict[str, str]:
    """Returns the only cell of a policy's table for these conditions."""
    cells = tomllib.loads(policy_text(policy))["method"]["table"]["cells"]
    wanted = {"movement": movement, "speed": speed, "latency": latency}
    result = [
        each
        for each in cells
        if all(each[key] == value for key, value in wanted.items())
        and each.get("phase", phase) == phase
    ]
    assert len(result) == 1, wanted
    return dict(result[0])


@pytest.mark.parametrize("latency", LATENCIES)
@pytest.mark.parametrize("speed", SPEEDS)
@pytest.mark.parametrize("movement", MOVEMENTS)
@pytest.mark.parametrize("policy", ["thesis-inflight", "thesis-establishment"])
def test_the_first_choice_is_that_of_the_cell(
    policy: str, movement: str, speed: str, latency: str
) -> None:
    """atxutegi2018-thesis, tables 6.1 and 6.8: movement and speed from the radio, latency from the
    handshake."""
    scenario = f"mobility/{movement}-{speed}-{latency}"
    auto = f"auto:policy={policy},requirement=delay,hints=on"
    result = ct.run(scenario, auto, duration="1s", samples="1ms")
    decisions = result.decisions
    assert list(decisions["cause"])[:2] == ["establishment"] * 2
    without_hints, with_hints = decisions.iloc[0], decisions.iloc[1]
    assert without_hints["to_cca"] == "cubic"
    phase = "start-up" if policy == "thesis-inflight" else None
    expected = cell(policy, movement, speed, latency, phase)["delay"]
    assert re.match(rf"{movement} at {speed} km/h, latency {latency}\b", with_hints["reason"])
    if expected != "*":
        assert with_hints["to_cca"] == expected
    # The hints are used right after the handshake, before more than the initial window is sent.
    before = result.samples[result.samples["t_ns"] <= with_hints["t_ns"]]
    assert before["cwnd"].max() <= 20


def test_speed_and_movement_are_those_of_the_scenario() -> None:
    auto = "auto:policy=fixed,cca=cubic,hints=on"
    result = ct.run("mobility/backward-120-4g", auto, duration="3s", samples="off")
    estimates = result.estimates
    assert set(estimates["speed"]) == {"120"}
    assert set(estimates["movement"]) == {"backward"}
    assert (estimates["movement_confidence"] >= 0.9).all()


def test_a_wire_gives_no_hints() -> None:
    auto = "auto:policy=thesis-inflight,requirement=delay"
    on = ct.run("steady-20-68", f"{auto},hints=on", duration="5s", samples="off")
    off = ct.run("steady-20-68", auto, duration="5s", samples="off")
    for table in ("decisions", "estimates"):
        tables = [getattr(result, table).drop(columns="cca") for result in (on, off)]
        assert tables[0].equals(tables[1]), table


def test_without_hints_the_table_of_the_establishment_knows_nothing() -> None:
    auto = "auto:policy=thesis-establishment,requirement=delay"
    result = ct.run("mobility/forward-60-4g", auto, duration="3s", samples="off")
    decisions = result.decisions
    assert list(decisions["to_cca"]) == ["cubic"]
