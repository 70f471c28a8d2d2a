"""Publications: their tables beside the results of the built-in scenarios.

A file in `publications` describes a publication, a file in `tables` has the figures of one of its
tables. Files that are added are picked up.
"""
