"""Outcomes of the commands of celltcp select as JSON."""
