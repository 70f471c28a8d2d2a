//! Shell commands of a script, as far as they change settings that the native TCP models.

use crate::settings::Settings;

/// Settings of the `defaults.sh` of Linux's tests.
const DEFAULTS_SH: &[(&str, &str)] = &[
    ("tcp_rmem", "4096 540000 15728640"),
    ("tcp_wmem", "4096 262144 4194304"),
    ("tcp_timestamps", "1"),
    ("tcp_frto", "2"),
    ("tcp_sack", "1"),
    ("tcp_dsack", "1"),
    ("tcp_reordering", "3"),
    ("tcp_congestion_control", "cubic"),
    ("tcp_slow_start_after_idle", "0"),
    ("tcp_early_retrans", "4"),
    ("tcp_recovery", "1"),
    ("tcp_tso_win_divisor", "3"),
    ("tcp_ecn", "0"),
    ("tcp_pacing_ss_ratio", "200"),
    ("tcp_pacing_ca_ratio", "120"),
];

/// Files of module parameters, with the values that the native TCP has.
const MODULE_PARAMETERS: &[(&str, &str)] = &[
    ("/sys/module/tcp_cubic/parameters/hystart", "1"),
    ("/sys/module/tcp_cubic/parameters/hystart_detect", "3"),
    ("/sys/module/tcp_cubic/parameters/hystart_low_window", "16"),
    ("/sys/module/tcp_cubic/parameters/tcp_friendliness", "1"),
    ("/sys/module/tcp_cubic/parameters/fast_convergence", "1"),
];

/// Programs without effect on TCP.
const WITHOUT_EFFECT: &[&str] = &[
    "rm", "dd", "true", "sleep", "date", "modprobe", "touch", "chmod", "set", "export",
];

/// Executes the commands of a snippet.
///
/// # Errors
/// Description of what is not modelled.
pub(crate) fn run(text: &str, settings: &mut Settings) -> Result<(), String> {
    let text = text.replace("\\\n", " ");
    for line in text.lines() {
        for command in line.split(';').flat_map(|part| part.split("&&")) {
            let words = words(command);
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            if let Some((program, arguments)) = words.split_first() {
                run_program(program, arguments, settings)?;
            }
        }
    }
    Ok(())
}

fn run_program(program: &str, arguments: &[&str], settings: &mut Settings) -> Result<(), String> {
    let name = program.rsplit('/').next().unwrap_or(program);
    match name {
        "defaults.sh" => DEFAULTS_SH
            .iter()
            .try_for_each(|(key, value)| settings.set(key, value)),
        "sysctl" => sysctl(arguments, settings),
        "set_sysctls.py" => arguments.iter().try_for_each(|word| assign(word, settings)),
        "ethtool" => {
            ethtool(arguments, settings);
            Ok(())
        }
        "tc" => qdisc(arguments, settings),
        "ip" => ip(arguments, settings),
        "echo" => echo(arguments, settings),
        "nstat" if !arguments.contains(&"|") => Ok(()),
        "nstat" => Err("counters of the kernel (nstat)".to_owned()),
        _ if name.starts_with("sysctl_restore") || WITHOUT_EFFECT.contains(&name) => Ok(()),
        _ => Err(format!("the shell command {name}")),
    }
}

/// Returns the words of a command without quotation marks, redirections of errors and comments.
fn words(command: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quote = None;
    let mut depth = 0_u32;
    for c in command.chars() {
        match c {
            '"' | '\'' if quote.is_none() => quote = Some(c),
            c if quote == Some(c) => quote = None,
            '#' if quote.is_none() && words.last().is_some_and(String::is_empty) => break,
            c if c.is_whitespace() && quote.is_none() && depth == 0 => words.push(String::new()),
            c => {
                depth = (depth + u32::from(c == '(')).saturating_sub(u32::from(c == ')'));
                if let Some(word) = words.last_mut() {
                    word.push(c);
                }
            }
        }
    }
    words.retain(|word| !word.is_empty() && !word.starts_with("2>"));
    words
}

fn sysctl(arguments: &[&str], settings: &mut Settings) -> Result<(), String> {
    let values = arguments
        .iter()
        .filter(|word| !word.starts_with(['-', '>']) && word.contains('='));
    values
        .into_iter()
        .try_for_each(|word| assign(word, settings))
}

/// Handles `key=value`, where the key may be a path below `/proc/sys`.
fn assign(word: &str, settings: &mut Settings) -> Result<(), String> {
    let Some((key, value)) = word.split_once('=') else {
        return Err(format!("the setting {word}"));
    };
    settings.set(setting_name(key), &expand(value))
}

/// Returns the name of a setting in its path.
fn setting_name(path: &str) -> &str {
    path.rsplit(['/', '.']).next().unwrap_or(path)
}

/// Replaces `$((a*b))` by its value.
fn expand(value: &str) -> String {
    let mut expanded = String::new();
    let mut rest = value;
    while let Some((before, after)) = rest.split_once("$((") {
        let Some((inner, after)) = after.split_once("))") else {
            break;
        };
        let mut factors = inner.split('*').map(|factor| factor.trim().parse::<u64>());
        let product = factors.try_fold(1, |product: u64, factor| {
            factor.map(|factor| product.saturating_mul(factor))
        });
        expanded.push_str(before);
        expanded.push_str(&product.map_or(inner.to_owned(), |product| product.to_string()));
        rest = after;
    }
    expanded + rest
}

/// Handles `echo value > /proc/sys/...`.
fn echo(arguments: &[&str], settings: &mut Settings) -> Result<(), String> {
    let Some(redirect) = arguments.iter().position(|word| word.starts_with('>')) else {
        return Ok(());
    };
    let target = match arguments[redirect].trim_start_matches('>') {
        "" => arguments.get(redirect + 1).copied().unwrap_or_default(),
        path => path,
    };
    let value = arguments[..redirect].join(" ");
    if MODULE_PARAMETERS.contains(&(target, value.as_str())) {
        return Ok(());
    }
    match target.strip_prefix("/proc/sys/") {
        Some(path) => settings.set(setting_name(path), &value),
        None => Err(format!("writing {value} to {target}")),
    }
}

fn ethtool(arguments: &[&str], settings: &mut Settings) {
    for pair in arguments.windows(2) {
        if matches!(pair[0], "tso" | "gso") {
            settings.offload = pair[1] == "on";
        }
    }
}

fn qdisc(arguments: &[&str], settings: &mut Settings) -> Result<(), String> {
    if arguments.contains(&"netem") || arguments.windows(2).any(|pair| pair == ["limit", "0"]) {
        return Err("a queueing discipline that drops or delays".to_owned());
    }
    settings.fq =
        arguments.contains(&"fq") && !arguments.iter().any(|word| word.starts_with("del"));
    Ok(())
}

/// Handles `ip link set mtu`, `ip route` and `ip tcp_metrics`.
fn ip(arguments: &[&str], settings: &mut Settings) -> Result<(), String> {
    let object = arguments
        .iter()
        .find(|word| !word.starts_with('-'))
        .copied()
        .unwrap_or_default();
    let value_of = |name: &str| {
        let at = arguments.iter().position(|word| *word == name)?;
        let value = arguments
            .get(at + 1)
            .filter(|value| **value != "lock")
            .or(arguments.get(at + 2))?;
        Some((*value).to_owned())
    };
    match object {
        "tcp_metrics" | "neigh" | "neighbor" | "addr" | "address" => Ok(()),
        "link" => value_of("mtu").map_or(Ok(()), |mtu| settings.set("mtu", &mtu)),
        "route" | "ro" | "r" => {
            for name in [
                "mtu",
                "initcwnd",
                "initrwnd",
                "cwnd",
                "ssthresh",
                "rto_min",
                "advmss",
                "quickack",
                "window",
                "rtt",
                "reordering",
                "features",
                "congctl",
                "fastopen_no_cookie",
            ] {
                if let Some(value) = value_of(name) {
                    settings.set_route(name, &value)?;
                }
            }
            Ok(())
        }
        other => Err(format!("the shell command ip {other}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sysctls_are_set_by_each_way_of_writing() {
        let mut settings = Settings::default();
        let text = "sysctl -q net.ipv4.tcp_rmem=\"4096 131072 $((32*1024*1024))\"  # comment\n\
            ./set_sysctls.py /proc/sys/net/ipv4/tcp_slow_start_after_idle=1 \\\n /proc/sys/net/ipv4/tcp_min_tso_segs=10\n\
            echo 3 > /proc/sys/net/ipv4/tcp_reordering; sysctl -q net/ipv4/tcp_sack=0";
        run(text, &mut settings).expect("all are modelled");
        assert_eq!(settings.triple("tcp_rmem"), [4_096, 131_072, 32 << 20]);
        assert_eq!(settings.number("tcp_slow_start_after_idle"), 1);
        assert_eq!(settings.number("tcp_min_tso_segs"), 10);
        assert_eq!(settings.number("tcp_reordering"), 3);
        assert_eq!(settings.number("tcp_sack"), 0);
    }

    #[test]
    fn what_is_not_modelled_is_named() {
        let mut settings = Settings::default();
        for (command, word) in [
            ("nstat | grep -q TcpExt", "nstat"),
            ("tc qdisc add dev tun0 root pfifo limit 0", "queueing"),
            ("iptables -A INPUT", "iptables"),
            ("sysctl -q net.ipv4.tcp_syncookies=2", "cookies"),
        ] {
            let reason = run(command, &mut settings).expect_err(command);
            assert!(reason.contains(word), "{command}: {reason}");
        }
        run(
            "ip tcp_metrics flush all > /dev/null 2>&1\ntc qdisc add dev tun0 root pfifo",
            &mut settings,
        )
        .expect("no effect");
    }
}
