"""Size of a full packet, in which buffers and loss models count."""

from __future__ import annotations

#: Size of a packet with the default MTU, bytes.
PACKET_BYTES = 1500
