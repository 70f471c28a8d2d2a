"""Evidence of an explanation: metrics of flows, links and windows, which the rules of causes check."""
