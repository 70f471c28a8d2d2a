//! Blocked system calls, which are executed again as events happen.

use units::Instant;

use super::calls::CallResult;
use super::{PlayError, Player, instant, script_time};
use crate::script::Call;

/// System call that has not returned.
pub(super) struct BlockedCall {
    line: u32,
    call: Call,
    /// Time at which it must return.
    returns_at: Instant,
    /// Bytes that it has written.
    bytes_done: u64,
}

impl Player {
    /// Starts a call; one with a return time may block. `previous_us` is the script time that the return time counts from.
    pub(super) fn call(
        &mut self,
        line: u32,
        call: &Call,
        previous_us: i64,
    ) -> Result<(), PlayError> {
        if self.blocked_call.is_some() {
            let now = format!("{:.6}", self.script_time() as f64 * 1e-6);
            return Self::fail(
                line,
                "the previous call has returned",
                format!("it still blocks at {now}"),
                "blocks",
            );
        }
        let result = self.execute(line, call, 0)?;
        if let CallResult::Blocks(bytes_done) = result {
            let Some(returns_us) = call.returns_us else {
                return Self::fail(line, call_text(call), "it blocks", "blocks");
            };
            let returns_at = instant(previous_us + returns_us);
            self.blocked_call = Some(BlockedCall {
                line,
                call: call.clone(),
                returns_at,
                bytes_done,
            });
            return Ok(());
        }
        self.check_result(line, call, &result)
    }

    /// Executes a blocked call again.
    pub(super) fn retry_blocked_call(&mut self) -> Result<(), PlayError> {
        let Some(mut blocked) = self.blocked_call.take() else {
            return Ok(());
        };
        if self.waits_for_space(&blocked.call) {
            self.blocked_call = Some(blocked);
            return Ok(());
        }
        let result = self.execute(blocked.line, &blocked.call, blocked.bytes_done)?;
        if let CallResult::Blocks(bytes_done) = result {
            blocked.bytes_done = bytes_done;
            self.blocked_call = Some(blocked);
            return Ok(());
        }
        self.check_result(blocked.line, &blocked.call, &result)?;
        let (actual_us, expected_us) = (script_time(self.now), script_time(blocked.returns_at));
        if (actual_us - expected_us).unsigned_abs() > self.tolerance.as_micros() {
            let text = |micros: i64| {
                format!(
                    "{} returns at {:.6}",
                    blocked.call.name,
                    micros as f64 * 1e-6
                )
            };
            return Self::fail(blocked.line, text(expected_us), text(actual_us), "time");
        }
        Ok(())
    }

    /// Returns whether a call that writes keeps blocking, because too little of the send buffer is free.
    fn waits_for_space(&self, call: &Call) -> bool {
        let writes = ["write", "writev", "send", "sendto", "sendmsg"].contains(&call.name.as_str());
        let socket = self.socket(&call.arguments).ok();
        let connection = socket.and_then(|socket| self.sockets[socket].connection());
        writes
            && connection.is_some_and(|connection| {
                connection.tcp.nospace() && connection.tcp.failure().is_none()
            })
    }

    /// Waits for a blocked call at the end of the script.
    pub(super) fn finish_blocked_call(&mut self) -> Result<(), PlayError> {
        while let Some(blocked) = &self.blocked_call {
            let (line, text, until) = (
                blocked.line,
                call_text(&blocked.call),
                blocked.returns_at + self.tolerance,
            );
            match self.next_deadline() {
                Some(at) if at <= until => self.run_timers(at)?,
                _ => return Self::fail(line, text, "it still blocks at the end", "blocks"),
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
