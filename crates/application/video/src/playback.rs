//! Playback: plays the buffer, stalls and resumes.

use units::{Duration, Instant};

/// State of the playback.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stage {
    /// Nothing has been played yet.
    Starting,
    /// The picture moves.
    Playing,
    /// The buffer has run empty: playback is stalled until it has been filled again.
    Stalled,
    /// The video was played to its end.
    Ended,
}

/// Interruption of the playback by an empty buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stall {
    /// Time at which the picture stopped.
    pub at: Instant,
    /// Video played before.
    pub played: Duration,
    /// Time that the picture stood.
    pub length: Duration,
}

/// Levels of the buffer at which the playback begins.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Thresholds {
    /// Level at which a session starts.
    pub(crate) startup: Duration,
    /// Level at which a stall ends.
    pub(crate) resume: Duration,
    /// Level at which the buffer has no room for another segment: playback begins whatever the thresholds are.
    pub(crate) full: Duration,
}

/// Buffer of complete segments and the clock that plays it.
#[derive(Clone, Debug)]
pub(crate) struct Playback {
    stage: Stage,
    thresholds: Thresholds,
    /// Time up to which the state holds.
    at: Instant,
    /// Start of the session.
    opened: Instant,
    started: Option<Instant>,
    ended: Option<Instant>,
    /// Video that has been played.
    played: Duration,
    /// Video that has been played or is in the buffer.
    filled: Duration,
    /// Duration of the video.
    total: Duration,
    stalls: Vec<Stall>,
}

impl Playback {
    pub(crate) fn new(total: Duration, thresholds: Thresholds) -> Self {
        Self {
            stage: Stage::Starting,
            thresholds,
            at: Instant::ZERO,
            opened: Instant::ZERO,
            started: None,
            ended: None,
            played: Duration::ZERO,
            filled: Duration::ZERO,
            total,
            stalls: Vec::new(),
        }
    }

    /// Begins the session.
    pub(crate) fn open(&mut self, now: Instant) {
        self.at = now;
        self.opened = now;
    }

    /// Plays until `now`.
    pub(crate) fn advance(&mut self, now: Instant) {
        let passed = now.saturating_since(self.at);
        let empty_at = self.at + self.level();
        self.at = self.at.max(now);
        match self.stage {
            Stage::Starting | Stage::Ended => {}
            Stage::Stalled => {
                if let Some(stall) = self.stalls.last_mut() {
                    stall.length += passed;
                }
            }
            Stage::Playing if self.at < empty_at => self.played += passed,
            Stage::Playing => {
                self.played = self.filled;
                if self.played == self.total {
                    self.stage = Stage::Ended;
                    self.ended = Some(empty_at);
                } else if self.at > empty_at {
                    self.stage = Stage::Stalled;
                    self.stalls.push(Stall {
                        at: empty_at,
                        played: self.played,
                        length: self.at - empty_at,
                    });
                }
            }
        }
    }

    /// Adds a segment of `duration` at the end of the buffer, and begins to play if that is due.
    pub(crate) fn append(&mut self, duration: Duration) {
        self.filled += duration;
        let Thresholds {
            startup,
            resume,
            full,
        } = self.thresholds;
        let threshold = match self.stage {
            Stage::Starting => startup,
            Stage::Stalled => resume,
            Stage::Playing | Stage::Ended => return,
        };
        if self.level() >= threshold.min(full) || self.filled == self.total {
            self.stage = Stage::Playing;
            self.started = self.started.or(Some(self.at));
        }
    }

    /// Returns the video in the buffer.
    pub(crate) fn level(&self) -> Duration {
        self.filled - self.played
    }

    /// Returns the time at which the buffer runs empty if nothing arrives; the current time if nothing is played.
    pub(crate) fn empty_at(&self) -> Instant {
        match self.stage {
            Stage::Playing => self.at + self.level(),
            _ => self.at,
        }
    }

    /// Returns when the current wait for data (opening or stall) began; while the video plays, when a stall begins if
    /// nothing arrives. `None` once all of the video is in the buffer.
    pub(crate) fn stall_start(&self) -> Option<Instant> {
        match self.stage {
            Stage::Starting => Some(self.opened),
            Stage::Playing if self.filled < self.total => Some(self.empty_at()),
            Stage::Stalled => self.stalls.last().map(|stall| stall.at),
            Stage::Playing | Stage::Ended => None,
        }
    }

    pub(crate) fn stage(&self) -> Stage {
        self.stage
    }

    pub(crate) fn opened(&self) -> Instant {
        self.opened
    }

    pub(crate) fn started(&self) -> Option<Instant> {
        self.started
    }

    pub(crate) fn ended(&self) -> Option<Instant> {
        self.ended
    }

    pub(crate) fn played(&self) -> Duration {
        self.played
    }

    pub(crate) fn filled(&self) -> Duration {
        self.filled
    }

    pub(crate) fn total(&self) -> Duration {
        self.total
    }

    pub(crate) fn stalls(&self) -> &[Stall] {
        &self.stalls
    }

    /// Returns the stalls without the current one.
    pub(crate) fn past_stalls(&self) -> &[Stall] {
        let current = usize::from(self.stage == Stage::Stalled);
        &self.stalls[..self.stalls.len() - current]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEGMENT: Duration = Duration::from_secs(2);

    fn at(seconds: u64) -> Instant {
        Instant::ZERO + Duration::from_secs(seconds)
    }

    fn playback(startup: u64, resume: u64) -> Playback {
        let thresholds = Thresholds {
            startup: Duration::from_secs(startup),
            resume: Duration::from_secs(resume),
            full: Duration::from_secs(6),
        };
        let mut playback = Playback::new(Duration::from_secs(8), thresholds);
        playback.open(at(10));
        playback
    }

    #[test]
    fn a_stall_starts_when_the_buffer_runs_empty_and_ends_at_the_threshold() {
        let mut playback = playback(2, 4);
        playback.advance(at(11));
        playback.append(SEGMENT);
        assert_eq!(playback.started(), Some(at(11)));
        playback.advance(at(15));
        playback.append(SEGMENT);
        assert_eq!(playback.stage(), Stage::Stalled);
        playback.advance(at(16));
        playback.append(SEGMENT);
        assert_eq!(playback.stage(), Stage::Playing);
        let stall = Stall {
            at: at(13),
            played: SEGMENT,
            length: Duration::from_secs(3),
        };
        assert_eq!(playback.stalls(), [stall]);
    }

    #[test]
    fn a_segment_that_arrives_as_the_buffer_runs_empty_makes_no_stall() {
        let mut playback = playback(2, 2);
        playback.append(SEGMENT);
        playback.advance(at(12));
        assert_eq!(
            (playback.stage(), playback.level()),
            (Stage::Playing, Duration::ZERO)
        );
        playback.append(SEGMENT);
        playback.advance(at(13));
        assert_eq!(
            (playback.stalls(), playback.played()),
            (&[][..], Duration::from_secs(3))
        );
    }

    #[test]
    fn a_full_buffer_and_the_end_of_the_video_begin_whatever_the_threshold_is() {
        let mut playback = playback(60, 60);
        playback.append(SEGMENT);
        playback.append(SEGMENT);
        assert_eq!(playback.stage(), Stage::Starting);
        playback.append(SEGMENT);
        assert_eq!(playback.stage(), Stage::Playing);
        playback.advance(at(17));
        playback.append(SEGMENT);
        assert_eq!(playback.stage(), Stage::Playing);
        playback.advance(at(30));
        assert_eq!(
            (playback.stage(), playback.ended()),
            (Stage::Ended, Some(at(19)))
        );
    }
}
