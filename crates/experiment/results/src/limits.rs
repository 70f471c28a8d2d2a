//! Limits of a sender: the row of a connection with the time under each limit.

use cca::{LimitTimes, SendLimit, SenderInfo};
use units::Duration;

use crate::LimitRow;

/// Times of a sender in slots without capacity, which count as outage instead of the limit that the sender reports.
#[derive(Clone, Debug, Default)]
pub(crate) struct OutageTimes {
    /// Times at the end of the last slot.
    last: LimitTimes,
    /// Time in outages by the limit that the sender reports, ns.
    outage_ns: [i64; SendLimit::COUNT],
    /// Time since the last slot of an outage by limit, ns.
    since_ns: [i64; SendLimit::COUNT],
    /// Time in outages, ns.
    total_ns: i64,
}

/// Limits of which a part is a wait for a time-out.
const TIMEOUTS: [SendLimit; 3] = [
    SendLimit::TimeOut,
    SendLimit::WindowTimeOut,
    SendLimit::BufferTimeOut,
];

/// Returns the times of a sender: those that it reports, else those of the chronographs of Linux.
fn times_of(info: &SenderInfo) -> Option<LimitTimes> {
    let chronographs = || {
        let (window, buffer) = (info.receive_window_limited?, info.send_buffer_limited?);
        let network = info.busy?.saturating_sub(window + buffer);
        Some(LimitTimes::new(|limit| match limit {
            SendLimit::InFlight => network,
            SendLimit::ReceiveWindow => window,
            SendLimit::SendBuffer => buffer,
            _ => Duration::ZERO,
        }))
    };
    info.limits.or_else(chronographs)
}

/// Returns the increase of a time, ns.
fn increase_ns(now: Duration, before: Duration) -> i64 {
    now.as_nanos() as i64 - before.as_nanos() as i64
}

impl OutageTimes {
    /// Ends a slot, which had no capacity if `is_outage`.
    pub(crate) fn end_slot(&mut self, is_outage: bool, info: &SenderInfo) {
        let Some(times) = times_of(info) else { return };
        for limit in SendLimit::BUSY {
            let more_ns = increase_ns(times.get(limit), self.last.get(limit));
            // A full window or send buffer waits for ACKs, which the outage holds back; without data on its way the
            // receiver does not read.
            if is_outage && (limit.is_busy() || info.packets_out > 0) {
                self.outage_ns[limit as usize] += more_ns;
                self.total_ns += more_ns;
                self.since_ns[limit as usize] = 0;
            } else {
                self.since_ns[limit as usize] += more_ns;
            }
        }
        self.last = times;
        self.reassign_timeouts();
    }

    /// Reassigns time in outages to a time-out. A time-out that comes after an outage takes time back from other limits, also
    /// from their time in the outage.
    fn reassign_timeouts(&mut self) {
        let others = SendLimit::BUSY.into_iter();
        for limit in others.filter(|limit| !TIMEOUTS.contains(limit)) {
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
        self.end_slot(false, info);
        let times = times_of(info);
        let seconds_under = |limits: &[SendLimit]| {
            let under = |times: &LimitTimes| {
                let each = limits.iter().map(|limit| {
                    times.get(*limit).as_nanos() as i64 - self.outage_ns[*limit as usize]
                });
                each.sum::<i64>() as f64 * 1e-9
            };
            times.as_ref().map_or(f64::NAN, under)
        };
        // The chronographs of Linux do not distinguish these.
        let apart = |limits: &[SendLimit]| match info.limits {
            Some(_) => seconds_under(limits),
            None => f64::NAN,
        };
        let idle_s = if info.limits.is_some() {
            seconds_under(&[SendLimit::Idle])
        } else {
            let idle = info.busy.map(|busy| duration.saturating_sub(busy));
            idle.map_or(f64::NAN, Duration::as_secs_f64)
        };
        LimitRow {
            flow,
            idle_s,
            in_flight_s: apart(&[SendLimit::InFlight]),
            send_buffer_s: seconds_under(&[SendLimit::SendBuffer, SendLimit::FullBuffer]),
            receive_window_s: seconds_under(&[SendLimit::ReceiveWindow]),
            startup_s: apart(&[SendLimit::StartUp]),
            congestion_window_s: apart(&[SendLimit::CongestionWindow]),
            pacing_s: apart(&[SendLimit::Pacing]),
            recovery_s: apart(&[SendLimit::Recovery]),
            timeout_s: apart(&TIMEOUTS),
            outage_s: times.map_or(f64::NAN, |_| self.total_ns.max(0) as f64 * 1e-9),
        }
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

    /// Data on its way is why a window or the send buffer is full; an application that does not read or write is not.
    #[test]
    fn an_outage_takes_time_from_the_windows_of_both_ends_only_with_data_on_its_way() {
        let row_with = |packets_out| {
            let mut outages = OutageTimes::default();
            let times = [
                (SendLimit::Idle, 40),
                (SendLimit::ReceiveWindow, 30),
                (SendLimit::SendBuffer, 20),
                (SendLimit::Pacing, 10),
            ];
            let end = SenderInfo {
                packets_out,
                ..view(&times)
            };
            outages.end_slot(true, &end);
            let row = outages.row(0, Duration::from_millis(100), &end);
            let windows = [row.receive_window_s, row.send_buffer_s];
            let all = [
                row.idle_s,
                windows[0],
                windows[1],
                row.pacing_s,
                row.outage_s,
            ];
            all.map(|time_s| (1e3 * time_s).round())
        };
        assert_eq!(row_with(0), [40.0, 30.0, 20.0, 0.0, 10.0]);
        assert_eq!(row_with(1), [40.0, 0.0, 0.0, 0.0, 60.0]);
    }

    /// A time-out behind a full window is one, though Linux still counts the window.
    #[test]
    fn a_time_out_behind_a_full_window_is_the_time_outside_of_the_outage() {
        let sent = |times: &[(SendLimit, u64)]| SenderInfo {
            packets_out: 5,
            ..view(times)
        };
        let mut outages = OutageTimes::default();
        outages.end_slot(false, &sent(&[(SendLimit::ReceiveWindow, 100)]));
        outages.end_slot(true, &sent(&[(SendLimit::ReceiveWindow, 300)]));
        let end = sent(&[
            (SendLimit::ReceiveWindow, 100),
            (SendLimit::WindowTimeOut, 500),
        ]);
        outages.end_slot(false, &end);
        let row = outages.row(0, Duration::from_millis(600), &end);
        let times = [
            (row.outage_s, 0.2),
            (row.timeout_s, 0.3),
            (row.receive_window_s, 0.1),
        ];
        assert!(
            times
                .iter()
                .all(|(time, wanted)| (time - wanted).abs() < 1e-9),
            "{row:?}"
        );
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
