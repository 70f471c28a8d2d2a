//! Sysctls: settings of Linux hosts, from a scenario.

use std::collections::BTreeMap;

use scenario::{Scenario, Tcp, WindowScale, kernel_text};
use tcp::TcpConfig;
use units::Duration;

/// Returns the `rto_min` that routes of a host have for a minimum RTO, ms; `None` if that is Linux' own.
pub fn route_min_rto_ms(min_rto: Duration) -> Option<u32> {
    (min_rto != Tcp::default().min_rto).then(|| min_rto.as_millis() as u32)
}

/// Size of a page, bytes.
const PAGE: u64 = 4_096;

/// Returns the sysctls of every host for a scenario, by their names; `memory` is that of a kernel of its own, bytes.
///
/// # Errors
/// The field that Linux has no setting for.
pub fn sysctls(
    scenario: &Scenario,
    memory: Option<u64>,
) -> Result<BTreeMap<String, String>, String> {
    let tcp = &scenario.tcp;
    let largest = tcp.receive_window_max.unwrap_or(tcp.receive_buffer_max);
    let automatic = WindowScale::Automatic.shift(largest.min(tcp.receive_buffer_max));
    match tcp.window_scale {
        WindowScale::Fixed(shift) if Some(shift) != automatic => {
            return Err(format!(
                "tcp.window_scale: {shift} is not what Linux chooses for a receive buffer of {}; \
                 allowed: true, false",
                tcp.receive_buffer_max
            ));
        }
        _ => {}
    }
    let (receive, send) = (tcp.receive_buffer_max.get(), tcp.send_buffer_max.get());
    let begin = TcpConfig::initial_receive_buffer(tcp);
    let flag = |on: bool| u8::from(on).to_string();
    let mut all = BTreeMap::from([
        ("tcp_timestamps", flag(tcp.timestamps)),
        (
            "tcp_window_scaling",
            flag(tcp.window_scale != WindowScale::Off),
        ),
        ("tcp_rmem", format!("4096 {begin} {receive}")),
        (
            "tcp_wmem",
            format!("4096 {} {send}", TcpConfig::INITIAL_SEND_BUFFER.min(send)),
        ),
        ("tcp_slow_start_after_idle", flag(tcp.slow_start_after_idle)),
    ])
    .into_iter()
    .map(|(name, value)| (format!("net.ipv4.{name}"), value))
    .collect::<BTreeMap<_, _>>();
    if let Some(memory) = memory {
        // All hosts share the kernel's memory and its limit for TCP. Linux' default would be a sixteenth of a memory that
        // is sized for these hosts alone.
        let pages = memory / 2 / PAGE;
        all.insert(
            "net.ipv4.tcp_mem".to_owned(),
            format!("{pages} {pages} {pages}"),
        );
    }
    if !tcp.sack {
        all.insert("net.ipv4.tcp_sack".to_owned(), "0".to_owned());
    }
    if let Some(bytes) = tcp.notsent_lowat {
        all.insert(
            "net.ipv4.tcp_notsent_lowat".to_owned(),
            bytes.get().to_string(),
        );
    }
    if tcp.ecn {
        all.insert("net.ipv4.tcp_ecn".to_owned(), "1".to_owned());
    }
    if !tcp.f_rto {
        all.insert("net.ipv4.tcp_frto".to_owned(), "0".to_owned());
    }
    if !tcp.tlp {
        all.insert("net.ipv4.tcp_early_retrans".to_owned(), "0".to_owned());
    }
    if let Some(longest) = tcp.rto_max {
        all.insert(
            "net.ipv4.tcp_rto_max_ms".to_owned(),
            longest.as_millis().to_string(),
        );
    }
    if tcp.thin_linear_timeouts {
        all.insert(
            "net.ipv4.tcp_thin_linear_timeouts".to_owned(),
            "1".to_owned(),
        );
    }
    let requested = scenario.kernel.sysctl.iter();
    all.extend(requested.map(|(name, value)| (name.clone(), kernel_text(value))));
    Ok(all)
}

#[cfg(test)]
mod tests {
    use units::Bytes;

    use super::*;

    /// Least, initial and largest receive buffer (`tcp_rmem`). A cap of the window has the largest from the start.
    #[test]
    fn hosts_have_the_receive_buffers_of_the_scenario() {
        let buffers = |initial: Option<u64>, cap: Option<u64>| {
            let mut scenario = Scenario::default();
            scenario.tcp.receive_buffer_initial = initial.map(Bytes::new);
            scenario.tcp.receive_window_max = cap.map(Bytes::new);
            sysctls(&scenario, None).expect("valid")["net.ipv4.tcp_rmem"].clone()
        };
        assert_eq!(buffers(None, None), "4096 131072 6291456");
        assert_eq!(buffers(Some(400_000), None), "4096 400000 6291456");
        assert_eq!(buffers(None, Some(100_000)), "4096 6291456 6291456");
    }
}
