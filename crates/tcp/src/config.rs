//! Settings of a host, those that its administrator can change.

use units::{Duration, Rate};

/// Settings of one end of a connection; the defaults are those of Linux.
#[derive(Clone, Debug)]
pub struct TcpConfig {
    /// Payload bytes of a full segment, after the timestamps option.
    pub mss: u32,
    /// Initial window, segments (RFC 6928).
    pub initial_window: u32,
    /// Lower bound of the variance term of the RTO (`TCP_RTO_MIN`).
    pub min_rto: Duration,
    /// RTO before the first RTT sample (RFC 6298 §2.1).
    pub initial_rto: Duration,
    /// Upper bound of the RTO (`TCP_RTO_MAX`).
    pub max_rto: Duration,
    /// Whether one ACK may acknowledge two segments (RFC 1122 §4.2.3.2).
    pub delayed_ack: bool,
    /// Shortest wait before a delayed ACK is sent (`TCP_DELACK_MIN`).
    pub delayed_ack_timeout: Duration,
    /// Timestamps option (RFC 7323).
    pub timestamps: bool,
    /// Offered window scale (RFC 7323); `None` leaves the option out.
    pub window_scale: Option<u8>,
    /// Memory of the receive buffer when a connection begins (`tcp_rmem[1]`), bytes.
    pub receive_buffer_initial: u64,
    /// Upper bound of that memory (`tcp_rmem[2]`), bytes.
    pub receive_buffer_max: u64,
    /// Upper bound of the receive window (`TCP_WINDOW_CLAMP`), bytes.
    pub receive_window_cap: Option<u32>,
    /// Bytes that the send buffer can hold, unsent and unacknowledged together.
    pub send_buffer: u64,
    /// Bytes that it can hold when a connection begins (`tcp_wmem[1]`).
    pub send_buffer_initial: u64,
    /// Segments per burst to the device; `None` sizes bursts by the pacing rate, like Linux.
    pub burst_segments: Option<u32>,
    /// Tail loss probe (RFC 8985 §7).
    pub tail_loss_probe: bool,
    /// Forward RTO recovery (RFC 5682).
    pub f_rto: bool,
    /// Pace segments even if the congestion control does not ask for it.
    pub pacing: bool,
    /// Upper bound of the pacing rate (`SO_MAX_PACING_RATE`).
    pub max_pacing_rate: Rate,
    /// Whether to request ECN (RFC 3168). A request of the other end is always accepted, and congestion
    /// controls that need ECN always request it.
    pub ecn: bool,
    /// Whether to halve the window for every RTO of idle time (`tcp_slow_start_after_idle`).
    pub slow_start_after_idle: bool,
    /// Nagle's algorithm (RFC 9293 §3.7.4); not so with `TCP_NODELAY`.
    pub nagle: bool,
    /// Selective acknowledgements (RFC 2018).
    pub sack: bool,
    /// Least segments in a burst (`tcp_min_tso_segs`); `None` leaves it to the CCA.
    pub min_burst_segments: Option<u32>,
    /// Share of the window that is worth sending at once is one by this number (`tcp_tso_win_divisor`).
    pub burst_window_divisor: u32,
    /// Initial degree of reordering, segments (`tcp_reordering`).
    pub reordering: u32,
    /// Retransmissions of a SYN before the attempt is given up (`tcp_syn_retries`).
    pub syn_retries: u32,
    /// Retransmissions of a SYN-ACK before the request is given up (`tcp_synack_retries`).
    pub synack_retries: u32,
    /// Retransmissions of data before the connection is given up (`tcp_retries2`).
    pub retries: u32,
    /// Time without an acknowledgement before the connection is given up (`TCP_USER_TIMEOUT`).
    pub user_timeout: Option<Duration>,
}

impl Default for TcpConfig {
    fn default() -> Self {
        Self {
            mss: 1448,
            initial_window: 10,
            min_rto: Duration::from_millis(200),
            initial_rto: Duration::from_secs(1),
            max_rto: Duration::from_secs(120),
            delayed_ack: true,
            delayed_ack_timeout: Duration::from_millis(40),
            timestamps: true,
            window_scale: Some(7),
            receive_buffer_initial: 128 << 10,
            receive_buffer_max: 6 << 20,
            receive_window_cap: None,
            send_buffer: 4 << 20,
            send_buffer_initial: 16_384,
            burst_segments: None,
            tail_loss_probe: true,
            f_rto: true,
            pacing: false,
            max_pacing_rate: Rate::from_bits_per_second(u64::MAX),
            ecn: false,
            slow_start_after_idle: true,
            nagle: true,
            sack: true,
            min_burst_segments: None,
            burst_window_divisor: 3,
            reordering: 3,
            syn_retries: 6,
            synack_retries: 5,
            retries: 15,
            user_timeout: None,
        }
    }
}
