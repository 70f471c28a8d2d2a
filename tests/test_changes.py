"""Changes of scenarios from Python: the types that the annotation names, and others."""

from __future__ import annotations

import datetime
import json
import math
import random
import tomllib
from collections import UserList
from decimal import Decimal
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest

import celltcp as ct
from celltcp.scenarios.changes import Changes, override_texts


def changed(field: str, value: Any) -> Any:
    """Returns a field of a scenario after it was set."""
    result = json.loads(ct.load_scenario("drive", changes={field: value}).to_json())
    for key in field.split("."):
        result = result[int(key) if key.isdigit() else key]
    return result


FRAMES = {"kind": "frames", "size": "200B", "beside": [{"size": "1kB"}], "jitter": 0}


@pytest.mark.parametrize(
    ("field", "value", "expected"),
    [
        ("tcp.pacing", True, True),
        ("tcp.sack", np.False_, False),
        ("tcp.initial_window", 20, 20),
        ("tcp.initial_window", np.uint8(20), 20),
        ("path.loss", 0.001, 0.001),
        ("path.loss", 1e-7, 1e-7),
        ("path.loss", np.float32(0.5), 0.5),
        ("path.loss", np.float64(0.25), 0.25),
        ("path.loss", np.array(0.25), 0.25),
        ("path.rtt", "50ms", "50ms"),
        ("path.rtt", np.str_("50ms"), "50ms"),
        # A text is read as on the command line.
        ("path.buffer", "2bdp", "2bdp"),
        ("tcp.initial_window", "20", 20),
        ("flows.0.workload", "{ kind = 'bulk', bytes = '1MB' }", "1MB"),
        ("flows.0.workload", {"kind": "bulk", "bytes": "1MB"}, "1MB"),
        ("flows.0.workload", MappingProxyType({"kind": "bulk", "bytes": "1MB"}), "1MB"),
    ],
)
def test_every_type_reaches_the_scenario(field: str, value: Any, expected: Any) -> None:
    result = changed(field, value)
    assert (result["bytes"] if isinstance(result, dict) else result) == expected


def test_lists_and_tables_within_each_other_reach_the_scenario() -> None:
    assert changed("flows.0.workload", FRAMES)["beside"][0]["size"]["value"] == "1kB"
    for several in ([FRAMES], (FRAMES,), UserList([FRAMES])):
        workload = [{"workload": each} for each in several]
        assert changed("flows", workload)[0]["workload"]["size"]["value"] == "200B"
    assert override_texts({"a": np.array([[1, 2], [3, 4]])}) == ["a=[[1, 2], [3, 4]]"]
    # A table takes the place of the whole field, as on the command line.
    assert changed("path.jitter", {"sd": "2ms"})["sd"] == "2ms"


def test_a_path_is_the_file_whatever_its_name(tmp_path: Path) -> None:
    file = tmp_path / "[1] = 'x'.mahimahi"
    file.write_text("1\n2\n3\n")
    assert changed("path.down.trace", file) == str(file)
    file = tmp_path / "7"
    file.write_text("1\n2\n3\n")
    loaded = ct.load_scenario(
        "drive", changes={"path.down.trace": file, "path.down.format": "mahimahi"}
    )
    assert json.loads(loaded.to_json())["path"]["down"]["trace"] == str(file)


class Odd:
    """A value of no use."""

    def __repr__(self) -> str:
        return "odd"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"path.rtt": None}, "set: path.rtt: None is of type NoneType; allowed: a number"),
        ({"path.rtt": Odd()}, "set: path.rtt: odd is of type Odd; allowed"),
        ({"path.rtt": datetime.timedelta(seconds=1)}, "set: path.rtt: datetime.timedelta"),
        ({"path.rtt": np.timedelta64(1, "s")}, "set: path.rtt: np.timedelta64(1,'s') is of type"),
        ({"path.rtt": np.timedelta64(1, "ns")}, "set: path.rtt: "),
        ({"path.rtt": np.longdouble(1)}, "set: path.rtt: "),
        ({"path.loss": Decimal("0.5")}, "set: path.loss: Decimal('0.5') is of type Decimal"),
        ({"path.loss": 1j}, "set: path.loss: 1j is of type complex"),
        ({"path.rtt": b"50ms"}, "set: path.rtt: b'50ms' is of type bytes"),
        ({"flows": {1, 2}}, "set: flows: {1, 2} is of type set"),
        ({"flows": [{"start": [None]}]}, "set: flows.0.start.0: None is of type NoneType"),
        ({"flows": [{5: "1s"}]}, "set: flows.0: key: 5 is of type int"),
        ({5: "1s"}, "set: 5 is of type int, and a field is a text; allowed: texts such as"),
        ([("path.rtt", "1s")], "set: ('path.rtt', '1s') is of type tuple, and a change is a text"),
        (b"path.rtt=1s", "set: b'path.rtt=1s' is of type bytes; allowed: a mapping"),
        (7, "set: 7 is of type int; allowed: a mapping from fields to values, or texts such as"),
        (None, "set: None is of type NoneType; allowed: a mapping"),
    ],
)
def test_another_type_is_an_error_that_names_the_field(changes: Any, message: str) -> None:
    with pytest.raises(ct.CelltcpError) as error:
        ct.run("drive", duration="1s", set=changes)
    assert str(error.value).startswith(message)
    assert "\n" not in str(error.value)


def test_a_list_in_itself_is_an_error() -> None:
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises(ct.CelltcpError, match="more than 64 levels"):
        ct.load_scenario("drive", changes={"flows": endless})


@pytest.mark.parametrize("value", [math.inf, math.nan, 10**30, -1])
def test_a_number_out_of_range_names_field_and_value(value: float) -> None:
    with pytest.raises(ct.CelltcpError, match=r"tcp\.initial_window: .* is not a whole number"):
        ct.load_scenario("drive", changes={"tcp.initial_window": value})


def test_one_text_is_one_change() -> None:
    loaded = ct.load_scenario("drive", changes="path.rtt=50ms")
    assert json.loads(loaded.to_json())["path"]["rtt"] == "50ms"


def test_run_compare_and_sweep_take_the_same_values() -> None:
    changes: Changes = {"flows.0.workload": FRAMES, "path.loss": np.float64(0)}
    single = ct.run("steady-20-18", "cubic", duration="1s", set=changes)
    compared = ct.compare("steady-20-18", "cubic", runs=1, duration="1s", jobs=1, set=changes)
    swept = ct.sweep(
        "steady-20-18", "path.rtt=50ms", "cubic", runs=1, duration="1s", jobs=1, set=changes
    )
    texts = [single.results.about["scenario"], compared.results.about["scenario"]]
    texts += [each.results.about["scenario"] for each in swept.comparisons.values()]
    for text in texts:
        assert tomllib.loads(text)["flows"][0]["workload"]["size"]["value"] == "200B"


def drawn(draw: random.Random, depth: int = 0) -> Any:
    """Draws a value whose texts have all kinds of characters."""
    text = "".join(chr(draw.choice((34, 39, 92, 10, 13, 0, 31, 127, 128, 0x1F600, 65))) for _ in "abc")
    plain = (draw.random() < 0.5, draw.randint(-(2**63), 2**63 - 1), draw.gauss(0, 1e300), text)
    kind = draw.randrange(6 if depth < 4 else 4)
    if kind == 4:
        return [drawn(draw, depth + 1) for _ in range(draw.randrange(4))]
    if kind == 5:
        return {f"{text}{at}": drawn(draw, depth + 1) for at in range(draw.randrange(4))}
    return plain[kind]


def test_lists_and_tables_are_the_same_in_toml() -> None:
    draw = random.Random(11)
    for _ in range(2_000):
        value = [drawn(draw)]
        (text,) = override_texts({"a": value})
        assert tomllib.loads(text) == {"a": value}
