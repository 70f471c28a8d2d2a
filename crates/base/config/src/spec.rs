//! Names with settings as texts, such as `cubic:beta=0.8,hystart=off` on the command line.

/// Setting: its name and its value.
type Setting<'a> = (&'a str, &'a str);

/// Splits a text into its name and its settings: a colon follows the name, and commas stand between settings.
///
/// # Errors
/// A setting has no equals sign, or is given twice.
pub fn parse_spec(text: &str) -> Result<(&str, Vec<Setting<'_>>), String> {
    let (name, rest) = text.split_once(':').unwrap_or((text, ""));
    let mut settings: Vec<Setting<'_>> = Vec::new();
    for setting in rest.split(',').map(str::trim).filter(|one| !one.is_empty()) {
        let (key, value) = setting.split_once('=').ok_or_else(|| {
            format!("{text:?}: {setting:?} is not a setting; allowed: parameter=value")
        })?;
        let (key, value) = (key.trim(), value.trim());
        if settings.iter().any(|(before, _)| *before == key) {
            return Err(format!(
                "{text:?}: {key:?} is given more than once; allowed: once"
            ));
        }
        settings.push((key, value));
    }
    Ok((name.trim(), settings))
}

#[cfg(test)]
mod tests {
    use super::parse_spec;

    #[test]
    fn a_name_may_have_settings() {
        let settings = vec![("beta", "0.8"), ("hystart", "off")];
        assert_eq!(
            parse_spec("cubic : beta=0.8, hystart = off,"),
            Ok(("cubic", settings))
        );
        assert_eq!(parse_spec("bbr"), Ok(("bbr", Vec::new())));
    }
}
