//! Suggestions: the known name that is nearest to an unknown one.

/// Returns the candidate with the fewest edits from `word`, at most a third of its length.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let length = word.chars().count();
    let max_edits = (length / 3).max(1);
    candidates
        .into_iter()
        // The difference of lengths is a lower max_edits of the edits, which take longer to count.
        .filter(|candidate| candidate.chars().count().abs_diff(length) <= max_edits)
        .map(|candidate| (strsim::osa_distance(word, candidate), candidate))
        .filter(|(edits, _)| *edits <= max_edits)
        .min_by_key(|(edits, _)| *edits)
        .map(|(_, candidate)| candidate)
}

/// Returns `; did you mean "word"?` for an error message, or nothing if no candidate is near.
pub fn suggestion<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> String {
    nearest(word, candidates).map_or(String::new(), |near| format!("; did you mean {near:?}?"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_is_recognised_and_another_word_is_not() {
        let names = ["cubic", "reno", "bbr"];
        assert_eq!(nearest("cuibc", names), Some("cubic"));
        assert_eq!(nearest("brr", names), Some("bbr"));
        assert_eq!(nearest("vegas", names), None);
        assert_eq!(nearest(&"cubic".repeat(1_000_000), names), None);
    }
}
