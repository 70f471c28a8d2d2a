//! Handover, failure and recovery.

use radio::handover::{HandoverConfig, MonitorConfig, RecoveryConfig, Trigger};
use radio::rlc::Forwarding;
use scenario::radio::{self as model, Handover, Radio};
use units::Duration;

/// Without a table in the scenario there is no handover, but links can fail.
pub(super) fn handover(radio: &Radio) -> HandoverConfig {
    let usual = Handover::default();
    let model = radio.handover.as_ref().unwrap_or(&usual);
    let failure = &radio.link_failure;
    HandoverConfig {
        trigger: radio.handover.as_ref().map(|model| trigger(&model.trigger)),
        filter_coefficient: model.filter_coefficient as u8,
        report_interval: model.report_interval,
        x2_delay: model.x2_delay,
        admission: model.admission,
        command: model.command,
        interruption: model.interruption,
        t304: model.t304,
        path_switch: model.path_switch,
        forwarding: match model.forwarding {
            model::Forwarding::Lossless => Forwarding::Lossless,
            model::Forwarding::Seamless => Forwarding::Seamless,
            model::Forwarding::Discard => Forwarding::Discard,
        },
        monitor: MonitorConfig {
            out_db: failure.out_of_sync.get(),
            in_db: failure.in_sync.get(),
            n310: failure.n310,
            n311: failure.n311,
            t310: failure.t310,
        },
        recovery: RecoveryConfig {
            cell_selection: failure.cell_selection,
            t311: failure.t311,
            reestablishment: failure.reestablishment,
            t301: failure.t301,
            connection: failure.connection,
            context_fetch: failure.context_fetch,
        },
    }
}

/// How often UEs measure, whether or not it comes to a handover.
pub(super) fn measurement_period(radio: &Radio) -> Duration {
    let usual = Handover::default();
    radio.handover.as_ref().unwrap_or(&usual).measurement_period
}

fn trigger(trigger: &model::Trigger) -> Trigger {
    match trigger {
        model::Trigger::A3(a3) => Trigger::A3Rsrp {
            offset_db: a3.offset.get(),
            hysteresis_db: a3.hysteresis.get(),
            time_to_trigger: a3.time_to_trigger,
        },
        model::Trigger::A2A4(a2a4) => Trigger::A2A4Rsrq {
            serving: a2a4.serving as u8,
            neighbour: a2a4.neighbour as u8,
            offset: a2a4.offset as u8,
            time_to_trigger: a2a4.time_to_trigger,
        },
    }
}
