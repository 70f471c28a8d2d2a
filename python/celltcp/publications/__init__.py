"""Publications: published tables compared with the results of built-in scenarios.

A file in `publications` describes a publication, a file in `tables` has the figures of one of its
tables. Files that are added are picked up.
"""
