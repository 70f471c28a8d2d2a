//! What is known of a congestion control beside its code.

use super::parameters::Parameter;
use super::slow_start::{Method, SlowStartConfig};
use super::{CongestionControl, SettingError, Settings};

/// What a congestion control goes by.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Family {
    /// Loss.
    Loss,
    /// Delay.
    Delay,
    /// Loss and delay.
    Hybrid,
    /// A model of the path: its rate and its delay.
    Model,
    /// Marks of congestion (ECN).
    Ecn,
    /// A forecast of what the path will deliver.
    Forecast,
    /// Written by a user.
    User,
}

impl Family {
    /// The word in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Loss => "loss",
            Self::Delay => "delay",
            Self::Hybrid => "hybrid",
            Self::Model => "model",
            Self::Ecn => "ecn",
            Self::Forecast => "forecast",
            Self::User => "user",
        }
    }
}

/// Makes a congestion control with the settings that differ from the defaults.
pub type Build = dyn Fn(&Settings) -> Box<dyn CongestionControl> + Send + Sync;

/// A congestion control as the catalogue lists it.
#[derive(Clone, Copy)]
pub struct Cca {
    /// The kernel's name where the kernel has it.
    pub name: &'static str,
    /// Other names in the literature, lower case.
    pub aliases: &'static [&'static str],
    /// The name in full.
    pub title: &'static str,
    /// What it goes by.
    pub family: Family,
    /// The publication that defines it.
    pub reference: &'static str,
    /// Year of that publication.
    pub year: u16,
    /// Whether the Linux kernel has one of that name.
    pub linux: bool,
    /// Its own parameters.
    pub parameters: &'static [Parameter],
    /// How it starts unless told otherwise; `None` if it starts in its own way only.
    pub slow_start: Option<Method>,
    /// Makes one; all settings have been checked.
    pub build: &'static Build,
}

impl core::fmt::Debug for Cca {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Cca")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

/// A congestion control and the slow start that it comes with.
pub type Pair = (Box<dyn CongestionControl>, Box<dyn super::SlowStart>);

impl Cca {
    /// All parameters with their defaults here: its own and those of slow start where it can be exchanged.
    pub fn all_parameters(&self) -> impl Iterator<Item = (&'static Parameter, String)> {
        let start = self.slow_start;
        let shared = start.map_or(&[][..], |_| SlowStartConfig::PARAMETERS);
        let own = self.parameters.iter();
        own.map(|parameter| (parameter, (parameter.default)()))
            .chain(shared.iter().map(move |parameter| {
                let default = start.and_then(|method| method.default_of(parameter.name));
                (parameter, default.unwrap_or_else(|| (parameter.default)()))
            }))
    }

    /// The value of a parameter as it is printed.
    ///
    /// # Errors
    /// If there is no such parameter or it does not take that value.
    pub fn canonical(&self, parameter: &str, value: &str) -> Result<String, SettingError> {
        let known = || self.all_parameters().map(|(parameter, _)| parameter);
        let found = known().find(|each| each.name == parameter);
        let found = found.ok_or_else(|| SettingError::Unknown {
            owner: self.name.to_owned(),
            parameter: parameter.to_owned(),
            known: known().map(|each| each.name).collect(),
        })?;
        (found.canonical)(value).ok_or_else(|| SettingError::Value {
            owner: self.name.to_owned(),
            parameter: parameter.to_owned(),
            value: value.to_owned(),
            allowed: (found.allowed)(),
        })
    }

    /// Whether these settings can be.
    ///
    /// # Errors
    /// If a setting is none of this congestion control, has a value that is not allowed, or contradicts
    /// another.
    pub fn check(&self, settings: &Settings) -> Result<(), SettingError> {
        for (parameter, value) in settings {
            self.canonical(parameter, value)?;
        }
        SlowStartConfig::chosen(self, settings).map(|_| ())
    }

    /// Makes one with these settings.
    ///
    /// # Errors
    /// As [`Cca::check`].
    pub fn build(&self, settings: &Settings) -> Result<Pair, SettingError> {
        self.check(settings)?;
        let start = SlowStartConfig::chosen(self, settings)?;
        Ok(((self.build)(settings), start.build()))
    }
}
