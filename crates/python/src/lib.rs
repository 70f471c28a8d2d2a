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

use measurement::Engine;
use pyo3::prelude::*;

/// Module `celltcp._core`.
#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("NATIVE", Engine::NATIVE)?;
    module.add("KERNEL", Engine::KERNEL)?;
    module.add("LIVE", Engine::LIVE)?;
    module.add("RESOLVER", ::live::RESOLVER.to_string())?;
    let (v4, v6) = ::live::GATEWAY_ADDRESSES;
    module.add("GATEWAY_ADDRESSES", (v4.to_string(), v6.to_string()))?;
    error::add_to(module)?;
    faults::remember_panics();
    module.add_function(wrap_pyfunction!(events::log_events, module)?)?;
    module.add_function(wrap_pyfunction!(faults::take_panic, module)?)?;
    module.add_function(wrap_pyfunction!(batch::available_threads, module)?)?;
    module.add_class::<scenarios::Scenario>()?;
    module.add_class::<traces::Trace>()?;
    module.add_function(wrap_pyfunction!(traces::trace_formats, module)?)?;
    module.add_class::<run::Run>()?;
    module.add_class::<live::PyLiveRun>()?;
    module.add_function(wrap_pyfunction!(live::enter_user_namespace, module)?)?;
    module.add_function(wrap_pyfunction!(live::machine_cca, module)?)?;
    module.add_function(wrap_pyfunction!(live::pass_on_rights, module)?)?;
    module.add_class::<live::ReplayedRun>()?;
    module.add_function(wrap_pyfunction!(batch::run_batch, module)?)?;
    module.add_class::<python_cca::PyReport>()?;
    module.add_function(wrap_pyfunction!(scenarios::field_meant, module)?)?;
    module.add_function(wrap_pyfunction!(scenarios::scenario_schema, module)?)?;
    module.add_function(wrap_pyfunction!(scenarios::is_too_deep, module)?)?;
    module.add_function(wrap_pyfunction!(catalogue::native_ccas, module)?)?;
    module.add_function(wrap_pyfunction!(catalogue::middlebox_kinds, module)?)?;
    module.add_function(wrap_pyfunction!(catalogue::lineups, module)?)?;
    module.add_function(wrap_pyfunction!(catalogue::mixes_with_middleboxes, module)?)?;
    module.add_function(wrap_pyfunction!(
        catalogue::former_middlebox_settings,
        module
    )?)?;
    module.add_function(wrap_pyfunction!(catalogue::lineup_parts, module)?)?;
    module.add_function(wrap_pyfunction!(digests::file_digest, module)?)?;
    module.add_function(wrap_pyfunction!(digests::sealed_text, module)?)?;
    module.add_function(wrap_pyfunction!(digests::seal, module)?)?;
    module.add_function(wrap_pyfunction!(digests::is_intact, module)?)?;
    module.add("SEAL_LABEL", config::SEAL_LABEL)?;
    module.add("BLANK_DIGEST", config::blank())?;
    module.add_function(wrap_pyfunction!(units::in_unit, module)?)?;
    module.add_function(wrap_pyfunction!(catalogue::describe_cca, module)?)?;
    module.add_function(wrap_pyfunction!(python_cca::register_cca, module)?)?;
    module.add_function(wrap_pyfunction!(python_cca::register_library, module)?)?;
    module.add_class::<captures::CaptureAnalysis>()?;
    module.add_function(wrap_pyfunction!(captures::capture_tables, module)?)?;
    module.add_function(wrap_pyfunction!(captures::loss_kinds, module)?)?;
    module.add_class::<results::ResultTable>()?;
    module.add_function(wrap_pyfunction!(results::result_tables, module)?)?;
    module.add_function(wrap_pyfunction!(results::weighted_pm, module)?)?;
    module.add_function(wrap_pyfunction!(results::requirement_measure, module)?)?;
    module.add_function(wrap_pyfunction!(results::jain, module)?)?;
    module.add_function(wrap_pyfunction!(selection::builtin_policies, module)?)?;
    module.add_function(wrap_pyfunction!(selection::policy_text, module)?)?;
    module.add_function(wrap_pyfunction!(selection::describe_policy, module)?)?;
    module.add_function(wrap_pyfunction!(selection::policy_schema, module)?)?;
    module.add_function(wrap_pyfunction!(selection::memory_text, module)?)?;
    module.add_function(wrap_pyfunction!(selection::selection_features, module)?)?;
    module.add_function(wrap_pyfunction!(selection::auto_parameters, module)?)?;
    module.add_function(wrap_pyfunction!(scores::p1203_scores, module)?)?;
    module.add_function(wrap_pyfunction!(selection::parse_requirement, module)?)?;
    module.add_function(wrap_pyfunction!(selection::requirement_kinds, module)?)?;
    module.add_function(wrap_pyfunction!(selection::outcome_parts, module)?)?;
    module.add_function(wrap_pyfunction!(packetdrill::play_packetdrill, module)?)?;
    module.add_function(wrap_pyfunction!(radio::link_adaptation, module)?)?;
    module.add_function(wrap_pyfunction!(radio::mean_sinr, module)?)?;
    module.add_function(wrap_pyfunction!(radio::phone_log, module)?)?;
    Ok(())
}
