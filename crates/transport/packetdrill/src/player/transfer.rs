//! System calls that write and read.

use tcp::{SendFlags, State};

use super::Player;
use super::calls::{CallError, CallOutcome, CallResult, not_modelled};
use crate::script::Expression;

impl Player {
    /// Writes the rest of `bytes`, of which `done` are already written.
    pub(super) fn write(
        &mut self,
        arguments: &[Expression],
        bytes: u64,
        flags: Option<&Expression>,
        done: u64,
    ) -> CallOutcome {
        let index = self.socket(arguments)?;
        let flag = |word: &str| flags.is_some_and(|flags| flags.has_word(word));
        if arguments
            .get(1)
            .is_some_and(|buffer| buffer.has_word("NULL"))
            && bytes > 0
        {
            return Err(CallError::Errno("EFAULT"));
        }
        let now = self.now;
        let can_block = !(self.sockets[index].is_nonblocking || flag("MSG_DONTWAIT"));
        let Some(connection) = self.sockets[index].connection_mut() else {
            return Err(CallError::Errno("EPIPE"));
        };
        if let Some(errno) = connection.take_failure() {
            return Err(CallError::Errno(errno));
        }
        match connection.tcp.state() {
            State::SynSent if can_block => return Ok(CallResult::Blocks(done)),
            State::SynSent => return Err(CallError::Errno("EAGAIN")),
            State::Established | State::CloseWait if !connection.is_write_shutdown => {}
            _ => return Err(CallError::Errno("EPIPE")),
        }
        let send_flags = if flag("MSG_EOR") {
            SendFlags::Record
        } else if flag("MSG_MORE") {
            SendFlags::More
        } else {
            SendFlags::Message
        };
        let accepted = connection
            .tcp
            .write_with_flags(now, bytes - done, send_flags);
        let written = done + accepted;
        if written == bytes {
            Ok(CallResult::Value(written as i64))
        } else if can_block {
            Ok(CallResult::Blocks(written))
        } else if written == 0 {
            Err(CallError::Errno("EAGAIN"))
        } else {
            Ok(CallResult::Value(written as i64))
        }
    }

    /// Reads up to `bytes`.
    pub(super) fn read(
        &mut self,
        arguments: &[Expression],
        bytes: u64,
        flags: Option<&Expression>,
    ) -> CallOutcome {
        let index = self.socket(arguments)?;
        let flag = |word: &str| flags.is_some_and(|flags| flags.has_word(word));
        let now = self.now;
        let can_block = !(self.sockets[index].is_nonblocking || flag("MSG_DONTWAIT"));
        let Some(connection) = self.sockets[index].connection_mut() else {
            return Err(CallError::Errno("ENOTCONN"));
        };
        let readable = connection.tcp.readable();
        if readable > 0 {
            if arguments
                .get(1)
                .is_some_and(|buffer| buffer.has_word("NULL"))
            {
                return Err(CallError::Errno("EFAULT"));
            }
            if flag("MSG_WAITALL") && readable < bytes && can_block && !connection.tcp.has_ended() {
                return Ok(CallResult::Blocks(0));
            }
            let accepted = if flag("MSG_PEEK") {
                readable.min(bytes)
            } else {
                connection.tcp.read(now, bytes)
            };
            return Ok(CallResult::Value(accepted as i64));
        }
        if connection.tcp.has_ended() {
            return Ok(CallResult::Value(0));
        }
        if let Some(errno) = connection.take_failure() {
            return Err(CallError::Errno(errno));
        }
        match connection.tcp.state() {
            State::Closed => Ok(CallResult::Value(0)),
            _ if connection.tcp.is_read_shutdown() => Ok(CallResult::Value(0)),
            _ if can_block => Ok(CallResult::Blocks(0)),
            _ => Err(CallError::Errno("EAGAIN")),
        }
    }

    /// Reads with `recvmsg`, and compares the control messages with the expected ones.
    pub(super) fn receive_message(&mut self, arguments: &[Expression]) -> CallOutcome {
        if arguments
            .get(2)
            .is_some_and(|flags| flags.has_word("MSG_ERRQUEUE"))
        {
            return not_modelled("the error queue");
        }
        let message = arguments.get(1);
        let bytes = iovec_bytes(message.and_then(|message| message.field("msg_iov")));
        let result = self.read(arguments, bytes, arguments.get(2))?;
        let control = message.and_then(|message| message.field("msg_control"));
        if let (Some(Expression::List(list)), CallResult::Value(_)) = (control, &result) {
            for entry in list {
                if !entry
                    .field("cmsg_type")
                    .is_some_and(|kind| kind.has_word("TCP_CM_INQ"))
                {
                    return not_modelled("control messages");
                }
                let inq = self.inq_hint(arguments);
                if entry.field("cmsg_data") != Some(&Expression::Number(inq)) {
                    return Ok(CallResult::Other(format!("TCP_CM_INQ = {inq}")));
                }
            }
        }
        Ok(result)
    }

    /// Returns the bytes that wait to be read; one more if the stream has ended after them (the kernel's
    /// `tcp_inq_hint`).
    fn inq_hint(&self, arguments: &[Expression]) -> i64 {
        let socket = self.socket(arguments).ok();
        let connection = socket.and_then(|socket| self.sockets[socket].connection());
        connection.map_or(0, |connection| match connection.tcp.readable() {
            0 => i64::from(connection.tcp.has_ended()),
            bytes => bytes as i64,
        })
    }
}

/// Returns the bytes of a length argument; zero if it is no number.
pub(super) fn bytes_of(argument: Option<&Expression>) -> u64 {
    match argument {
        Some(Expression::Number(number)) => number.max(&0).unsigned_abs(),
        _ => 0,
    }
}

/// Returns the bytes of all vectors of `[{..., 100}, {..., 50}]`.
pub(super) fn iovec_bytes(argument: Option<&Expression>) -> u64 {
    match argument {
        Some(Expression::List(list)) => list
            .iter()
            .map(|vector| match vector {
                Expression::List(pair) => bytes_of(pair.get(1)),
                _ => 0,
            })
            .sum(),
        _ => 0,
    }
}
