"""The sentence of celltcp pcap analyze on runs whose cause is known by construction."""

from __future__ import annotations

import random
import re
from pathlib import Path
from typing import Any

import pytest

import celltcp as ct
from celltcp.pcap import analyse

#: CCA, duration, changes of steady-20-68, and the words of the cause.
CAUSES: dict[str, tuple[str, str, dict[str, Any], str]] = {
    "an outage": (
        "cubic",
        "8s",
        {"path.blackouts": [{"at": "3s", "duration": "1500ms"}]},
        "s for an outage of the path at 2.",
    ),
    "a policer": (
        "reno",
        "10s",
        {"path.policer": {"rate": "5Mbit/s", "burst": "30kB"}, "path.rtt": "30ms"},
        # 5 Mbit/s of packets with 52 bytes of headers.
        "a policer on the path limits the rate to 4.8",
    ),
    "a policer above which the sender is for short times only": (
        "reno",
        "10s",
        {
            "path.policer": {"rate": "11Mbit/s", "burst": "100kB"},
            "path.rtt": "80ms",
            "path.buffer": "2bdp",
        },
        "a policer on the path limits the rate to 10.6",
    ),
    "CoDel": (
        "cubic",
        "15s",
        {"path.queue": "codel", "path.rtt": "20ms"},
        "a queue discipline (AQM) on the path drops",
    ),
    "random losses": ("reno", "6s", {"path.loss": "0.5%", "path.rtt": "30ms"}, "were lost at random"),
    "losses in a queue": (
        "cubic",
        "8s",
        {"path.loss": "0.02%", "path.rtt": "30ms", "path.buffer": "4bdp"},
        "were lost beside a queue that was not full",
    ),
    "a shallow buffer": (
        "reno",
        "15s",
        {"path.buffer": "0.15bdp", "path.rtt": "40ms"},
        "a shallow buffer on the path limits",
    ),
    "an overshoot of a shallow buffer": (
        "cubic",
        "8s",
        {"path.buffer": "0.1bdp"},
        "at once in slow start: either in a shallow buffer or by a policer",
    ),
    "a deep buffer": ("cubic", "6s", {}, "a full queue on the path limits the rate"),
    "bursts of losses": (
        "cubic",
        "8s",
        {
            "path.loss": {"kind": "gilbert-elliott-time", "good": "1s", "bad": "10ms"},
            "path.rtt": "30ms",
        },
        "were lost in bursts, beside a queue that was not full",
    ),
    "a send buffer": (
        "cubic",
        "5s",
        {"tcp.send_buffer_max": "128kB"},
        "the send buffer of the server limits the rate, or its application",
    ),
    "a CCA that keeps its flight": (
        "vegas",
        "10s",
        {"path.buffer": "8bdp", "path.rtt": "20ms"},
        "a CCA that keeps its window limits",
    ),
    "a rate of an application after the start": (
        "reno",
        "5s",
        {
            "flows.0.workload": {"kind": "frames", "size": "70kB", "interval": "40ms"},
            "path.down": {"rate": "28.6Mbit/s"},
            "path.rtt": "76ms",
        },
        "lost in a full queue by 566 ms, at the end of slow start; later, no queue stands",
    ),
    "an application": (
        "cubic",
        "8s",
        {"flows.0.workload": {"kind": "on-off", "on": "500ms", "off": "1s"}},
        "the application of the server limits the rate: nothing was in flight in",
    ),
}


@pytest.fixture(scope="module")
def sentences(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Returns the sentence of each run."""
    folder: Path = tmp_path_factory.mktemp("causes")
    found = {}
    for number, (name, (cca, duration, changes, _)) in enumerate(CAUSES.items()):
        file = folder / f"{number}.pcap"
        ct.run("steady-20-68", cca, duration=duration, set=changes, samples="off", pcap=file)
        found[name] = analyse(file).connections["diagnosis"].iloc[0]
    return found


@pytest.mark.parametrize("name", CAUSES)
def test_a_sentence_names_the_cause_by_construction(name: str, sentences: dict[str, str]) -> None:
    words = CAUSES[name][-1]
    assert words in sentences[name]
    assert bool(words) == bool(sentences[name])
    for other, (*_, others) in CAUSES.items():
        assert other == name or not others or others not in sentences[name], other


@pytest.mark.parametrize(
    ("cca", "link", "rtt", "policer", "buffer", "duration", "words"),
    [
        (
            *("cubic", "8.7Mbit/s", "85ms", {"rate": "5.5Mbit/s", "burst": "111kB"}, "2bdp", "5s"),
            "most likely a policer on the path limits the rate to 5.5",
        ),
        # Too few drops for the rate of a bucket.
        (
            *("reno", "25.5Mbit/s", "142ms", {"rate": "8.6Mbit/s", "burst": "30kB"}, "4bdp", "9s"),
            "lost in bursts",
        ),
    ],
)
def test_at_the_receiver_bursts_of_a_policer_are_neither_random_nor_nagle(
    tmp_path: Path,
    cca: str,
    link: str,
    rtt: str,
    policer: dict[str, str],
    buffer: str,
    duration: str,
    words: str,
) -> None:
    path = {"down": {"rate": link}, "rtt": rtt, "policer": policer, "buffer": buffer}
    changes = {f"path.{name}": value for name, value in path.items()}
    file = tmp_path / "run.pcap"
    ct.run(
        "steady-20-68", cca, duration=duration, set=changes, samples="off", pcap=file, pcap_at="phone"
    )
    sentence = analyse(file).connections["diagnosis"].iloc[0]
    assert words in sentence
    assert "full" not in sentence


def _sentence(folder: Path, cca: str, **changes: Any) -> str:
    """Returns the sentence of a download of 20 s."""
    base = {"path.down.rate": "20Mbit/s", "path.buffer": "1bdp", "variation.start_jitter": "0s"}
    run: dict[str, Any] = {"set": base | changes, "samples": "off", "pcap": folder / "x.pcap"}
    ct.run("steady-20-68", cca, 1, "20s", **run)
    sentence: str = analyse(folder / "x.pcap").connections["diagnosis"].iloc[0]
    return sentence


@pytest.mark.parametrize("seed", range(3))
def test_losses_after_a_full_window_or_an_overflow_are_named_with_their_time(
    tmp_path: Path, seed: int
) -> None:
    draw = random.Random(f"several {seed}")
    start_s = draw.uniform(10, 12)
    losses = [
        {"at": "0s", "loss": 0},
        {"at": f"{start_s:.2f}s", "loss": f"{draw.uniform(1, 3):.1f}%"},
    ]
    changes = {"path.rtt": f"{draw.randint(40, 80)}ms", "path.loss": losses}
    (tmp_path / "window").mkdir()
    sentence = _sentence(tmp_path / "window", "cubic", **{"tcp.receive_window_max": "60kB"}, **changes)
    assert sentence.startswith("the receive window of the client")
    assert re.search(r"; beside that, .* lost at random", sentence)
    (at_s,) = re.findall("the first one at (.*?) s", sentence)
    assert float(at_s) == pytest.approx(start_s, abs=1.5)
    # Slow start without HyStart overflows the buffer.
    overflow = _sentence(tmp_path, "reno", **changes)
    assert re.search(r"lost at random.*; \d+ segments.* lost in a full queue at", overflow)


def test_a_receive_window_beside_an_outage_is_named_with_it(tmp_path: Path) -> None:
    blackouts = [{"at": "10s", "duration": "1.5s"}]
    changes = {"tcp.receive_window_max": "60kB", "path.blackouts": blackouts}
    sentence = _sentence(tmp_path, "cubic", **changes)
    assert sentence.startswith("waited ")
    assert "; in the rest, the receive window of the client" in sentence
