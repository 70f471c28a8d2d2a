//! Ties: the choice among CCAs that a policy finds equally good.

use crate::DEFAULT_CCA;

/// Returns the first of these that is in `tied`: the CCAs that the operator prefers, the CCA in use, the default of Linux
/// (atxutegi2018 §6.2). Otherwise returns the first of `tied`; `None` if that is empty.
pub(super) fn break_tie(
    tied: &[&'static str],
    prefer: &[&'static str],
    current: Option<&'static str>,
) -> Option<&'static str> {
    let mut preference = prefer.iter().copied().chain(current).chain([DEFAULT_CCA]);
    preference
        .find(|name| tied.contains(name))
        .or(tied.first().copied())
}

#[cfg(test)]
mod tests {
    use super::break_tie;

    /// atxutegi2018 §6.2: first the preference of the operator, then the CCA in use, then the default of the system.
    #[test]
    fn ties_are_broken_in_three_ways() {
        let tied = ["bbr", "cubic", "reno"];
        assert_eq!(
            break_tie(&tied, &["vegas", "reno"], Some("bbr")),
            Some("reno")
        );
        assert_eq!(break_tie(&tied, &[], Some("bbr")), Some("bbr"));
        assert_eq!(break_tie(&tied, &[], Some("vegas")), Some("cubic"));
        assert_eq!(
            break_tie(&["illinois"], &[], Some("vegas")),
            Some("illinois")
        );
        assert_eq!(break_tie(&[], &["bbr"], None), None);
    }
}
