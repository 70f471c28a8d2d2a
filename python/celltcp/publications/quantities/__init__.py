"""Quantities that tables of publications can have, each with its values per run."""

from celltcp.publications.quantities.blocks import OF_BLOCKS
from celltcp.publications.quantities.connections import OF_CONNECTIONS
from celltcp.publications.quantities.downloads import OF_DOWNLOADS
from celltcp.publications.quantities.quantity import Quantity
from celltcp.publications.quantities.resets import OF_RESETS
from celltcp.publications.quantities.selections import OF_SELECTIONS
from celltcp.publications.quantities.signalling import OF_SIGNALLING
from celltcp.publications.quantities.slots import OF_SLOTS
from celltcp.publications.quantities.splits import OF_SPLITS
from celltcp.publications.quantities.viewers import OF_VIEWERS

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
