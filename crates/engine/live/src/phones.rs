//! Phones: further phones in the cell of a scenario.

use scenario::Scenario;

/// Name of the first phone.
pub(crate) const PHONE: &str = "phone";

/// Returns `scenario` with this number of phones, "phone", "phone-2" and so on, in one cell. They are received alike,
/// with fading of their own.
/// Fails for several phones in a scenario without a cell.
pub(crate) fn add_phones(scenario: &Scenario, phones: u32) -> Result<Scenario, String> {
    let mut scenario = scenario.clone();
    for number in 2..=phones {
        let name = format!("{PHONE}-{number}");
        let first = |ues: &[scenario::radio::Ue]| ues.iter().find(|ue| ue.name == PHONE).cloned();
        let radio = scenario.radio.as_mut();
        let Some((radio, mut ue)) = radio.and_then(|radio| first(&radio.ues).map(|ue| (radio, ue)))
        else {
            return Err(format!(
                "phones: {phones} share no cell in this scenario; allowed: 1, or a scenario with a radio"
            ));
        };
        ue.name.clone_from(&name);
        radio.ues.push(ue);
        // The radio observes the ends of flows.
        if let Some(mut flow) = scenario.flows.first().cloned() {
            flow.to.clone_from(&name);
            flow.name = name;
            scenario.flows.push(flow);
        }
    }
    Ok(scenario)
}
