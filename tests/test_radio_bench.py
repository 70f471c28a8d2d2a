"""Bench of the radio: scenarios that are timed."""

import pyarrow as pa
import pytest

import celltcp as ct
from celltcp._core import Run, Scenario
from celltcp.bench import radio as bench


@pytest.mark.parametrize("count", [1, 3, 40])
def test_one_greedy_phone_shares_the_cell_with_the_others(count: int) -> None:
    scenario = Scenario.from_toml(bench.many_ues(count, 0.3), "bench", ".", [])
    run = Run(scenario, 1, check=True)
    run.advance(scenario.duration_s)
    assert pa.record_batch(run.finish()["flows"]).num_rows == 1


@pytest.mark.parametrize("count", [1, 4, 5])
def test_every_cell_has_its_ues(count: int) -> None:
    text = bench.many_cells(count, 0.3)
    assert text.count("[[radio.cells]]") == count
    assert text.count("[[radio.ues]]") == bench.UES_PER_CELL * count
    scenario = Scenario.from_toml(text, "bench", ".", [])
    run = Run(scenario, 1, check=True)
    run.advance(scenario.duration_s)
    assert pa.record_batch(run.finish()["flows"]).num_rows == 1


def test_a_cost_is_that_of_the_case_alone() -> None:
    case = next(case for case in bench.CASES if case.name == "one UE, EVA60")
    cost = bench.measure(case, 1.0)
    assert cost.simulated_s == 1
    assert cost.cpu_s > 0
    assert 0 <= cost.added_mb < cost.peak_mb


def test_every_case_is_built_in_and_has_a_figure_of_ns3() -> None:
    assert {case.scenario for case in bench.CASES} <= set(ct.scenario_names())
    assert set(bench.ns3_costs()) == {case.name for case in bench.CASES}
    for _, scenario, *changes in bench.APPROXIMATIONS:
        for each in changes:
            assert ct.load_scenario(scenario, changes=each).has_radio
