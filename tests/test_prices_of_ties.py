"""Ties by a metric are decided by their prices: data that are sent again, and delay."""

import random

import pytest

import celltcp as ct
from celltcp.comparison.applications.application_tables import metrics_table
from celltcp.comparison.report.front_page import _gap_text, answer_of, several_answer
from celltcp.comparison.retransmitted import ResentShare
from celltcp.comparison.verdicts.choices import needs_of_any
from celltcp.comparison.verdicts.prices import with_least_price
from celltcp.comparison.verdicts.verdict_tables import short_text, stake_texts
from celltcp.results.statistics import Verdict
from workloads import FILES

NAMES = {name: name for name in ("reno", "cubic", "bbr")}
_TIE = Verdict("reno", ("cubic", "bbr"), is_same=True, are_all_tied=True)
_NO_DELAYS: dict[str, list[float]] = {}


def _resent(shares: dict[str, float]) -> dict[str, ResentShare]:
    """Shares that are the same in each of three runs."""
    return {name: ResentShare(share, [share] * 3) for name, share in shares.items()}


def test_of_transfers_as_fast_the_one_that_sends_least_again_leads_and_others_have_their_price() -> (
    None
):
    shares = _resent({"reno": 0.16, "cubic": 0.0, "bbr": 0.10})
    verdict = with_least_price(_TIE, shares, _NO_DELAYS, "rtt_mean_ms")
    assert verdict.to_set == ("cubic",)
    assert [each.name for each in verdict.dearer] == ["reno", "bbr"]
    assert not verdict.are_all_tied
    assert short_text(verdict, NAMES) == "cubic (as good, reno: 16 % sent again; bbr: 10 % sent again)"


def test_a_queue_of_twice_the_delay_is_a_price_and_the_shorter_one_leads() -> None:
    delays = {"reno": [87.0, 87.2], "cubic": [36.3, 36.4], "bbr": [62.2, 62.4]}
    verdict = with_least_price(_TIE, _resent(dict.fromkeys(NAMES, 0.0)), delays, "rtt_mean_ms")
    assert verdict.to_set == ("cubic", "bbr")
    assert [each.short for each in verdict.dearer] == ["2.4 x the delay"]


@pytest.mark.parametrize("bbr", [0.0, 0.005, 0.019])
def test_less_than_two_hundredths_more_sent_again_is_no_price(bbr: float) -> None:
    shares = _resent({"reno": 0.0, "cubic": 0.0, "bbr": bbr})
    assert with_least_price(_TIE, shares, _NO_DELAYS, "rtt_mean_ms") == _TIE


def test_a_difference_of_what_is_sent_again_that_chance_gives_is_no_price() -> None:
    """Losses of a start-up in one run of three, as of a film whose runs begin anywhere in a trace."""
    cubic, reno = [0.0, 0.003, 0.017], [0.0, 0.071, 0.012]
    shares = {"reno": ResentShare(0.029, reno), "cubic": ResentShare(0.007, cubic)}
    tie = Verdict("reno", ("cubic",), are_all_tied=True)
    assert not with_least_price(tie, shares, _NO_DELAYS, "rtt_mean_ms").dearer


@pytest.mark.parametrize("runs", [3, 5, 10])
def test_of_ccas_that_send_as_much_again_few_pairs_have_a_price(runs: int) -> None:
    draw = random.Random(f"resent {runs}")
    tie = Verdict("reno", ("cubic",), are_all_tied=True)

    def drawn() -> ResentShare:
        of_runs = [0.05 * draw.lognormvariate(0.0, 0.8) for _ in range(runs)]
        return ResentShare(sum(of_runs) / runs, of_runs)

    pairs = 400
    dearer = sum(
        bool(
            with_least_price(tie, {"reno": drawn(), "cubic": drawn()}, _NO_DELAYS, "rtt_mean_ms").dearer
        )
        for _ in range(pairs)
    )
    # Intervals of 95 % leave one in twenty; three standard errors of a drawn share are allowed.
    assert dearer / pairs < 0.05 + 3 * (0.05 * 0.95 / pairs) ** 0.5


def test_of_less_delay_and_less_sent_again_neither_is_the_price_of_the_other() -> None:
    delays = {"reno": [100.0, 101.0], "cubic": [30.0, 31.0]}
    tie = Verdict("reno", ("cubic",), are_all_tied=True)
    verdict = with_least_price(tie, _resent({"reno": 0.0, "cubic": 0.1}), delays, "rtt_mean_ms")
    assert not verdict.dearer
    assert set(verdict.to_set) == {"reno", "cubic"}


def test_what_the_runs_leave_undecided_no_price_decides() -> None:
    undecided = Verdict("reno", ("cubic",), ("bbr",))
    shares = _resent({"reno": 0.2, "cubic": 0.0, "bbr": 0.0})
    assert with_least_price(undecided, shares, _NO_DELAYS, "rtt_mean_ms") is undecided


@pytest.mark.parametrize("number", range(2))
def test_viewers_see_no_difference_behind_a_policer_but_bbr_sends_much_more_again(number: int) -> None:
    draw = random.Random(f"policed video {number}")
    rate = draw.choice([10, 12, 16])
    scenario = {
        "name": "policed",
        "duration": "60s",
        "path": {
            "rtt": f"{draw.choice([30, 40, 60])}ms",
            "down": {"rate": "100Mbit/s"},
            "policer": {"rate": f"{rate}Mbit/s", "burst": "200kB"},
        },
        "flows": [{"name": "video", "workload": {"kind": "video", "length": "300s"}}],
    }
    result = ct.compare(scenario, ["cubic", "bbr", "reno"], 2)
    (stake,) = result.ranked_stakes
    flows = result.results.tables["flows"].to_pandas()
    sums = flows.groupby("cca")[["retransmissions", "segments"]].sum()
    shares = sums["retransmissions"] / sums["segments"]
    least = min(shares)
    # Those within 2 % of the least are as good at no price.
    assert {each.name for each in stake.verdict.dearer} == {
        cca for cca in shares.index if shares[cca] >= least + 0.02
    }
    assert "bbr" in [each.name for each in stake.verdict.dearer]
    assert needs_of_any(result) == []
    price = "bbr is as good, but with "
    assert price in stake_texts(result)[0]
    assert price in answer_of(result)
    document = result.to_json()
    assert "of the segments sent again" in document["flow_verdicts"][0]["dearer"]["bbr"]
    assert "bbr" not in document["flow_verdicts"][0]["to_set"]
    assert document["applications"][0]["tied"] == document["flow_verdicts"][0]["tied"]


def test_a_sweep_of_files_sets_what_loses_little_and_sends_little_again() -> None:
    """At a full buffer Reno sends much again; CUBIC leaves slow start before it is full."""
    comparisons = [
        ct.compare(FILES, ["cubic", "reno"], 3, set={"path.buffer": buffer})
        for buffer in ("70packets", "150packets")
    ]
    for comparison in comparisons:
        assert comparison.ranked_stakes[0].verdict.to_set == ("cubic",)
    answer, _ = several_answer(comparisons, "point")
    assert answer.endswith("set cubic; best or tied of 2 points: cubic on 2.")


def test_data_sent_again_are_beside_the_application_where_they_are_many() -> None:
    """A policer of a fifth of the rate drops much; the payload of a segment is 1448 bytes."""
    scenario = {
        "name": "policed-files",
        "duration": "20s",
        "path": {
            "rtt": "40ms",
            "down": {"rate": "60Mbit/s"},
            "policer": {"rate": "12Mbit/s", "burst": "100kB"},
        },
        "flows": [
            {"name": "files", "workload": {"kind": "sequence", "size": "3MB", "gap": "1s"}},
        ],
    }
    result = ct.compare(scenario, ["cubic", "bbr"], 2)
    (application,) = result.applications
    table = metrics_table(result, application)
    flows = result.results.tables["flows"].to_pandas()
    sums = flows.groupby("cca")[["retransmissions", "segments"]].sum()
    resent = result.to_json()["applications"][0]["resent"]
    assert table.columns[-1].heading == "sent again"
    runs = result.results.about["runs"]
    for row, cca in zip(table.rows, ("cubic", "bbr"), strict=True):
        count, sent = sums.loc[cca, "retransmissions"], sums.loc[cca, "segments"]
        distinct_runs = flows[flows["cca"] == cca]["run"].nunique()
        assert distinct_runs <= runs
        megabytes = count / distinct_runs * 1448 / 1e6
        assert resent[cca]["megabytes"] == pytest.approx(megabytes, rel=0.1)
        assert resent[cca]["share"] == pytest.approx(count / sent)
        assert float(row[-1].split(" MB")[0]) == pytest.approx(megabytes, rel=0.1, abs=0.1)


@pytest.mark.parametrize("loss", [0, 0.02])
def test_columns_that_say_the_same_of_all_are_left_out(loss: float) -> None:
    """Without losses all files take as long; with losses they differ."""
    path = {"rtt": "30ms", "down": {"rate": "20Mbit/s"}, "buffer": "300packets", "loss": loss}
    flow = {"name": "files", "workload": {"kind": "sequence", "size": "500kB", "gap": "1s"}}
    scenario = {"name": "steady-files", "duration": "20s", "path": path, "flows": [flow]}
    result = ct.compare(scenario, ["cubic", "reno"], 1)
    (application,) = result.applications
    table = metrics_table(result, application)
    assert ("completion_sd_s" in [column.name for column in table.columns]) == (loss > 0)


def test_delays_that_differ_below_their_last_digit_are_as_long() -> None:
    values = [20.10001, 20.10003], [20.1, 20.1]
    assert _gap_text("rtt_mean_ms", *values).endswith(" 20.1 ms as well")
    values = [20.4, 20.6], [20.1, 20.1]
    assert " 20.5 instead of 20.1 ms (+" in _gap_text("rtt_mean_ms", *values)
