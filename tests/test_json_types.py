"""JSON Schema of types: structure, what is required, and the notes of `Annotated`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal, NamedTuple, NotRequired, TypedDict

import pytest
from jsonschema import Draft202012Validator

from celltcp.present.json_types import SchemaWriter
from celltcp.results.json_fields import CLOSED, Columns, Keywords, sentence


class Base(TypedDict):
    """Fields that others have too."""

    name: Annotated[str, "Name of it."]


class Whole(Base):
    """Class with required fields and others.

    Only the first line is its title.
    """

    count: int
    note: NotRequired[Annotated[str | None, "A note."]]


class Loose(TypedDict, total=False):
    """Class without required fields."""

    share: Annotated[float, Keywords(minimum=0, maximum=1), "Share."]


class Mixed(Whole, Loose):
    """Class with fields of both."""


@dataclass
class Point:
    """Point of a plane."""

    x: float
    y: Annotated[float, "Height, m."] = 0.0


class Place(NamedTuple):
    """Place in a file."""

    file: str
    offset: Annotated[int, "In bytes."]


class Tree(TypedDict):
    """Tree of names."""

    name: str
    below: list[Tree]


def schema(kind: Any) -> dict[str, Any]:
    writer = SchemaWriter()
    result = {**writer.schema(kind), "$defs": writer.definitions}
    Draft202012Validator.check_schema(result)
    return result if writer.definitions else {key: result[key] for key in result if key != "$defs"}


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (str, {"type": "string"}),
        (bool, {"type": "boolean"}),
        (object, {}),
        (float | None, {"type": ["number", "null"]}),
        (Literal["down", "up"], {"enum": ["down", "up"]}),
        (Literal["up"] | None, {"anyOf": [{"enum": ["up"]}, {"type": "null"}]}),
        (list[int | None], {"type": "array", "items": {"type": ["integer", "null"]}}),
        (list[str] | None, {"type": ["array", "null"], "items": {"type": "string"}}),
        (
            list[str] | dict[str, int],
            {
                "anyOf": [
                    {"type": "array", "items": {"type": "string"}},
                    {"type": "object", "additionalProperties": {"type": "integer"}},
                ]
            },
        ),
        (tuple[str, ...], {"type": "array", "items": {"type": "string"}}),
        (
            tuple[str, int],
            {
                "type": "array",
                "prefixItems": [{"type": "string"}, {"type": "integer"}],
                "minItems": 2,
                "maxItems": 2,
            },
        ),
        (dict[str, object], {"type": "object"}),
        (
            dict[str, dict[str, list[float]]],
            {
                "type": "object",
                "additionalProperties": {
                    "type": "object",
                    "additionalProperties": {"type": "array", "items": {"type": "number"}},
                },
            },
        ),
        (
            Annotated[float, Keywords(exclusiveMinimum=0), "Length, s."],
            {"type": "number", "exclusiveMinimum": 0, "description": "Length, s."},
        ),
        # The outer one describes the place, the inner one what is there in general.
        (
            Annotated[Annotated[str, "Name."], "Name here."],
            {"type": "string", "description": "Name here."},
        ),
    ],
)
def test_types_without_a_name(kind: Any, expected: dict[str, Any]) -> None:
    assert schema(kind) == expected


def test_fields_are_required_unless_they_say_otherwise() -> None:
    result = schema(Mixed)
    assert result["$ref"] == "#/$defs/Mixed"
    mixed = result["$defs"]["Mixed"]
    assert sorted(mixed["required"]) == ["count", "name"]
    assert mixed["title"] == "Class with fields of both"
    assert mixed["properties"] == {
        "name": {"type": "string", "description": "Name of it."},
        "count": {"type": "integer"},
        "note": {"type": ["string", "null"], "description": "A note."},
        "share": {"type": "number", "minimum": 0, "maximum": 1, "description": "Share."},
    }
    assert "required" not in schema(Loose)["$defs"]["Loose"]
    assert schema(Whole)["$defs"]["Whole"]["title"] == "Class with required fields and others"


def test_data_classes_are_objects_and_named_tuples_are_arrays() -> None:
    assert schema(list[Point])["$defs"]["Point"] == {
        "title": "Point of a plane",
        "type": "object",
        "properties": {
            "x": {"type": "number"},
            "y": {"type": "number", "description": "Height, m."},
        },
        "required": ["x", "y"],
    }
    place = schema(Place)["$defs"]["Place"]
    assert place["prefixItems"] == [{"type": "string"}, {"type": "integer", "description": "In bytes."}]


def test_a_class_is_written_once_and_can_contain_itself() -> None:
    result = schema(dict[str, Tree])
    assert list(result["$defs"]) == ["Tree"]
    validator = Draft202012Validator(result)
    assert validator.is_valid({"a": {"name": "b", "below": [{"name": "c", "below": []}]}})
    assert not validator.is_valid({"a": {"name": "b", "below": [{"name": "c"}]}})


def test_a_closed_class_has_no_other_fields() -> None:
    validator = Draft202012Validator(schema(Annotated[Whole, CLOSED]))
    assert validator.is_valid({"name": "a", "count": 1})
    assert not validator.is_valid({"name": "a", "count": 1, "more": 2})
    assert Draft202012Validator(schema(Whole)).is_valid({"name": "a", "count": 1, "more": 2})


def test_columns_of_a_row_are_listed_when_a_schema_is_asked_for() -> None:
    asked = []

    def columns() -> dict[str, object]:
        asked.append(True)
        return {"run": int, "qoe": NotRequired[Annotated[float, sentence("score, 1 to 5")]]}

    row = Annotated[dict[str, float], Columns(columns)]
    assert not asked
    assert schema(list[row])["items"] == {
        "type": "object",
        "properties": {
            "run": {"type": "integer"},
            "qoe": {"type": "number", "description": "Score, 1 to 5."},
        },
        "required": ["run"],
    }


def test_sentences_leave_names_of_columns_alone() -> None:
    assert sentence("why") == "Why."
    assert sentence("rtt_mean_ms - rtt_min_ms") == "rtt_mean_ms - rtt_min_ms."


def test_what_has_no_form_in_json_is_refused() -> None:
    class Point(TypedDict):
        """Another class of that name."""

        x: int

    writer = SchemaWriter()
    writer.schema(globals()["Point"])
    with pytest.raises(TypeError, match="Point"):
        writer.schema(Point)
    for kind in (set[str], complex, "text"):
        with pytest.raises(TypeError, match="JSON cannot represent"):
            writer.schema(kind)
