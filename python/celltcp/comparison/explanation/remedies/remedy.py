"""Remedy: a change of a setting, CCA or middlebox to try against a cause."""

from __future__ import annotations

from typing import NamedTuple


class Remedy(NamedTuple):
    """A change to try against a cause."""

    #: Text that names the effect to avoid.
    against: str
    #: Changes of fields of the scenario, as `field=value`.
    changes: tuple[str, ...] = ()
    #: Congestion control to use instead; empty to keep it.
    cca: str = ""
    #: Parameter to set for the congestion control, as `name=value`; empty for none.
    parameter: str = ""
    #: Middlebox to add, or to have in place of that of the CCA, as `split:at=node-1`; empty for none.
    middlebox: str = ""
    #: Text with the Linux setting, if that is no field of the scenario; else empty.
    linux: str = ""
    #: Text with the setting of the network, such as of a base station; else empty.
    network: str = ""
    #: Text with the possible cost, shown if there is no trial; empty if unknown.
    price: str = ""
    #: Number of earlier remedies of which it is another value; shown only if a trial of it is better.
    variant: int = 0
    #: Number of earlier, higher values; a lower one is tried where these leave late frames.
    fallback: int = 0
    #: Values of one of its fields that a sweep compares, as `field=value,value`; or empty.
    curve: str = ""
    #: Name of remedies with one purpose and several sets of fields, of which one is shown; or empty.
    family: str = ""
    #: Whether `cca` is for the first flow, also if another flow has the cause.
    is_for_first_flow: bool = False
    #: Direction of the queue that a queue discipline is for, `down` or `up`; empty for those of all
    #: flows that fill one.
    direction: str = ""
    #: Whether no trial decides about it.
    is_untried: bool = False

    @property
    def changed_fields(self) -> tuple[object, ...]:
        """Fields, CCA, parameter and middlebox that the remedy changes; variants have the same ones."""
        if self.family:
            return (self.family,)
        fields = tuple(sorted(change.partition("=")[0] for change in self.changes))
        return fields, self.cca, self.parameter, self.middlebox
