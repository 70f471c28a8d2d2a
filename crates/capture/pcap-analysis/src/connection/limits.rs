//! Limits of a sender: the time under each, as far as a capture next to the sender shows it.

/// Limit of a sender at one moment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Limit {
    /// Nothing is in flight: the application has no more to send.
    Idle,
    /// The window that the receiver offers is full or closed.
    ReceiveWindow,
    /// Lost segments wait for their repair.
    Recovery,
    /// None of these: the congestion window, pacing or the send buffer.
    Network,
}

/// Shares of a sender's time under each limit, which add up to 1.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct LimitShares {
    pub(super) idle: f64,
    pub(super) receive_window: f64,
    pub(super) recovery: f64,
    /// Stalls: silences of the receiver.
    pub(super) wait: f64,
    pub(super) network: f64,
}

/// Times of a sender under each limit, ns.
#[derive(Default, Debug)]
pub(super) struct LimitTimes {
    /// Times up to the latest packet of the receiver, by [`Limit`].
    times: [u64; 4],
    /// Times since that packet, by [`Limit`].
    recent: [u64; 4],
    /// Time without data in flight since the last data, which counts only if more data follow.
    idle: u64,
    /// Time in stalls.
    stalled: u64,
}

impl LimitTimes {
    /// Adds a time under a limit.
    #[inline]
    pub(super) fn add(&mut self, limit: Limit, ns: u64) {
        match limit {
            Limit::Idle => self.idle += ns,
            limit => self.recent[limit as usize] += ns,
        }
    }

    /// Counts the idle time before new data.
    #[inline]
    pub(super) fn on_data(&mut self) {
        self.recent[Limit::Idle as usize] += core::mem::take(&mut self.idle);
    }

    /// Processes a packet of the receiver, or the end, after a silence of `silent_ns`. The silence counts as a stall, and
    /// not as any other limit.
    pub(super) fn on_answer(&mut self, silent_ns: u64) {
        let mut unassigned_ns = silent_ns;
        for limit in [Limit::Recovery, Limit::Network, Limit::ReceiveWindow] {
            let part = self.recent[limit as usize].min(unassigned_ns);
            self.recent[limit as usize] -= part;
            self.stalled += part;
            unassigned_ns -= part;
        }
        for (time, recent) in self.times.iter_mut().zip(&mut self.recent) {
            *time += core::mem::take(recent);
        }
    }

    /// Returns the shares from the first data until the last of them were acknowledged; `None` without data.
    pub(super) fn shares(&self) -> Option<LimitShares> {
        let of = |limit: Limit| self.times[limit as usize] + self.recent[limit as usize];
        let times = [
            of(Limit::Idle),
            of(Limit::ReceiveWindow),
            of(Limit::Recovery),
            self.stalled,
            of(Limit::Network),
        ];
        let whole: u64 = times.iter().sum();
        let [idle, receive_window, recovery, wait, network] =
            times.map(|time| time as f64 / whole as f64);
        (whole > 0).then_some(LimitShares {
            idle,
            receive_window,
            recovery,
            wait,
            network,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_silence_takes_the_time_of_what_else_held_the_sender_back() {
        let mut times = LimitTimes::default();
        times.add(Limit::Network, 300);
        times.on_answer(0);
        times.add(Limit::Network, 100);
        times.add(Limit::Recovery, 200);
        times.on_answer(250);
        let shares = times.shares().expect("there were data");
        let all = [shares.idle, shares.receive_window, shares.recovery];
        assert_eq!(all, [0.0; 3]);
        assert_eq!(
            (shares.wait, shares.network),
            (250.0 / 600.0, 350.0 / 600.0)
        );
    }

    #[test]
    fn a_pause_counts_if_data_follow() {
        let mut times = LimitTimes::default();
        assert_eq!(times.shares(), None);
        times.add(Limit::ReceiveWindow, 50);
        times.add(Limit::Idle, 150);
        times.on_answer(0);
        assert_eq!(times.shares().map(|shares| shares.idle), Some(0.0));
        times.on_data();
        assert_eq!(times.shares().map(|shares| shares.idle), Some(0.75));
    }
}
