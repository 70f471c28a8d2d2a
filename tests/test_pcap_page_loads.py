"""Page loads in captures: their times are those of the browser, and only pages are loads."""

from __future__ import annotations

import random
import tomllib
from pathlib import Path

import pytest

import celltcp as ct
from celltcp.pcap import CaptureAnalyses, analyse
from celltcp.pcap.estimation.estimate import estimate_path
from celltcp.pcap.estimation.scenario_files import write_scenario
from celltcp.pcap.units.page_loads import page_loads
from celltcp.pcap.units.unit_tables import applications_of


def _captured(
    folder: Path, workload: str, seed: int, place: str = "phone"
) -> tuple[CaptureAnalyses, list[float]]:
    """Returns the analysis of a drawn path with an upload, and the times of pages in the run, s."""
    draw = random.Random(f"pages {seed}")
    scenario = folder / "x.toml"
    scenario.write_text(
        f'duration = "40s"\n[path]\nrtt = "{draw.choice([20, 50, 90])}ms"\n'
        f'down = "{draw.choice([10, 50])}Mbit/s"\nup = "{draw.choice([2, 10])}Mbit/s"\n'
        f'uplink_buffer = "{draw.choice([100, 200])}packets"\n[[flows]]\nworkload = {workload}\n'
        '[[flows]]\nfrom = "phone"\nto = "server"\nopens = "from"\n'
    )
    capture = folder / "x.pcap"
    run = ct.run(scenario, "cubic", seed, pcap=capture, pcap_at=place, samples="off")
    events = run.results.tables["events"].to_pandas()
    times_s = events.loc[events["kind"] == "page_load_s", "detail"].astype(float)
    return analyse(capture), times_s.tolist()


@pytest.mark.parametrize("place", ["phone", "server"])
@pytest.mark.parametrize("seed", range(4))
def test_page_loads_take_as_long_in_a_capture_as_for_the_browser(
    tmp_path: Path, seed: int, place: str
) -> None:
    draw = random.Random(f"objects {seed}")
    gap_s = draw.choice([1, 3])
    page = (
        f'{{ kind = "page", document = "30kB", objects = {draw.choice([8, 20, 40])}, '
        f'object = "{draw.choice([5, 28])}kB", depth = 2, gap = "{gap_s}s" }}'
    )
    analyses, times_s = _captured(tmp_path, page, seed, place)
    loads = page_loads(analyses.units, analyses.connections)
    # Only a silence shows the end of the last one. At the server, SYNs and requests come after their
    # way through the queue of the uplink: those of the last one may miss.
    count = len(times_s)
    assert count - 1 <= len(loads) <= count + (place == "server")
    if place == "phone":
        known_s = times_s[: len(loads)]
        assert loads["duration_s"].tolist() == pytest.approx(known_s, rel=0.01, abs=0.01)
    first = applications_of(analyses, None)[0]
    assert (first["unit"], first["count"]) == ("page_load", len(loads))


@pytest.mark.parametrize(
    "workload",
    [
        '{ kind = "request-response", request = "500B", response = "30kB", gap = "2s" }',
        '{ kind = "frames", size = "5kB", interval = "40ms" }',
        '{ kind = "page", document = "30kB", objects = 20, object = "28kB", depth = 2, count = 1 }',
        '{ kind = "video" }',
    ],
)
def test_single_responses_streams_and_one_page_are_no_page_loads(tmp_path: Path, workload: str) -> None:
    analyses, _ = _captured(tmp_path, workload, 0)
    assert page_loads(analyses.units, analyses.connections).empty
    assert all(each["unit"] != "page_load" for each in applications_of(analyses, None))


@pytest.mark.parametrize("seed", range(2))
def test_pages_beside_an_upload_are_a_flow_of_its_scenario_and_take_as_long(
    tmp_path: Path, seed: int
) -> None:
    page = '{ kind = "page", document = "30kB", objects = 20, object = "28kB", depth = 2, gap = "2s" }'
    analyses, times_s = _captured(tmp_path, page, seed)
    upload = int(analyses.connections["bytes_up"].idxmax())
    scenario, _ = write_scenario(estimate_path(analyses, upload), tmp_path / "path.toml")
    written = tomllib.loads(scenario.read_text())
    pages = written["flows"][1]["workload"]
    assert (pages["kind"], pages["objects"], pages["document"]) == ("page", 20, "30000B")
    assert float(pages["object"].removesuffix("B")) == pytest.approx(28_000, rel=0.01)
    assert float(pages["gap"].removesuffix("s")) == pytest.approx(2, rel=0.15)
    # Their server takes 10 ms, and not the RTTs in the queue of the uplink.
    assert float(pages["think"].removesuffix("ms")) < 25
    assert "left out" not in scenario.read_text()
    events = ct.run(scenario, "cubic", seed, samples="off").results.tables["events"].to_pandas()
    loads_s = events.loc[events["kind"] == "page_load_s", "detail"].astype(float)
    assert loads_s.mean() == pytest.approx(sum(times_s) / len(times_s), rel=0.3)
