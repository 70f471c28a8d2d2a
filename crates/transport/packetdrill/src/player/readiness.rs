//! Flags and readiness of descriptors: `fcntl`, `ioctl` and `poll`.

use tcp::State;

use super::Player;
use super::calls::{CallError, CallOutcome, CallResult, not_modelled};
use super::socket::Role;
use crate::script::Expression;

impl Player {
    /// Executes `fcntl(fd, F_GETFL or F_SETFL, flags)`.
    pub(super) fn fcntl(&mut self, arguments: &[Expression]) -> CallOutcome {
        let index = self.socket(arguments)?;
        let has = |word: &str| arguments.iter().any(|argument| argument.has_word(word));
        if has("F_SETFL") {
            self.sockets[index].is_nonblocking = has("O_NONBLOCK");
            return Ok(CallResult::Value(0));
        }
        let is_nonblocking = if self.sockets[index].is_nonblocking {
            0x800
        } else {
            0
        };
        Ok(CallResult::Value(0x2 | is_nonblocking))
    }

    /// Executes `ioctl(fd, request, value)`; the value is compared with the expected one.
    pub(super) fn ioctl(&mut self, arguments: &[Expression]) -> CallOutcome {
        let index = self.socket(arguments)?;
        let Some(Expression::Word(request)) = arguments.get(1) else {
            return not_modelled("ioctl with these arguments");
        };
        let connection = self.sockets[index].connection();
        let Some(connection) = connection else {
            return Err(CallError::Errno("EINVAL"));
        };
        let seen = match request.as_str() {
            "SIOCINQ" | "FIONREAD" => connection.tcp.readable(),
            "SIOCOUTQ" | "TIOCOUTQ" => connection.tcp.info(self.now).unacknowledged,
            "SIOCOUTQNSD" => connection.tcp.info(self.now).unsent,
            other => return not_modelled(format!("ioctl {other}")),
        };
        let expected = match arguments.get(2) {
            Some(Expression::List(list)) => list.first(),
            other => other,
        };
        let same = !matches!(expected, Some(Expression::Number(number)) if *number != seen as i64);
        Ok(if same {
            CallResult::Value(0)
        } else {
            CallResult::Other(format!("{request} = {seen}"))
        })
    }

    /// Executes `poll([{fd=..., events=..., revents=...}], n, timeout)`.
    pub(super) fn poll(&mut self, arguments: &[Expression]) -> CallOutcome {
        let Some(Expression::List(list)) = arguments.first() else {
            return not_modelled("poll with these arguments");
        };
        let mut ready = 0;
        for entry in list {
            let (Some(Expression::Number(descriptor)), Some(events)) =
                (entry.field("fd"), entry.field("events"))
            else {
                return not_modelled("poll with these arguments");
            };
            let Some(&index) = self.descriptors.get(descriptor) else {
                continue;
            };
            let ready_events = self.readiness(index);
            let unrequested = ["POLLERR", "POLLHUP"];
            let seen: Vec<&str> = ready_events
                .into_iter()
                .filter(|name| unrequested.contains(name) || events.has_word(name))
                .collect();
            ready += i64::from(!seen.is_empty());
            if let Some(expected) = entry.field("revents") {
                let mut words = Vec::new();
                expected.words(&mut |word| words.push(word.to_owned()));
                words.sort_unstable();
                let mut names = seen.clone();
                names.sort_unstable();
                if words != names && ready > 0 {
                    return Ok(CallResult::Other(format!("poll() with {}", seen.join("|"))));
                }
            }
        }
        let can_block = !matches!(arguments.get(2), Some(Expression::Number(0)));
        Ok(if ready == 0 && can_block {
            CallResult::Blocks(0)
        } else {
            CallResult::Value(ready)
        })
    }

    /// Returns the names of the events for which a socket is ready.
    fn readiness(&self, index: usize) -> Vec<&'static str> {
        let socket = &self.sockets[index];
        let mut names = Vec::new();
        match &socket.role {
            Role::Fresh => names.extend(["POLLHUP", "POLLOUT"]),
            Role::Listener(queue) => {
                let ready = |index: &usize| {
                    self.sockets[*index].connection().is_some_and(|connection| {
                        !matches!(
                            connection.tcp.state(),
                            State::Listen | State::SynReceived | State::Closed
                        )
                    })
                };
                if queue.iter().any(ready) {
                    names.extend(["POLLIN", "POLLRDNORM"]);
                }
            }
            Role::Connection(connection) => {
                let state = connection.tcp.state();
                let has_ended = connection.tcp.has_ended() || connection.tcp.is_read_shutdown();
                let is_closed = state == State::Closed;
                if connection.tcp.readable() > 0 || has_ended || is_closed {
                    names.extend(["POLLIN", "POLLRDNORM"]);
                }
                if has_ended || is_closed {
                    names.push("POLLRDHUP");
                }
                if is_closed || has_ended && connection.is_write_shutdown {
                    names.push("POLLHUP");
                }
                if !connection.tcp.nospace() || is_closed || connection.is_write_shutdown {
                    names.extend(["POLLOUT", "POLLWRNORM"]);
                }
                if connection.tcp.failure().is_some() && !connection.is_error_reported {
                    names.push("POLLERR");
                }
            }
        }
        names
    }
}
