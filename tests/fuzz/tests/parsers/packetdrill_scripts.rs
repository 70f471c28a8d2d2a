//! Scripts of packetdrill, parsed and played.

use packetdrill::{parse, play};

/// Scripts that between them have calls, packets, options, code and commands of all kinds.
const SCRIPTS: &[&str] = &[
    "--define=MSS=1000\n--tolerance_usecs=4000\n`../common/defaults.sh`
    0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
   +0 setsockopt(3, SOL_SOCKET, SO_REUSEADDR, [1], 4) = 0
   +0 bind(3, ..., ...) = 0
   +0 listen(3, 1) = 0
   +0 < S 0:0(0) win 32792 <mss MSS,sackOK,nop,nop,nop,wscale 7>
   +0 > S. 0:0(0) ack 1 <mss 1460,nop,nop,sackOK,nop,wscale 8>
  +.1 < . 1:1(0) ack 1 win 257
   +0 accept(3, ..., ...) = 4
   +0 write(4, ..., 10000) = 10000
   +0 > P. 1:10001(10000) ack 1
  +.1 < . 1:1(0) ack 1 win 257 <sack 1001:2001 3001:4001,nop,nop>
  +.1 < . 1:1(0) ack 10001 win 257
   +0 %{ assert tcpi_reordering == 3, tcpi_reordering }%
   +0...0.200 write(4, ..., 40000) = 40000
   +0 close(4) = 0
",
    "`sysctl -q net.ipv4.tcp_rmem=\"4096 $((1024*1024)) 2097152\"; tc qdisc replace dev tun0 root fq`
    0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
   +0 fcntl(3, F_SETFL, O_RDWR|O_NONBLOCK) = 0
   +0 connect(3, ..., ...) = -1 EINPROGRESS (Operation now in progress)
   +0 > S 0:0(0) <mss 1460,sackOK,TS val 100 ecr 0,nop,wscale 8>
+.020 < S. 0:0(0) ack 1 win 5792 <mss 1460,sackOK,TS val 700 ecr 100,nop,wscale 7>
   +0 > . 1:1(0) ack 1 <nop,nop,TS val 100 ecr 700>
   +0 getsockopt(3, SOL_SOCKET, SO_ERROR, [0], [4]) = 0
   +0 setsockopt(3, SOL_TCP, TCP_NODELAY, [1], 4) = 0
   +0 poll([{fd=3, events=POLLIN|POLLOUT, revents=POLLOUT}], 1, 0) = 1
   +0 send(3, ..., 2000, MSG_ZEROCOPY) = 2000
   +0~+.1 > P. 1:2001(2000) ack 1 <nop,nop,TS val 120 ecr 700>
  +.1 < F. 1:1(0) ack 2001 win 257 <nop,nop,TS val 800 ecr 120>
    * > . 2001:2001(0) ack 2 <...>
   +0 read(3, ..., 1000) = 0
   +0 sendmsg(3, {msg_name(...)=..., msg_iov(1)=[{..., 10}], msg_flags=0}, 0) = 10
  1.5 close(3) = 0
",
];

#[test]
fn packetdrill_scripts() {
    let sources: Vec<Vec<u8>> = SCRIPTS
        .iter()
        .map(|text| text.as_bytes().to_vec())
        .collect();
    for text in SCRIPTS {
        assert!(parse(text).is_ok(), "{:?}", parse(text).err());
    }
    fuzz::fuzz("packetdrill", &sources, |bytes| {
        if let Ok(script) = parse(&String::from_utf8_lossy(bytes)) {
            play(&script);
        }
    });
}
