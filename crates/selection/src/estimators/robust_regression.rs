//! Robust weighted linear regression (Huber).

/// Huber's k: number of standard deviations beyond which a point counts less. At 1.345 the efficiency is 95 % of that of
/// least squares where there are no outliers (Huber and Ronchetti, Robust Statistics, 2009, chapter 4).
const HUBER_K: f64 = 1.345;
/// Number of reweighted fits; a third one hardly changes the line.
const REWEIGHTED_FITS: usize = 2;
/// Minimum sum of weights for a line.
const MIN_WEIGHT: f64 = 8.0;
/// Assumed relative error of the corrections.
const CORRECTION_ERROR: f64 = 0.5;

/// Point with its weight from 0 to 1.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Point {
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) weight: f64,
    /// Part of `y` that is a correction, which may be wrong.
    pub(super) correction: f64,
}

/// Line by weighted least squares.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Line {
    /// Slope, per unit of x.
    pub(super) slope: f64,
    /// Standard error of the slope.
    pub(super) slope_se: f64,
    /// Value at the weighted mean of x.
    pub(super) mean_y: f64,
    /// Standard deviation around the line.
    pub(super) deviation: f64,
}

impl Line {
    /// Fits a line through `points`, which are in the order of x; the residual standard deviation is at least
    /// `min_deviation`.
    ///
    /// The standard error allows for lag-1 autocorrelation r of the residuals: the effective sample size is
    /// n (1 - r)/(1 + r).
    pub(super) fn fit(
        points: impl Iterator<Item = Point> + Clone,
        min_deviation: f64,
    ) -> Option<Self> {
        let mut fit = Fit::of(points.clone(), |_| 1.0)?;
        for _ in 0..REWEIGHTED_FITS {
            let bound = HUBER_K * fit.deviation.max(min_deviation);
            let previous = fit;
            fit = Fit::of(points.clone(), |point| {
                let residual = (point.y - previous.predict(point.x)).abs();
                if residual > bound {
                    bound / residual
                } else {
                    1.0
                }
            })?;
        }
        let (mut squares, mut products, mut last) = (0.0, 0.0, None);
        for point in points.filter(|point| point.weight > 0.0) {
            let residual = point.weight.sqrt() * (point.y - fit.predict(point.x));
            squares += residual * residual;
            if let Some(previous) = last {
                products += residual * previous;
            }
            last = Some(residual);
        }
        let autocorrelation = if squares > 0.0 {
            (products / squares).clamp(0.0, 0.95)
        } else {
            0.0
        };
        let inflation = (1.0 + autocorrelation) / (1.0 - autocorrelation);
        let slope_se = fit.deviation.max(min_deviation) * (inflation / fit.spread).sqrt();
        let slope_se = slope_se.hypot(CORRECTION_ERROR * fit.correction_slope);
        Some(Self {
            slope: fit.slope,
            slope_se,
            mean_y: fit.mean_y,
            deviation: fit.deviation,
        })
    }
}

/// Weighted least-squares fit.
#[derive(Clone, Copy, Debug)]
struct Fit {
    mean_x: f64,
    mean_y: f64,
    slope: f64,
    /// Slope of the corrections.
    correction_slope: f64,
    /// Standard deviation around the line.
    deviation: f64,
    /// Weighted sum of squared distances from the mean x.
    spread: f64,
}

impl Fit {
    /// Fits a line; `factor` scales the weight of each point.
    fn of(
        points: impl Iterator<Item = Point> + Clone,
        factor: impl Fn(&Point) -> f64,
    ) -> Option<Self> {
        let (mut n, mut x, mut y, mut z) = (0.0, 0.0, 0.0, 0.0);
        for point in points.clone() {
            let weight = point.weight * factor(&point);
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
            let weight = point.weight * factor(&point);
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
            mean_x: x,
            mean_y: y,
            slope,
            correction_slope: xz / xx,
            deviation,
            spread: xx,
        })
    }

    fn predict(&self, x: f64) -> f64 {
        self.mean_y + self.slope * (x - self.mean_x)
    }
}
