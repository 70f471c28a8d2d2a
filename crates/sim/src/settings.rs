//! From the words of a scenario to those of TCP.

use scenario::{CcaChoice, Scenario, Tso};
use tcp::cca::{Congestion, HandOver, Pair, SettingError, Window, registry};
use tcp::{Config, Connection};
use units::random::{Purpose, Stream};

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
        ecn: tcp.ecn,
        slow_start_after_idle: tcp.slow_start_after_idle,
        ..Config::default()
    }
}

/// The congestion control of `choice` with its slow start.
///
/// # Errors
/// If it is not here (any more) or a setting contradicts another.
pub(crate) fn cca(choice: &CcaChoice) -> Result<Pair, SettingError> {
    let found = registry::find(choice.name).ok_or_else(|| SettingError::Unknown {
        owner: choice.name.to_owned(),
        parameter: "name".to_owned(),
        known: Vec::new(),
    })?;
    found.build(&choice.settings())
}

/// One end of connection number `connection`; `side` tells the two ends apart.
pub(crate) fn endpoint(
    config: &Config,
    choice: &CcaChoice,
    seed: u64,
    connection: u32,
    side: u32,
) -> Result<Connection, SettingError> {
    let (cca, method) = cca(choice)?;
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

/// The word of a scenario for how a congestion control takes over.
pub(crate) fn hand_over(how: scenario::HandOver) -> HandOver {
    match how {
        scenario::HandOver::Kernel => HandOver::Kernel,
        scenario::HandOver::Context => HandOver::Context,
    }
}
