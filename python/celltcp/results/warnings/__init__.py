"""Warnings: effects that make results say less than they seem to."""
