"""Own congestion control, in Python: it holds the queue at a quarter of the lowest RTT.

Usage: python docs/examples/own_cca.py [FOLDER]

examples/own-cca has one in Rust.
"""

import sys
from pathlib import Path

import celltcp as ct


@ct.register
class Quarter(ct.CongestionControl):
    """Keeps a quarter of the lowest RTT as queue: less delay than CUBIC, and nearly its goodput."""

    name = "quarter"
    title = "Quarter of the RTT"

    def __init__(self, share: float = 0.25) -> None:
        """Takes the share of the lowest RTT that the queue may have."""
        self.share = share
        self.cwnd = 10.0

    def report(self, report: ct.Report) -> ct.Decision:
        """Grows while the queue is short, and shrinks in proportion to its excess."""
        if report.rtt_s and report.min_rtt_s:
            wanted = (1 + self.share) * report.min_rtt_s
            self.cwnd = max(4.0, min(2 * self.cwnd, self.cwnd * wanted / report.rtt_s + 2))
        return ct.Decision(cwnd=self.cwnd)


if __name__ == "__main__":
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "gallery")
    folder.mkdir(parents=True, exist_ok=True)
    result = ct.compare("drive", cca="quarter,quarter:share=1.0,cubic", runs=3, duration="20s")
    print(result.summary)
    result.plot.throughput_delay().savefig(folder / "own_cca.png")
