//! Settings of the player, with their ranges.

use config::{FieldError, check_number, check_positive, check_range, invalid_value};
use units::Duration;

use crate::manifest::Manifest;

/// Declares a config table in which `..player` stands for the settings of a player. Its method `player` returns a
/// player with these settings.
#[macro_export]
macro_rules! player_table {
    (
        $(#[$meta:meta])*
        pub struct $name:ident {
            $($(#[$about:meta])* pub $field:ident: $type:ty $(= $default:expr)?,)*
            ..player,
            $($rest:tt)*
        }
    ) => {
        config::table! {
            $(#[$meta])*
            pub struct $name {
                $($(#[$about])* pub $field: $type $(= $default)?,)*
                /// ABR algorithm; default "bola-e".
                pub abr: $crate::abr::Algorithm,
                /// Duration of the video, cut to whole segments; default 600s.
                pub length: units::Duration = units::Duration::from_secs(600),
                /// Maximum buffer level; default 30s.
                pub max_buffer: units::Duration = units::Duration::from_secs(30),
                /// Buffer level at which the playback starts; default 1s, reached with the first segment.
                pub startup: units::Duration = units::Duration::from_secs(1),
                /// Buffer level at which a stall ends; default 1s.
                pub resume: units::Duration = units::Duration::from_secs(1),
                /// Maximum bitrate of the first segment, for algorithms that choose by throughput at first; default
                /// 1Mbit/s.
                pub initial: units::Rate = units::Rate::from_bits_per_second(1_000_000),
                /// Time behind the live edge that the player aims at; unset: video on demand.
                pub latency: Option<units::Duration>,
                /// Time without a moving picture after which the viewer leaves; default 60s.
                pub patience: units::Duration = units::Duration::from_secs(60),
                $($rest)*
            }
        }

        impl $name {
            /// Returns a player with these settings and this number of connections, which may abandon requests or not.
            pub fn player(&self, connections: u32, abandon: bool) -> $crate::Player {
                $crate::Player {
                    abr: self.abr,
                    length: self.length,
                    max_buffer: self.max_buffer,
                    startup: self.startup,
                    resume: self.resume,
                    initial: self.initial,
                    latency: self.latency,
                    patience: self.patience,
                    connections,
                    abandon,
                }
            }
        }
    };
}

player_table! {
    /// Settings of the player of a video.
    pub struct Player {
        ..player,
        /// Connections that carry requests at the same time; default 1.
        pub connections: u32 = 1,
        /// Whether requests may be abandoned for a lower quality; default true.
        pub abandon: bool = true,
    }
}

impl Player {
    /// Checks that all fields are in their ranges.
    ///
    /// # Errors
    /// [`FieldError`] names the first that is not.
    pub fn check(&self) -> Result<(), FieldError> {
        check_positive("length", self.length)?;
        check_positive("max_buffer", self.max_buffer)?;
        check_positive("initial", self.initial)?;
        check_positive("patience", self.patience)?;
        check_range("startup", self.startup, Duration::ZERO, self.max_buffer)?;
        check_range("resume", self.resume, Duration::ZERO, self.max_buffer)?;
        if let Some(latency) = self.latency {
            // Live: no more video than the latency exists, so a higher level is never reached.
            check_range("startup", self.startup, Duration::ZERO, latency)?;
        }
        check_number("connections", self.connections, 1, 8)
    }

    /// Checks the fields against the segments of a manifest.
    ///
    /// # Errors
    /// [`FieldError`] names the first field into which no segment fits.
    pub fn check_for(&self, manifest: &Manifest) -> Result<(), FieldError> {
        let segment = manifest.segment_duration();
        let at_least = |field: &str, value: Duration| {
            if value < segment {
                return invalid_value(
                    field,
                    value,
                    format!("{segment}, the duration of a segment, or more"),
                );
            }
            Ok(())
        };
        at_least("length", self.length)?;
        at_least("max_buffer", self.max_buffer)?;
        self.latency
            .map_or(Ok(()), |latency| at_least("latency", latency))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Ladder;

    #[test]
    fn a_buffer_without_room_for_a_segment_is_rejected() {
        let player = Player {
            max_buffer: Duration::from_secs(2),
            ..Player::default()
        };
        player.check().unwrap();
        let message = player
            .check_for(&Ladder::BigBuckBunny.manifest())
            .unwrap_err()
            .to_string();
        assert_eq!(
            message,
            "max_buffer: 2s is out of range; allowed: 3s, the duration of a segment, or more"
        );
        Player::default()
            .check_for(&Ladder::UltraHd.manifest())
            .unwrap();
    }

    #[test]
    fn a_threshold_above_the_buffer_is_rejected() {
        let player = Player {
            resume: Duration::from_secs(40),
            ..Player::default()
        };
        assert_eq!(player.check().unwrap_err().field, "resume");
    }
}
