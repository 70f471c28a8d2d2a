//! Parameters of congestion controls and slow-start methods: declared once each, with default, allowed
//! values, unit and source, so that the lists that users read cannot differ from what is read.

use core::ops::RangeInclusive;
use std::collections::BTreeMap;

use units::Duration;

/// What was chosen, by name of the parameter, as text (`"off"`, `"0.8"`, `"2ms"`).
pub type Settings = BTreeMap<String, String>;

/// What one parameter is and may be.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    /// As scenarios and command lines call it.
    pub name: &'static str,
    /// What it does.
    pub meaning: &'static str,
    /// Unit; empty where there is none.
    pub unit: &'static str,
    /// Where it and its default come from.
    pub source: &'static str,
    /// The default as text.
    pub default: fn() -> String,
    /// What is allowed, in words.
    pub allowed: fn() -> String,
    /// A value as it is printed, where it is allowed.
    pub canonical: fn(&str) -> Option<String>,
}

/// A setting that cannot be.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SettingError {
    /// There is no parameter of that name.
    Unknown {
        /// Who does not have it.
        owner: String,
        /// What was given.
        parameter: String,
        /// What there is.
        known: Vec<&'static str>,
    },
    /// The parameter does not take that value.
    Value {
        /// Whose parameter it is.
        owner: String,
        /// Which one.
        parameter: String,
        /// What was given.
        value: String,
        /// What it takes.
        allowed: String,
    },
    /// Two settings contradict each other.
    Conflict {
        /// Whose they are.
        owner: String,
        /// Their names.
        parameters: (&'static str, &'static str),
    },
}

impl core::fmt::Display for SettingError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Unknown {
                owner,
                parameter,
                known,
            } if known.is_empty() => {
                write!(f, "{owner} has no parameters, but {parameter:?} is given")
            }
            Self::Unknown {
                owner,
                parameter,
                known,
            } => write!(
                f,
                "{owner} has no parameter {parameter:?}; allowed: {}",
                known.join(", ")
            ),
            Self::Value {
                owner,
                parameter,
                value,
                allowed,
            } => write!(
                f,
                "{owner}: {value:?} is not a value of {parameter}; allowed: {allowed}"
            ),
            Self::Conflict {
                owner,
                parameters: (one, other),
            } => write!(f, "{owner}: give {one} or {other}, not both"),
        }
    }
}

impl std::error::Error for SettingError {}

/// A type that parameters have.
pub trait Setting: Sized + PartialOrd {
    /// The value that `text` writes.
    fn read(text: &str) -> Option<Self>;

    /// The value as it is written.
    fn show(&self) -> String;

    /// What is allowed, in words, where `range` restricts it.
    fn allowed(range: Option<&RangeInclusive<Self>>) -> String;

    /// The value of `text` if it is within `range`.
    fn read_within(text: &str, range: Option<&RangeInclusive<Self>>) -> Option<Self> {
        Self::read(text.trim()).filter(|value| range.is_none_or(|range| range.contains(value)))
    }
}

impl Setting for bool {
    fn read(text: &str) -> Option<Self> {
        match text {
            "on" | "true" | "yes" | "1" => Some(true),
            "off" | "false" | "no" | "0" => Some(false),
            _ => None,
        }
    }

    fn show(&self) -> String {
        if *self { "on" } else { "off" }.to_owned()
    }

    fn allowed(_: Option<&RangeInclusive<Self>>) -> String {
        "on, off".to_owned()
    }
}

impl Setting for f64 {
    fn read(text: &str) -> Option<Self> {
        text.parse().ok().filter(|value: &Self| value.is_finite())
    }

    fn show(&self) -> String {
        self.to_string()
    }

    fn allowed(range: Option<&RangeInclusive<Self>>) -> String {
        range.map_or("numbers".to_owned(), |range| {
            format!("numbers from {} to {}", range.start(), range.end())
        })
    }
}

impl Setting for u32 {
    fn read(text: &str) -> Option<Self> {
        text.parse().ok()
    }

    fn show(&self) -> String {
        self.to_string()
    }

    fn allowed(range: Option<&RangeInclusive<Self>>) -> String {
        range.map_or("whole numbers".to_owned(), |range| {
            format!("whole numbers from {} to {}", range.start(), range.end())
        })
    }
}

impl Setting for Duration {
    fn read(text: &str) -> Option<Self> {
        text.parse().ok()
    }

    fn show(&self) -> String {
        self.to_string()
    }

    fn allowed(range: Option<&RangeInclusive<Self>>) -> String {
        range.map_or("times such as 2ms".to_owned(), |range| {
            format!("times from {} to {}", range.start(), range.end())
        })
    }
}

/// Words among which a parameter chooses: an enumeration and its [`Setting`].
macro_rules! choices {
    ($(#[$meta:meta])* pub enum $name:ident { $($(#[$of:meta])* $variant:ident = $word:literal),+ $(,)? }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
        pub enum $name { $($(#[$of])* $variant),+ }

        impl $crate::parameters::Setting for $name {
            fn read(text: &str) -> Option<Self> {
                match text {
                    $($word => Some(Self::$variant),)+
                    _ => None,
                }
            }

            fn show(&self) -> String {
                match self { $(Self::$variant => $word),+ }.to_owned()
            }

            fn allowed(_: Option<&core::ops::RangeInclusive<Self>>) -> String {
                [$($word),+].join(", ")
            }
        }
    };
}

/// A set of parameters: a structure with defaults, the list that describes it and the reading of
/// [`Settings`]. One line per parameter: name, type, default, range if any, unit, source.
macro_rules! parameters {
    (
        $(#[$meta:meta])*
        pub struct $name:ident {
            $(
                $(#[doc = $doc:literal])+
                $field:ident: $kind:ty = $default:expr $(, in $range:expr)?, $unit:literal, $source:literal;
            )+
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Debug)]
        pub struct $name {
            $($(#[doc = $doc])+ pub $field: $kind,)+
        }

        impl Default for $name {
            fn default() -> Self {
                Self { $($field: $default,)+ }
            }
        }

        impl $name {
            /// What the parameters are.
            pub const PARAMETERS: &'static [$crate::parameters::Parameter] = &[$(
                $crate::parameters::Parameter {
                    name: stringify!($field),
                    meaning: concat!($($doc),+).trim_ascii(),
                    unit: $unit,
                    source: $source,
                    default: || <$kind as $crate::parameters::Setting>::show(&$default),
                    allowed: || {
                        #[allow(unused_mut, unused_assignments, reason = "not every parameter has a range")]
                        let mut range: Option<&core::ops::RangeInclusive<$kind>> = None;
                        $(range = Some(const { &$range });)?
                        <$kind as $crate::parameters::Setting>::allowed(range)
                    },
                    canonical: |text| {
                        #[allow(unused_mut, unused_assignments, reason = "not every parameter has a range")]
                        let mut range: Option<&core::ops::RangeInclusive<$kind>> = None;
                        $(range = Some(const { &$range });)?
                        <$kind as $crate::parameters::Setting>::read_within(text, range)
                            .map(|value| $crate::parameters::Setting::show(&value))
                    },
                },
            )+];

            /// The defaults, with what `settings` chooses; all of it has been checked.
            pub fn with(settings: &$crate::Settings) -> Self {
                let mut chosen = Self::default();
                $(
                    if let Some(value) = settings
                        .get(stringify!($field))
                        .and_then(|text| $crate::parameters::Setting::read(text.trim()))
                    {
                        chosen.$field = value;
                    }
                )+
                chosen
            }
        }
    };
}

pub(crate) use {choices, parameters};
