"""Logs of measurements and tests, read as the capacity of a link over time."""
