//! The native module `celltcp._core`: scenarios, traces and runs for Python.
//!
//! Columns pass to Python through the Arrow C data interface; there is never a call per packet.

mod batch;
mod captures;
mod catalogue;
mod columns;
mod digests;
mod error;
mod events;
mod faults;
mod live;
mod own_parameters;
mod packetdrill;
mod python_cca;
mod radio;
mod results;
mod run;
mod scenarios;
mod scores;
mod selection;
mod traces;
mod units;

use pyo3::prelude::*;

/// Module `celltcp._core`.
#[pymodule]
mod _core {
    use measurement::Engine;
    use pyo3::prelude::*;

    #[pymodule_export]
    use crate::{
        batch::{available_threads, run_batch},
        captures::{CaptureAnalysis, capture_tables, loss_kinds},
        catalogue::{
            describe_cca, lineup_parts, lineups, middlebox_kinds, mixes_with_middleboxes,
            native_ccas,
        },
        digests::{file_digest, is_intact, seal, sealed_text},
        events::log_events,
        faults::take_panic,
        live::{PyLiveRun, ReplayedRun, enter_user_namespace, machine_cca, pass_on_rights},
        packetdrill::play_packetdrill,
        python_cca::{PyReport, register_cca, register_library},
        radio::{link_adaptation, mean_sinr, phone_log},
        results::{ResultTable, jain, requirement_measure, result_tables, weighted_pm},
        run::Run,
        scenarios::{Scenario, field_meant, is_too_deep, scenario_schema},
        scores::p1203_scores,
        selection::{
            auto_parameters, builtin_policies, describe_policy, memory_text, outcome_parts,
            parse_requirement, policy_schema, policy_text, requirement_kinds, selection_features,
        },
        traces::{Trace, trace_formats},
        units::in_unit,
    };

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))?;
        module.add("NATIVE", Engine::NATIVE)?;
        module.add("KERNEL", Engine::KERNEL)?;
        module.add("LIVE", Engine::LIVE)?;
        module.add("RESOLVER", ::live::RESOLVER.to_string())?;
        let (v4, v6) = ::live::GATEWAY_ADDRESSES;
        module.add("GATEWAY_ADDRESSES", (v4.to_string(), v6.to_string()))?;
        module.add("SEAL_LABEL", config::SEAL_LABEL)?;
        module.add("BLANK_DIGEST", config::digest_placeholder())?;
        crate::faults::install_panic_hook();
        crate::error::add_to(module)
    }
}
