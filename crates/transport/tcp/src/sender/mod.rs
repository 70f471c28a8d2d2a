//! Sending half of a connection: outstanding data, loss recovery, and what may be sent next.
//!
//! An ACK is processed in the order of Linux's `tcp_ack`: SACK blocks, cumulative ACK, tail loss probe, loss
//! detection and state, rate sample, window, retransmissions, new data.

mod ack;
mod buffer;
mod chrono;
mod chronograph;
mod cwnd_validation;
mod eln;
mod limited_time;
mod loss;
mod nagle;
mod pacing;
mod prr;
mod rack;
mod rate_sample;
mod reneging;
mod reno;
mod rtt;
mod sack;
mod scoreboard;
mod small_queue;
mod suspension;
mod tcp_info;
mod timers;
mod tlp;
mod transmit;
mod undo;
mod user_timeout;

use std::collections::VecDeque;

use units::{Duration, Instant};

use crate::config::TcpConfig;
pub(crate) use ack::AckInput;
use ack::{AckEffects, Rexmit};
use buffer::SendBuffer;
use cca::{BuiltCca, CongestionState, SendLimit, SwitchMode, TransferState};
use chronograph::Chronograph;
use cwnd_validation::WindowValidation;
pub(crate) use limited_time::Limit;
use limited_time::Limits;
use nagle::Nagle;
pub use nagle::SendFlags;
use pacing::Pacer;
use prr::Prr;
use rack::Rack;
use rate_sample::RateSampler;
use rtt::RttEstimator;
pub(crate) use rtt::rtt_of_echo;
use sack::SackCache;
use scoreboard::Scoreboard;
pub(crate) use small_queue::SLACK;
use small_queue::SmallQueue;
use timers::Timer;
use tlp::LossProbe;
use transmit::Push;
use undo::Undo;

/// Data to be put into a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Outgoing {
    pub(crate) seq: u64,
    /// Payload bytes.
    pub(crate) len: u32,
    pub(crate) fin: bool,
    /// Whether nothing follows for now.
    pub(crate) push: bool,
    /// Whether it was sent before.
    pub(crate) is_retransmission: bool,
    /// Whether more of the same burst follows.
    pub(crate) continues: bool,
    /// Time at which it may leave the host.
    pub(crate) departure: Instant,
}

/// Sending half of a connection.
#[derive(Debug)]
pub(crate) struct Sender {
    config: TcpConfig,
    pub(crate) congestion: CongestionState,
    board: Scoreboard,
    rtt: RttEstimator,
    rate: RateSampler,
    rack: Rack,
    prr: Prr,
    undo: Undo,
    probe: LossProbe,
    timer: Timer,
    pacer: Pacer,
    buffer: SendBuffer,
    device: SmallQueue,
    usage: WindowValidation,
    limits: Limits,
    chronograph: Chronograph,
    sack_cache: SackCache,
    snd_una: u64,
    /// Number from which on data is kept, if acknowledged data may be needed (AS-TCP).
    kept_from: Option<u64>,
    snd_nxt: u64,
    /// End of the data that the application has written.
    write_end: u64,
    fin_queued: bool,
    hold: Nagle,
    /// End of the last segment sent that was not full (`snd_sml`).
    snd_sml: u64,
    snd_wnd: u64,
    /// Sequence number of the segment that set the window (`snd_wl1`).
    window_from: u64,
    /// Largest window that the other end has offered, bytes.
    max_wnd: u64,
    /// Recovery ends when this is acknowledged.
    high_seq: u64,
    /// End of the highest segment that SACK has reported.
    highest_sacked: u64,
    /// Degree of reordering, segments.
    reordering: u32,
    /// Times that reordering was seen.
    reordering_seen: u32,
    /// Segments that D-SACK has reported.
    duplicates_reported: u64,
    /// Consecutive time-outs, and the time of the first one.
    retransmits: u32,
    timing_out_since: Instant,
    backoff: u32,
    /// Window probes without an answer, and the time of the first one.
    probes: u32,
    probing_since: Option<Instant>,
    /// Whether the other end has not answered for too long.
    timed_out: bool,
    /// Time of the first retransmission of this episode, milliseconds.
    retransmission_stamp: Option<u64>,
    f_rto: bool,
    /// Whether CWR has to be sent: the window was reduced.
    cwr_queued: bool,
    /// Our timestamp that the present ACK echoes.
    echo: Option<u32>,
    /// Time of the last ACK.
    rcv_tstamp: Instant,
    last_sent: Instant,
    /// Time since which nothing is sent, because the link is interrupted.
    suspended_since: Option<Instant>,
    /// Whether the latest report of a loss said that it was on the radio.
    radio_loss: bool,
    /// Threshold from before the present recovery, if that reduces nothing.
    eln_prior_ssthresh: Option<u32>,
    pub(crate) counts: Counts,
    pub(crate) latest_rate: units::Rate,
    out: VecDeque<Outgoing>,
}

/// Counters of the sender.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    /// Segments with data (`data_segs_out`).
    pub(crate) segments: u64,
    pub(crate) retransmissions: u64,
    pub(crate) timeouts: u64,
    pub(crate) loss_probes: u64,
    pub(crate) fast_recoveries: u64,
    pub(crate) undone: u64,
}

impl Sender {
    /// Creates a sender whose first data byte is `first`.
    pub(crate) fn new(config: TcpConfig, congestion: CongestionState, first: u64) -> Self {
        let rtt = RttEstimator::new(config.initial_rto, config.settings.min_rto, config.max_rto);
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
            device: SmallQueue::default(),
            buffer: SendBuffer::new(first, config.send_buffer_initial),
            usage: WindowValidation::new(first),
            limits: Limits::new(Limit::Start),
            chronograph: Chronograph::new(SendLimit::NotBegun),
            sack_cache: SackCache::default(),
            snd_una: first,
            kept_from: None,
            snd_nxt: first,
            write_end: first,
            fin_queued: false,
            hold: Nagle::new(config.nagle),
            snd_sml: first,
            snd_wnd: 0,
            window_from: 0,
            max_wnd: 0,
            high_seq: first,
            highest_sacked: first,
            reordering: config.reordering,
            reordering_seen: 0,
            duplicates_reported: 0,
            retransmits: 0,
            timing_out_since: Instant::ZERO,
            backoff: 0,
            probes: 0,
            probing_since: None,
            timed_out: false,
            retransmission_stamp: None,
            f_rto: false,
            cwr_queued: false,
            echo: None,
            rcv_tstamp: Instant::ZERO,
            last_sent: Instant::ZERO,
            suspended_since: None,
            radio_loss: false,
            eln_prior_ssthresh: None,
            counts: Counts::default(),
            latest_rate: units::Rate::ZERO,
            out: VecDeque::with_capacity(64),
            config,
        }
    }

    /// Handles the end of the handshake; `rtt` is that of the SYN or SYN-ACK if it is known. The window is `cautious`
    /// if more than one of them was lost (RFC 5681 §3.1, where Linux allows for one, as its first time-out is shorter).
    pub(crate) fn establish(
        &mut self,
        now: Instant,
        rtt: Option<Duration>,
        window: u64,
        cautious: bool,
    ) {
        self.snd_wnd = window;
        self.max_wnd = window;
        self.set_now(now);
        if let Some(rtt) = rtt {
            self.rtt.sample(rtt, self.snd_una, self.snd_nxt);
            self.rtt.sample_minimum(rtt, now);
        } else {
            self.rtt.fall_back();
        }
        if cautious {
            self.congestion.window.cwnd = self.congestion.window.cwnd.min(1);
        }
        self.usage.touch(now);
        self.last_sent = now;
        // The SYN is the first segment delivered.
        self.rate.delivered = 1;
        self.refresh_window();
        self.congestion.init();
        self.congestion.update_default_pacing_rate();
        self.expand_buffer();
    }

    /// Returns the oldest unacknowledged sequence number.
    pub(crate) fn snd_una(&self) -> u64 {
        self.snd_una
    }

    /// Returns the next sequence number to be sent.
    pub(crate) fn snd_nxt(&self) -> u64 {
        self.snd_nxt
    }

    /// Returns the window that the other end offers, bytes.
    pub(crate) fn snd_wnd(&self) -> u64 {
        self.snd_wnd
    }

    /// Returns the smoothed RTT.
    pub(crate) fn srtt(&self) -> Duration {
        self.rtt.srtt()
    }

    /// Returns the lowest RTT.
    pub(crate) fn min_rtt(&self) -> Duration {
        self.rtt.minimum()
    }

    /// Returns the retransmission time-out with its back-off.
    pub(crate) fn rto(&self) -> Duration {
        (self.rtt.rto() * (1 << self.backoff.min(20))).min(self.config.max_rto)
    }

    /// Returns the segments sent and not acknowledged cumulatively.
    pub(crate) fn packets_out(&self) -> u32 {
        self.board.packets_out()
    }

    /// Returns the segments in the network.
    pub(crate) fn in_flight(&self) -> u32 {
        self.board.in_flight()
    }

    /// Returns the segments delivered.
    pub(crate) fn delivered(&self) -> u64 {
        self.rate.delivered
    }

    /// Returns the segments that D-SACK has reported.
    pub(crate) fn duplicates_reported(&self) -> u64 {
        self.duplicates_reported
    }

    /// Ends the stream after the data written, and sends what may be sent.
    pub(crate) fn finish(&mut self, now: Instant) {
        if !self.fin_queued {
            self.fin_queued = true;
            self.write_end += 1;
            self.chronograph.start(now, SendLimit::InFlight);
            self.transmit_as(now, Push::All);
        }
    }

    /// Returns whether the FIN was sent.
    pub(crate) fn fin_sent(&self) -> bool {
        self.fin_queued && self.snd_nxt == self.write_end
    }

    /// Returns whether everything written, including the FIN, is acknowledged.
    pub(crate) fn all_acked(&self) -> bool {
        self.snd_una == self.write_end
    }

    /// Returns whether CWR must be sent, since the window was reduced (RFC 3168 §6.1.2): true once
    /// for each reduction.
    pub(crate) fn take_window_reduced(&mut self) -> bool {
        core::mem::take(&mut self.cwr_queued)
    }

    /// Returns the next piece of data to put on the wire.
    pub(crate) fn poll(&mut self) -> Option<Outgoing> {
        self.out.pop_front()
    }

    /// Lets another congestion control take over the live connection. A reduction by the previous one can no
    /// longer be undone (Linux `tcp_init_congestion_control` clears `prior_ssthresh`).
    pub(crate) fn switch(
        &mut self,
        now: Instant,
        built: BuiltCca,
        how: SwitchMode,
    ) -> TransferState {
        self.set_now(now);
        self.undo.forget_threshold();
        self.refresh_window();
        self.congestion.switch(built, how)
    }

    fn set_now(&mut self, now: Instant) {
        self.congestion.window.now = now;
    }

    /// Copies the state that the CCA reads into the shared window.
    fn refresh_window(&mut self) {
        let cwnd_limited = self.is_cwnd_limited();
        let w = &mut self.congestion.window;
        w.inflight = self.board.in_flight();
        w.packets_out = self.board.packets_out();
        w.sacked_out = self.board.sacked_out();
        w.delivered = self.rate.delivered;
        w.delivered_at = self.rate.delivered_at();
        w.srtt = self.rtt.srtt();
        w.min_rtt = self.rtt.minimum();
        w.next_departure = self.pacer.next();
        w.last_sent = self.last_sent;
        w.snd_una = self.snd_una;
        w.snd_nxt = self.snd_nxt;
        w.app_limited = self.rate.is_app_limited();
        w.cwnd_limited = cwnd_limited;
    }
}

#[cfg(test)]
mod test_sender;
#[cfg(test)]
mod tests;
