//! Mobility: the position of a receiver over time.

mod fcd;
mod ns2;

pub use fcd::read_fcd;
pub use ns2::read_ns2;

use units::{Duration, Instant};

use super::{ParameterError, Position};

/// Movement of one receiver: its position at any time.
#[derive(Clone, PartialEq, Debug)]
pub enum Trajectory {
    /// The receiver does not move.
    Static(Position),
    /// The receiver moves straight on at a constant velocity.
    Linear {
        /// Position at the start of the run.
        start: Position,
        /// Velocity towards east, north and up, in metres per second.
        velocity: [f64; 3],
    },
    /// The receiver moves straight from one point to the next.
    WayPoints(WayPoints),
}

impl Trajectory {
    /// Returns the position at a time.
    pub fn at(&self, at: Instant) -> Position {
        match self {
            Self::Static(position) => *position,
            Self::Linear { start, velocity } => {
                let seconds = at.as_secs_f64();
                Position {
                    x: start.x + velocity[0] * seconds,
                    y: start.y + velocity[1] * seconds,
                    height: start.height + velocity[2] * seconds,
                }
            }
            Self::WayPoints(points) => points.at(at),
        }
    }

    /// Returns the times of the first and of the last point. A trajectory without points is known at all times.
    pub fn span(&self) -> (Instant, Instant) {
        match self {
            Self::Static(_) | Self::Linear { .. } => (Instant::ZERO, Instant::NEVER),
            Self::WayPoints(points) => points.span(),
        }
    }
}

/// Points with the times at which they are passed, in order of time.
#[derive(Clone, PartialEq, Debug)]
pub struct WayPoints(Vec<(Instant, Position)>);

impl WayPoints {
    /// Returns a trajectory of at least one point; times must increase.
    pub fn new(points: Vec<(Instant, Position)>) -> Result<Self, ParameterError> {
        if points.is_empty() {
            let allowed = "must be at least one";
            return Err(ParameterError::new("number of way-points", 0, allowed));
        }
        for pair in points.windows(2) {
            let (before, at) = (pair[0].0, pair[1].0);
            if at <= before {
                let value = format!("{at:?} after {before:?}");
                let allowed = "must be later than the way-point before";
                return Err(ParameterError::new("time of a way-point", value, allowed));
            }
        }
        for (_, position) in &points {
            for value in [position.x, position.y, position.height] {
                ParameterError::range("way-point in m", value, -1e9, 1e9)?;
            }
        }
        Ok(Self(points))
    }

    /// Returns the position at a time: before the first point, that point; after the last point, that one.
    pub fn at(&self, at: Instant) -> Position {
        let next = self.0.partition_point(|(time, _)| *time <= at);
        if next == 0 || next == self.0.len() {
            return self.0[next.saturating_sub(1)].1;
        }
        let ((from_at, from), (to_at, to)) = (self.0[next - 1], self.0[next]);
        let passed = at.saturating_since(from_at).as_secs_f64();
        from.towards(&to, passed / to_at.saturating_since(from_at).as_secs_f64())
    }

    /// Returns the times of the first and the last point.
    pub fn span(&self) -> (Instant, Instant) {
        (self.0[0].0, self.0[self.0.len() - 1].0)
    }

    /// Returns the points.
    pub fn points(&self) -> &[(Instant, Position)] {
        &self.0
    }
}

/// Parses a time in seconds as files write it.
fn time(seconds: f64) -> Option<Instant> {
    (0.0..=1e9)
        .contains(&seconds)
        .then(|| Instant::ZERO + Duration::from_secs_f64(seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Instant {
        Instant::ZERO + Duration::from_secs(seconds)
    }

    #[test]
    fn constant_velocity_is_a_straight_line() {
        let way = Trajectory::Linear {
            start: Position::new(5.0, 0.0, 1.5),
            velocity: [30.0, -1.0, 0.0],
        };
        assert_eq!(way.at(at(10)), Position::new(305.0, -10.0, 1.5));
    }

    #[test]
    fn way_points_are_joined_by_straight_lines_and_held_at_the_ends() {
        let points = WayPoints::new(vec![
            (at(10), Position::new(0.0, 0.0, 1.5)),
            (at(20), Position::new(100.0, 50.0, 1.5)),
            (at(30), Position::new(100.0, 50.0, 1.5)),
        ])
        .unwrap();
        assert_eq!(points.span(), (at(10), at(30)));
        let way = Trajectory::WayPoints(points);
        assert_eq!(way.at(at(0)), Position::new(0.0, 0.0, 1.5));
        assert_eq!(way.at(at(13)), Position::new(30.0, 15.0, 1.5));
        assert_eq!(way.at(at(25)), Position::new(100.0, 50.0, 1.5));
        assert_eq!(way.at(at(99)), Position::new(100.0, 50.0, 1.5));
    }

    #[test]
    fn times_that_do_not_rise_are_rejected() {
        let place = Position::default();
        let error = WayPoints::new(vec![(at(1), place), (at(1), place)]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "time of a way-point = 1.000000000s after 1.000000000s must be later than the way-point before"
        );
        assert!(WayPoints::new(Vec::new()).is_err());
    }
}
