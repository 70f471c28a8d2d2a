//! Lexer: the text of a script as tokens with their lines.

use crate::SyntaxError;

/// Token of the language.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Token {
    /// `...`
    Ellipsis,
    /// Number as written, decimal, with a fraction or hexadecimal.
    Number(String),
    /// Letters, digits and underscores that are no number.
    Word(String),
    /// Text between quotation marks.
    Text(String),
    /// Text between backticks.
    Shell(String),
    /// Text between `%{` and `}%`.
    Code(String),
    /// Name and value of `--name=value`.
    Option(String, String),
    /// Any other character.
    Mark(char),
}

impl Token {
    /// Returns the bytes of its text.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Ellipsis => 3,
            Self::Number(text)
            | Self::Word(text)
            | Self::Text(text)
            | Self::Shell(text)
            | Self::Code(text) => text.len(),
            Self::Option(name, value) => name.len() + value.len(),
            Self::Mark(mark) => mark.len_utf8(),
        }
    }
}

impl core::fmt::Display for Token {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Ellipsis => f.write_str("..."),
            Self::Number(text) | Self::Word(text) => f.write_str(text),
            Self::Text(text) => write!(f, "\"{text}\""),
            Self::Shell(_) => f.write_str("`...`"),
            Self::Code(_) => f.write_str("%{...}%"),
            Self::Option(name, _) => write!(f, "--{name}"),
            Self::Mark(mark) => write!(f, "{mark}"),
        }
    }
}

/// Returns the tokens of `text` with their lines.
pub(crate) fn tokens(text: &str) -> Result<Vec<(u32, Token)>, SyntaxError> {
    let mut lexer = Lexer {
        rest: text,
        line: 1,
    };
    let mut tokens = Vec::new();
    while let Some(token) = lexer.next()? {
        tokens.push(token);
    }
    Ok(tokens)
}

struct Lexer<'a> {
    rest: &'a str,
    line: u32,
}

impl<'a> Lexer<'a> {
    fn next(&mut self) -> Result<Option<(u32, Token)>, SyntaxError> {
        self.skip_blank()?;
        let line = self.line;
        let Some(first) = self.rest.chars().next() else {
            return Ok(None);
        };
        let token = match first {
            '"' => Token::Text(self.between("\"", "\"")?.to_owned()),
            '`' => Token::Shell(self.between("`", "`")?.to_owned()),
            '%' if self.rest.starts_with("%{") => Token::Code(self.between("%{", "}%")?.to_owned()),
            '-' if self.rest[1..].starts_with('-') => self.option(),
            '.' if self.rest.starts_with("...") => {
                self.take(3);
                Token::Ellipsis
            }
            _ => match number_len(self.rest) {
                0 if is_word(first) => Token::Word(self.take_while(is_word).to_owned()),
                0 => {
                    self.take(first.len_utf8());
                    Token::Mark(first)
                }
                len => {
                    let word = self.rest.len() - self.rest.trim_start_matches(is_word).len();
                    if word > len {
                        Token::Word(self.take(word).to_owned())
                    } else {
                        Token::Number(self.take(len).to_owned())
                    }
                }
            },
        };
        Ok(Some((line, token)))
    }

    fn take(&mut self, len: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at(len);
        self.rest = rest;
        self.line += taken.matches('\n').count() as u32;
        taken
    }

    fn take_while(&mut self, allowed: impl Fn(char) -> bool) -> &'a str {
        let end = self.rest.find(|c| !allowed(c)).unwrap_or(self.rest.len());
        self.take(end)
    }

    fn skip_blank(&mut self) -> Result<(), SyntaxError> {
        loop {
            self.take_while(char::is_whitespace);
            if self.rest.starts_with("//") {
                self.take_while(|c| c != '\n');
            } else if self.rest.starts_with("/*") {
                self.between("/*", "*/")?;
            } else {
                return Ok(());
            }
        }
    }

    fn between(&mut self, open: &str, close: &str) -> Result<&'a str, SyntaxError> {
        let line = self.line;
        self.take(open.len());
        let Some(end) = self.rest.find(close) else {
            let message = format!("{open} has no {close} after it");
            return Err(SyntaxError { line, message });
        };
        let inner = self.take(end);
        self.take(close.len());
        Ok(inner)
    }

    fn option(&mut self) -> Token {
        self.take(2);
        let name = self.take_while(is_word).to_owned();
        if !self.rest.starts_with('=') {
            return Token::Option(name, String::new());
        }
        self.take(1);
        let value = self.take_while(|c| !c.is_whitespace());
        Token::Option(name, value.trim_matches('"').to_owned())
    }
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// Returns the length of the number at the start of `text`: digits, a fraction, a sign, or hexadecimal digits.
fn number_len(text: &str) -> usize {
    let digits =
        |text: &str| text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    if let Some(hex) = text.strip_prefix("0x") {
        let len = hex.len()
            - hex
                .trim_start_matches(|c: char| c.is_ascii_hexdigit())
                .len();
        return if len > 0 { 2 + len } else { 1 };
    }
    let sign = usize::from(text.starts_with('-'));
    let whole = digits(&text[sign..]);
    let after = &text[sign + whole..];
    let fraction = after.strip_prefix('.').map_or(0, digits);
    match (whole, fraction) {
        (0, 0) => 0,
        (_, 0) => sign + whole,
        _ => sign + whole + 1 + fraction,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        let tokens = tokens(text).expect("it is well formed");
        tokens
            .into_iter()
            .map(|(_, token)| token.to_string())
            .collect()
    }

    #[test]
    fn times_ranges_and_flags_are_told_apart() {
        assert_eq!(
            words("+0...0.200 accept"),
            ["+", "0", "...", "0.200", "accept"]
        );
        assert_eq!(
            words("+.3~+.400 > F. 1:1(0)"),
            [
                "+", ".3", "~", "+", ".400", ">", "F", ".", "1", ":", "1", "(", "0", ")"
            ]
        );
        assert_eq!(
            words("< - 1:2(1) = -1 0x2f"),
            ["<", "-", "1", ":", "2", "(", "1", ")", "=", "-1", "0x2f"]
        );
        assert_eq!(words("FO 3021b9d8"), ["FO", "3021b9d8"]);
    }

    #[test]
    fn comments_are_skipped_and_lines_are_counted() {
        let result = tokens("// a\n/* b\n */ `c\nd` e").expect("it is well formed");
        let lines: Vec<u32> = result.iter().map(|(line, _)| *line).collect();
        assert_eq!(lines, [3, 4]);
        assert_eq!(tokens("a\n `b").expect_err("no end").line, 2);
    }
}
