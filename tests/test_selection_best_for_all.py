"""The best fixed CCA for all cases, which policies have to beat; verdicts of a single run."""

from __future__ import annotations

import math
from pathlib import Path

import pandas as pd
import pytest

from celltcp._core import policy_text
from celltcp.selection.candidates import policy_uses
from celltcp.selection.evaluation import best_constant_of
from celltcp.selection.tables.evaluation import print_evaluation
from made_up import evaluation_of, made_up


def numbered(*cases: pd.DataFrame) -> pd.DataFrame:
    """Runs of several scenarios."""
    return pd.concat([case.assign(scenario=str(n)) for n, case in enumerate(cases)])


def test_the_best_one_for_all_has_the_lowest_mean_regret() -> None:
    """CUBIC is the best of two cases of three, but far behind in the third."""
    runs = numbered(
        made_up([20.0, 21.0], 1, cubic=[20.0, 21.0], reno=[19.0, 20.1]),
        made_up([20.0, 21.0], 1, cubic=[20.0, 21.0], reno=[19.0, 20.1]),
        made_up([20.0, 21.0], 1, cubic=[5.0, 6.0], reno=[20.0, 21.1]),
    )
    (best,) = best_constant_of(runs).to_dict("records")
    assert (best["policy"], best["requirement"], best["cases"]) == ("reno", "goodput", 3)
    assert best["regret"] == pytest.approx(2 * 100 * 0.95 / 20.5 / 3)
    assert best["gain"] == pytest.approx(100 * (-2 * 0.95 / 20.5 + 15.05 / 5.5) / 3)
    # By 0.95 with a half width of 0.64, twice; by 15.05 with one of 0.64.
    assert [best[f"{verdict}_default"] for verdict in ("won", "tied", "lost")] == [1, 0, 2]
    assert evaluation_of(runs, "goodput").to_json()["best_for_all"][0]["policy"] == "reno"


def test_who_has_no_value_in_a_case_is_not_best_for_all() -> None:
    nan = math.nan
    runs = numbered(
        made_up([20.0, 21.0], 1, cubic=[18.0, 19.1], reno=[20.0, 21.0]),
        made_up([20.0, 21.0], 1, cubic=[18.0, 19.1], reno=[nan, nan]),
    )
    assert list(best_constant_of(runs)["policy"]) == ["cubic"]


@pytest.mark.parametrize(("runs", "told"), [(1, True), (2, False)])
def test_it_is_told_that_a_single_run_decides(
    capsys: pytest.CaptureFixture[str], runs: int, told: bool
) -> None:
    one = made_up([11.0, 12.1][:runs], 1, cubic=[10.0, 11.0][:runs], reno=[9.0, 9.5][:runs])
    print_evaluation(evaluation_of(one, "goodput", runs))
    printed = " ".join(capsys.readouterr().out.split())
    assert ("p: cases, 1 run each: no interval, so any difference decides" in printed) is told
    assert ("p: cases, 2 runs each; means with paired 95 % intervals" in printed) is not told
    assert printed.count("any difference decides") == 2 * told
    assert "best constant" in printed
    assert "goodput: cubic" in printed


def test_tables_ask_the_radio_whatever_their_file_is_called(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(policy_text("thesis-inflight"))
    (tmp_path / "thesis-mine.toml").write_text(policy_text("rules"))
    files = [str(tmp_path / name) for name in ("mine.toml", "thesis-mine.toml")]
    result = policy_uses([*files, "thesis-establishment", "default"], ["delay"], hints=False)
    assert [use.gets_hints for use in result] == [True, False, True, False]
    assert all(use.gets_hints for use in policy_uses(files, ["delay"], hints=True))


def test_selection_has_what_its_commands_do() -> None:
    import celltcp.selection

    assert {"evaluate", "explain", "train"} <= set(celltcp.selection.__all__)
    for name in celltcp.selection.__all__:
        assert callable(getattr(celltcp.selection, name))
