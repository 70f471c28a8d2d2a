//! The line through points of which some are trusted less than others.

/// Factor of the median deviation beyond which a point counts less: Huber's estimator, which at 1.345
/// standard deviations (of 1.4826 median deviations each) is as good as least squares to 5 % where nothing
/// is wrong (Huber and Ronchetti, Robust Statistics, 2009, chapter 4).
const HUBER: f64 = 1.345;
/// Rounds of reweighting: the third changes nothing that matters.
const ROUNDS: usize = 2;
/// Points below which there is no line.
const FEWEST: f64 = 8.0;

/// A point: its place, its value, and from 0 to 1 how far to trust it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Point {
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) weight: f64,
    /// What of the value is a correction that may be wrong.
    pub(super) correction: f64,
}

/// Part of the rise of corrections by which the slope may be wrong.
const DOUBT: f64 = 0.5;

/// A line by weighted least squares.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Line {
    /// Rise per unit of x.
    pub(super) slope: f64,
    /// Its standard error.
    pub(super) error: f64,
    /// Value at the middle of the points.
    pub(super) middle: f64,
    /// Standard deviation about the line.
    pub(super) deviation: f64,
}

impl Line {
    /// Through `points`, in the order of x; a point's deviation is not less than `least`.
    ///
    /// The standard error allows for neighbours that deviate alike, by the correlation r of the
    /// deviations: their number counts as if it were (1 - r)/(1 + r) of it.
    pub(super) fn through(points: impl Iterator<Item = Point> + Clone, least: f64) -> Option<Self> {
        let mut fit = Fit::of(points.clone(), |_| 1.0)?;
        for _ in 0..ROUNDS {
            let bound = HUBER * fit.deviation.max(least);
            let before = fit;
            fit = Fit::of(points.clone(), |point| {
                let away = (point.y - before.at(point.x)).abs();
                if away > bound { bound / away } else { 1.0 }
            })?;
        }
        let (mut squares, mut neighbours, mut last) = (0.0, 0.0, None);
        for point in points.filter(|point| point.weight > 0.0) {
            let away = point.weight.sqrt() * (point.y - fit.at(point.x));
            squares += away * away;
            if let Some(before) = last {
                neighbours += away * before;
            }
            last = Some(away);
        }
        let alike = if squares > 0.0 {
            (neighbours / squares).clamp(0.0, 0.95)
        } else {
            0.0
        };
        let inflation = (1.0 + alike) / (1.0 - alike);
        let error = fit.deviation.max(least) * (inflation / fit.spread).sqrt();
        let error = error.hypot(DOUBT * fit.corrected);
        Some(Self {
            slope: fit.slope,
            error,
            middle: fit.y,
            deviation: fit.deviation,
        })
    }
}

/// One round.
#[derive(Clone, Copy, Debug)]
struct Fit {
    x: f64,
    y: f64,
    slope: f64,
    /// Slope of the corrections.
    corrected: f64,
    deviation: f64,
    /// Sum of weights times squared distances from the mean x.
    spread: f64,
}

impl Fit {
    fn of(
        points: impl Iterator<Item = Point> + Clone,
        trust: impl Fn(&Point) -> f64,
    ) -> Option<Self> {
        let (mut n, mut x, mut y, mut z) = (0.0, 0.0, 0.0, 0.0);
        for point in points.clone() {
            let weight = point.weight * trust(&point);
            n += weight;
            x += weight * point.x;
            y += weight * point.y;
            z += weight * point.correction;
        }
        if n < FEWEST {
            return None;
        }
        (x, y, z) = (x / n, y / n, z / n);
        let (mut xx, mut xy, mut yy, mut xz) = (0.0, 0.0, 0.0, 0.0);
        for point in points {
            let weight = point.weight * trust(&point);
            xx += weight * (point.x - x) * (point.x - x);
            xy += weight * (point.x - x) * (point.y - y);
            xz += weight * (point.x - x) * (point.correction - z);
            yy += weight * (point.y - y) * (point.y - y);
        }
        if xx <= 0.0 {
            return None;
        }
        let slope = xy / xx;
        let deviation = ((yy - slope * xy).max(0.0) / (n - 2.0)).sqrt();
        Some(Self {
            x,
            y,
            slope,
            corrected: xz / xx,
            deviation,
            spread: xx,
        })
    }

    fn at(&self, x: f64) -> f64 {
        self.y + self.slope * (x - self.x)
    }
}
