//! Grammar of line-ups: divides texts into line-ups, flows and middleboxes, without the catalogue of CCAs.
//!
//! Results also name CCAs that this process does not know, so nothing is checked here but the form of settings.

/// Word of a list that stands for each CCA of the engine.
pub const ALL: &str = "all";

/// Word of a list that stands for the line-up of the scenario itself.
pub const OWN: &str = "own";

/// CCA of one flow in a line-up.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FlowText {
    /// Text of the flow: name and parameters.
    pub text: String,
    /// Name of the CCA.
    pub name: String,
    /// Parameters and their values.
    pub settings: Vec<(String, String)>,
}

impl FlowText {
    /// Divides the text of a flow.
    ///
    /// # Errors
    /// A setting has no equals sign, or is given twice.
    pub fn of(text: &str) -> Result<Self, String> {
        let (name, settings) = config::parse_spec(text)?;
        let owned = |(key, value): (&str, &str)| (key.to_owned(), value.to_owned());
        Ok(Self {
            text: text.trim().to_owned(),
            name: name.to_owned(),
            settings: settings.into_iter().map(owned).collect(),
        })
    }
}

/// Line-up, divided into the texts of its parts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LineupText<'a> {
    /// Flows, which plus signs join.
    pub flows: Vec<String>,
    /// Middleboxes after the first at sign; `None` where those of the scenario stay.
    pub middleboxes: Option<&'a str>,
}

impl<'a> LineupText<'a> {
    /// Divides the text of a line-up.
    pub fn of(text: &'a str) -> Self {
        let (named, middleboxes) = match first_middlebox(text) {
            Some(at) => (&text[..at], Some(&text[at + 1..])),
            None => (text, None),
        };
        // A plus sign at the end belongs to the name (Westwood+).
        let mut flows: Vec<String> = Vec::new();
        for part in named.split('+') {
            match flows.last_mut() {
                Some(last) if part.trim().is_empty() => last.push('+'),
                _ => flows.push(part.to_owned()),
            }
        }
        Self { flows, middleboxes }
    }

    /// Returns the text with each flow [`ALL`] replaced by the CCA `name`.
    fn with(&self, name: &str) -> String {
        let flows: Vec<&str> = self.flows.iter().map(|flow| flow.trim()).collect();
        let named = flows
            .iter()
            .map(|flow| if *flow == ALL { name } else { flow });
        let text = named.collect::<Vec<_>>().join("+");
        match self.middleboxes {
            Some(boxes) => format!("{text}@{boxes}"),
            None => text,
        }
    }
}

/// Returns the place of the at sign before the first middlebox. One before a digit belongs to a requirement with a bound,
/// such as `goodput@100ms`: no kind of middlebox begins with a digit.
fn first_middlebox(text: &str) -> Option<usize> {
    let mut signs = text.match_indices('@').map(|(at, _)| at);
    signs.find(|at| !text[at + 1..].starts_with(|next: char| next.is_ascii_digit()))
}

/// Divides a list at the commas between its items; commas between the settings of an item stay.
pub(super) fn items(list: &str) -> Vec<String> {
    let mut items: Vec<String> = Vec::new();
    let pieces = list.split(',').map(str::trim);
    for piece in pieces.filter(|piece| !piece.is_empty()) {
        let key = piece.split_once('=').map(|(key, _)| key);
        match items.last_mut() {
            Some(last) if key.is_some_and(|key| !key.contains(':')) => {
                *last = format!("{last},{piece}");
            }
            _ => items.push(piece.to_owned()),
        }
    }
    items
}

/// Returns the line-ups that an item of a list stands for: [`OWN`] is `own`, a flow [`ALL`] is each of `all` in turn.
pub(super) fn expand_item(item: String, all: &[String], own: Option<&str>) -> Vec<String> {
    if let Some(own) = own.filter(|_| item == OWN) {
        return vec![own.to_owned()];
    }
    let parts = LineupText::of(&item);
    if all.is_empty() || parts.flows.iter().all(|flow| flow.trim() != ALL) {
        return vec![item];
    }
    all.iter().map(|name| parts.with(name)).collect()
}
