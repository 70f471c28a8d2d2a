//! Player of packetdrill scripts: runs a script's calls and packets against the native TCP in virtual time.
//!
//! packetdrill is the tool that Linux's TCP is tested with. A script is a list of events with times: calls of an
//! application, packets that the peer sends, packets that TCP must send. [`parse`] reads a script, [`play`] plays
//! it. The assertions of a script are Python, so their code and the values that it may name are returned to the caller.

mod compare;
mod info;
mod lexer;
mod parser;
mod player;
mod script;
mod settings;
mod shell;
mod supported;

pub use info::Fields;
pub use parser::parse;
pub use player::play;
pub use script::Script;

use thiserror::Error;

/// Error in the language of a script.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("line {line}: {message}")]
pub struct SyntaxError {
    /// Line, from one.
    pub line: u32,
    /// Description of the error.
    pub message: String,
}

/// Result of a script.
#[derive(Clone, PartialEq, Debug)]
pub struct Report {
    /// Whether the script was played to its end, or why not.
    pub verdict: Verdict,
    /// Assertions that were reached, in order.
    pub assertions: Vec<Assertion>,
}

/// Verdict on a script.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// Every event happened as in the script.
    Passed,
    /// An event differed from the script.
    Failed(Difference),
    /// The script needs a feature that the native TCP lacks.
    NotApplicable {
        /// Line that needs it.
        line: u32,
        /// Feature that is missing.
        reason: String,
    },
}

/// First difference between a script and the TCP.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Difference {
    /// Line of the event.
    pub line: u32,
    /// Event that the script expects.
    pub expected: String,
    /// Event that was seen.
    pub actual: String,
    /// Name of what differs.
    pub reason: String,
}

/// Assertion on TCP_INFO: Python code and the values of the names it may use.
#[derive(Clone, PartialEq, Debug)]
pub struct Assertion {
    /// Line of the code.
    pub line: u32,
    /// Python code, without the delimiters.
    pub code: String,
    /// Values of the socket under test.
    pub fields: Fields,
}
