//! What senders have told last.

use cca::CaState;
use recorder::SenderState;
use sidechannel::SenderReport;
use units::{Duration, Instant, Rate};

/// The states of all senders, by the number of the connection.
#[derive(Debug, Default)]
pub(crate) struct Senders {
    known: Vec<Known>,
}

#[derive(Debug, Default)]
struct Known {
    state: SenderState,
    in_slow_start: bool,
}

impl Senders {
    /// The next connection.
    pub(crate) fn add(&mut self) {
        self.known.push(Known::default());
    }

    /// What the sender of `connection` told last.
    pub(crate) fn state(&self, connection: u32) -> SenderState {
        self.known[connection as usize].state
    }

    /// The sender tells; answers its state, `None` for a connection that is not there.
    pub(crate) fn tell(&mut self, now: Instant, report: &SenderReport) -> Option<SenderState> {
        let known = self.known.get_mut(report.connection as usize)?;
        let old = known.state;
        let left = known.in_slow_start && !report.slow_start;
        known.in_slow_start = report.slow_start;
        known.state = SenderState {
            ca_state: ca_state(report.ca_state),
            cwnd: report.cwnd,
            ssthresh: report.ssthresh,
            inflight: report.inflight,
            srtt: Duration::from_micros(report.srtt_us.into()),
            rto: Duration::from_micros(report.rto_us.into()),
            delivery_rate: rate(report.delivery_rate),
            pacing_rate: rate(report.pacing_rate),
            timeouts: report.timeouts.map(u64::from).or(old.timeouts),
            slow_start_exit: old
                .slow_start_exit
                .or_else(|| left.then_some((now, report.cwnd))),
            ..old
        };
        Some(known.state)
    }

    /// Counters of a sender.
    pub(crate) fn count(
        &mut self,
        connection: u32,
        timeouts: u64,
        loss_probes: u64,
        recoveries: u64,
        undone: u64,
    ) {
        if let Some(known) = self.known.get_mut(connection as usize) {
            let state = &mut known.state;
            state.timeouts = state.timeouts.or(Some(timeouts));
            state.loss_probes = Some(loss_probes);
            state.recoveries = Some(recoveries);
            state.undone = Some(undone);
        }
    }
}

/// A rate of Linux, bytes per second, where all ones stand for no limit.
fn rate(bytes_per_second: u64) -> Rate {
    if bytes_per_second == u64::MAX {
        return Rate::ZERO;
    }
    Rate::from_bits_per_second(bytes_per_second.saturating_mul(8))
}

/// `enum tcp_ca_state` of Linux.
fn ca_state(number: u8) -> CaState {
    match number {
        0 => CaState::Open,
        1 => CaState::Disorder,
        2 => CaState::Cwr,
        3 => CaState::Recovery,
        _ => CaState::Loss,
    }
}
