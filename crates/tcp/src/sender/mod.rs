//! The sending half of a connection: what is out, what is lost, what may be sent next.
//!
//! The order of work on an ACK is that of Linux's `tcp_ack`: SACK blocks, cumulative ACK, tail loss
//! probe, loss detection and state, rate sample, window, retransmissions, new data.

mod loss;
mod prr;
mod rack;
mod rate;
mod rtt;
mod sack;
mod scoreboard;
mod timers;
mod tlp;
mod transmit;
mod undo;
mod usage;

use std::collections::VecDeque;

use units::{Duration, Instant};

use crate::cca::{Ack, CaState, Congestion};
use crate::config::Config;
use prr::Prr;
use rack::Rack;
use rate::RateSampler;
use rtt::RttEstimator;
use sack::SackCache;
use scoreboard::Scoreboard;
use timers::Timer;
use tlp::LossProbe;
use transmit::Pacer;
use undo::Undo;
use usage::WindowUsage;

/// Data to be put into a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Outgoing {
    pub(crate) seq: u64,
    /// Payload bytes.
    pub(crate) len: u32,
    pub(crate) fin: bool,
    /// Nothing follows for now.
    pub(crate) push: bool,
}

/// The acknowledging part of an incoming segment, in 64-bit numbers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AckInput<'a> {
    pub(crate) ack: u64,
    /// Send window in bytes, scaled.
    pub(crate) window: u64,
    pub(crate) sack: &'a [(u64, u64)],
    /// Our timestamp that the segment echoes, milliseconds.
    pub(crate) echo_ms: Option<u64>,
    /// The segment carries payload, and so is no duplicate ACK.
    pub(crate) has_data: bool,
    pub(crate) ecn_echo: bool,
}

/// What an ACK did, gathered while it is worked on (the kernel's `FLAG_*`).
#[derive(Clone, Copy, Debug, Default)]
struct Told {
    una_advanced: bool,
    data_acked: bool,
    data_sacked: bool,
    /// Data never retransmitted, sent before the recovery began, was newly delivered.
    original_delivered: bool,
    retransmitted_acked: bool,
    lost_retransmission: bool,
    dsack: bool,
    dsack_of_probe: bool,
    not_duplicate: bool,
    /// RTT clock of the first and of the last segment newly delivered, never retransmitted.
    first_acked_at: Option<Instant>,
    last_acked_at: Option<Instant>,
    first_sacked_at: Option<Instant>,
    last_sacked_at: Option<Instant>,
    /// RTT of the newest segment delivered.
    rtt: Option<Duration>,
    acked: u32,
}

/// What is to be retransmitted or sent after an ACK (the kernel's `REXMIT_*`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Resend {
    Nothing,
    Lost,
    /// Step 2b of F-RTO: new data rather than a retransmission.
    New,
}

/// The sending half.
#[derive(Debug)]
pub(crate) struct Sender {
    config: Config,
    pub(crate) congestion: Congestion,
    board: Scoreboard,
    rtt: RttEstimator,
    rate: RateSampler,
    rack: Rack,
    prr: Prr,
    undo: Undo,
    probe: LossProbe,
    timer: Timer,
    pacer: Pacer,
    usage: WindowUsage,
    sack_cache: SackCache,
    snd_una: u64,
    snd_nxt: u64,
    /// End of what the application has written.
    write_end: u64,
    fin_queued: bool,
    /// Whether the application has found the send buffer full and waits.
    found_full: bool,
    snd_wnd: u64,
    /// Recovery ends when this is acknowledged.
    high_seq: u64,
    /// End of the highest segment that SACK reported.
    highest_sacked: u64,
    /// Degree of reordering, segments.
    reordering: u32,
    reordering_seen: bool,
    /// Consecutive time-outs.
    retransmits: u32,
    backoff: u32,
    /// When this episode's first retransmission was sent, milliseconds.
    retransmission_stamp: Option<u64>,
    f_rto: bool,
    echo_ms: Option<u64>,
    last_sent: Instant,
    pub(crate) counts: Counts,
    pub(crate) latest_rate: units::Rate,
    out: VecDeque<Outgoing>,
}

/// What the sender did so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) segments: u64,
    pub(crate) retransmissions: u64,
    pub(crate) timeouts: u64,
    pub(crate) loss_probes: u64,
    pub(crate) fast_recoveries: u64,
    pub(crate) undone: u64,
}

impl Sender {
    /// A sender whose first data byte is `first`.
    pub(crate) fn new(config: Config, congestion: Congestion, first: u64) -> Self {
        let rtt = RttEstimator::new(config.initial_rto, config.min_rto, config.max_rto);
        Self {
            congestion,
            board: Scoreboard::new(),
            rtt,
            rate: RateSampler::default(),
            rack: Rack::default(),
            prr: Prr::default(),
            undo: Undo::default(),
            probe: LossProbe::default(),
            timer: Timer::default(),
            pacer: Pacer::default(),
            usage: WindowUsage::new(first),
            sack_cache: SackCache::default(),
            snd_una: first,
            snd_nxt: first,
            write_end: first,
            fin_queued: false,
            found_full: false,
            snd_wnd: 0,
            high_seq: first,
            highest_sacked: first,
            reordering: loss::INITIAL_REORDERING,
            reordering_seen: false,
            retransmits: 0,
            backoff: 0,
            retransmission_stamp: None,
            f_rto: false,
            echo_ms: None,
            last_sent: Instant::ZERO,
            counts: Counts::default(),
            latest_rate: units::Rate::ZERO,
            out: VecDeque::with_capacity(64),
            config,
        }
    }

    /// The handshake is over: `rtt` is that of the SYN if it was sent once only.
    pub(crate) fn establish(&mut self, now: Instant, rtt: Option<Duration>, window: u64) {
        self.snd_wnd = window;
        self.set_now(now);
        if let Some(rtt) = rtt {
            self.rtt.sample(rtt, self.snd_una, self.snd_nxt);
            self.rtt.sample_minimum(rtt, now);
        } else {
            // RFC 6298 §5.7: a SYN that had to be repeated leaves a cautious window.
            self.congestion.window.cwnd = self.congestion.window.cwnd.min(1);
        }
        self.usage.touch(now);
        self.last_sent = now;
        self.refresh_window();
        self.congestion.init();
        self.congestion.update_default_pacing_rate();
    }

    /// Oldest unacknowledged number.
    pub(crate) fn snd_una(&self) -> u64 {
        self.snd_una
    }

    /// Next number to be sent.
    pub(crate) fn snd_nxt(&self) -> u64 {
        self.snd_nxt
    }

    /// Window that the other side offers, bytes.
    pub(crate) fn snd_wnd(&self) -> u64 {
        self.snd_wnd
    }

    /// Smoothed RTT.
    pub(crate) fn srtt(&self) -> Duration {
        self.rtt.srtt()
    }

    /// Lowest RTT.
    pub(crate) fn min_rtt(&self) -> Duration {
        self.rtt.minimum()
    }

    /// The retransmission time-out with its back-off.
    pub(crate) fn rto(&self) -> Duration {
        (self.rtt.rto() * (1 << self.backoff.min(20))).min(self.config.max_rto)
    }

    /// Segments in the network.
    pub(crate) fn in_flight(&self) -> u32 {
        self.board.in_flight()
    }

    /// Segments delivered.
    pub(crate) fn delivered(&self) -> u64 {
        self.rate.delivered
    }

    /// Bytes that the application may still write. An application that has found the buffer full waits
    /// until a third of it is free (the kernel's `sk_stream_is_writeable`).
    pub(crate) fn writable(&self) -> u64 {
        let room = self.room();
        if self.fin_queued || self.found_full && room < self.config.send_buffer / 3 {
            return 0;
        }
        room
    }

    fn room(&self) -> u64 {
        let kept = self.write_end - self.snd_una;
        self.config.send_buffer.saturating_sub(kept)
    }

    /// The application writes up to `bytes`; answers how many were taken.
    pub(crate) fn write(&mut self, bytes: u64) -> u64 {
        let taken = bytes.min(self.writable());
        self.write_end += taken;
        self.found_full = self.room() == 0;
        taken
    }

    /// The application has no more to send.
    pub(crate) fn finish(&mut self) {
        if !self.fin_queued {
            self.fin_queued = true;
            self.write_end += 1;
        }
    }

    /// Whether the FIN was sent.
    pub(crate) fn fin_sent(&self) -> bool {
        self.fin_queued && self.snd_nxt == self.write_end
    }

    /// Whether all that was ever written, FIN included, is acknowledged.
    pub(crate) fn all_acked(&self) -> bool {
        self.snd_una == self.write_end
    }

    /// The next piece of data to put on the wire.
    pub(crate) fn poll(&mut self) -> Option<Outgoing> {
        self.out.pop_front()
    }

    /// Another congestion control takes over the live connection.
    pub(crate) fn switch(
        &mut self,
        now: Instant,
        cca: Box<dyn crate::cca::CongestionControl>,
        context: crate::cca::Context,
    ) {
        self.set_now(now);
        self.refresh_window();
        self.congestion.import(cca, context);
    }

    /// Handles the acknowledging part of a segment and sends what it allows.
    pub(crate) fn on_ack(&mut self, now: Instant, input: &AckInput<'_>) {
        self.set_now(now);
        if input.ack < self.snd_una || input.ack > self.snd_nxt {
            // Old, or of something never sent (RFC 9293 §3.10.7.4); an old one may still carry SACK.
            if input.ack < self.snd_una && !input.sack.is_empty() && self.board.packets_out() > 0 {
                self.work_on_ack(
                    now,
                    &AckInput {
                        ack: self.snd_una,
                        ..*input
                    },
                );
            }
            return;
        }
        if input.window != self.snd_wnd {
            self.snd_wnd = input.window;
        }
        self.work_on_ack(now, input);
        self.transmit(now);
    }

    fn work_on_ack(&mut self, now: Instant, input: &AckInput<'_>) {
        let prior_una = self.snd_una;
        let prior_inflight = self.board.in_flight();
        let prior_packets = self.board.packets_out();
        let prior_sacked = self.board.sacked_out();
        let prior_lost = self.congestion.window.lost;
        let delivered_before = self.rate.delivered;
        self.echo_ms = input.echo_ms;

        let mut told = Told {
            not_duplicate: input.has_data,
            ..Told::default()
        };
        if input.ack > prior_una {
            told.una_advanced = true;
            self.retransmits = 0;
        }
        if !input.sack.is_empty() {
            self.take_sacks(now, input, &mut told);
        }
        self.snd_una = input.ack;
        if prior_packets == 0 {
            self.after_zero_window_probe(now);
            return;
        }
        self.take_cumulative_ack(now, &mut told);
        told.not_duplicate |= told.data_acked;
        self.rack.adapt(self.rate.delivered);
        self.finish_loss_probe(input.ack, &told);

        let mut resend = Resend::Nothing;
        let dubious = !told.not_duplicate
            || told.data_sacked
            || input.ecn_echo
            || self.congestion.window.state != CaState::Open;
        if dubious {
            let duplicate = !told.not_duplicate && !told.dsack;
            resend = self.alert(now, prior_una, duplicate, &mut told);
        }
        let newly = (self.rate.delivered - delivered_before) as u32;
        let rate = self.rate.finish(now, newly, self.rtt.minimum());
        if let Some(sample) = rate.rate(self.config.mss)
            && (!rate.app_limited || sample >= self.latest_rate)
        {
            self.latest_rate = sample;
        }
        self.refresh_window();
        // A lone runt that came without anything odd has probably waited for the delayed-ACK timer.
        let delayed = told.acked == 1
            && prior_sacked == 0
            && !told.retransmitted_acked
            && input.ack - prior_una < u64::from(self.config.mss)
            && rate.prior_delivered + 1 == self.rate.delivered
            && !(told.data_sacked || told.dsack || input.ecn_echo);
        let ack = Ack {
            acked: told.acked,
            delivered: newly,
            lost: (self.congestion.window.lost - prior_lost) as u32,
            prior_inflight,
            rtt: told.rtt,
            rate,
            ecn_echo: input.ecn_echo,
            delayed,
        };
        if newly > 0 {
            self.congestion.pkts_acked(&ack);
        }
        self.control_window(&ack, &told);
        self.resend(now, resend);
        self.refresh_window();
    }

    /// Retires what the cumulative ACK covers, and times it (the kernel's `tcp_clean_rtx_queue`).
    fn take_cumulative_ack(&mut self, now: Instant, told: &mut Told) {
        let before = self.board.packets_out();
        let ack = self.snd_una;
        let mut lowest_original = u64::MAX;
        while let Some(head) = self.board.head() {
            if head.end > ack {
                break;
            }
            let Some(sent) = self.board.pop() else { break };
            if sent.ever_retransmitted {
                told.retransmitted_acked = true;
            } else if !sent.sacked {
                told.last_acked_at = Some(sent.sent_at);
                told.first_acked_at.get_or_insert(sent.sent_at);
                lowest_original = lowest_original.min(sent.seq);
                told.original_delivered |= sent.end <= self.high_seq;
            }
            if !sent.sacked {
                self.rate.delivered += 1;
                self.rate.on_delivered(&sent);
                if !self.was_needless(&sent) {
                    self.rack.advance(now, &sent, self.rtt.minimum());
                }
            }
            told.acked += 1;
        }
        self.board.trim_head(ack);
        if lowest_original < self.highest_sacked {
            self.note_reordering(lowest_original);
        }
        told.data_acked = self.board.packets_out() < before;
        self.sample_rtt(now, told);
        if told.data_acked {
            self.rearm_after_ack(now);
        }
    }

    /// Whether this ACK came for a transmission before the latest one of `sent`: what was delivered is
    /// not what was sent last, and its time tells nothing (the kernel's `tcp_skb_spurious_retrans`).
    fn was_needless(&self, sent: &scoreboard::Sent) -> bool {
        let at_ms = sent.sent_at.since_start().as_millis();
        sent.ever_retransmitted && self.echo_ms.is_some_and(|echo| echo < at_ms)
    }

    /// Takes the RTT from what this ACK newly delivered, or, if the cumulative ACK covers nothing but
    /// segments that were retransmitted, from the timestamp that came back (the kernel's
    /// `tcp_ack_update_rtt`). What the congestion control gets is that of the newest segment, by SACK if
    /// there is one.
    fn sample_rtt(&mut self, now: Instant, told: &mut Told) {
        let since = |at: Option<Instant>| at.map(|at| now.saturating_since(at));
        let original = |at: Option<Instant>| at.filter(|_| !told.retransmitted_acked);
        let mut latest = since(told.last_sacked_at.or(original(told.last_acked_at)));
        let mut smoothed = since(original(told.first_acked_at).or(told.first_sacked_at));
        if smoothed.is_none() && told.data_acked {
            let now_ms = now.since_start().as_millis();
            smoothed = self
                .echo_ms
                .map(|echo| Duration::from_millis(now_ms.saturating_sub(echo).max(1)));
            latest = smoothed;
        }
        told.rtt = latest;
        if let Some(smoothed) = smoothed {
            self.rtt.sample_minimum(latest.unwrap_or(smoothed), now);
            self.rtt.sample(smoothed, self.snd_una, self.snd_nxt);
            self.backoff = 0;
        }
    }

    /// The window after an ACK: by the CCA itself, by rate reduction, or by growth
    /// (the kernel's `tcp_cong_control`).
    fn control_window(&mut self, ack: &Ack, told: &Told) {
        if self.congestion.owns_window() {
            self.congestion.window.limits_itself = false;
            self.congestion.cong_control(ack);
            if self.congestion.window.limits_itself {
                self.rate.mark_app_limited(self.board.in_flight());
            }
            return;
        }
        let state = self.congestion.window.state;
        if matches!(state, CaState::Cwr | CaState::Recovery) {
            self.reduce_window(ack.delivered, ack.lost, told.una_advanced);
        } else {
            let may_raise = if self.reordering > loss::INITIAL_REORDERING {
                told.data_acked || told.data_sacked
            } else {
                told.data_acked
            };
            if may_raise && ack.delivered > 0 {
                self.congestion.cong_avoid(ack.delivered);
            }
        }
        self.congestion.update_default_pacing_rate();
    }

    fn set_now(&mut self, now: Instant) {
        self.congestion.window.now = now;
    }

    /// Copies into the shared window what the CCA reads.
    fn refresh_window(&mut self) {
        let cwnd_limited = self.is_cwnd_limited();
        let w = &mut self.congestion.window;
        w.inflight = self.board.in_flight();
        w.delivered = self.rate.delivered;
        w.srtt = self.rtt.srtt();
        w.min_rtt = self.rtt.minimum();
        w.next_departure = self.pacer.next();
        w.snd_una = self.snd_una;
        w.snd_nxt = self.snd_nxt;
        w.app_limited = self.rate.is_app_limited();
        w.cwnd_limited = cwnd_limited;
    }
}
