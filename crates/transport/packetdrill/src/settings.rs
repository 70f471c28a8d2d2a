//! Settings of the host under test: sysctls, device and route.

use std::collections::BTreeMap;

use tcp::{NetDevice, Tcp, TcpConfig, TimerExpiry, WindowScale};
use units::{Bytes, Duration};

/// Settings that the native TCP models, with the defaults of Linux.
const VARIABLE: &[(&str, &str)] = &[
    ("mtu", "1500"),
    ("tcp_congestion_control", "cubic"),
    ("tcp_early_retrans", "3"),
    ("tcp_ecn", "2"),
    ("tcp_frto", "2"),
    ("tcp_min_tso_segs", "2"),
    ("tcp_reordering", "3"),
    ("tcp_retries2", "15"),
    ("tcp_rmem", "4096 131072 6291456"),
    ("tcp_rto_max_ms", "120000"),
    ("tcp_rto_min_us", "200000"),
    ("tcp_sack", "1"),
    ("tcp_slow_start_after_idle", "1"),
    ("tcp_syn_retries", "6"),
    ("tcp_synack_retries", "5"),
    ("tcp_thin_linear_timeouts", "0"),
    ("tcp_timestamps", "1"),
    ("tcp_tso_win_divisor", "3"),
    ("tcp_window_scaling", "1"),
    ("tcp_wmem", "4096 16384 4194304"),
    ("tcp_orphan_retries", "0"),
];

/// Settings that have one of these values, separated by spaces, or any (`*`) if they change nothing in an applicable
/// script.
const FIXED: &[(&str, &str)] = &[
    ("tcp_dsack", "1"),
    ("tcp_fack", "*"),
    ("tcp_recovery", "1"),
    ("tcp_fastopen", "*"),
    ("tcp_fastopen_key", "*"),
    ("tcp_fastopen_blackhole_timeout_sec", "*"),
    ("tcp_syncookies", "0 1"),
    ("tcp_notsent_lowat", "-1 4294967295"),
    ("tcp_pacing_ss_ratio", "200"),
    ("tcp_pacing_ca_ratio", "120"),
    ("tcp_invalid_ratelimit", "*"),
    ("tcp_challenge_ack_limit", "*"),
    ("tcp_moderate_rcvbuf", "1"),
    ("tcp_mtu_probing", "0"),
    ("tcp_shrink_window", "0"),
    ("tcp_limit_output_bytes", "*"),
    ("tcp_no_metrics_save", "*"),
    ("tcp_autocorking", "*"),
    ("tcp_ecn_fallback", "*"),
    ("tcp_low_latency", "*"),
    ("tcp_abort_on_overflow", "0"),
    ("tcp_retries1", "*"),
    ("tcp_rfc1337", "*"),
    ("tcp_tw_reuse", "*"),
    ("tcp_max_syn_backlog", "*"),
    ("tcp_allowed_congestion_control", "*"),
    ("default_qdisc", "*"),
    ("rmem_max", "*"),
    ("wmem_max", "*"),
    ("somaxconn", "*"),
    ("tcp_fin_timeout", "*"),
    ("tcp_comp_sack_nr", "44"),
    ("tcp_adv_win_scale", "1"),
    ("ip_no_pmtu_disc", "0"),
];

/// Settings of the host under test.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    values: BTreeMap<String, String>,
    /// Whether the device has segmentation offload, so that a burst is one packet.
    pub(crate) offload: bool,
    /// Whether the queueing discipline is fq, which paces.
    pub(crate) fq: bool,
    /// Bytes of an IP header.
    pub(crate) ip_header: u32,
    /// Payload of the segments that the device merges into one packet.
    pub(crate) gso_size: Option<u32>,
}

impl Default for Settings {
    fn default() -> Self {
        let values = VARIABLE
            .iter()
            .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
        Self {
            values: values.collect(),
            offload: true,
            fq: false,
            ip_header: 20,
            gso_size: None,
        }
    }
}

impl Settings {
    /// Changes a setting.
    ///
    /// # Errors
    /// Description of what is not modelled.
    pub(crate) fn set(&mut self, key: &str, value: &str) -> Result<(), String> {
        let value = value.trim();
        if let Some((_, allowed)) = FIXED.iter().find(|(fixed, _)| *fixed == key) {
            return match *allowed {
                "*" => Ok(()),
                allowed if allowed.split(' ').any(|word| word == value) => Ok(()),
                _ if key == "tcp_syncookies" => Err("SYN cookies".to_owned()),
                _ => Err(format!("{key} = {value}")),
            };
        }
        if key.starts_with("tcp_ecn_option")
            || key == "tcp_ecn" && !matches!(value, "0" | "1" | "2")
        {
            return Err("AccECN".to_owned());
        }
        let Some(slot) = self.values.get_mut(key) else {
            return Err(format!("the setting {key}"));
        };
        value.clone_into(slot);
        Ok(())
    }

    /// Changes a metric of the route.
    pub(crate) fn set_route(&mut self, name: &str, value: &str) -> Result<(), String> {
        match name {
            "mtu" | "initcwnd" | "cwnd" | "rto_min" | "features" | "congctl" => {
                self.values
                    .insert(format!("route_{name}"), value.to_owned());
                Ok(())
            }
            "fastopen_no_cookie" => Err("Fast Open".to_owned()),
            other => Err(format!("the route metric {other}")),
        }
    }

    /// Returns a setting; empty if there is none.
    fn text(&self, key: &str) -> &str {
        self.values.get(key).map_or("", String::as_str)
    }

    /// Returns a setting as a number; zero if it is none.
    pub(crate) fn number(&self, key: &str) -> u64 {
        self.text(key).parse().unwrap_or(0)
    }

    /// Returns a setting as three numbers; zero for those that are none.
    pub(crate) fn triple(&self, key: &str) -> [u64; 3] {
        let mut triple = [0; 3];
        for (slot, word) in triple.iter_mut().zip(self.text(key).split_whitespace()) {
            *slot = word.parse().unwrap_or(0);
        }
        triple
    }

    /// Returns the name of the congestion control of new connections.
    pub(crate) fn congestion_control(&self) -> &str {
        match self.text("route_congctl") {
            "" => self.text("tcp_congestion_control"),
            route_value => route_value,
        }
    }

    /// Returns the minimum segments of a burst, if the script has set it.
    fn min_tso_segs(&self) -> Option<u32> {
        let segments = self.number("tcp_min_tso_segs") as u32;
        (segments != 2).then_some(segments)
    }

    /// Returns the upper bound of the congestion window that the route sets, segments.
    pub(crate) fn cwnd_clamp(&self) -> Option<u32> {
        self.text("route_cwnd").parse().ok()
    }

    /// Returns the configuration of a new connection; `receive_buffer` is the memory that its application has set, bytes
    /// (`SO_RCVBUF`).
    pub(crate) fn config(&self, receive_buffer: Option<u64>) -> TcpConfig {
        let timestamps = self.number("tcp_timestamps") != 0;
        let mtu = match self.number("route_mtu") {
            0 => self.number("mtu"),
            route_value => route_value.min(self.number("mtu")),
        };
        let [_, rmem, rmem_max] = self.triple("tcp_rmem");
        let [_, wmem, wmem_max] = self.triple("tcp_wmem");
        // Half of the memory is window (`tcp_win_from_space` before the first segment).
        let max_window = receive_buffer.map_or(rmem_max, |memory| memory / 2);
        let shift = WindowScale::Automatic.shift(Bytes::new(max_window));
        let max_rto = Duration::from_millis(self.number("tcp_rto_max_ms").max(1));
        let ecn = self.number("tcp_ecn") == 1 || self.text("route_features") == "ecn";
        let millis = |text: &str| {
            text.trim_end_matches("ms")
                .parse()
                .map(Duration::from_millis)
                .ok()
        };
        let window_scale = match self.number("tcp_window_scaling") {
            0 => WindowScale::Off,
            _ => WindowScale::Fixed(shift.unwrap_or_default()),
        };
        let defaults = Tcp::default();
        let settings = Tcp {
            initial_window: match self.number("route_initcwnd") {
                0 => defaults.initial_window,
                cwnd => cwnd as u32,
            },
            min_rto: millis(self.text("route_rto_min"))
                .unwrap_or(Duration::from_micros(self.number("tcp_rto_min_us"))),
            timestamps,
            window_scale,
            receive_buffer_max: Bytes::new(receive_buffer.unwrap_or(rmem_max)),
            send_buffer_max: Bytes::new(wmem_max.max(wmem)),
            tlp: self.number("tcp_early_retrans") >= 3,
            f_rto: self.number("tcp_frto") != 0,
            pacing: self.fq,
            ecn,
            slow_start_after_idle: self.number("tcp_slow_start_after_idle") != 0,
            thin_linear_timeouts: self.number("tcp_thin_linear_timeouts") != 0,
            ..defaults
        };
        let defaults = TcpConfig::from(settings);
        TcpConfig {
            mss: mtu
                .saturating_sub(u64::from(self.ip_header) + 20 + if timestamps { 12 } else { 0 })
                .max(48) as u32,
            max_rto,
            initial_rto: defaults.initial_rto.min(max_rto),
            receive_buffer_initial: receive_buffer.unwrap_or(rmem),
            // packetdrill's device is a TUN device.
            net_device: NetDevice::Tun,
            gso_size: self.gso_size,
            timers: TimerExpiry::Exact,
            send_buffer_initial: wmem,
            sack: self.number("tcp_sack") != 0,
            reordering: self.number("tcp_reordering") as u32,
            min_burst_segments: self.min_tso_segs(),
            burst_window_divisor: self.number("tcp_tso_win_divisor") as u32,
            syn_retries: self.number("tcp_syn_retries") as u32,
            synack_retries: self.number("tcp_synack_retries") as u32,
            retries: self.number("tcp_retries2") as u32,
            ..defaults
        }
    }
}
