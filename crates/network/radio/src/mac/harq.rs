//! Hybrid ARQ: parallel stop-and-wait processes with soft combining (TS 36.321 clauses 5.3.2, 5.4.2).
//!
//! The outcome of an attempt is drawn when it is sent; the sender learns it one round trip later. Soft combining is left
//! to the physical layer: each process has a soft buffer of type `S`, which is cleared for new data. A closure of the
//! caller updates it and returns the error rate.

use units::random::{Purpose, RngStream};

/// Size and timing of an entity.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HarqConfig {
    /// Parallel processes: 8 for FDD (TS 36.213 clause 7), up to 16 in NR.
    pub processes: u8,
    /// TTIs from an attempt to the next one of the same process: 8 for FDD.
    pub round_trip: u64,
    /// Attempts per block, the first included.
    pub max_transmissions: u8,
}

impl HarqConfig {
    /// Returns whether a block may be sent once more after this number of attempts.
    pub(crate) fn allows_attempt_after(&self, attempts: u8) -> bool {
        attempts < self.max_transmissions
    }
}

/// Outcome of an attempt at the receiver.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reception {
    /// The block is decoded for the first time; its payload has to be delivered.
    Decoded,
    /// The block was decoded before, but the acknowledgement was lost; nothing has to be delivered.
    Duplicate,
    /// The block is not decoded; the received signal is stored for combining.
    Failed,
}

/// Outcome of a process at the end of its round trip.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Feedback {
    /// The block is acknowledged; the process is free.
    Acknowledged,
    /// The block has to be sent again.
    Negative,
    /// The last attempt failed; the block is lost and the process free.
    Exhausted,
}

/// State of a process. Times are TTIs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    Idle,
    /// Sent; feedback arrives at `due`.
    Waiting {
        due: u64,
        is_acknowledged: bool,
    },
    /// Negative feedback since `since`.
    Pending {
        since: u64,
    },
}

/// One stop-and-wait process.
#[derive(Clone, Debug)]
struct Process<T, S> {
    state: State,
    attempts: u8,
    is_decoded: bool,
    payload: T,
    soft: S,
}

/// Processes towards one receiver. `T` is the payload, whose memory is reused.
#[derive(Clone, Debug)]
pub struct Harq<T, S> {
    config: HarqConfig,
    processes: Vec<Process<T, S>>,
    /// Earliest feedback not yet processed; `u64::MAX` for none.
    next_feedback: u64,
}

impl<T: Default, S: Default> Harq<T, S> {
    /// Returns an entity with all processes idle.
    pub fn new(config: HarqConfig) -> Self {
        let processes = (0..config.processes)
            .map(|_| Process {
                state: State::Idle,
                attempts: 0,
                is_decoded: false,
                payload: T::default(),
                soft: S::default(),
            })
            .collect();
        Self {
            config,
            processes,
            next_feedback: u64::MAX,
        }
    }

    /// Returns the feedback that has arrived by `tti`, one process per call, in order of their indices.
    pub fn feedback(&mut self, tti: u64) -> Option<(usize, Feedback)> {
        if tti < self.next_feedback {
            return None;
        }
        for (index, process) in self.processes.iter_mut().enumerate() {
            let State::Waiting {
                due,
                is_acknowledged,
            } = process.state
            else {
                continue;
            };
            if due > tti {
                continue;
            }
            let feedback = if is_acknowledged {
                process.state = State::Idle;
                Feedback::Acknowledged
            } else if self.config.allows_attempt_after(process.attempts) {
                process.state = State::Pending { since: due };
                Feedback::Negative
            } else {
                process.state = State::Idle;
                // If an ACK was received as a NACK, nothing was lost.
                if process.is_decoded {
                    Feedback::Acknowledged
                } else {
                    Feedback::Exhausted
                }
            };
            return Some((index, feedback));
        }
        self.next_feedback = self
            .processes
            .iter()
            .filter_map(|process| match process.state {
                State::Waiting { due, .. } => Some(due),
                _ => None,
            })
            .min()
            .unwrap_or(u64::MAX);
        None
    }

    /// Returns the process to retransmit at `tti`: the one that has waited longest.
    pub fn retransmission(&self, tti: u64) -> Option<usize> {
        self.processes
            .iter()
            .enumerate()
            .filter_map(|(index, process)| match process.state {
                State::Pending { since } if since <= tti => Some((since, index)),
                _ => None,
            })
            .min()
            .map(|(_, index)| index)
    }

    /// Returns the first process that can take new data.
    pub fn idle_process(&self) -> Option<usize> {
        self.idle_processes().next()
    }

    /// Returns all processes that can take new data. A process that has been filled is among them until its first
    /// [`attempt`](Self::attempt).
    pub fn idle_processes(&self) -> impl Iterator<Item = usize> {
        let idle = |process: &&Process<T, S>| process.state == State::Idle;
        let numbered = self.processes.iter().enumerate();
        numbered
            .filter(move |(_, process)| idle(process))
            .map(|(index, _)| index)
    }

    /// Clears the soft buffer of an idle process and returns its payload for refilling. The next
    /// [`attempt`](Self::attempt) on it is its first.
    pub fn new_data(&mut self, process: usize) -> &mut T {
        let process = &mut self.processes[process];
        process.attempts = 0;
        process.is_decoded = false;
        process.soft = S::default();
        &mut process.payload
    }

    /// Returns the payload of a process.
    pub fn payload(&self, process: usize) -> &T {
        &self.processes[process].payload
    }

    /// Returns the attempts made for the current block of a process.
    pub fn attempts(&self, process: usize) -> u8 {
        self.processes[process].attempts
    }

    /// Sends a process at `tti`. `error_rate` combines the attempt into the soft buffer and returns the resulting
    /// block error rate; `errors` are those of decoding and feedback.
    pub fn attempt(
        &mut self,
        tti: u64,
        process: usize,
        errors: &ErrorDraws,
        error_rate: impl FnOnce(&mut S) -> f64,
    ) -> Reception {
        let due = tti + self.config.round_trip;
        let process = &mut self.processes[process];
        process.attempts = process.attempts.saturating_add(1);
        let reception = if process.is_decoded {
            Reception::Duplicate
        } else if errors.decoding(tti) < error_rate(&mut process.soft) {
            Reception::Failed
        } else {
            process.is_decoded = true;
            Reception::Decoded
        };
        process.state = State::Waiting {
            due,
            is_acknowledged: errors.is_acked(tti, process.is_decoded),
        };
        self.next_feedback = self.next_feedback.min(due);
        reception
    }

    /// Sends a process at `tti` to a receiver that misses its DCI (DTX), and so neither receives the block nor
    /// answers. If the DTX is received as an ACK, the block is lost unless it was decoded before.
    pub fn send_dtx(&mut self, tti: u64, process: usize, errors: &ErrorDraws) {
        let due = tti + self.config.round_trip;
        let process = &mut self.processes[process];
        process.attempts = process.attempts.saturating_add(1);
        process.state = State::Waiting {
            due,
            is_acknowledged: errors.is_dtx_acked(tti),
        };
        self.next_feedback = self.next_feedback.min(due);
    }

    /// Discards all blocks in flight (MAC reset, TS 36.321 clause 5.9).
    pub fn reset(&mut self) {
        for process in &mut self.processes {
            process.state = State::Idle;
        }
        self.next_feedback = u64::MAX;
    }
}

/// Random decoding and feedback errors. They are addressed by TTI, so they never depend on earlier transmissions.
#[derive(Clone, Debug)]
pub struct ErrorDraws {
    decoding: RngStream,
    feedback: RngStream,
    control: RngStream,
    /// Probability that a NACK is received as an ACK.
    pub nack_to_ack_rate: f64,
    /// Probability that an ACK is received as a NACK, or not at all.
    pub ack_to_nack_rate: f64,
    /// Probability that a missing response is received as an ACK.
    pub dtx_to_ack_rate: f64,
}

impl ErrorDraws {
    /// Returns the errors of receiver number `entity` in the run with `seed`; feedback has no errors.
    pub fn new(seed: u64, entity: u32) -> Self {
        Self {
            decoding: RngStream::new(seed, Purpose::HarqDecoding, entity),
            feedback: RngStream::new(seed, Purpose::HarqFeedback, entity),
            control: RngStream::new(seed, Purpose::ControlDecoding, entity),
            nack_to_ack_rate: 0.0,
            ack_to_nack_rate: 0.0,
            dtx_to_ack_rate: 0.0,
        }
    }

    fn decoding(&self, tti: u64) -> f64 {
        unit_interval(self.decoding.at(tti))
    }

    /// Returns whether the receiver misses a message of the control channel at `tti`, whose probability is `error_rate`.
    pub(crate) fn misses_control(&self, tti: u64, error_rate: f64) -> bool {
        unit_interval(self.control.at(tti)) < error_rate
    }

    fn is_dtx_acked(&self, tti: u64) -> bool {
        unit_interval(self.feedback.at(tti)) < self.dtx_to_ack_rate
    }

    fn is_acked(&self, tti: u64, is_decoded: bool) -> bool {
        let error_rate = if is_decoded {
            self.ack_to_nack_rate
        } else {
            self.nack_to_ack_rate
        };
        if error_rate <= 0.0 {
            return is_decoded;
        }
        is_decoded != (unit_interval(self.feedback.at(tti)) < error_rate)
    }
}

/// Converts the 53 high bits of a draw to a number in [0, 1).
fn unit_interval(draw: u64) -> f64 {
    (draw >> 11) as f64 * (1.0 / (1_u64 << 53) as f64)
}
