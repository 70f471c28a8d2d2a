//! Packets: TCP segments with their options, and ICMP messages.

use super::Parser;
use crate::SyntaxError;
use crate::lexer::Token;
use crate::parser::begins_event;
use crate::script::{EventKind, Icmp, IpEcn, Packet, TcpOption};

/// Letters of TCP flags.
const FLAGS: &str = "SFRPEWUAC";

impl Parser {
    /// Parses the packet after `<` or `>`.
    pub(super) fn packet(&mut self, inbound: bool) -> Result<EventKind, SyntaxError> {
        let (mut ecn, mut quoted) = (None, None);
        if self.take_mark('[') {
            if matches!(self.peek(), Some(Token::Number(_))) {
                quoted = Some(self.sequence()?);
                self.expect_mark(']')?;
            } else {
                ecn = self.ip_fields(']')?;
            }
        } else if self.take_mark('(') {
            ecn = self.ip_fields(')')?;
        }
        if let Some(Token::Word(word)) = self.peek().cloned() {
            match word.as_str() {
                "icmp" => {
                    self.index += 1;
                    return self.icmp(quoted);
                }
                "udp" | "udplite" => return self.skip_packet("UDP"),
                "sctp" => return self.skip_packet("SCTP"),
                "ipv4" | "ipv6" | "gre" | "GREv0" | "mpls" | "encap" => {
                    return self.skip_packet("encapsulation");
                }
                _ => {}
            }
        }
        if matches!(self.peek(), Some(Token::Number(text)) if !text.starts_with('.')) {
            // Ports in front of the flags: the second connection of a script.
            return self.skip_packet("packets with ports");
        }
        let Some(flags) = self.flags()? else {
            return self.skip_packet("AccECN");
        };
        let mut packet = Packet {
            flags,
            ecn,
            ..Packet::default()
        };
        (packet.seq, packet.len) = self.sequence()?;
        if self.take_word("ack") {
            packet.ack = Some(self.number("acknowledgement number")?);
        }
        if self.take_word("win") {
            packet.window = Some(self.number("window")?);
        }
        let urgent = self.take_word("urg");
        if urgent {
            self.number::<u16>("urgent pointer")?;
        }
        packet.options = self.options()?;
        if self.next_is('{') {
            return self.skip_packet("packets that are changed at random (mut)");
        }
        if urgent || packet.flags.contains('U') {
            return Ok(EventKind::Unsupported("urgent data"));
        }
        if packet.flags.contains('A') {
            return Ok(EventKind::Unsupported("AccECN"));
        }
        Ok(if inbound {
            EventKind::In(packet)
        } else {
            EventKind::Out(packet)
        })
    }

    /// Skips a packet of a kind that is not modelled, up to a line that begins with the time of an event.
    fn skip_packet(&mut self, feature: &'static str) -> Result<EventKind, SyntaxError> {
        loop {
            self.skip_line();
            if self.peek().is_none_or(begins_event) {
                return Ok(EventKind::Unsupported(feature));
            }
        }
    }

    /// Parses the fields of the IP header between brackets; only the ECN field matters.
    fn ip_fields(&mut self, close: char) -> Result<Option<IpEcn>, SyntaxError> {
        let mut ecn = None;
        while !self.take_mark(close) {
            match self.peek() {
                Some(Token::Word(word)) => {
                    ecn = match word.as_str() {
                        "noecn" => Some(IpEcn::None),
                        "ect0" => Some(IpEcn::Ect0),
                        "ect1" => Some(IpEcn::Ect1),
                        "ect01" => Some(IpEcn::EitherEct),
                        "ce" => Some(IpEcn::Ce),
                        "tos" | "flowlabel" | "ttl" => ecn,
                        other => {
                            return self.reject(format!("{other} is no field of the IP header"));
                        }
                    };
                    self.index += 1;
                }
                Some(Token::Number(_) | Token::Mark(',')) => self.index += 1,
                _ => return self.expected_error("a field of the IP header"),
            }
        }
        Ok(ecn)
    }

    /// Parses the flags; `None` if they carry the counter of AccECN.
    fn flags(&mut self) -> Result<Option<String>, SyntaxError> {
        let mut flags = String::new();
        if self.take_mark('-') {
            return Ok(Some(flags));
        }
        if let Some(Token::Word(word)) = self.peek().cloned() {
            // `P5` has the counter of AccECN in place of the acknowledgement flag.
            if word.chars().skip(1).any(|letter| letter.is_ascii_digit()) {
                return Ok(None);
            }
            if let Some(other) = word.chars().find(|letter| !FLAGS.contains(*letter)) {
                return self.reject(format!("{other} in {word} is no TCP flag"));
            }
            flags = word;
            self.index += 1;
        }
        if matches!(self.peek(), Some(Token::Number(text)) if text.starts_with('.')) {
            return Ok(None);
        }
        if self.take_mark('.') {
            flags.push('.');
        }
        if flags.is_empty() {
            self.expected_error("TCP flags")
        } else {
            Ok(Some(flags))
        }
    }

    /// Parses `first:end(length)`; returns the first number and the length.
    fn sequence(&mut self) -> Result<(u32, u32), SyntaxError> {
        let first: u32 = self.number("sequence number")?;
        self.expect_mark(':')?;
        let end: u32 = self.number("sequence number")?;
        self.expect_mark('(')?;
        let len: u32 = self.number("payload")?;
        self.expect_mark(')')?;
        if end.wrapping_sub(first) != len {
            return self.reject(format!("{first}:{end} are not {len} bytes"));
        }
        Ok((first, len))
    }

    /// Parses the options; none if there are no angle brackets.
    fn options(&mut self) -> Result<Option<Vec<TcpOption>>, SyntaxError> {
        // `<` with a time after the packet would be an event, but an event begins with its time.
        if !self.take_mark('<') {
            return Ok(Some(Vec::new()));
        }
        if self.peek() == Some(&Token::Ellipsis) {
            self.index += 1;
            self.expect_mark('>')?;
            return Ok(None);
        }
        let mut options = Vec::new();
        while !self.take_mark('>') {
            if !options.is_empty() {
                self.expect_mark(',')?;
            }
            options.push(self.option()?);
        }
        Ok(Some(options))
    }

    fn option(&mut self) -> Result<TcpOption, SyntaxError> {
        let name = self.expect_word()?;
        Ok(match name.as_str() {
            "nop" => TcpOption::Nop,
            "eol" => TcpOption::Eol,
            "mss" if self.next_is_symbol() => {
                self.skip_unmodelled("a symbol that it does not define")
            }
            "mss" => TcpOption::Mss(self.number("mss")?),
            "wscale" => TcpOption::WindowScale(self.number("wscale")?),
            "sackOK" => TcpOption::SackPermitted,
            "sack" => self.sack()?,
            "TS" => {
                if !self.take_word("val") {
                    return self.expected_error("val");
                }
                let value = self.number("timestamp")?;
                if !self.take_word("ecr") {
                    return self.expected_error("ecr");
                }
                TcpOption::Timestamps(value, self.number("timestamp")?)
            }
            "FO" | "FOEXP" => self.skip_unmodelled("Fast Open"),
            "md5" | "ao" => self.skip_unmodelled("TCP MD5 and AO"),
            "ECN" | "accecn" | "AccECN" | "exp" | "e1b" | "e0b" | "ceb" => {
                self.skip_unmodelled("AccECN")
            }
            "dss" | "add_address" | "add_addr" | "remove_addr" | "rm_addr" => {
                self.skip_unmodelled("MPTCP")
            }
            name if name.starts_with("mpc") || name.starts_with("mp_") => {
                self.skip_unmodelled("MPTCP")
            }
            other => return self.reject(format!("{other} is no TCP option")),
        })
    }

    fn sack(&mut self) -> Result<TcpOption, SyntaxError> {
        let mut blocks = Vec::new();
        while matches!(self.peek(), Some(Token::Number(_))) {
            let left = self.number("left edge")?;
            self.expect_mark(':')?;
            blocks.push((left, self.number("right edge")?));
        }
        if blocks.is_empty() {
            self.expected_error("a SACK block")
        } else {
            Ok(TcpOption::Sack(blocks))
        }
    }

    /// Skips the arguments of an option that is not modelled; lists in brackets are among them.
    fn skip_unmodelled(&mut self, feature: &'static str) -> TcpOption {
        let mut depth = 0_u32;
        while let Some(token) = self.peek() {
            match token {
                Token::Mark('[') => depth += 1,
                Token::Mark(']') => depth = depth.saturating_sub(1),
                Token::Mark(',') if depth == 0 => break,
                Token::Mark('>') => break,
                _ => {}
            }
            self.index += 1;
        }
        TcpOption::Unmodelled(feature)
    }

    /// Returns whether the next token is a name in capital letters.
    fn next_is_symbol(&self) -> bool {
        matches!(self.peek(), Some(Token::Word(word)) if word.starts_with(|c: char| c.is_ascii_uppercase()))
    }

    /// Parses the message after `icmp`. `quoted` are the sequence number and the length of the quoted packet, if they stand
    /// before `icmp`.
    fn icmp(&mut self, quoted: Option<(u32, u32)>) -> Result<EventKind, SyntaxError> {
        let kind = self.expect_word()?;
        let mut icmp = Icmp {
            kind,
            code: String::new(),
            mtu: None,
            quoted: quoted.unwrap_or_default(),
        };
        if !self.peek_is_word("mtu") && matches!(self.peek(), Some(Token::Word(_))) {
            icmp.code = self.expect_word()?;
        }
        if self.take_word("mtu") {
            icmp.mtu = Some(self.number("mtu")?);
        }
        if self.take_mark('[') {
            if matches!(self.peek(), Some(Token::Word(_))) {
                return self.skip_packet("ICMP about other protocols");
            }
            icmp.quoted = self.sequence()?;
            self.expect_mark(']')?;
        }
        Ok(EventKind::Icmp(icmp))
    }

    fn peek_is_word(&self, word: &str) -> bool {
        matches!(self.peek(), Some(Token::Word(next)) if next == word)
    }
}
