//! System calls that block until something happens.

use units::Instant;

use super::calls::CallResult;
use super::{PlayError, Player, instant, script_time};
use crate::script::Call;

/// Call that has not returned yet.
pub(super) struct BlockedCall {
    line: u32,
    call: Call,
    /// Time at which it must return.
    ends: Instant,
    /// Bytes that it has already written.
    done: u64,
}

impl Player {
    /// Starts a call; one with an end time may block. `previous` is the script time that its times count from.
    pub(super) fn call(&mut self, line: u32, call: &Call, previous: i64) -> Result<(), PlayError> {
        if self.waiting.is_some() {
            let now = format!("{:.6}", self.script_time() as f64 * 1e-6);
            return Self::failed(
                line,
                "the previous call has returned",
                format!("it still blocks at {now}"),
                "blocks",
            );
        }
        let answer = self.carry_out(line, call, 0)?;
        if let CallResult::Blocks(done) = answer {
            let Some(ends) = call.ends else {
                return Self::failed(line, call_text(call), "it blocks", "blocks");
            };
            let ends = instant(previous + ends);
            self.waiting = Some(BlockedCall {
                line,
                call: call.clone(),
                ends,
                done,
            });
            return Ok(());
        }
        self.check_answer(line, call, &answer)
    }

    /// Tries again what blocks.
    pub(super) fn retry_waiting(&mut self) -> Result<(), PlayError> {
        let Some(mut waiting) = self.waiting.take() else {
            return Ok(());
        };
        if self.waits_for_room(&waiting.call) {
            self.waiting = Some(waiting);
            return Ok(());
        }
        let answer = self.carry_out(waiting.line, &waiting.call, waiting.done)?;
        if let CallResult::Blocks(done) = answer {
            waiting.done = done;
            self.waiting = Some(waiting);
            return Ok(());
        }
        self.check_answer(waiting.line, &waiting.call, &answer)?;
        let (at, ends) = (script_time(self.now), script_time(waiting.ends));
        if (at - ends).unsigned_abs() > self.tolerance.as_micros() {
            let seconds = |micros: i64| {
                format!(
                    "{} returns at {:.6}",
                    waiting.call.name,
                    micros as f64 * 1e-6
                )
            };
            return Self::failed(waiting.line, seconds(ends), seconds(at), "time");
        }
        Ok(())
    }

    /// Returns whether a call that writes has to wait on, because too little of the send buffer is free.
    fn waits_for_room(&self, call: &Call) -> bool {
        let writes = ["write", "writev", "send", "sendto", "sendmsg"].contains(&call.name.as_str());
        let socket = self.socket(&call.arguments).ok();
        let peer = socket.and_then(|socket| self.sockets[socket].connection());
        writes && peer.is_some_and(|peer| peer.tcp.nospace() && peer.tcp.failure().is_none())
    }

    /// Waits at the end of the script for a call that blocks.
    pub(super) fn finish_waiting(&mut self) -> Result<(), PlayError> {
        while let Some(waiting) = &self.waiting {
            let (line, text, until) = (
                waiting.line,
                call_text(&waiting.call),
                waiting.ends + self.tolerance,
            );
            match self.next_deadline() {
                Some(at) if at <= until => self.run_timers(at)?,
                _ => return Self::failed(line, text, "it still blocks at the end", "blocks"),
            }
        }
        Ok(())
    }
}

/// Returns a call as reports write it.
pub(super) fn call_text(call: &Call) -> String {
    use crate::script::Expression;
    let result = match &call.result {
        Expression::Number(number) => number.to_string(),
        _ => "...".to_owned(),
    };
    let errno = call
        .errno
        .as_deref()
        .map(|name| format!(" {name}"))
        .unwrap_or_default();
    format!("{}() = {result}{errno}", call.name)
}
