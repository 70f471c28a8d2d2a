//! Library side: functions by which celltcp describes, creates and calls the CCAs of a library.
#![allow(unsafe_code)]

use core::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use cca::parameters::Setting;
use cca::{CcaInfo, CongestionControl, Settings, Window};

use crate::abi::{Call, CallResult, LAYOUT, Library, Query, StringWriter, Text, VERSION};
use crate::host::{CcaDescription, ParameterDescription};

/// CCA of one connection, owned by the library.
#[derive(Debug)]
pub(crate) struct Instance {
    cca: Box<dyn CongestionControl>,
    /// Message of the last panic.
    failure: String,
}

/// Returns the table of a library with these catalogue entries; [`crate::export!`] exports it.
pub const fn library(ccas: &'static [CcaInfo]) -> Library {
    Library {
        version: VERSION,
        layout: LAYOUT,
        count: ccas.len(),
        entries: ccas.as_ptr(),
        describe,
        canonical,
        build,
        call,
        query,
        mode,
        failure,
        free,
    }
}

/// Writes a [`CcaDescription`] as JSON.
///
/// # Safety
/// `cca` is one of the entries of the library, which are constants.
unsafe extern "C" fn describe(cca: *const CcaInfo, mut writer: StringWriter<'_>) {
    // SAFETY: as the function requires.
    let cca = unsafe { &*cca };
    let parameters = cca.parameters.iter().map(|parameter| ParameterDescription {
        name: parameter.name.to_owned(),
        meaning: parameter.meaning.to_owned(),
        unit: parameter.unit.to_owned(),
        source: parameter.source.to_owned(),
        default: (parameter.default)(),
        allowed: (parameter.allowed)(),
    });
    let description = CcaDescription {
        name: cca.name.to_owned(),
        title: cca.title.to_owned(),
        reference: cca.reference.to_owned(),
        year: cca.year,
        slow_start: cca.slow_start.map(|method| method.show()),
        parameters: parameters.collect(),
    };
    writer.write(&serde_json::to_string(&description).unwrap_or_default());
}

/// Writes the canonical form of the value of a parameter; returns false if it is not allowed.
///
/// # Safety
/// `cca` is one of the entries of the library, which are constants.
unsafe extern "C" fn canonical(
    cca: *const CcaInfo,
    name: Text<'_>,
    value: Text<'_>,
    mut writer: StringWriter<'_>,
) -> bool {
    // SAFETY: as the function requires.
    let cca = unsafe { &*cca };
    let mut parameters = cca.parameters.iter();
    let parameter = parameters.find(|parameter| parameter.name == name.as_str());
    let text = parameter.and_then(|parameter| (parameter.canonical)(value.as_str()));
    if let Some(text) = &text {
        writer.write(text);
    }
    text.is_some()
}

/// Creates a CCA; returns null if its constructor panics.
///
/// # Safety
/// `cca` is one of the entries of the library, which are constants.
unsafe extern "C" fn build(cca: *const CcaInfo, settings: Text<'_>) -> *mut Instance {
    // SAFETY: as the function requires.
    let cca = unsafe { &*cca };
    let settings: Settings = serde_json::from_str(settings.as_str()).unwrap_or_default();
    let built = catch_unwind(AssertUnwindSafe(|| (cca.build)(&settings)));
    built.map_or(core::ptr::null_mut(), |cca| {
        let failure = String::new();
        Box::into_raw(Box::new(Instance { cca, failure }))
    })
}

/// Calls a method of a CCA.
///
/// # Safety
/// `instance` is of [`build`], is not freed, and is used by this call alone.
unsafe extern "C" fn call(
    instance: *mut Instance,
    window: &mut Window,
    call: Call<'_>,
) -> CallResult {
    // SAFETY: as the function requires.
    let Instance { cca, failure } = unsafe { &mut *instance };
    let returned = catch_unwind(AssertUnwindSafe(|| {
        match call {
            Call::Init => cca.init(window),
            Call::Seed(state) => cca.seed(window, state),
            Call::Ssthresh => return cca.ssthresh(window),
            Call::PktsAcked(sample) => cca.pkts_acked(window, &sample.into()),
            Call::InAckEvent(kind) => cca.in_ack_event(window, kind),
            Call::OnLost(lost) => cca.on_lost(window, lost),
            Call::Grow(mut slow_start, acked) => cca.grow(window, &mut slow_start, acked),
            Call::CongAvoid(acked) => cca.cong_avoid(window, acked),
            Call::CongControl(ack) => cca.cong_control(window, &ack.into()),
            Call::SetState(state) => cca.set_state(window, state),
            Call::CwndEvent(event) => cca.cwnd_event(window, event),
            Call::UndoCwnd => return cca.undo_cwnd(window),
        }
        0
    }));
    match returned {
        Ok(value) => CallResult {
            value,
            has_panicked: false,
        },
        Err(panic) => {
            *failure = message(&*panic);
            CallResult {
                value: 0,
                has_panicked: true,
            }
        }
    }
}

/// Returns the message of a panic.
fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().cloned();
    let text = text.or_else(|| panic.downcast_ref::<&str>().map(|&text| text.to_owned()));
    text.unwrap_or_else(|| "a panic without a message".to_owned())
}

/// Calls a method of a CCA that changes nothing; returns 0 if it panics.
///
/// # Safety
/// `instance` is of [`build`], and is not freed.
unsafe extern "C" fn query(instance: *const Instance, query: Query<'_>) -> u32 {
    // SAFETY: as the function requires.
    let cca = unsafe { &(*instance).cca };
    let result = catch_unwind(AssertUnwindSafe(|| match query {
        Query::HasCongControl => u32::from(cca.has_cong_control()),
        Query::MinTsoSegs(window) => cca.min_tso_segs(window),
        Query::NeedsEcn => u32::from(cca.needs_ecn()),
        Query::SndbufExpand => cca.sndbuf_expand(),
    }));
    result.unwrap_or(0)
}

/// Returns the name of the current mode; empty if the method panics.
///
/// # Safety
/// `instance` is of [`build`], and is not freed.
unsafe extern "C" fn mode(instance: *const Instance, window: &Window) -> Text<'static> {
    // SAFETY: as the function requires.
    let cca = unsafe { &(*instance).cca };
    let mode = catch_unwind(AssertUnwindSafe(|| cca.mode(window)));
    mode.unwrap_or("").into()
}

/// Writes the message of the last panic.
///
/// # Safety
/// `instance` is of [`build`], and is not freed.
unsafe extern "C" fn failure(instance: *const Instance, mut writer: StringWriter<'_>) {
    // SAFETY: as the function requires.
    writer.write(unsafe { &(*instance).failure });
}

/// Destroys a CCA.
///
/// # Safety
/// `instance` is of [`build`], and is not used again.
unsafe extern "C" fn free(instance: *mut Instance) {
    // SAFETY: as the function requires.
    drop(unsafe { Box::from_raw(instance) });
}
