//! Socket options.

use cca::cca_by_name;
use tcp::TcpConfig;
use units::{Duration, Rate};

use super::Player;
use super::calls::{CallError, CallOutcome, CallResult, not_modelled};
use super::socket::Role;
use crate::script::Expression;

/// Options that change nothing for the TCP.
const WITHOUT_EFFECT: &[&str] = &[
    "SO_REUSEADDR",
    "SO_REUSEPORT",
    "SO_MARK",
    "SO_PRIORITY",
    "SO_INCOMING_CPU",
    "IP_TOS",
    "IPV6_TCLASS",
    "IP_MTU_DISCOVER",
    "IPV6_MTU_DISCOVER",
    "IP_FREEBIND",
    "IP_RECVERR",
    "IPV6_RECVERR",
    "IP_TTL",
    "TCP_INQ",
    "TCP_LINGER2",
    "SO_BUSY_POLL",
    "SO_DEBUG",
    "IP_TRANSPARENT",
];

/// Options of a socket, which the connections of a listening socket inherit.
#[derive(Clone, Debug, Default)]
pub(super) struct Options {
    /// Memory of the buffers, bytes.
    pub(super) receive_buffer: Option<u64>,
    pub(super) send_buffer: Option<u64>,
    pub(super) congestion_control: Option<String>,
    nodelay: bool,
    cork: bool,
    user_timeout: Option<Duration>,
    maxseg: Option<u32>,
    syn_retries: Option<u32>,
    /// Bytes per second.
    max_pacing_rate: Option<u64>,
    /// Seconds that `close` lingers, if `SO_LINGER` is on.
    pub(super) linger: Option<i64>,
}

impl Options {
    /// Sets the options in the configuration of a connection.
    pub(super) fn apply(&self, config: &mut TcpConfig) {
        config.nagle = !self.nodelay;
        config.user_timeout = self.user_timeout;
        if let Some(mss) = self.maxseg {
            let header = if config.settings.timestamps { 12 } else { 0 };
            config.mss = config.mss.min(mss.saturating_sub(header));
        }
        if let Some(retries) = self.syn_retries {
            config.syn_retries = retries;
        }
        if let Some(rate) = self.max_pacing_rate {
            config.max_pacing_rate = Rate::from_bits_per_second(rate.saturating_mul(8));
        }
    }
}

impl Player {
    /// Executes `setsockopt(fd, level, name, value, length)`.
    pub(super) fn set_option(&mut self, arguments: &[Expression]) -> CallOutcome {
        let socket = self.socket(arguments)?;
        let (Some(Expression::Word(name)), Some(value)) = (arguments.get(2), arguments.get(3))
        else {
            return not_modelled("setsockopt with these arguments");
        };
        if WITHOUT_EFFECT.contains(&name.as_str()) {
            return Ok(CallResult::Value(0));
        }
        let now = self.now;
        let min_send_buffer = 4_608;
        let socket = &mut self.sockets[socket];
        let is_unconnected = !matches!(socket.role, Role::Connection(_));
        let options = &mut socket.options;
        if name == "TCP_CONGESTION" {
            let Expression::Text(cca) = value else {
                return not_modelled("TCP_CONGESTION without a name");
            };
            let built = cca_by_name(cca)
                .map_err(|_| CallError::NotModelled(format!("the congestion control {cca}")))?;
            options.congestion_control = Some(cca.clone());
            if let Role::Connection(connection) = &mut socket.role {
                connection.tcp.switch(now, built, cca::SwitchMode::Kernel);
            }
            return Ok(CallResult::Value(0));
        }
        if name == "SO_LINGER" {
            let number = |field: &str| match value.field(field) {
                Some(Expression::Number(number)) => *number,
                _ => 0,
            };
            options.linger = (number("onoff") != 0).then(|| number("linger"));
            return Ok(CallResult::Value(0));
        }
        let Some(number) = first_number(value) else {
            return not_modelled(format!("setsockopt {name} with this value"));
        };
        let positive = number.max(0).unsigned_abs();
        match name.as_str() {
            "TCP_NODELAY" => options.nodelay = number != 0,
            "TCP_CORK" => options.cork = number != 0,
            "TCP_USER_TIMEOUT" => {
                options.user_timeout = (number > 0).then(|| Duration::from_millis(positive))
            }
            "SO_SNDBUF" => options.send_buffer = Some((2 * positive).max(min_send_buffer)),
            "SO_RCVBUF" if is_unconnected => {
                options.receive_buffer = Some((2 * positive).max(2_304))
            }
            "TCP_MAXSEG" if is_unconnected && !(88..=32_767).contains(&number) => {
                return Err(CallError::Errno("EINVAL"));
            }
            "TCP_MAXSEG" if is_unconnected => options.maxseg = Some(positive as u32),
            "TCP_SYNCNT" => options.syn_retries = Some(positive as u32),
            "SO_MAX_PACING_RATE" if is_unconnected => options.max_pacing_rate = Some(positive),
            "TCP_QUICKACK" => {}
            "SO_KEEPALIVE" | "TCP_KEEPIDLE" | "TCP_KEEPINTVL" | "TCP_KEEPCNT" => {
                return not_modelled("keep-alive");
            }
            _ if is_unconnected => return not_modelled(format!("the socket option {name}")),
            _ => return not_modelled(format!("the socket option {name} of an open connection")),
        }
        let (nodelay, cork) = (options.nodelay, options.cork);
        let (user_timeout, send_buffer) = (options.user_timeout, options.send_buffer);
        if let Role::Connection(connection) = &mut socket.role {
            match name.as_str() {
                "TCP_NODELAY" => connection.tcp.set_nagle(now, !nodelay),
                "TCP_CORK" => connection.tcp.set_cork(now, cork),
                "TCP_USER_TIMEOUT" => connection.tcp.set_user_timeout(user_timeout),
                "SO_SNDBUF" => connection
                    .tcp
                    .set_send_buffer(send_buffer.unwrap_or_default()),
                "TCP_QUICKACK" if number != 0 => connection.tcp.set_quickack(now),
                _ => {}
            }
        }
        self.collect_all();
        Ok(CallResult::Value(0))
    }

    /// Executes `getsockopt(fd, level, name, value, length)`; the value is compared with the expected one.
    pub(super) fn get_option(&mut self, arguments: &[Expression]) -> CallOutcome {
        let index = self.socket(arguments)?;
        let socket = &mut self.sockets[index];
        let (Some(Expression::Word(name)), Some(value)) = (arguments.get(2), arguments.get(3))
        else {
            return not_modelled("getsockopt with these arguments");
        };
        let [_, rmem, _] = self.settings.triple("tcp_rmem");
        let [_, wmem, _] = self.settings.triple("tcp_wmem");
        let options = &socket.options;
        let seen = match name.as_str() {
            "SO_ERROR" => {
                let failure = socket
                    .connection_mut()
                    .and_then(super::socket::TestConnection::take_failure);
                failure.unwrap_or("0").to_owned()
            }
            "SO_SNDBUF" => options.send_buffer.unwrap_or(wmem).to_string(),
            "SO_RCVBUF" => options.receive_buffer.unwrap_or(rmem).to_string(),
            "TCP_NODELAY" => i64::from(options.nodelay).to_string(),
            "TCP_CORK" => i64::from(options.cork).to_string(),
            "TCP_USER_TIMEOUT" => options
                .user_timeout
                .map_or(0, Duration::as_millis)
                .to_string(),
            "TCP_CONGESTION" => {
                let routed = self.settings.congestion_control();
                options
                    .congestion_control
                    .as_deref()
                    .unwrap_or(routed)
                    .to_owned()
            }
            "TCP_MAXSEG" => match socket.connection() {
                Some(connection) => connection.tcp.view().mss.to_string(),
                None => options.maxseg.unwrap_or(536).to_string(),
            },
            other => return not_modelled(format!("the socket option {other}")),
        };
        let expected = match value {
            Expression::List(list) => list.first(),
            single => Some(single),
        };
        let same = match expected {
            Some(Expression::Number(number)) => number.to_string() == seen,
            Some(Expression::Word(text) | Expression::Text(text)) => *text == seen,
            _ => true,
        };
        Ok(if same {
            CallResult::Value(0)
        } else {
            CallResult::Other(format!("{name} = {seen}"))
        })
    }
}

/// Returns the number of `[number]` or `number`.
fn first_number(value: &Expression) -> Option<i64> {
    match value {
        Expression::Number(number) => Some(*number),
        Expression::List(list) => list.first().and_then(first_number),
        _ => None,
    }
}
