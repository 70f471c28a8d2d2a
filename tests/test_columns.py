"""Columns of Arrow tables without pandas, and sums of groups."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import celltcp as ct
from celltcp.results.columns import (
    array_of,
    connection_keys,
    group_means,
    group_sums,
    indices_of,
    means_by,
    numbers,
    records,
    rows_of,
    sums_by,
    text_array_of,
)

COLUMNS = {
    "whole": pa.chunked_array([[1, 2], [], [3]], pa.uint32()),
    "with null": pa.chunked_array([[None, 7], [8]], pa.uint64()),
    "share": pa.chunked_array([[0.5, math.nan, None]], pa.float64()),
    "none": pa.chunked_array([], pa.float64()),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_numbers_are_those_of_pandas(name: str) -> None:
    for column in (COLUMNS[name], COLUMNS[name].slice(1), COLUMNS[name].slice(1, 1)):
        result, expected = numbers(column), column.to_pandas().to_numpy()
        np.testing.assert_array_equal(result, expected)
        assert len(column) == 0 or result.dtype == expected.dtype


def test_rows_are_those_of_pandas() -> None:
    table = pa.table(
        {
            "run": pa.array([0, 1], pa.uint32()),
            "cca": pa.array(["cubic", "bbr"]).dictionary_encode(),
            "bytes": pa.array([None, 3], pa.uint64()),
            "rate": [math.nan, None],
        }
    )
    result = records(table)
    assert repr(result) == repr(table.to_pandas().to_dict("records"))
    assert list(rows_of(table, "cca", "bytes")) == [("cubic", None), ("bbr", 3)]


@pytest.mark.parametrize(
    "values", [np.arange(3.0)[::-1], np.array([], np.uint32), np.array([5], np.int64)]
)
def test_arrays_are_those_of_pyarrow(values: np.ndarray) -> None:
    assert array_of(values).equals(pa.array(values))


def test_texts_are_those_of_pyarrow() -> None:
    for texts in ([], ["cubic"], ["", "µs", "bbr"]):
        assert text_array_of(texts).equals(pa.array(texts, pa.string()))


def test_places_of_connections() -> None:
    known = pa.table({"run": pa.array([1, 0], pa.uint32()), "flow": pa.array([0, 7], pa.uint32())})
    wanted = pa.table(
        {"run": pa.array([0, 1, 1], pa.uint32()), "flow": pa.array([7, 0, 7], pa.uint32())}
    )
    assert indices_of(connection_keys(wanted), connection_keys(known)).tolist() == [1, 0, -1]
    assert indices_of(connection_keys(wanted), connection_keys(known.slice(2))).tolist() == [-1, -1, -1]


@pytest.mark.parametrize("kind", ["one after another", "mixed", "with NaN"])
def test_sums_of_groups(kind: str) -> None:
    draws = np.random.default_rng(1)
    values = draws.random(300)
    groups = draws.integers(0, 4, 300)
    if kind == "one after another":
        groups.sort()
    if kind == "with NaN":
        values[::7] = math.nan
    frame = pd.DataFrame({"group": groups, "value": values}).groupby("group")["value"]
    expected = [*frame.sum(), 0.0]
    assert group_sums(values, groups, 5).tolist() == pytest.approx(expected, rel=1e-14)
    assert group_means(values, groups, 5)[:4].tolist() == pytest.approx(list(frame.mean()), rel=1e-14)
    assert math.isnan(group_means(values, groups, 5)[4])


def test_sums_of_keys_are_in_the_order_of_the_keys() -> None:
    assert sums_by(["b", "a", "b"], [1.0, 2.0, 3.0]) == {"b": 4.0, "a": 2.0}
    assert list(means_by(["b", "a", "b"], [1.0, 2.0, 3.0])) == ["b", "a"]
    assert sums_by([], []) == {}
    assert means_by(["a"], [math.inf]) == {"a": math.inf}
    assert math.isnan(means_by(["a", "b"], [math.nan, 1.0])["a"])


def test_compensated_sums_keep_small_values_beside_large_ones() -> None:
    values = np.array([1e16, 0.0, *[1.0] * 10, 0.0])
    groups = np.array([0, 1, *[0] * 10, 1])
    assert group_sums(values, groups, 2).tolist() == [1e16 + 10, 0.0]


def test_values_of_a_comparison_are_those_of_its_runs() -> None:
    result = ct.compare("drive", ["bbr", "cubic"], 3, duration="2s")
    for cca in result.ccas:
        runs = result.runs[result.runs["cca"] == cca].sort_values("seed")
        for metric in result.metrics:
            np.testing.assert_array_equal(result.values(cca, metric), runs[metric].astype(float))
    assert result.values("reno", "goodput_mbps") == []
    single = result.only(["cubic"])
    assert single.values("cubic", "rtt_p95_ms") == result.values("cubic", "rtt_p95_ms")
    assert single.to_json()["runs"] == result.to_json()["runs"][3:]
