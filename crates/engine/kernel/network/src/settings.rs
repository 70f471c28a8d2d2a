//! Settings of the kernel, from a scenario.

use std::collections::BTreeMap;

use byte_path::sysctls;
use kernel_protocol::{KeepAlive, KernelSettings};
use scenario::{CcaChoice, Scenario, Tcp, kernel_text};
use units::{Bytes, Duration};

use crate::linux_queue::linux_queue;

/// Returns the settings for a scenario on a kernel with `memory` bytes; the error names a setting that the kernel does
/// not have.
pub(crate) fn kernel_settings(scenario: &Scenario, memory: u64) -> Result<KernelSettings, String> {
    let tcp = &scenario.tcp;
    if let Some(timeout) = tcp.delayed_ack_timeout {
        return Err(format!(
            "tcp.delayed_ack_timeout: {timeout} cannot be set on the kernel engine, whose Linux has 40ms; allowed: unset"
        ));
    }
    let cap = |bytes: Option<Bytes>| bytes.map(|bytes| bytes.get() as u32);
    Ok(KernelSettings {
        sysctls: sysctls(scenario, Some(memory))?,
        modules: modules(scenario)?,
        fair_queue: tcp.pacing,
        mtu: scenario.path.path_mtu().get() as u32,
        burst: tcp.tso.segments(),
        initial_window: tcp.initial_window,
        quick_ack: !tcp.delayed_ack,
        mss: cap(tcp.mss),
        window: cap(tcp.receive_window_max),
        user_timeout_ms: tcp.user_timeout.map(|time| time.as_millis() as u32),
        keepalive: keepalive(tcp)?,
        queue: scenario
            .kernel
            .queue
            .then(|| linux_queue(&scenario.path))
            .transpose()?,
    })
}

/// Returns idle time, interval and probes of keep-alive, which Linux has in whole seconds.
fn keepalive(tcp: &Tcp) -> Result<Option<KeepAlive>, String> {
    let seconds = |field: &str, time: Option<Duration>, default: u32| match time {
        None => Ok(default),
        Some(time) if time.as_nanos() % 1_000_000_000 == 0 => Ok(time.as_secs_f64() as u32),
        Some(time) => Err(format!(
            "tcp.{field}: {time} is not whole; allowed on the kernel engine: whole seconds"
        )),
    };
    let idle = seconds("keepalive", tcp.keepalive, 0)?;
    let interval = seconds("keepalive_interval", tcp.keepalive_interval, 75)?;
    Ok((idle > 0).then(|| KeepAlive {
        idle,
        interval,
        probes: tcp.keepalive_probes.unwrap_or(9),
    }))
}

/// Returns the parameters of modules, by module and parameter: those of the scenario, and those of congestion
/// controls. A module has one set of parameters for all connections.
fn modules(scenario: &Scenario) -> Result<BTreeMap<String, String>, String> {
    let mut all = BTreeMap::new();
    let of_flows = scenario.flows.iter().flat_map(|flow| {
        let later = flow.switch.iter().map(|switch| &switch.to);
        core::iter::once(&flow.cca).chain(later)
    });
    // A selected congestion control has its default parameters.
    for choice in of_flows.filter(|choice| choice.fixed_cca().is_some()) {
        for (name, value) in choice.settings() {
            let (parameter, text) = module_parameter(choice, name, value)?;
            let known = all.entry(parameter).or_insert_with(|| text.clone());
            if *known != text {
                return Err(format!(
                    "{name}: flows want {known} and {text}, but {} has one value for all \
                     connections of a kernel",
                    choice.name()
                ));
            }
        }
    }
    let requested = scenario.kernel.module.iter();
    all.extend(requested.map(|(name, value)| (name.clone(), kernel_text(value))));
    Ok(all)
}

/// Returns a parameter of a congestion control as its module has it.
fn module_parameter(
    choice: &CcaChoice,
    name: &str,
    value: &str,
) -> Result<(String, String), String> {
    let module = format!("tcp_{}", choice.name());
    Ok(match name {
        "hystart_detect" => {
            let bits = match value {
                "train" => 1,
                "delay" => 2,
                _ => 3,
            };
            (format!("{module}.hystart_detect"), bits.to_string())
        }
        "hystart_ack_delta" => {
            let delta: units::Duration = value.parse()?;
            (
                format!("{module}.hystart_ack_delta_us"),
                delta.as_micros().to_string(),
            )
        }
        "c" | "beta" => {
            return Err(format!(
                "{name}: the kernel computes with it when it starts; it cannot be set there"
            ));
        }
        _ => (format!("{module}.{name}"), kernel_text(&value.into())),
    })
}
