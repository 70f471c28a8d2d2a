//! Cell: the users of one cell, and its state between TTIs.

use std::collections::VecDeque;

use super::log_records::{ControlRecord, UplinkSignals};
use super::{RanConfig, UserId};
use crate::handover::CellId;
use crate::mac::pdcch::Pdcch;
use crate::mac::scheduler::{Demand, Scheduler};

/// State of one cell.
pub(super) struct CellState {
    /// Users by their index at the scheduler; free indices are reused.
    pub(super) members: Vec<Option<UserId>>,
    pub(super) scheduler: Scheduler,
    pub(super) control: Pdcch,
    /// TTI and number of allocated resource blocks of future uplink TTIs.
    pub(super) uplink_prbs: VecDeque<(u64, u32)>,
    /// User whose turn it is in the uplink.
    pub(super) uplink_turn: usize,
    /// Whether the latest control region had no room for any of the grants that were due.
    pub(super) grants_starved: bool,
    /// Whether grants are placed in the control region before assignments in this TTI.
    pub(super) grants_first: bool,
    /// Signals of this TTI.
    pub(super) signals: UplinkSignals,
    pub(super) demands: Vec<Demand>,
    pub(super) rates: Vec<f32>,
    pub(super) assignment: Vec<u16>,
    /// Groups assigned to each member, a bit each, and the number of their resource blocks.
    pub(super) shares: Vec<(u64, u32)>,
}

impl CellState {
    pub(super) fn new(config: &RanConfig) -> Self {
        let groups = &config.air.group_prbs;
        Self {
            members: Vec::new(),
            scheduler: Scheduler::new(config.policy(), groups),
            control: Pdcch::new(config.air.control),
            uplink_prbs: VecDeque::new(),
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

    /// Begins a TTI with an empty control region. Assignments are placed first, unless they left no room for any
    /// grant in the previous control region. So the directions alternate if the region is too small for both.
    pub(super) fn start(&mut self, tti: u64, config: &RanConfig) {
        self.grants_first = config.air.has_control(tti) && self.grants_starved;
        // The candidates of messages differ from TTI to TTI of a frame.
        self.control.start(tti);
    }

    /// Returns the record of the signalling in this TTI.
    pub(super) fn record(&self, cell: CellId) -> ControlRecord {
        let (elements, occupied) = self.control.elements();
        ControlRecord {
            cell,
            elements,
            occupied,
            blocked: self.control.blocked(),
            uplink: self.signals,
        }
    }

    pub(super) fn join(&mut self, user: UserId) {
        match self.members.iter().position(Option::is_none) {
            Some(index) => {
                self.members[index] = Some(user);
                self.scheduler.remove_user(index);
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
    pub(super) fn allocated_uplink(&self, tti: u64) -> u32 {
        let entry = self.uplink_prbs.iter().find(|&&(at, _)| at == tti);
        entry.map_or(0, |&(_, prbs)| prbs)
    }

    pub(super) fn allocate_uplink(&mut self, tti: u64, prbs: u32) {
        match self.uplink_prbs.iter_mut().find(|(at, _)| *at == tti) {
            Some((_, allocated)) => *allocated += prbs,
            None => self.uplink_prbs.push_back((tti, prbs)),
        }
    }

    pub(super) fn expire_uplink(&mut self, tti: u64) {
        self.uplink_prbs.retain(|&(at, _)| at >= tti);
    }
}
