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
mod last_ack;
mod limited_time;
mod loss;
mod middlebox_signals;
mod nagle;
mod output;
mod pacing;
mod prr;
mod rack;
mod rate_sample;
mod recovery;
mod reneging;
mod reno;
mod reordering;
mod rtt;
mod sack;
mod scoreboard;
mod send_sequence;
mod small_queue;
mod suspension;
mod tcp_info;
mod timeouts;
mod timers;
mod tlp;
mod transmit;
mod undo;
mod window_probes;

use units::{Duration, Instant};

use crate::config::TcpConfig;
pub(crate) use ack::AckInput;
use ack::{AckEffects, Rexmit};
use buffer::SendBuffer;
use cca::{BuiltCca, CongestionState, SendLimit, SwitchMode, TransferState};
use chronograph::Chronograph;
use cwnd_validation::WindowValidation;
use last_ack::LastAck;
use limited_time::{Limit, Limits};
use middlebox_signals::MiddleboxSignals;
use nagle::Nagle;
pub use nagle::SendFlags;
pub(crate) use output::Outgoing;
use output::Output;
use pacing::Pacer;
use prr::Prr;
use rack::Rack;
use rate_sample::RateSampler;
use recovery::Recovery;
use reordering::Reordering;
use rtt::RttEstimator;
pub(crate) use rtt::rtt_of_echo;
use scoreboard::Scoreboard;
use send_sequence::SendSequence;
pub(crate) use small_queue::FQ_SLACK;
use small_queue::SmallQueue;
use timeouts::Timeouts;
use timers::Timer;
use tlp::LossProbe;
use transmit::Push;
use undo::Undo;
use window_probes::WindowProbes;

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
    tlp: LossProbe,
    timer: Timer,
    pacer: Pacer,
    buffer: SendBuffer,
    small_queue: SmallQueue,
    cwnd_usage: WindowValidation,
    limits: Limits,
    chronograph: Chronograph,
    /// Blocks of the latest ACK, whose ranges are marked already (the kernel's `recv_sack_cache`).
    sack_cache: Vec<(u64, u64)>,
    pub(crate) seq: SendSequence,
    recovery: Recovery,
    reordering: Reordering,
    timeouts: Timeouts,
    window_probes: WindowProbes,
    last_ack: LastAck,
    signals: MiddleboxSignals,
    nagle: Nagle,
    pub(crate) counts: Counts,
    output: Output,
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
            tlp: LossProbe::default(),
            timer: Timer::default(),
            pacer: Pacer::default(),
            small_queue: SmallQueue::default(),
            buffer: SendBuffer::new(first, config.send_buffer_initial),
            cwnd_usage: WindowValidation::new(first),
            limits: Limits::new(Limit::Start),
            chronograph: Chronograph::new(SendLimit::NotBegun),
            sack_cache: Vec::new(),
            seq: SendSequence::new(first),
            recovery: Recovery::new(first),
            reordering: Reordering::new(config.reordering, first),
            timeouts: Timeouts::default(),
            window_probes: WindowProbes::default(),
            last_ack: LastAck::default(),
            signals: MiddleboxSignals::default(),
            nagle: Nagle::new(config.nagle),
            counts: Counts::default(),
            output: Output::new(),
            config,
        }
    }

    /// Handles the end of the handshake; `rtt` is that of the SYN or SYN-ACK if known, and `window` that of the peer. If
    /// `handshake_lost`, cwnd is 1 (RFC 5681 §3.1; Linux tolerates one loss, since its first time-out is shorter).
    pub(crate) fn establish(
        &mut self,
        now: Instant,
        rtt: Option<Duration>,
        window: u64,
        handshake_lost: bool,
    ) {
        self.seq.set_first_window(window);
        self.set_now(now);
        if let Some(rtt) = rtt {
            self.rtt.sample(rtt, self.seq.snd_una, self.seq.snd_nxt);
            self.rtt.sample_min_rtt(rtt, now);
        } else {
            self.rtt.set_fallback_rto();
        }
        if handshake_lost {
            self.congestion.window.cwnd = self.congestion.window.cwnd.min(1);
        }
        self.cwnd_usage.touch(now);
        self.output.lsndtime = now;
        // The SYN is the first segment delivered.
        self.rate.delivered = 1;
        self.refresh_window();
        self.congestion.init();
        self.congestion.update_default_pacing_rate();
        self.expand_buffer();
    }

    /// Returns the retransmission time-out with its back-off.
    pub(crate) fn rto(&self) -> Duration {
        self.timeouts.backed_off(self.rtt.rto, self.config.max_rto)
    }

    /// Returns the segments in the network.
    pub(crate) fn in_flight(&self) -> u32 {
        self.board.in_flight()
    }

    /// Returns the segments delivered.
    pub(crate) fn delivered(&self) -> u64 {
        self.rate.delivered
    }

    /// Ends the stream after the data written, and sends what may be sent.
    pub(crate) fn finish(&mut self, now: Instant) {
        if self.seq.queue_fin() {
            self.chronograph.start(now, SendLimit::InFlight);
            self.transmit_as(now, Push::All);
        }
    }

    /// Returns whether CWR must be sent: true once for each reduction of the window.
    pub(crate) fn take_cwr(&mut self) -> bool {
        self.recovery.take_cwr()
    }

    /// Returns the next data to put into a segment.
    pub(crate) fn poll(&mut self) -> Option<Outgoing> {
        self.output.queue.pop_front()
    }

    /// Switches the congestion control of the live connection. A reduction by the previous one cannot be undone any more
    /// (Linux `tcp_init_congestion_control` clears `prior_ssthresh`).
    pub(crate) fn switch(
        &mut self,
        now: Instant,
        built: BuiltCca,
        mode: SwitchMode,
    ) -> TransferState {
        self.set_now(now);
        self.undo.forget_prior_ssthresh();
        self.refresh_window();
        self.congestion.switch(built, mode)
    }

    fn set_now(&mut self, now: Instant) {
        self.congestion.window.now = now;
    }

    /// Updates the state that the CCA reads.
    fn refresh_window(&mut self) {
        let cwnd_limited = self.is_cwnd_limited();
        let w = &mut self.congestion.window;
        w.inflight = self.board.in_flight();
        w.packets_out = self.board.packets_out();
        w.sacked_out = self.board.sacked_out;
        w.delivered = self.rate.delivered;
        w.delivered_at = self.rate.delivered_at;
        w.srtt = self.rtt.srtt;
        w.min_rtt = self.rtt.min_rtt;
        w.next_departure = self.pacer.next;
        w.last_sent = self.output.lsndtime;
        w.snd_una = self.seq.snd_una;
        w.snd_nxt = self.seq.snd_nxt;
        w.app_limited = self.rate.is_app_limited();
        w.cwnd_limited = cwnd_limited;
    }
}

#[cfg(test)]
mod test_sender;
#[cfg(test)]
mod tests;
