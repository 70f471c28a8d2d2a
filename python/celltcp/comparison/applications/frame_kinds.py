"""Kinds of frames on one connection (`beside`): their deadlines, and the events of some of them.

If one has a deadline of its own, the event after each delay or age of a frame has the number of its
kind. At the end of the run come the number of frames and the share of late ones of each kind, in order.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from celltcp._core import in_unit
from celltcp.comparison.metrics import FRAME, FRAME_AGE, FRAMES

#: Kinds of the events of kinds of frames.
_KIND, _KIND_FRAMES, _KIND_LATE_SHARE = KIND_EVENTS = ("frame_kind", "kind_frames", "kind_late_share")
_LATE_SHARE, _DROPPED_SHARE = "late_share", "dropped_share"

#: Run, connection, time in ns, kind and detail of an event.
FrameEvent = tuple[int, int, int, str, str]


class FrameKind(NamedTuple):
    """Kind of frames of a flow."""

    #: Size as in the scenario, such as `90kB`, or the number of the kind.
    label: str
    deadline_s: float


def frame_kinds(workload: Mapping[str, Any]) -> list[FrameKind]:
    """Returns the kinds of frames of a workload, the first one first; none without own deadlines."""
    others = workload.get("beside", ()) if workload.get("kind") == "frames" else ()
    if not any("deadline" in kind for kind in others):
        return []
    kinds = [workload, *others]
    sizes = [kind.get("size", "") for kind in kinds]
    texts = [str(size.get("value", "") if isinstance(size, Mapping) else size) for size in sizes]
    is_clear = len({*texts}) == len(texts) and all(texts)
    labels = texts if is_clear else [f"kind {number}" for number in range(1, len(kinds) + 1)]
    deadlines_s = [
        in_unit(str(kind.get("deadline", workload.get("deadline", "150ms"))), "s") or 0.0
        for kind in kinds
    ]
    return [FrameKind(*pair) for pair in zip(labels, deadlines_s, strict=True)]


def deciding_kinds(workload: Mapping[str, Any]) -> frozenset[int]:
    """Returns the numbers of the kinds with the shortest deadline, by which CCAs rank.

    There are none where all kinds have the same deadline: all frames count.
    """
    deadlines_s = [kind.deadline_s for kind in frame_kinds(workload)]
    shortest_s = min(deadlines_s, default=0.0)
    chosen = frozenset(number for number, each_s in enumerate(deadlines_s) if each_s == shortest_s)
    return chosen if len(chosen) < len(deadlines_s) else frozenset()


def other_kinds(workload: Mapping[str, Any]) -> frozenset[int]:
    """Returns the numbers of the kinds that do not decide; none where all do."""
    chosen = deciding_kinds(workload)
    return frozenset(range(len(frame_kinds(workload)))) - chosen if chosen else frozenset()


def selected_kinds(
    flows: Mapping[tuple[int, int], tuple[str, Mapping[str, Any]]],
    kinds: Mapping[str, Collection[int]] | None,
) -> dict[tuple[int, int], Collection[int]]:
    """Returns the numbers of the kinds of frames to include by run and connection, where not all are.

    `flows` are name and workload of the flow of each; `kinds` numbers by flow, None for those that
    decide.
    """
    by_flow = (
        {
            name: deciding_kinds(workload) if kinds is None else kinds.get(name, ())
            for name, workload in dict(flows.values()).items()
        }
        if flows
        else {}
    )
    return {key: by_flow[name] for key, (name, _) in flows.items() if by_flow[name]}


class _Connection:
    """Events of a connection with several kinds of frames, of which some are selected."""

    def __init__(self, selected: Collection[int]) -> None:
        self._selected = selected
        self._held: FrameEvent | None = None
        self._arrived = self._aged = self._number = 0
        self._count = self._frames = self._late = 0.0

    def process(self, event: FrameEvent) -> Iterator[FrameEvent]:
        """Yields the events of the selected kinds that are complete with this one."""
        kind, detail = event[3], event[4]
        if kind in (FRAME, FRAME_AGE):
            self._held = event
        elif kind == _KIND and self._held is not None:
            if int(float(detail)) in self._selected:
                self._arrived += self._held[3] == FRAME
                self._aged += self._held[3] == FRAME_AGE
                yield self._held
            self._held = None
        elif kind == _KIND_FRAMES:
            count = float(detail)
            self._count = count if self._number in self._selected else 0.0
            self._frames += self._count
        elif kind == _KIND_LATE_SHARE:
            self._late += self._count * float(detail)
            self._number += 1
        elif kind not in (FRAMES, _LATE_SHARE, _DROPPED_SHARE):
            yield event
        elif kind == _DROPPED_SHARE and self._frames:
            dropped = self._frames - self._arrived - self._aged
            yield (event[0], event[1], event[2], kind, str(dropped / self._frames))

    def totals(self, t_ns: int, key: tuple[int, int]) -> Iterator[FrameEvent]:
        """Yields number of frames and late share of the selected kinds."""
        if self._frames:
            yield (*key, t_ns, FRAMES, str(self._frames))
            yield (*key, t_ns, _LATE_SHARE, str(self._late / self._frames))


def select_frames(
    events: Iterable[FrameEvent], selected: Mapping[tuple[int, int], Collection[int]]
) -> Iterator[FrameEvent]:
    """Yields events with the frames of some kinds alone, and their number and late share.

    `selected` are the numbers of the kinds by run and connection; others keep their events.
    """
    connections = {key: _Connection(kinds) for key, kinds in selected.items()}
    ends_ns: dict[tuple[int, int], int] = {}
    for event in events:
        key = event[0], event[1]
        if key not in connections:
            if event[3] not in KIND_EVENTS:
                yield event
            continue
        ends_ns[key] = event[2]
        yield from connections[key].process(event)
    for key, t_ns in ends_ns.items():
        yield from connections[key].totals(t_ns, key)
