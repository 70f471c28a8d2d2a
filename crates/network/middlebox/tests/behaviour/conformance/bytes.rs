//! Bytes: a split host forwards the byte stream unchanged, despite duplicates, reordering and overlapping segments.

use middlebox::{Kind, Middlebox};

use crate::conformance::script::Script;

#[test]
fn bytes_are_those_of_the_far_host() {
    for kind in [Kind::Split, Kind::Es] {
        let mut script = Script::open(&Middlebox {
            kind,
            ..Middlebox::default()
        });
        // The second segment is late, the third comes twice, and the fourth repeats a part of the third.
        for (from, len) in [
            (0, 1_000),
            (2_000, 700),
            (2_000, 700),
            (2_500, 500),
            (1_000, 1_000),
        ] {
            script.far_sends(from, len);
        }
        let data = script.data();
        let end = data.iter().map(|(from, len)| from + len).max();
        assert_eq!(end, Some(3_000), "{data:?}");
        assert!(script.created() >= 3);
        // Nothing is acknowledged: the split host sends the first piece again, when its time-out is over.
        let before = script.created();
        script.wait(3_000);
        assert!(script.created() > before);
        // A part is acknowledged, and the rest comes again.
        script.mobile_acks(1_500);
        script.wait(3_000);
        let again = script.data();
        assert!(again.iter().any(|(from, _)| *from >= 1_500), "{again:?}");
    }
}
