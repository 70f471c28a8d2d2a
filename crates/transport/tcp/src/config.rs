//! Configuration of a host: the settings of a scenario, and what only its administrator or an application changes.

use cca::Window;
use units::random::RngStream;
use units::{Bytes, Duration, Rate};

use crate::net_device::NetDevice;
use crate::settings::Tcp;
use crate::timer_wheel::Timers;

/// Configuration of one end of a connection; the defaults are those of Linux on Ethernet.
#[derive(Clone, Debug)]
pub struct TcpConfig {
    /// Settings that a scenario has.
    pub settings: Tcp,
    /// Payload bytes of a full segment, after the timestamps option.
    pub mss: u32,
    /// RTO before the first RTT sample (RFC 6298 §2.1).
    pub initial_rto: Duration,
    /// Upper bound of the RTO (`TCP_RTO_MAX`).
    pub max_rto: Duration,
    /// Shortest wait before a delayed ACK is sent (`TCP_DELACK_MIN`).
    pub delayed_ack_timeout: Duration,
    /// Memory of the receive buffer when a connection begins (`tcp_rmem[1]`), bytes.
    pub receive_buffer_initial: u64,
    /// Bytes that the send buffer can hold when a connection begins (`tcp_wmem[1]`).
    pub send_buffer_initial: u64,
    /// Kind of the option for far acknowledgements of a host in the middle (AS-TCP); `None` if this host does
    /// not understand it.
    pub far_ack_kind: Option<u8>,
    /// Whether this host understands explicit loss notifications.
    pub eln: bool,
    /// Upper bound of the pacing rate (`SO_MAX_PACING_RATE`).
    pub max_pacing_rate: Rate,
    /// Nagle's algorithm (RFC 9293 §3.7.4); not so with `TCP_NODELAY`.
    pub nagle: bool,
    /// Selective acknowledgements (RFC 2018).
    pub sack: bool,
    /// Minimum segments in a burst (`tcp_min_tso_segs`); `None` leaves it to the CCA.
    pub min_burst_segments: Option<u32>,
    /// Share of the window that is worth sending at once is one by this number (`tcp_tso_win_divisor`).
    pub burst_window_divisor: u32,
    /// Network device of the host, which TCP small queues listens to.
    pub net_device: NetDevice,
    /// Initial degree of reordering, segments (`tcp_reordering`).
    pub reordering: u32,
    /// Retransmissions of a SYN before the attempt times out (`tcp_syn_retries`).
    pub syn_retries: u32,
    /// Retransmissions of a SYN-ACK before the request times out (`tcp_synack_retries`).
    pub synack_retries: u32,
    /// Retransmissions of data before the connection times out (`tcp_retries2`).
    pub retries: u32,
    /// Time without an acknowledgement before the connection times out (`TCP_USER_TIMEOUT`).
    pub user_timeout: Option<Duration>,
    /// Payload of the segments that the device joins into one before TCP gets them, as a TUN device does for packetdrill;
    /// `None` if it joins none.
    pub joined_segments: Option<u32>,
    /// End of timers.
    pub timers: Timers,
}

impl TcpConfig {
    /// Memory of the receive buffer when a connection begins, unless its upper bound is less, bytes.
    pub(crate) const RECEIVE_BUFFER: u64 = 128 << 10;
    /// Memory of the send buffer when a connection begins, unless its upper bound is less, bytes.
    pub const SEND_BUFFER: u64 = 16 << 10;

    /// Returns the memory of the receive buffer when a connection begins. Growth of the buffer would lift the cap of the
    /// window in Linux, so a buffer under a capped window has its size at once (as with `SO_RCVBUF`).
    pub fn first_receive_buffer(settings: &Tcp) -> u64 {
        let max = settings.receive_buffer_max.get();
        match settings.receive_window_max {
            Some(_) => max,
            None => Self::RECEIVE_BUFFER.min(max),
        }
    }

    /// Returns the window that a connection begins with. A cap of the pacing rate turns pacing on
    /// (`sk_setsockopt(SO_MAX_PACING_RATE)`).
    pub fn initial_window(&self, draws: RngStream) -> Window {
        let mut window = Window::new(self.mss, self.settings.initial_window, draws);
        window.paced = self.max_pacing_rate < window.max_pacing_rate;
        window.max_pacing_rate = self.max_pacing_rate;
        window
    }

    /// Creates the configuration of hosts with `settings` on a path of that MTU.
    pub fn new(settings: Tcp, path_mtu: Bytes) -> Self {
        Self {
            mss: settings.segment_payload(path_mtu),
            initial_rto: Duration::from_secs(1),
            max_rto: settings.rto_max.unwrap_or(Duration::from_secs(120)),
            delayed_ack_timeout: settings
                .delayed_ack_timeout
                .unwrap_or(Duration::from_millis(40)),
            receive_buffer_initial: Self::first_receive_buffer(&settings),
            send_buffer_initial: Self::SEND_BUFFER.min(settings.send_buffer_max.get()),
            far_ack_kind: None,
            eln: false,
            max_pacing_rate: Rate::from_bits_per_second(u64::MAX),
            nagle: settings.nodelay != Some(true),
            sack: settings.sack,
            min_burst_segments: None,
            burst_window_divisor: 3,
            net_device: NetDevice::Immediate,
            reordering: 3,
            syn_retries: 6,
            synack_retries: 5,
            retries: 15,
            user_timeout: settings.user_timeout,
            joined_segments: None,
            timers: Timers::Wheel,
            settings,
        }
    }
}

impl From<Tcp> for TcpConfig {
    /// Creates the configuration of hosts with `settings` on Ethernet.
    fn from(settings: Tcp) -> Self {
        Self::new(settings, Bytes::new(1_500))
    }
}

impl Default for TcpConfig {
    fn default() -> Self {
        Tcp::default().into()
    }
}
