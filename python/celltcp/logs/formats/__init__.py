"""Formats of tools that are no plain tables, a file for each."""
