//! Consistency of a file of segment sizes: whether its sizes go with its rates.
//!
//! Contradictions are refused: a wrong unit, or columns in another order than the rates. Sizes that are only unlikely
//! have a note.

use units::Rate;

use crate::manifest::Manifest;

/// Factor between sizes and rates from which on, for all rates alike, a unit is wrong. A film that is harder or easier
/// than what the rates are made for is not that far off in all of its encodings.
const WRONG_UNIT: f64 = 5.0;
/// Mean size, as a part of that of the rate below, under which columns have been exchanged. Encodings of close rates
/// may differ by less either way.
const EXCHANGED: f64 = 0.9;
/// Deviation of the mean size from its rate from which on there is a note.
const DEVIATION: f64 = 0.5;

/// Mean of the sizes of a rate.
struct Mean {
    rate: Rate,
    /// Bits that were found.
    bits: f64,
    /// Bits that a segment of the rate has.
    expected: f64,
}

impl Mean {
    fn factor(&self) -> f64 {
        self.bits / self.expected
    }
}

/// Checks the sizes of a video that has been read, and returns notes on what is unlikely.
///
/// # Errors
/// The contradiction between sizes and rates, and its remedy.
pub(crate) fn check(manifest: &Manifest) -> Result<Vec<String>, String> {
    let seconds = manifest.segment().as_secs_f64();
    let mean = |quality: usize| {
        let rate = manifest.representations()[quality].rate;
        Mean {
            rate,
            bits: manifest.mean_video(quality) * 8.0,
            expected: rate.bits_per_second() as f64 * seconds,
        }
    };
    let means: Vec<Mean> = (0..=manifest.top()).map(mean).collect();
    check_order(&means)?;
    check_unit(&means, seconds)?;
    Ok(notes(&means, seconds))
}

/// Refuses sizes that fall where the rate rises.
fn check_order(means: &[Mean]) -> Result<(), String> {
    let fall = means
        .windows(2)
        .find(|pair| pair[1].bits < EXCHANGED * pair[0].bits);
    fall.map_or(Ok(()), |pair| {
        let (low, high) = (&pair[0], &pair[1]);
        Err(format!(
            "the sizes of {} have a mean of {:.0} bits (expected {:.0}), less than those of {}, {:.0} bits (expected \
             {:.0}); allowed: columns in the order of bitrates_kbps",
            high.rate, high.bits, high.expected, low.rate, low.bits, low.expected
        ))
    })
}

/// Refuses sizes that all are too small or too large by a large factor.
fn check_unit(means: &[Mean], seconds: f64) -> Result<(), String> {
    let too_small = means.iter().all(|mean| mean.factor() * WRONG_UNIT <= 1.0);
    let too_large = means.iter().all(|mean| mean.factor() >= WRONG_UNIT);
    if !too_small && !too_large {
        return Ok(());
    }
    let logarithms: f64 = means.iter().map(|mean| libm::log(mean.factor())).sum();
    let factor = libm::exp(logarithms.abs() / means.len() as f64);
    let is_near = |unit: f64| (unit / 1.7..unit * 1.7).contains(&factor);
    let remedy = match (is_near(8.0), is_near(1_000.0)) {
        (true, _) if too_small => "they look like bytes: multiply the sizes by 8",
        (true, _) => "the bitrates look like kilobytes per second: multiply bitrates_kbps by 8",
        (_, true) if too_small => {
            "they look like kilobits, or the bitrates like bit/s: multiply the sizes, or divide bitrates_kbps, by 1000"
        }
        (_, true) => {
            "the bitrates look like Mbit/s, or the duration like seconds: multiply bitrates_kbps or \
             segment_duration_ms by 1000"
        }
        _ => "allowed: sizes in bits, bitrates in kbit/s, the duration in ms",
    };
    let (first, size) = (&means[0], if too_small { "small" } else { "large" });
    Err(format!(
        "the sizes of {} have a mean of {:.0} bits (expected {:.0} in {seconds} s), and those of all bitrates are too \
         {size} by a factor of about {factor:.1}; {remedy}",
        first.rate, first.bits, first.expected
    ))
}

/// Returns what is unlikely.
fn notes(means: &[Mean], seconds: f64) -> Vec<String> {
    let mut notes = Vec::new();
    let off = means
        .iter()
        .filter(|mean| (mean.factor() - 1.0).abs() > DEVIATION)
        .map(|mean| format!("{} has {:.0}kbit/s", mean.rate, mean.bits / seconds / 1e3));
    let off: Vec<String> = off.collect();
    if !off.is_empty() {
        notes.push(format!(
            "the mean rate of the sizes is more than half off that of bitrates_kbps, by which qualities are chosen: {}",
            off.join(", ")
        ));
    }
    for pair in means.windows(2).filter(|pair| pair[1].bits <= pair[0].bits) {
        notes.push(format!(
            "the sizes of {} are in the mean not larger than those of {}",
            pair[1].rate, pair[0].rate
        ));
    }
    notes
}
