//! ECN-Echo: feedback of the receiver about marked packets.

use super::Receiver;
use crate::segment::{Ecn, Flags, Segment};

/// Quick ACKs after a mark, or after an ECN-incapable segment among capable ones (the kernel's `__tcp_ecn_check_ce`).
const QUICK_ACKS: u32 = 2;

/// Mode in which marks are echoed.
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
    mode: EchoMode,
    /// Whether ACKs carry ECN-Echo.
    sends_ece: bool,
    /// Whether an ECN-capable segment has arrived (`TCP_ECN_SEEN`).
    ect_seen: bool,
    /// Whether the latest segment was marked (RFC 8257 §3.2, `DCTCP.CE`).
    ce_state: bool,
    /// `rcv_nxt` after the latest segment.
    prior_rcv_nxt: u64,
    /// ACK that leaves first because the CE state has changed: its number and its ECN-Echo.
    prior_ce_ack: Option<(u64, bool)>,
}

impl Receiver {
    /// Sets the negotiated mode when the connection opens.
    pub(crate) fn set_echo_mode(&mut self, mode: EchoMode) {
        self.echo.mode = mode;
        self.echo.prior_rcv_nxt = self.rcv_nxt;
    }

    /// Returns whether ACKs carry ECN-Echo.
    pub(crate) fn sends_ece(&self) -> bool {
        self.echo.sends_ece
    }

    /// Removes and returns the ACK for the segments before a change of the CE state: its number and its ECN-Echo.
    pub(crate) fn take_prior_ce_ack(&mut self) -> Option<(u64, bool)> {
        let (number, ece) = self.echo.prior_ce_ack.take()?;
        Some((number.min(self.ack_number()), ece))
    }

    /// Handles CWR, by which the sender reports that it has reduced its window (RFC 3168 §6.1.3). Data is acknowledged at
    /// once, because the window may be very small now.
    pub(crate) fn accept_cwr(&mut self, segment: &Segment) {
        if self.echo.mode != EchoMode::Off && segment.flags.contains(Flags::CWR) {
            self.echo.sends_ece = false;
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
                // Among ECN-capable segments it is probably a retransmission (RFC 3168 §6.1.5).
                if self.echo.ect_seen {
                    self.enter_quickack_mode(QUICK_ACKS);
                }
            }
            (mode, ecn) => {
                self.echo.ect_seen = true;
                let is_marked = ecn == Ecn::Ce;
                if mode == EchoMode::Exact {
                    self.update_ce_state(is_marked);
                } else if is_marked && !self.echo.sends_ece {
                    self.enter_quickack_mode(QUICK_ACKS);
                    self.echo.sends_ece = true;
                }
            }
        }
    }

    /// Echoes the mark of a segment. If marks begin or end, a delayed ACK leaves first (RFC 8257 §3.2, figure 1).
    fn update_ce_state(&mut self, is_marked: bool) {
        if self.echo.ce_state != is_marked {
            if self.delayed_ack_at != units::Instant::NEVER {
                self.echo.prior_ce_ack = Some((self.echo.prior_rcv_nxt, self.echo.ce_state));
            }
            self.ack_now = true;
        }
        self.echo.prior_rcv_nxt = self.rcv_nxt;
        self.echo.ce_state = is_marked;
        self.echo.sends_ece = is_marked;
    }
}
