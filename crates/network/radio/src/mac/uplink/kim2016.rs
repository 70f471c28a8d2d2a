//! Protocol of Kim 2016: reports of kim2016-thesis, figures 5 (default) and 8 (enhanced).

use super::{Expiry, GRANT_TO_TRANSMISSION, Reason, Report, Signal, Timers, Transmission};

/// Size of a report in the examples of the thesis, bytes.
const REPORT_BYTES: u64 = 10;

/// UE that reports exact byte counts.
#[derive(Clone, Debug)]
pub struct Kim2016 {
    timers: Timers,
    /// Whether the grant that completes the reported bytes carries a regular report (figure 8).
    is_enhanced: bool,
    pub(super) buffered: u64,
    /// Whether data has arrived at an empty buffer and was not reported yet.
    is_report_due: bool,
    expiry: Expiry,
    /// Bytes in the last report.
    reported: u64,
    /// Bytes granted since the last report.
    granted: u64,
}

impl Kim2016 {
    /// Returns a UE with an empty buffer.
    pub fn new(timers: Timers, is_enhanced: bool) -> Self {
        Self {
            timers,
            is_enhanced,
            buffered: 0,
            is_report_due: false,
            expiry: Expiry::STOPPED,
            reported: 0,
            granted: 0,
        }
    }

    pub(super) fn set_buffered(&mut self, bytes: u64) {
        self.is_report_due = bytes > 0 && (self.is_report_due || self.buffered == 0);
        self.buffered = bytes;
        if bytes == 0 {
            self.expiry = Expiry::STOPPED;
        }
    }

    /// Step 2: sends the regular report in the subframe after data arrived or retxBSR-Timer expired.
    pub(super) fn poll(&mut self, subframe: u64) -> Option<Signal> {
        if !self.is_report_due && subframe <= self.expiry.retransmission {
            return None;
        }
        Some(Signal::Report(self.report(
            subframe,
            self.buffered,
            Reason::Regular,
        )))
    }

    fn report(&mut self, at: u64, bytes: u64, reason: Reason) -> Report {
        self.is_report_due = false;
        self.expiry = Expiry::started(self.timers, at);
        self.reported = bytes;
        self.granted = 0;
        Report { bytes, reason }
    }

    /// Steps 4 to 9: uses a grant. A grant no larger than a report carries data only.
    pub(super) fn grant(&mut self, subframe: u64, bytes: u64) -> Transmission {
        let at = subframe + GRANT_TO_TRANSMISSION;
        if self.buffered <= bytes {
            let data = self.buffered;
            self.set_buffered(0);
            return Transmission {
                at,
                data,
                report: None,
            };
        }
        self.granted += bytes;
        let reason = if subframe >= self.expiry.periodic {
            Some(Reason::Periodic)
        } else if self.is_enhanced && self.granted >= self.reported {
            Some(Reason::Regular)
        } else {
            None
        };
        let reason = reason.filter(|_| bytes > REPORT_BYTES);
        let data = if reason.is_some() {
            bytes - REPORT_BYTES
        } else {
            bytes
        };
        self.buffered -= data;
        let report = reason.map(|reason| self.report(at, self.buffered, reason));
        Transmission { at, data, report }
    }
}
