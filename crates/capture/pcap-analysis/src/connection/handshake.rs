//! Handshake: the three segments that open a connection (RFC 9293 §3.5).

use tcp::{Flags, Segment};

use super::direction::Direction;
use super::rtt::Sample;

/// Times of the segments of a handshake.
#[derive(Default)]
pub(super) struct Handshake {
    /// First and last SYN of the client.
    syn_ns: Option<(u64, u64)>,
    pub(super) syns: u32,
    /// First and last SYN-ACK of the server.
    syn_ack_ns: Option<(u64, u64)>,
    ack_ns: Option<u64>,
    is_refused: bool,
    is_over: bool,
}

impl Handshake {
    /// Takes a segment of the client (side 0) or the server.
    pub(super) fn take(
        &mut self,
        side: usize,
        segment: &Segment,
        at_ns: u64,
        up: &mut Direction,
        down: &mut Direction,
    ) {
        let flags = segment.flags;
        let syn = flags.contains(Flags::SYN);
        if self.is_over {
            return;
        }
        match side {
            0 if syn => {
                let first = self.syn_ns.map_or(at_ns, |(first, _)| first);
                self.syn_ns = Some((first, at_ns));
                self.syns += 1;
            }
            1 if syn => {
                if let (Some((_, sent)), None, 1) = (self.syn_ns, self.syn_ack_ns, self.syns) {
                    up.answers.add(sample(sent, at_ns));
                }
                let first = self.syn_ack_ns.map_or(at_ns, |(first, _)| first);
                self.syn_ack_ns = Some((first, at_ns));
                // RFC 7323 §2.2: scales hold only if both sides offer one.
                if up.scale.is_none() || down.scale.is_none() {
                    up.scale = None;
                    down.scale = None;
                }
                let both = self.syn_ns.is_some();
                up.scale_known = both;
                down.scale_known = both;
            }
            0 if flags.contains(Flags::ACK) && !flags.contains(Flags::RST) => {
                if let Some((first, last)) = self.syn_ack_ns {
                    if first == last {
                        down.answers.add(sample(last, at_ns));
                    }
                    self.ack_ns = Some(at_ns);
                }
                self.is_over = true;
            }
            1 if flags.contains(Flags::RST) => {
                self.is_refused = self.syn_ns.is_some() && self.syn_ack_ns.is_none();
                self.is_over = true;
            }
            _ => self.is_over = segment.len > 0,
        }
    }

    /// Returns the name of what was seen of it.
    pub(super) fn name(&self) -> &'static str {
        match (self.syn_ns, self.syn_ack_ns, self.ack_ns) {
            _ if self.is_refused => "refused",
            (Some(_), Some(_), Some(_)) => "whole",
            (Some(_), Some(_), None) => "no ACK",
            (Some(_), None, _) => "no SYN-ACK",
            (None, Some(_), _) => "no SYN",
            (None, None, _) => "none",
        }
    }

    /// Returns the time from the first to the last SYN, in which the handshake waited.
    pub(super) fn wait(&self) -> Option<(u64, u64)> {
        self.syn_ns
    }
}

fn sample(sent_ns: u64, at_ns: u64) -> Sample {
    Sample {
        at_ns: sent_ns,
        rtt_ns: at_ns.saturating_sub(sent_ns),
    }
}
