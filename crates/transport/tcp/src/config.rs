//! Configuration of a host: the settings of a scenario, and those that only an administrator or an application changes.

use cca::Window;
use units::random::RngStream;
use units::{Bytes, Duration, Rate};

use crate::net_device::NetDevice;
use crate::settings::Tcp;
use crate::timer_wheel::TimerExpiry;

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
    /// Shortest delay of a delayed ACK (`TCP_DELACK_MIN`).
    pub delayed_ack_timeout: Duration,
    /// Memory of the receive buffer when a connection begins (`tcp_rmem[1]`), bytes.
    pub receive_buffer_initial: u64,
    /// Memory of the send buffer when a connection begins (`tcp_wmem[1]`), bytes.
    pub send_buffer_initial: u64,
    /// Kind of the option for far acknowledgements of a host in the middle (AS-TCP); `None` if this host does
    /// not understand it.
    pub far_ack_kind: Option<u8>,
    /// Whether this host understands explicit loss notifications.
    pub eln: bool,
    /// Upper bound of the pacing rate (`SO_MAX_PACING_RATE`).
    pub max_pacing_rate: Rate,
    /// Nagle's algorithm (RFC 9293 §3.7.4), which `TCP_NODELAY` turns off.
    pub nagle: bool,
    /// Selective acknowledgements (RFC 2018).
    pub sack: bool,
    /// Minimum segments in a burst (`tcp_min_tso_segs`); `None` leaves it to the CCA.
    pub min_burst_segments: Option<u32>,
    /// Divisor of the window: a burst of that fraction is not deferred (`tcp_tso_win_divisor`).
    pub burst_window_divisor: u32,
    /// Network device of the host, whose queue TCP small queues limits.
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
    /// Payload of the segments that the device merges into one packet before TCP gets it, as a TUN device does for
    /// packetdrill; `None` if it merges none.
    pub gso_size: Option<u32>,
    /// Instants at which timers expire.
    pub timers: TimerExpiry,
}

impl TcpConfig {
    /// Memory of the receive buffer when a connection begins, unless its upper bound is less, bytes.
    const INITIAL_RECEIVE_BUFFER: u64 = 128 << 10;
    /// Memory of the send buffer when a connection begins, unless its upper bound is less, bytes.
    pub const INITIAL_SEND_BUFFER: u64 = 16 << 10;

    /// Returns the memory of the receive buffer when a connection begins, bytes. In Linux a buffer that grows lifts the cap
    /// of the window, so under a cap the buffer has its largest size at once (as with `SO_RCVBUF`).
    pub fn initial_receive_buffer(settings: &Tcp) -> u64 {
        let max = settings.receive_buffer_max.get();
        match settings.receive_window_max {
            Some(_) => max,
            None => settings
                .receive_buffer_initial
                .map_or(Self::INITIAL_RECEIVE_BUFFER, Bytes::get)
                .min(max),
        }
    }

    /// Returns the window that a connection begins with. A cap of the pacing rate turns pacing on
    /// (`sk_setsockopt(SO_MAX_PACING_RATE)`).
    pub fn initial_window(&self, rng: RngStream) -> Window {
        let mut window = Window::new(self.mss, self.settings.initial_window, rng);
        window.paced = self.max_pacing_rate < window.max_pacing_rate;
        window.max_pacing_rate = self.max_pacing_rate;
        window
    }

    /// Creates the configuration of hosts with `settings` on a path with `path_mtu`.
    pub fn new(settings: Tcp, path_mtu: Bytes) -> Self {
        Self {
            mss: settings.segment_payload(path_mtu),
            initial_rto: Duration::from_secs(1),
            max_rto: settings.rto_max.unwrap_or(Duration::from_secs(120)),
            delayed_ack_timeout: settings
                .delayed_ack_timeout
                .unwrap_or(Duration::from_millis(40)),
            receive_buffer_initial: Self::initial_receive_buffer(&settings),
            send_buffer_initial: Self::INITIAL_SEND_BUFFER.min(settings.send_buffer_max.get()),
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
            gso_size: None,
            timers: TimerExpiry::Wheel,
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
