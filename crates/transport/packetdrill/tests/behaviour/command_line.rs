//! Options of the command line that a script begins with.

use packetdrill::Verdict;

use crate::playing::{SERVER, passes, played};

fn with(options: &str, text: &str) -> packetdrill::Report {
    played(&format!("{options}\n{SERVER}{text}"))
}

#[test]
fn an_option_that_is_unknown_or_not_modelled_is_reported() {
    for (option, word) in [
        ("--tolerance_usec=10", "no option"),
        ("--wire_client", "not modelled"),
        ("--non_fatal=packet", "not modelled"),
        ("--ip_version=ipv5", "no version"),
        ("--tolerance_percent=many", "between 0 and 100"),
        ("--mss=large", "no number"),
        ("--code_sockopt=TCP_CC_INFO", "not modelled"),
    ] {
        let report = with(&format!("--verbose\n{option}"), "");
        let Verdict::NotApplicable { line, reason } = &report.verdict else {
            panic!("{option}: {:?}", report.verdict)
        };
        assert_eq!(*line, 2, "{option}");
        let name = option.split('=').next().unwrap_or(option);
        assert!(reason.contains(word) && reason.contains(name), "{reason}");
    }
}

#[test]
fn options_without_effect_are_taken() {
    let options = "--verbose --bind_port=80 --local_ip=10.0.0.1 --send_omit_free --ip_version=ipv4";
    passes(&with(options, ""));
}

/// A probe for a lost tail is due after two RTTs of 100 ms and a delayed ACK, at 0.2 s; the script says 0.22 s.
#[test]
fn a_tolerance_in_percent_is_of_the_time_since_the_last_event() {
    let text = "+.1 write(4, ..., 2000) = 2000
         +0 > P. 1:2001(2000) ack 1
       +.22 > P. 1001:2001(1000) ack 1";
    let verdict = |options: &str| with(options, text).verdict;
    assert!(matches!(verdict(""), Verdict::Failed(_)));
    assert_eq!(verdict("--tolerance_percent=12.5"), Verdict::Passed);
    assert_eq!(verdict("--tolerance_usecs=25000"), Verdict::Passed);
}

#[test]
fn scripts_that_run_first_set_the_host_up() {
    let bare = SERVER.replace("`../common/defaults.sh`", "");
    let run = |options: &str| played(&format!("{options}\n{bare}")).verdict;
    let other = run("--init_scripts=../common/defaults.sh,./frobnicate.sh");
    assert!(matches!(other, Verdict::NotApplicable { .. }));
    assert_eq!(run("--init_scripts=../common/defaults.sh"), Verdict::Passed);
}
