//! `shutdown` of the directions of a connection, and data that comes afterwards (the kernel's `tcp_recvmsg_locked` and
//! `tcp_rcv_state_process`).

use crate::playing::{passes, server};

/// The peer does not learn that nobody reads: its data is acknowledged and may still be read.
#[test]
fn without_reading_data_still_arrives() {
    passes(&server(
        "+0 shutdown(4, SHUT_RD) = 0
         +0 read(4, ..., 1000) = 0
         +0 poll([{fd=4, events=POLLIN|POLLRDHUP, revents=POLLIN|POLLRDHUP}], 1, 0) = 1
        +.1 < P. 1:1001(1000) ack 1 win 257
         +0 > . 1:1(0) ack 1001
         +0 read(4, ..., 2000) = 1000
         +0 read(4, ..., 2000) = 0
         +0 write(4, ..., 1000) = 1000
         +0 > P. 1:1001(1000) ack 1001",
    ));
}

/// RFC 1122 §4.2.2.13: data after both directions are shut is answered by a reset, and the connection is gone.
#[test]
fn data_after_both_directions_are_shut_resets_the_connection() {
    for how in [
        "SHUT_RDWR) = 0",
        "SHUT_WR) = 0\n +0 shutdown(4, SHUT_RD) = 0",
    ] {
        passes(&server(&format!(
            "+0 write(4, ..., 1000) = 1000
             +0 > P. 1:1001(1000) ack 1
             +0 shutdown(4, {how}
             +0 > F. 1001:1001(0) ack 1
             +0 read(4, ..., 1000) = 0
             +0 write(4, ..., 1000) = -1 EPIPE (Broken pipe)
            +.1 < P. 1:1001(1000) ack 1002 win 257
             +0 > R 1002:1002(0)
             +0 read(4, ..., 1000) = -1 ECONNRESET (Connection reset by peer)
             +0 read(4, ..., 1000) = 0"
        )));
    }
}

#[test]
fn what_came_before_stays_readable_and_both_ends_close() {
    passes(&server(
        "+0 < P. 1:1001(1000) ack 1 win 257
         +0 > . 1:1(0) ack 1001
         +0 shutdown(4, SHUT_RDWR) = 0
         +0 > F. 1:1(0) ack 1001
         +0 read(4, ..., 400) = 400
         +0 read(4, ..., 2000) = 600
         +0 read(4, ..., 2000) = 0
        +.1 < F. 1001:1001(0) ack 2 win 257
         +0 > . 2:2(0) ack 1002",
    ));
}

/// Half a connection that only writes no more goes on reading.
#[test]
fn data_after_the_end_of_writing_is_read() {
    passes(&server(
        "+0 shutdown(4, SHUT_WR) = 0
         +0 > F. 1:1(0) ack 1
        +.1 < P. 1:1001(1000) ack 2 win 257
         +0 > . 2:2(0) ack 1001
         +0 read(4, ..., 2000) = 1000",
    ));
}

/// The last data takes the FIN along, and with it the push flag, also where a cork held it back.
#[test]
fn the_fin_goes_with_the_last_data() {
    passes(&server(
        "+0 setsockopt(4, SOL_TCP, TCP_CORK, [1], 4) = 0
         +0 write(4, ..., 400) = 400
         +0 shutdown(4, SHUT_WR) = 0
         +0 > FP. 1:401(400) ack 1
        +.1 < . 1:1(0) ack 402 win 257",
    ));
}
