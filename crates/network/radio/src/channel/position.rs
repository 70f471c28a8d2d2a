//! Position: a place in metres.

use units::Length;

/// Place on flat ground and a height above it, in metres.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Position {
    /// Towards the east.
    pub x: f64,
    /// Towards the north.
    pub y: f64,
    /// Above the ground.
    pub height: f64,
}

impl Position {
    /// Returns the place at `x`, `y` and `height`, in metres.
    pub const fn new(x: f64, y: f64, height: f64) -> Self {
        Self { x, y, height }
    }

    /// Returns the place at these coordinates of a configuration.
    pub fn of(x: Length, y: Length, height: Length) -> Self {
        Self::new(x.metres(), y.metres(), height.metres())
    }

    /// Returns the distance over ground, in metres.
    pub(crate) fn ground_distance_m(&self, other: &Self) -> f64 {
        libm::hypot(self.x - other.x, self.y - other.y)
    }

    /// Returns the distance through space, in metres.
    pub(crate) fn distance_m(&self, other: &Self) -> f64 {
        libm::hypot(self.ground_distance_m(other), self.height - other.height)
    }

    /// Returns the place a `fraction` (0 to 1) of the way towards `other`.
    pub fn towards(&self, other: &Self, fraction: f64) -> Self {
        let between = |from: f64, to: f64| from + (to - from) * fraction;
        Self {
            x: between(self.x, other.x),
            y: between(self.y, other.y),
            height: between(self.height, other.height),
        }
    }
}
