//! Settings of TCP in scenarios: the section `tcp`.

mod host;
mod tso;
mod window_scale;

use config::{FieldError, check_range, invalid_value, reject, table};
use units::{Bytes, Duration};

use crate::segment::{IP_HEADER, TCP_HEADER, TIMESTAMPS_OPTION};
pub use host::HostTcp;
pub use tso::Tso;
pub use window_scale::WindowScale;

/// Returns whether a field that is on by default is on. Scenarios that lack a field keep their hashes, as its default is
/// not written.
#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
fn is_on(field: &bool) -> bool {
    *field
}

/// Limits of buffers and windows.
const MIN_BUFFER: Bytes = Bytes::new(4_096);
const MAX_BUFFER: Bytes = Bytes::new(1 << 30);

/// Rejects a field that is set without the one that it `needs`.
fn reject_without<T>(
    value: Option<T>,
    field: &str,
    is_needed_set: bool,
    needs: &str,
) -> Result<(), FieldError> {
    if value.is_some() && !is_needed_set {
        return reject(field, format!("has no effect without {needs}"));
    }
    Ok(())
}

/// Longest idle time and interval of keep-alive (`MAX_TCP_KEEPIDLE`).
const MAX_KEEPALIVE: Duration = Duration::from_secs(32_767);

table! {
    /// Settings of TCP on all hosts; the defaults are those of Linux.
    pub struct Tcp {
        /// Initial window, segments; default 10 (RFC 6928).
        pub initial_window: u32 = 10,
        /// Maximum segment size as announced, payload with TCP options; unset: MTU less 40 bytes.
        pub mss: Option<Bytes>,
        /// Lower bound of the variance term of the retransmission timeout; default 200ms.
        pub min_rto: Duration = Duration::from_millis(200),
        /// Longest retransmission timeout, 1s to 120s (`tcp_rto_max_ms`, Linux 6.15); unset: 120s. A shorter one ends
        /// connections earlier, after the same 15 retransmissions.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub rto_max: Option<Duration>,
        /// Whether the first six timeouts do not double while fewer than four segments are outstanding, from the first
        /// reduction of the window on (`tcp_thin_linear_timeouts`); default false.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        pub thin_linear_timeouts: bool,
        /// Whether one ACK may stand for two segments; default true (RFC 1122 section 4.2.3.2).
        pub delayed_ack: bool = true,
        /// Shortest wait of a delayed ACK, 1ms to 200ms (`TCP_DELACK_MIN`); unset: 40ms.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub delayed_ack_timeout: Option<Duration>,
        /// Whether all sockets send short segments at once, without Nagle's algorithm (`TCP_NODELAY`); unset: as such
        /// applications do, which is true for frames, request and response, and multiplexed pages.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub nodelay: Option<bool>,
        /// Selective acknowledgements; default true (RFC 2018).
        #[serde(skip_serializing_if = "is_on")]
        pub sack: bool = true,
        /// Timestamps option, 12 bytes of each segment; default true (RFC 7323).
        pub timestamps: bool = true,
        /// Window scale: true for what the largest receive buffer needs, false for none (windows up to 64KiB), or the
        /// shift, 0 to 14; default true (RFC 7323).
        pub window_scale: WindowScale = WindowScale::Automatic,
        /// Upper limit of the automatic tuning of the receive buffer (`tcp_rmem`); default 6MiB. For a program that sets
        /// `SO_RCVBUF`, twice its value: Linux doubles it, up to `rmem_max`, and `tcp_rmem` does not act on it.
        pub receive_buffer_max: Bytes = Bytes::new(6 << 20),
        /// Receive buffer at the start (second value of `tcp_rmem`), whose half is the first window; unset: 128KiB, or
        /// `receive_buffer_max` if that is less. `initrwnd` of a route only lowers that window.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub receive_buffer_initial: Option<Bytes>,
        /// Cap of the announced receive window, such as `window` of a route or `TCP_WINDOW_CLAMP`; unset: the share of the
        /// receive buffer that Linux announces, which leaves room for the overhead of packets (two thirds for full
        /// packets). Under a cap, the buffer has its largest size from the start.
        pub receive_window_max: Option<Bytes>,
        /// Largest send buffer (`tcp_wmem`); default 4MiB. For a program that sets `SO_SNDBUF`, twice its value, on which
        /// `tcp_wmem` does not act. As in Linux it counts memory, which packets take more of than their data, and data
        /// that begins below the limit may end above it, by up to a segment of 64KiB.
        pub send_buffer_max: Bytes = Bytes::new(4 << 20),
        /// Unsent bytes above which an application waits before it writes more (`tcp_notsent_lowat`); unset: only the send
        /// buffer bounds them.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub notsent_lowat: Option<Bytes>,
        /// Time without an acknowledgement after which a connection times out (`TCP_USER_TIMEOUT`); unset: 15
        /// retransmissions, some 15 minutes.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub user_timeout: Option<Duration>,
        /// Idle time after which a connection is probed (`SO_KEEPALIVE`, `TCP_KEEPIDLE`); unset: it never is.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub keepalive: Option<Duration>,
        /// Time between two probes of an idle connection (`TCP_KEEPINTVL`); unset: 75s.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub keepalive_interval: Option<Duration>,
        /// Probes without an answer after which an idle connection times out (`TCP_KEEPCNT`); unset: 9.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub keepalive_probes: Option<u32>,
        /// Segments handed to the device at once: "linux" for bursts sized by the pacing rate, or a number of segments;
        /// default "linux".
        pub tso: Tso = Tso::Linux,
        /// Detection of spurious timeouts by F-RTO; default true (RFC 5682).
        pub f_rto: bool = true,
        /// Tail loss probes; default true (RFC 8985).
        pub tlp: bool = true,
        /// Pacing whatever the CCA, as with the fq qdisc; default false.
        pub pacing: bool,
        /// Ask for explicit congestion notification (RFC 3168); default false: only CCAs that need it ask for it.
        pub ecn: bool,
        /// Whether the window shrinks while the connection is idle; default true (RFC 2861).
        pub slow_start_after_idle: bool = true,
        /// Whether servers understand the TCP option of the middlebox "as" (AS-TCP), where there is one; unset: they do.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub far_acks: Option<bool>,
        /// Whether servers understand the notifications of the middlebox "eln", where there is one; unset: they do.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub eln: Option<bool>,
        /// Settings of the servers alone, which are all hosts but phones; unset: those of all hosts.
        #[serde(skip_serializing_if = "HostTcp::is_default")]
        pub server: HostTcp,
        /// Settings of the phones (or UEs) alone; unset: those of all hosts.
        #[serde(skip_serializing_if = "HostTcp::is_default")]
        pub phone: HostTcp,
    }
}

impl Tcp {
    /// Checks that all fields are in their ranges on a path with `path_mtu`.
    ///
    /// # Errors
    /// [`FieldError`] names the first field that is not.
    pub fn check(&self, path_mtu: Bytes) -> Result<(), FieldError> {
        if !(1..=1000).contains(&self.initial_window) {
            return invalid_value("initial_window", self.initial_window, "1 to 1000 segments");
        }
        if let Some(mss) = self.mss {
            check_range("mss", mss, Bytes::new(88), largest_mss(path_mtu))?;
        }
        let milliseconds = Duration::from_millis;
        for (field, min_rto) in [
            ("min_rto", Some(self.min_rto)),
            ("server.min_rto", self.server.min_rto),
            ("phone.min_rto", self.phone.min_rto),
        ] {
            let Some(min_rto) = min_rto else { continue };
            check_range(field, min_rto, milliseconds(1), milliseconds(120_000))?;
            if let Some(rto_max) = self.rto_max
                && rto_max < min_rto
            {
                return reject("rto_max", format!("{rto_max} is below {field}"));
            }
        }
        let seconds = Duration::from_secs;
        for (field, value, min, max) in [
            (
                "delayed_ack_timeout",
                self.delayed_ack_timeout,
                milliseconds(1),
                milliseconds(200),
            ),
            ("rto_max", self.rto_max, seconds(1), seconds(120)),
            (
                "user_timeout",
                self.user_timeout,
                milliseconds(1),
                seconds(86_400),
            ),
            ("keepalive", self.keepalive, seconds(1), MAX_KEEPALIVE),
            (
                "keepalive_interval",
                self.keepalive_interval,
                seconds(1),
                MAX_KEEPALIVE,
            ),
        ] {
            value.map_or(Ok(()), |value| check_range(field, value, min, max))?;
        }
        if let Some(probes) = self.keepalive_probes
            && !(1..=127).contains(&probes)
        {
            return invalid_value("keepalive_probes", probes, "1 to 127 probes");
        }
        self.check_dependent()?;
        let buffer = |field, bytes| check_range(field, bytes, MIN_BUFFER, MAX_BUFFER);
        if let Some(bytes) = self.notsent_lowat {
            check_range("notsent_lowat", bytes, Bytes::new(1), MAX_BUFFER)?;
        }
        buffer("receive_buffer_max", self.receive_buffer_max)?;
        buffer("send_buffer_max", self.send_buffer_max)?;
        self.check_initial_buffer()?;
        self.receive_window_max
            .map_or(Ok(()), |cap| buffer("receive_window_max", cap))
    }

    /// Checks the receive buffer at the start against its largest size, and against a cap of the window, under which it has
    /// that size from the start.
    fn check_initial_buffer(&self) -> Result<(), FieldError> {
        let field = "receive_buffer_initial";
        let Some(initial) = self.receive_buffer_initial else {
            return Ok(());
        };
        if self.receive_window_max.is_some() {
            return reject(field, "has no effect beside receive_window_max");
        }
        check_range(field, initial, MIN_BUFFER, self.receive_buffer_max)
    }

    /// Checks the fields that have an effect only with another one.
    fn check_dependent(&self) -> Result<(), FieldError> {
        let keepalive = self.keepalive.is_some();
        reject_without(
            self.keepalive_interval,
            "keepalive_interval",
            keepalive,
            "keepalive",
        )?;
        reject_without(
            self.keepalive_probes,
            "keepalive_probes",
            keepalive,
            "keepalive",
        )?;
        let timeout = self.delayed_ack_timeout;
        reject_without(
            timeout,
            "delayed_ack_timeout",
            self.delayed_ack,
            "delayed_ack = true",
        )
    }

    /// Returns the payload of a full segment on a path with `path_mtu`, after the timestamps option, bytes.
    pub fn segment_payload(&self, path_mtu: Bytes) -> u32 {
        let largest = largest_mss(path_mtu);
        let mss = self.mss.map_or(largest, |mss| mss.min(largest));
        (mss.get() as u32).saturating_sub(self.options_len())
    }

    /// Returns the header bytes that the timestamps option takes in each segment.
    pub(crate) fn options_len(&self) -> u32 {
        TIMESTAMPS_OPTION * u32::from(self.timestamps)
    }

    /// Returns the window scale that the connection offers; `None` leaves the option out.
    pub(crate) fn window_shift(&self) -> Option<u8> {
        let max_window = self.receive_buffer_max.get().min(self.window_cap());
        self.window_scale.shift(Bytes::new(max_window))
    }

    /// Returns the upper bound of the receive window, bytes.
    pub(crate) fn window_cap(&self) -> u64 {
        self.receive_window_max.map_or(u64::MAX, Bytes::get)
    }
}

/// Returns the largest payload with options on a path with `path_mtu`.
fn largest_mss(path_mtu: Bytes) -> Bytes {
    Bytes::new(
        path_mtu
            .get()
            .saturating_sub(u64::from(IP_HEADER + TCP_HEADER)),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Linux' `tcp_rto_max_ms` is of all sockets, and bounds those with a minimum of their host alone, too.
    #[test]
    fn the_minimum_rto_of_a_host_has_the_range_of_that_of_all_and_is_below_the_maximum() {
        let error = |min_rto: u64, rto_max: Option<u64>| {
            let settings = Tcp {
                phone: HostTcp {
                    min_rto: Some(Duration::from_millis(min_rto)),
                },
                rto_max: rto_max.map(Duration::from_secs),
                ..Tcp::default()
            };
            settings
                .check(Bytes::new(1_500))
                .err()
                .map(|error| error.field)
        };
        assert_eq!(error(1, None), None);
        assert_eq!(error(0, None).as_deref(), Some("phone.min_rto"));
        assert_eq!(error(120_001, None).as_deref(), Some("phone.min_rto"));
        assert_eq!(error(1_500, Some(1)).as_deref(), Some("rto_max"));
        assert_eq!(error(1_500, Some(2)), None);
    }

    /// The range that the error texts name: 4 KiB to 1 GiB.
    #[test]
    fn buffers_have_four_kibibytes_to_a_gibibyte() {
        let accepts = |bytes: u64| {
            let settings = Tcp {
                send_buffer_max: Bytes::new(bytes),
                ..Tcp::default()
            };
            settings.check(Bytes::new(1_500)).is_ok()
        };
        assert!(accepts(4 << 10) && accepts(1 << 30));
        assert!(!accepts((4 << 10) - 1) && !accepts((1 << 30) + 1));
    }
}
