"""PM with weights of one's own."""

from __future__ import annotations

import math
from pathlib import Path

import pandas as pd
import pytest

from celltcp import CelltcpError, compare
from celltcp.comparison.comparison import Comparison
from celltcp.scenarios.requirements import Weights, normalize_requirement, selector_requirements
from celltcp.selection import evaluate


def test_pm_with_weights_is_that_of_the_tables_for_theirs() -> None:
    """Against what the native part computes."""
    result = compare("mobility/forward-300-low", "cubic,bbr", 1)
    for weights, known in ((Weights(1, 1, 1), "pm_balanced"), (Weights(2, 20, 2), "pm_delay")):
        ours = weights.measure(result.slots)
        assert ours.tolist() == pytest.approx(result.slots[known].tolist(), nan_ok=True)
    again = Comparison(result.results, ["1/1/1", "1/10/1"]).runs
    assert again["pm_1/1/1"].tolist() == pytest.approx(result.runs["pm_balanced"].tolist())
    assert again["pm_1/10/1"].tolist() == pytest.approx(result.runs["pm_delay"].tolist())


def test_undefined_parts_are_left_out_with_their_weights() -> None:
    nan = math.nan
    slots = pd.DataFrame(
        {"a": [0.5, nan, nan, nan], "b": [0.2, 0.2, 0.2, nan], "c": [1.0, 1.0, nan, nan]}
    )
    pm = Weights(1, 5, 2).measure(slots).tolist()
    assert pm == pytest.approx([(0.5 + 1 + 2) / 8, 3 / 7, 0.2, nan], nan_ok=True)
    assert math.isnan(Weights(1, 0, 1).measure(slots)[2])


@pytest.mark.parametrize("wrong", ["fast", "1/2", "0/0/0", "1/-1/1", "1/inf/1", "1/2/3/4", "nan/1/1"])
def test_what_is_no_requirement_is_refused(wrong: str) -> None:
    with pytest.raises(CelltcpError, match=r"goodput, balanced, delay, or weights .* such as 1/5/1"):
        normalize_requirement(wrong)


def test_weights_are_written_in_one_way() -> None:
    assert normalize_requirement("1.0/05/0.5") == "1/5/0.5"
    lineups = ["cubic", "cubic+auto:policy=rules,requirement=2.0/1/1", "auto:requirement=delay"]
    assert selector_requirements(lineups) == ["2/1/1", "delay"]


def test_policies_are_evaluated_for_weights() -> None:
    result = evaluate("rules", "mobility/forward-300-low", 2, "delay,1/10/1", "cubic,bbr", against=())
    delay, weighed = result.cases.to_dict("records")
    assert (delay["requirement"], weighed["requirement"]) == ("delay", "1/10/1")
    # The same weights under another name.
    assert weighed["best_cca"] == delay["best_cca"]
    for mean in ("mean", "best_mean", "default_mean"):
        assert weighed[mean] == pytest.approx(delay[mean])


def test_comparisons_have_the_pm_that_a_selector_is_asked_for(celltcp) -> None:
    done = celltcp(
        "compare", "steady-20-68", "--cca", "cubic,auto:policy=rules,requirement=1/5/1", "--runs", "1",
        "--duration", "3s",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert max(len(line) for line in done.stdout.splitlines()) <= 120
    assert "best for    1/5/1: " in done.stdout


def test_other_comparisons_do_not() -> None:
    plain = compare("steady-20-68", "cubic,bbr", 1, duration="3s")
    assert "1/5/1" not in plain.recommendation
    assert "pm_1/5/1" not in plain.runs
    weighed = Comparison(plain.results, ["1/5/1"])
    assert set(weighed.recommendation) == {"goodput", "balanced", "delay", "1/5/1"}
    assert weighed.summary["pm_1/5/1"]["mean"].notna().all()


def test_bounds_and_completions_are_requirements() -> None:
    assert normalize_requirement("goodput@0.1s") == "goodput@100ms"
    assert normalize_requirement("delay@500kbps") == "delay@0.5Mbps"
    for wrong in ("goodput@2Mbps", "delay@100ms", "delay@0Mbps"):
        with pytest.raises(CelltcpError, match=r"goodput@100ms, delay@RATE such as delay@2Mbps"):
            normalize_requirement(wrong)


def test_a_bounded_requirement_is_measured_slot_by_slot() -> None:
    wanted = ["goodput@100ms", "delay@100Mbps", "power"]
    plain = compare("steady-20-68", "cubic,copa", 1, duration="6s")
    runs = Comparison(plain.results, wanted).runs.set_index("cca")
    slots = plain.slots[plain.slots["cca"] == "cubic"]
    within = slots["goodput_mbps"].where(slots["rtt_mean_ms"] <= 100, 0.0)
    assert runs["goodput@100ms"]["cubic"] == pytest.approx(within.mean())
    reached = slots["b"] * (slots["goodput_mbps"] / 100).clip(upper=1.0)
    assert runs["delay@100Mbps"]["cubic"] == pytest.approx(reached.mean())
    power = slots["goodput_mbps"] / (slots["rtt_mean_ms"] / 1e3) ** 0.5
    assert runs["power"]["cubic"] == pytest.approx(power.mean())
    # CUBIC fills the buffer, Copa does not.
    assert runs["goodput@100ms"]["copa"] > runs["goodput@100ms"]["cubic"]


def test_completions_are_those_of_the_flow_under_test() -> None:
    lineup = "cubic,auto:requirement=fct,flow_size=100kB"
    change = ['flows=[{workload={kind="bulk",bytes="100kB"}}]']
    result = compare("steady-20-68", lineup, 1, duration="3s", set=change)
    assert result.requirements["fct"] == "completions_per_s"
    times = result.flows.set_index("run")["completion_s"]
    assert result.runs["completions_per_s"].tolist() == pytest.approx((1 / times).tolist())
    endless = Comparison(compare("steady-20-68", "cubic", 1, duration="2s").results, ["fct"])
    assert endless.runs["completions_per_s"].isna().all()


@pytest.mark.parametrize("requirement", ["goodput@100ms", "delay@2Mbps", "power", "1/5/1"])
def test_every_requirement_can_be_asked_for_on_the_command_line(
    celltcp, tmp_path: Path, requirement: str
) -> None:
    lineup = f"cubic,auto:requirement={requirement}"
    done = celltcp("compare", "steady-5-18", "--cca", lineup, "--runs", "1", "--set", "duration=2s")
    assert done.returncode == 0, done.stderr
    assert f"auto default {requirement}" in done.stdout
    evaluated = celltcp(
        *("select", "evaluate", "--scenarios", "steady-5-18", "--set", "duration=2s", "--runs", "1"),
        *(
            "--requirement",
            requirement,
            "--cca",
            "bbr",
            "--against",
            "",
            "--out",
            str(tmp_path / "out"),
        ),
    )
    assert evaluated.returncode == 0, evaluated.stderr
    assert f"{requirement}: " in evaluated.stdout
