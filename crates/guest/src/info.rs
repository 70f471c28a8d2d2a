//! What a sender tells of itself: TCP_INFO and TCP_CC_INFO.

use std::io;
use std::os::fd::AsFd;

use select::Sample;
use sidechannel::SenderReport;
use units::{Duration, Instant, Rate};

use crate::sockopt::tcp_option;

/// `TCP_CC_INFO` (linux/tcp.h).
const TCP_CC_INFO: i32 = 26;
/// BBR's gain in STARTUP, in 256ths, from which its other gains are far (`bbr_high_gain`).
const BBR_HIGH_GAIN: u32 = 739;

/// `struct tcp_info` of linux/tcp.h, as long as the kernel has it.
struct TcpInfo(Vec<u8>);

impl TcpInfo {
    fn bytes<const N: usize>(&self, at: usize) -> Option<[u8; N]> {
        self.0.get(at..at + N)?.try_into().ok()
    }

    fn byte(&self, at: usize) -> u8 {
        self.0.get(at).copied().unwrap_or_default()
    }

    fn word(&self, at: usize) -> u32 {
        self.bytes(at).map_or(0, u32::from_ne_bytes)
    }

    fn long(&self, at: usize) -> u64 {
        self.bytes(at).map_or(0, u64::from_ne_bytes)
    }
}

/// Bit of `tcpi_delivery_rate_app_limited` in the byte that follows the window scales.
const APP_LIMITED: u8 = 1;
/// `tcpi_min_rtt` before the first sample (`tcp_min_rtt`).
const NO_RTT: u32 = u32::MAX;

/// A look at a sender.
pub(crate) struct Look {
    pub(crate) report: SenderReport,
    /// `tcpi_unacked`, segments.
    pub(crate) unacked: u32,
    /// Lowest RTT, us.
    pub(crate) min_rtt_us: u32,
    /// Payload bytes of a full segment.
    pub(crate) mss: u32,
    /// `tcpi_delivered`, segments.
    pub(crate) delivered: u32,
    /// `tcpi_total_retrans`, segments.
    pub(crate) retransmissions: u32,
    /// Whether the latest delivery rate was limited by the application.
    pub(crate) app_limited: bool,
    /// `tcpi_snd_wnd`, bytes; kernels before 5.4 do not tell it.
    pub(crate) send_window: Option<u32>,
}

impl Look {
    /// The sender as selectors see it.
    pub(crate) fn sample(&self, at: Instant) -> Sample {
        let report = &self.report;
        Sample {
            at,
            mss: self.mss,
            cwnd: report.cwnd,
            inflight: report.inflight,
            srtt: Duration::from_micros(report.srtt_us.into()),
            min_rtt: match self.min_rtt_us {
                NO_RTT => Duration::MAX,
                us => Duration::from_micros(us.into()),
            },
            delivered: self.delivered.into(),
            retransmissions: self.retransmissions.into(),
            delivery_rate: Rate::from_bits_per_second(report.delivery_rate.saturating_mul(8)),
            app_limited: self.app_limited,
            send_window: self.send_window.map_or(u64::MAX, u64::from),
            slow_start: report.slow_start,
        }
    }
}

/// Looks at the sender of a connection; `bbr` tells whether BBR is at work.
pub(crate) fn look(socket: &impl AsFd, connection: u32, bbr: bool) -> io::Result<Look> {
    let info = TcpInfo(tcp_option(socket, libc::TCP_INFO)?);
    let (unacked, sacked) = (info.word(24), info.word(28));
    let (lost, retrans) = (info.word(32), info.word(36));
    let (cwnd, ssthresh) = (info.word(80), info.word(76));
    let slow_start = if bbr {
        bbr_pacing_gain(socket)? == Some(BBR_HIGH_GAIN)
    } else {
        cwnd < ssthresh
    };
    Ok(Look {
        report: SenderReport {
            connection,
            ca_state: info.byte(1),
            cwnd,
            ssthresh,
            inflight: (unacked + retrans).saturating_sub(sacked + lost),
            srtt_us: info.word(68),
            rto_us: info.word(8),
            delivery_rate: info.long(160),
            pacing_rate: info.long(104),
            timeouts: info.bytes(240).map(u16::from_ne_bytes),
            slow_start,
        },
        unacked,
        min_rtt_us: info.word(148),
        mss: info.word(16),
        delivered: info.word(192),
        retransmissions: info.word(100),
        app_limited: info.byte(7) & APP_LIMITED != 0,
        send_window: info.bytes(228).map(u32::from_ne_bytes),
    })
}

/// `bbr_pacing_gain` of `struct tcp_bbr_info`.
fn bbr_pacing_gain(socket: &impl AsFd) -> io::Result<Option<u32>> {
    let info = TcpInfo(tcp_option(socket, TCP_CC_INFO)?);
    Ok(info.bytes(12).map(u32::from_ne_bytes))
}
