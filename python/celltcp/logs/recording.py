"""Recording: times and rates of the rows of a log, before gaps between rows are interpreted."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from celltcp.logs.options import Direction


@dataclass(frozen=True)
class Recording:
    """Rows of a log in the order of the file."""

    #: Format of the file, for users.
    kind: str
    #: Interpretation of the columns, for users; empty if the format implies it.
    columns: str
    #: Time of each row, ns; the origin depends on the file.
    ns: NDArray[np.int64]
    #: Rate of each row, bit/s, or its bits if `is_volume`; NaN where none was measured.
    values: NDArray[np.float64]
    #: Length of each row, ns, if the format has it; a row is then the interval after its time.
    lengths: NDArray[np.int64] | None = None
    #: Whether values are amounts of data.
    is_volume: bool = False
    #: Whether these amounts add up from row to row.
    is_counter: bool = False
    #: Bits in a unit of a counter.
    counter_unit: float = 8.0
    #: Whether a rate is that of the interval that ends at its row.
    ends_at_row: bool = False
    #: Whether times are dates, so that rows out of order are sorted.
    is_absolute: bool = False
    #: Number of the run of each row, of a log with several.
    runs: NDArray[np.int64] | None = None
    #: RTT of each row, ms; NaN where none was measured.
    rtt_ms: NDArray[np.float64] | None = None
    #: Whether it is of a test that sends all the time, so that its RTTs include its own queue.
    is_load_test: bool = False
    #: Lowest RTT of the whole log, ms, if it has one.
    lowest_rtt_ms: float | None = None
    #: RTT of each row as window over rate, ms, where no RTT was measured.
    window_rtt_ms: NDArray[np.float64] | None = None
    #: Retransmissions in each row of a TCP test; None if not reported, or under BBR.
    retransmissions: NDArray[np.float64] | None = None
    #: Segments sent again by a test under BBR, as a share of all; None for other tests.
    bbr_loss: float | None = None
    #: Congestion window of each row of a test, the sum over streams, bytes; None if not reported.
    windows: NDArray[np.float64] | None = None
    #: Whether each row has no data because the sender waited for time-outs; None if not reported.
    timed_out: NDArray[np.bool_] | None = None
    #: SINR or RSRP of each row, by name.
    radio: dict[str, NDArray[np.float64]] = field(default_factory=dict)
    #: Direction of the logged transfer; None if unknown.
    direction: Direction | None = None
    #: Whether the file has rates of the other direction, too.
    has_both: bool = False
    #: Whether the unit of the rates is unknown.
    is_rate_guess: bool = False
    #: Whether the unit of the times is unknown.
    is_time_guess: bool = False
    #: Further remarks for users.
    notes: tuple[str, ...] = ()
    #: Reason why its rates are no capacity, if the format shows that.
    no_capacity: str | None = None
    #: Transmission opportunities of 1500 bytes, ms, of mahimahi logs, in place of the rates above.
    opportunities: NDArray[np.int64] | None = None
