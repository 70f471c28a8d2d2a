//! Text of policy and memory files: its seal, its nesting, names of CCAs, and errors with the number of the line.

/// Returns the kernel's name of the CCA called `name`.
pub(crate) fn cca_named(name: &str) -> Result<&'static str, String> {
    cca::registry::called(name, &[]).map(|cca| cca.name)
}

/// Returns the message of the TOML reader on one line, after the line number.
pub(crate) fn in_one_line(text: &str, error: &toml::de::Error) -> String {
    let message = error.message().split_whitespace().collect::<Vec<_>>();
    on_line(
        text,
        error.span().map(|span| span.start),
        &message.join(" "),
    )
}

/// Returns a message after the number of the line of a place in a text.
fn on_line(text: &str, place: Option<usize>, message: &str) -> String {
    match place.and_then(|place| text.get(..place)) {
        Some(before) => format!("line {}: {message}", before.matches('\n').count() + 1),
        None => message.to_owned(),
    }
}

/// Checks the seal of a policy or memory file, and that parsers can bear how deep its tables are.
pub(crate) fn check_text(text: &str) -> Result<(), String> {
    config::check_seal(text)?;
    config::check_nesting(text).map_err(|(place, message)| on_line(text, Some(place), &message))
}
