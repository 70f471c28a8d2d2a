"""Texts on flows: metrics, causes, windows and events of each under a congestion control, in blocks."""

from __future__ import annotations

import functools
import re
import tomllib
from operator import attrgetter
from typing import TYPE_CHECKING

from celltcp.comparison.explanation.alike import alike_groups, in_order, with_ranges
from celltcp.scenarios.cca_mix import labels
from celltcp.scenarios.lower_bounds import LOWER_BOUND, has_capacity_bound

if TYPE_CHECKING:
    from collections.abc import Sequence

    from celltcp.comparison.comparison import Comparison
    from celltcp.comparison.explanation.explained_cca import ExplainedCca

#: Maximum number of CCAs whose causes are all said in full.
_MAX_WHOLE = 2
#: End of a sentence; the first ones of a cause have the figures, and later ones what follows from them.
_END_OF_SENTENCE = re.compile(r"\.(?=\s|$)")
#: Sentences on the windows of a flow, the last ones also where windows leave no capacity.
_WINDOW_TEXTS = ("window_text", "start_text", "sawtooth_text", "shares_text")
#: Share of the capacity from which on the congestion window holds little back.
_MIN_FULL_SHARE = 0.9


class FlowTexts:
    """Sentences on each flow under the congestion controls of a comparison."""

    def __init__(
        self, comparison: Comparison, ccas: Sequence[ExplainedCca], *, has_several_flows: bool
    ) -> None:
        """Takes the explained flows, the one under test first, and whether others have texts, too."""
        self.comparison, self.ccas = comparison, ccas
        self._has_several_flows = has_several_flows

    @property
    def distinct_ccas(self) -> list[ExplainedCca]:
        """Explanations, but only one for each group of congestion controls with equal runs."""
        return [
            explained
            for explained in self.ccas
            if self._identical_ccas(explained.cca)[0] == explained.cca
        ]

    def _identical_ccas(self, cca: str) -> list[str]:
        """Returns the congestion controls whose runs equal those of `cca`, including `cca`."""
        return next((group for group in self.comparison.identical_ccas if cca in group), [cca])

    @functools.cached_property
    def blocks(self) -> list[list[str]]:
        """Explanations of the flows in sentences, one for each group of congestion controls alike.

        Windows and events are those of the congestion control in use, and of mixes, which do not rank;
        of a full path, and of two congestion controls, each has its sawtooth. Of others that do not
        lead, causes have their figures alone if there are several, but the reason of unequal shares.
        """
        blocks = [self._block(group) for group in alike_groups(self.distinct_ccas)]
        # What W_max and K are is said once.
        seen = {""}
        return [[said_once(line, seen) for line in block] for block in blocks]

    @property
    def share_blocks(self) -> list[list[str]]:
        """Explanations of the flows of mixes: metrics and causes, without windows and events."""
        return [
            [self._heading(group, is_ranked=True), *self._cause_lines(group)]
            for group in alike_groups(self.distinct_ccas)
        ]

    def cause_block(self, explained: ExplainedCca) -> list[str]:
        """Returns the metrics and causes of a flow, without its windows and events."""
        return [self._heading([explained], is_ranked=True), *self._cause_lines([explained])]

    def _block(self, group: Sequence[ExplainedCca]) -> list[str]:
        usual = self.comparison.usual_cca
        is_whole = any(
            each.standing.leader is None or usual in self._identical_ccas(each.cca) for each in group
        )
        is_one_of_two = len(self.comparison.ccas) <= _MAX_WHOLE
        is_brief = not (is_whole or is_one_of_two or any(each.standing.leads for each in group))
        lines = [self._heading(group, is_ranked=True), *self._cause_lines(group, is_brief=is_brief)]
        # Windows of a transfer beside applications, which are the needs, say nothing to those.
        needs = {each.flow for each in self.comparison.applications}
        has_windows = not needs or group[0].flow in needs
        if not is_whole or group[0].used_share >= _MIN_FULL_SHARE:
            names = _WINDOW_TEXTS[-1:] if is_brief else _WINDOW_TEXTS[1:]
            return [*lines, *(self._window_lines(group, *names) if has_windows else [])]
        # Events of other flows are those of their units of work, which causes count.
        events = self._event_lines(group) if group[0].flow == self.ccas[0].flow else []
        return [*lines, *(self._window_lines(group) if has_windows else []), *events]

    def texts(self, *group: ExplainedCca) -> list[str]:
        """Returns all that is known in sentences: metrics and standing, causes, windows, events.

        Args:
            group: a flow under a congestion control, and under others with the same causes; numbers
                of sentences are ranges.
        """
        parts = (self._cause_lines, self._window_lines, self._event_lines)
        return [self._heading(group), *(line for part in parts for line in part(group))]

    def _cause_lines(self, group: Sequence[ExplainedCca], *, is_brief: bool = False) -> list[str]:
        """Returns the sentences of causes; if `is_brief`, the first one of each, with its figures."""
        explained, *alike = group
        # The table of limits is above the text.
        causes = [cause for cause in explained.causes if not cause.is_in_table] or explained.causes
        lines = []
        for cause in causes:
            others = [each.cause_text(cause.name) for each in alike]
            text = with_ranges([cause.text, *others])
            if text is None:
                text = _END_OF_SENTENCE.sub(f"{self._under_text(group)}.", cause.text, count=1)
            if is_brief and cause.name != "competition":
                text = _with_figures(text)
            lines.append(f"  {text}")
        return lines or ["  Nothing but the limits in the tables held it back."]

    @staticmethod
    def _window_lines(group: Sequence[ExplainedCca], *names: str) -> list[str]:
        lines = []
        for text_of in map(attrgetter, names or _WINDOW_TEXTS):
            if text := text_of(group[0]):
                lines.append(f"  {with_ranges([*map(text_of, group)]) or text}")
        return lines

    def _event_lines(self, group: Sequence[ExplainedCca]) -> list[str]:
        events, first = group[0].events, self._under_text(group)
        if not events:
            return []
        run_text = ""
        if self.comparison.runs["seed"].nunique() > 1:
            run_text = f" in the worst run, of seed {events[0].seed}"
        comma = "," if first and run_text else ""
        title = f"  Events that took most time{first}{comma}{run_text}:"
        return [title, *(f"    {event.text}." for event in events)]

    def _under_text(self, group: Sequence[ExplainedCca]) -> str:
        """Returns the first congestion control of a group of several, for what holds for it alone."""
        return f" under {labels(self.comparison.ccas)[group[0].cca]}" if len(group) > 1 else ""

    def _heading(self, group: Sequence[ExplainedCca], *, is_ranked: bool = False) -> str:
        """Returns the metrics of a flow under congestion controls, and the standing of a single one.

        Below the rankings, `is_ranked` leaves out the standing if the runs decide it.
        """
        explained, *alike = group
        names = labels(self.comparison.ccas)
        flow_text = f", {explained.flow}" if self._has_several_flows else ""
        standing = explained.standing
        identical = [cca for each in group for cca in self._identical_ccas(each.cca)]
        ccas_text = ", ".join(names[cca] for cca in identical)
        metrics = [each.metrics_text(has_capacity_bound=self._has_capacity_bound) for each in group]
        metrics_text = in_order(metrics) if alike else metrics[0]
        if alike:
            ccas_text += " (alike; figures in this order)" if len({*metrics}) > 1 else " (alike)"
        elif 1 < len(identical) == len(self.comparison.ccas):
            ccas_text += " (the same under all)"
        if metrics_text is None:
            metrics_text = "; ".join(metrics)
        text = f"{ccas_text}{flow_text}: {metrics_text}"
        are_leading = any(each.standing.leads for each in alike)
        is_known = is_ranked and standing.is_as_good is not None
        if not is_known and standing.leader not in (None, *identical) and not are_leading:
            text += f"; {standing.behind_text(names[str(standing.leader)])}"
        return f"{text}."

    @functools.cached_property
    def _has_capacity_bound(self) -> bool:
        """Whether the capacity is a lower bound, of a capture."""
        text = str(self.comparison.results.about["scenario"])
        return LOWER_BOUND in text and has_capacity_bound(tomllib.loads(text))


def _with_figures(text: str) -> str:
    """Returns the sentences of a cause up to the first one with a share, or else its first one."""
    sentences = [each for each in _END_OF_SENTENCE.split(text) if each.strip()]
    count = next((index for index, each in enumerate(sentences, 1) if "%" in each), 1)
    return "".join(f"{each}." for each in sentences[:count])


def said_once(line: str, seen: set[str]) -> str:
    """Returns a line, or the first sentence of one on losses of which an earlier one had the rule."""
    first, end, rest = line.partition(" K of RFC 9438")
    is_repeated = bool(end) and end in seen
    seen.add(end)
    return first if is_repeated else f"{first}{end}{rest}"
