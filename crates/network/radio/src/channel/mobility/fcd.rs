//! Reader of SUMO's floating-car data: XML with the position of every vehicle at every time step.

use link_trace::ParseError;
use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};
use std::collections::BTreeMap;
use units::Instant;

use super::{Trajectory, WayPoints, time};
use crate::channel::Position;

/// Reads the named `vehicles` (all, if none is named) from the text of a file that SUMO wrote with `--fcd-output`;
/// `file` is its name in messages. Each trajectory has the height `height_m` over ground. Vehicles and persons
/// (elements `vehicle` and `person`) are read alike.
///
/// # Errors
/// If a named vehicle is missing, or if a vehicle is absent from time steps between its first and its last, as after a
/// teleport in SUMO: its positions in them are unknown.
pub fn read_fcd(
    file: &str,
    text: &str,
    vehicles: &[&str],
    height_m: f64,
) -> Result<BTreeMap<String, Trajectory>, ParseError> {
    let mut reader = Reader::from_str(text);
    let mut tracks = Tracks::default();
    let mut lines = Lines::new(text);
    loop {
        let start = reader.buffer_position() as usize;
        let event = reader.read_event();
        let line = lines.at(start);
        let event = event.map_err(|error| {
            let line = Lines::new(text).at(reader.error_position() as usize);
            ParseError::on(file, line, format_args!("not well-formed XML: {error}"))
        })?;
        let element = match &event {
            Event::Start(element) | Event::Empty(element) => element,
            Event::Eof => break,
            _ => continue,
        };
        let attributes = Attributes {
            file,
            line,
            element,
        };
        match element.name().as_ref() {
            b"timestep" => tracks.begin_step(&attributes)?,
            b"vehicle" | b"person" => {
                let id = attributes.value("id")?;
                if vehicles.is_empty() || vehicles.contains(&id.as_str()) {
                    tracks.add(id, &attributes, height_m)?;
                }
            }
            _ => {}
        }
    }
    if tracks.step.is_none() {
        return Err(ParseError::for_file(
            file,
            "no timestep: not floating-car data of SUMO",
        ));
    }
    if let Some(missing) = vehicles.iter().find(|&&id| !tracks.by_id.contains_key(id)) {
        return Err(ParseError::for_file(
            file,
            format_args!("no vehicle {missing:?}"),
        ));
    }
    tracks
        .by_id
        .into_iter()
        .map(|(id, track)| {
            let points = WayPoints::new(track.points).map_err(|error| {
                ParseError::for_file(file, format_args!("vehicle {id:?}: {error}"))
            })?;
            Ok((id, Trajectory::WayPoints(points)))
        })
        .collect()
}

/// Positions of all vehicles up to the current time step.
#[derive(Default)]
struct Tracks {
    by_id: BTreeMap<String, Track>,
    /// Index and time of the current time step.
    step: Option<(usize, Instant)>,
}

impl Tracks {
    /// Begins the time step with these attributes. Its time has to be later than that of the last one.
    fn begin_step(&mut self, attributes: &Attributes<'_, '_>) -> Result<(), ParseError> {
        let at = attributes.number("time")?;
        let at = time(at).ok_or_else(|| {
            attributes.element_error(format_args!(
                "timestep time=\"{at}\" must be from 0 to 1e9 s"
            ))
        })?;
        let index = match self.step {
            Some((_, before)) if at <= before => {
                return Err(attributes.element_error("timestep is not later than the one before"));
            }
            Some((index, _)) => index + 1,
            None => 0,
        };
        self.step = Some((index, at));
        Ok(())
    }

    /// Adds the position of a vehicle in the current time step.
    fn add(
        &mut self,
        id: String,
        attributes: &Attributes<'_, '_>,
        height_m: f64,
    ) -> Result<(), ParseError> {
        let Some((index, at)) = self.step else {
            return Err(attributes.element_error(format_args!("{id:?} stands outside a timestep")));
        };
        let position = Position::new(attributes.number("x")?, attributes.number("y")?, height_m);
        let track = self.by_id.entry(id.clone()).or_default();
        if track.last.is_some_and(|last| last == index) {
            return Err(
                attributes.element_error(format_args!("vehicle {id:?} twice in one timestep"))
            );
        }
        if track.last.is_some_and(|last| last + 1 < index) {
            return Err(attributes.element_error(format_args!(
                "vehicle {id:?} is back after it was missing: its way has a gap"
            )));
        }
        track.last = Some(index);
        track.points.push((at, position));
        Ok(())
    }
}

/// Positions of one vehicle.
#[derive(Default)]
struct Track {
    /// Index of the last time step with the vehicle.
    last: Option<usize>,
    points: Vec<(Instant, Position)>,
}

/// Line numbers of ascending positions in a text.
struct Lines<'t> {
    text: &'t [u8],
    /// Position up to which lines have been counted.
    counted: usize,
    line: usize,
}

impl<'t> Lines<'t> {
    fn new(text: &'t str) -> Self {
        Self {
            text: text.as_bytes(),
            counted: 0,
            line: 1,
        }
    }

    /// Returns the line of the first byte from `position` on that is not white space.
    fn at(&mut self, position: usize) -> usize {
        let rest = self.text.get(position..).unwrap_or_default();
        let white = rest.iter().take_while(|byte| byte.is_ascii_whitespace());
        let end = (position + white.count()).min(self.text.len());
        let skipped = self.text.get(self.counted..end).unwrap_or_default();
        self.line += skipped.iter().filter(|&&byte| byte == b'\n').count();
        self.counted = self.counted.max(end);
        self.line
    }
}

/// Attributes of one element, with file and line for error messages.
struct Attributes<'e, 't> {
    file: &'e str,
    line: usize,
    element: &'e BytesStart<'t>,
}

impl Attributes<'_, '_> {
    fn element_error(&self, message: impl core::fmt::Display) -> ParseError {
        ParseError::on(self.file, self.line, message)
    }

    fn element_name(&self) -> String {
        String::from_utf8_lossy(self.element.name().as_ref()).into_owned()
    }

    fn value(&self, name: &str) -> Result<String, ParseError> {
        let element = self.element_name();
        let attribute = self
            .element
            .try_get_attribute(name)
            .map_err(|error| self.element_error(format_args!("{element}: {error}")))?
            .ok_or_else(|| self.element_error(format_args!("{element} has no attribute {name}")))?;
        let value = attribute
            .unescape_value()
            .map_err(|error| self.element_error(format_args!("{element} {name}: {error}")))?;
        Ok(value.into_owned())
    }

    fn number(&self, name: &str) -> Result<f64, ParseError> {
        let text = self.value(name)?;
        let number = text.trim().parse::<f64>().ok().filter(|n| n.is_finite());
        number.ok_or_else(|| {
            let element = self.element_name();
            self.element_error(format_args!("{element} {name}=\"{text}\" must be a number"))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Duration;

    const TEXT: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<!-- generated by
     SUMO -->
<fcd-export version="1.0">
    <timestep time="0.00">
        <vehicle id="car.0" x="1.50" y="-2.00" angle="90.00" speed="13.9" pos="5.1" lane="e_0"/>
    </timestep>
    <timestep time="1.00">
        <vehicle id="car.0" x="15.50" y="-2.00" angle="90.00" speed="13.9" pos="5.1" lane="e_0"/>
        <vehicle id="b &amp; c" x="0.00" y="0.00"></vehicle>
    </timestep>
    <timestep time="2.00">
        <vehicle id="b &amp; c" x="4.00" y="8.00"></vehicle>
    </timestep>
</fcd-export>
"#;

    fn error(text: &str, vehicles: &[&str]) -> String {
        read_fcd("m3.xml", text, vehicles, 1.5)
            .unwrap_err()
            .to_string()
    }

    #[test]
    fn vehicles_follow_the_time_steps() {
        let ways = read_fcd("m3.xml", TEXT, &[], 1.5).unwrap();
        assert_eq!(ways.keys().collect::<Vec<_>>(), ["b & c", "car.0"]);
        let at = |ms| Instant::ZERO + Duration::from_millis(ms);
        assert_eq!(ways["car.0"].at(at(500)), Position::new(8.5, -2.0, 1.5));
        assert_eq!(ways["b & c"].span(), (at(1_000), at(2_000)));
        assert_eq!(ways["b & c"].at(at(1_250)), Position::new(1.0, 2.0, 1.5));
    }

    #[test]
    fn only_the_named_vehicles_are_read() {
        let ways = read_fcd("m3.xml", TEXT, &["car.0"], 1.5).unwrap();
        assert_eq!(ways.keys().collect::<Vec<_>>(), ["car.0"]);
    }

    #[test]
    fn a_missing_vehicle_is_named() {
        assert_eq!(
            error(TEXT, &["car.0", "bus"]),
            r#"m3.xml: no vehicle "bus""#
        );
    }

    #[test]
    fn a_vehicle_that_vanishes_and_comes_back_is_an_error() {
        let text = TEXT.replace(
            "    </timestep>\n</fcd-export>",
            "    </timestep>\n    <timestep time=\"3\">\n        <vehicle id=\"car.0\" x=\"0\" y=\"0\"/>\n    </timestep>\n</fcd-export>",
        );
        assert_eq!(
            error(&text, &[]),
            r#"m3.xml:16: vehicle "car.0" is back after it was missing: its way has a gap"#
        );
    }

    #[test]
    fn mistakes_name_line_and_attribute() {
        assert_eq!(
            error(&TEXT.replace("x=\"15.50\"", "x=\"far\""), &[]),
            r#"m3.xml:9: vehicle x="far" must be a number"#
        );
        assert_eq!(
            error(&TEXT.replace("x=\"15.50\"", ""), &[]),
            "m3.xml:9: vehicle has no attribute x"
        );
        assert_eq!(
            error(&TEXT.replace("time=\"2.00\"", "time=\"1.00\""), &[]),
            "m3.xml:12: timestep is not later than the one before"
        );
        assert_eq!(
            error(&TEXT.replace("time=\"0.00\"", "time=\"-1\""), &[]),
            "m3.xml:5: timestep time=\"-1\" must be from 0 to 1e9 s"
        );
    }

    #[test]
    fn broken_xml_and_other_xml_are_told_apart() {
        let broken = error(
            &TEXT.replace("</timestep>\n    <timestep time=\"2.00\">", ""),
            &[],
        );
        assert!(broken.starts_with("m3.xml:"), "{broken}");
        let broken = error(&TEXT.replace("</fcd-export>", "</fcd>"), &[]);
        assert!(
            broken.starts_with("m3.xml:15: not well-formed XML"),
            "{broken}"
        );
        assert_eq!(
            error("<net></net>", &[]),
            "m3.xml: no timestep: not floating-car data of SUMO"
        );
    }
}
