//! System calls: their execution, and those that open and close connections.

use tcp::State;

use super::blocked_calls::call_text;
use super::socket::{Role, Socket, TestConnection, new_connection};
use super::transfer::{bytes_of, iovec_bytes};
use super::{PlayError, Player};
use crate::script::{Call, Expression};

/// Result of a call.
pub(super) enum CallResult {
    /// Value that it returns.
    Value(i64),
    /// It blocks after this number of bytes.
    Blocks(u64),
    /// Text of a result that differs from the expected one.
    Other(String),
}

/// Reason for which a call has no result.
pub(super) enum CallError {
    /// Name of the error that it returns.
    Errno(&'static str),
    /// Description of what is not modelled.
    NotModelled(String),
}

/// Outcome of a call.
pub(super) type CallOutcome = Result<CallResult, CallError>;

/// Returns the error of a call that is not modelled.
pub(super) fn not_modelled(description: impl Into<String>) -> CallOutcome {
    Err(CallError::NotModelled(description.into()))
}

impl Player {
    /// Executes a call of which `done` bytes are already written; fails if it is not modelled.
    pub(super) fn execute(
        &mut self,
        line: u32,
        call: &Call,
        done: u64,
    ) -> Result<CallResult, PlayError> {
        let outcome = self.dispatch(call, done);
        self.collect_all();
        match outcome {
            Ok(result) => Ok(result),
            Err(CallError::Errno(errno)) => Ok(match call.errno.as_deref() {
                Some(expected) if expected == errno => CallResult::Value(-1),
                _ => CallResult::Other(format!("{}() = -1 {errno}", call.name)),
            }),
            Err(CallError::NotModelled(reason)) => Err(PlayError::NotApplicable(line, reason)),
        }
    }

    /// Compares the result of a call with that of the script.
    pub(super) fn check_result(
        &self,
        line: u32,
        call: &Call,
        result: &CallResult,
    ) -> Result<(), PlayError> {
        let expected = call_text(call);
        match result {
            CallResult::Other(actual) => Self::fail(line, expected, actual.clone(), "result"),
            CallResult::Value(value) => match &call.result {
                Expression::Number(number)
                    if number != value || (*value >= 0 && call.errno.is_some()) =>
                {
                    Self::fail(
                        line,
                        expected,
                        format!("{}() = {value}", call.name),
                        "result",
                    )
                }
                _ => Ok(()),
            },
            CallResult::Blocks(_) => Self::fail(line, expected, "it blocks", "blocks"),
        }
    }

    /// Collects the segments that all connections have sent.
    pub(super) fn collect_all(&mut self) {
        for index in 0..self.sockets.len() {
            self.collect(index);
        }
    }

    fn dispatch(&mut self, call: &Call, done: u64) -> CallOutcome {
        let arguments = call.arguments.as_slice();
        match call.name.as_str() {
            "socket" => self.socket_call(call),
            "bind" => self.socket(arguments).map(|_| CallResult::Value(0)),
            "listen" => self.listen(arguments),
            "accept" | "accept4" => self.accept(call),
            "connect" => self.connect(arguments, done),
            "setsockopt" => self.set_option(arguments),
            "getsockopt" => self.get_option(arguments),
            "write" | "send" | "sendto" => self.write(
                arguments,
                bytes_of(arguments.get(2)),
                arguments.get(3),
                done,
            ),
            "writev" => self.write(arguments, iovec_bytes(arguments.get(1)), None, done),
            "sendmsg" => {
                let bytes = arguments
                    .get(1)
                    .and_then(|message| message.field("msg_iov"));
                self.write(arguments, iovec_bytes(bytes), arguments.get(2), done)
            }
            "read" | "recv" | "recvfrom" => {
                self.read(arguments, bytes_of(arguments.get(2)), arguments.get(3))
            }
            "readv" => self.read(arguments, iovec_bytes(arguments.get(1)), None),
            "recvmsg" => self.receive_message(arguments),
            "close" => self.close(arguments),
            "shutdown" => self.shutdown(arguments),
            "fcntl" => self.fcntl(arguments),
            "ioctl" => self.ioctl(arguments),
            "poll" => self.poll(arguments),
            "getpid" => Ok(CallResult::Value(1)),
            other => not_modelled(format!("the system call {other}")),
        }
    }

    /// Returns the socket of the descriptor in the first argument.
    pub(super) fn socket(&self, arguments: &[Expression]) -> Result<usize, CallError> {
        match arguments.first() {
            Some(Expression::Number(descriptor)) => self
                .descriptors
                .get(descriptor)
                .copied()
                .ok_or(CallError::Errno("EBADF")),
            _ => Err(CallError::Errno("EBADF")),
        }
    }

    /// Gives a socket the descriptor that the script expects.
    fn assign_descriptor(&mut self, socket: usize, call: &Call) -> CallResult {
        let descriptor = match &call.result {
            Expression::Number(number) if *number >= 0 => *number,
            _ => self.descriptors.keys().last().map_or(3, |last| last + 1),
        };
        self.descriptors.insert(descriptor, socket);
        CallResult::Value(descriptor)
    }

    fn socket_call(&mut self, call: &Call) -> CallOutcome {
        let mut socket = Socket::new(Role::Fresh);
        socket.is_nonblocking = call
            .arguments
            .iter()
            .any(|argument| argument.has_word("SOCK_NONBLOCK"));
        self.sockets.push(socket);
        Ok(self.assign_descriptor(self.sockets.len() - 1, call))
    }

    fn listen(&mut self, arguments: &[Expression]) -> CallOutcome {
        let socket = self.socket(arguments)?;
        self.sockets[socket].role = Role::Listener(Default::default());
        self.under_test = Some(socket);
        Ok(CallResult::Value(0))
    }

    fn accept(&mut self, call: &Call) -> CallOutcome {
        let listener = self.socket(&call.arguments)?;
        let Role::Listener(queue) = &self.sockets[listener].role else {
            return Err(CallError::Errno("EINVAL"));
        };
        let ready = queue.iter().position(|&index| {
            let state = self.sockets[index]
                .connection()
                .map(|connection| connection.tcp.state());
            !matches!(
                state,
                None | Some(State::Listen | State::SynReceived | State::Closed)
            )
        });
        let Some(position) = ready else {
            return if self.sockets[listener].is_nonblocking {
                Err(CallError::Errno("EAGAIN"))
            } else {
                Ok(CallResult::Blocks(0))
            };
        };
        let Role::Listener(queue) = &mut self.sockets[listener].role else {
            return Err(CallError::Errno("EINVAL"));
        };
        let Some(index) = queue.remove(position) else {
            return Err(CallError::Errno("EAGAIN"));
        };
        self.sockets[index].is_nonblocking = call
            .arguments
            .iter()
            .any(|argument| argument.has_word("SOCK_NONBLOCK"));
        Ok(self.assign_descriptor(index, call))
    }

    /// Opens a connection; `done` is 1 if the call has already blocked.
    fn connect(&mut self, arguments: &[Expression], done: u64) -> CallOutcome {
        let index = self.socket(arguments)?;
        let now = self.now;
        if let Role::Fresh = self.sockets[index].role {
            let mut tcp = new_connection(&self.settings, &self.sockets[index].options);
            tcp.connect(now);
            self.sockets[index].role = Role::Connection(Box::new(TestConnection::new(tcp)));
            self.under_test = Some(index);
            return if self.sockets[index].is_nonblocking {
                Err(CallError::Errno("EINPROGRESS"))
            } else {
                Ok(CallResult::Blocks(1))
            };
        }
        let Some(connection) = self.sockets[index].connection_mut() else {
            return Err(CallError::Errno("EINVAL"));
        };
        if let Some(errno) = connection.take_failure() {
            return Err(CallError::Errno(errno));
        }
        match connection.tcp.state() {
            State::SynSent if done > 0 => Ok(CallResult::Blocks(1)),
            State::SynSent => Err(CallError::Errno("EALREADY")),
            _ if done > 0 || !connection.has_connect_returned => {
                connection.has_connect_returned = true;
                Ok(CallResult::Value(0))
            }
            _ => Err(CallError::Errno("EISCONN")),
        }
    }

    fn close(&mut self, arguments: &[Expression]) -> CallOutcome {
        let index = self.socket(arguments)?;
        let Some(Expression::Number(descriptor)) = arguments.first() else {
            return Err(CallError::Errno("EBADF"));
        };
        self.descriptors.remove(descriptor);
        if self.descriptors.values().any(|other| *other == index) {
            return Ok(CallResult::Value(0));
        }
        let now = self.now;
        self.sockets[index].is_open = false;
        let mut unaccepted = Vec::new();
        if let Role::Listener(queue) = &mut self.sockets[index].role {
            unaccepted.extend(queue.drain(..));
        }
        for child in unaccepted {
            // They are reset (the kernel's `inet_csk_listen_stop`).
            if let Some(connection) = self.sockets[child].connection_mut() {
                connection.tcp.abort(now);
            }
        }
        let linger = self.sockets[index].options.linger;
        if let Some(connection) = self.sockets[index].connection_mut() {
            if linger == Some(0) || connection.tcp.readable() > 0 {
                connection.tcp.abort(now);
            } else {
                connection.tcp.detach(now);
            }
        }
        Ok(CallResult::Value(0))
    }

    fn shutdown(&mut self, arguments: &[Expression]) -> CallOutcome {
        let index = self.socket(arguments)?;
        let now = self.now;
        let shuts = |direction: &str| {
            let how = arguments.get(1);
            how.is_some_and(|how| how.has_word(direction) || how.has_word("SHUT_RDWR"))
        };
        let Some(connection) = self.sockets[index].connection_mut() else {
            return Err(CallError::Errno("ENOTCONN"));
        };
        if matches!(connection.tcp.state(), State::Closed | State::Listen) {
            return Err(CallError::Errno("ENOTCONN"));
        }
        if shuts("SHUT_RD") {
            connection.tcp.shutdown_read();
        }
        if shuts("SHUT_WR") {
            connection.is_write_shutdown = true;
            connection.tcp.close(now);
        }
        Ok(CallResult::Value(0))
    }
}
