//! Host side: opens a library, and makes catalogue entries of its CCAs.
#![allow(unsafe_code)]

use core::ptr::NonNull;
use std::path::Path;

use cca::parameters::Setting;
use cca::slow_start::Method;
use cca::{
    Ack, AckKind, AckSample, CaState, CcaInfo, CongestionControl, Event, Family, Lost, Parameter,
    Settings, SlowStart, TransferState, Window,
};
use serde::{Deserialize, Serialize};

use crate::abi::{Call, LAYOUT, Library, Query, SlowStartHandle, StringWriter, VERSION};
use crate::library::Instance;

/// Function that is called with the message of a panic in a CCA.
pub(crate) type PanicHandler = fn(String);

/// Description of a CCA, as its library writes it.
#[derive(Serialize, Deserialize)]
pub(crate) struct CcaDescription {
    pub(crate) name: String,
    pub(crate) title: String,
    pub(crate) reference: String,
    pub(crate) year: u16,
    pub(crate) slow_start: Option<String>,
    pub(crate) parameters: Vec<ParameterDescription>,
}

/// Description of a parameter, as its library writes it.
#[derive(Serialize, Deserialize)]
pub(crate) struct ParameterDescription {
    pub(crate) name: String,
    pub(crate) meaning: String,
    pub(crate) unit: String,
    pub(crate) source: String,
    pub(crate) default: String,
    pub(crate) allowed: String,
}

/// Opens a library and returns the catalogue entries of its CCAs. The library stays open for the life of the process.
///
/// # Errors
/// The file is no library that can be opened, it exports no CCA, or it was built for another version of the ABI.
pub fn load(file: &Path, on_panic: PanicHandler) -> Result<Vec<CcaInfo>, String> {
    let path_text = file.display();
    // The system would search its own folders for a name without a folder.
    let path = file.canonicalize();
    let path = path.map_err(|error| format!("{path_text}: {error}"))?;
    // SAFETY: code that runs when a library is opened can do anything; the user has named the file to be run.
    let opened = unsafe { libloading::Library::new(&path) };
    let opened =
        opened.map_err(|error| format!("{path_text}: cannot be opened as a library: {error}"))?;
    // SAFETY: a symbol of this name is made by `export!` alone, with this type, whose first field all versions have.
    let symbol = unsafe { opened.get::<*const Library>(b"CELLTCP_LIBRARY\0") };
    let table = *symbol.map_err(|_| {
        format!(
            "{path_text}: exports no congestion control; allowed: a library with cca_plugin::export!(...)"
        )
    })?;
    // SAFETY: as above; and the library stays open, so that the table is there for good.
    let table: &'static Library = unsafe { &*table };
    let ccas = load_entries(table, on_panic).map_err(|error| format!("{path_text}: {error}"))?;
    core::mem::forget(opened);
    Ok(ccas)
}

/// Returns the catalogue entries of the CCAs in the table of a library.
///
/// # Errors
/// The library was built for another version of the ABI.
pub fn load_entries(
    library: &'static Library,
    on_panic: PanicHandler,
) -> Result<Vec<CcaInfo>, String> {
    // Only the version has the same place in all versions.
    if library.version != VERSION || library.layout != LAYOUT {
        return Err(format!(
            "built for plugin ABI {}, expected {VERSION}; rebuild with the crates of celltcp {}",
            library.version,
            env!("CARGO_PKG_VERSION")
        ));
    }
    (0..library.count)
        .map(|number| entry(library, number, on_panic))
        .collect()
}

/// Returns the catalogue entry of a CCA, which lives as long as the process.
fn entry(
    library: &'static Library,
    number: usize,
    on_panic: PanicHandler,
) -> Result<CcaInfo, String> {
    let entry = move || library.entries.wrapping_add(number);
    let mut text = String::new();
    // SAFETY: the library has `count` entries, and `number` is less.
    unsafe { (library.describe)(entry(), StringWriter::to(&mut text)) };
    let description: CcaDescription =
        serde_json::from_str(&text).map_err(|error| error.to_string())?;
    let name = leak(description.name);
    let slow_start = description.slow_start.as_deref().map(|method| {
        Method::read(method).ok_or_else(|| format!("{name}: {method:?} is no slow-start method"))
    });
    let parameters = description.parameters.into_iter().map(|parameter| {
        let (parameter_name, default, allowed) =
            (leak(parameter.name), parameter.default, parameter.allowed);
        Parameter {
            name: parameter_name,
            meaning: leak(parameter.meaning),
            unit: leak(parameter.unit),
            source: leak(parameter.source),
            default: Box::leak(Box::new(move || default.clone())),
            allowed: Box::leak(Box::new(move || allowed.clone())),
            canonical: Box::leak(Box::new(move |value: &str| {
                let mut text = String::new();
                // SAFETY: as above.
                let is_allowed = unsafe {
                    (library.canonical)(
                        entry(),
                        parameter_name.into(),
                        value.into(),
                        StringWriter::to(&mut text),
                    )
                };
                is_allowed.then_some(text)
            })),
        }
    });
    let build = move |settings: &Settings| {
        let text = serde_json::to_string(settings).unwrap_or_default();
        // SAFETY: as above.
        let instance = unsafe { (library.build)(entry(), text.as_str().into()) };
        let plugin = PluginCca {
            library,
            name,
            instance: NonNull::new(instance),
            on_panic,
        };
        if plugin.instance.is_none() {
            on_panic(format!("{name}: its constructor has panicked"));
        }
        Box::new(plugin) as Box<dyn CongestionControl>
    };
    Ok(CcaInfo {
        name,
        aliases: &[],
        title: leak(description.title),
        family: Family::User,
        reference: leak(description.reference),
        year: description.year,
        linux: false,
        parameters: parameters.collect::<Vec<_>>().leak(),
        slow_start: slow_start.transpose()?,
        build: Box::leak(Box::new(build)),
    })
}

/// Returns a text that lives as long as the process.
fn leak(text: String) -> &'static str {
    Box::leak(text.into_boxed_str())
}

/// CCA of one connection, owned by a library.
#[derive(Debug)]
struct PluginCca {
    library: &'static Library,
    name: &'static str,
    /// CCA; `None` after a panic, when the run is about to end.
    instance: Option<NonNull<Instance>>,
    on_panic: PanicHandler,
}

// SAFETY: the instance holds a `dyn CongestionControl`, which is `Send`, and nothing else points to it.
unsafe impl Send for PluginCca {}

impl PluginCca {
    fn call(&mut self, window: &mut Window, call: Call<'_>) -> Option<u32> {
        let instance = self.instance?.as_ptr();
        // SAFETY: the instance is of the `build` of this library, and `self` is borrowed mutably.
        let result = unsafe { (self.library.call)(instance, window, call) };
        if !result.has_panicked {
            return Some(result.value);
        }
        let mut message = String::new();
        // SAFETY: as above.
        unsafe { (self.library.failure)(instance, StringWriter::to(&mut message)) };
        self.free();
        (self.on_panic)(format!("{}: {message}", self.name));
        None
    }

    fn query(&self, query: Query<'_>) -> u32 {
        self.instance.map_or(0, |instance| {
            // SAFETY: the instance is of the `build` of this library.
            unsafe { (self.library.query)(instance.as_ptr(), query) }
        })
    }

    fn free(&mut self) {
        if let Some(instance) = self.instance.take() {
            // SAFETY: the instance is of the `build` of this library, and is taken out of `self`.
            unsafe { (self.library.free)(instance.as_ptr()) };
        }
    }
}

impl Drop for PluginCca {
    fn drop(&mut self) {
        self.free();
    }
}

impl CongestionControl for PluginCca {
    fn init(&mut self, window: &mut Window) {
        self.call(window, Call::Init);
    }

    fn seed(&mut self, window: &mut Window, state: &TransferState) {
        self.call(window, Call::Seed(state));
    }

    fn ssthresh(&mut self, window: &mut Window) -> u32 {
        self.call(window, Call::Ssthresh).unwrap_or(window.ssthresh)
    }

    fn pkts_acked(&mut self, window: &mut Window, sample: &AckSample) {
        self.call(window, Call::PktsAcked(&sample.into()));
    }

    fn in_ack_event(&mut self, window: &mut Window, kind: AckKind) {
        self.call(window, Call::InAckEvent(kind));
    }

    fn on_lost(&mut self, window: &mut Window, lost: &Lost) {
        self.call(window, Call::OnLost(lost));
    }

    fn grow(&mut self, window: &mut Window, mut slow_start: &mut dyn SlowStart, acked: u32) {
        self.call(
            window,
            Call::Grow(SlowStartHandle::of(&mut slow_start), acked),
        );
    }

    fn cong_avoid(&mut self, window: &mut Window, acked: u32) {
        self.call(window, Call::CongAvoid(acked));
    }

    fn has_cong_control(&self) -> bool {
        self.query(Query::HasCongControl) != 0
    }

    fn cong_control(&mut self, window: &mut Window, ack: &Ack) {
        self.call(window, Call::CongControl(&ack.into()));
    }

    fn set_state(&mut self, window: &mut Window, state: CaState) {
        self.call(window, Call::SetState(state));
    }

    fn cwnd_event(&mut self, window: &mut Window, event: Event) {
        self.call(window, Call::CwndEvent(event));
    }

    fn undo_cwnd(&mut self, window: &mut Window) -> u32 {
        self.call(window, Call::UndoCwnd).unwrap_or(window.cwnd)
    }

    fn min_tso_segs(&self, window: &Window) -> u32 {
        self.query(Query::MinTsoSegs(window)).max(1)
    }

    fn mode(&self, window: &Window) -> &'static str {
        self.instance.map_or("", |instance| {
            // SAFETY: the instance is of the `build` of this library, which stays loaded for the life of the process.
            unsafe { (self.library.mode)(instance.as_ptr(), window) }.as_str()
        })
    }

    fn needs_ecn(&self) -> bool {
        self.query(Query::NeedsEcn) != 0
    }

    fn sndbuf_expand(&self) -> u32 {
        self.query(Query::SndbufExpand).max(1)
    }
}
