//! Reader of ns-2's movement files, as SUMO's `traceExporter.py --ns2mobility-output` and `setdest` write them.

use link_trace::ParseError;
use std::collections::BTreeMap;
use units::{Duration, Instant};

use super::{Trajectory, WayPoints, time};
use crate::channel::Position;

/// Reads the named `nodes` (all, if none is named) from the text of a file; `file` is its name in
/// messages. All nodes are at `height_m` over ground: `Z_` is ignored.
///
/// Two kinds of lines count, as ns-2 documents them:
/// `$node_(N) set X_ METRES` (and `Y_`), the position at the start, and
/// `$ns_ at SECONDS "$node_(N) setdest X Y SPEED"`: from then on straight to X, Y. A node that is still
/// moving then changes its direction there; a node that has arrived waits. A speed of 0 stops it.
/// Comments begin with `#`; other lines are errors.
pub fn read_ns2(
    file: &str,
    text: &str,
    nodes: &[&str],
    height_m: f64,
) -> Result<BTreeMap<String, Trajectory>, ParseError> {
    let mut nodes_by_name: BTreeMap<String, Node> = BTreeMap::new();
    for (index, content) in text.lines().enumerate() {
        let line = index + 1;
        let content = content.trim();
        if content.is_empty() || content.starts_with('#') {
            continue;
        }
        let (name, command) =
            parse(content).map_err(|message| ParseError::on(file, line, message))?;
        if !nodes.is_empty() && !nodes.contains(&name) {
            continue;
        }
        let node = nodes_by_name.entry(name.to_owned()).or_default();
        node.apply(command).map_err(|message| {
            ParseError::on(file, line, format_args!("node {name}: {message}"))
        })?;
    }
    if nodes_by_name.is_empty() && nodes.is_empty() {
        return Err(ParseError::for_file(
            file,
            "no node: not a movement file of ns-2",
        ));
    }
    if let Some(missing) = nodes
        .iter()
        .find(|&&name| !nodes_by_name.contains_key(name))
    {
        return Err(ParseError::for_file(
            file,
            format_args!("no node {missing}"),
        ));
    }
    nodes_by_name
        .into_iter()
        .map(|(name, node)| {
            let trajectory = node.finish(height_m).map_err(|message| {
                ParseError::for_file(file, format_args!("node {name}: {message}"))
            })?;
            Ok((name, trajectory))
        })
        .collect()
}

/// Command to a node.
enum Command {
    X(f64),
    Y(f64),
    Z,
    SetDest {
        at: Instant,
        to: (f64, f64),
        m_per_s: f64,
    },
}

/// Parses one line to the name of a node and a command.
fn parse(line: &str) -> Result<(&str, Command), String> {
    let expected = || {
        format!(
            "{line:?} must be `$node_(N) set X_ METRES` or `$ns_ at SECONDS \"$node_(N) setdest X Y SPEED\"`"
        )
    };
    let number = |text: &str| {
        let number = text.parse::<f64>().ok().filter(|n| n.is_finite());
        number.ok_or_else(|| format!("{text:?} must be a number"))
    };
    let words: Vec<&str> = line.split_whitespace().collect();
    match words.as_slice() {
        [node, "set", axis, metres] => {
            let metres = number(metres)?;
            let command = match *axis {
                "X_" => Command::X(metres),
                "Y_" => Command::Y(metres),
                "Z_" => Command::Z,
                _ => return Err(expected()),
            };
            Ok((name(node).ok_or_else(expected)?, command))
        }
        [_, "at", seconds, node, "setdest", x, y, speed] => {
            let node = node.strip_prefix('"').ok_or_else(expected)?;
            let speed = speed.strip_suffix('"').ok_or_else(expected)?;
            let (at, m_per_s) = (number(seconds)?, number(speed)?);
            let at = time(at).ok_or_else(|| format!("time {seconds} must be from 0 to 1e9 s"))?;
            if m_per_s < 0.0 {
                return Err(format!("speed {speed} must not be negative"));
            }
            let to = (number(x)?, number(y)?);
            Ok((
                name(node).ok_or_else(expected)?,
                Command::SetDest { at, to, m_per_s },
            ))
        }
        _ => Err(expected()),
    }
}

/// Returns `N` of `$node_(N)`.
fn name(word: &str) -> Option<&str> {
    word.strip_prefix("$node_(")?.strip_suffix(')')
}

/// State of a node while its file is read.
#[derive(Default)]
struct Node {
    x: Option<f64>,
    y: Option<f64>,
    /// Points at which the direction changed so far.
    points: Vec<(Instant, (f64, f64))>,
    /// Arrival at the destination of the last command, unless the node has arrived.
    destination: Option<(Instant, (f64, f64))>,
}

impl Node {
    fn apply(&mut self, command: Command) -> Result<(), String> {
        match command {
            Command::Z => Ok(()),
            Command::X(_) | Command::Y(_) if !self.points.is_empty() => {
                Err("its first place must stand before its first setdest".to_owned())
            }
            Command::X(x) => {
                self.x = Some(x);
                Ok(())
            }
            Command::Y(y) => {
                self.y = Some(y);
                Ok(())
            }
            Command::SetDest { at, to, m_per_s } => self.set_dest(at, to, m_per_s),
        }
    }

    /// Returns the position at the start.
    fn start(&self) -> Result<(f64, f64), String> {
        self.x
            .zip(self.y)
            .ok_or_else(|| "it has no first place (set X_ and set Y_)".to_owned())
    }

    /// Changes the destination to `to` at time `at`, and adds the points that the node has passed until then.
    fn set_dest(&mut self, at: Instant, to: (f64, f64), m_per_s: f64) -> Result<(), String> {
        if self.points.is_empty() {
            self.points.push((Instant::ZERO, self.start()?));
        }
        let (last_at, last) = self.points[self.points.len() - 1];
        if at < last_at {
            return Err(format!("setdest at {at:?} stands after one at {last_at:?}"));
        }
        let position = match self.destination.take() {
            Some((arrival, target)) if arrival <= at => {
                self.push(arrival, target);
                target
            }
            Some((arrival, target)) => {
                let travel_s = arrival.saturating_since(last_at).as_secs_f64();
                let fraction = at.saturating_since(last_at).as_secs_f64() / travel_s;
                (
                    last.0 + (target.0 - last.0) * fraction,
                    last.1 + (target.1 - last.1) * fraction,
                )
            }
            None => last,
        };
        self.push(at, position);
        let distance = libm::hypot(to.0 - position.0, to.1 - position.1);
        if m_per_s > 0.0 && distance > 0.0 {
            let travel = Duration::from_secs_f64(distance / m_per_s);
            self.destination = Some((at + travel, to));
        }
        Ok(())
    }

    fn push(&mut self, at: Instant, point: (f64, f64)) {
        if self.points.last().is_none_or(|&(last, _)| last < at) {
            self.points.push((at, point));
        }
    }

    fn finish(mut self, height_m: f64) -> Result<Trajectory, String> {
        let start = self.start()?;
        if let Some((arrival, target)) = self.destination.take() {
            self.push(arrival, target);
        }
        let position = |(x, y)| Position::new(x, y, height_m);
        if self.points.is_empty() {
            return Ok(Trajectory::Static(position(start)));
        }
        let points = self.points.iter().map(|&(at, point)| (at, position(point)));
        WayPoints::new(points.collect())
            .map(Trajectory::WayPoints)
            .map_err(|error| error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
# a comment
$node_(0) set X_ 0.0
$node_(0) set Y_ 0.0
$node_(0) set Z_ 0
$ns_ at 1.0 \"$node_(0) setdest 100.0 0.0 10.0\"
$ns_ at 6.0 \"$node_(0) setdest 50.0 30.0 6.0\"
$ns_ at 20.0 \"$node_(0) setdest 50.0 130.0 50.0\"
$node_(7) set X_ 3
$node_(7) set Y_ 4
";

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    fn error(text: &str, nodes: &[&str]) -> String {
        read_ns2("m3.tcl", text, nodes, 1.5)
            .unwrap_err()
            .to_string()
    }

    /// Half way to its target it turns, arrives 5 s later, waits until 20 s and goes on.
    #[test]
    fn a_node_follows_its_orders() {
        let ways = read_ns2("m3.tcl", TEXT, &[], 1.5).unwrap();
        let trajectory = &ways["0"];
        for (ms, x, y) in [
            (500, 0.0, 0.0),
            (3_000, 20.0, 0.0),
            (6_000, 50.0, 0.0),
            (8_500, 50.0, 15.0),
            (11_000, 50.0, 30.0),
            (19_000, 50.0, 30.0),
            (21_000, 50.0, 80.0),
            (60_000, 50.0, 130.0),
        ] {
            let place = trajectory.at(at(ms));
            let off = place.distance_m(&Position::new(x, y, 1.5));
            assert!(off < 1e-6, "{ms} ms: {place:?}");
        }
        assert_eq!(ways["7"], Trajectory::Static(Position::new(3.0, 4.0, 1.5)));
    }

    #[test]
    fn a_missing_node_is_named() {
        assert_eq!(error(TEXT, &["9"]), "m3.tcl: no node 9");
        assert_eq!(
            error("", &[]),
            "m3.tcl: no node: not a movement file of ns-2"
        );
    }

    #[test]
    fn mistakes_name_line_and_node() {
        assert_eq!(
            error(&TEXT.replace("setdest 50.0 30.0", "setdest east 30.0"), &[]),
            "m3.tcl:6: \"east\" must be a number"
        );
        assert_eq!(
            error(&TEXT.replace("at 20.0", "at 2.0"), &[]),
            "m3.tcl:7: node 0: setdest at 2.000000000s stands after one at 6.000000000s"
        );
        assert_eq!(
            error(&TEXT.replace("$node_(0) set Y_ 0.0\n", ""), &[]),
            "m3.tcl:4: node 0: it has no first place (set X_ and set Y_)"
        );
        assert!(error("set val(x) 100", &[]).starts_with("m3.tcl:1: \"set val(x) 100\" must be"));
        assert_eq!(
            error(&TEXT.replace("0.0 10.0\"", "0.0 -1\""), &[]),
            "m3.tcl:5: speed -1 must not be negative"
        );
    }
}
