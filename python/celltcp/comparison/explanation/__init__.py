"""Explanation of results: what cost each congestion control its place, by rules over the tables."""
