//! Limits of a sender: the row of a connection with the time under each limit.

use cca::{LimitTimes, SendLimit, SenderInfo};
use units::Duration;

use crate::LimitRow;

/// Times of a sender in slots without capacity, which count as outage instead of the limit that the sender reports.
#[derive(Clone, Debug, Default)]
pub(crate) struct OutageTimes {
    /// Times at the end of the last slot.
    last: LimitTimes,
    /// Time with data and room in both windows at the end of the last slot, of a sender that does not report its limits.
    last_network: Option<Duration>,
    /// Time in outages by the limit that the sender reports, ns.
    outage_ns: [i64; SendLimit::COUNT],
    /// Time since the last slot of an outage by limit, ns.
    since_ns: [i64; SendLimit::COUNT],
    /// Time in outages, ns.
    total_ns: i64,
}

/// Returns the limits that an outage takes precedence over.
fn network_limits() -> impl Iterator<Item = SendLimit> {
    SendLimit::BUSY.into_iter().filter(|limit| limit.is_busy())
}

/// Returns the time in which a sender had data, and room for it in the windows of both ends.
fn network_time(info: &SenderInfo) -> Option<Duration> {
    let windows = info.receive_window_limited? + info.send_buffer_limited?;
    Some(info.busy?.saturating_sub(windows))
}

/// Returns the increase of a time, ns.
fn increase_ns(now: Duration, before: Duration) -> i64 {
    now.as_nanos() as i64 - before.as_nanos() as i64
}

impl OutageTimes {
    /// Ends a slot, which had no capacity if `is_outage`.
    pub(crate) fn end_slot(&mut self, is_outage: bool, info: &SenderInfo) {
        if let Some(times) = info.limits {
            for limit in network_limits() {
                let more_ns = increase_ns(times.get(limit), self.last.get(limit));
                if is_outage {
                    self.outage_ns[limit as usize] += more_ns;
                    self.total_ns += more_ns;
                    self.since_ns[limit as usize] = 0;
                } else {
                    self.since_ns[limit as usize] += more_ns;
                }
            }
            self.last = times;
            self.reassign_timeouts();
        } else {
            let now = network_time(info);
            if is_outage && let Some((now, before)) = now.zip(self.last_network) {
                self.total_ns += increase_ns(now, before);
            }
            self.last_network = now;
        }
    }

    /// Reassigns time in outages to a time-out. A time-out that comes after an outage takes time back from other limits, also
    /// from their time in the outage.
    fn reassign_timeouts(&mut self) {
        for limit in network_limits().filter(|limit| *limit != SendLimit::TimeOut) {
            let (since_ns, outage_ns) = (
                &mut self.since_ns[limit as usize],
                &mut self.outage_ns[limit as usize],
            );
            // More than the time in the outage was taken back from the time before it.
            let moved_ns = (-*since_ns).clamp(0, (*outage_ns).max(0));
            *since_ns = (*since_ns).max(0);
            *outage_ns -= moved_ns;
            self.outage_ns[SendLimit::TimeOut as usize] += moved_ns;
        }
    }

    /// Returns the row of connection `flow`, whose data took `duration`; `info` is the state of its sender at the end of it.
    pub(crate) fn row(&mut self, flow: u32, duration: Duration, info: &SenderInfo) -> LimitRow {
        let seconds = |time: Option<Duration>| time.map_or(f64::NAN, Duration::as_secs_f64);
        let Some(times) = info.limits else {
            let idle = info.busy.map(|busy| duration.saturating_sub(busy));
            let outage =
                network_time(info).map(|_| Duration::from_nanos(self.total_ns.max(0) as u64));
            return LimitRow {
                flow,
                idle_s: seconds(idle),
                in_flight_s: f64::NAN,
                send_buffer_s: seconds(info.send_buffer_limited),
                receive_window_s: seconds(info.receive_window_limited),
                startup_s: f64::NAN,
                congestion_window_s: f64::NAN,
                pacing_s: f64::NAN,
                recovery_s: f64::NAN,
                timeout_s: f64::NAN,
                outage_s: seconds(outage),
            };
        };
        self.end_slot(false, info);
        let times_ns = self.without_outages(&times);
        let seconds_under = |limit: SendLimit| times_ns[limit as usize] as f64 * 1e-9;
        LimitRow {
            flow,
            idle_s: seconds_under(SendLimit::Idle),
            in_flight_s: seconds_under(SendLimit::InFlight),
            send_buffer_s: seconds_under(SendLimit::SendBuffer)
                + seconds_under(SendLimit::FullBuffer),
            receive_window_s: seconds_under(SendLimit::ReceiveWindow),
            startup_s: seconds_under(SendLimit::StartUp),
            congestion_window_s: seconds_under(SendLimit::CongestionWindow),
            pacing_s: seconds_under(SendLimit::Pacing),
            recovery_s: seconds_under(SendLimit::Recovery),
            timeout_s: seconds_under(SendLimit::TimeOut),
            outage_s: self.total_ns as f64 * 1e-9,
        }
    }

    /// Returns the times outside of outages, ns.
    fn without_outages(&self, times: &LimitTimes) -> [i64; SendLimit::COUNT] {
        let mut times_ns = self.outage_ns.map(|outage| -outage);
        for limit in core::iter::once(SendLimit::Idle).chain(SendLimit::BUSY) {
            times_ns[limit as usize] += times.get(limit).as_nanos() as i64;
        }
        times_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn view(times: &[(SendLimit, u64)]) -> SenderInfo {
        let time = |limit| {
            let ms = times.iter().find(|(each, _)| *each == limit);
            Duration::from_millis(ms.map_or(0, |(_, ms)| *ms))
        };
        SenderInfo {
            limits: Some(LimitTimes::new(time)),
            ..SenderInfo::default()
        }
    }

    fn total(row: &LimitRow) -> f64 {
        row.idle_s
            + row.in_flight_s
            + row.send_buffer_s
            + row.receive_window_s
            + row.startup_s
            + row.congestion_window_s
            + row.pacing_s
            + row.recovery_s
            + row.timeout_s
            + row.outage_s
    }

    /// An outage of two slots, after which a time-out takes back the 260 ms since the last ACK, 10 ms before it.
    #[test]
    fn a_time_out_around_an_outage_has_only_the_time_outside_of_it() {
        let mut outages = OutageTimes::default();
        outages.end_slot(false, &view(&[(SendLimit::CongestionWindow, 100)]));
        outages.end_slot(true, &view(&[(SendLimit::CongestionWindow, 200)]));
        outages.end_slot(true, &view(&[(SendLimit::CongestionWindow, 300)]));
        let end = view(&[
            (SendLimit::CongestionWindow, 90),
            (SendLimit::TimeOut, 260),
            (SendLimit::Recovery, 50),
        ]);
        outages.end_slot(false, &end);
        let row = outages.row(0, Duration::from_millis(400), &end);
        let near = |value: f64, wanted: f64| (value - wanted).abs() < 1e-9;
        assert!(
            near(row.outage_s, 0.2) && near(row.timeout_s, 0.06),
            "{row:?}"
        );
        assert!(near(row.congestion_window_s, 0.09) && near(row.recovery_s, 0.05));
        assert!(near(total(&row), 0.4));
    }

    /// A time-out 0.1 s after an outage includes the 0.3 s of recovery before it, of which 0.2 s were in the outage. The
    /// 0.4 s of recovery after it do not belong to the outage.
    #[test]
    fn a_time_out_takes_no_time_of_a_recovery_that_follows_it() {
        let mut outages = OutageTimes::default();
        let (recovery, time_out) = (SendLimit::Recovery, SendLimit::TimeOut);
        outages.end_slot(true, &view(&[(recovery, 100)]));
        outages.end_slot(true, &view(&[(recovery, 200)]));
        outages.end_slot(false, &view(&[(time_out, 300)]));
        for ms in [100, 200, 300, 400] {
            outages.end_slot(false, &view(&[(time_out, 300), (recovery, ms)]));
        }
        let end = view(&[(time_out, 300), (recovery, 400)]);
        let row = outages.row(0, Duration::from_millis(700), &end);
        let times = [
            (row.outage_s, 0.2),
            (row.timeout_s, 0.1),
            (row.recovery_s, 0.4),
        ];
        assert!(
            times
                .iter()
                .all(|(time, wanted)| (time - wanted).abs() < 1e-9),
            "{row:?}"
        );
    }

    #[test]
    fn an_outage_takes_no_time_from_the_application_or_from_windows_of_ends() {
        let mut outages = OutageTimes::default();
        let end = view(&[
            (SendLimit::Idle, 40),
            (SendLimit::ReceiveWindow, 30),
            (SendLimit::SendBuffer, 20),
            (SendLimit::Pacing, 10),
        ]);
        outages.end_slot(true, &end);
        let row = outages.row(0, Duration::from_millis(100), &end);
        assert!((row.idle_s - 0.04).abs() < 1e-9 && (row.outage_s - 0.01).abs() < 1e-9);
        assert!(row.pacing_s.abs() < 1e-9);
        assert!((row.receive_window_s - 0.03).abs() < 1e-9);
        assert!((row.send_buffer_s - 0.02).abs() < 1e-9);
    }

    /// A kernel has three chronographs: only their times are known.
    #[test]
    fn a_sender_with_the_chronographs_of_linux_alone_shows_what_they_say() {
        let ms = |ms| Some(Duration::from_millis(ms));
        let at = |busy| SenderInfo {
            busy: ms(busy),
            receive_window_limited: ms(50),
            send_buffer_limited: ms(0),
            ..SenderInfo::default()
        };
        let mut outages = OutageTimes::default();
        outages.end_slot(false, &at(100));
        outages.end_slot(true, &at(180));
        let row = outages.row(0, Duration::from_millis(200), &at(180));
        assert_eq!(
            (row.idle_s, row.receive_window_s, row.outage_s),
            (0.02, 0.05, 0.08)
        );
        assert!(row.pacing_s.is_nan() && row.in_flight_s.is_nan());
    }
}
