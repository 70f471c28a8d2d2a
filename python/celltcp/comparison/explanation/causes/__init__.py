"""Causes of the metrics of a flow: a rule for each, over the evidence."""
