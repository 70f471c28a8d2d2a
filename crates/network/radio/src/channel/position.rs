//! Position: coordinates and height in metres.

use units::Length;

/// Coordinates on flat ground and the height above it, in metres.
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
    /// Returns the position at `x`, `y` and `height`, in metres.
    pub const fn new(x: f64, y: f64, height: f64) -> Self {
        Self { x, y, height }
    }

    /// Returns the position at these coordinates of a configuration.
    pub fn of(x: Length, y: Length, height: Length) -> Self {
        Self::new(x.metres(), y.metres(), height.metres())
    }

    /// Returns the horizontal distance, in metres.
    pub(crate) fn ground_distance_m(&self, other: &Self) -> f64 {
        libm::hypot(self.x - other.x, self.y - other.y)
    }

    /// Returns the distance in three dimensions, in metres.
    pub(crate) fn distance_m(&self, other: &Self) -> f64 {
        libm::hypot(self.ground_distance_m(other), self.height - other.height)
    }

    /// Returns the position at a `fraction` (0 to 1) of the way to `other`.
    pub fn towards(&self, other: &Self, fraction: f64) -> Self {
        let between = |from: f64, to: f64| from + (to - from) * fraction;
        Self {
            x: between(self.x, other.x),
            y: between(self.y, other.y),
            height: between(self.height, other.height),
        }
    }
}
