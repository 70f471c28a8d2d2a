//! Console: the last lines that the kernel printed.

use std::path::Path;

/// Number of lines that an error message shows.
const MAX_LINES: usize = 30;

/// Returns the last lines of the console in `file`.
pub(crate) fn last_lines(file: &Path) -> String {
    let bytes = std::fs::read(file).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<&str> = text
        .lines()
        .filter(|line| !line.trim().is_empty())
        .collect();
    let last = &lines[lines.len().saturating_sub(MAX_LINES)..];
    if last.is_empty() {
        return "  (nothing)".to_owned();
    }
    last.iter()
        .map(|line| format!("  {}", line.trim_end()))
        .collect::<Vec<_>>()
        .join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_the_console_is_shown() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("console");
        assert_eq!(last_lines(&file), "  (nothing)");
        let all: Vec<String> = (0..50).map(|n| format!("line {n}\r\n\n")).collect();
        std::fs::write(&file, all.concat()).unwrap();
        let last = last_lines(&file);
        assert!(last.starts_with("  line 20\n") && last.ends_with("  line 49"));
    }
}
