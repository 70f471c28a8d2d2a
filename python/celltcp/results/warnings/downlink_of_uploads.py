"""Warnings about settings of the downlink that only the ACKs of uploads cross."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

#: Ends of a flow, and the direction of the access link that its data take.
_DIRECTIONS = {("server", "phone"): "down", ("phone", "server"): "up"}

#: Settings of the downlink, with those of the uplink, if it has them.
_DOWNLINK_SETTINGS: Mapping[str, str | None] = {
    "loss": "uplink_loss",
    "buffer": "uplink_buffer",
    "jitter": None,
    "policer": None,
}
#: Values without an effect, and the defaults of the buffer: of a path, and of a trace alone.
_UNSET: tuple[object, ...] = (None, 0, 0.0, [], "1bdp", "750packets")
#: Defaults of the SINR of a UE and of the uplink.
_UE_SINR, _UPLINK_SINR = "20dB", "15dB"


def downlink_of_uploads(scenario: Mapping[str, Any], traces: Sequence[Mapping[str, Any]]) -> list[str]:
    """Returns warnings if all flows are uploads, and a trace or setting is that of the downlink.

    A trace or setting of the uplink is no mistake with downloads: it delays or loses their ACKs.
    """
    ends = {(flow.get("from", "server"), flow.get("to", "phone")) for flow in scenario["flows"]}
    if {_DIRECTIONS.get(end) for end in ends} != {"up"}:
        return []
    path = scenario.get("path", {})
    return [
        *_settings_of_downlink(path),
        *_sinr_of_downlink(scenario.get("radio", {})),
        *_trace_of_downlink(path, traces),
    ]


def _settings_of_downlink(path: Mapping[str, Any]) -> Iterator[str]:
    for down, up in _DOWNLINK_SETTINGS.items():
        is_uplink_set = up is not None and path.get(up) not in (*_UNSET, "1000packets")
        if path.get(down) in _UNSET or is_uplink_set:
            continue
        hint = f"path.{up} is that of the uplink" if up else "a hop of path.wired has it both ways"
        yield (
            f"all flows are uploads, but path.{down} is of the downlink, which only their ACKs cross; "
            f"{hint}"
        )


def _sinr_of_downlink(radio: Mapping[str, Any]) -> Iterator[str]:
    uplink = radio.get("uplink", {}).get("sinr", _UPLINK_SINR)
    for number, ue in enumerate(radio.get("ues", ())):
        if "sinr" in ue and ue["sinr"] != _UE_SINR and uplink == _UPLINK_SINR:
            yield (
                f"all flows are uploads, but radio.ues.{number}.sinr is of the downlink, which only "
                f"their ACKs cross; radio.uplink.sinr is that of the uplink, {uplink}"
            )


def _trace_of_downlink(path: Mapping[str, Any], traces: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    files = {trace["direction"]: trace["file"] for trace in traces}
    if "down" not in files or "up" in files:
        return
    capacity = path.get("up", {})
    rate = capacity.get("rate") if isinstance(capacity, Mapping) else capacity
    yield (
        f"all flows are uploads, but {files['down']} is the trace of the downlink, which only their "
        f"ACKs cross; their uplink {f'has {rate}' if rate else 'has no trace'} (path.up). "
        "--uplink FILE --set path.down=50Mbit/s gives a log to the uplink, without --direction"
    )
