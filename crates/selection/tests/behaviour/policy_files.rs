//! Errors in policy files.

use selection::Policy;

fn wrong(method: &str) -> String {
    let text = format!("name = \"mine\"\ndescription = \"A test.\"\n{method}\n");
    let error = Policy::from_toml(&text, "mine.toml").expect_err("it is wrong");
    error.to_string()
}

#[test]
fn lists_that_nothing_can_be_chosen_from_are_rejected() {
    assert_eq!(
        wrong("[method.rules]\nrules = []"),
        "mine.toml: method.rules.rules: the list is empty; allowed: one rule or more"
    );
    assert_eq!(
        wrong(
            "[[method.rules.rules]]\nrequirements = []\nchoose = [\"bbr\"]\nbecause = \"a test\""
        ),
        "mine.toml: method.rules.rules[0].requirements: the list is empty; \
         allowed: one requirement or more"
    );
    assert_eq!(
        wrong(
            "[[method.rules.rules]]\nrequirements = [\"delay\"]\nchoose = []\nbecause = \"a test\""
        ),
        "mine.toml: method.rules.rules[0].choose: the list is empty; \
         allowed: one congestion control or more"
    );
    assert_eq!(
        wrong("[method.table]\nequals = [\"bbr\"]\ncells = []"),
        "mine.toml: method.table.cells: the list is empty; allowed: one cell or more"
    );
}

#[test]
fn a_substitute_is_a_congestion_control_of_linux() {
    assert_eq!(
        wrong("[instead]\ncopa = \"sprout\"\n[method.fixed]\ncca = \"copa\""),
        "mine.toml: instead.copa: Linux has no \"sprout\" either; allowed: CCAs of Linux"
    );
    let unknown = wrong("[instead]\ncoba = \"vegas\"\n[method.fixed]\ncca = \"copa\"");
    assert!(
        unknown.starts_with("mine.toml: instead: \"coba\" is not"),
        "{unknown}"
    );
}

#[test]
fn an_initial_window_is_within_limits_and_for_known_requirements() {
    let with = |segments: &str, largest: &str, requirements: &str| {
        wrong(&format!(
            "[initial_window]\nsegments = {segments}\nlargest_flow = {largest}\n\
             requirements = {requirements}\n[method.fixed]\ncca = \"cubic\""
        ))
    };
    assert_eq!(
        with("100", "5", "[\"fct\"]"),
        "mine.toml: initial_window.segments: 100 is out of range; allowed: 10 to 64"
    );
    assert_eq!(
        with("24", "0", "[\"fct\"]"),
        "mine.toml: initial_window.largest_flow: 0 is out of range; allowed: above 0"
    );
    assert_eq!(
        with("24", "5", "[]"),
        "mine.toml: initial_window.requirements: the list is empty; \
         allowed: one requirement or more"
    );
    assert_eq!(
        with("24", "5", "[\"speed\"]"),
        "mine.toml: initial_window.requirements: \"speed\" is not a requirement; \
         allowed: goodput, balanced, delay, fct, power, goodput@, delay@"
    );
}
