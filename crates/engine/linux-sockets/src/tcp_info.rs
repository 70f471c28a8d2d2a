//! TCP_INFO and TCP_CC_INFO of a socket, as the state of its sender. Messages of sock_diag(7) hold the same structures.

use std::io;
use std::os::fd::AsFd;

use cca::{CaState, SenderInfo};
use units::{Duration, Rate};

use crate::options::tcp_option;

/// `TCP_CC_INFO` (linux/tcp.h).
const TCP_CC_INFO: i32 = 26;
/// Pacing gain of BBR in STARTUP, in 256ths (`bbr_high_gain`); no other phase has it.
const BBR_HIGH_GAIN: u32 = 739;
/// Bit of `tcpi_delivery_rate_app_limited` in the byte that follows the window scales.
const APP_LIMITED: u8 = 1;
/// Value of `tcpi_min_rtt` before the first RTT sample (`tcp_min_rtt`); without a connection it is 0.
const NO_RTT: u32 = u32::MAX;
/// Value of `tcpi_pacing_rate` without pacing.
const UNPACED: u64 = u64::MAX;

/// Bytes of `struct tcp_info` or `union tcp_cc_info` of linux/tcp.h; their number depends on the kernel.
pub(crate) struct TcpStruct<'a>(pub(crate) &'a [u8]);

impl TcpStruct<'_> {
    fn bytes<const N: usize>(&self, at: usize) -> Option<[u8; N]> {
        self.0.get(at..at + N)?.try_into().ok()
    }

    fn u8(&self, at: usize) -> u8 {
        self.0.get(at).copied().unwrap_or_default()
    }

    fn u32(&self, at: usize) -> u32 {
        self.bytes(at).map_or(0, u32::from_ne_bytes)
    }

    fn u64(&self, at: usize) -> u64 {
        self.bytes(at).map_or(0, u64::from_ne_bytes)
    }
}

/// Returns the sender behind a connected socket, whose congestion control is `cca`.
///
/// Linux reports no time of the exit from slow start. It counts probes, recoveries and undone reductions per
/// namespace only: [`Counters`](crate::Counters).
pub fn read_sender(socket: &impl AsFd, cca: &str) -> io::Result<SenderInfo> {
    let info = tcp_option(socket, libc::TCP_INFO)?;
    let bbr = if cca == "bbr" {
        tcp_option(socket, TCP_CC_INFO)?
    } else {
        Vec::new()
    };
    Ok(sender_info(&TcpStruct(&info), cca, &TcpStruct(&bbr)))
}

/// Returns the sender of a `struct tcp_info`, whose congestion control is `cca`; `bbr` is the `struct tcp_bbr_info` of
/// BBR.
pub(crate) fn sender_info(info: &TcpStruct<'_>, cca: &str, bbr: &TcpStruct<'_>) -> SenderInfo {
    let (unacked, sacked) = (info.u32(24), info.u32(28));
    let (lost, retrans) = (info.u32(32), info.u32(36));
    let (cwnd, ssthresh) = (info.u32(80), info.u32(76));
    let slow_start = if cca == "bbr" {
        // `bbr_pacing_gain`
        bbr.bytes(12).map(u32::from_ne_bytes) == Some(BBR_HIGH_GAIN)
    } else {
        cwnd < ssthresh
    };
    let micros = |us: u32| Duration::from_micros(us.into());
    let rate = |bytes_per_second: u64| match bytes_per_second {
        0 | UNPACED => None,
        rate => Some(Rate::from_bits_per_second(rate.saturating_mul(8))),
    };
    let micros_of_bytes = |us: [u8; 8]| Duration::from_micros(u64::from_ne_bytes(us));
    let (srtt, min_rtt) = (info.u32(68), info.u32(148));
    SenderInfo {
        mss: info.u32(16),
        ca_state: CaState::of_linux(info.u8(1)),
        cwnd,
        ssthresh,
        packets_out: unacked,
        inflight: (unacked + retrans).saturating_sub(sacked + lost),
        srtt: (srtt > 0).then(|| micros(srtt)),
        min_rtt: (1..NO_RTT).contains(&min_rtt).then(|| micros(min_rtt)),
        rto: micros(info.u32(8)),
        delivered: info.u32(192).into(),
        retransmissions: info.u32(100).into(),
        delivery_rate: rate(info.u64(160)),
        app_limited: info.u8(7) & APP_LIMITED != 0,
        pacing_rate: rate(info.u64(104)),
        // Kernels before 5.4 do not have it.
        send_window: info.bytes(228).map(|b| u32::from_ne_bytes(b).into()),
        slow_start,
        slow_start_exit: None,
        // `tcpi_total_rto`: kernels before 6.7 do not have it.
        timeouts: info.bytes(240).map(|b| u16::from_ne_bytes(b).into()),
        loss_probes: None,
        fast_recoveries: None,
        undone: None,
        application_limited: None,
        receive_window_limited: info.bytes(176).map(micros_of_bytes),
        send_buffer_limited: info.bytes(184).map(micros_of_bytes),
        busy: info.bytes(168).map(micros_of_bytes),
        limits: None,
        // Kernels before 4.19 do not have it.
        duplicates_reported: info.bytes(216).map(|b| u32::from_ne_bytes(b).into()),
    }
}
