//! Model: the sections of a scenario.

mod cca_mix;
mod flow;
mod kernel;
mod limits;
mod path;
mod scenario;
mod switch;

pub use ::radio::settings::{self as radio, Radio};
pub use ::tcp::{Tcp, Tso, WindowScale};
pub use cca_mix::{ALL, CcaMix, OWN};
pub use config::{Buffer, Cross, Parameter};
pub use flow::Flow;
pub use kernel::{Kernel, kernel_text};
pub use limits::Limits;
pub use link_trace::{Capacity, Generate, Step, TraceFile, TraceFormat};
pub use middlebox::{AckSemantics, Kind as MiddleboxKind, Middlebox};
pub use net::{
    Blackout, Codel, Estimator, FqCodel, GilbertElliott, Jitter, JitterDistribution, Loss, Pie,
    Policer, Queue, Threshold,
};
pub use path::{ExtraLink, Path, WiredHop};
pub use scenario::{Samples, Scenario, Variation};
pub use selection::{CcaChoice, DEFAULT_CCA};
pub use switch::Switch;
