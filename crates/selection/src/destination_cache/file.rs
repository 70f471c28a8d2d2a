//! Memory file: reading, with errors that name destination, field, value and what is allowed.

use std::collections::BTreeMap;

use toml::{Table, Value};

use super::{CcaStats, DestinationEntry};
use crate::file_text::{FieldError, cca_named, check_text, in_one_line};

/// Longest RTT that a connection survives, ms: `TCP_RTO_MAX`.
const MAX_RTT_MS: f64 = 120_000.0;

/// Parses the destinations in the text of a file.
pub(super) fn read(text: &str) -> Result<BTreeMap<String, DestinationEntry>, String> {
    check_text(text)?;
    let file: Table = toml::from_str(text).map_err(|error| in_one_line(text, &error))?;
    destinations(&file).map_err(|(field, reason)| format!("{field}: {reason}"))
}

fn destinations(file: &Table) -> Result<BTreeMap<String, DestinationEntry>, FieldError> {
    let mut result = BTreeMap::new();
    for (field, value) in file {
        if field != "destinations" {
            return Err(unknown(field, &["destinations"]));
        }
        for (name, value) in table(field, value)? {
            let place = format!("{field}.{name}");
            result.insert(name.clone(), remembered(&place, table(&place, value)?)?);
        }
    }
    Ok(result)
}

fn remembered(place: &str, entry: &Table) -> Result<DestinationEntry, FieldError> {
    let mut known = DestinationEntry::default();
    for (name, value) in entry {
        let field = format!("{place}.{name}");
        match name.as_str() {
            "connections" => known.connections = count(field, value)?,
            "min_rtt_ms" => known.min_rtt_ms = number(field, value, MAX_RTT_MS)?,
            "max_rate_mbps" => known.max_rate_mbps = number(field, value, f64::MAX)?,
            "capacity_mbps" => known.capacity_mbps = number(field, value, f64::MAX)?,
            "buffer_segments" => known.buffer_segments = number(field, value, f64::MAX)?,
            "retransmitted" => known.retransmitted = number(field, value, 1.0)?,
            "ccas" => {
                for (cca, value) in table(&field, value)? {
                    let place = format!("{field}.{cca}");
                    check_name(&place, cca)?;
                    let tried = tried(&place, table(&place, value)?)?;
                    known.ccas.insert(cca.clone(), tried);
                }
            }
            _ => {
                let allowed = [
                    "connections",
                    "min_rtt_ms",
                    "max_rate_mbps",
                    "capacity_mbps",
                    "buffer_segments",
                    "retransmitted",
                    "ccas",
                ];
                return Err(unknown(&field, &allowed));
            }
        }
    }
    Ok(known)
}

fn tried(place: &str, entry: &Table) -> Result<CcaStats, FieldError> {
    let mut tried = CcaStats::default();
    for (name, value) in entry {
        let field = format!("{place}.{name}");
        match name.as_str() {
            "connections" => tried.connections = count(field, value)?,
            "cost" => tried.cost = number(field, value, f64::MAX)?,
            _ => return Err(unknown(&field, &["connections", "cost"])),
        }
    }
    Ok(tried)
}

/// Checks that a key is the kernel's name of a CCA, as selectors use it.
fn check_name(field: &str, name: &str) -> Result<(), FieldError> {
    match cca_named(name) {
        Ok(known) if known == name => Ok(()),
        Ok(known) => Err((
            field.to_owned(),
            format!("{name:?} is another name of {known:?}; allowed: {known}"),
        )),
        Err(reason) => Err((field.to_owned(), reason)),
    }
}

fn table<'a>(field: &str, value: &'a Value) -> Result<&'a Table, FieldError> {
    value.as_table().ok_or_else(|| {
        (
            field.to_owned(),
            format!("{value} is not allowed; allowed: a table"),
        )
    })
}

fn count(field: String, value: &Value) -> Result<u32, FieldError> {
    let whole = value
        .as_integer()
        .and_then(|whole| u32::try_from(whole).ok());
    whole.ok_or_else(|| {
        let most = u32::MAX;
        let reason = format!("{value} is not allowed; allowed: whole numbers from 0 to {most}");
        (field, reason)
    })
}

fn number(field: String, value: &Value, most: f64) -> Result<f64, FieldError> {
    let number = value
        .as_float()
        .or(value.as_integer().map(|whole| whole as f64));
    number
        .filter(|number| (0.0..=most).contains(number))
        .ok_or_else(|| {
            let end = if most < f64::MAX {
                format!(" to {most}")
            } else {
                String::new()
            };
            let reason = format!("{value} is not allowed; allowed: numbers from 0{end}");
            (field, reason)
        })
}

fn unknown(field: &str, allowed: &[&str]) -> FieldError {
    let reason = format!("there is no such field; allowed: {}", allowed.join(", "));
    (field.to_owned(), reason)
}

#[cfg(test)]
mod tests {
    use super::read;

    #[test]
    fn what_is_wrong_is_named() {
        let wrong = |line: &str| {
            let text = format!("[destinations.phone]\nconnections = 2\n{line}\n");
            read(&text).expect_err("it is wrong")
        };
        for (line, message) in [
            (
                "min_rtt_ms = inf",
                "destinations.phone.min_rtt_ms: inf is not allowed; allowed: numbers from 0 to 120000",
            ),
            (
                "min_rtt_ms = nan",
                "destinations.phone.min_rtt_ms: nan is not allowed; allowed: numbers from 0 to 120000",
            ),
            (
                "min_rtt_ms = -5.0",
                "destinations.phone.min_rtt_ms: -5.0 is not allowed; allowed: numbers from 0 to 120000",
            ),
            (
                "capacity_mbps = \"fast\"",
                "destinations.phone.capacity_mbps: \"fast\" is not allowed; allowed: numbers from 0",
            ),
            (
                "retransmitted = 2",
                "destinations.phone.retransmitted: 2 is not allowed; allowed: numbers from 0 to 1",
            ),
            (
                "min_rtt = 5",
                "destinations.phone.min_rtt: there is no such field; allowed: connections, min_rtt_ms, \
                 max_rate_mbps, capacity_mbps, buffer_segments, retransmitted, ccas",
            ),
            (
                "ccas.cubic.cost = -3",
                "destinations.phone.ccas.cubic.cost: -3 is not allowed; allowed: numbers from 0",
            ),
            (
                "ccas.cubic.connections = -1",
                "destinations.phone.ccas.cubic.connections: -1 is not allowed; \
                 allowed: whole numbers from 0 to 4294967295",
            ),
            (
                "ccas.cubic = 3",
                "destinations.phone.ccas.cubic: 3 is not allowed; allowed: a table",
            ),
            (
                "ccas.newreno.cost = 1",
                "destinations.phone.ccas.newreno: \"newreno\" is another name of \"reno\"; allowed: reno",
            ),
        ] {
            assert_eq!(wrong(line), message);
        }
        let cubix = wrong("ccas.cubix.cost = 1.0");
        let message = "destinations.phone.ccas.cubix: \"cubix\" is not a congestion control; did you mean \"cubic\"?; \
                    allowed: ";
        assert!(cubix.starts_with(message), "{cubix}");
        assert!(wrong("min_rtt_ms = ").starts_with("line 3: "));
        let other = read("[places.phone]").expect_err("it is wrong");
        assert_eq!(
            other,
            "places: there is no such field; allowed: destinations"
        );
    }
}
