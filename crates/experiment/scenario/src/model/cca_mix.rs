//! CCA mix: the CCAs of one or several flows that run together, and the middleboxes that they pass.

use core::fmt::{self, Display};
use core::str::FromStr;

use super::{CcaChoice, Middlebox, Scenario};

/// Word of a list that stands for each CCA of the engine.
pub const ALL: &str = "all";

/// Word of a list that stands for the line-up of the scenario itself.
pub const OWN: &str = "own";

/// Word for a path without middleboxes.
const NONE: &str = "none";

/// CCAs of flows that run at the same time, written `cubic`, `cubic:beta=0.8` or `cubic+bbr`. Middleboxes follow after
/// an at sign each: `cubic@es`, `cubic@none`, `cubic@split:at=node-1@es`. Results also name CCAs that this process does
/// not know; texts in place of `C` and `M` are not checked.
#[derive(Clone, PartialEq, Debug)]
pub struct CcaMix<C = CcaChoice, M = Middlebox> {
    /// CCAs of the first flows.
    pub flows: Vec<C>,
    /// Middleboxes in place of those of the scenario, which stay if there are none here.
    pub middleboxes: Option<Vec<M>>,
}

impl CcaMix {
    /// Parses a list in which commas separate both line-ups and the parameters of a CCA:
    /// `cubic:hystart=off,beta=0.8,bbr+reno`. In it the flow [`ALL`] stands for each of the CCAs `all` in turn, and the
    /// item [`OWN`] for the line-up `own`.
    ///
    /// # Errors
    /// If a name or a parameter is unknown, or a value not allowed.
    pub fn list(text: &str, all: &[String], own: Option<&str>) -> Result<Vec<Self>, String> {
        let items = items(text).into_iter();
        let items: Vec<String> = items.flat_map(|item| expand_item(item, all, own)).collect();
        parse_each(&items)
    }

    /// Returns each line-up through each choice of middleboxes in a list such as `none,es:reserve=4,split@es`, middlebox
    /// by middlebox; unchanged without any.
    ///
    /// # Errors
    /// If a middlebox is unknown, or a line-up names its middleboxes already.
    pub fn through(lineups: Vec<Self>, list: &str) -> Result<Vec<Self>, String> {
        let choices = items(list);
        if choices.is_empty() {
            return Ok(lineups);
        }
        if let Some(lineup) = lineups.iter().find(|lineup| lineup.middleboxes.is_some()) {
            return Err(format!(
                "middlebox: {:?} names a middlebox already; leave it out there, or --middlebox",
                lineup.to_string()
            ));
        }
        let mut result = Vec::new();
        for choice in &choices {
            let middleboxes = Some(parse_middleboxes(choice)?);
            result.extend(lineups.iter().map(|lineup| Self {
                flows: lineup.flows.clone(),
                middleboxes: middleboxes.clone(),
            }));
        }
        Ok(result)
    }

    /// Gives each of the first flows its CCA, and the path its middleboxes. If there are fewer flows than CCAs, copies of
    /// the first flow are added.
    pub fn apply(&self, scenario: &mut Scenario) {
        if let Some(middleboxes) = &self.middleboxes {
            scenario.path.middleboxes.clone_from(middleboxes);
        }
        for (number, choice) in self.flows.iter().enumerate() {
            if number >= scenario.flows.len() {
                let Some(mut flow) = scenario.flows.first().cloned() else {
                    return;
                };
                flow.name = format!("flow-{}", number + 1);
                scenario.flows.push(flow);
            }
            scenario.flows[number].cca = choice.clone();
        }
    }
}

impl<C: FromStr<Err: Display>, M: FromStr<Err: Display>> FromStr for CcaMix<C, M> {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (named, middleboxes) = match first_middlebox(text) {
            Some(at) => (&text[..at], Some(&text[at + 1..])),
            None => (text, None),
        };
        let middleboxes = middleboxes.map(parse_middleboxes).transpose()?;
        // A plus sign at the end belongs to the name (Westwood+).
        let mut flows: Vec<String> = Vec::new();
        for part in named.split('+') {
            match flows.last_mut() {
                Some(last) if part.trim().is_empty() => last.push('+'),
                _ => flows.push(part.trim().to_owned()),
            }
        }
        let flows = parse_each(&flows)?;
        Ok(Self { flows, middleboxes })
    }
}

impl<C: Display, M: Display> Display for CcaMix<C, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, choice) in self.flows.iter().enumerate() {
            let sign = if number == 0 { "" } else { "+" };
            write!(f, "{sign}{choice}")?;
        }
        match self.middleboxes.as_deref() {
            None => Ok(()),
            Some([]) => write!(f, "@{NONE}"),
            Some(boxes) => boxes.iter().try_for_each(|each| write!(f, "@{each}")),
        }
    }
}

/// Returns the place of the at sign before the first middlebox. One before a digit belongs to a requirement with a bound,
/// such as `goodput@100ms`: no kind of middlebox begins with a digit.
fn first_middlebox(text: &str) -> Option<usize> {
    let mut signs = text.match_indices('@').map(|(at, _)| at);
    signs.find(|at| !text[at + 1..].starts_with(|next: char| next.is_ascii_digit()))
}

/// Parses middleboxes that are joined by at signs, or `none`.
fn parse_middleboxes<M: FromStr<Err: Display>>(text: &str) -> Result<Vec<M>, String> {
    if text.trim() == NONE {
        return Ok(Vec::new());
    }
    let each = text.split('@').map(str::parse);
    each.map(|read| read.map_err(|error: M::Err| error.to_string()))
        .collect()
}

/// Divides a list at the commas between its items; commas between the settings of an item stay.
fn items(list: &str) -> Vec<String> {
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
fn expand_item(item: String, all: &[String], own: Option<&str>) -> Vec<String> {
    if let Some(own) = own.filter(|_| item == OWN) {
        return vec![own.to_owned()];
    }
    let Ok(CcaMix::<String, String> { flows, middleboxes }) = item.parse() else {
        unreachable!("any text is a text");
    };
    if all.is_empty() || !flows.iter().any(|flow| flow == ALL) {
        return vec![item];
    }
    let with = |name: &String| {
        let flows = flows
            .iter()
            .map(|flow| if flow == ALL { name } else { flow });
        let (flows, middleboxes) = (
            flows.collect(),
            middleboxes.as_ref().map(|boxes| boxes.iter().collect()),
        );
        CcaMix::<&String, &String> { flows, middleboxes }.to_string()
    };
    all.iter().map(with).collect()
}

/// Parses the pieces of a divided text. If the piece before an invalid one ends with a file name, the error names the
/// wrong one may have been meant as part of that name.
fn parse_each<T: FromStr<Err: Display>>(pieces: &[String]) -> Result<Vec<T>, String> {
    let before = core::iter::once("").chain(pieces.iter().map(String::as_str));
    let parse = |(piece, before): (&String, &str)| {
        let read = piece.parse();
        read.map_err(|error: T::Err| format!("{error}{}", torn_file(before)))
    };
    pieces.iter().zip(before).map(parse).collect()
}

/// Returns what an error after the text `before` adds where that ends with a file name.
fn torn_file(before: &str) -> String {
    let last = before.rsplit([':', ',']).next();
    match last.and_then(|last| last.split_once('=')) {
        Some((parameter, name)) if ["policy", "memory"].contains(&parameter.trim()) => format!(
            "; if it is the rest of a file's name after {parameter}={name}: names with a comma or a plus sign \
             cannot be given"
        ),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commas_stand_between_line_ups_and_between_parameters() {
        let written = |text: &str| -> Vec<String> {
            let all = CcaMix::list(text, &[], None).expect("it can be read");
            all.iter().map(CcaMix::to_string).collect()
        };
        assert_eq!(written("CUBIC, bbr ,newreno"), ["cubic", "bbr", "reno"]);
        assert_eq!(
            written("cubic:hystart=no,beta=0.80,bbr"),
            ["cubic:beta=0.8,hystart=off", "bbr"]
        );
        assert_eq!(
            written("cubic+bbr,reno+cubic:c=1+cubic"),
            ["cubic+bbr", "reno+cubic:c=1+cubic"]
        );
    }

    #[test]
    fn an_at_sign_before_a_digit_belongs_to_a_requirement() {
        let written = |text: &str| text.parse::<CcaMix>().map(|lineup| lineup.to_string());
        for text in [
            "auto:requirement=goodput@100ms",
            "auto:requirement=delay@2Mbps+cubic",
            "auto:requirement=goodput@100ms@split",
            "auto:requirement=delay@0.5Mbps@none",
        ] {
            assert_eq!(written(text).as_deref(), Ok(text));
        }
        let through: CcaMix = "auto:requirement=goodput@100ms@es"
            .parse()
            .expect("it is right");
        assert_eq!(through.flows.len(), 1);
        assert_eq!(through.middleboxes.map(|boxes| boxes.len()), Some(1));
    }

    #[test]
    fn a_wrong_setting_is_named() {
        let complaint = |text: &str| CcaMix::list(text, &[], None).expect_err("it is wrong");
        assert_eq!(
            complaint("cubic:hystart"),
            "\"cubic:hystart\": \"hystart\" is not a setting; allowed: parameter=value"
        );
        assert_eq!(
            complaint("cubic:beta=2"),
            "cubic: \"2\" is not a value of beta; allowed: numbers from 0.01 to 0.99"
        );
        assert!(complaint("cubik").contains("did you mean \"cubic\"?"));
    }

    #[test]
    fn files_with_separators_in_their_names_are_told_so() {
        for (text, rest) in [
            (
                "auto:policy=a+b.toml",
                "\"b.toml\" is not a congestion control",
            ),
            (
                "auto:policy=a,b.toml",
                "\"b.toml\" is not a congestion control",
            ),
            ("auto:requirement=delay,memory=a+b.toml,hints=on", "b.toml"),
            (
                "cubic,auto:memory=a,b.toml",
                "\"b.toml\" is not a congestion control",
            ),
        ] {
            let error = CcaMix::list(text, &[], None).expect_err("it is torn");
            assert!(error.contains(rest), "{error}");
            let expected = "=a: names with a comma or a plus sign cannot be given";
            assert!(error.ends_with(expected), "{error}");
        }
        let other =
            CcaMix::list("auto:requirement=delay+b.toml", &[], None).expect_err("it is wrong");
        assert!(!other.contains("names with"), "{other}");
    }

    #[test]
    fn a_parameter_is_given_once() {
        let complaint = |text: &str| CcaMix::list(text, &[], None).expect_err("it is wrong");
        assert_eq!(
            complaint("auto:requirement=delay,requirement=goodput"),
            "\"auto:requirement=delay,requirement=goodput\": \"requirement\" is given more than once; \
             allowed: once"
        );
        assert!(complaint("cubic:beta=0.8,beta=0.7").contains("\"beta\" is given more than once"));
    }

    #[test]
    fn middleboxes_follow_after_an_at_sign() {
        let all = CcaMix::list(
            "cubic@es:reserve=4,at=node-1,bbr+reno@split@es:at=node-1,reno@none,cubic",
            &[],
            None,
        );
        let all = all.expect("it can be read");
        let written: Vec<String> = all.iter().map(CcaMix::to_string).collect();
        let expected = [
            "cubic@es:at=node-1,reserve=4",
            "bbr+reno@split@es:at=node-1",
            "reno@none",
            "cubic",
        ];
        assert_eq!(written, expected);
        let mut scenario = Scenario::default();
        all[1].apply(&mut scenario);
        assert_eq!(scenario.path.middleboxes.len(), 2);
        all[3].apply(&mut scenario);
        assert_eq!(scenario.path.middleboxes.len(), 2);
        all[2].apply(&mut scenario);
        assert_eq!(scenario.path.middleboxes.len(), 0);
        let error = CcaMix::list("cubic@ess", &[], None).unwrap_err();
        assert!(error.contains("unknown variant `ess`"), "{error}");
    }

    #[test]
    fn words_of_a_list_stand_for_several() {
        let all = ["reno".to_owned(), "bbr".to_owned()];
        let written = |text: &str| -> Vec<String> {
            let lineups = CcaMix::list(text, &all, Some("cubic:beta=0.8,hystart=off"));
            let lineups = lineups.expect("it can be read");
            lineups.iter().map(CcaMix::to_string).collect()
        };
        assert_eq!(
            written("own,all@es:reserve=4,at=node-1,cubic+all"),
            [
                "cubic:beta=0.8,hystart=off",
                "reno@es:at=node-1,reserve=4",
                "bbr@es:at=node-1,reserve=4",
                "cubic+reno",
                "cubic+bbr"
            ]
        );
        for word in ["all", "own"] {
            assert!(CcaMix::list(word, &[], None).is_err());
        }
    }

    #[test]
    fn missing_flows_are_added() {
        let mut scenario = Scenario::default();
        scenario.flows.truncate(1);
        let lineup: CcaMix = "cubic+reno".parse().expect("it can be read");
        lineup.apply(&mut scenario);
        let names: Vec<String> = scenario
            .flows
            .iter()
            .map(|flow| flow.cca.to_string())
            .collect();
        assert_eq!(names, ["cubic", "reno"]);
        assert_ne!(scenario.flows[0].name, scenario.flows[1].name);
    }
}
