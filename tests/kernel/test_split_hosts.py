"""Split hosts between two unmodified Linux hosts."""

from __future__ import annotations

import pytest

import celltcp as ct

PATH = {
    "path.rtt": "120ms",
    "path.wired": "[{ name = 'wan', delay = '30ms' }, { name = 'ran' }]",
    "flows.0.workload": "{ kind = 'bulk', bytes = '1MB' }",
}


@pytest.mark.usefixtures("linux")
@pytest.mark.parametrize(
    "box",
    [
        *("split:at=node-1", "es:at=node-1", "snoop:at=node-1", "mtcp:at=node-1", "pam:at=node-1"),
        *("mtcp-plus", "freeze", "ack-regulator"),
    ],
)
def test_linux_hosts_exchange_data_through_a_middlebox(box: str) -> None:
    kind = box.partition(":")[0]
    outcomes = []
    for engine in ("native", "kernel"):
        cca = f"reno@{box}"
        run = ct.run("steady-20-68", cca, duration="5s", set=PATH, engine=engine, samples="off")
        row = run.flows.iloc[0]
        assert row["bytes"] == 1_000_000
        assert (row["acked_early_ends"] > 0) == (kind == "split")
        assert (row["acked_early_bytes"] > 0) == (kind in {"split", "es"})
        outcomes.append(row["completion_s"])
    native, kernel = outcomes
    assert kernel == pytest.approx(native, rel=0.02)


@pytest.mark.usefixtures("linux")
def test_as_tcp_needs_a_server_that_linux_is_not() -> None:
    with pytest.raises(
        ct.CelltcpError, match="needs servers that understand its TCP option, and Linux does not"
    ):
        ct.run("steady-20-68", "reno@as:at=node-1", duration="1s", set=PATH, engine="kernel")
    run = ct.run(
        "steady-20-68",
        "reno@as:at=node-1",
        duration="5s",
        set={**PATH, "tcp.far_acks": "false"},
        engine="kernel",
        samples="off",
    )
    assert (run.flows["bytes"].iloc[0], run.flows["acked_early_ends"].iloc[0]) == (1_000_000, 0)


@pytest.mark.usefixtures("linux")
@pytest.mark.parametrize("kind", ["mtcp-plus", "freeze"])
def test_linux_is_frozen_while_the_link_is_interrupted(kind: str) -> None:
    outage = {
        **PATH,
        "path.rtt": "60ms",
        "path.wired": "[{ name = 'wan', delay = '20ms' }, { name = 'ran' }]",
        "path.down": "{ steps = [{ at = '0s', rate = '5Mbit/s' }, { at = '1s', rate = '0bit/s' }, "
        "{ at = '3s', rate = '5Mbit/s' }] }",
        "tcp.receive_window_max": "40kB",
    }
    run = ct.run("steady-20-68", f"cubic@{kind}", duration="10s", set=outage, engine="kernel")
    row = run.flows.iloc[0]
    assert (row["bytes"], row["acked_early_bytes"]) == (1_000_000, 0)
    plain = ct.run("steady-20-68", "cubic@none", duration="10s", set=outage, engine="kernel")
    assert row["timeouts"] < plain.flows["timeouts"].iloc[0]


@pytest.mark.usefixtures("linux")
def test_eln_needs_a_server_that_linux_is_not() -> None:
    with pytest.raises(
        ct.CelltcpError, match="needs servers that understand its notifications, and Linux does not"
    ):
        ct.run("steady-20-68", "reno@eln", duration="1s", set=PATH, engine="kernel")


@pytest.mark.usefixtures("linux")
def test_a_time_out_that_the_zero_window_does_not_stop_is_undone() -> None:
    """The far host waits for seconds: Linux sends reserved bytes again, and undoes its reduction."""
    slow = {**PATH, "path.down.rate": "2Mbit/s"}
    cca = "cubic@es:at=node-1,buffer=3MB"
    run = ct.run("steady-20-68", cca, duration="10s", set=slow, engine="kernel")
    row = run.flows.iloc[0]
    assert (row["bytes"], row["acked_early_ends"], row["undone"]) == (1_000_000, 0, 1)
