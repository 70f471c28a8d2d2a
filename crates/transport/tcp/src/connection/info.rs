//! Fields of `TCP_INFO` that only packetdrill scripts read.

use units::{Duration, Instant};

use super::Connection;

/// Values of `TCP_INFO` that [`Connection::view`] does not have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Info {
    /// Consecutive time-outs (`tcpi_retransmits`).
    pub retransmits: u32,
    /// Window probes without an answer (`tcpi_probes`).
    pub probes: u32,
    /// Doublings of the time-out (`tcpi_backoff`).
    pub backoff: u32,
    /// Negotiated options: timestamps 1, SACK 2, window scale 4, ECN 8 (`tcpi_options`).
    pub options: u8,
    /// Window scale of the peer (`tcpi_snd_wscale`).
    pub send_scale: u8,
    /// Window scale of this end (`tcpi_rcv_wscale`).
    pub receive_scale: u8,
    /// Delay of delayed ACKs (`tcpi_ato`).
    pub ack_timeout: Duration,
    /// Payload of the segments that arrive (`tcpi_rcv_mss`).
    pub receive_mss: u32,
    /// Segments that SACK has reported (`tcpi_sacked`).
    pub sacked: u32,
    /// Segments that count as lost (`tcpi_lost`).
    pub lost: u32,
    /// Retransmissions in flight (`tcpi_retrans`).
    pub retransmissions_out: u32,
    /// Time since the last transmission of data.
    pub since_data_sent: Duration,
    /// Time since data last arrived.
    pub since_data_received: Duration,
    /// Time since an ACK last arrived.
    pub since_ack_received: Duration,
    /// Mean deviation of the RTT (`tcpi_rttvar`).
    pub rtt_variation: Duration,
    /// Maximum segment size that this end announces, less the timestamps (`tcpi_advmss`).
    pub announced_mss: u32,
    /// Degree of reordering, segments (`tcpi_reordering`).
    pub reordering: u32,
    /// Times that reordering was seen (`tcpi_reord_seen`).
    pub reordering_seen: u32,
    /// Bytes acknowledged, with SYN and FIN (`tcpi_bytes_acked`).
    pub bytes_acked: u64,
    /// Bytes received in order (`tcpi_bytes_received`).
    pub bytes_received: u64,
    /// Bytes written and not sent (`tcpi_notsent_bytes`).
    pub unsent: u64,
    /// Bytes written and not acknowledged (`SIOCOUTQ`).
    pub unacknowledged: u64,
    /// Segments that D-SACK has reported (`tcpi_dsack_dups`).
    pub duplicates_reported: u64,
    /// Time with data to send (`tcpi_busy_time`).
    pub busy: Duration,
    /// Busy time limited by the peer's window (`tcpi_rwnd_limited`).
    pub window_limited: Duration,
    /// Busy time limited by the send buffer (`tcpi_sndbuf_limited`).
    pub buffer_limited: Duration,
}

impl Connection {
    /// Returns the fields at `now`.
    pub fn info(&self, now: Instant) -> Info {
        let option = |negotiated: bool, bit: u8| if negotiated { bit } else { 0 };
        let opened = self.established_at.unwrap_or(Instant::ZERO);
        let since = |at: Instant| now.saturating_since(at.max(opened));
        let receiver = self.receiver.as_ref();
        let mut info = Info {
            options: option(self.tstamp_ok, 1)
                | option(self.config.sack && self.receiver.is_some(), 2)
                | option(self.wscale_ok, 4)
                | option(self.ecn_ok, 8),
            send_scale: self.snd_wscale,
            receive_scale: self.rcv_wscale,
            ack_timeout: receiver.map_or(Duration::ZERO, |receiver| receiver.ack_timeout),
            receive_mss: receiver.map_or(0, |receiver| receiver.rcv_mss()),
            since_data_received: since(self.data_received_at),
            since_ack_received: since(self.ack_received_at),
            announced_mss: self.payload_for_mss(self.announced_mss),
            bytes_acked: self.sender.seq.snd_una - self.iss,
            bytes_received: self.received(),
            ..Info::default()
        };
        self.sender.fill_info(now, &mut info);
        info
    }
}
