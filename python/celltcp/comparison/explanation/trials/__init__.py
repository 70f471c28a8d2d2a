"""Trials of remedies: short runs, their metrics, and the alternatives that they leave."""
