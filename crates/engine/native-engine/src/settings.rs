//! Settings of TCP, converted from a scenario.

use cca::{BuiltCca, CongestionState, Settings, reno};
use scenario::CcaChoice;
use tcp::{Connection, NetDevice, TcpConfig};
use units::Duration;
use units::random::{Purpose, RngStream};

/// Checks that the CCA of `choice` can be built.
///
/// # Errors
/// If a parameter is rejected.
pub(crate) fn check(choice: &CcaChoice) -> Result<(), String> {
    let cca = choice.fixed_cca();
    cca.map_or(Ok(()), |cca| cca.check(choice.settings()))
}

/// Builds the CCA of `choice` with its slow start.
///
/// # Errors
/// As [`check`].
pub(crate) fn cca(choice: &CcaChoice) -> Result<BuiltCca, String> {
    let Some(cca) = choice.fixed_cca() else {
        unreachable!("a selector has chosen from the catalogue, and nothing ever leaves it");
    };
    cca.build(choice.settings())
}

/// Returns the two ends of connection number `connection`. The sender runs `choice` and has what is set in `config`. The
/// receiver only acknowledges, on an immediate card; it runs the same CCA if that has to understand ECN marks, and
/// NewReno otherwise. `min_rtos` are those of the hosts of both.
///
/// # Errors
/// As [`check`].
pub(crate) fn ends(
    mut config: TcpConfig,
    min_rtos: [Duration; 2],
    choice: &CcaChoice,
    seed: u64,
    connection: u32,
) -> Result<(Connection, Connection), String> {
    let sending = cca(choice)?;
    let receiving = if sending.cca.needs_ecn() {
        cca(choice)?
    } else {
        reno::INFO.build(&Settings::new())?
    };
    let end = |built: BuiltCca, side: u32, config: TcpConfig| {
        let entity = 2 * connection + side;
        let draws = RngStream::new(seed, Purpose::CongestionControl, entity);
        let window = config.initial_window(draws);
        let congestion = CongestionState::new(window, built);
        let numbers = RngStream::new(seed, Purpose::InitialSequence, entity);
        let (iss, offset) = (numbers.at(0) as u32, numbers.at(1) as u32);
        Connection::new(config, congestion, iss, offset)
    };
    let mut receiver = TcpConfig {
        net_device: NetDevice::Immediate,
        ..config.clone()
    };
    [config.settings.min_rto, receiver.settings.min_rto] = min_rtos;
    let far_ack_kind = config.far_ack_kind;
    let mut server = end(sending, 0, config);
    if let Some(kind) = far_ack_kind {
        server.accept_far_acks(kind);
    }
    Ok((server, end(receiving, 1, receiver)))
}
