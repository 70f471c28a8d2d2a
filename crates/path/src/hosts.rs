//! Settings of TCP on hosts, converted from a scenario.

use scenario::{Scenario, Tso};
use tcp::TcpConfig;

/// Returns the settings of every host.
pub fn tcp_config(scenario: &Scenario) -> TcpConfig {
    let tcp = &scenario.tcp;
    let buffer = tcp.receive_buffer_max;
    let scale = tcp.window_scale.shift(buffer);
    TcpConfig {
        mss: tcp.segment_payload(scenario.path.path_mtu()),
        initial_window: tcp.initial_window,
        min_rto: tcp.min_rto,
        delayed_ack: tcp.delayed_ack,
        timestamps: tcp.timestamps,
        window_scale: scale,
        receive_buffer_initial: TcpConfig::default()
            .receive_buffer_initial
            .min(buffer.get()),
        receive_buffer_max: buffer.get(),
        receive_window_cap: tcp.receive_window_max.map(|cap| cap.get() as u32),
        send_buffer: tcp.send_buffer_max.get(),
        burst_segments: match tcp.tso {
            Tso::Linux => None,
            Tso::Segments(segments) => Some(segments),
        },
        tail_loss_probe: tcp.tlp,
        f_rto: tcp.f_rto,
        pacing: tcp.pacing,
        ecn: tcp.ecn,
        slow_start_after_idle: tcp.slow_start_after_idle,
        ..TcpConfig::default()
    }
}
