//! Limits: for how long each limit held the sender of a direction back, as far as a capture next to it shows.

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
    /// Silences of the receiver.
    pub(super) wait: f64,
    pub(super) network: f64,
}

/// Times of a sender under each limit, ns.
#[derive(Default, Debug)]
pub(super) struct LimitTimes {
    /// Until the latest packet of the receiver, by [`Limit`].
    times: [u64; 4],
    /// Since then.
    recent: [u64; 4],
    /// Without data in flight since the last data, which counts only if more data follow.
    idle: u64,
    waited: u64,
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

    /// Notes that data follow.
    #[inline]
    pub(super) fn send(&mut self) {
        self.recent[Limit::Idle as usize] += core::mem::take(&mut self.idle);
    }

    /// Notes a packet of the receiver, or the end, after a silence of `silent_ns`: the sender waited for it, whatever
    /// else held it back.
    pub(super) fn answered(&mut self, silent_ns: u64) {
        let mut rest = silent_ns;
        for limit in [Limit::Recovery, Limit::Network, Limit::ReceiveWindow] {
            let part = self.recent[limit as usize].min(rest);
            self.recent[limit as usize] -= part;
            self.waited += part;
            rest -= part;
        }
        for (time, more) in self.times.iter_mut().zip(&mut self.recent) {
            *time += core::mem::take(more);
        }
    }

    /// Returns the shares from the first data until the last of them were acknowledged; `None` without data.
    pub(super) fn shares(&self) -> Option<LimitShares> {
        let of = |limit: Limit| self.times[limit as usize] + self.recent[limit as usize];
        let times = [
            of(Limit::Idle),
            of(Limit::ReceiveWindow),
            of(Limit::Recovery),
            self.waited,
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
        times.answered(0);
        times.add(Limit::Network, 100);
        times.add(Limit::Recovery, 200);
        times.answered(250);
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
        times.answered(0);
        assert_eq!(times.shares().map(|shares| shares.idle), Some(0.0));
        times.send();
        assert_eq!(times.shares().map(|shares| shares.idle), Some(0.75));
    }
}
