//! SINR trace: SINR over time, from a file or from a movement.

use link_trace::ParseError;
use units::{Duration, Instant};

use super::ParameterError;

/// SINR in dB at points in time, with straight lines between them.
#[derive(Clone, PartialEq, Debug)]
pub struct SinrTrace(Vec<(Instant, f64)>);

/// Maximum absolute SINR, dB: larger values are mistakes of units.
const MAX_DB: f64 = 100.0;

impl SinrTrace {
    /// Returns a trace of at least one point, from the start of the run on; times must increase.
    pub fn new(points: Vec<(Instant, f64)>) -> Result<Self, ParameterError> {
        let first = points.first().map(|&(at, _)| at);
        if first != Some(Instant::ZERO) {
            let value = first.map_or("none".to_owned(), |at| format!("{at:?}"));
            let allowed = "must be the start of the run";
            return Err(ParameterError::new(
                "first point of a SINR trace",
                value,
                allowed,
            ));
        }
        for pair in points.windows(2) {
            let (before, at) = (pair[0].0, pair[1].0);
            if at <= before {
                let value = format!("{at:?} after {before:?}");
                let allowed = "must be later than the point before";
                return Err(ParameterError::new("point of a SINR trace", value, allowed));
            }
        }
        for &(_, db) in &points {
            ParameterError::range("SINR in dB", db, -MAX_DB, MAX_DB)?;
        }
        Ok(Self(points))
    }

    /// Reads `seconds,dB` lines; `file` is its name in messages.
    ///
    /// The first time counts as the start. Empty lines and comments (`#`) are skipped, and an optional first line
    /// names the columns. A gap of more than `longest_gap` is an error, because the SINR in it is unknown.
    /// A value that is no number is an error, too.
    pub fn read(file: &str, text: &str, longest_gap: Duration) -> Result<Self, ParseError> {
        let mut points: Vec<(Instant, f64)> = Vec::new();
        let mut first = None;
        let mut is_first_line = true;
        for (index, content) in text.lines().enumerate() {
            let line_error = |message: String| ParseError::on(file, index + 1, message);
            let content = content.trim();
            if content.is_empty() || content.starts_with('#') {
                continue;
            }
            let number = |text: &str| text.trim().parse::<f64>().ok().filter(|n| n.is_finite());
            let (time, db) = content
                .split_once(',')
                .ok_or_else(|| line_error(format!("{content:?} must be `seconds,dB`")))?;
            let is_header = core::mem::take(&mut is_first_line) && number(time).is_none();
            if is_header {
                continue;
            }
            let seconds = number(time).ok_or_else(|| {
                line_error(format!(
                    "time {:?} must be a number of seconds",
                    time.trim()
                ))
            })?;
            let db = number(db).filter(|db| db.abs() <= MAX_DB).ok_or_else(|| {
                let allowed = format!("must be a number of dB from -{MAX_DB} to {MAX_DB}");
                line_error(format!("SINR {:?} {allowed}", db.trim()))
            })?;
            let since = seconds - *first.get_or_insert(seconds);
            let at = Instant::ZERO + Duration::from_secs_f64(since);
            if let Some(&(last, _)) = points.last() {
                if since < 0.0 || at <= last {
                    return Err(line_error(format!(
                        "time {seconds} must be later than the one before"
                    )));
                }
                let gap = at - last;
                if gap > longest_gap {
                    return Err(line_error(format!(
                        "a gap of {gap}: at most {longest_gap} is allowed"
                    )));
                }
            }
            points.push((at, db));
        }
        if points.is_empty() {
            return Err(ParseError::for_file(file, "no line with `seconds,dB`"));
        }
        Self::new(points).map_err(|error| ParseError::for_file(file, error))
    }

    /// Returns the time of the last point. Its value holds afterwards.
    pub fn length(&self) -> Duration {
        self.0[self.0.len() - 1].0.since_start()
    }

    /// Returns the SINR in dB.
    pub fn mean_db(&self, at: Instant) -> f64 {
        let next = self.0.partition_point(|(time, _)| *time <= at);
        let Some(&(to_at, to)) = self.0.get(next) else {
            return self.0[self.0.len() - 1].1;
        };
        let (from_at, from) = self.0[next - 1];
        let part = at.saturating_since(from_at).as_secs_f64() / (to_at - from_at).as_secs_f64();
        from + (to - from) * part
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// SINR of Atxutegi 2018 near the base station and far from it, in dB.
    const NEAR_DB: f64 = 20.0;
    const FAR_DB: f64 = 5.0;

    /// Fall of the SINR with the way in Atxutegi 2018, dB per metre.
    const DB_PER_M: f64 = 15e-3;

    /// Returns a straight line of SINR for a movement at a constant speed between near and far.
    fn ramp(start_db: f64, end_db: f64, m_per_s: f64) -> SinrTrace {
        let metres = (NEAR_DB - FAR_DB) / DB_PER_M;
        let end = Instant::ZERO + Duration::from_secs_f64(metres / m_per_s);
        SinrTrace::new(vec![(Instant::ZERO, start_db), (end, end_db)]).unwrap()
    }

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    /// 60 s at 60 km/h, 30 s at 120, 12 s at 300: the same dB at the same place.
    #[test]
    fn ramps_fall_with_the_way_and_not_with_time() {
        for (km_per_h, seconds) in [(60.0, 60), (120.0, 30), (300.0, 12)] {
            let forward = ramp(NEAR_DB, FAR_DB, km_per_h / 3.6);
            let backward = ramp(FAR_DB, NEAR_DB, km_per_h / 3.6);
            let whole = Duration::from_secs(seconds);
            assert_eq!(forward.length(), whole);
            assert_eq!(forward.mean_db(Instant::ZERO), 20.0);
            assert!((forward.mean_db(at(seconds * 400)) - 14.0).abs() < 1e-9);
            assert!((backward.mean_db(at(seconds * 600)) - 14.0).abs() < 1e-9);
            assert_eq!(forward.mean_db(at(seconds * 2_000)), 5.0);
        }
    }

    const GAP: Duration = Duration::from_secs(2);

    #[test]
    fn a_trace_is_joined_by_straight_lines() {
        let trace = SinrTrace::read(
            "a.csv",
            "time,sinr\n# test\n100, 10\n101,20\n102.5,-4\n",
            GAP,
        );
        let trace = trace.unwrap();
        assert_eq!(trace.mean_db(at(250)), 12.5);
        assert_eq!(trace.mean_db(at(1_000)), 20.0);
        assert_eq!(trace.mean_db(at(1_750)), 8.0);
        assert_eq!(trace.mean_db(at(9_000)), -4.0);
    }

    #[test]
    fn gaps_and_holes_are_errors_with_their_line() {
        for (text, expected) in [
            (
                "0,1\n1,2\n4,3\n",
                "a.csv:3: a gap of 3s: at most 2s is allowed",
            ),
            (
                "0,1\n1,-\n",
                "a.csv:2: SINR \"-\" must be a number of dB from -100 to 100",
            ),
            (
                "0,1\n1,nan\n",
                "a.csv:2: SINR \"nan\" must be a number of dB from -100 to 100",
            ),
            (
                "0,1\n0,2\n",
                "a.csv:2: time 0 must be later than the one before",
            ),
            (
                "0,1\nx,2\n",
                "a.csv:2: time \"x\" must be a number of seconds",
            ),
            ("0 1\n", "a.csv:1: \"0 1\" must be `seconds,dB`"),
            ("time,db\n", "a.csv: no line with `seconds,dB`"),
        ] {
            let error = SinrTrace::read("a.csv", text, GAP).unwrap_err();
            assert_eq!(error.to_string(), expected);
        }
    }

    #[test]
    fn a_trace_begins_with_the_run() {
        assert!(SinrTrace::new(vec![(at(1), 3.0)]).is_err());
        assert!(SinrTrace::new(Vec::new()).is_err());
        assert!(SinrTrace::new(vec![(at(0), 300.0)]).is_err());
    }
}
