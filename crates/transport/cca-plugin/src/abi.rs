//! C ABI between celltcp and a library: its types, all of them with the layout of C.
//!
//! Nothing here is for users of the crate; the two sides are [`crate::load`] and [`crate::export!`].
#![allow(unsafe_code)]

use core::ffi::c_void;
use core::marker::PhantomData;
use core::{slice, str};

use cca::{
    Ack, AckKind, AckSample, CaState, CcaInfo, Event, Lost, RateSample, SlowStart, TransferState,
    Window,
};
use units::Duration;

use crate::library::Instance;

/// Version of the ABI. It rises with each change of one of its types.
pub(crate) const VERSION: u32 = 2;

/// Hash of the sizes of the ABI's types. It shows changes without a new [`VERSION`].
pub(crate) const LAYOUT: u32 = {
    let sizes = [
        size_of::<Window>(),
        size_of::<Call<'_>>(),
        size_of::<AckData>(),
        size_of::<AckSampleData>(),
        size_of::<Lost>(),
        size_of::<TransferState>(),
    ];
    let mut sum = 0_u32;
    let mut number = 0;
    while number < sizes.len() {
        sum = sum.wrapping_mul(31).wrapping_add(sizes[number] as u32);
        number += 1;
    }
    sum
};

/// Table of a library: its CCAs, and the functions that use them.
#[repr(C)]
#[derive(Debug)]
pub struct Library {
    /// [`VERSION`] of the ABI that the library was built for. It stays the first field in all versions.
    pub version: u32,
    /// [`LAYOUT`] of that ABI.
    pub layout: u32,
    /// Number of catalogue entries.
    pub count: usize,
    pub(crate) entries: *const CcaInfo,
    /// Writes the description of an entry as JSON.
    pub(crate) describe: unsafe extern "C" fn(*const CcaInfo, StringWriter<'_>),
    /// Writes the canonical form of the value of a parameter; returns false if it is not allowed.
    pub(crate) canonical:
        unsafe extern "C" fn(*const CcaInfo, Text<'_>, Text<'_>, StringWriter<'_>) -> bool,
    /// Creates a CCA with settings in JSON; returns null if its constructor panics.
    pub(crate) build: unsafe extern "C" fn(*const CcaInfo, Text<'_>) -> *mut Instance,
    /// Calls a method that may change the CCA and the window.
    pub(crate) call: unsafe extern "C" fn(*mut Instance, &mut Window, Call<'_>) -> CallResult,
    /// Calls a method that changes nothing.
    pub(crate) query: unsafe extern "C" fn(*const Instance, Query<'_>) -> u32,
    /// Returns the name of the current mode, a constant of the library; empty if the method panics.
    pub(crate) mode: unsafe extern "C" fn(*const Instance, &Window) -> Text<'static>,
    /// Writes the message of the panic in the last call.
    pub(crate) failure: unsafe extern "C" fn(*const Instance, StringWriter<'_>),
    /// Destroys a CCA.
    pub(crate) free: unsafe extern "C" fn(*mut Instance),
}

// SAFETY: the table is constant, and the entries that it points to are constants that are `Sync` themselves.
unsafe impl Sync for Library {}

/// Method that may change the CCA and the window, with its arguments.
#[repr(C)]
#[derive(Debug)]
pub(crate) enum Call<'a> {
    Init,
    Seed(&'a TransferState),
    Ssthresh,
    PktsAcked(&'a AckSampleData),
    InAckEvent(AckKind),
    OnLost(&'a Lost),
    Grow(SlowStartHandle<'a>, u32),
    CongAvoid(u32),
    CongControl(&'a AckData),
    SetState(CaState),
    CwndEvent(Event),
    UndoCwnd,
}

/// Method that changes nothing, with its arguments.
#[repr(C)]
#[derive(Debug)]
pub(crate) enum Query<'a> {
    HasCongControl,
    MinTsoSegs(&'a Window),
    NeedsEcn,
    SndbufExpand,
}

/// Result of a [`Call`]: the returned value, or 0, and whether the method has panicked.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct CallResult {
    pub(crate) value: u32,
    pub(crate) has_panicked: bool,
}

/// Text that is borrowed for a call.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Text<'a> {
    start: *const u8,
    length: usize,
    lifetime: PhantomData<&'a str>,
}

impl<'a> From<&'a str> for Text<'a> {
    fn from(text: &'a str) -> Self {
        Self {
            start: text.as_ptr(),
            length: text.len(),
            lifetime: PhantomData,
        }
    }
}

impl<'a> Text<'a> {
    pub(crate) fn as_str(self) -> &'a str {
        // SAFETY: the fields are private, and `from` takes them of a text that lives for `'a`.
        unsafe { str::from_utf8_unchecked(slice::from_raw_parts(self.start, self.length)) }
    }
}

/// String of the host that a library writes to.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct StringWriter<'a> {
    target: *mut c_void,
    write: unsafe extern "C" fn(*mut c_void, Text<'_>),
    lifetime: PhantomData<&'a mut String>,
}

impl<'a> StringWriter<'a> {
    pub(crate) fn to(target: &'a mut String) -> Self {
        unsafe extern "C" fn write(target: *mut c_void, text: Text<'_>) {
            // SAFETY: `to` made the pointer of a string that stays borrowed while the writer lives.
            let target = unsafe { &mut *target.cast::<String>() };
            target.push_str(text.as_str());
        }
        Self {
            target: core::ptr::from_mut(target).cast(),
            write,
            lifetime: PhantomData,
        }
    }

    pub(crate) fn write(&mut self, text: &str) {
        // SAFETY: function and target were paired by `to`.
        unsafe { (self.write)(self.target, text.into()) }
    }
}

/// Slow-start method of the host, whose [`SlowStart::grow`] a library calls.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct SlowStartHandle<'a> {
    target: *mut c_void,
    grow: unsafe extern "C" fn(*mut c_void, &mut Window, u32) -> u32,
    lifetime: PhantomData<&'a mut dyn SlowStart>,
}

// SAFETY: it refers to a borrowed `dyn SlowStart`, which is `Send`.
unsafe impl Send for SlowStartHandle<'_> {}

impl<'a> SlowStartHandle<'a> {
    pub(crate) fn of(target: &'a mut &mut dyn SlowStart) -> Self {
        unsafe extern "C" fn grow(target: *mut c_void, window: &mut Window, acked: u32) -> u32 {
            // SAFETY: `of` made the pointer of a reference that stays borrowed while the handle lives.
            let target = unsafe { &mut *target.cast::<&mut dyn SlowStart>() };
            target.grow(window, acked)
        }
        Self {
            target: core::ptr::from_mut(target).cast(),
            grow,
            lifetime: PhantomData,
        }
    }
}

impl SlowStart for SlowStartHandle<'_> {
    fn grow(&mut self, window: &mut Window, acked: u32) -> u32 {
        // SAFETY: function and target were paired by `of`.
        unsafe { (self.grow)(self.target, window, acked) }
    }
}

/// [`Option`] with the layout of C.
#[repr(u8)]
#[derive(Clone, Copy, Debug)]
pub(crate) enum COption<T> {
    None,
    Some(T),
}

impl<T> From<Option<T>> for COption<T> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::None, Self::Some)
    }
}

impl<T> From<COption<T>> for Option<T> {
    fn from(value: COption<T>) -> Self {
        match value {
            COption::None => None,
            COption::Some(value) => Some(value),
        }
    }
}

/// Declares a struct with the layout of C that holds the fields of another one, and the conversions between them.
macro_rules! c_layout {
    ($(#[$about:meta])* $name:ident of $other:ident { $($field:ident: $type:ty,)+ }) => {
        $(#[$about])*
        #[repr(C)]
        #[derive(Clone, Copy, Debug)]
        pub(crate) struct $name {
            $($field: $type,)+
        }

        impl From<&$other> for $name {
            fn from(other: &$other) -> Self {
                Self { $($field: (&other.$field).into_abi(),)+ }
            }
        }

        impl From<&$name> for $other {
            fn from(data: &$name) -> Self {
                Self { $($field: data.$field.into(),)+ }
            }
        }
    };
}

/// Conversion of a field to its type in the ABI.
trait IntoAbi<T> {
    fn into_abi(self) -> T;
}

impl<T: Copy> IntoAbi<T> for &T {
    fn into_abi(self) -> T {
        *self
    }
}

impl<T: Copy> IntoAbi<COption<T>> for &Option<T> {
    fn into_abi(self) -> COption<T> {
        (*self).into()
    }
}

impl IntoAbi<RateData> for &RateSample {
    fn into_abi(self) -> RateData {
        self.into()
    }
}

impl From<RateData> for RateSample {
    fn from(data: RateData) -> Self {
        (&data).into()
    }
}

c_layout! {
    /// [`RateSample`] with the layout of C.
    RateData of RateSample {
        delivered: COption<u32>,
        interval: Duration,
        prior_delivered: u64,
        app_limited: bool,
        retransmitted: bool,
        tx_in_flight: u32,
        lost: u32,
    }
}

c_layout! {
    /// [`Ack`] with the layout of C.
    AckData of Ack {
        acked: u32,
        delivered: u32,
        lost: u32,
        prior_inflight: u32,
        rtt: COption<Duration>,
        rate: RateData,
        ecn_echo: bool,
        delayed: bool,
    }
}

c_layout! {
    /// [`AckSample`] with the layout of C.
    AckSampleData of AckSample {
        acked: u32,
        rtt: COption<Duration>,
        in_flight: u32,
    }
}
