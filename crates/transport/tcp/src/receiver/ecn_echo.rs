//! ECN-Echo: feedback of the receiver about marked packets.

use super::Receiver;
use crate::segment::{Ecn, Flags, Segment};

/// ACKs for single segments after a mark, or after an unmarked segment among capable ones (the argument of
/// the kernel's `tcp_enter_quickack_mode` there).
const QUICK_ACKS: u32 = 2;

/// Way in which marks are echoed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum EchoMode {
    /// No echo, because ECN was not agreed on.
    #[default]
    Off,
    /// Echo from the first mark until the sender reports that it has reduced its window (RFC 3168 §6.1.3).
    Classic,
    /// Echo segment by segment, as far as delayed ACKs allow (RFC 8257 §3.2).
    Exact,
}

/// State of the echo.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Echo {
    pub(super) mode: EchoMode,
    /// Whether ACKs carry ECN-Echo.
    echoing: bool,
    capable_seen: bool,
    /// Whether the latest segment was marked (RFC 8257 §3.2, `DCTCP.CE`).
    marked: bool,
    /// Next expected number after the latest segment.
    prior: u64,
    /// ACK that has to leave first: its number, and the echo of the segments up to there.
    first_ack: Option<(u64, bool)>,
}

impl Receiver {
    /// Sets the negotiated way of echoing when the connection opens.
    pub(crate) fn set_echo(&mut self, mode: EchoMode) {
        self.echo.mode = mode;
        self.echo.prior = self.rcv_nxt;
    }

    /// Returns whether ACKs carry ECN-Echo.
    pub(crate) fn echoes(&self) -> bool {
        self.echo.echoing
    }

    /// Removes and returns the ACK that must leave before the one of the latest segment: its number and its ECN-Echo.
    pub(crate) fn take_first_ack(&mut self) -> Option<(u64, bool)> {
        let (number, echo) = self.echo.first_ack.take()?;
        Some((number.min(self.ack_number()), echo))
    }

    /// Handles the sender's report that it has reduced its window (RFC 3168 §6.1.3). Data is acknowledged at
    /// once, because the window may be very small now.
    pub(crate) fn note_reduction(&mut self, segment: &Segment) {
        if self.echo.mode != EchoMode::Off && segment.flags.contains(Flags::CWR) {
            self.echo.echoing = false;
            if segment.sequence_len() > 0 {
                self.ack_now = true;
            }
        }
    }

    /// Handles the ECN field of a data segment.
    pub(super) fn ecn_check_ce(&mut self, ecn: Ecn) {
        match (self.echo.mode, ecn) {
            (EchoMode::Off, _) => {}
            (_, Ecn::NotEct) => {
                // Among capable segments it is probably a retransmission (RFC 3168 §6.1.5).
                if self.echo.capable_seen {
                    self.enter_quick_ack_mode(QUICK_ACKS);
                }
            }
            (mode, ecn) => {
                self.echo.capable_seen = true;
                let marked = ecn == Ecn::Ce;
                if mode == EchoMode::Exact {
                    self.echo_exactly(marked);
                } else if marked && !self.echo.echoing {
                    self.enter_quick_ack_mode(QUICK_ACKS);
                    self.echo.echoing = true;
                }
            }
        }
    }

    /// Acknowledges what was delayed first if marks begin or end (RFC 8257 §3.2, figure 1).
    fn echo_exactly(&mut self, marked: bool) {
        if self.echo.marked != marked {
            if self.delayed_at != units::Instant::NEVER {
                self.echo.first_ack = Some((self.echo.prior, self.echo.marked));
            }
            self.ack_now = true;
        }
        self.echo.prior = self.rcv_nxt;
        self.echo.marked = marked;
        self.echo.echoing = marked;
    }
}
