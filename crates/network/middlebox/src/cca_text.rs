//! Choice of a CCA by a text such as `cubic:beta=0.8`, as on the command line.

use cca::{BuiltCca, CcaInfo, Settings, registry};

/// CCA that the text of a setting names, with its parameters.
#[derive(Clone, Debug)]
pub struct CcaText {
    cca: &'static CcaInfo,
    settings: Settings,
}

impl CcaText {
    /// Reads the text: a name, or a name, a colon, and parameters joined by commas.
    ///
    /// # Errors
    /// There is no such CCA or parameter, or a value is out of its range.
    pub fn read(text: &str) -> Result<Self, String> {
        let (name, settings) = config::parse_spec(text)?;
        let own = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
        let settings = settings.into_iter().map(own).collect();
        let cca = registry::called(name, &[])?;
        let choice = Self { cca, settings };
        choice.build().map(|_| choice)
    }

    /// Builds the CCA.
    ///
    /// # Errors
    /// A parameter is refused.
    pub fn build(&self) -> Result<BuiltCca, String> {
        let built = self.cca.build(&self.settings);
        built.map_err(|error| error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::CcaText;

    #[test]
    fn a_text_names_a_cca_and_its_parameters() {
        assert!(CcaText::read("bbr").is_ok());
        assert!(CcaText::read("cubic:beta=0.8,hystart=off").is_ok());
        for (text, part) in [
            ("cubick", "\"cubick\" is not a congestion control"),
            ("cubic:gamma=1", "no parameter \"gamma\""),
            (
                "cubic:beta",
                "\"beta\" is not a setting; allowed: parameter=value",
            ),
        ] {
            let error = CcaText::read(text).unwrap_err();
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
