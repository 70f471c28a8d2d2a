//! Reader of the logs of NYU-METS: one line per second, the throughput first. A line is iPerf's `3.97,Mbits/sec`, or
//! has eight columns of which the first is in Mbit/s (Mei et al., "Realtime mobile bandwidth prediction using LSTM
//! neural network", PAM 2019).

use units::{Duration, Rate};

use super::column_unit::RateUnit;
use super::{LineError, lines, number};
use crate::Steps;

/// Columns of the logs of 2020: throughput (Mbit/s), LTE neighbours, RSSI, RSRQ, change of the eNodeB, timing
/// advance, speed, band.
const COLUMNS: usize = 8;
/// Highest rate, a terabit per second: more is a mistake of units.
const MAX_MBPS: f64 = 1e6;

/// Returns whether a text looks like such a log: iPerf's `3.97,Mbits/sec`, or eight numbers a line of which the first
/// is no time, as it does not rise.
pub(super) fn is_one(text: &str) -> bool {
    let head: Vec<Vec<&str>> = lines(text)
        .take(50)
        .map(|(_, line)| line.split(',').map(str::trim).collect())
        .collect();
    let Some(first) = head.first() else {
        return false;
    };
    if let [rate, unit] = first.as_slice() {
        return number(rate).is_some() && RateUnit::spelled(unit).is_some();
    }
    let firsts: Vec<Option<f64>> = head.iter().map(|row| number(row[0])).collect();
    let falls = firsts
        .windows(2)
        .any(|pair| matches!((pair[0], pair[1]), (Some(before), Some(after)) if after < before));
    let numbers = |row: &Vec<&str>| {
        row.len() == COLUMNS && row.iter().all(|field| field.parse::<f64>().is_ok())
    };
    falls && head.iter().all(numbers)
}

pub(super) fn read(text: &str) -> Result<Steps, LineError> {
    let mut steps = Vec::new();
    let mut seconds = 0;
    for (line, content) in lines(text) {
        let mut fields = content.split(',').map(str::trim);
        let rate = fields.next().unwrap_or_default();
        let unit = match fields.next() {
            Some(unit) if number(unit).is_none() => RateUnit::spelled(unit).ok_or_else(|| {
                LineError::on(line, format_args!("{unit:?} is no unit of a rate"))
            })?,
            _ => RateUnit::DEFAULT,
        };
        let mbps = number(rate)
            .map(|rate| rate * unit.mbps)
            .filter(|&mbps| mbps <= MAX_MBPS)
            .ok_or_else(|| {
                let allowed = "must be a number from 0 on";
                LineError::on(line, format_args!("throughput {rate:?} {allowed}"))
            })?;
        steps.push((Duration::from_secs(seconds), Rate::from_mbps(mbps)));
        seconds += 1;
    }
    Steps::new(&steps, Duration::from_secs(seconds)).map_err(LineError::without_line)
}
