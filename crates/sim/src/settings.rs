//! From the words of a scenario to those of TCP.

use scenario::{CcaChoice, HandOver, Scenario, SlowStart, Tso};
use tcp::cca::{Congestion, Context, UnknownCca, Window, cca_by_name, modelled_window, slow_start};
use tcp::{Config, Connection};
use units::random::{Purpose, Stream};
use units::{Bytes, Rate};

/// The settings of every host.
pub(crate) fn config(scenario: &Scenario) -> Config {
    let tcp = &scenario.tcp;
    let buffer = tcp.receive_buffer_max;
    let window = tcp.receive_window(scenario.path.path_mtu()).get();
    let scale = tcp.window_scale.shift(buffer);
    let largest = 65_535_u64 << scale.unwrap_or(0);
    let receive_window_max = window.min(largest) as u32;
    Config {
        mss: tcp.segment_payload(scenario.path.path_mtu()),
        initial_window: tcp.initial_window,
        min_rto: tcp.min_rto,
        delayed_ack: tcp.delayed_ack,
        timestamps: tcp.timestamps,
        window_scale: scale,
        receive_window_initial: receive_window_max.min(65_535),
        receive_window_max,
        send_buffer: tcp.send_buffer_max.get(),
        burst_segments: match tcp.tso {
            Tso::Linux => None,
            Tso::Segments(segments) => Some(segments),
        },
        tail_loss_probe: tcp.tlp,
        f_rto: tcp.f_rto,
        pacing: tcp.pacing,
        slow_start_after_idle: tcp.slow_start_after_idle,
        ..Config::default()
    }
}

/// One end of connection number `connection`; `side` tells the two ends apart.
pub(crate) fn endpoint(
    config: &Config,
    choice: &CcaChoice,
    start: Option<SlowStart>,
    seed: u64,
    connection: u32,
    side: u32,
) -> Result<Connection, UnknownCca> {
    let (cca, mut method) = cca_by_name(choice.name)?;
    match start {
        Some(SlowStart::Standard) => method = Box::new(slow_start::Standard),
        Some(SlowStart::Hystart) => method = Box::new(slow_start::HyStart::default()),
        None => {}
    }
    let entity = 2 * connection + side;
    let draws = Stream::new(seed, Purpose::CongestionControl, entity);
    let window = Window::new(config.mss, config.initial_window, draws);
    let congestion = Congestion::new(window, cca, method);
    let numbers = Stream::new(seed, Purpose::InitialSequence, entity);
    Ok(Connection::new(
        config.clone(),
        congestion,
        numbers.at(0) as u32,
        numbers.at(1) as u32,
    ))
}

/// What a congestion control that takes over is handed, where segments carry `mss` bytes, and how an
/// event tells it.
pub(crate) fn hand_over(present: Context, mss: u32, how: HandOver) -> (Context, String) {
    match how {
        // Before the first RTT sample there is nothing to model.
        HandOver::Context if present.srtt.is_zero() => (present, "context".to_owned()),
        HandOver::Kernel => (present, "kernel".to_owned()),
        HandOver::Context => {
            let cwnd = modelled_window(present.cwnd, present.srtt, present.min_rtt);
            let bytes = Bytes::new(u64::from(cwnd) * u64::from(mss));
            let handed = Context {
                cwnd,
                ssthresh: cwnd,
                pacing_rate: Rate::of(bytes, present.min_rtt),
                ..present
            };
            (handed, format!("context cwnd {cwnd}"))
        }
    }
}
