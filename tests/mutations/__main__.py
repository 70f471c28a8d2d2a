"""Tries mutants for a while and prints those that fail."""

from __future__ import annotations

import argparse
import sys
import time

from mutations.trial import outcomes

#: Mutants between two looks at the clock.
_BATCH = 200

parser = argparse.ArgumentParser(prog="mutations", description=__doc__)
parser.add_argument("--seconds", type=float, default=60.0, help="how long; default 60")
parser.add_argument("--seed", type=int, default=1, help="of the mutants; default 1")
options = parser.parse_args()

begun, number, ran, failed = time.monotonic(), 0, 0, 0
while time.monotonic() - begun < options.seconds:
    for outcome in outcomes(options.seed, number, _BATCH):
        ran += outcome.ran
        if outcome.failure:
            failed += 1
            print(f"--- seed {options.seed}, mutant {outcome.number}, {outcome.mutant.kind}")
            print(outcome.mutant.text, outcome.failure, sep="\n", flush=True)
    number += _BATCH
refused = number - ran - failed
print(f"{number} mutants of seed {options.seed}: {ran} ran, {refused} refused, {failed} failed")
sys.exit(1 if failed else 0)
