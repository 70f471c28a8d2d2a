"""Which congestion control fits: policies, their training, their evaluation, and what selectors did."""
