"""Sets of scenarios: verdicts and mean differences over all of them."""
