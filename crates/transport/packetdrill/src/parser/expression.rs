//! Arguments and results of system calls.

use super::Parser;
use crate::SyntaxError;
use crate::lexer::Token;
use crate::script::Expression;

/// Limit of nested terms, which no real call needs.
const MAX_DEPTH: u32 = 30;

impl Parser {
    /// Parses `(a, b, ...)`.
    pub(super) fn arguments(&mut self) -> Result<Vec<Expression>, SyntaxError> {
        self.expect_mark('(')?;
        self.list(')')
    }

    /// Parses expressions between commas up to `close`.
    fn list(&mut self, close: char) -> Result<Vec<Expression>, SyntaxError> {
        let mut list = Vec::new();
        while !self.take_mark(close) {
            if !list.is_empty() {
                self.expect_mark(',')?;
            }
            list.push(self.expression()?);
        }
        Ok(list)
    }

    /// Parses an expression: alternatives of `|`.
    pub(super) fn expression(&mut self) -> Result<Expression, SyntaxError> {
        let first = self.term()?;
        if !self.next_is('|') {
            return Ok(first);
        }
        let mut parts = vec![first];
        while self.take_mark('|') {
            parts.push(self.term()?);
        }
        Ok(Expression::Or(parts))
    }

    /// Parses a term; the depth of nested terms is limited.
    fn term(&mut self) -> Result<Expression, SyntaxError> {
        if self.depth == MAX_DEPTH {
            return self.reject(format!("more than {MAX_DEPTH} brackets within brackets"));
        }
        self.depth += 1;
        let term = self.unnested_term();
        self.depth -= 1;
        term
    }

    fn unnested_term(&mut self) -> Result<Expression, SyntaxError> {
        match self.peek().cloned() {
            Some(Token::Ellipsis) => {
                self.index += 1;
                Ok(Expression::Any)
            }
            Some(Token::Number(_)) => Ok(Expression::Number(self.number("a whole number")?)),
            Some(Token::Text(mut text)) => {
                self.index += 1;
                while let Some(Token::Text(more)) = self.peek() {
                    text.push_str(more);
                    self.index += 1;
                }
                if self.peek() == Some(&Token::Ellipsis) {
                    self.index += 1;
                }
                Ok(Expression::Text(text))
            }
            Some(Token::Word(word)) => {
                self.index += 1;
                if self.next_is('(') && (word == "sizeof" || self.has_arguments()) {
                    Ok(Expression::Apply(word, self.arguments()?))
                } else if self.take_mark('=') {
                    Ok(Expression::Fields(vec![(word, self.expression()?)]))
                } else {
                    Ok(Expression::Word(word))
                }
            }
            Some(Token::Mark('[')) => {
                self.index += 1;
                Ok(Expression::List(self.list(']')?))
            }
            Some(Token::Mark('{')) => {
                self.index += 1;
                self.braces()
            }
            _ => self.expected_error("an expression"),
        }
    }

    /// Returns whether the parenthesis after a word holds arguments, not the note after the result of a call.
    fn has_arguments(&self) -> bool {
        matches!(
            self.tokens.get(self.index + 1),
            Some((_, Token::Text(_) | Token::Number(_) | Token::Ellipsis))
        )
    }

    /// Parses fields or values up to `}`.
    fn braces(&mut self) -> Result<Expression, SyntaxError> {
        let mut fields = Vec::new();
        let mut values = Vec::new();
        while !self.take_mark('}') {
            if !(fields.is_empty() && values.is_empty()) {
                self.expect_mark(',')?;
            }
            if let Some(name) = self.field_name() {
                fields.push((name, self.expression()?));
            } else {
                match self.expression()? {
                    Expression::Fields(more) => fields.extend(more),
                    value => values.push(value),
                }
            }
        }
        Ok(if fields.is_empty() {
            Expression::List(values)
        } else {
            Expression::Fields(fields)
        })
    }

    /// Consumes `name(count)=`, as in `msg_iov(1)=`.
    fn field_name(&mut self) -> Option<String> {
        let mark = |at: usize, mark: char| matches!(self.tokens.get(at), Some((_, Token::Mark(next))) if *next == mark);
        let Some(Token::Word(name)) = self.peek() else {
            return None;
        };
        let counted =
            mark(self.index + 1, '(') && mark(self.index + 3, ')') && mark(self.index + 4, '=');
        let name = name.clone();
        counted.then(|| {
            self.index += 5;
            name
        })
    }
}
