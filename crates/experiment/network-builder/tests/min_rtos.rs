//! The minimum RTO of each host, which is an attribute of its own routes.

use network_builder::{Plan, Traces};
use scenario::Scenario;

/// Returns the nodes of a scenario with their minimum RTOs, ms.
fn min_rtos_ms(text: &str) -> Vec<(String, u64)> {
    let scenario = Scenario::from_toml(text, "rtos.toml", &[]).unwrap();
    let traces = Traces::load(&scenario, "/nowhere".as_ref()).unwrap();
    let plan = Plan::new(&scenario.expand_flows(), &traces, 1).unwrap();
    let all = plan.min_rtos(&scenario.tcp);
    let all = all.into_iter().map(|rto| rto.as_millis());
    plan.topology.nodes.iter().cloned().zip(all).collect()
}

#[test]
fn a_host_has_the_minimum_rto_of_its_side_or_else_that_of_all() {
    let of = |tcp: &str, node: &str| {
        let wire = format!("path.down = '9Mbit/s'\n{tcp}");
        let all = min_rtos_ms(&wire);
        all.into_iter().find(|(name, _)| name == node).unwrap().1
    };
    for (tcp, server, phone) in [
        ("", 200, 200),
        ("tcp.min_rto = '50ms'", 50, 50),
        ("tcp.server.min_rto = '20ms'", 20, 200),
        ("tcp.phone.min_rto = '30ms'", 200, 30),
        ("tcp.min_rto = '50ms'\ntcp.phone.min_rto = '200ms'", 50, 200),
    ] {
        assert_eq!(
            (of(tcp, "server"), of(tcp, "phone")),
            (server, phone),
            "{tcp}"
        );
    }
}

#[test]
fn all_ues_of_a_cell_are_phones_and_hosts_behind_other_links_are_servers() {
    let text = "tcp.phone.min_rto = '30ms'\ntcp.server.min_rto = '20ms'\n\
                [[radio.ues]]\n[[radio.ues]]\nname = 'meter'\ncount = 2\n\
                [[links]]\nfrom = 'gateway'\nto = 'edge'\nrate = '1Gbit/s'\n";
    for (node, rto) in min_rtos_ms(text) {
        let is_ue = node == "phone" || node.starts_with("meter");
        assert_eq!(rto, if is_ue { 30 } else { 20 }, "{node}");
    }
}
