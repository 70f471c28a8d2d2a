//! Fields of the lines of a table: separators, quotes, decimal commas.

/// Separator of fields.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Separator {
    Comma,
    Semicolon,
    Tab,
    /// One space or more.
    Spaces,
}

impl Separator {
    /// Returns the separator of a table by one of its lines.
    pub(super) fn of(line: &str) -> Self {
        let plain: String = line.split('"').step_by(2).collect();
        if plain.contains('\t') {
            Self::Tab
        } else if plain.contains(';') {
            Self::Semicolon
        } else if plain.contains(',') {
            Self::Comma
        } else {
            Self::Spaces
        }
    }

    /// Name in messages.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Comma => "commas",
            Self::Semicolon => "semicolons",
            Self::Tab => "tabs",
            Self::Spaces => "spaces",
        }
    }

    /// Returns the fields of a line, without their quotes. Where commas do not separate, they are decimal ones.
    pub(super) fn fields(self, line: &str) -> Vec<String> {
        if self == Self::Spaces {
            return line.split_whitespace().map(point).collect();
        }
        let separator = match self {
            Self::Comma => ',',
            Self::Semicolon => ';',
            Self::Tab | Self::Spaces => '\t',
        };
        let mut fields = vec![String::new()];
        let mut quoted = false;
        for c in line.chars() {
            match c {
                '"' => quoted = !quoted,
                c if c == separator && !quoted => fields.push(String::new()),
                c => fields.last_mut().expect("there is a first field").push(c),
            }
        }
        let trimmed = fields.iter().map(|field| field.trim());
        if self == Self::Comma {
            trimmed.map(str::to_owned).collect()
        } else {
            trimmed.map(point).collect()
        }
    }
}

/// Returns a number that has a decimal comma with a point; any other text as it is.
fn point(field: &str) -> String {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    match field.split_once(',') {
        Some((whole, rest)) if digits(whole) && digits(rest) => format!("{whole}.{rest}"),
        _ => field.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn separators_quotes_and_decimal_commas_are_read() {
        let fields = |line: &str| Separator::of(line).fields(line);
        assert_eq!(fields("0.5, 12"), ["0.5", "12"]);
        assert_eq!(fields("0,5;12,25"), ["0.5", "12.25"]);
        assert_eq!(fields("0,5\t12"), ["0.5", "12"]);
        assert_eq!(fields("0.5  12"), ["0.5", "12"]);
        assert_eq!(fields("\"time, s\",\"rate\""), ["time, s", "rate"]);
        assert_eq!(fields("a;b, c"), ["a", "b, c"]);
    }
}
