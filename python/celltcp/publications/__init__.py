"""Publications: published tables compared with the results of built-in scenarios.

A file in `publications` describes a publication. A file in `published_values` has the values of one of
its tables. Files that are added are picked up.
"""
