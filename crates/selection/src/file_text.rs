//! Text of policy and memory files: seal, nesting, names of CCAs, and errors with the number of the line.

/// Returns the kernel's name of the CCA called `name`.
pub(crate) fn canonical_cca(name: &str) -> Result<&'static str, String> {
    cca::registry::lookup(name, &[]).map(|cca| cca.name)
}

/// Returns the message of the TOML reader in one line of text, after the number of the line in the file.
pub(crate) fn toml_error_text(text: &str, error: &toml::de::Error) -> String {
    let message = error.message().split_whitespace().collect::<Vec<_>>();
    with_line_number(
        text,
        error.span().map(|span| span.start),
        &message.join(" "),
    )
}

/// Returns a message after the number of the line with the byte at `offset` in a text.
fn with_line_number(text: &str, offset: Option<usize>, message: &str) -> String {
    match offset.and_then(|offset| text.get(..offset)) {
        Some(before) => format!("line {}: {message}", before.matches('\n').count() + 1),
        None => message.to_owned(),
    }
}

/// Checks the seal of a policy file, and that its tables are not nested too deeply for parsers.
pub(crate) fn check_text(text: &str) -> Result<(), String> {
    config::check_seal(text)?;
    config::check_nesting(text)
        .map_err(|(offset, message)| with_line_number(text, Some(offset), &message))
}
