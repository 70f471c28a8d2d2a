//! Settings of TCP, converted from a scenario.

use cca::{BuiltCca, Cca, Congestion, SettingError, Settings, Window, registry, reno};
use scenario::{CcaChoice, Scenario, Tso};
use tcp::{Connection, TcpConfig};
use units::random::{Purpose, Stream};

/// Returns the settings of every host.
pub(crate) fn config(scenario: &Scenario) -> TcpConfig {
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

/// Checks that the CCA of `choice` can be built.
///
/// # Errors
/// If a parameter is refused.
pub(crate) fn check(choice: &CcaChoice) -> Result<(), SettingError> {
    if choice.auto().is_some() {
        return Ok(());
    }
    entry(choice).check(&choice.settings())
}

/// Builds the CCA of `choice` with its slow start.
///
/// # Errors
/// As [`check`].
pub(crate) fn cca(choice: &CcaChoice) -> Result<BuiltCca, SettingError> {
    entry(choice).build(&choice.settings())
}

fn entry(choice: &CcaChoice) -> &'static Cca {
    let Some(found) = registry::find(choice.name) else {
        unreachable!("a choice comes from the catalogue, and nothing ever leaves it");
    };
    found
}

/// Returns the two ends of connection number `connection`. The sender runs `choice`. The receiver only acknowledges; it
/// runs the same CCA if that has to understand ECN marks, and NewReno otherwise.
///
/// # Errors
/// As [`check`].
pub(crate) fn ends(
    config: &TcpConfig,
    choice: &CcaChoice,
    seed: u64,
    connection: u32,
) -> Result<(Connection, Connection), SettingError> {
    let sending = cca(choice)?;
    let receiving = if sending.cca.needs_ecn() {
        cca(choice)?
    } else {
        reno::ABOUT.build(&Settings::new())?
    };
    let end = |built: BuiltCca, side: u32| {
        let entity = 2 * connection + side;
        let draws = Stream::new(seed, Purpose::CongestionControl, entity);
        let window = Window::new(config.mss, config.initial_window, draws);
        let congestion = Congestion::new(window, built);
        let numbers = Stream::new(seed, Purpose::InitialSequence, entity);
        let (iss, offset) = (numbers.at(0) as u32, numbers.at(1) as u32);
        Connection::new(config.clone(), congestion, iss, offset)
    };
    Ok((end(sending, 0), end(receiving, 1)))
}
