//! Consistency check of a segment-size file: mean sizes against declared bitrates.
//!
//! Contradictions (wrong unit, columns out of order) are rejected. Unlikely sizes give a note.

use units::Rate;

use crate::manifest::Manifest;

/// A unit is wrong if the sizes of all bitrates are too large, or all too small, by this factor. A film that is harder
/// or easier to encode than the bitrates assume is not that far off in all of its encodings.
const WRONG_UNIT_FACTOR: f64 = 5.0;
/// Columns are swapped if a mean size is less than this share of that of the next lower bitrate. Encodings of close
/// bitrates may differ by less either way.
const SWAPPED_RATIO: f64 = 0.9;
/// Relative deviation of the mean size from its bitrate above which a note is given.
const MAX_DEVIATION: f64 = 0.5;

/// Mean segment size of a bitrate.
struct MeanSize {
    rate: Rate,
    /// Mean size in the file, bits.
    bits: f64,
    /// Size by the declared bitrate, bits.
    expected: f64,
}

impl MeanSize {
    fn size_ratio(&self) -> f64 {
        self.bits / self.expected
    }
}

/// Checks the sizes of a manifest; returns notes on unlikely ones.
///
/// # Errors
/// The contradiction between sizes and rates, and its remedy.
pub(crate) fn check(manifest: &Manifest) -> Result<Vec<String>, String> {
    let seconds = manifest.segment_duration().as_secs_f64();
    let mean = |quality: usize| {
        let rate = manifest.representations()[quality].rate;
        MeanSize {
            rate,
            bits: manifest.mean_video_bytes(quality) * 8.0,
            expected: rate.bits_per_second() as f64 * seconds,
        }
    };
    let means: Vec<MeanSize> = (0..=manifest.top()).map(mean).collect();
    check_order(&means)?;
    check_unit(&means, seconds)?;
    Ok(notes(&means, seconds))
}

/// Rejects sizes that fall while the bitrate rises.
fn check_order(means: &[MeanSize]) -> Result<(), String> {
    let fall = means
        .windows(2)
        .find(|pair| pair[1].bits < SWAPPED_RATIO * pair[0].bits);
    fall.map_or(Ok(()), |pair| {
        let (low, high) = (&pair[0], &pair[1]);
        Err(format!(
            "the sizes of {} have a mean of {:.0} bits (expected {:.0}), less than those of {}, {:.0} bits (expected \
             {:.0}); allowed: columns in the order of bitrates_kbps",
            high.rate, high.bits, high.expected, low.rate, low.bits, low.expected
        ))
    })
}

/// Rejects sizes that all are too small, or all too large, by a large factor.
fn check_unit(means: &[MeanSize], seconds: f64) -> Result<(), String> {
    let too_small = means
        .iter()
        .all(|mean| mean.size_ratio() * WRONG_UNIT_FACTOR <= 1.0);
    let too_large = means
        .iter()
        .all(|mean| mean.size_ratio() >= WRONG_UNIT_FACTOR);
    if !too_small && !too_large {
        return Ok(());
    }
    let logarithms: f64 = means.iter().map(|mean| libm::log(mean.size_ratio())).sum();
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

/// Returns notes on unlikely sizes.
fn notes(means: &[MeanSize], seconds: f64) -> Vec<String> {
    let mut notes = Vec::new();
    let off = means
        .iter()
        .filter(|mean| (mean.size_ratio() - 1.0).abs() > MAX_DEVIATION)
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
            "the mean size of {} is not larger than that of {}",
            pair[1].rate, pair[0].rate
        ));
    }
    notes
}
