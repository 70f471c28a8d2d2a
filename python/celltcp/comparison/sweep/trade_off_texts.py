"""Texts on the trade-off of a sweep: its knee, what is beyond it, and what other flows lose."""

from __future__ import annotations

from typing import TYPE_CHECKING

from celltcp.comparison.explanation.causes.cause import percent_text
from celltcp.comparison.metrics import APP_METRICS, words_of
from celltcp.comparison.sweep.best_value_tables import range_text
from celltcp.comparison.verdicts.reversals import best_reversal_text
from celltcp.comparison.verdicts.verdict_tables import hint_text
from celltcp.scenarios.cca_mix import join_names, labels
from celltcp.scenarios.quantities import between, quantities

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from celltcp.comparison.sweep.best_values import FieldRanking
    from celltcp.comparison.sweep.trade_offs import TradeOff
    from celltcp.comparison.verdicts.stakes import Stake

#: Maximum number of values that a sentence lists.
MAX_LISTED_VALUES = 4
#: Maximum number of values of a trade-off without a knee that are all listed.
_MAX_FRONT = 5
#: Maximum number of combinations of values that a sentence lists.
_MAX_LISTED_COMBINATIONS = 2
#: Maximum rate between others that is worth a trial, as a multiple of the most goodput.
_MAX_RATE = 1.25
#: Beginnings of the names of fields that each host sets for itself.
_OF_HOSTS = ("tcp.", "flows.")
#: Goodput under another CCA with a value of the network, as a share of its best one, that is no loss.
_MIN_BESIDE_SHARE = 0.8


class ChoiceTexts:
    """Texts of the choices of a ranking: fields with their values, and the CCA if there are several."""

    def __init__(self, ranking: FieldRanking) -> None:
        self._ranking = ranking
        self._labels = labels(ranking.ccas)

    def text(self, name: str) -> str:
        """Returns the fields with their values in a choice, and its CCA if there are several."""
        ranking = self._ranking
        choice = ranking.choices[name]
        pairs = zip(ranking.fields, ranking.coordinates(choice), strict=True)
        cca = f" with {self._labels[choice.cca]}" if len(ranking.ccas) > 1 else ""
        return f"{' and '.join(f'{field}={value}' for field, value in pairs)}{cca}"

    def listed(self, names: Sequence[str]) -> str:
        """Returns a few choices as text, or only the number of many that have several values each."""
        is_single = len(self._ranking.fields) == 1
        if not is_single and len(names) > _MAX_LISTED_COMBINATIONS:
            return f"{len(names)} of {len(self._ranking.choices)} combinations"
        return join_names([*(names if is_single else map(self.text, names))], MAX_LISTED_VALUES)


class TradeOffTexts:
    """Text on a trade-off: the best choice with its figures and costs, and how sure that is."""

    def __init__(self, ranking: FieldRanking, stakes: Sequence[Stake]) -> None:
        """Prepares the text; `stakes` are those of all flows."""
        self._ranking = ranking
        self._stakes = stakes
        self._choices = ChoiceTexts(ranking)

    def texts(self, trade_off: TradeOff) -> list[str]:
        """Returns the text on a trade-off."""
        other, goodput, front, knee, undecided, beyond = trade_off
        first, *following = self._listed_front(trade_off)
        metrics = (
            f"{self._metric_name(other)} {other.mean_text(first)} for "
            f"{self._metric_name(goodput)} {goodput.mean_text(first)}"
        )
        pairs = [f"{name}: {other.mean_text(name)} for {goodput.number(name)}" for name in following]
        if len(front) > 1:
            kind = f"trade-off of {self._ranking.field}{self._knee_text(trade_off)}: {first}"
            head = f"{kind} is the knee, with" if knee.name and not knee.possible else f"{kind}:"
        else:
            best = "best means of both" if undecided else "best balance" if beyond else "best of both"
            head = f"{best}: {self._choices.text(first)}, with"
        parts = [
            f"{head} {metrics}",
            *pairs,
            self._rivals_text(undecided, other, goodput) if len(front) == 1 else "",
            best_reversal_text(self._ranking, other) if other.verdict.leader == first else "",
            *self._loss_texts(first, trade_off),
            *self._price_texts(first, trade_off),
            self._finer_text(trade_off),
        ]
        return ["; ".join(filter(None, parts))]

    def _listed_front(self, trade_off: TradeOff) -> list[str]:
        """Returns the choices of a front that its text lists, the knee first."""
        _, goodput, front, knee, _, beyond = trade_off
        listed = [front[0], max(front, key=goodput.signed_mean)]
        if knee.name is not None:
            # The knee is where more of one metric begins to cost much of the other.
            index = front.index(knee.name)
            listed = [knee.name, front[0], *front[index + 1 : index + 2], listed[-1]]
        elif len(front) <= _MAX_FRONT:
            listed = front
        return [*dict.fromkeys([*listed, *([beyond] if beyond else [])])]

    def _knee_text(self, trade_off: TradeOff) -> str:
        """Returns text on a front without a knee, or with one that only more runs would decide."""
        front, knee = trade_off.front, trade_off.knee
        if knee.possible:
            runs = f"--runs {knee.runs_needed}" if knee.runs_needed else "more runs"
            values = range_text(knee.possible, [*self._ranking.choices])
            none = " or none" if knee.name is None or knee.may_be_none else ""
            return f", knee undecided ({values}{none}: run with {runs})"
        return ", no knee" if knee.name is None and len(front) > 2 else ""

    def _rivals_text(self, names: Sequence[str], *stakes: Stake) -> str:
        """Returns the choices that are undecided against the best of both, and the runs to try."""
        if not names:
            return ""
        hints = [hint_text(stake.verdict) for stake in stakes if stake.verdict.undecided]
        hint = f" ({hints[0]})" if hints else ""
        return f"undecided against {self._choices.listed(names)}{hint}"

    def _loss_texts(self, name: str, trade_off: TradeOff) -> list[str]:
        """Returns what flows beside a trade-off lose with a choice, each against its best one."""
        flows = {trade_off.other.flow, trade_off.goodput.flow}
        bests = (
            (stake, max(stake.values, key=stake.signed_mean))
            for stake in self._stakes
            if stake.flow not in flows
        )
        return [
            f"but {stake.text(name, best)} with {best}"
            for stake, best in bests
            if stake.is_gain(best, name)
        ]

    def _price_texts(self, name: str, trade_off: TradeOff) -> Iterator[str]:
        """Yields what a choice sends again, and which other CCAs have far less goodput with its value.

        A host elsewhere has another CCA, and meets the value all the same where the network has it.
        """
        other, goodput, *_ = trade_off
        if other.metric in APP_METRICS:
            return
        resent = self._ranking.resent_shares()
        least = min(resent, key=lambda each: resent[each].total)
        if resent[name].exceeds(resent[least]):
            least_text = f"{percent_text(resent[least].total)} with {least}"
            yield f"but {percent_text(resent[name].total)} of the segments sent again ({least_text})"
        choices = self._ranking.choices
        if all(field.startswith(_OF_HOSTS) for field in self._ranking.fields):
            return
        for rival, choice in choices.items():
            of_cca = [each for each in choices if choices[each].cca == choice.cca]
            best = max(of_cca, key=goodput.signed_mean)
            low, high = goodput.means(rival, best)
            is_beside = choice.value == choices[name].value and choice.cca != choices[name].cca
            if is_beside and low < _MIN_BESIDE_SHARE * high and goodput.is_gain(best, rival):
                loss = percent_text(1 - low / high)
                yield f"but {goodput.mean_text(rival)} with {rival}, {loss} less than with {best}"

    def _finer_text(self, trade_off: TradeOff) -> str:
        """Returns values to try between a knee and the next one with more goodput; empty if close."""
        other, goodput, front, knee, *_ = trade_off
        ranking, name = self._ranking, knee.name
        values = list(dict.fromkeys(each.value for each in ranking.choices.values()))
        amounts = quantities(values) if len(ranking.fields) == 1 else None
        if len(front) < 3 or name is None or amounts is None:
            return ""
        amount_of = dict(zip(values, amounts, strict=True))
        most = max(front, key=goodput.signed_mean)
        start, end = (amount_of[ranking.choices[each].value] for each in (name, most))
        cca = ranking.choices[name].cca
        towards = [
            each
            for each, (value, of) in ranking.choices.items()
            if of == cca and (amount_of[value] - start) * (end - start) > 0
        ]
        if not towards:
            return ""
        rival = min(towards, key=lambda each: abs(amount_of[ranking.choices[each].value] - start))
        low, high = sorted(
            (ranking.choices[each].value for each in (name, rival)), key=amount_of.__getitem__
        )
        # A hop above the rate of the link is no bottleneck.
        bound = f"{_MAX_RATE * goodput.means(most)[0]:.3g}Mbit/s"
        rates = quantities([low, bound, high])
        highest = bound if rates is not None and rates == sorted(rates) else high
        finer = between(low, highest) if other.is_gain(name, rival) else []
        return f"between {low} and {high}: --vary {ranking.field}={','.join(finer)}" if finer else ""

    def _metric_name(self, stake: Stake) -> str:
        return self._ranking.without_flow(f"{stake.flow} {words_of(stake.metric).name}")
