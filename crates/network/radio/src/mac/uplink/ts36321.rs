//! Standard protocol: reports and requests of TS 36.321 clauses 5.4.4 and 5.4.5.

use super::{
    Expiry, GRANT_TO_TRANSMISSION, NEVER, Reason, Report, RequestConfig, SchedulingRequest, Signal,
    Timers, Transmission, reported,
};
use crate::mac::subheader;
use crate::settings::Technology;

/// UE with one logical channel group, which reports by levels.
#[derive(Clone, Debug)]
pub struct Standard {
    technology: Technology,
    timers: Timers,
    enhanced: bool,
    requester: SchedulingRequest,
    buffered: u64,
    /// Reports triggered and not cancelled.
    regular: bool,
    periodic: bool,
    expiry: Expiry,
    /// Bytes that the eNB took from the last report.
    reported: u64,
    /// Grants since the last report.
    granted: u64,
}

impl Standard {
    /// Returns a UE with an empty buffer.
    pub fn new(
        technology: Technology,
        timers: Timers,
        enhanced: bool,
        request: RequestConfig,
    ) -> Self {
        Self {
            technology,
            timers,
            enhanced,
            requester: SchedulingRequest::new(request),
            buffered: 0,
            regular: false,
            periodic: false,
            expiry: Expiry::STOPPED,
            reported: 0,
            granted: 0,
        }
    }

    pub(super) fn buffered(&self) -> u64 {
        self.buffered
    }

    pub(super) fn awaits_grant(&self) -> bool {
        self.requester.awaits_grant()
    }

    /// Sets the bytes waiting. Data for an empty buffer triggers a regular report.
    pub(super) fn set_buffered(&mut self, bytes: u64) {
        self.regular |= self.buffered == 0 && bytes > 0;
        self.buffered = bytes;
    }

    pub(super) fn poll(&mut self, subframe: u64) -> Option<Signal> {
        if subframe >= self.expiry.retransmission {
            self.expiry.retransmission = NEVER;
            self.regular |= self.buffered > 0;
        }
        if subframe >= self.expiry.periodic {
            self.expiry.periodic = NEVER;
            self.periodic = true;
        }
        // Only a regular report asks for resources.
        if self.regular {
            self.requester.trigger();
        }
        self.requester.poll(subframe)
    }

    fn cancel(&mut self) {
        self.regular = false;
        self.periodic = false;
        self.requester.cancel();
    }

    fn report(&mut self, at: u64, reason: Reason) -> Report {
        self.cancel();
        self.expiry = Expiry::started(self.timers, at);
        self.reported = reported(self.technology, self.buffered);
        self.granted = 0;
        Report {
            bytes: self.reported,
            reason,
        }
    }

    pub(super) fn grant(&mut self, subframe: u64, bytes: u64) -> Transmission {
        let at = subframe + GRANT_TO_TRANSMISSION;
        // "Restart" is for a timer that runs (clause 3.1).
        if self.expiry.retransmission != NEVER {
            self.expiry.retransmission = subframe + self.timers.retransmission;
        }
        self.granted += bytes;
        let last_subheader = u64::from(subheader::bytes(0, true));
        let report_bytes = u64::from(subheader::SHORT_BSR);
        let fits = self.buffered + last_subheader <= bytes;
        let fits_with_report = self.buffered + last_subheader + report_bytes <= bytes;
        if self.enhanced && !fits && self.granted >= self.reported {
            self.regular = true;
        }
        if fits && !fits_with_report && self.buffered > 0 {
            self.cancel();
        }
        let reason = match (self.regular, self.periodic) {
            (true, _) => Some(Reason::Regular),
            (false, true) => Some(Reason::Periodic),
            (false, false) => None,
        };
        let reason = reason.filter(|_| bytes >= report_bytes);
        let used_bytes = last_subheader + if reason.is_some() { report_bytes } else { 0 };
        let data = self.buffered.min(bytes.saturating_sub(used_bytes));
        self.buffered -= data;
        let reason = reason.or_else(|| {
            // With padding the subheader of the data is no longer the last one and has a length.
            let subheader = match data {
                0 => 0,
                data => u64::from(subheader::bytes(data as u32, false)),
            };
            (data + subheader + report_bytes <= bytes).then_some(Reason::Padding)
        });
        let report = reason.map(|reason| self.report(at, reason));
        Transmission { at, data, report }
    }
}
