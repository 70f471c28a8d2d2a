//! Handshake of a connection (RFC 9293 §3.5) and the options that both ends negotiate.

use units::{Duration, Instant};

use super::{Connection, Failure, State};
use crate::config::TcpConfig;
use crate::receiver::{EchoMode, Receiver, first_window};
use crate::segment::{Ecn, Flags, Segment, TIMESTAMPS_OPTION};
use crate::sender::rtt_of_echo;
use crate::sequence;

/// Time-outs of a SYN before they double (`tcp_syn_linear_timeouts`).
const LINEAR_TIMEOUTS: u32 = 4;
/// Maximum segment size of an end that announces none (RFC 9293 §3.7.1).
const DEFAULT_MSS: u32 = 536;
/// Minimum MSS with options (`TCP_MIN_SND_MSS`: room for all options and eight bytes).
const MIN_SND_MSS: u32 = 48;

impl Connection {
    /// Returns the time-outs of the SYN or SYN-ACK of this end.
    pub fn handshake_timeouts(&self) -> u32 {
        self.handshake_attempts.saturating_sub(1)
    }

    /// Handles a SYN in LISTEN (RFC 9293 §3.10.7.2).
    pub(super) fn on_syn(&mut self, now: Instant, segment: &Segment) {
        if !segment.flags.contains(Flags::SYN) || segment.flags.contains(Flags::RST) {
            return;
        }
        self.apply_options(now, segment);
        // RFC 3168 §6.1.1. A SYN that is itself ECN-capable comes from a congestion control that needs ECN.
        let wants_ecn = segment.flags.contains(Flags::ECE | Flags::CWR);
        self.ecn_ok = wants_ecn && (segment.ecn == Ecn::NotEct || self.needs_ecn());
        self.state = State::SynReceived;
        self.send_handshake(now);
    }

    /// Handles a segment in SYN-SENT (RFC 9293 §3.10.7.3).
    pub(super) fn on_syn_sent(&mut self, now: Instant, segment: &Segment) {
        let has_ack = segment.flags.contains(Flags::ACK);
        if has_ack && segment.ack != (self.iss + 1) as u32 {
            self.reset_unexpected(segment);
            return;
        }
        if segment.flags.contains(Flags::RST) {
            if has_ack {
                self.fail(Failure::Refused);
            }
            return;
        }
        if !segment.flags.contains(Flags::SYN) {
            return;
        }
        self.apply_options(now, segment);
        if !has_ack {
            // Both ends open at the same time (RFC 9293 §3.5, figure 7).
            self.state = State::SynReceived;
            self.handshake_attempts = 0;
            self.send_handshake(now);
            return;
        }
        let flags = segment.flags;
        self.ecn_ok &= flags.contains(Flags::ECE) && !flags.contains(Flags::CWR);
        self.establish(now, u64::from(segment.window), self.echo(segment));
        if let Some(receiver) = &mut self.receiver {
            receiver.acknowledge_now();
        }
        self.flush(now);
    }

    /// Applies the options that both ends support, and the peer's initial sequence number.
    fn apply_options(&mut self, now: Instant, segment: &Segment) {
        self.tstamp_ok = self.config.settings.timestamps && segment.timestamps.is_some();
        self.config.sack &= segment.sack_permitted;
        // RFC 9293 §3.7.1: 536 without the option.
        let peer_mss = segment.mss.map_or(DEFAULT_MSS, u32::from);
        self.config.mss = self.payload_for_mss(peer_mss.min(self.announced_mss));
        if let Some((value, _)) = segment.timestamps {
            self.ts_recent = value;
            self.ts_recent_at = now;
        }
        if let (Some(own), Some(peer)) = (self.config.settings.window_shift(), segment.window_scale)
        {
            // RFC 7323 §2.3: at most 14.
            (self.rcv_wscale, self.snd_wscale) = (own.min(14), peer.min(14));
            self.wscale_ok = true;
        }
        let first = sequence::initial(segment.seq) + 1;
        let window = self.first_window(self.state == State::Listen && self.tstamp_ok);
        // The window grows by the MSS that this end announces (the kernel's `advmss`), not by that of the peer.
        let receiver_config = TcpConfig {
            mss: self.payload_for_mss(self.announced_mss),
            ..self.config.clone()
        };
        let mut receiver = Receiver::new(
            &receiver_config,
            first,
            self.rcv_wscale,
            self.tstamp_ok,
            window,
        );
        receiver.init_rcv_mss(self.config.mss);
        if self.manual_read {
            receiver.set_manual_read();
        }
        if let Some(unacked_tail) = self.unacked_tail {
            receiver.set_unacked_tail(unacked_tail);
        }
        self.receiver = Some(receiver);
        self.agree_on_far_acks(segment);
        self.last_ack_sent = first;
    }

    /// Completes the handshake. `window` is that of the peer, bytes, and `echo` our own timestamp in its segment.
    pub(super) fn establish(&mut self, now: Instant, window: u64, echo: Option<u32>) {
        self.state = State::Established;
        self.established_at = Some(now);
        self.handshake_deadline = Instant::NEVER;
        self.ack_received_at = now;
        self.start_keepalive(now);
        let is_unrepeated = self.handshake_attempts == 1 && !self.synack_repeated;
        // The echo says which of several SYNs the peer has answered (the kernel's `tcp_ack_update_rtt`).
        let rtt = if is_unrepeated {
            Some(now.saturating_since(self.handshake_sent_at))
        } else {
            echo.and_then(|echo| rtt_of_echo(now, echo))
        };
        // The new socket has its own rate limit of ACKs (the kernel's `tcp_create_openreq_child`).
        self.last_oow_ack = None;
        let echo_mode = match (self.ecn_ok, self.needs_ecn()) {
            (false, _) => EchoMode::Off,
            (true, false) => EchoMode::Classic,
            (true, true) => EchoMode::Exact,
        };
        if let Some(receiver) = &mut self.receiver {
            receiver.establish(now, rtt);
            receiver.set_echo_mode(echo_mode);
        }
        self.sender.congestion.window.ecn = self.ecn_ok;
        let min_mss = self.payload_for_mss(MIN_SND_MSS);
        self.sender
            .negotiate(self.config.mss, min_mss, self.config.sack, window);
        let handshake_lost = self.handshake_timeouts() > 1 && !self.were_timeouts_spurious(echo);
        self.sender.establish(now, rtt, window, handshake_lost);
    }

    /// Returns whether the peer has answered the first SYN or SYN-ACK, so that the time-outs after it were spurious
    /// (the kernel's `tcp_try_undo_spurious_syn`).
    fn were_timeouts_spurious(&self, echo: Option<u32>) -> bool {
        echo == Some(self.handshake_start.since_start().as_millis() as u32)
    }

    /// Sends the SYN or SYN-ACK, and sets its time-out, which doubles (RFC 6298 §5).
    pub(super) fn send_handshake(&mut self, now: Instant) {
        let is_synack = self.state == State::SynReceived;
        let retries = if is_synack {
            self.config.synack_retries
        } else {
            self.config.syn_retries + LINEAR_TIMEOUTS
        };
        if self.handshake_attempts > retries || self.time_left_to_open(now) == Some(Duration::ZERO)
        {
            self.fail(Failure::TimedOut);
            return;
        }
        self.push_handshake(now);
        if self.handshake_attempts == 0 {
            self.handshake_start = now;
        }
        self.handshake_sent_at = now;
        self.handshake_attempts += 1;
        let wait = self.handshake_timeout();
        let wait = self
            .time_left_to_open(now)
            .map_or(wait, |left| wait.min(left.max(Duration::from_millis(1))));
        self.handshake_deadline = self.config.timers.expiry(now, wait);
    }

    /// Returns the rest of the user timeout for repeated SYNs. It does not shorten the first time-out, and a request in
    /// SYN-RECEIVED has no user timeout yet (the kernel's `tcp_clamp_rto_to_user_timeout`, `reqsk_timer_handler`).
    fn time_left_to_open(&self, now: Instant) -> Option<Duration> {
        let is_repeated = self.state == State::SynSent && self.handshake_attempts > 1;
        let limit = self.config.user_timeout.filter(|_| is_repeated)?;
        Some(limit.saturating_sub(now.saturating_since(self.handshake_start)))
    }

    /// Returns the time-out of the latest SYN or SYN-ACK.
    fn handshake_timeout(&self) -> Duration {
        // The first time-outs of a SYN do not double.
        let linear = if self.state == State::SynReceived {
            0
        } else {
            LINEAR_TIMEOUTS
        };
        let doublings = (self.handshake_attempts - 1).saturating_sub(linear);
        let wait = self.config.initial_rto * (1 << doublings.min(6));
        wait.min(self.config.max_rto)
    }

    /// Sends the SYN-ACK again because the SYN arrived again. It does not count as an attempt, and restarts the timer (the
    /// kernel's `tcp_check_req`).
    pub(super) fn retransmit_synack(&mut self, now: Instant) {
        if !self.take_oow_token(now) {
            return;
        }
        self.synack_repeated = true;
        self.push_handshake(now);
        self.handshake_deadline = self.config.timers.expiry(now, self.handshake_timeout());
    }

    /// Puts the SYN or SYN-ACK on the wire.
    fn push_handshake(&mut self, now: Instant) {
        let is_synack = self.state == State::SynReceived;
        let mut segment = Segment {
            seq: self.iss as u32,
            flags: Flags::SYN,
            window: self.first_window(is_synack && self.tstamp_ok).min(65_535) as u16,
            mss: Some(self.announced_mss as u16),
            window_scale: self
                .config
                .settings
                .window_shift()
                .filter(|_| !is_synack || self.snd_wscale > 0 || self.rcv_wscale > 0),
            sack_permitted: self.config.sack,
            timestamps: (self.config.settings.timestamps && (!is_synack || self.tstamp_ok))
                .then(|| (self.timestamp(now), self.ts_recent)),
            far_ack: self.far_ack_offer(),
            ..Segment::default()
        };
        if is_synack {
            segment.flags |= Flags::ACK;
            segment.ack = self.last_ack_sent as u32;
        } else {
            // A repeated SYN does not request ECN: the flags may be the reason for its loss (RFC 3168
            // §6.1.1.1).
            self.ecn_ok =
                self.handshake_attempts == 0 && (self.config.settings.ecn || self.needs_ecn());
        }
        if self.ecn_ok {
            segment.flags |= if is_synack {
                Flags::ECE
            } else {
                Flags::ECE | Flags::CWR
            };
            if self.needs_ecn() {
                segment.ecn = Ecn::Ect0;
            }
        }
        self.out.push_back(segment);
    }

    /// Returns the window of the SYN or SYN-ACK, bytes: whole segments of the MSS that this end announces.
    fn first_window(&self, answers_timestamps: bool) -> u64 {
        let mss = self.announced_mss - self.config.settings.options_len();
        first_window(&self.config, mss, answers_timestamps)
    }

    /// Returns the payload of a full segment for an MSS, which includes the options (the kernel's `tcp_mtu_to_mss`).
    pub(super) fn payload_for_mss(&self, mss: u32) -> u32 {
        mss.max(MIN_SND_MSS) - TIMESTAMPS_OPTION * u32::from(self.tstamp_ok)
    }

    /// Returns whether the congestion control requires ECN.
    pub(super) fn needs_ecn(&self) -> bool {
        self.sender.congestion.needs_ecn()
    }
}
