//! Flags and readiness of descriptors: `fcntl`, `ioctl` and `poll`.

use tcp::State;

use super::Player;
use super::calls::{CallError, CallOutcome, CallResult, not_modelled};
use super::socket::Role;
use crate::script::Expression;

impl Player {
    pub(super) fn fcntl(&mut self, arguments: &[Expression]) -> CallOutcome {
        let index = self.socket(arguments)?;
        let has = |word: &str| arguments.iter().any(|argument| argument.has_word(word));
        if has("F_SETFL") {
            self.sockets[index].nonblocking = has("O_NONBLOCK");
            return Ok(CallResult::Value(0));
        }
        let nonblocking = if self.sockets[index].nonblocking {
            0x800
        } else {
            0
        };
        Ok(CallResult::Value(0x2 | nonblocking))
    }

    pub(super) fn ioctl(&mut self, arguments: &[Expression]) -> CallOutcome {
        let index = self.socket(arguments)?;
        let Some(Expression::Word(request)) = arguments.get(1) else {
            return not_modelled("ioctl with these arguments");
        };
        let peer = self.sockets[index].connection();
        let Some(peer) = peer else {
            return Err(CallError::Errno("EINVAL"));
        };
        let seen = match request.as_str() {
            "SIOCINQ" | "FIONREAD" => peer.tcp.readable(),
            "SIOCOUTQ" | "TIOCOUTQ" => peer.tcp.info(self.now).unacknowledged,
            "SIOCOUTQNSD" => peer.tcp.info(self.now).unsent,
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

    /// Carries out `poll([{fd=..., events=..., revents=...}], n, timeout)`.
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
            let happened = self.readiness(index);
            let always = ["POLLERR", "POLLHUP"];
            let seen: Vec<&str> = happened
                .into_iter()
                .filter(|name| always.contains(name) || events.has_word(name))
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
        let waits = !matches!(arguments.get(2), Some(Expression::Number(0)));
        Ok(if ready == 0 && waits {
            CallResult::Blocks(0)
        } else {
            CallResult::Value(ready)
        })
    }

    /// Returns the names of the events of a socket.
    fn readiness(&self, index: usize) -> Vec<&'static str> {
        let socket = &self.sockets[index];
        let mut names = Vec::new();
        match &socket.role {
            Role::Fresh => names.extend(["POLLHUP", "POLLOUT"]),
            Role::Listener(queue) => {
                let ready = |index: &usize| {
                    self.sockets[*index].connection().is_some_and(|peer| {
                        !matches!(
                            peer.tcp.state(),
                            State::Listen | State::SynReceived | State::Closed
                        )
                    })
                };
                if queue.iter().any(ready) {
                    names.extend(["POLLIN", "POLLRDNORM"]);
                }
            }
            Role::Connection(peer) => {
                let state = peer.tcp.state();
                let ended = peer.tcp.has_ended() || peer.tcp.is_read_shutdown();
                let closed = state == State::Closed;
                if peer.tcp.readable() > 0 || ended || closed {
                    names.extend(["POLLIN", "POLLRDNORM"]);
                }
                if ended || closed {
                    names.push("POLLRDHUP");
                }
                if closed || ended && peer.shut {
                    names.push("POLLHUP");
                }
                if !peer.tcp.nospace() || closed || peer.shut {
                    names.extend(["POLLOUT", "POLLWRNORM"]);
                }
                if peer.tcp.failure().is_some() && !peer.error_reported {
                    names.push("POLLERR");
                }
            }
        }
        names
    }
}
