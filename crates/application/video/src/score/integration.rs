//! Integration by ITU-T P.1203.3: from scores for each second, start-up and stalls to the score of the session.

use super::forest::{Features, Forest};

/// Audio score of a video without audio.
pub(crate) const NO_AUDIO: f64 = 5.0;

/// Audiovisual score of a second (clause 8.2).
const AV: [f64; 4] = [-0.000_690_84, 0.153_742_83, 0.971_538_61, 0.024_617_76];
/// Weights of the seconds: later ones and bad ones count more.
const T: [f64; 5] = [
    0.006_666_200_279_438_48,
    0.000_040_401_884_027_372_9,
    0.156_497_800_436_237,
    0.143_179_744_942_738,
    0.023_864_156_451_887_6,
];
/// Negative bias: limit and half-life, s, of the weight of a bad second by the time from it to the end.
const C: [f64; 2] = [1.874_036_25, 7.854_164_81];
const C23: f64 = 0.018_538_20;
/// Weight of stalls by the time from them to the end: limit and half-life, s.
const MEMORY: [f64; 2] = [0.484_128_79, 10.0];
/// Impact of the stalls: their number, time and distance.
const S: [f64; 3] = [9.351_586_84, 0.918_908_15, 11.056_755_8];
/// Compensation of oscillations, and of adaptation.
const COMP: [f64; 4] = [0.677_560_80, -8.055_333_03, 0.173_325_53, -0.010_356_47];
/// Final adjustment.
const F: [f64; 2] = [0.028_330_52, 0.981_170_59];
/// Minimum change of the video's score that counts.
const MIN_SCORE_CHANGE: f64 = 0.2;
/// Seconds that are averaged for changes of direction, and the step between averages.
const AVERAGING_S: usize = 5;
const STEP: usize = 3;
/// Part of the forest in the score, where there is one.
const FOREST: f64 = 0.25;

/// Time without playback: a stall, or the start-up at 0.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct StallEvent {
    /// Video played before, s.
    pub at: f64,
    /// Time that it lasts, s.
    pub length: f64,
}

/// Scores of a session, from 1 to 5.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct P1203Scores {
    /// O.23: stalling.
    pub o23: f64,
    /// O.35: audiovisual coding.
    pub o35: f64,
    /// O.46: the session as a whole.
    pub o46: f64,
}

/// Integrates the scores O.21 of the audio and O.22 of the video, one for each second; nothing if there is none. The
/// interruptions are in the order of time.
pub fn integrate(
    audio: &[f64],
    video: &[f64],
    interruptions: &[StallEvent],
    forest: Option<&Forest>,
) -> Option<P1203Scores> {
    let seconds = audio.len().min(video.len());
    if seconds == 0 {
        return None;
    }
    let (audio, video) = (&audio[..seconds], &video[..seconds]);
    let counts = |event: &&StallEvent| event.length > 0.0 && event.at <= seconds as f64;
    let interruptions: Vec<StallEvent> = interruptions.iter().filter(counts).copied().collect();
    let impact = stalling(&interruptions, seconds as f64);
    let o35 = coding(audio, video);
    let parametric = (1.0 + (o35 - 1.0) * impact).clamp(1.0, 5.0);
    let score = match forest {
        Some(forest) => {
            let prediction = forest.answer(&features(audio, video, &interruptions));
            (1.0 - FOREST) * parametric + FOREST * prediction
        }
        None => parametric,
    };
    Some(P1203Scores {
        o23: 1.0 + 4.0 * impact,
        o35,
        o46: F[0] + F[1] * score,
    })
}

/// Returns the function that goes from 1 to a limit, with a half-life in the unit of `time`.
fn fading(limit: f64, half_life: f64, time: f64) -> f64 {
    limit + (1.0 - limit) * libm::exp2(-time / half_life)
}

/// Returns the factor by which stalls lower the score.
fn stalling(interruptions: &[StallEvent], seconds: f64) -> f64 {
    let count = interruptions.len() as f64;
    let weighted =
        |event: &StallEvent| event.length * fading(MEMORY[0], MEMORY[1], seconds - event.at);
    let time: f64 = interruptions.iter().map(weighted).sum();
    let interval = match interruptions {
        [first, .., last] => (last.at - first.at) / (count - 1.0),
        _ => 0.0,
    };
    libm::exp(-count / S[0])
        * libm::exp(-time / seconds / S[1])
        * libm::exp(-interval / seconds / S[2])
}

/// Returns O.35.
fn coding(audio: &[f64], video: &[f64]) -> f64 {
    let seconds = video.len() as f64;
    let both = |(audio, video): (&f64, &f64)| {
        (AV[0] + AV[1] * audio + AV[2] * video + AV[3] * audio * video).clamp(1.0, 5.0)
    };
    let scores: Vec<f64> = audio.iter().zip(video).map(both).collect();
    let (mut sum, mut weights) = (0.0, 0.0);
    for (second, score) in scores.iter().enumerate() {
        let late = T[0] + T[1] * libm::exp(second as f64 / seconds / T[2]);
        let weight = late * (T[3] - T[4] * score);
        sum += weight * score;
        weights += weight;
    }
    let baseline = sum / weights;
    let bias = |(second, score): (usize, &f64)| {
        let before_end = seconds - second as f64 - 1.0;
        (score - baseline) * fading(C[0], C[1], before_end)
    };
    let biases: Vec<f64> = scores.iter().enumerate().map(bias).collect();
    let negative = (-percentile(&biases, 10.0)).max(0.0) * C23;

    let highest = video.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let lowest = video.iter().copied().fold(f64::INFINITY, f64::min);
    let spread = highest - lowest;
    let is_change = |pair: &&[f64]| (pair[1] - pair[0]).abs() > MIN_SCORE_CHANGE;
    let change_rate = video.windows(2).filter(is_change).count() as f64 / seconds;
    let (longest, changes) = directions(video);
    let is_restless = longest / seconds < 0.25;
    let oscillation = if is_restless && longest < 30.0 {
        let differing = (1.0 + libm::log10(spread + 0.001)).max(0.0);
        (differing * libm::exp(COMP[0] * changes + COMP[1])).clamp(0.0, 1.5)
    } else {
        0.0
    };
    let adaptation = if is_restless {
        (COMP[2] * spread * change_rate + COMP[3]).clamp(0.0, 0.5)
    } else {
        0.0
    };
    baseline - negative - oscillation - adaptation
}

/// Returns the longest time without a change of direction of the smoothed video quality, s, and the number of its rises
/// and falls.
fn directions(video: &[f64]) -> (f64, f64) {
    // The first averages begin before the video.
    let lead = AVERAGING_S as isize - 1;
    let last = video.len() as isize - 1;
    let at = |index: isize| video[index.clamp(0, last) as usize];
    let smooth = |start: isize| {
        (start..start + AVERAGING_S as isize).map(at).sum::<f64>() / AVERAGING_S as f64
    };
    let samples: Vec<f64> = (-lead..=last).step_by(STEP).map(smooth).collect();
    let direction = |pair: &[f64]| match pair[1] - pair[0] {
        rise if rise > MIN_SCORE_CHANGE => 1,
        fall if fall <= -MIN_SCORE_CHANGE => -1,
        _ => 0,
    };
    let all: Vec<i32> = samples.windows(2).map(direction).collect();
    let mut turns: Vec<usize> = Vec::new();
    let mut previous = 0;
    for (index, direction) in all.iter().enumerate() {
        if *direction != 0 && *direction != previous {
            turns.push(index);
            previous = *direction;
        }
    }
    let starts = [0].into_iter().chain(turns.iter().copied());
    let ends = turns.iter().copied().chain([all.len()]);
    let longest = starts
        .zip(ends)
        .map(|(start, end)| end - start)
        .max()
        .unwrap_or(0);
    ((longest * STEP) as f64, turns.len() as f64)
}

/// Returns a percentile, with linear interpolation.
fn percentile(values: &[f64], percent: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let position = percent / 100.0 * (sorted.len() - 1) as f64;
    let below = libm::floor(position) as usize;
    let above = (below + 1).min(sorted.len() - 1);
    sorted[below] + (sorted[above] - sorted[below]) * (position - below as f64)
}

/// Returns the means of parts of equal length.
fn parts<const COUNT: usize>(scores: &[f64]) -> [f64; COUNT] {
    let length = scores.len() as f64 / COUNT as f64;
    core::array::from_fn(|part| {
        let (from, to) = (part as f64 * length, (part + 1) as f64 * length);
        let overlap =
            |second: usize| (to.min(second as f64 + 1.0) - from.max(second as f64)).max(0.0);
        let weighted = |(second, score): (usize, &f64)| score * overlap(second);
        scores.iter().enumerate().map(weighted).sum::<f64>() / length
    })
}

/// Returns the features for the forest. A start-up counts as a third of its time.
fn features(audio: &[f64], video: &[f64], interruptions: &[StallEvent]) -> Features {
    let seconds = video.len() as f64;
    let rounded = |scores: &[f64]| -> Vec<f64> {
        scores
            .iter()
            .map(|score| libm::rint(score * 1e3) / 1e3)
            .collect()
    };
    let (audio, video) = (rounded(audio), rounded(video));
    let (first, stalls): (Vec<StallEvent>, Vec<StallEvent>) =
        interruptions.iter().partition(|stall| stall.at == 0.0);
    let startup = first.first().map_or(0.0, |stall| stall.length / 3.0);
    let count = stalls.len() as f64;
    let time = stalls.iter().map(|stall| stall.length).sum::<f64>() + startup;
    let since = stalls.last().map_or(seconds, |stall| seconds - stall.at);
    let [begin, middle, end] = parts(&video);
    let [early, late] = parts(&audio);
    let [p1, p5, p10] = [1.0, 5.0, 10.0].map(|percent| percentile(&video, percent));
    [
        count,
        time,
        count / seconds,
        time / seconds,
        since,
        begin,
        middle,
        end,
        p1,
        p5,
        p10,
        early,
        late,
        seconds,
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::score::audio_quality::aac_lc_score;
    use crate::score::video_quality::{Piece, Screen, per_second};

    /// Example `mode0.json` of the software of the authors of the Recommendation: four segments of 1080p.
    fn example() -> (Vec<f64>, Vec<f64>) {
        let pieces = [
            (691.72, 5.48),
            (4_158.04, 5.0),
            (7_172.66, 5.0),
            (6_593.59, 4.598),
        ];
        let piece = |(representation, (kbps, duration))| Piece {
            representation,
            kbps,
            width: 1_920,
            height: 1_080,
            frame_rate: 25.0,
            duration,
        };
        let pieces: Vec<Piece> = pieces.into_iter().enumerate().map(piece).collect();
        let video = per_second(&pieces, &Screen::default());
        (vec![aac_lc_score(332.0); video.len()], video)
    }

    #[test]
    fn smoothing_and_turns_follow_the_clauses() {
        // Flat for 30 s: no turn, and one period over everything.
        assert_eq!(directions(&[4.0; 30]), (33.0, 0.0));
        // One fall in the middle of 30 s.
        let mut falling = vec![4.0; 15];
        falling.extend([2.0; 15]);
        let (longest, turns) = directions(&falling);
        assert_eq!((longest, turns), (21.0, 1.0));
    }

    /// The published O.46 is 4.9209299083625. The parametric part gives 5.0, so that the forest has answered 4.946.
    #[test]
    fn the_published_example_has_its_score() {
        let (audio, video) = example();
        let forest = Forest::from_tree("0, -1, 4.945961, -1, -1", "tree").unwrap();
        let scores = integrate(&audio, &video, &[], Some(&forest)).unwrap();
        assert_eq!((scores.o23, scores.o35), (5.0, 5.0));
        assert!((scores.o46 - 4.920_93).abs() < 1e-5, "{}", scores.o46);
        let parametric = integrate(&audio, &video, &[], None).unwrap();
        assert!(
            (parametric.o46 - 4.934_18).abs() < 1e-5,
            "{}",
            parametric.o46
        );
    }

    #[test]
    fn percentiles_are_interpolated() {
        assert_eq!(percentile(&[4.0, 1.0, 3.0, 2.0], 50.0), 2.5);
        assert_eq!(percentile(&[5.0], 10.0), 5.0);
    }

    #[test]
    fn parts_share_the_seconds_between_them() {
        assert_eq!(parts::<3>(&[1.0, 1.0, 2.0, 2.0, 3.0, 3.0]), [1.0, 2.0, 3.0]);
        assert_eq!(parts::<2>(&[1.0, 2.0, 3.0]), [4.0 / 3.0, 8.0 / 3.0]);
    }

    #[test]
    fn stalls_lower_the_score_and_late_ones_lower_it_more() {
        let (audio, video) = (vec![4.5; 120], vec![4.0; 120]);
        let score =
            |at, length| integrate(&audio, &video, &[StallEvent { at, length }], None).unwrap();
        let none = integrate(&audio, &video, &[], None).unwrap();
        assert_eq!(none.o23, 5.0);
        assert!(score(0.0, 2.0).o46 < none.o46);
        assert!(score(110.0, 8.0).o46 < score(20.0, 8.0).o46);
        assert!(score(20.0, 16.0).o46 < score(20.0, 8.0).o46);
        assert_eq!(score(200.0, 8.0), none);
        assert_eq!(integrate(&[], &[], &[], None), None);
    }
}
