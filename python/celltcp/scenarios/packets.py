"""Size of a full packet, in which buffers and loss models count, and of its headers."""

from __future__ import annotations

#: Size of a packet with the default MTU, bytes.
PACKET_BYTES = 1500
#: Bytes of IPv4, TCP and its timestamps in each packet.
HEADERS_BYTES = 52
