"""Published figures that the built-in scenarios are held against.

The tables beside this file name where they come from; the congestion controls have our names.
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
