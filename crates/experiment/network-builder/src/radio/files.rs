//! Files of the radio access network, read once for all runs.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use config::{FieldContext, FieldError, check_each};
use radio::channel::mobility::{Trajectory, read_fcd, read_ns2};
use radio::channel::{PhoneLog, SinrTrace};
use scenario::radio::{Radio, SignalSource, Sinr, Sumo};

use crate::Files;

/// SINR traces by UE, and the trajectories of vehicles by file.
#[derive(Clone, Debug, Default)]
pub(crate) struct RadioFiles {
    sinr: BTreeMap<String, SinrTrace>,
    trajectories: BTreeMap<PathBuf, BTreeMap<String, Trajectory>>,
    directory: PathBuf,
}

impl RadioFiles {
    pub(crate) fn load(radio: &Radio, texts: &mut Files) -> Result<Self, FieldError> {
        let mut files = Self {
            directory: texts.directory().to_owned(),
            ..Self::default()
        };
        let height_m = radio.propagation.ue_height.metres();
        check_each("ues", &radio.ues, |ue| {
            match ue.signal_source() {
                SignalSource::Sinr(sinr) => {
                    if let Some(trace) = files.read_sinr(sinr, texts).in_table("sinr")? {
                        files.sinr.insert(ue.name.clone(), trace);
                    }
                }
                SignalSource::Sumo(sumo) => files
                    .read_trajectories(sumo, radio, height_m, texts)
                    .in_table("sumo")?,
                SignalSource::Linear(..) | SignalSource::WayPoints(_) => {}
            }
            Ok(())
        })?;
        Ok(files)
    }

    /// Returns the trace of the UEs with that name, if they have a file.
    pub(super) fn sinr(&self, ue: &str) -> Option<&SinrTrace> {
        self.sinr.get(ue)
    }

    /// Returns the trajectories of the vehicles in the file of `sumo`.
    pub(super) fn trajectories(&self, sumo: &Sumo) -> &BTreeMap<String, Trajectory> {
        let file = located(sumo, &self.directory);
        self.trajectories
            .get(&file)
            .expect("every file of the scenario was loaded")
    }

    fn read_sinr(&self, sinr: &Sinr, texts: &mut Files) -> Result<Option<SinrTrace>, FieldError> {
        Ok(match sinr {
            Sinr::Constant(_) | Sinr::Points(_) => None,
            Sinr::Trace(trace) => {
                let field_error = |error| FieldError::new("trace", error);
                let file = self.directory.join(&trace.trace);
                let text = texts.text(&file).in_table("trace")?;
                let name = file.display().to_string();
                Some(SinrTrace::read(&name, text, trace.longest_gap).map_err(field_error)?)
            }
            Sinr::PhoneLog(log) => {
                let field_error = |error| FieldError::new("phone_log", error);
                let file = self.directory.join(&log.phone_log);
                let text = texts.text(&file).in_table("phone_log")?;
                let read =
                    PhoneLog::read(&file.display().to_string(), text).map_err(field_error)?;
                let trace = read.sinr_trace(log.offset, None, log.longest_gap);
                Some(trace.map_err(field_error)?)
            }
        })
    }

    /// Reads all that is wanted of a file of vehicles: those that are named, or all.
    fn read_trajectories(
        &mut self,
        sumo: &Sumo,
        radio: &Radio,
        height_m: f64,
        texts: &mut Files,
    ) -> Result<(), FieldError> {
        let file = located(sumo, &self.directory);
        if self.trajectories.contains_key(&file) {
            return Ok(());
        }
        let of_file = radio.ues.iter().filter_map(|ue| match ue.signal_source() {
            SignalSource::Sumo(other) if located(other, &self.directory) == file => {
                Some((ue, other))
            }
            _ => None,
        });
        let named: BTreeSet<&str> = of_file
            .clone()
            .filter(|(ue, _)| !ue.is_wildcard())
            .map(|(_, sumo)| sumo.vehicle.as_str())
            .collect();
        let named: Vec<&str> = named.into_iter().collect();
        let every = of_file.into_iter().any(|(ue, _)| ue.is_wildcard());
        let field = if sumo.fcd.is_some() { "fcd" } else { "ns2" };
        let text = texts.text(&file).in_table(field)?;
        let name = file.display().to_string();
        let reader = if sumo.fcd.is_some() {
            read_fcd
        } else {
            read_ns2
        };
        // Named vehicles are asked for by name, so that a missing one is an error.
        let mut trajectories =
            reader(&name, text, &named, height_m).map_err(|error| FieldError::new(field, error))?;
        if every {
            trajectories = reader(&name, text, &[], height_m)
                .map_err(|error| FieldError::new(field, error))?;
        }
        self.trajectories.insert(file, trajectories);
        Ok(())
    }
}

fn located(sumo: &Sumo, directory: &Path) -> PathBuf {
    let file = sumo.fcd.as_ref().or(sumo.ns2.as_ref());
    directory.join(file.map_or("", String::as_str))
}
