"""Sentences of captures of drawn scenarios: their cause or nothing, wherever the capture is."""

from __future__ import annotations

import random
import re
from pathlib import Path
from typing import Any

import pytest

import celltcp as ct
from celltcp.pcap import analyse
from drawn_causes import CAUSES, Changes, drawn

#: Places of captures: sender, in between, receiver.
PLACES = ["server", "node-1", "phone"]
#: Middlebox that lets all data pass, for captures in between.
BETWEEN: Changes = {
    "path.wired": [{"name": "wan"}, {"name": "hop-2", "delay": "8ms"}],
    "path.middleboxes": [{"kind": "reset-tracker", "at": "node-1"}],
}
#: Losses of which only a list of what looks alike is known, and those of errors of the path.
LIKE_LOSSES = "either a buffer that overflowed|a policer, or in a very short buffer"
ERRORS = f"lost at random[, ]|beside a queue that was not full|errors of the path|{LIKE_LOSSES}"
FULL = f"a full queue on the path|(lost|lost, most likely) in a full queue|a queue stands|{LIKE_LOSSES}"
GAP = "for data of the|stood still|outage of the path"
IDLE = "the application of the|the send buffer|either the send buffer, the application"


def _random_losses(draw: random.Random) -> Changes:
    return {"path.loss": f"{draw.uniform(0.3, 1.5):.2f}%"}


def _bursts(draw: random.Random) -> Changes:
    bad = f"{draw.uniform(5, 40):.0f}ms"
    return {"path.loss": {"kind": "gilbert-elliott-time", "good": "700ms", "bad": bad}}


def _requests(draw: random.Random, **settings: str) -> Changes:
    size = f"{draw.randint(10, 200)}kB"
    return {"flows.0.workload": {"kind": "request-response", "response": size, **settings}}


def _slow_server(draw: random.Random) -> Changes:
    return _requests(draw, gap="1ms", think=f"{draw.uniform(0.5, 1.5):.1f}s")


def _slow_client(draw: random.Random) -> Changes:
    return _requests(draw, gap=f"{draw.uniform(0.5, 1.5):.1f}s", think="1ms")


def _no_scale(_draw: random.Random) -> Changes:
    return {"tcp.window_scale": False, "path.rtt": "80ms"}


def _blackout(draw: random.Random) -> Changes:
    at, length = draw.uniform(2, 4), draw.uniform(0.8, 2)
    return {"path.blackouts": [{"at": f"{at:.1f}s", "duration": f"{length:.1f}s"}]}


#: Causes beside those of `drawn_causes`.
FURTHER = {
    "random_losses": _random_losses,
    "bursts": _bursts,
    "slow_server": _slow_server,
    "slow_client": _slow_client,
    "no_scale": _no_scale,
    "blackout": _blackout,
}
#: What a sentence may say of each cause.
RIGHT = {
    "shallow_buffer": f"shallow buffer|{FULL}|slow start overshot",
    "receive_window": "the receive window",
    "send_buffer": IDLE,
    "application": f"{IDLE}|{GAP}",
    "outage": f"{GAP}|time-outs|{FULL}",
    "policer": f"a policer|{LIKE_LOSSES}",
    "competition": f"{FULL}|shallow buffer|slow start overshot",
    "reordering": f"overtaken|{FULL}",
    "random_losses": f"{ERRORS}|time-outs",
    "bursts": f"{ERRORS}|time-outs|outage|end of a flight",
    "slow_server": f"the application of the server|{GAP}",
    "slow_client": "the application of the client",
    "no_scale": "the receive window",
    "blackout": f"{GAP}|time-outs|{LIKE_LOSSES}",
}


def sentence_of(cause: str, seed: int, place: str, file: Path) -> str:
    """Returns the sentence of a capture of a drawn run."""
    draw = random.Random(f"{cause} {seed} {place}")
    changes: dict[str, Any] = drawn(cause if cause in CAUSES else "reordering", seed)
    if cause in FURTHER:
        del changes["path.jitter"]
        changes |= FURTHER[cause](draw)
    ct.run(
        "steady-20-68",
        "own",
        seed,
        "8s",
        set=BETWEEN | changes,
        samples="off",
        pcap=file,
        pcap_at=place,
    )
    connections = analyse(file).connections
    payload = connections["bytes_up"] + connections["bytes_down"]
    sentence: str = connections["diagnosis"][payload.idxmax()]
    return sentence


@pytest.mark.parametrize(
    ("cause", "seed", "place"),
    [
        ("shallow_buffer", 1, "phone"),
        ("receive_window", 1, "node-1"),
        ("slow_client", 1, "phone"),
        # Each loss follows a rise to the rate of the policer, at an RTT without a queue.
        ("policer", 2, "server"),
        ("policer", 2, "node-1"),
        # Slow start overshot the queue before segments that were overtaken kept the window small.
        ("reordering", 2, "server"),
        # Identifications of the capture rise in the order of passing.
        ("reordering", 11, "phone"),
        # More was in flight at first than later.
        ("send_buffer", 14, "server"),
    ],
)
def test_a_sentence_names_a_drawn_cause(cause: str, seed: int, place: str, tmp_path: Path) -> None:
    assert re.search(RIGHT[cause], sentence_of(cause, seed, place, tmp_path / "x.pcap"))


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_sentences_name_drawn_causes_and_no_others(seed: int, tmp_path: Path) -> None:
    """Of 25 captures, 22 name it."""
    named = 0
    for cause, right in RIGHT.items():
        for place in PLACES:
            sentence = sentence_of(cause, seed, place, tmp_path / f"{cause}-{place}.pcap")
            says_nothing = not sentence or re.search("too few to tell|no RTT beside", sentence)
            assert says_nothing or re.search(right, sentence), (cause, place, sentence)
            named += not says_nothing
    assert named >= 0.88 * len(RIGHT) * len(PLACES)
