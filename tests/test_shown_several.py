"""Output of sweeps, unfinished folders, videos and captures."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import celltcp as ct
from celltcp.cli.show_several import _coordinates
from celltcp.comparison.plots.grids import GRIDS
from celltcp.pcap import analyse
from celltcp.pcap.plots import overview
from workloads import DEEP_BUFFER, GAME


def test_rows_of_a_grid_name_the_varied_value_and_share_a_scale() -> None:
    vary = {"path.buffer": ["0.5bdp", "4bdp"]}
    result = ct.sweep(["drive", "fall"], vary, ["cubic"], 1, duration="3s")
    names = _coordinates(result)
    picture = GRIDS["ecdf-grid"](list(result.comparisons.values()), names)
    titles = [axes.get_title(loc="left") for axes in picture.axes if axes.get_title(loc="left")]
    assert titles == [
        f"{name}, path.buffer={value}" for name in ("drive", "fall") for value in ("0.5bdp", "4bdp")
    ]
    for column in range(3):
        assert len({axes.get_xscale() for axes in picture.axes[column::3]}) == 1
    assert len(GRIDS["spider"](list(result.comparisons.values()), names).axes) == 4
    many = GRIDS["ecdf-grid"]([next(iter(result.comparisons.values()))] * 9)
    assert many.get_size_inches()[1] < 15


@pytest.mark.parametrize("parts", [False, True])
def test_a_folder_where_nothing_is_finished_says_so(celltcp, tmp_path: Path, parts: bool) -> None:
    folder = tmp_path / "begun"
    folder.mkdir()
    (folder / ".celltcp-lock").touch()
    if parts:
        (folder / "parts").mkdir()
    done = celltcp("show", "begun")
    assert done.returncode == 2
    assert done.stderr.splitlines() == [
        "celltcp: begun: nothing is finished yet; the same command goes on, and finishes it"
    ]


def test_a_video_has_one_verdict_by_its_score_and_none_by_goodput(celltcp, tmp_path: Path) -> None:
    video = ("--set", "flows.0.workload={ kind = 'video', abr = 'bola' }")
    words = ("compare", "steady-5-18", *video, "--cca", "cubic,bbr", "--runs", "1", "--duration", "20s")
    done = celltcp(*words, "--json", "out.json", "--out", "r")
    assert done.returncode == 0, done.stderr
    shown = celltcp("show", "r").stdout
    verdicts = [line for line in shown.splitlines() if line.startswith("best for")]
    assert len(verdicts) == 1
    assert "mean opinion score" in verdicts[0]
    assert json.loads((tmp_path / "out.json").read_text())["verdicts"]["qoe"]["leader"]


def test_a_buffer_of_a_radio_is_named_with_its_scenario(celltcp) -> None:
    vary = ("--vary", "path.buffer=1bdp,2bdp", "--runs", "1", "--dry-run")
    done = celltcp("sweep", "drive,mobility/forward-60-4g", *vary)
    assert done.returncode == 2
    assert done.stderr.startswith("celltcp: mobility/forward-60-4g: ")
    assert "radio.rlc.buffer" in done.stderr


def test_few_connections_of_a_capture_are_drawn_over_time(celltcp, tmp_path: Path) -> None:
    ct.run("drive", duration="5s", pcap=tmp_path / "x.pcap")
    picture = overview(analyse([tmp_path / "x.pcap"]))
    assert [axes.get_ylabel() for axes in picture.axes] == [
        "Mbit/s",
        "most in flight, kB\n(grey: least window)",
        "RTT, ms",
    ]
    # Each curve is below the frame, even if all its values are alike.
    assert all(axes.get_ylim()[1] > 1.05 * axes.dataLim.y1 for axes in picture.axes[::2])
    assert picture.get_suptitle() == "1 connection"
    analysed = celltcp("pcap", "analyze", "x.pcap", "--out", "r")
    assert " 1 connection\n" in analysed.stdout
    assert "celltcp report r shows" in celltcp("explain", "r").stderr


def test_results_are_shown_by_the_metric_that_was_asked_for(celltcp, tmp_path: Path) -> None:
    flows = f'[[flows]]\nname = "download"\n[[flows]]\nname = "game"\nworkload = {GAME}\n'
    (tmp_path / "home.toml").write_text(f'name = "home"\nduration = "4s"\n{DEEP_BUFFER}{flows}')
    by = ("--by", "response_p50_s:game")
    usual = ("--cca", "cubic,bbr", "--runs", "2")
    vary = ("--vary", "path.buffer=50packets,400packets")
    for folder, command in (("s", ("sweep", "home.toml", *vary)), ("c", ("compare", "home.toml"))):
        made = celltcp(*command, *usual, *by, "--out", folder)
        assert made.returncode == 0, made.stderr
        shown = celltcp("show", folder)
        lines = [line for line in made.stdout.splitlines() if not line.startswith("picture: ")]
        assert shown.stdout.splitlines() == lines
        assert f"ranked by response_p50_s:game, as by the command that made {folder}" in shown.stderr
        # A picture does not lose it, and one of one's own has precedence.
        assert (
            celltcp("show", folder, "--plot", "ecdf-grid", "--out", f"{folder}/e.png").returncode == 0
        )
        assert celltcp("show", folder).stdout == shown.stdout
        other = celltcp("show", folder, "--by", "response_max_s:game")
        assert "ranked by" not in other.stderr
        assert "response_p50_s of game" not in other.stdout
        # The same command without it ranks as usual again.
        assert celltcp(*command, *usual, "--out", folder).returncode == 0
        assert "ranked by" not in celltcp("show", folder).stderr
