"""Files of segment sizes: scenarios that name one, and one clear error for each that is wrong."""

from __future__ import annotations

import json
import pickle
import re
import tomllib
from typing import TYPE_CHECKING, Any

import pytest

import celltcp as ct

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Celltcp

#: Film of two rates and two segments of 4 s.
FILM: dict[str, Any] = {
    "segment_duration_ms": 4000,
    "bitrates_kbps": [500, 2000],
    "segment_sizes_bits": [[1_000_000, 8_000_000], [3_000_000, 8_000_000]],
    "resolutions": ["640x360", "1280x720"],
    "audio_kbps": 64,
}

SCENARIO = """
duration = "30s"
path.down = "20Mbit/s"

[[flows]]
[flows.workload]
kind = "video"
ladder = "films/short.json"
length = "16s"
abr = "throughput"
"""


def place(folder: Path, text: str | bytes, scenario: str = SCENARIO) -> Path:
    """Writes the scenario and its film, whose text is given."""
    (folder / "films").mkdir()
    content = text.encode() if isinstance(text, str) else text
    (folder / "films" / "short.json").write_bytes(content)
    file = folder / "film.toml"
    file.write_text(scenario)
    return file


def lines(changes: dict[str, Any]) -> str:
    """Returns the film with changes, a key on each line; a value of None removes the key."""
    film = {key: value for key, value in {**FILM, **changes}.items() if value is not None}
    return (
        "{\n"
        + ",\n".join(f"{json.dumps(key)}: {json.dumps(value)}" for key, value in film.items())
        + "\n}"
    )


def test_a_scenario_plays_the_film_of_a_file_beside_it(tmp_path: Path) -> None:
    """Segments have the sizes of the file and audio; the name of the file counts from the scenario."""
    result = ct.compare(place(tmp_path, lines({})), "cubic", 1, jobs=1)
    events = result.results.tables["events"].to_pandas()
    assert events.loc[events["kind"] == "segment_mbps", "detail"].astype(float).tolist() == [
        0.5,
        2.0,
        2.0,
        2.0,
    ]
    sent = [1_000_000, 8_000_000, 8_000_000, 8_000_000]
    payload = sum(sent) / 8 + 4 * 32_000
    assert result.flows["bytes"].sum() == pytest.approx(payload, rel=0.01)


def test_a_scenario_with_a_film_can_be_sent_elsewhere(tmp_path: Path) -> None:
    """The text of the file goes along; printed, the scenario names the file."""
    file = place(tmp_path, lines({}))
    scenario = ct.load_scenario(file)
    (tmp_path / "films" / "short.json").unlink()
    copy = pickle.loads(pickle.dumps(scenario))
    assert ct.compare(copy, "cubic", 1, jobs=1).runs["bitrate_mbps"].iloc[0] == pytest.approx(1.625)
    assert 'ladder = "films/short.json"' in scenario.to_toml()


@pytest.mark.parametrize("mark", ["\ufeff", ""])
def test_texts_of_windows_are_read(tmp_path: Path, mark: str) -> None:
    text = mark + lines({}).replace("\n", "\r\n")
    assert ct.load_scenario(place(tmp_path, text)).duration_s == pytest.approx(30)


WRONG: list[tuple[str, str | bytes, str]] = [
    ("empty file", "", "short.json:1: EOF while parsing a value"),
    ("no UTF-8", b'{"bitrates_kbps": [500\xff]}', "short.json: is no text in UTF-8"),
    ("no JSON", "rate,size\n500,1000\n", "short.json:1: expected value"),
    (
        "a list",
        "[]",
        "short.json:1: invalid type: sequence, expected an object with segment_duration_ms",
    ),
    ("no sizes", lines({"segment_sizes_bits": None}), "missing field `segment_sizes_bits`"),
    ("no rates", lines({"bitrates_kbps": None}), "missing field `bitrates_kbps`"),
    (
        "no segments",
        lines({"segment_sizes_bits": []}),
        "short.json:4: segment_sizes_bits: the list is empty",
    ),
    (
        "a missing column",
        lines({"segment_sizes_bits": [[1_000_000, 8_000_000], [3_000_000]]}),
        "short.json:4: segment_sizes_bits: row 2: 1 entries are out of range; allowed: 2, one for",
    ),
    (
        "fewer rates than columns",
        lines({"bitrates_kbps": [500]}),
        "short.json:4: segment_sizes_bits: row 1: 2 entries are out of range; allowed: 1, one for",
    ),
    (
        "a size of zero",
        lines({"segment_sizes_bits": [[0, 8]]}),
        "short.json:4: segment_sizes_bits: row 1: 0 is out of range; allowed: 1 or more",
    ),
    (
        "a negative size",
        lines({"segment_sizes_bits": [[1, 8], [-5, 8]]}),
        "short.json:4: segment_sizes_bits: row 2: -5 is out of range; allowed: 1 or more",
    ),
    (
        "half a bit",
        lines({"segment_sizes_bits": [[1.5, 8]]}),
        "short.json:4: segment_sizes_bits: row 1: 1.5 is out of range; allowed: a whole number of bits",
    ),
    (
        "a size that is no number",
        lines({"segment_sizes_bits": [["many", 8]]}),
        'short.json:4: segment_sizes_bits: invalid type: string "many", expected a JSON number',
    ),
    (
        "a huge size",
        lines({"segment_sizes_bits": [[1, 10**18]]}),
        "row 1: 1000000000000000000 is out of range; allowed: 1000000000000 or less",
    ),
    (
        "a size beyond all numbers",
        lines({}).replace("8000000]]", "1e999]]"),
        "short.json:4: segment_sizes_bits: number out of range",
    ),
    (
        "equal rates",
        lines({"bitrates_kbps": [500, 500]}),
        "short.json:3: bitrates_kbps: 500 is out of range; allowed: more than 500, the one before it",
    ),
    (
        "falling rates",
        lines({"bitrates_kbps": [2000, 500]}),
        "short.json:3: bitrates_kbps: 500 is out of range; allowed: more than 2000, the one before it",
    ),
    (
        "a negative rate",
        lines({"bitrates_kbps": [-1, 500]}),
        "short.json:3: bitrates_kbps: -1 is out of range; allowed: 0.001 to 1000000000",
    ),
    (
        "segments without length",
        lines({"segment_duration_ms": 0}),
        "short.json:2: segment_duration_ms: 0 is out of range; allowed: 0.001 to 3600000",
    ),
    (
        "a length in seconds",
        lines({"segment_duration_ms": 4}),
        "the bitrates look like Mbit/s, or the duration like seconds",
    ),
    (
        "sizes in bytes",
        lines({"segment_sizes_bits": [[125_000, 1_000_000], [375_000, 1_000_000]]}),
        "short.json:7: segment_sizes_bits: the sizes of 500kbit/s have a mean of 250000 bits (expected "
        "2000000 in 4 s), and those of all bitrates are too small by a factor of about 8.0; they look "
        "like bytes: multiply the sizes by 8",
    ),
    (
        "exchanged columns",
        lines({"segment_sizes_bits": [[8_000_000, 1_000_000], [8_000_000, 3_000_000]]}),
        "short.json:7: segment_sizes_bits: the sizes of 2Mbit/s have a mean of 2000000 bits (expected "
        "8000000), less than those of 500kbit/s, 8000000 bits (expected 2000000); allowed: columns in "
        "the order of bitrates_kbps",
    ),
    (
        "a length as a text",
        lines({"segment_duration_ms": "4s"}),
        'short.json:2: segment_duration_ms: invalid type: string "4s", expected a JSON number',
    ),
    (
        "a resolution without height",
        lines({"resolutions": ["640", "1280x720"]}),
        'short.json:5: resolutions: "640" is no resolution; allowed: texts such as "1280x720"',
    ),
    ("an unknown key", lines({"codec": "h264"}), "short.json:7: unknown field `codec`"),
    (
        "a key twice",
        lines({}).replace('"audio_kbps": 64', '"bitrates_kbps": [1, 2]'),
        "short.json:6: bitrates_kbps: is given twice; allowed: once",
    ),
]


@pytest.mark.parametrize(("text", "part"), [row[1:] for row in WRONG], ids=[row[0] for row in WRONG])
def test_wrong_files_are_refused_with_their_line(tmp_path: Path, text: str | bytes, part: str) -> None:
    file = place(tmp_path, text)
    with pytest.raises(ct.CelltcpError) as caught:
        ct.load_scenario(file)
    message = str(caught.value)
    assert message.startswith(f"{file}:8: flows.0.workload.ladder: {tmp_path}/films/short.json"), (
        message
    )
    assert part in message
    assert "\n" not in message


@pytest.mark.parametrize(
    ("line", "part"),
    [
        (
            'ladder = "films"',
            '"films" is not a choice here; allowed: bbb, 1080p, 4k, or a file of segment',
        ),
        ('ladder = "films/none.json"', "films/none.json: No such file or directory"),
        ('ladder = "films/folder.json"', "films/folder.json: Is a directory"),
        ("ladder = 8", "8 is not a ladder or a file of segment sizes"),
        ('abr = "mpc"', '"mpc" is not a choice here'),
        ('resume = "40s"', "resume: 40s is out of range; allowed: 0s to 30s"),
        ('startup = "31s"', "startup: 31s is out of range"),
        ('latency = "5Mbit/s"', 'latency: "5Mbit/s" is not a time'),
        (
            'latency = "1s"',
            "latency: 1s is out of range; allowed: 4s, the duration of a segment, or more",
        ),
        ('max_buffer = "2s"', "max_buffer: 2s is out of range; allowed: 4s, the duration of a segment"),
        ('length = "-3s"', "length"),
        ("connections = 0", "connections: 0 is out of range; allowed: 1 to 8"),
        ('initial = "0bit/s"', "initial: 0bit/s is out of range"),
        ("screen = { device = 'tv' }", 'screen.device: "tv" is not a choice here'),
        ('lader = "bbb"', "there is no such field; did you mean"),
    ],
)
def test_wrong_videos_are_refused_with_field_and_line(
    celltcp: Celltcp, tmp_path: Path, line: str, part: str
) -> None:
    """The command ends with status 2 and one line that names the line of the scenario."""
    field = line.split(" ")[0]
    kept = [each for each in SCENARIO.splitlines() if not each.startswith(f"{field} ")]
    file = place(tmp_path, lines({}), "\n".join([*kept, line]))
    (tmp_path / "films" / "folder.json").mkdir()
    done = celltcp("compare", str(file), "--cca", "cubic", "--runs", "1")
    assert done.returncode == 2
    message = done.stderr.strip()
    assert part in message
    assert re.search(r"film\.toml:\d+: flows\.0\.workload(\.\w+)*: ", message), message
    assert len(message.splitlines()) == 1


@pytest.mark.rendered
def test_the_command_plays_a_film(celltcp: Celltcp, tmp_path: Path) -> None:
    """The file counts from the working directory, wherever the scenario is."""
    place(tmp_path, lines({}))
    out = tmp_path / "video.json"
    done = celltcp(
        *("video", "steady-5-18", "--abr", "throughput", "--cca", "cubic", "--runs", "1"),
        *("--ladder", "films/short.json", "--duration", "20s", "--json", str(out)),
    )
    assert done.returncode == 0, done.stderr
    (row,) = json.loads(out.read_text())["rows"]
    assert 0.5 <= row["bitrate_mbps"] <= 2


def test_a_scenario_of_a_film_keeps_its_ladder_and_buffer(tmp_path: Path) -> None:
    file = place(tmp_path, lines({}), f'{SCENARIO}max_buffer = "12s"\n')
    played = {
        ladder: ct.compare_video(str(file), "throughput,bola-e", "cubic", 1, ladder=ladder)
        for ladder in (None, "1080p")
    }
    for ladder, result in played.items():
        for (_, abr), comparison in result.comparisons.items():
            text = str(comparison.results.about["scenario"])
            workload = tomllib.loads(text)["flows"][0]["workload"]
            assert workload["ladder"].endswith(ladder or "short.json")
            assert (workload["abr"], workload["max_buffer"]) == (abr, "12s")
    # The file has no rate above 2 Mbit/s; a link of 20 Mbit/s carries those of the built-in ladder.
    assert played[None].table["bitrate_mbps"].max() <= 2 < played["1080p"].table["bitrate_mbps"].max()
    other = ct.compare_video("steady-5-18", "bola-e", "cubic", 1, duration="5s")
    (comparison,) = other.comparisons.values()
    assert 'ladder = "bbb"' in str(comparison.results.about["scenario"])


def test_what_a_film_leaves_open_and_what_is_unlikely_are_warnings(
    celltcp: Celltcp, tmp_path: Path
) -> None:
    """A film that says all has none."""
    assumed = (
        "films/short.json: there are no resolutions, by which qoe (P.1203) scores: it takes 1920x1080"
    )
    unlikely = (
        "more than half off that of bitrates_kbps, by which qualities are chosen: 2Mbit/s has 750kbit/s"
    )
    sizes = [[1_000_000, 3_000_000], [3_000_000, 3_000_000]]
    file = place(tmp_path, lines({"resolutions": None, "segment_sizes_bits": sizes}))
    single = ct.run(file, "cubic", duration="2s", samples="off")
    assert [any(part in each for each in single.warnings) for part in (assumed, unlikely)] == [
        True,
        True,
    ]
    done = celltcp(
        "compare", str(file), "--cca", "cubic", "--runs", "1", "--duration", "2s", "--json", "-"
    )
    document = json.loads(done.stdout)["warnings"]
    assert sum(assumed in each for each in document) == sum(unlikely in each for each in document) == 1
    (tmp_path / "films" / "short.json").write_text(lines({}))
    assert not any("short.json" in each for each in ct.run(file, "cubic", duration="2s").warnings)


def test_the_command_refuses_a_missing_film(celltcp: Celltcp) -> None:
    done = celltcp("video", "steady-5-18", "--ladder", "none.json", "--cca", "cubic", "--runs", "1")
    assert done.returncode == 2
    assert "none.json: No such file or directory" in done.stderr
