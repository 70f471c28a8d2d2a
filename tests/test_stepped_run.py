"""A run that is stepped from Python, whose CCA an agent changes."""

from __future__ import annotations

import pyarrow as pa
import pytest

from celltcp._core import CelltcpError, Run, Scenario, selection_features

NETWORK = """
name = "link"
duration = "4s"
slot = "500ms"
[path]
down = "8Mbit/s"
up = "8Mbit/s"
rtt = "40ms"
[[flows]]
cca = {cca}
"""


def run(cca: str) -> Run:
    return Run(Scenario.from_toml(NETWORK.format(cca=cca), "link", "", []), 1)


SELECTED = '{ name = "auto", policy = "fixed", cca = "cubic" }'


def test_estimates_are_known_one_by_one() -> None:
    stepped = run(SELECTED)
    names = [name for name, _ in selection_features()]
    assert stepped.selection(0) is None
    assert stepped.selected() == []
    stepped.advance(3.0)
    assert stepped.selected() == [0]
    cca, features = stepped.selection(0) or ("", [])
    assert cca == "cubic"
    known = dict(zip(names, features, strict=True))
    assert known["sinr"] is None
    assert known["flow_size"] is None
    value, confidence = known["base_rtt"] or (0.0, 0.0)
    assert 39.0 < value < 45.0
    assert confidence == 1.0


def test_a_takeover_that_an_agent_requests_is_a_decision_of_the_run() -> None:
    stepped = run(SELECTED)
    stepped.advance(2.0)
    stepped.request(0, "vegas")
    stepped.advance(3.0)
    assert (stepped.selection(0) or ("",))[0] == "vegas"
    slots = pa.record_batch(stepped.slots_from(0, 4))
    assert slots["t_s"].to_pylist() == [2.0, 2.5]
    stepped.advance(4.0)
    decisions = pa.record_batch(stepped.finish()["decisions"])
    assert decisions["cause"].to_pylist() == ["establishment", "agent"]
    assert decisions["to_cca"].to_pylist() == ["cubic", "vegas"]
    # The switch comes with the next sample of the selector, of which there is one every 10 ms.
    assert 2_000_000_000 < decisions["t_ns"].to_pylist()[1] <= 2_010_000_000


def test_requests_that_cannot_be_met_are_refused() -> None:
    stepped = run(SELECTED)
    stepped.advance(1.0)
    with pytest.raises(CelltcpError, match=r"cca: \"cubik\" is not a congestion control.*allowed: "):
        stepped.request(0, "cubik")
    with pytest.raises(CelltcpError, match="connection 1: it has no selector; allowed: open"):
        stepped.request(1, "bbr")
    stepped.finish()
    with pytest.raises(CelltcpError, match="the run has been finished"):
        stepped.selection(0)
    fixed = run('"cubic"')
    fixed.advance(1.0)
    assert fixed.selection(0) is None
    with pytest.raises(CelltcpError, match="connection 0: it has no selector"):
        fixed.request(0, "bbr")
