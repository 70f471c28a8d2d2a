//! Limits of a sender: the row of a connection with the time under each limit.

use cca::{LimitTimes, SendLimit, SenderInfo};
use units::Duration;

use crate::LimitRow;

/// Times of a sender in slots without capacity, which count as outage and not under the limit that the sender sees.
#[derive(Clone, Debug, Default)]
pub(crate) struct OutageTimes {
    /// Times at the end of the last slot.
    last: LimitTimes,
    /// Time with data and room at the end of the last slot; of a sender whose limits are not known.
    last_network: Option<Duration>,
    /// Time in outages under each limit, ns.
    under: [i64; SendLimit::COUNT],
    /// Time under each limit since the last slot of an outage, ns.
    since: [i64; SendLimit::COUNT],
    total: i64,
}

/// Returns the limits that an outage takes precedence over.
fn network_limits() -> impl Iterator<Item = SendLimit> {
    SendLimit::BUSY.into_iter().filter(|limit| limit.is_busy())
}

/// Returns the time in which a sender had data, and room for it in the windows of both ends.
fn network_time(view: &SenderInfo) -> Option<Duration> {
    let windows = view.receive_window_limited? + view.send_buffer_limited?;
    Some(view.busy?.saturating_sub(windows))
}

/// Returns how much longer a time is than an earlier one, ns.
fn gain(now: Duration, before: Duration) -> i64 {
    now.as_nanos() as i64 - before.as_nanos() as i64
}

impl OutageTimes {
    /// Ends a slot, which had no capacity if `outage`.
    pub(crate) fn end_slot(&mut self, outage: bool, view: &SenderInfo) {
        if let Some(times) = view.limits {
            for limit in network_limits() {
                let more = gain(times.get(limit), self.last.get(limit));
                if outage {
                    self.under[limit as usize] += more;
                    self.total += more;
                    self.since[limit as usize] = 0;
                } else {
                    self.since[limit as usize] += more;
                }
            }
            self.last = times;
            self.return_time();
        } else {
            let now = network_time(view);
            if outage && let Some((now, before)) = now.zip(self.last_network) {
                self.total += gain(now, before);
            }
            self.last_network = now;
        }
    }

    /// Moves time that a time-out after the outage has counted under other limits to the time-out in the outage.
    fn return_time(&mut self) {
        for limit in network_limits().filter(|limit| *limit != SendLimit::TimeOut) {
            let (since, under) = (
                &mut self.since[limit as usize],
                &mut self.under[limit as usize],
            );
            // The receiver read the rest before the outage.
            let borrowed = (-*since).clamp(0, (*under).max(0));
            *since = (*since).max(0);
            *under -= borrowed;
            self.under[SendLimit::TimeOut as usize] += borrowed;
        }
    }

    /// Returns the row of connection `flow`, whose data took `duration`; `view` shows its sender at the end of it.
    pub(crate) fn row(&mut self, flow: u32, duration: Duration, view: &SenderInfo) -> LimitRow {
        let seconds = |time: Option<Duration>| time.map_or(f64::NAN, Duration::as_secs_f64);
        let Some(times) = view.limits else {
            let idle = view.busy.map(|busy| duration.saturating_sub(busy));
            let outage = network_time(view).map(|_| Duration::from_nanos(self.total.max(0) as u64));
            return LimitRow {
                flow,
                idle_s: seconds(idle),
                in_flight_s: f64::NAN,
                send_buffer_s: seconds(view.send_buffer_limited),
                receive_window_s: seconds(view.receive_window_limited),
                startup_s: f64::NAN,
                congestion_window_s: f64::NAN,
                pacing_s: f64::NAN,
                recovery_s: f64::NAN,
                timeout_s: f64::NAN,
                outage_s: seconds(outage),
            };
        };
        self.end_slot(false, view);
        let rest = self.without_outages(&times);
        let of = |limit: SendLimit| rest[limit as usize] as f64 * 1e-9;
        LimitRow {
            flow,
            idle_s: of(SendLimit::Idle),
            in_flight_s: of(SendLimit::InFlight),
            send_buffer_s: of(SendLimit::SendBuffer) + of(SendLimit::FullBuffer),
            receive_window_s: of(SendLimit::ReceiveWindow),
            startup_s: of(SendLimit::StartUp),
            congestion_window_s: of(SendLimit::CongestionWindow),
            pacing_s: of(SendLimit::Pacing),
            recovery_s: of(SendLimit::Recovery),
            timeout_s: of(SendLimit::TimeOut),
            outage_s: self.total as f64 * 1e-9,
        }
    }

    /// Returns the times outside of outages, ns.
    fn without_outages(&self, times: &LimitTimes) -> [i64; SendLimit::COUNT] {
        let mut rest = self.under.map(|outage| -outage);
        for limit in core::iter::once(SendLimit::Idle).chain(SendLimit::BUSY) {
            rest[limit as usize] += times.get(limit).as_nanos() as i64;
        }
        rest
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
