"""Words of Linux, iperf3 and other tools: errors about unknown names tell what they mean here."""

from __future__ import annotations

import pytest

import celltcp as ct


@pytest.mark.parametrize(
    ("field", "meant"),
    [
        ("flows.0.size", "flows.0.workload.bytes"),
        ("tcp.send_buffer", "tcp.send_buffer_max"),
        ("network.latency", "path.rtt"),
        ("path.bandwidth", "path.down.rate"),
        ("path.cross.0.rate", "path.cross_traffic"),
        ("path.jitter.sigma", "path.jitter.sd"),
        ("path.wired.0.jitter.stddev", "path.wired.0.jitter.sd"),
    ],
)
def test_an_unknown_field_names_the_one_that_is_meant(field: str, meant: str) -> None:
    with pytest.raises(ct.CelltcpError, match=f'no such field; did you mean "{meant}"') as error:
        ct.run("steady-20-68", set={field: "1"})
    assert "; allowed: " in str(error.value)


@pytest.mark.parametrize(
    ("option", "meant"),
    [
        ("--time", "--duration"),
        ("--congestion", "--cca"),
        ("--rtt", "--set path.rtt=VALUE"),
        ("--parallel", "--set flows.0.count=VALUE"),
        ("--own", "--cca-file"),
    ],
)
def test_an_unknown_option_names_the_one_that_is_meant(celltcp, option: str, meant: str) -> None:
    done = celltcp("compare", "steady-20-68", option, "4")
    assert done.returncode == 2
    assert f"No such option '{option}'. Did you mean '{meant}'?" in done.stderr
