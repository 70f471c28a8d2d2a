//! Nesting: limit on the depth of tables and lists in a TOML text, since the parsers of it are recursive.

use toml_parser::Source;
use toml_parser::lexer::TokenKind;

/// Maximum depth of tables and lists, and maximum number of dots in a key.
const MAX_DEPTH: usize = 64;

/// Checks that tables, lists and dotted keys of a TOML text are at most 64 levels deep.
///
/// # Errors
/// Byte offset of the first token that is deeper, and the message.
pub fn check_nesting(text: &str) -> Result<(), (usize, String)> {
    let (mut depth, mut dots) = (0_usize, 0_usize);
    for token in Source::new(text).lex() {
        match token.kind() {
            TokenKind::LeftSquareBracket | TokenKind::LeftCurlyBracket => depth += 1,
            TokenKind::RightSquareBracket | TokenKind::RightCurlyBracket => {
                depth = depth.saturating_sub(1);
            }
            TokenKind::Dot => dots += 1,
            TokenKind::Equals | TokenKind::Comma | TokenKind::Newline => dots = 0,
            _ => {}
        }
        if depth.max(dots) > MAX_DEPTH {
            let message = format!("tables and lists are at most {MAX_DEPTH} levels deep");
            return Err((token.span().start(), message));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_and_lists_have_a_deepest_level_and_brackets_in_texts_do_not_count() {
        let deep = |levels| format!("a = {}1{}", "[{b=".repeat(levels), "}]".repeat(levels));
        assert_eq!(check_nesting(&deep(32)), Ok(()));
        assert_eq!(check_nesting(&deep(33)).map_err(|(at, _)| at), Err(132));
        assert!(check_nesting(&deep(300_000)).is_err());
        assert!(check_nesting(&format!("a{} = 1", ".a".repeat(300_000))).is_err());
        assert!(check_nesting(&format!("[a{}]", ".a".repeat(65))).is_err());
        assert_eq!(
            check_nesting(&format!("# {0}\na = \"{0}\"", "[".repeat(100))),
            Ok(())
        );
        assert_eq!(check_nesting(&"a.b = 1.5\n".repeat(100)), Ok(()));
    }
}
