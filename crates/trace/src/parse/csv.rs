//! Reader of `time,Mbit/s` files.

use units::{Duration, Rate};

use super::{Mistake, lines, number};
use crate::Steps;

/// Highest rate, a terabit per second: more is a mistake of units.
const MAX_MBPS: f64 = 1e6;
/// Latest time, some thirty years in seconds.
const MAX_SECONDS: f64 = 1e9;

pub(super) fn read(text: &str) -> Result<Steps, Mistake> {
    let mut steps: Vec<(Duration, Rate)> = Vec::new();
    let mut first = None;
    for (index, (line, content)) in lines(text).enumerate() {
        let mut fields = content.split(',').map(str::trim);
        let (Some(time), Some(rate)) = (fields.next(), fields.next()) else {
            let wanted = "\"time,rate\" (seconds, Mbit/s)";
            return Err(Mistake::on(
                line,
                format_args!("{content:?} is not {wanted}"),
            ));
        };
        let names = |field: &str| field.parse::<f64>().is_err();
        if index == 0 && names(time) && names(rate) {
            continue;
        }
        let seconds = number(time)
            .filter(|&seconds| seconds <= MAX_SECONDS)
            .ok_or_else(|| {
                let allowed = format!("must be a number of seconds from 0 to {MAX_SECONDS}");
                Mistake::on(line, format_args!("time {time:?} {allowed}"))
            })?;
        let mbps = number(rate)
            .filter(|&mbps| mbps <= MAX_MBPS)
            .ok_or_else(|| {
                let allowed = format!("must be a number of Mbit/s from 0 to {MAX_MBPS}");
                Mistake::on(line, format_args!("rate {rate:?} {allowed}"))
            })?;
        let at = Duration::from_secs_f64(seconds);
        let origin = *first.get_or_insert(at);
        if let Some(&(before, _)) = steps.last()
            && at <= origin + before
        {
            let before = origin + before;
            let order = format_args!("time {at} does not come after {before}: times must increase");
            return Err(Mistake::on(line, order));
        }
        steps.push((at - origin, Rate::from_mbps(mbps)));
    }
    let length = match *steps.as_slice() {
        [] => return Err(Mistake::anywhere("no line with a time and a rate")),
        [_] => Duration::from_secs(1),
        [.., (before, _), (last, _)] => last - before,
    };
    let period = steps[steps.len() - 1].0 + length;
    Steps::new(&steps, period).map_err(Mistake::anywhere)
}
