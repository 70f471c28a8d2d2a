"""Publications: their tables beside the results of the built-in scenarios.

A file in `publications` tells of a publication, a file in `tables` has the figures of one of its
tables. Files that are added are picked up.
"""

from celltcp.papers.outcome import Outcome, Row, outcome
from celltcp.papers.publications import Publication, publications
from celltcp.papers.published import Published, Table, published_goodput, published_phases
from celltcp.papers.ranks import RankCorrelation, rank_correlation

__all__ = [
    "Outcome",
    "Publication",
    "Published",
    "RankCorrelation",
    "Row",
    "Table",
    "outcome",
    "publications",
    "published_goodput",
    "published_phases",
    "rank_correlation",
]
