//! What the receiver tells of marked packets (ECN-Echo).

use super::Receiver;
use crate::segment::{Ecn, Flags, Segment};

/// ACKs for single segments after a mark or an unmarked segment among capable ones (the argument of the
/// kernel's `tcp_enter_quickack_mode` there).
const QUICK_ACKS: u32 = 2;

/// How marks are echoed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum EchoMode {
    /// ECN was not agreed on.
    #[default]
    Off,
    /// From the first mark on until the sender says that it has reduced its window (RFC 3168 §6.1.3).
    Classic,
    /// Segment by segment, as far as delayed ACKs allow (RFC 8257 §3.2).
    Exact,
}

/// The state of the echo.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Echo {
    pub(super) mode: EchoMode,
    /// ACKs carry ECN-Echo.
    echoing: bool,
    capable_seen: bool,
    /// RFC 8257 §3.2, `DCTCP.CE`: whether the latest segment was marked.
    marked: bool,
    /// Next number expected after the latest segment.
    prior: u64,
    /// An ACK up to there, with the echo of the segments before, has to leave first.
    first_ack: Option<(u64, bool)>,
}

impl Receiver {
    /// The connection is open, and this is what was agreed on.
    pub(crate) fn set_echo(&mut self, mode: EchoMode) {
        self.echo.mode = mode;
        self.echo.prior = self.rcv_nxt;
    }

    /// Whether ACKs carry ECN-Echo.
    pub(crate) fn echoes(&self) -> bool {
        self.echo.echoing
    }

    /// Takes the ACK that has to leave before that of the latest segment: its number and its ECN-Echo.
    pub(crate) fn take_first_ack(&mut self) -> Option<(u64, bool)> {
        self.echo.first_ack.take()
    }

    /// RFC 3168 §6.1.3: the sender has reduced its window. It may be very small now: data is acknowledged
    /// at once.
    pub(crate) fn note_reduction(&mut self, segment: &Segment) {
        if self.echo.mode != EchoMode::Off && segment.flags.contains(Flags::CWR) {
            self.echo.echoing = false;
            if segment.sequence_len() > 0 {
                self.ack_now = true;
            }
        }
    }

    /// Looks at the ECN field with which data came.
    pub(super) fn look_at_mark(&mut self, ecn: Ecn) {
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

    /// RFC 8257 §3.2, figure 1: where marks begin or end, what was held back is acknowledged first.
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
