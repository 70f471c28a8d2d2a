"""Tests of what the study makes of ladders, media, settings and logs."""

import argparse
import json
from pathlib import Path
from xml.etree import ElementTree

import pytest
import watch
from ladder import Ladder
from media import padded
from side_by_side import read_log, stalls_of

HERE = Path(__file__).parent
LADDER = Ladder.read(HERE / "ladder.json")


def test_the_ladder_is_the_built_in_one() -> None:
    """The first segment at 230 kbit/s in whole bytes, with three seconds of audio at 128 kbit/s."""
    assert LADDER.size(0, 0) == 886_360 // 8 + 48_000
    assert LADDER.size(16, 0) == LADDER.size(0, 0)


def test_the_manifest_offers_each_rate_with_its_audio() -> None:
    """Browsers need a length, and rates in bit/s."""
    space = "{urn:mpeg:dash:schema:mpd:2011}"
    document = ElementTree.fromstring(LADDER.manifest(40))
    assert document.get("mediaPresentationDuration") == "PT120S"
    rates = [int(each.get("bandwidth", "")) for each in document.iter(f"{space}Representation")]
    assert rates == [round(1e3 * (kbps + 128)) for kbps in LADDER.rates_kbps]


@pytest.mark.parametrize("size", [20, 28, 1000])
def test_segments_have_the_sizes_that_are_asked_for(size: int) -> None:
    """The padding is one box with its length."""
    segment = bytes(20)
    made = padded(segment, size)
    assert len(made) == size
    assert made.startswith(segment)
    if size > 20:
        assert int.from_bytes(made[20:24], "big") == size - 20
        assert made[24:28] == b"free"


@pytest.mark.parametrize("size", [19, 27])
def test_a_segment_without_room_for_a_box_is_refused(size: int) -> None:
    """The head of a box has eight bytes."""
    with pytest.raises(ValueError, match=f"cannot be padded to {size}"):
        padded(bytes(20), size)


def test_links_are_scaled_repeated_and_never_stand_still(tmp_path: Path) -> None:
    """A token bucket needs a rate."""
    link = tmp_path / "link.csv"
    link.write_text("time,Mbit/s\n0,4\n1,0\n2,6\n3,6\n")
    rates = watch.rates_of(link, 0.5, 6)
    assert rates[:2] == [2.0, watch.LEAST_MBPS]
    assert len(rates) == 6


def test_one_rule_is_on_and_the_buffer_has_the_same_size() -> None:
    """Both request a segment where the buffer has room for it."""
    asked = argparse.Namespace(max_buffer=30, length=120, hold=0)
    streaming = watch.settings_of(asked, "bola-e")["dashjs"]["streaming"]
    active = {rule for rule, told in streaming["abr"]["rules"].items() if told["active"]}
    assert active == {"bolaRule"}
    assert streaming["buffer"]["bufferTimeDefault"] == 30


def samples(*spans: tuple[float, bool]) -> list[list[float]]:
    """Samples of a playback that stands or moves for some times, 50 ms apart."""
    result, now, at = [], 0.0, 0.0
    for length, moves in spans:
        for _ in range(round(length / 0.05)):
            now += 0.05
            at += 0.05 if moves else 0.0
            result.append([now, at, 1.0])
    return result


def test_stalls_are_where_the_playback_stands() -> None:
    """The end of the video is none; jitter is none."""
    played = samples((1.0, False), (3.0, True), (2.0, False), (4.0, True), (0.1, False), (1.0, True))
    startup, stalls = stalls_of([*played, *([[20.0, 8.0, 0.0]] * 3)], 8.0)
    assert startup == pytest.approx(1.0)
    assert stalls == [pytest.approx((3.0, 2.0))]


def test_a_log_tells_what_was_played_last(tmp_path: Path) -> None:
    """A segment that was abandoned counts with the quality that came in its place."""
    url = "http://10.99.0.1/{}/{}.m4s"
    requests = [
        {"t": 0.5, "kind": "requested", "url": url.format(3, 0)},
        {"t": 1.0, "kind": "arrived", "url": url.format(3, 0)},
        {"t": 1.9, "kind": "abandoned", "url": url.format(9, 1)},
        {"t": 2.5, "kind": "arrived", "url": url.format(2, 1)},
    ]
    log = tmp_path / "log.json"
    log.write_text(
        json.dumps({"requests": requests, "samples": samples((1.0, False), (6.0, True)), "errors": []})
    )
    session = read_log(log, LADDER, {"length": 6, "rtt": 100})
    assert session.qualities == (3, 2)
    assert session.abandoned == 1
    assert session.start_s == pytest.approx(0.4)
    assert session.startup_s == pytest.approx(0.6)
    assert session.stalls == ()
    with pytest.raises(ValueError, match="2 of 3 segments have arrived"):
        read_log(log, LADDER, {"length": 9, "rtt": 100})
