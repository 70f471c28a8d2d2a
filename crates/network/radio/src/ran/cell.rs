//! Cell: the users of one cell, and its state between TTIs.

use std::collections::VecDeque;

use super::log_records::{ControlRecord, UplinkSignals};
use super::{RanConfig, UserId};
use crate::handover::CellId;
use crate::mac::pdcch::Pdcch;
use crate::mac::scheduler::{Demand, Scheduler};

pub(super) struct CellState {
    /// Users by their place with the scheduler; empty places are used again.
    pub(super) members: Vec<Option<UserId>>,
    pub(super) scheduler: Scheduler,
    pub(super) control: Pdcch,
    /// Resource blocks that are allocated in uplink TTIs to come.
    pub(super) uplink_taken: VecDeque<(u64, u32)>,
    /// User whose turn it is in the uplink.
    pub(super) uplink_turn: usize,
    /// Whether the latest control region had no place for any of the grants that were due.
    pub(super) grants_starved: bool,
    /// Whether grants are placed in the control region before assignments in this TTI.
    pub(super) grants_first: bool,
    /// Signals of this TTI.
    pub(super) signals: UplinkSignals,
    pub(super) demands: Vec<Demand>,
    pub(super) rates: Vec<f32>,
    pub(super) assignment: Vec<u16>,
    /// Groups that each member has been given, a bit each, and their resource blocks.
    pub(super) shares: Vec<(u64, u32)>,
}

impl CellState {
    pub(super) fn new(config: &RanConfig) -> Self {
        let groups = &config.air.group_prbs;
        Self {
            members: Vec::new(),
            scheduler: Scheduler::new(config.policy(), groups),
            control: Pdcch::new(config.air.control),
            uplink_taken: VecDeque::new(),
            uplink_turn: 0,
            grants_starved: false,
            grants_first: false,
            signals: UplinkSignals::default(),
            demands: Vec::new(),
            rates: Vec::new(),
            assignment: vec![0; groups.len()],
            shares: Vec::new(),
        }
    }

    /// Begins a TTI with an empty control region. Assignments are placed first, unless they left no place for any
    /// grant in the control region before. So either direction gets every other region that is too small for both.
    pub(super) fn start(&mut self, tti: u64, config: &RanConfig) {
        self.grants_first = config.air.has_control(tti) && self.grants_starved;
        // Places of messages hop from TTI to TTI of a frame.
        self.control.start(tti);
    }

    /// Returns the record of the signalling in this TTI.
    pub(super) fn record(&self, cell: CellId) -> ControlRecord {
        let (elements, taken) = self.control.elements();
        ControlRecord {
            cell,
            elements,
            taken,
            blocked: self.control.blocked(),
            uplink: self.signals,
        }
    }

    pub(super) fn join(&mut self, user: UserId) {
        match self.members.iter().position(Option::is_none) {
            Some(place) => {
                self.members[place] = Some(user);
                self.scheduler.remove_user(place);
            }
            None => self.members.push(Some(user)),
        }
    }

    pub(super) fn leave(&mut self, user: UserId) {
        for member in &mut self.members {
            if *member == Some(user) {
                *member = None;
            }
        }
    }

    /// Returns the resource blocks allocated in uplink TTI `tti`.
    pub(super) fn uplink_taken(&self, tti: u64) -> u32 {
        let entry = self.uplink_taken.iter().find(|&&(at, _)| at == tti);
        entry.map_or(0, |&(_, prbs)| prbs)
    }

    pub(super) fn take_uplink(&mut self, tti: u64, prbs: u32) {
        match self.uplink_taken.iter_mut().find(|(at, _)| *at == tti) {
            Some((_, taken)) => *taken += prbs,
            None => self.uplink_taken.push_back((tti, prbs)),
        }
    }

    pub(super) fn expire_uplink(&mut self, tti: u64) {
        self.uplink_taken.retain(|&(at, _)| at >= tti);
    }
}
