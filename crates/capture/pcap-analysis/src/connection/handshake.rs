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
    /// Processes a segment of the client (side 0) or the server.
    pub(super) fn on_segment(
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
        if syn && up.has_syn && down.has_syn {
            settle_window_scales(up, down);
        }
        match side {
            0 if syn => {
                let first = self.syn_ns.map_or(at_ns, |(first, _)| first);
                self.syn_ns = Some((first, at_ns));
                self.syns += 1;
            }
            1 if syn => {
                let is_first = self.syn_ack_ns.is_none() && self.ack_ns.is_none();
                if let (Some((_, sent)), true, 1) = (self.syn_ns, is_first, self.syns) {
                    up.add_handshake_rtt(sample(sent, at_ns));
                }
                let first = self.syn_ack_ns.map_or(at_ns, |(first, _)| first);
                self.syn_ack_ns = Some((first, at_ns));
                self.is_over = self.ack_ns.is_some();
            }
            0 if flags.contains(Flags::ACK) && !flags.contains(Flags::RST) => {
                if let Some((first, last)) = self.syn_ack_ns {
                    if first == last {
                        down.add_handshake_rtt(sample(last, at_ns));
                    }
                    self.is_over = true;
                }
                // The capture can have this ACK before the SYN-ACK.
                self.is_over |= self.syn_ns.is_none();
                self.ack_ns.get_or_insert(at_ns);
            }
            1 if flags.contains(Flags::RST) => {
                let is_unanswered = self.syn_ack_ns.is_none() && self.ack_ns.is_none();
                self.is_refused = self.syn_ns.is_some() && is_unanswered;
                self.is_over = true;
            }
            // With TFO (RFC 7413), the server sends data before the handshake ends.
            1 if self.syn_ack_ns.is_some() => {}
            _ => self.is_over = segment.len > 0 && (side == 1 || self.syn_ns.is_none()),
        }
    }

    /// Returns which segments of the handshake were captured, as the table names it.
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

    /// Returns the times of the first and the last SYN, between which the handshake waited, ns.
    pub(super) fn wait(&self) -> Option<(u64, u64)> {
        self.syn_ns
    }
}

/// Drops the window scales unless both sides offer one (RFC 7323 §2.2).
fn settle_window_scales(up: &mut Direction, down: &mut Direction) {
    let is_cut = |direction: &Direction| direction.is_syn_cut && direction.scale.is_none();
    let is_absent = |direction: &Direction| direction.scale.is_none() && !direction.is_syn_cut;
    let is_none = is_absent(up) || is_absent(down);
    let is_known = is_none || !is_cut(up) && !is_cut(down);
    if is_none {
        up.scale = None;
        down.scale = None;
    }
    up.is_scale_known = is_known;
    down.is_scale_known = is_known;
}

fn sample(sent_ns: u64, at_ns: u64) -> Sample {
    Sample {
        at_ns: sent_ns,
        end: 0,
        rtt_ns: at_ns.saturating_sub(sent_ns),
        delivered: Some(0),
    }
}
