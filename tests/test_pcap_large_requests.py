"""Scenarios of captured uploads by requests, as pictures that a phone sends one after another."""

from __future__ import annotations

import random
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import celltcp as ct
from celltcp._core import in_unit
from celltcp.cli import celltcp as commands
from celltcp.scenarios.lower_bounds import OTHER_THAN_CAPTURED

_BULK = '[[flows]]\nname = "backup"\nfrom = "phone"\nto = "server"\nopens = "from"\n'


def _to_scenario(folder: Path, path: str, flows: str) -> tuple[list[dict[str, Any]], str]:
    """Returns the flows of the scenario of a run captured at its server, and what is printed."""
    truth, capture, scenario = (folder / name for name in ("t.toml", "x.pcap", "path.toml"))
    truth.write_text(f'duration = "40s"\n[path]\n{path}{flows}')
    ct.run(truth, "cubic", 1, pcap=capture, pcap_at="server", samples="off")
    done = CliRunner().invoke(commands, ["pcap", "to-scenario", str(capture), "--out", str(scenario)])
    assert done.exit_code == 0, done.output
    return tomllib.loads(scenario.read_text())["flows"], done.output


@pytest.mark.parametrize("has_backup", [False, True])
@pytest.mark.parametrize("seed", range(2))
def test_requests_larger_than_their_responses_keep_direction_sizes_count_and_pauses(
    tmp_path: Path, seed: int, has_backup: bool
) -> None:
    """Without the queue before them, the pauses of the client are those of its application."""
    draw = random.Random(f"large requests {seed}")
    request_kb, response, count = draw.choice([30, 50]), draw.choice([200, 1000]), draw.randint(12, 16)
    think_ms, gap_ms = draw.choice([10, 80]), draw.choice([300, 500])
    path = f'rtt = "{draw.choice([40, 80])}ms"\nup = "4Mbit/s"\nuplink_buffer = "150kB"\n'
    workload = (
        f'[[flows]]\nname = "pictures"\nworkload = {{ kind = "request-response", '
        f'request = "{request_kb}kB", response = "{response}B", think = "{think_ms}ms", '
        f'gap = "{gap_ms}ms", count = {count} }}\n'
    )
    flows, printed = _to_scenario(tmp_path, path, f"{_BULK if has_backup else ''}{workload}")
    flow = flows[-1]
    assert len(flows) == 1 + has_backup
    assert (flow.get("from", "server"), flow.get("to", "phone")) == ("server", "phone")
    written = flow["workload"]
    sizes = [int(written[name].removesuffix("B")) for name in ("request", "response")]
    assert (sizes, written["count"]) == ([1000 * request_kb, response], count)
    assert in_unit(written["think"], "ms") == pytest.approx(think_ms, abs=2)
    assert in_unit(written["gap"], "ms") == pytest.approx(gap_ms, abs=60 if has_backup else 30)
    # Both are measured at the server, where the first packet of a request has left the queue.
    captured, simulated = re.findall(r"mean response ([\d.]+) (m?s)", printed)[:2]
    times_ms = [in_unit("".join(each), "ms") for each in (captured, simulated)]
    # Beside a backup, those that its slow start loses have time-outs, and others none.
    assert has_backup or times_ms[1] == pytest.approx(times_ms[0], rel=0.1)
    is_alike = max(times_ms) <= 1.25 * min(times_ms)
    assert is_alike or OTHER_THAN_CAPTURED in printed
