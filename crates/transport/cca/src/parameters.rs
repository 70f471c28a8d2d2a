//! Parameters of congestion controls and slow-start methods. Each is declared once, with its default, allowed
//! values, unit and source, so that the documentation and the parser cannot differ.

use core::ops::RangeInclusive;

use config::suggestion;
use units::Duration;

/// Description of one parameter. The closures let a program declare parameters that it learns at run time.
#[derive(Clone, Copy)]
pub struct Parameter {
    /// Name in scenarios and on the command line.
    pub name: &'static str,
    /// Effect of the parameter.
    pub meaning: &'static str,
    /// Unit; empty if there is none.
    pub unit: &'static str,
    /// Source of the parameter and of its default.
    pub source: &'static str,
    /// Default as text.
    pub default: &'static (dyn Fn() -> String + Send + Sync),
    /// Allowed values, in words.
    pub allowed: &'static (dyn Fn() -> String + Send + Sync),
    /// Converts a value to the form in which it is printed; `None` if it is not allowed.
    pub canonical: &'static (dyn Fn(&str) -> Option<String> + Send + Sync),
}

impl core::fmt::Debug for Parameter {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Parameter")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

/// Returns the error of a parameter that the congestion control `owner`, which has the parameters `known`, does not have.
pub(crate) fn unknown_parameter(owner: &str, parameter: &str, known: &[&str]) -> String {
    if known.is_empty() {
        return format!("{owner} has no parameters, but {parameter:?} is given");
    }
    let similar = suggestion(parameter, known.iter().copied());
    let known = known.join(", ");
    format!("{owner} has no parameter {parameter:?}{similar}; allowed: {known}")
}

/// Type of a parameter.
pub trait Setting: Sized + PartialOrd {
    /// Parses `text`.
    fn read(text: &str) -> Option<Self>;

    /// Returns the value as text.
    fn show(&self) -> String;

    /// Describes the allowed values, in words, within `range` if there is one.
    fn allowed(range: Option<&RangeInclusive<Self>>) -> String;

    /// Parses `text`; `None` if the value is not within `range`.
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

/// Implements [`Setting`] for a type of numbers: how it is parsed, and the name of its values.
macro_rules! number_setting {
    ($name:ty, $read:expr, $values:literal, $example:literal) => {
        impl Setting for $name {
            fn read(text: &str) -> Option<Self> {
                text.parse().ok().filter($read)
            }

            fn show(&self) -> String {
                self.to_string()
            }

            fn allowed(range: Option<&RangeInclusive<Self>>) -> String {
                range.map_or(concat!($values, $example).to_owned(), |range| {
                    format!(
                        concat!($values, " from {} to {}"),
                        range.start(),
                        range.end()
                    )
                })
            }
        }
    };
}

number_setting!(f64, |value: &f64| value.is_finite(), "numbers", "");
number_setting!(u32, |_| true, "whole numbers", "");
number_setting!(Duration, |_| true, "times", " such as 2ms");

/// Defines an enumeration of words that a parameter can take, and its [`Setting`].
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

/// Returns a range of allowed values as an option; `None` without one.
macro_rules! optional_range {
    () => {
        None
    };
    ($range:expr) => {
        Some(const { &$range })
    };
}

/// Defines a set of parameters: a struct with defaults, the list that describes it, and the parser of
/// [`config::Settings`]. Each parameter takes one line: name, type, default, range if any, unit, source.
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
            /// Descriptions of the parameters.
            pub const PARAMETERS: &'static [$crate::parameters::Parameter] = &[$(
                $crate::parameters::Parameter {
                    name: stringify!($field),
                    meaning: concat!($($doc),+).trim_ascii(),
                    unit: $unit,
                    source: $source,
                    default: &|| <$kind as $crate::parameters::Setting>::show(&$default),
                    allowed: &|| {
                        let range = $crate::parameters::optional_range!($($range)?);
                        <$kind as $crate::parameters::Setting>::allowed(range)
                    },
                    canonical: &|text| {
                        let range = $crate::parameters::optional_range!($($range)?);
                        <$kind as $crate::parameters::Setting>::read_within(text, range)
                            .map(|value| $crate::parameters::Setting::show(&value))
                    },
                },
            )+];

            /// Returns the defaults, overridden by `settings`, which have already been checked.
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

pub(crate) use {choices, optional_range, parameters};
