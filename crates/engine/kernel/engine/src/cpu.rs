//! CPUs: each run is pinned to the CPU with the fewest runs.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use nix::sched::{CpuSet, sched_getaffinity};
use nix::unistd::Pid;

/// Number of runs of this program, by CPU.
static RESERVED: Mutex<BTreeMap<usize, u32>> = Mutex::new(BTreeMap::new());

/// CPU reserved for a run until dropped.
#[derive(Debug)]
pub(crate) struct ReservedCpu(usize);

impl ReservedCpu {
    /// Reserves the CPU with the fewest runs among those that this program may use; `None` if the host does not report
    /// them. Which of equal ones depends on the process, so that several programs use different ones.
    pub(crate) fn reserve() -> Option<Self> {
        let allowed = sched_getaffinity(Pid::from_raw(0)).ok()?;
        let usable: Vec<usize> = (0..CpuSet::count())
            .filter(|cpu| allowed.is_set(*cpu).unwrap_or(false))
            .collect();
        let first = std::process::id() as usize % usable.len().max(1);
        let mut reserved = RESERVED.lock().unwrap_or_else(PoisonError::into_inner);
        let in_turn = usable.iter().cycle().skip(first).take(usable.len());
        let cpu = *in_turn.min_by_key(|cpu| reserved.get(*cpu).copied().unwrap_or_default())?;
        *reserved.entry(cpu).or_default() += 1;
        Some(Self(cpu))
    }

    /// Returns its number.
    pub(crate) fn number(&self) -> u32 {
        self.0 as u32
    }
}

impl Drop for ReservedCpu {
    fn drop(&mut self) {
        let mut reserved = RESERVED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(runs) = reserved.get_mut(&self.0) {
            *runs -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_spread_over_the_processors() {
        let allowed = sched_getaffinity(Pid::from_raw(0)).unwrap();
        let count = (0..CpuSet::count())
            .filter(|cpu| allowed.is_set(*cpu).unwrap())
            .count();
        let all: Vec<ReservedCpu> = (0..count)
            .map(|_| ReservedCpu::reserve().unwrap())
            .collect();
        let mut numbers: Vec<u32> = all.iter().map(ReservedCpu::number).collect();
        numbers.sort_unstable();
        numbers.dedup();
        assert_eq!(numbers.len(), count);
    }
}
