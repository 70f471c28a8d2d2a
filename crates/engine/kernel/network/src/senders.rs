//! Senders: the latest state of the sender of each connection.

use cca::SenderInfo;
use units::Instant;

/// The latest state of each sender, by the number of its connection; `None` before the first one.
#[derive(Debug, Default)]
pub(crate) struct Senders(Vec<Option<SenderInfo>>);

impl Senders {
    /// Adds the next connection.
    pub(crate) fn add(&mut self) {
        self.0.push(None);
    }

    /// Returns the latest state of the sender of `connection`.
    pub(crate) fn info(&self, connection: u32) -> Option<SenderInfo> {
        self.0[connection as usize]
    }

    /// Completes the state of a sender by earlier ones; returns `None` for an unknown connection.
    pub(crate) fn complete(
        &mut self,
        now: Instant,
        connection: u32,
        info: SenderInfo,
    ) -> Option<SenderInfo> {
        let latest = self.0.get_mut(connection as usize)?;
        let previous = latest.unwrap_or_default();
        let has_left_slow_start = previous.slow_start && !info.slow_start;
        *latest = Some(SenderInfo {
            timeouts: info.timeouts.or(previous.timeouts),
            slow_start_exit: previous
                .slow_start_exit
                .or_else(|| has_left_slow_start.then_some((now, info.cwnd))),
            loss_probes: previous.loss_probes,
            fast_recoveries: previous.fast_recoveries,
            undone: previous.undone,
            ..info
        });
        *latest
    }

    /// Returns the state of a sender, to set its counters.
    pub(crate) fn info_mut(&mut self, connection: u32) -> Option<&mut SenderInfo> {
        let latest = self.0.get_mut(connection as usize)?;
        Some(latest.get_or_insert_default())
    }
}
