//! Options of packetdrill's command line, which a script may begin with (`config.c` of packetdrill).

use units::Duration;

use super::{PlayError, Player};
use crate::script::Script;
use crate::shell;

/// Options without effect on the player: addresses, ports, the device, output, code, and `define`, which the parser
/// applies before.
const WITHOUT_EFFECT: &[&str] = &[
    "bind_port",
    "code_command",
    "connect_port",
    "debug",
    "define",
    "gateway_ip",
    "local_ip",
    "netmask_ip",
    "remote_ip",
    "send_omit_free",
    "speed",
    "verbose",
];

/// Options that are known but not modelled.
const NOT_MODELLED: &[&str] = &[
    "dry_run",
    "is_anyip",
    "non_fatal",
    "so_filename",
    "so_flags",
    "tcp_ts_ecr_scaled",
    "udp_encap",
    "wire_client",
    "wire_client_dev",
    "wire_server",
    "wire_server_at",
    "wire_server_dev",
    "wire_server_ip",
    "wire_server_port",
];

impl Player {
    /// Applies the options of a script; one that is unknown or not modelled makes it not applicable.
    pub(super) fn apply_options(&mut self, script: &Script) -> Result<(), PlayError> {
        for (line, name, value) in &script.options {
            let line_error =
                |what: &str| PlayError::NotApplicable(*line, format!("--{name}={value}: {what}"));
            let number = || value.parse::<u64>().map_err(|_| line_error("no number"));
            match name.as_str() {
                "tolerance_usecs" => self.tolerance = Duration::from_micros(number()?),
                "tolerance_percent" => {
                    let percent = value.parse().unwrap_or(-1.0);
                    if !(0.0..=100.0).contains(&percent) {
                        return Err(line_error("not between 0 and 100"));
                    }
                    self.tolerance_per_mille = (percent * 10.0) as i64;
                }
                "tcp_ts_tick_usecs" => self.timestamp_tick = Duration::from_micros(number()?),
                "strict_segments" => self.joins_bursts = false,
                "mtu" => self.set("mtu", value, *line)?,
                "mss" => self.settings.gso_size = Some(number()? as u32),
                "init_scripts" => {
                    for file in value.split(',') {
                        let done = shell::run(file, &mut self.settings);
                        done.map_err(|reason| PlayError::NotApplicable(*line, reason))?;
                    }
                }
                "ip_version" => match value.as_str() {
                    "ipv4" | "ipv4-mapped-ipv6" => {}
                    "ipv6" => {
                        self.settings.ip_header = 40;
                        if !script.options.iter().any(|(_, name, _)| name == "mtu") {
                            self.set("mtu", "1520", *line)?;
                        }
                    }
                    _ => return Err(line_error("no version of IP")),
                },
                "code_format" if value == "python" => {}
                "code_sockopt" if matches!(value.as_str(), "" | "TCP_INFO") => {}
                "code_format" | "code_sockopt" => return Err(line_error("not modelled")),
                other if WITHOUT_EFFECT.contains(&other) => {}
                other if NOT_MODELLED.contains(&other) => return Err(line_error("not modelled")),
                _ => return Err(line_error("no option of packetdrill")),
            }
        }
        Ok(())
    }
}
