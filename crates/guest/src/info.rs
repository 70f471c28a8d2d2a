//! What a sender tells of itself: TCP_INFO and TCP_CC_INFO.

use std::io;
use std::os::fd::AsFd;

use sidechannel::SenderReport;

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

/// A look at a sender.
pub(crate) struct Look {
    pub(crate) report: SenderReport,
    /// Lowest RTT, us.
    pub(crate) min_rtt_us: u32,
    /// Payload bytes of a full segment.
    pub(crate) mss: u32,
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
        min_rtt_us: info.word(148),
        mss: info.word(16),
    })
}

/// `bbr_pacing_gain` of `struct tcp_bbr_info`.
fn bbr_pacing_gain(socket: &impl AsFd) -> io::Result<Option<u32>> {
    let info = TcpInfo(tcp_option(socket, TCP_CC_INFO)?);
    Ok(info.bytes(12).map(u32::from_ne_bytes))
}
