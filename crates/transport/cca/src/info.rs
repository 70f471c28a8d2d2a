//! Catalogue entry of a congestion control: name, reference, parameters, constructor.

use strum::IntoStaticStr;

use super::parameters::{Parameter, unknown_parameter};
use super::slow_start::{Method, SlowStartConfig};
use super::{CongestionControl, Settings};

/// Signal that a congestion control reacts to.
#[derive(Clone, Copy, PartialEq, Eq, Debug, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum Family {
    /// Loss.
    Loss,
    /// Delay.
    Delay,
    /// Loss and delay.
    Hybrid,
    /// Model of the path: its rate and its delay.
    Model,
    /// Congestion marks (ECN).
    Ecn,
    /// Forecast of the deliveries of the path.
    Forecast,
    /// Congestion control written by a user.
    User,
}

impl Family {
    /// Returns the word for tables.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// Constructor of a congestion control from the settings that differ from the defaults.
pub type Build = dyn Fn(&Settings) -> Box<dyn CongestionControl> + Send + Sync;

/// Catalogue entry of a congestion control.
#[derive(Clone, Copy)]
pub struct CcaInfo {
    /// Name; the kernel's name if the kernel has this congestion control.
    pub name: &'static str,
    /// Other names in the literature, in lower case.
    pub aliases: &'static [&'static str],
    /// Full name.
    pub title: &'static str,
    /// Signal that it reacts to.
    pub family: Family,
    /// Publication that defines it.
    pub reference: &'static str,
    /// Year of that publication.
    pub year: u16,
    /// Whether the Linux kernel has a congestion control of this name.
    pub linux: bool,
    /// Its own parameters.
    pub parameters: &'static [Parameter],
    /// Default slow-start method; `None` if it has only a slow start of its own.
    pub slow_start: Option<Method>,
    /// Constructor; the settings have already been checked.
    pub build: &'static Build,
}

impl core::fmt::Debug for CcaInfo {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("CcaInfo")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

/// Congestion control together with its slow-start method.
#[derive(Debug)]
pub struct BuiltCca {
    /// Kernel's name of the CCA.
    pub name: &'static str,
    /// CCA.
    pub cca: Box<dyn CongestionControl>,
    /// Slow-start method.
    pub slow_start: Box<dyn super::SlowStart>,
}

impl CcaInfo {
    /// Returns all parameters with their defaults for this CCA. Those of slow start are included if the CCA
    /// lets the user choose the method.
    pub fn all_parameters(&self) -> impl Iterator<Item = (&'static Parameter, String)> {
        let method = self.slow_start;
        let shared = method.map_or(&[][..], |_| SlowStartConfig::PARAMETERS);
        let own = self.parameters.iter();
        own.map(|parameter| (parameter, (parameter.default)()))
            .chain(shared.iter().map(move |parameter| {
                let default = method.and_then(|method| method.default_value(parameter.name));
                (parameter, default.unwrap_or_else(|| (parameter.default)()))
            }))
    }

    /// Returns the value of a parameter in the form in which it is printed.
    ///
    /// # Errors
    /// Returns an error if there is no such parameter or if it does not take that value.
    pub fn canonical(&self, parameter: &str, value: &str) -> Result<String, String> {
        let all = || self.all_parameters().map(|(known, _)| known);
        let known = all().find(|known| known.name == parameter);
        let known = known.ok_or_else(|| {
            let names: Vec<_> = all().map(|known| known.name).collect();
            unknown_parameter(self.name, parameter, &names)
        })?;
        (known.canonical)(value).ok_or_else(|| {
            let (owner, allowed) = (self.name, (known.allowed)());
            format!("{owner}: {value:?} is not a value of {parameter}; allowed: {allowed}")
        })
    }

    /// Checks settings.
    ///
    /// # Errors
    /// Returns an error if a setting is not a parameter of this congestion control, has a value that is not
    /// allowed, or contradicts another setting.
    pub fn check(&self, settings: &Settings) -> Result<(), String> {
        for (parameter, value) in settings {
            self.canonical(parameter, value)?;
        }
        SlowStartConfig::new(self, settings).map(drop)
    }

    /// Creates the congestion control and its slow-start method with these settings, after [`CcaInfo::check`].
    pub fn build(&self, settings: &Settings) -> Result<BuiltCca, String> {
        self.check(settings)?;
        Ok(BuiltCca {
            name: self.name,
            cca: (self.build)(settings),
            slow_start: SlowStartConfig::new(self, settings)?.build(),
        })
    }
}
