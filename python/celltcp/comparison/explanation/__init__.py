"""Explanation of results: the causes of each congestion control's rank, by rules over the tables."""
