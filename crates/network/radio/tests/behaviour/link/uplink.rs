//! Message flows of kim2016-thesis chapter 3, to the subframe, and those of TS 36.321.

use radio::mac::uplink::{
    BsrReporter, GrantProtocol, Reason, Report, RequestConfig, Signal, Timers, Transmission,
};
use radio::settings::Technology;
use std::fmt::Write as _;

/// Event at a UE.
enum Step {
    Data(u64),
    Grant(u64),
}

use Step::{Data, Grant};

/// Returns the flow of messages as the thesis draws it: one line per message of the UE.
fn flow(ue: &mut BsrReporter, steps: &[(u64, Step)], until: u64) -> String {
    let mut lines = String::new();
    let mut sent: Vec<Transmission> = Vec::new();
    for now in 99..=until {
        let signal = match ue.poll(now) {
            Some(Signal::Report(report)) => format!("{} BSR {}\n", reason(report), report.bytes),
            Some(Signal::Request) => "SR\n".into(),
            Some(Signal::RandomAccess) => "RACH\n".into(),
            None => String::new(),
        };
        if !signal.is_empty() {
            write!(lines, "T{now} {signal}").unwrap();
        }
        for (_, step) in steps.iter().filter(|(at, _)| *at == now) {
            match *step {
                Data(bytes) => ue.enqueue(bytes),
                Grant(bytes) => sent.push(ue.grant(now, bytes)),
            }
        }
        for transmission in sent.iter().filter(|transmission| transmission.at == now) {
            write!(lines, "T{now} data {}", transmission.data).unwrap();
            if let Some(report) = transmission.report {
                write!(lines, " + {} BSR {}", reason(report), report.bytes).unwrap();
            }
            lines.push('\n');
        }
    }
    lines
}

fn reason(report: Report) -> &'static str {
    match report.reason {
        Reason::Regular => "regular",
        Reason::Periodic => "periodic",
        Reason::Padding => "padding",
    }
}

fn ue(protocol: GrantProtocol, enhanced: bool, periodic: u64) -> BsrReporter {
    let timers = Timers::new(Some(periodic), 2_560);
    let request = RequestConfig {
        period: 1,
        offset: 0,
        prohibit: 0,
        max_transmissions: 64,
    };
    BsrReporter::new(protocol, Technology::Lte, enhanced, timers, request)
}

/// Figure 6: data after the report stays unknown until retxBSR-Timer expires.
#[test]
fn the_default_protocol_of_the_thesis_stalls_for_the_retransmission_timer() {
    let steps = [
        (99, Data(1_500)),
        (102, Data(300)),
        (104, Grant(1_500)),
        (2_665, Grant(300)),
    ];
    let flow = flow(&mut ue(GrantProtocol::Kim2016, false, 10), &steps, 2_700);
    assert_eq!(
        flow,
        "T100 regular BSR 1500\n\
         T108 data 1500\n\
         T2661 regular BSR 300\n\
         T2669 data 300\n"
    );
}

/// Figure 7: with periodicBSR-Timer at 5 subframes every later PDU carries a report.
#[test]
fn a_short_periodic_timer_puts_a_report_into_every_later_pdu() {
    let steps = [
        (99, Data(10_000)),
        (101, Data(1_000)),
        (102, Grant(1_000)),
        (107, Grant(1_000)),
        (116, Grant(1_000)),
    ];
    let flow = flow(&mut ue(GrantProtocol::Kim2016, false, 5), &steps, 130);
    assert_eq!(
        flow,
        "T100 regular BSR 10000\n\
         T106 data 1000\n\
         T111 data 990 + periodic BSR 9010\n\
         T120 data 990 + periodic BSR 8020\n"
    );
}

/// Figure 9: the report goes out within the grant that completes the last one. The figure prints 390
/// where 800 - 490 is 310, the size it then grants.
#[test]
fn the_enhanced_protocol_reports_within_the_grant_that_completes_the_last_report() {
    let steps = [
        (99, Data(1_500)),
        (102, Data(300)),
        (104, Grant(1_000)),
        (109, Grant(500)),
        (115, Grant(310)),
    ];
    let flow = flow(&mut ue(GrantProtocol::Kim2016, true, 10), &steps, 3_000);
    assert_eq!(
        flow,
        "T100 regular BSR 1500\n\
         T108 data 1000\n\
         T113 data 490 + regular BSR 310\n\
         T119 data 310\n"
    );
}

/// TS 36.321 clauses 5.4.4 and 5.4.5: a regular report without resources triggers a scheduling
/// request; the report, by level, goes into the first grant; each later grant restarts
/// retxBSR-Timer, at whose expiry a regular report is triggered again.
#[test]
fn the_standard_protocol_stalls_from_its_last_grant_on() {
    let steps = [
        (99, Data(1_500)),
        (104, Grant(40)),
        (110, Data(300)),
        // 1500 - 37 = 1463 was reported as level 33, at most 1552 bytes.
        (112, Grant(1_552)),
        (2_676, Grant(40)),
        (2_684, Grant(200)),
    ];
    let mut ue = ue(GrantProtocol::Standard, false, 2_560);
    let flow = flow(&mut ue, &steps, 2_700);
    // A grant of 40 holds a subheader (1), the report with its own (2) and 37 bytes. The retransmission
    // timer runs from the grant in 112. 212 bytes are left then, 175 after T2680: level 20, up to 200.
    assert_eq!(
        flow,
        "T100 SR\nT101 SR\nT102 SR\nT103 SR\nT104 SR\n\
         T108 data 37 + regular BSR 1552\n\
         T116 data 1551\n\
         T2672 SR\nT2673 SR\nT2674 SR\nT2675 SR\nT2676 SR\n\
         T2680 data 37 + regular BSR 200\n\
         T2688 data 175 + padding BSR 0\n"
    );
}

/// The enhancement applied to TS 36.321: the same data needs no second scheduling request.
#[test]
fn the_enhancement_removes_the_stall_of_the_standard_protocol() {
    let steps = [
        (99, Data(1_500)),
        (104, Grant(40)),
        (110, Data(300)),
        (112, Grant(1_552)),
        (120, Grant(234)),
    ];
    let flow = flow(&mut ue(GrantProtocol::Standard, true, 2_560), &steps, 3_000);
    assert_eq!(
        flow,
        "T100 SR\nT101 SR\nT102 SR\nT103 SR\nT104 SR\n\
         T108 data 37 + regular BSR 1552\n\
         T116 data 1549 + regular BSR 234\n\
         T124 data 214 + padding BSR 0\n"
    );
}

/// TS 36.321 clause 5.4.5: triggered reports are cancelled if the grant has room for all data but not for the report
/// as well.
#[test]
fn a_report_that_would_displace_the_last_data_is_cancelled() {
    let flow_of = |grant| {
        let steps = [(99, Data(100)), (100, Grant(grant))];
        let flow = flow(
            &mut ue(GrantProtocol::Standard, false, 2_560),
            &steps,
            3_000,
        );
        flow.lines().skip(1).collect::<Vec<_>>().join("\n")
    };
    assert_eq!(flow_of(101), "T104 data 100");
    assert_eq!(flow_of(102), "T104 data 100");
    assert_eq!(flow_of(103), "T104 data 100 + regular BSR 0");
    assert!(flow_of(100).starts_with("T104 data 97 + regular BSR 10"));
}
