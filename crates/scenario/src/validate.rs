//! Validation of a scenario across its sections.

mod kernel;
mod links;
mod middleboxes;
mod rows;
mod traffic;

pub(crate) use config::{Wrong, positive, refuse, within, wrong};
use units::{Bytes, Duration};

use crate::model::{Samples, Scenario, Tcp};
use config::Quantity;

impl Scenario {
    /// Checks middleboxes that a line-up has placed.
    ///
    /// # Errors
    /// A middlebox has no node of its own between the hosts.
    pub fn check_middleboxes(&self) -> Result<(), Wrong> {
        middleboxes::check(self)
    }
}

/// Checks what the types of the fields do not.
pub(crate) fn check(scenario: &Scenario) -> Result<(), Wrong> {
    let Scenario { duration, slot, .. } = scenario;
    positive("duration", *duration)?;
    positive("slot", *slot)?;
    if duration.as_nanos() % slot.as_nanos() != 0 {
        return wrong(
            "slot",
            slot.write(),
            format!("divisors of the duration, {duration}"),
        );
    }
    if let Samples::Interval(interval) = scenario.samples {
        positive("samples", interval)?;
    }
    if scenario.variation.start_jitter >= *duration {
        let allowed = format!("times below the duration, {duration}");
        return wrong(
            "variation.start_jitter",
            scenario.variation.start_jitter.write(),
            allowed,
        );
    }
    if let Some(radio) = &scenario.radio {
        links::access_link(&scenario.path)?;
        radio.check(scenario.path.mtu)?;
    }
    links::check(scenario)?;
    middleboxes::check(scenario)?;
    tcp(&scenario.tcp, scenario.path.path_mtu())?;
    kernel::check(&scenario.kernel)?;
    traffic::check_flows(scenario)?;
    rows::check(scenario)
}

fn tcp(tcp: &Tcp, path_mtu: Bytes) -> Result<(), Wrong> {
    const LEAST_BUFFER: Bytes = Bytes::new(4096);
    if !(1..=1000).contains(&tcp.initial_window) {
        return wrong(
            "tcp.initial_window",
            tcp.initial_window,
            "1 to 1000 segments",
        );
    }
    if let Some(mss) = tcp.mss {
        let largest = Bytes::new(path_mtu.get() - 40);
        within("tcp.mss", mss, Bytes::new(88), largest)?;
    }
    let milliseconds = Duration::from_millis;
    within(
        "tcp.min_rto",
        tcp.min_rto,
        milliseconds(1),
        milliseconds(120_000),
    )?;
    let largest = Bytes::new(1 << 30);
    within(
        "tcp.receive_buffer_max",
        tcp.receive_buffer_max,
        LEAST_BUFFER,
        largest,
    )?;
    within(
        "tcp.send_buffer_max",
        tcp.send_buffer_max,
        LEAST_BUFFER,
        largest,
    )?;
    if let Some(cap) = tcp.receive_window_max {
        within("tcp.receive_window_max", cap, LEAST_BUFFER, largest)?;
    }
    Ok(())
}
