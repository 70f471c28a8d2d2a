//! What a scenario consists of.

mod buffer;
mod capacity;
mod cca;
mod cross;
mod flow;
mod impairment;
mod kernel;
mod lineup;
mod path;
mod queue;
pub mod radio;
mod scenario;
mod switch;
mod tcp;
mod workload;

pub use buffer::Buffer;
pub use capacity::{Capacity, Generate, Step, TraceFile, TraceFormat};
pub use cca::{CcaChoice, Parameter, cca_called};
pub use cross::Cross;
pub use flow::{Flow, Opens};
pub use impairment::{GilbertElliott, Jitter, JitterDistribution, Loss};
pub use kernel::{Kernel, kernel_text};
pub use lineup::Lineup;
pub use path::{ExtraLink, Path, WiredHop};
pub use queue::{Codel, FqCodel, Pie, Queue, Threshold};
pub use radio::Radio;
pub use scenario::{Samples, Scenario, Variation};
pub use switch::{Switch, Takeover};
pub use tcp::{Tcp, Tso, WindowScale};
pub use workload::{Bulk, OnOff, RequestResponse, Sequence, Workload};
