"""Quantities that tables of publications can have, each with its values per run."""

from celltcp.papers.quantities.blocks import OF_BLOCKS
from celltcp.papers.quantities.connections import OF_CONNECTIONS
from celltcp.papers.quantities.downloads import OF_DOWNLOADS
from celltcp.papers.quantities.quantity import Quantity
from celltcp.papers.quantities.resets import OF_RESETS
from celltcp.papers.quantities.selections import OF_SELECTIONS
from celltcp.papers.quantities.signalling import OF_SIGNALLING
from celltcp.papers.quantities.slots import OF_SLOTS
from celltcp.papers.quantities.splits import OF_SPLITS
from celltcp.papers.quantities.viewers import OF_VIEWERS

#: All quantities by name.
QUANTITIES: dict[str, Quantity] = {
    **OF_SLOTS,
    **OF_CONNECTIONS,
    **OF_BLOCKS,
    **OF_DOWNLOADS,
    **OF_SELECTIONS,
    **OF_SPLITS,
    **OF_RESETS,
    **OF_SIGNALLING,
    **OF_VIEWERS,
}

__all__ = ["QUANTITIES", "Quantity"]
