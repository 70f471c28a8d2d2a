"""Published figures with which the built-in scenarios are compared.

The tables beside this file name their sources. CCAs have the names that celltcp uses.
"""

from celltcp.papers.published import PAPERS, Published, published_goodput, published_phases
from celltcp.papers.ranks import RankCorrelation, rank_correlation

__all__ = [
    "PAPERS",
    "Published",
    "RankCorrelation",
    "published_goodput",
    "published_phases",
    "rank_correlation",
]
