//! Parser: the tokens of a script as its events.

mod expression;
mod packet;

use std::collections::BTreeMap;

use crate::SyntaxError;
use crate::lexer::{Token, tokens};
use crate::script::{Call, Event, EventKind, Script, Time};
use crate::supported::is_system_call;

/// Longest script, bytes of text after its symbols have been replaced: a symbol may stand for a text of any length, and
/// may be used any number of times.
const MAX_LENGTH: usize = 8 << 20;
/// Longest time of an event, seconds. It bounds the timers that expire between two events.
pub(crate) const MAX_SECONDS: f64 = 1e7;

/// Parses a script.
///
/// # Errors
///
/// The text is not in the language, or is longer than 8 MiB.
pub fn parse(text: &str) -> Result<Script, SyntaxError> {
    if text.len() > MAX_LENGTH {
        return Err(too_long(1));
    }
    let mut parser = Parser {
        tokens: replace_symbols(tokens(text)?)?,
        index: 0,
        depth: 0,
    };
    let mut script = Script::default();
    while let Some(token) = parser.peek() {
        if let Token::Option(name, value) = token.clone() {
            script.options.push((parser.line(), name, value));
            parser.index += 1;
        } else if parser.next_is('#') {
            script.events.push(parser.condition());
        } else {
            script.events.push(parser.event()?);
        }
    }
    Ok(script)
}

/// Returns whether a line that begins with the token begins an event, an option or a condition.
fn begins_event(token: &Token) -> bool {
    matches!(
        token,
        Token::Number(_)
            | Token::Shell(_)
            | Token::Code(_)
            | Token::Option(..)
            | Token::Mark('+' | '*' | '#')
    )
}

/// Tokens of a script, and the index of the next one.
struct Parser {
    tokens: Vec<(u32, Token)>,
    index: usize,
    /// Number of terms around the current one.
    depth: u32,
}

/// Replaces the symbols that `--define=symbol=value` defines by their values.
fn replace_symbols(lexed: Vec<(u32, Token)>) -> Result<Vec<(u32, Token)>, SyntaxError> {
    let mut symbols = BTreeMap::new();
    for (line, token) in &lexed {
        let Token::Option(name, definition) = token else {
            continue;
        };
        if name == "define" {
            let Some((symbol, value)) = definition.split_once('=') else {
                let message = format!("--define={definition}: a symbol and its value expected");
                return Err(SyntaxError {
                    line: *line,
                    message,
                });
            };
            symbols.insert(symbol.to_owned(), tokens(value)?);
        }
    }
    let length = |value: &[(u32, Token)]| value.iter().map(|(_, part)| part.len()).sum::<usize>();
    let symbols: BTreeMap<_, _> = symbols
        .into_iter()
        .map(|(symbol, value)| (symbol, (length(&value), value)))
        .collect();
    let mut replaced = Vec::with_capacity(lexed.len());
    let mut bytes_left = MAX_LENGTH;
    for (line, token) in lexed {
        let value = match &token {
            Token::Word(word) => symbols.get(word),
            _ => None,
        };
        let Some((length, value)) = value else {
            replaced.push((line, token));
            continue;
        };
        bytes_left = bytes_left
            .checked_sub(*length)
            .ok_or_else(|| too_long(line))?;
        replaced.extend(value.iter().map(|(_, part)| (line, part.clone())));
    }
    Ok(replaced)
}

fn too_long(line: u32) -> SyntaxError {
    let message =
        format!("the script is too long: up to {MAX_LENGTH} bytes, symbols replaced, are allowed");
    SyntaxError { line, message }
}

impl Parser {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.index).map(|(_, token)| token)
    }

    /// Returns the line of the next token, or of the last one at the end.
    fn line(&self) -> u32 {
        let token = self.tokens.get(self.index).or(self.tokens.last());
        token.map_or(1, |(line, _)| *line)
    }

    fn reject<T>(&self, message: impl Into<String>) -> Result<T, SyntaxError> {
        Err(SyntaxError {
            line: self.line(),
            message: message.into(),
        })
    }

    fn expected_error<T>(&self, what: &str) -> Result<T, SyntaxError> {
        match self.peek() {
            Some(token) => self.reject(format!("{what} expected, not {token}")),
            None => self.reject(format!("{what} expected, not the end")),
        }
    }

    fn next_is(&self, mark: char) -> bool {
        self.peek() == Some(&Token::Mark(mark))
    }

    fn take_mark(&mut self, mark: char) -> bool {
        let is_next = self.next_is(mark);
        self.index += usize::from(is_next);
        is_next
    }

    fn expect_mark(&mut self, mark: char) -> Result<(), SyntaxError> {
        if self.take_mark(mark) {
            Ok(())
        } else {
            self.expected_error(&mark.to_string())
        }
    }

    fn take_word(&mut self, word: &str) -> bool {
        let is_next = matches!(self.peek(), Some(Token::Word(next)) if next == word);
        self.index += usize::from(is_next);
        is_next
    }

    fn expect_word(&mut self) -> Result<String, SyntaxError> {
        match self.peek() {
            Some(Token::Word(word)) => {
                let word = word.clone();
                self.index += 1;
                Ok(word)
            }
            _ => self.expected_error("a name"),
        }
    }

    /// Parses a whole number that fits its type; `what` names it in errors.
    fn number<N: TryFrom<i64>>(&mut self, what: &str) -> Result<N, SyntaxError> {
        let Some(Token::Number(text)) = self.peek() else {
            return self.expected_error(what);
        };
        let number = match text.strip_prefix("0x") {
            Some(hex) => i64::from_str_radix(hex, 16).ok(),
            None => text.parse().ok(),
        };
        match number.and_then(|number| N::try_from(number).ok()) {
            Some(number) => {
                self.index += 1;
                Ok(number)
            }
            None => self.reject(format!("{what}: {text} is out of range")),
        }
    }

    /// Parses a time in seconds; returns microseconds.
    fn time_us(&mut self) -> Result<i64, SyntaxError> {
        let Some(Token::Number(text)) = self.peek() else {
            return self.expected_error("a time");
        };
        let Ok(seconds) = text.parse::<f64>() else {
            return self.reject(format!("time: {text} is no number"));
        };
        if !(0.0..=MAX_SECONDS).contains(&seconds) {
            return self.reject(format!("time: {text} s is not between 0 and {MAX_SECONDS}"));
        }
        self.index += 1;
        Ok((seconds * 1e6).round() as i64)
    }

    /// Skips the rest of the current line.
    fn skip_line(&mut self) {
        let line = self.line();
        while self.peek().is_some() && self.line() == line {
            self.index += 1;
        }
    }

    /// Parses a line such as `#ifdef Linux`, which makes parts of a script apply to some systems only.
    fn condition(&mut self) -> Event {
        let line = self.line();
        self.skip_line();
        Event {
            line,
            time: Time::Relative(0),
            kind: EventKind::Unsupported("parts for some systems only (#ifdef)"),
        }
    }

    fn event(&mut self) -> Result<Event, SyntaxError> {
        let time = self.time()?;
        let line = self.line();
        let kind = match self.peek() {
            Some(Token::Shell(command)) => {
                let command = command.clone();
                self.index += 1;
                EventKind::Command(command)
            }
            Some(Token::Code(code)) => {
                let code = code.clone();
                self.index += 1;
                EventKind::Code(code)
            }
            Some(Token::Mark(mark @ ('<' | '>'))) => {
                let inbound = *mark == '<';
                self.index += 1;
                self.packet(inbound)?
            }
            _ => EventKind::Call(self.call()?),
        };
        Ok(Event { line, time, kind })
    }

    /// Parses the time of an event. Code and commands may have none and then follow the previous event.
    fn time(&mut self) -> Result<Time, SyntaxError> {
        match self.peek() {
            Some(Token::Shell(_) | Token::Code(_)) => Ok(Time::Relative(0)),
            Some(Token::Mark('*')) => {
                self.index += 1;
                Ok(Time::Any)
            }
            Some(Token::Mark('+')) => {
                self.index += 1;
                let start = self.time_us()?;
                Ok(match self.range_end_us()? {
                    Some(end) => Time::RelativeRange(start, end),
                    None => Time::Relative(start),
                })
            }
            Some(Token::Number(_)) => {
                let start = self.time_us()?;
                Ok(match self.range_end_us()? {
                    Some(end) => Time::AbsoluteRange(start, end),
                    None => Time::Absolute(start),
                })
            }
            _ => self.expected_error("the time of an event"),
        }
    }

    fn range_end_us(&mut self) -> Result<Option<i64>, SyntaxError> {
        if !self.take_mark('~') {
            return Ok(None);
        }
        self.take_mark('+');
        self.time_us().map(Some)
    }

    fn call(&mut self) -> Result<Call, SyntaxError> {
        let returns_us = if self.peek() == Some(&Token::Ellipsis) {
            self.index += 1;
            Some(self.time_us()?)
        } else {
            None
        };
        let line = self.line();
        let name = self.expect_word()?;
        if !is_system_call(&name) {
            let message = format!("unknown system call {name}");
            return Err(SyntaxError { line, message });
        }
        let arguments = self.arguments()?;
        self.expect_mark('=')?;
        let result = self.expression()?;
        let errno = match self.peek() {
            Some(Token::Word(word)) if word.starts_with('E') && !self.word_begins_event() => {
                Some(self.expect_word()?)
            }
            _ => None,
        };
        if self.next_is('(') {
            self.skip_note()?;
        }
        Ok(Call {
            name,
            arguments,
            result,
            errno,
            returns_us,
        })
    }

    /// Returns whether the next word begins a call without a time, which is an error that [`Parser::time`] reports.
    fn word_begins_event(&self) -> bool {
        matches!(self.tokens.get(self.index + 1), Some((_, Token::Mark('('))))
            && matches!(
                self.tokens.get(self.index + 2),
                Some((_, Token::Number(_) | Token::Ellipsis))
            )
    }

    /// Skips the note after the result of a call, such as `(Connection timed out)`.
    fn skip_note(&mut self) -> Result<(), SyntaxError> {
        while !self.take_mark(')') {
            if self.peek().is_none() {
                return self.expected_error(")");
            }
            self.index += 1;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
