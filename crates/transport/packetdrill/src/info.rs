//! TCP_INFO of a connection under the names that scripts use.

use tcp::Connection;
use units::{Duration, Instant};

/// Values of TCP_INFO and constants by name.
pub type Fields = Vec<(&'static str, i64)>;

/// Returns the constants that assertions may name.
fn constants() -> Fields {
    vec![
        ("TCP_CA_Open", 0),
        ("TCP_CA_Disorder", 1),
        ("TCP_CA_CWR", 2),
        ("TCP_CA_Recovery", 3),
        ("TCP_CA_Loss", 4),
        ("TCPI_OPT_TIMESTAMPS", 1),
        ("TCPI_OPT_SACK", 2),
        ("TCPI_OPT_WSCALE", 4),
        ("TCPI_OPT_ECN", 8),
        ("TCPI_OPT_ECN_SEEN", 16),
        ("TCPI_OPT_SYN_DATA", 32),
        ("TCP_ESTABLISHED", 1),
        ("TCP_SYN_SENT", 2),
        ("TCP_SYN_RECV", 3),
        ("TCP_FIN_WAIT1", 4),
        ("TCP_FIN_WAIT2", 5),
        ("TCP_TIME_WAIT", 6),
        ("TCP_CLOSE", 7),
        ("TCP_CLOSE_WAIT", 8),
        ("TCP_LAST_ACK", 9),
        ("TCP_LISTEN", 10),
        ("TCP_CLOSING", 11),
    ]
}

/// Returns the values of TCP_INFO at `now`, and the constants.
pub(crate) fn fields(now: Instant, connection: &Connection) -> Fields {
    let view = connection.view();
    let info = connection.info(now);
    let micros = |duration: Duration| duration.as_micros() as i64;
    let millis = |duration: Duration| duration.as_millis() as i64;
    let bytes_per_second =
        |rate: Option<units::Rate>| rate.map_or(0, |rate| (rate.bits_per_second() / 8) as i64);
    let mut fields = constants();
    fields.extend([
        ("tcpi_state", connection.state() as i64),
        ("tcpi_ca_state", view.ca_state as i64),
        ("tcpi_retransmits", info.retransmits.into()),
        ("tcpi_probes", info.probes.into()),
        ("tcpi_backoff", info.backoff.into()),
        ("tcpi_options", info.options.into()),
        ("tcpi_snd_wscale", info.send_scale.into()),
        ("tcpi_rcv_wscale", info.receive_scale.into()),
        ("tcpi_rto", micros(view.rto)),
        ("tcpi_ato", micros(info.ack_timeout)),
        ("tcpi_snd_mss", view.mss.into()),
        ("tcpi_rcv_mss", info.receive_mss.into()),
        ("tcpi_unacked", view.packets_out.into()),
        ("tcpi_sacked", info.sacked.into()),
        ("tcpi_lost", info.lost.into()),
        ("tcpi_retrans", info.retransmissions_out.into()),
        ("tcpi_fackets", 0),
        ("tcpi_last_data_sent", millis(info.since_data_sent)),
        ("tcpi_last_data_recv", millis(info.since_data_received)),
        ("tcpi_last_ack_recv", millis(info.since_ack_received)),
        ("tcpi_rtt", view.srtt.map_or(0, micros)),
        ("tcpi_rttvar", micros(info.rtt_variation)),
        (
            "tcpi_min_rtt",
            view.min_rtt.map_or(i64::from(u32::MAX), micros),
        ),
        ("tcpi_snd_ssthresh", view.ssthresh.into()),
        ("tcpi_snd_cwnd", view.cwnd.into()),
        ("tcpi_advmss", info.announced_mss.into()),
        ("tcpi_reordering", info.reordering.into()),
        ("tcpi_reord_seen", info.reordering_seen.into()),
        ("tcpi_total_retrans", view.retransmissions as i64),
        ("tcpi_pacing_rate", bytes_per_second(view.pacing_rate)),
        ("tcpi_delivery_rate", bytes_per_second(view.delivery_rate)),
        ("tcpi_bytes_acked", info.bytes_acked as i64),
        ("tcpi_bytes_received", info.bytes_received as i64),
        ("tcpi_notsent_bytes", info.unsent as i64),
        ("tcpi_busy_time", micros(info.busy)),
        ("tcpi_rwnd_limited", micros(info.window_limited)),
        ("tcpi_sndbuf_limited", micros(info.buffer_limited)),
        ("tcpi_delivered", view.delivered as i64),
        ("tcpi_dsack_dups", info.duplicates_reported as i64),
        ("tcpi_snd_wnd", view.send_window.unwrap_or(0) as i64),
    ]);
    fields
}
