"""Results of radio scenarios by place, by phase and by scheme."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import celltcp as ct
from celltcp.radio.opportunities import mcs_ranges, mcs_statistics, wasted_opportunities
from celltcp.radio.phases import by_phase
from celltcp.radio.position import by_position
from celltcp.radio.trajectory import SinrTrajectory


@pytest.fixture(scope="module")
def forward() -> ct.Comparison:
    return ct.compare("mobility/forward-300-4g", cca="reno,bbr", runs=2, radio_log=True)


@pytest.fixture(scope="module")
def backward() -> ct.Comparison:
    return ct.compare("mobility/backward-300-4g", cca="reno,bbr", runs=2)


def test_the_radio_is_logged_only_where_it_is_asked_for(forward, backward, tmp_path: Path) -> None:
    radio = forward.radio
    assert {"run", "cca", "t_ns", "sinr_db", "cqi", "mcs", "wasted", "decoded"} <= set(radio.columns)
    downlink = radio[(radio["run"] == 0) & (radio["uplink"] == 0)]
    # The one that begins as the run ends is the last.
    assert downlink["t_ns"].nunique() == 12_001
    with pytest.raises(ct.CelltcpError, match=r"mobility/backward-300-4g: .*--radio-log"):
        _ = backward.radio
    forward.save(tmp_path)
    assert len(ct.load(tmp_path).radio) == len(radio)
    backward.save(tmp_path)
    assert not (tmp_path / "radio.parquet").exists()


def test_the_log_is_the_same_table_in_a_single_run(forward) -> None:
    one = ct.run("mobility/forward-300-4g", cca="reno", samples="off", radio_log=True)
    first = forward.radio[forward.radio["run"] == 0]
    pd.testing.assert_frame_equal(one.radio, first, check_categorical=False)


def test_a_log_of_a_link_without_a_radio_is_refused(celltcp, tmp_path: Path) -> None:
    for command in ("run", "compare"):
        done = celltcp(command, "drive", "--radio-log", "--duration", "1s", "--out", "r")
        assert done.returncode == 2
        assert "'drive' has no radio" in done.stderr.replace('"', "'")
        assert not list(tmp_path.glob("r/*.parquet"))


def test_the_way_is_that_of_the_scenario(forward, backward) -> None:
    away, closer = SinrTrajectory.of(forward.results), SinrTrajectory.of(backward.results)
    assert (away.movement, closer.movement) == ("forward", "backward")
    np.testing.assert_allclose(away.at(pd.Series([0.0, 6.0, 12.0])), [20.0, 12.5, 5.0])
    with pytest.raises(ct.CelltcpError, match="neither only falls nor only rises"):
        _ = SinrTrajectory((0.0, 1.0, 2.0), (5.0, 9.0, 5.0)).movement


def test_phases_share_out_what_was_delivered(forward) -> None:
    # atxutegi2018-thesis section 6.3 at 300 km/h: 2 s of start-up, 8 s, 2 s of constrained area.
    result = by_phase(forward).set_index(["cca", "run", "phase"])["value"]
    slots = forward.slots[forward.slots["run"] == 0]
    total = slots["delivered_bytes"].sum() * 8e-6
    parts = [result["reno", 0, phase] for phase in ("start-up", "sustainer", "constrained")]
    # The flow starts a little later than the run.
    lengths = (2.0, 0.1 * len(slots) - 4.0, 2.0)
    assert lengths[1] == pytest.approx(8, abs=0.2)
    assert sum(mean * s for mean, s in zip(parts, lengths, strict=True)) == pytest.approx(total)


def test_coming_closer_at_300_km_h_has_no_constrained_phase_of_its_own(backward) -> None:
    # atxutegi2018-thesis table 6.2: start-up and scaling only.
    assert set(by_phase(backward)["phase"]) == {"start-up", "scaling"}


def test_places_are_the_same_in_both_directions(forward, backward) -> None:
    result = by_position(forward, backward)
    for movement in ("forward", "backward"):
        places = result.loc[result["movement"] == movement, "sinr_db"].unique()
        assert sorted(places) == [5.5 + step for step in range(15)]
    with pytest.raises(ct.CelltcpError, match="moves backward"):
        by_position(backward, forward)


def test_wasted_opportunities_are_counted_by_modulation(forward) -> None:
    # TS 36.213 table 7.1.7.1-1.
    scenario = str(forward.results.about["scenario"])
    assert mcs_ranges(scenario) == {"QPSK": (0, 9), "16QAM": (10, 16), "64QAM": (17, 28)}
    result = wasted_opportunities(forward)
    selected = result[(result["cca"] == "reno") & (result["run"] == 0)].set_index("modulation")
    parts = selected.drop(index="all")
    assert parts["share"].sum() == pytest.approx(1)
    assert (parts["share"] * parts["wasted_per_s"]).sum() == pytest.approx(
        selected.loc["all", "wasted_per_s"]
    )
    begun = forward.flows.loc[forward.flows["run"] == 0, "start_s"].item()
    radio = forward.radio
    alive = radio[(radio["run"] == 0) & (radio["uplink"] == 0) & (radio["t_ns"] >= begun * 1e9)]
    expected = alive["wasted"].sum() / (12 - begun)
    assert selected.loc["all", "wasted_per_s"] == pytest.approx(expected, rel=1e-3)
    assert (mcs_statistics(forward)["mean"].between(0, 28)).all()


def test_show_prints_and_draws_every_view(celltcp, tmp_path: Path, forward, backward) -> None:
    forward.save(tmp_path / "f")
    backward.save(tmp_path / "b")
    for arguments, word in (
        (("f", "b", "--by-position", "--cca", "reno"), "19.5"),
        (("f", "--by-mcs"), "16QAM"),
        (("f", "b", "--by-phase"), "sustainer"),
        (("f", "--by-phase", "--metric", "pm_delay"), "PM, delay"),
    ):
        done = celltcp("show", *arguments)
        assert done.returncode == 0, done.stderr
        assert word in done.stdout
        view = next(each for each in arguments if each.startswith("--by"))
        assert (tmp_path / "f" / f"{view[2:]}.png").read_bytes().startswith(b"\x89PNG")
    assert "bbr" not in celltcp("show", "f", "b", "--by-position", "--cca", "reno").stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("f", "f", "--by-position"), "moves forward"),
        (("f", "--by-position"), "needs two results"),
        (("b", "--by-mcs"), "no log of the radio"),
        (("f", "b"), "several DIR go with --by-position, --by-mcs, --by-phase"),
        (("f", "--by-phase", "--cca", "vegas"), "'vegas' is not in"),
    ],
)
def test_views_that_cannot_be_are_refused(
    celltcp, tmp_path: Path, forward, backward, arguments, words
) -> None:
    forward.save(tmp_path / "f")
    backward.save(tmp_path / "b")
    done = celltcp("show", *arguments)
    assert done.returncode == 2
    assert words in " ".join(done.stderr.split())
    assert not list(tmp_path.glob("*/*.png"))
