"""Fidelity as parts of a report, and as the page of the documentation."""
