"""Compares live runs with runs of the kernel engine: the same scenario, seed and congestion control.

The programs of a live run begin to send some milliseconds later than they are asked to, and a loss more
or less changes all that follows. The kernel engine therefore plays several runs that begin within these
milliseconds, and a live run is held against the interval in which 95 % of further runs are.

The runs of a scenario and a congestion control are a file in the folder of results, so that a study
that was interrupted goes on where it was. Live runs that have not kept real time are repeated.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import t as student

import celltcp as ct

#: Time at which data begins to flow, seconds: the programs are ready by then.
BEGIN_S = 1.0
#: Length of the slots in which goodput is compared, seconds.
SLOT_S = 5.0
#: Times between the beginnings of runs of the kernel engine, seconds. The default number of runs covers
#: the times at which live runs began: 15 to 35 ms late.
LATER_S = 0.003
#: Differences that are within what the two kernels may differ in, percent: goodput and RTT.
TOLERATED = {"goodput": 2.0, "rtt": 3.0}
#: Latest beginning of data of a live run after its time, beside its RTT, seconds: later, programs of
#: the machine waited.
LATEST_S = 0.2
#: Live runs of a pair at most.
ATTEMPTS = 3
#: Port of the download.
PORT = 5001

#: Receives a download, until its sender ends it.
SINK = """
import socket, sys
connection, _ = socket.create_server(("", int(sys.argv[1]))).accept()
while connection.recv(1 << 20):
    pass
"""

#: Sends as much as it can, from the moment on at which it reads a line.
SOURCE = """
import socket, sys
host, port, seconds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
print("ready", flush=True)
sys.stdin.readline()
import time
end = time.monotonic() + seconds
connection = socket.create_connection((host, port))
connection.settimeout(0.1)
piece = bytes(1 << 16)
while time.monotonic() < end:
    try:
        connection.send(piece)
    except TimeoutError:
        pass
"""


def figures(result: Any, duration: float) -> dict[str, Any]:
    """Returns goodput (Mbit/s) of the download in each slot and in all, and its mean RTT (ms)."""
    flows = result.flows
    (flow,) = flows.loc[flows["bytes"] == flows["bytes"].max(), "flow"]
    slots = result.slots[result.slots["flow"] == flow]
    number = ((slots["t_s"] - BEGIN_S) // SLOT_S).astype(int)
    whole = int((duration - BEGIN_S) // SLOT_S)
    sums = slots["delivered_bytes"].groupby(number).sum()
    per_slot = [8 * float(sums.get(n, 0)) / SLOT_S / 1e6 for n in range(whole)]
    (rtt,) = flows.loc[flows["flow"] == flow, "rtt_mean_ms"]
    return {"goodput_mbps": sum(per_slot) / whole, "slots_mbps": per_slot, "rtt_ms": float(rtt)}


def kernel_run(scenario: str, cca: str, seed: int, duration: float, later_s: float) -> dict[str, Any]:
    """Plays the download in the kernel engine."""
    changes = {"flows.0.start": f"{BEGIN_S + later_s}s", "variation.start_jitter": "0s"}
    length = f"{duration}s"
    run = ct.run(
        scenario, cca=cca, seed=seed, engine="kernel", duration=length, set=changes, samples="off"
    )
    return figures(run, duration)


def live_run(
    scenario: str, cca: str, seed: int, duration: float, folder: Path, *, spin: bool
) -> dict[str, Any]:
    """Plays the download between two programs of this machine."""
    with ct.Shell(scenario, cca, seed, out=folder, overwrite=True, busy_poll=spin) as shell:
        shell.start([sys.executable, "-c", SINK, str(PORT)])
        seconds = str(duration - BEGIN_S)
        source = shell.start(
            [sys.executable, "-c", SOURCE, "phone", str(PORT), seconds],
            on="server",
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert source.stdin is not None
        assert source.stdout is not None
        source.stdout.readline()
        time.sleep(max(0.0, BEGIN_S - shell.status()["time_s"]))
        source.stdin.write(b"\n")
        source.stdin.flush()
        time.sleep(max(0.0, duration - shell.status()["time_s"]))
        status = shell.status()
        source.kill()
    result = ct.load(folder)
    flow = result.flows.loc[result.flows["bytes"].idxmax()]
    began_s = float(flow["first_data_s"]) - float(flow["rtt_min_ms"]) / 1e3
    is_valid = status["lateness"]["valid"] and began_s <= BEGIN_S + LATEST_S
    return {**figures(result, duration), "began_s": began_s, "valid": is_valid}


def difference(one: float, other: float) -> float:
    """Returns by how much one figure is above another, in percent."""
    return 100 * (one / other - 1) if other else 0.0


def interval(figure: str, runs: list[dict[str, Any]]) -> tuple[float, float]:
    """Returns the ends of the interval in which a further run is with a probability of 95 %."""
    values = [run[figure] for run in runs]
    count = len(values)
    half = student.ppf(0.975, count - 1) * np.std(values, ddof=1) * np.sqrt(1 + 1 / count)
    return float(np.mean(values) - half), float(np.mean(values) + half)


def compared(kernel: list[dict[str, Any]], live: dict[str, Any]) -> dict[str, Any]:
    """Returns means of the kernel engine, differences in percent, and whether the live run is alike.

    It is alike if goodput and RTT are within their intervals or within what is tolerated.
    """
    found: dict[str, Any] = {}
    alike = []
    for name, figure in (("goodput", "goodput_mbps"), ("rtt", "rtt_ms")):
        mean = float(np.mean([run[figure] for run in kernel]))
        found[f"kernel_{name}"] = mean
        found[name] = difference(live[figure], mean)
        low, high = interval(figure, kernel)
        alike.append(low <= live[figure] <= high or abs(found[name]) <= TOLERATED[name])
    slots = zip(live["slots_mbps"], np.mean([run["slots_mbps"] for run in kernel], axis=0), strict=True)
    found["slot"] = max((difference(one, float(other)) for one, other in slots), key=abs)
    return {**found, "alike": all(alike)}


def study(arguments: argparse.Namespace) -> None:
    """Plays the runs that are missing, and prints a line for each scenario and congestion control."""
    arguments.out.mkdir(parents=True, exist_ok=True)
    print(
        "scenario,cca,kernel Mbit/s,live Mbit/s,goodput %,worst 5 s %,kernel RTT ms,live RTT ms,RTT %,"
        "alike,valid"
    )
    seed, duration = arguments.seed, arguments.duration
    for scenario in arguments.scenario:
        for cca in arguments.cca:
            name = f"{scenario.replace('/', '-')}-{cca}-{seed}"
            file = arguments.out / f"{name}.json"
            pair = json.loads(file.read_text()) if file.is_file() else {"kernel": []}
            for number in range(len(pair["kernel"]), arguments.starts):
                pair["kernel"].append(kernel_run(scenario, cca, seed, duration, number * LATER_S))
                file.write_text(json.dumps(pair))
            for _ in range(ATTEMPTS):
                if pair.get("live", {}).get("valid"):
                    break
                folder = arguments.out / name
                pair["live"] = live_run(scenario, cca, seed, duration, folder, spin=arguments.busy_poll)
                file.write_text(json.dumps(pair))
            live = pair["live"]
            differs = compared(pair["kernel"], live)
            print(
                f"{scenario},{cca},{differs['kernel_goodput']:.2f},{live['goodput_mbps']:.2f},"
                f"{differs['goodput']:+.1f},{differs['slot']:+.1f},{differs['kernel_rtt']:.1f},"
                f"{live['rtt_ms']:.1f},{differs['rtt']:+.1f},{differs['alike']},"
                f"{live['valid']}",
                flush=True,
            )


def main() -> None:
    """Reads the arguments."""
    scenarios = [entry for entry in ct.scenario_names() if entry.startswith("mobility/")]
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path, help="folder of results")
    parser.add_argument("--scenario", nargs="+", default=scenarios)
    parser.add_argument("--cca", nargs="+", default=["reno", "cubic", "bbr"])
    parser.add_argument("--seed", type=int, default=3)
    parser.add_argument("--duration", type=float, default=61.0, help="length of a run, s")
    parser.add_argument("--starts", type=int, default=14, help="runs of the kernel engine, >= 2")
    parser.add_argument("--busy-poll", action="store_true", help="as celltcp shell --busy-poll")
    study(parser.parse_args())


if __name__ == "__main__":
    main()
