//! TCP settings of hosts.

use config::table;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use units::{Bytes, Duration};

table! {
    /// Settings of TCP on all hosts; the defaults are those of Linux.
    pub struct Tcp {
        /// Initial window, segments; default 10 (RFC 6928).
        pub initial_window: u32 = 10,
        /// Maximum segment size as announced, payload with TCP options; unset: MTU less 40 bytes.
        pub mss: Option<Bytes>,
        /// Lower bound of the variance term of the retransmission timeout; default 200ms.
        pub min_rto: Duration = Duration::from_millis(200),
        /// Whether one ACK may stand for two segments; default true (RFC 1122 section 4.2.3.2).
        pub delayed_ack: bool = true,
        /// Timestamps option, 12 bytes of each segment; default true (RFC 7323).
        pub timestamps: bool = true,
        /// Window scale: true for what the largest receive buffer needs, false for none (windows up to 64KiB), or the
        /// shift, 0 to 14; default true (RFC 7323).
        pub window_scale: WindowScale = WindowScale::Automatic,
        /// Upper limit of the automatic tuning of the receive buffer (`tcp_rmem`); default 6MiB.
        pub receive_buffer_max: Bytes = Bytes::new(6 << 20),
        /// Cap of the announced receive window; unset: the share of the receive buffer that Linux announces, which
        /// leaves room for the overhead of packets (two thirds for full packets).
        pub receive_window_max: Option<Bytes>,
        /// Largest send buffer (`tcp_wmem`); default 4MiB.
        pub send_buffer_max: Bytes = Bytes::new(4 << 20),
        /// Segments handed to the device at once: "linux" for bursts sized by the pacing rate, or a number of segments;
        /// default "linux".
        pub tso: Tso = Tso::Linux,
        /// Detection of spurious timeouts by F-RTO; default true (RFC 5682).
        pub f_rto: bool = true,
        /// Tail loss probes; default true (RFC 8985).
        pub tlp: bool = true,
        /// Pacing whatever the CCA, as with the fq qdisc; default false.
        pub pacing: bool,
        /// Ask for explicit congestion notification (RFC 3168); default false: only CCAs that need it ask for it.
        pub ecn: bool,
        /// Whether the window shrinks while the connection is idle; default true (RFC 2861).
        pub slow_start_after_idle: bool = true,
    }
}

impl Tcp {
    /// Returns the payload of a full segment on a path of that MTU, after the timestamps option, bytes.
    pub fn segment_payload(&self, path_mtu: Bytes) -> u32 {
        let announced = path_mtu.get().saturating_sub(40);
        let mss = self.mss.map_or(announced, |mss| mss.get().min(announced));
        mss.saturating_sub(if self.timestamps { 12 } else { 0 }) as u32
    }
}

/// Window scale option.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WindowScale {
    /// The option is left out.
    Off,
    /// The shift that the largest receive buffer needs.
    Automatic,
    /// This shift.
    Fixed(u8),
}

impl WindowScale {
    /// Returns the shift offered with a receive buffer of at most `buffer`; `None` to leave the option out.
    pub fn shift(self, buffer: Bytes) -> Option<u8> {
        match self {
            Self::Off => None,
            Self::Fixed(shift) => Some(shift),
            Self::Automatic => (0..14).find(|s| buffer.get() >> s <= 65_535).or(Some(14)),
        }
    }
}

impl Serialize for WindowScale {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Off => serializer.serialize_bool(false),
            Self::Automatic => serializer.serialize_bool(true),
            Self::Fixed(shift) => serializer.serialize_u8(*shift),
        }
    }
}

impl<'de> Deserialize<'de> for WindowScale {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Alternatives;
        impl Visitor<'_> for Alternatives {
            type Value = WindowScale;

            fn expecting(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                write!(f, "true, false or a shift from 0 to 14")
            }

            fn visit_bool<E: Error>(self, on: bool) -> Result<WindowScale, E> {
                Ok(if on {
                    WindowScale::Automatic
                } else {
                    WindowScale::Off
                })
            }

            fn visit_u64<E: Error>(self, shift: u64) -> Result<WindowScale, E> {
                if shift > 14 {
                    return Err(E::invalid_value(
                        serde::de::Unexpected::Unsigned(shift),
                        &self,
                    ));
                }
                Ok(WindowScale::Fixed(shift as u8))
            }
        }
        deserializer.deserialize_any(Alternatives)
    }
}

impl JsonSchema for WindowScale {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "WindowScale".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "anyOf": [
            { "type": "boolean" },
            { "type": "integer", "minimum": 0, "maximum": 14 }
        ] })
    }
}

/// Number of segments handed to the device at once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Tso {
    /// About a millisecond's worth at the pacing rate.
    Linux,
    /// This number.
    Segments(u32),
}

impl Serialize for Tso {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Linux => serializer.serialize_str("linux"),
            Self::Segments(segments) => serializer.serialize_u32(*segments),
        }
    }
}

impl<'de> Deserialize<'de> for Tso {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Alternatives;
        impl Visitor<'_> for Alternatives {
            type Value = Tso;

            fn expecting(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                write!(f, "\"linux\" or a number of segments from 1 to 44")
            }

            fn visit_str<E: Error>(self, word: &str) -> Result<Tso, E> {
                match word {
                    "linux" => Ok(Tso::Linux),
                    other => Err(E::invalid_value(serde::de::Unexpected::Str(other), &self)),
                }
            }

            fn visit_u64<E: Error>(self, segments: u64) -> Result<Tso, E> {
                if !(1..=44).contains(&segments) {
                    return Err(E::invalid_value(
                        serde::de::Unexpected::Unsigned(segments),
                        &self,
                    ));
                }
                Ok(Tso::Segments(segments as u32))
            }
        }
        deserializer.deserialize_any(Alternatives)
    }
}

impl JsonSchema for Tso {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Tso".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "anyOf": [
            { "const": "linux" },
            { "type": "integer", "minimum": 1, "maximum": 44 }
        ] })
    }
}
