//! Limit times: the times of a sender under each limit, which refine the chronographs of Linux's TCP_INFO.

use serde::{Deserialize, Serialize};
use units::Duration;

/// Limit of a sender: the reason why it does not send more.
///
/// The order is that of Linux's `enum tcp_chrono`, where a later chronograph takes precedence. First comes no data
/// (`TCP_CHRONO_UNSPEC`), then data (`TCP_CHRONO_BUSY`: from [`SendLimit::InFlight`] to [`SendLimit::TimeOut`]), then
/// `TCP_CHRONO_RWND_LIMITED` and `TCP_CHRONO_SNDBUF_LIMITED`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum SendLimit {
    /// None yet: there has been no data.
    NotBegun,
    /// The application: there is no data, and all that it wrote is acknowledged.
    Idle,
    /// The application: all that it wrote is sent, and waits for its acknowledgement.
    InFlight,
    /// The congestion window or pacing in slow start; for a CCA that owns its window, until the first exit.
    StartUp,
    /// The send buffer, where Linux still counts the congestion window as the limit: in slow start, or because the window
    /// was full within the round trip. The buffer is full, all it holds was sent, and the window has room.
    FullBuffer,
    /// The congestion window outside slow start.
    CongestionWindow,
    /// Pacing outside slow start.
    Pacing,
    /// Loss recovery: fast recovery, or retransmissions after a time-out.
    Recovery,
    /// A retransmission time-out: nothing was received from the peer until it expired.
    TimeOut,
    /// The window that the peer offers (`TCP_CHRONO_RWND_LIMITED`).
    ReceiveWindow,
    /// The send buffer: it is full, and all it holds was sent (`TCP_CHRONO_SNDBUF_LIMITED`).
    SendBuffer,
    /// A retransmission time-out, where Linux still counts the window that the peer offers: nothing makes it look again.
    WindowTimeOut,
    /// A retransmission time-out, where Linux still counts the send buffer.
    BufferTimeOut,
}

impl SendLimit {
    /// Number of limits.
    pub const COUNT: usize = Self::BufferTimeOut as usize + 1;

    /// Limits of a sender that has data: together `tcpi_busy_time`.
    pub const BUSY: [Self; 11] = [
        Self::InFlight,
        Self::StartUp,
        Self::FullBuffer,
        Self::CongestionWindow,
        Self::Pacing,
        Self::Recovery,
        Self::TimeOut,
        Self::ReceiveWindow,
        Self::SendBuffer,
        Self::WindowTimeOut,
        Self::BufferTimeOut,
    ];

    /// Returns whether it is a part of `TCP_CHRONO_BUSY` that no other chronograph of Linux has.
    pub fn is_busy(self) -> bool {
        (Self::InFlight..=Self::TimeOut).contains(&self)
    }
}

impl From<SendLimit> for usize {
    fn from(limit: SendLimit) -> Self {
        limit as Self
    }
}

/// Times of a sender under each limit, from its first data on.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct LimitTimes([Duration; SendLimit::COUNT]);

impl LimitTimes {
    /// Collects the time under each limit.
    pub fn new(time: impl Fn(SendLimit) -> Duration) -> Self {
        let mut times = Self::default();
        for limit in core::iter::once(SendLimit::Idle).chain(SendLimit::BUSY) {
            times.0[limit as usize] = time(limit);
        }
        times
    }

    /// Returns the time with data (`tcpi_busy_time`).
    pub fn busy(&self) -> Duration {
        let times = SendLimit::BUSY.into_iter().map(|limit| self.get(limit));
        times.fold(Duration::ZERO, |sum, time| sum + time)
    }

    /// Returns the time under a limit.
    pub fn get(&self, limit: SendLimit) -> Duration {
        self.0[limit as usize]
    }
}
