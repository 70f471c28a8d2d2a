//! Standard protocol: reports and requests of TS 36.321 clauses 5.4.4 and 5.4.5.

use super::{
    Expiry, GRANT_TO_TRANSMISSION, NEVER, Reason, Report, RequestConfig, SchedulingRequest, Signal,
    Timers, Transmission, reported_bytes,
};
use crate::mac::subheader;
use crate::settings::Technology;

/// Reporting side of a UE with one logical channel group, which reports by levels.
#[derive(Clone, Debug)]
pub struct Ts36321 {
    technology: Technology,
    timers: Timers,
    /// Whether a grant that leaves data and completes the reported bytes carries a regular report (kim2016-thesis).
    is_enhanced: bool,
    request: SchedulingRequest,
    pub(super) buffered: u64,
    /// Whether a regular report is triggered and not cancelled.
    has_regular: bool,
    /// The same for a periodic report.
    has_periodic: bool,
    expiry: Expiry,
    /// Bytes that the eNB read in the last report.
    reported: u64,
    /// Bytes granted since the last report.
    granted: u64,
}

impl Ts36321 {
    /// Returns a UE with an empty buffer.
    pub fn new(
        technology: Technology,
        timers: Timers,
        is_enhanced: bool,
        request: RequestConfig,
    ) -> Self {
        Self {
            technology,
            timers,
            is_enhanced,
            request: SchedulingRequest::new(request),
            buffered: 0,
            has_regular: false,
            has_periodic: false,
            expiry: Expiry::STOPPED,
            reported: 0,
            granted: 0,
        }
    }

    pub(super) fn awaits_grant(&self) -> bool {
        self.request.awaits_grant()
    }

    /// Sets the bytes waiting. Data for an empty buffer triggers a regular report.
    pub(super) fn set_buffered(&mut self, bytes: u64) {
        self.has_regular |= self.buffered == 0 && bytes > 0;
        self.buffered = bytes;
    }

    pub(super) fn poll(&mut self, subframe: u64) -> Option<Signal> {
        if subframe >= self.expiry.retransmission {
            self.expiry.retransmission = NEVER;
            self.has_regular |= self.buffered > 0;
        }
        if subframe >= self.expiry.periodic {
            self.expiry.periodic = NEVER;
            self.has_periodic = true;
        }
        // Only a regular report asks for resources.
        if self.has_regular {
            self.request.trigger();
        }
        self.request.poll(subframe)
    }

    fn cancel(&mut self) {
        self.has_regular = false;
        self.has_periodic = false;
        self.request.cancel();
    }

    fn report(&mut self, at: u64, reason: Reason) -> Report {
        self.cancel();
        self.expiry = Expiry::started(self.timers, at);
        self.reported = reported_bytes(self.technology, self.buffered);
        self.granted = 0;
        Report {
            bytes: self.reported,
            reason,
        }
    }

    pub(super) fn grant(&mut self, subframe: u64, bytes: u64) -> Transmission {
        let at = subframe + GRANT_TO_TRANSMISSION;
        // Only a running timer can be restarted (clause 3.1).
        if self.expiry.retransmission != NEVER {
            self.expiry.retransmission = subframe + self.timers.retransmission;
        }
        self.granted += bytes;
        let last_subheader = u64::from(subheader::bytes(0, true));
        let report_bytes = u64::from(subheader::SHORT_BSR);
        let fits = self.buffered + last_subheader <= bytes;
        let fits_with_report = self.buffered + last_subheader + report_bytes <= bytes;
        if self.is_enhanced && !fits && self.granted >= self.reported {
            self.has_regular = true;
        }
        if fits && !fits_with_report && self.buffered > 0 {
            self.cancel();
        }
        let reason = match (self.has_regular, self.has_periodic) {
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
