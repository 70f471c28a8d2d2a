//! Line: robust weighted regression.

/// Number of median deviations beyond which a point counts less. This is Huber's estimator; at 1.345 standard
/// deviations (each 1.4826 median deviations) its efficiency is 95 % of least squares where there are no outliers
/// (Huber and Ronchetti, Robust Statistics, 2009, chapter 4).
const HUBER: f64 = 1.345;
/// Number of rounds of reweighting; a third one changes nothing that matters.
const ROUNDS: usize = 2;
/// Least sum of weights for a line.
const MIN_WEIGHT: f64 = 8.0;

/// Point: its place, its value, and its weight from 0 to 1.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Point {
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) weight: f64,
    /// Part of the value that is a correction, which may be wrong.
    pub(super) correction: f64,
}

/// Share of the slope of the corrections by which the slope of the line may be wrong.
const DOUBT: f64 = 0.5;

/// Line by weighted least squares.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Line {
    /// Slope, per unit of x.
    pub(super) slope: f64,
    /// Standard error of the slope.
    pub(super) error: f64,
    /// Value at the weighted mean of x.
    pub(super) middle: f64,
    /// Standard deviation around the line.
    pub(super) deviation: f64,
}

impl Line {
    /// Fits a line through `points`, which are in the order of x; the standard deviation is taken to be at least
    /// `least`.
    ///
    /// The standard error allows for the correlation r of neighbouring deviations: the number of points counts as if it
    /// were (1 - r)/(1 + r) of it.
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

/// One round of the fit.
#[derive(Clone, Copy, Debug)]
struct Fit {
    x: f64,
    y: f64,
    slope: f64,
    /// Slope of the corrections.
    corrected: f64,
    deviation: f64,
    /// Weighted sum of squared distances from the mean x.
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
        if n < MIN_WEIGHT {
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
