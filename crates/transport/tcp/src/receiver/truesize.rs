//! Memory of packets in a receive buffer (`truesize`).

/// Memory of the header of a buffer (`struct sk_buff`), bytes.
pub(crate) const BUFFER_HEADER: u64 = 256;
/// Memory of the description of a buffer's pages (`struct skb_shared_info`), bytes.
pub(crate) const SHARED_INFO: u64 = 320;
/// Room before a packet in its buffer (`NET_SKB_PAD`), bytes.
const PAD: u64 = 64;
/// Size of a cache line, to which memory is rounded up, bytes.
const CACHE_LINE: u64 = 64;
/// Memory for the data of a small buffer (`SKB_SMALL_HEAD_CACHE_SIZE`), and of a page, bytes.
pub(crate) const SMALL_BUFFER: u64 = 576;
const PAGE: u64 = 4_096;
/// Logarithm of the pages in the largest block (`PAGE_ALLOC_COSTLY_ORDER`).
const LARGEST_ORDER: u32 = 3;

/// Returns the memory of a packet of `packet` bytes in the buffers of most network drivers (`__netdev_alloc_skb`).
pub(super) fn truesize(packet: u64) -> u64 {
    let room = packet + PAD;
    let head = room.next_multiple_of(CACHE_LINE) + SHARED_INFO;
    if room <= SMALL_BUFFER - SHARED_INFO {
        SMALL_BUFFER + BUFFER_HEADER
    } else if room > PAGE - SHARED_INFO {
        head.next_power_of_two() + BUFFER_HEADER
    } else {
        head + BUFFER_HEADER
    }
}

/// Returns whether the data of a packet of `packet` bytes may be coalesced with another buffer. That needs a page fragment,
/// so not a very small packet or one above a page (`skb_try_coalesce`).
pub(super) fn can_coalesce(packet: u64) -> bool {
    let room = packet + PAD;
    SMALL_BUFFER - SHARED_INFO < room && room <= PAGE - SHARED_INFO
}

/// Returns the memory of a packet of `packet` bytes into which a TUN device has merged segments: one page for its head,
/// and the largest blocks of pages for the rest (`tun_alloc_skb`, `alloc_skb_with_frags`).
pub(super) fn gso_truesize(packet: u64) -> u64 {
    if packet + PAD < PAGE {
        return truesize(packet);
    }
    let mut rest = packet.saturating_sub(PAGE - PAD - SHARED_INFO);
    let mut memory = PAGE + BUFFER_HEADER;
    while rest > 0 {
        let pages = rest.div_ceil(PAGE);
        let block = PAGE << pages.ilog2().min(LARGEST_ORDER);
        memory += block;
        rest = rest.saturating_sub(block);
    }
    memory
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Linux `SKB_TRUESIZE`: pieces of a page, a cache of small heads, and powers of two above a page.
    #[test]
    fn the_memory_of_a_packet_depends_on_its_size() {
        let memory = |packet| (truesize(packet), can_coalesce(packet));
        assert_eq!(memory(52), (832, false));
        assert_eq!(memory(192), (832, false));
        assert_eq!(memory(193), (896, true));
        assert_eq!(memory(576), (1_216, true));
        assert_eq!(memory(1_500), (2_176, true));
        assert_eq!(memory(3_712), (4_352, true));
        assert_eq!(memory(3_713), (8_448, false));
        assert_eq!(memory(4_000), (8_448, false));
        assert_eq!(memory(9_000), (16_640, false));
    }

    /// Linux `alloc_skb_with_frags`: blocks of eight pages at most.
    #[test]
    fn joined_segments_take_blocks_of_pages() {
        let page_and_header = 4_352;
        assert_eq!(gso_truesize(1_040), truesize(1_040));
        assert_eq!(gso_truesize(4_040), page_and_header + 4_096);
        assert_eq!(gso_truesize(9_040), page_and_header + 8_192);
        assert_eq!(gso_truesize(39_040), page_and_header + 32_768 + 4_096);
        assert_eq!(
            gso_truesize(60_040),
            page_and_header + 32_768 + 16_384 + 8_192
        );
    }
}
