//! Errors of files that a scenario names, and distributions that a plan takes.

use network_builder::{Plan, Traces};
use scenario::Scenario;

fn complaint(text: &str) -> String {
    let scenario = Scenario::from_toml(text, "bad.toml", &[]).unwrap();
    let error = Traces::load(&scenario, "/nowhere".as_ref()).unwrap_err();
    error.to_string()
}

#[test]
fn a_file_that_is_not_there_is_named_with_the_line_of_the_scenario() {
    for (text, expected) in [
        (
            "[path]\ndown = { trace = \"none.down\" }",
            "bad.toml:2: path.down.trace: /nowhere/none.down: ",
        ),
        (
            "[[path.wired]]\nrate = { trace = \"none.csv\" }",
            "bad.toml:2: path.wired.0.rate.trace: /nowhere/none.csv: ",
        ),
        (
            "[[radio.ues]]\nsinr = { trace = \"none.csv\" }",
            "bad.toml:2: radio.ues.0.sinr.trace: /nowhere/none.csv: ",
        ),
        (
            "[[radio.ues]]\nsinr = { phone_log = \"none.csv\" }",
            "bad.toml:2: radio.ues.0.sinr.phone_log: /nowhere/none.csv: ",
        ),
        (
            "[[radio.cells]]\n[[radio.ues]]\nsumo = { fcd = \"none.xml\", vehicle = \"a\" }",
            "bad.toml:3: radio.ues.0.sumo.fcd: /nowhere/none.xml: ",
        ),
    ] {
        let line = complaint(text);
        assert!(line.starts_with(expected), "{line}");
    }
}

#[test]
fn every_distribution_makes_cross_traffic() {
    for times in [
        "\"100ms\"",
        "{ kind = \"uniform\", min = \"0s\", max = \"1s\" }",
        "{ kind = \"exponential\", mean = \"1s\" }",
        "{ kind = \"lognormal\", median = \"1s\", sigma = 1.0 }",
        "{ kind = \"weibull\", scale = \"1s\", shape = 0.5 }",
        "{ kind = \"pareto\", scale = \"1s\", shape = 1.5 }",
        "{ kind = \"gamma\", scale = \"1s\", shape = 2.0 }",
        "{ kind = \"normal\", mean = \"1s\", sd = \"100ms\" }",
        "{ kind = \"logistic\", location = \"1s\", scale = \"100ms\" }",
    ] {
        let text = format!("[[path.cross_traffic]]\non = {times}\noff = {times}");
        let scenario = Scenario::from_toml(&text, "good.toml", &[]).unwrap();
        let plan = Plan::new(&scenario, &Traces::default(), 1).unwrap();
        assert!(net::Network::new(&plan.topology, 1).is_ok(), "{times}");
    }
}
