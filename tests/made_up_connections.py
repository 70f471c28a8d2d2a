"""Connections that are made up, each with one cause of what its sentence says."""

from __future__ import annotations

import struct

from packets import HOSTS, Connection

#: Payload of a full segment, bytes.
MSS = 1_460


def download(made: Connection, begin: float, segments: int, rtt: float, first: int = 0) -> float:
    """Sends segments two by two, with an ACK an RTT later; returns the time of the last ACK."""
    for pair in range(first, first + segments, 2):
        t = begin + (pair - first) * rtt / 40
        made.packet(t, False, seq=pair * MSS, length=MSS)
        made.packet(t + 1e-5, False, seq=(pair + 1) * MSS, length=MSS)
        made.packet(t + rtt, True, ack=(pair + 2) * MSS)
    return t + rtt


def forged_reset(made: Connection) -> None:
    made.ttls = (64, 51)
    made.handshake()
    end = download(made, 0.1, 40, 0.02)
    made.packet(end + 333, True, "PA", length=90, ack=40 * MSS)
    made.packet(end + 333.0004, False, "R", seq=40 * MSS, ttl=254)


def reset_of_the_other_end_too_early(made: Connection) -> None:
    """Captured at the client: a RST after 0.3 ms from a server that is 40 ms away, with its TTL."""
    made.ttls = (64, 51)
    at_client(made, 0.04)
    requests(made, 1, 0, 0.04)
    made.packet(333, True, "PA", seq=100, ack=4 * MSS, length=100)
    made.packet(333.0003, False, "R", seq=4 * MSS)


def at_client(made: Connection, rtt: float) -> None:
    """Adds a handshake that is captured at the client."""
    options = bytes((2, 4, 5, 180, 4, 2, 1, 1, 3, 3, 7, 1))
    made.packet(0, True, "S", options=options)
    made.packet(rtt, False, "SA", options=options)
    made.packet(rtt + 1e-5, True)


def requests(made: Connection, count: int, thinks: float, rtt: float, answers: float = 0.0) -> float:
    """Adds requests and their answers of four segments; returns the time of the last ACK."""
    t = 0.1
    for number in range(count):
        base = 4 * number * MSS
        made.packet(t, True, "PA", seq=100 * number, length=100, ack=base)
        t += rtt + answers
        for segment in range(4):
            ack = 100 * (number + 1)
            made.packet(t + segment * 1e-4, False, seq=base + segment * MSS, length=MSS, ack=ack)
            made.packet(
                t + segment * 1e-4 + 1e-5,
                True,
                seq=100 * (number + 1),
                ack=base + (segment + 1) * MSS,
            )
        end = t + 4e-4
        t = end + thinks
    return end


def client_thinks(made: Connection) -> None:
    at_client(made, 0.03)
    requests(made, 8, 0.9, 0.03)


def server_thinks(made: Connection) -> None:
    at_client(made, 0.03)
    requests(made, 8, 0, 0.03, answers=0.7)


def reset_of_the_server(made: Connection) -> None:
    made.ttls = (51, 64)
    made.handshake()
    end = download(made, 0.1, 10, 0.02)
    made.packet(end + 0.01, False, "R", seq=10 * MSS)


def marks(made: Connection) -> None:
    made.windows = (4_000, 4_000)
    options = bytes((2, 4, 5, 180, 4, 2, 1, 1, 3, 3, 7, 1))
    made.packet(0, True, "SEC", options=options)
    made.packet(1e-4, False, "SAE", options=options)
    made.packet(0.02, True)
    for number in range(0, 200, 2):
        t = 0.1 + number * 1e-3
        made.packet(t, False, seq=number * MSS, length=MSS)
        made.packet(t + 1e-5, False, seq=(number + 1) * MSS, length=MSS)
        made.packet(t + 0.05, True, "AE" if number % 40 == 0 else "A", ack=(number + 2) * MSS)


def gap_at_the_receiver(made: Connection) -> None:
    at_client(made, 0.04)
    made.packet(0.05, True, "PA", length=100)
    for number in range(120):
        t = 0.09 + 5e-3 * number + (3.0 if number >= 60 else 0)
        made.packet(t, False, seq=number * MSS, ack=100, length=MSS)
        made.packet(t + 1e-5, True, seq=100, ack=(number + 1) * MSS)


def forgotten(made: Connection) -> None:
    made.handshake()
    end = download(made, 0.1, 40, 0.02)
    for number in range(8):
        made.packet(end + 700 + 0.3 * (2**number - 1), True, "PA", length=90, ack=40 * MSS)


def gone(made: Connection) -> None:
    made.handshake()
    end = download(made, 0.1, 40, 0.02)
    for segment in range(40, 60):
        made.packet(end + segment * 1e-4, False, seq=segment * MSS, length=MSS)
    for number in range(1, 8):
        made.packet(end + 0.25 * 2**number, False, seq=40 * MSS, length=MSS)


def slow_handshake(made: Connection) -> None:
    made.packet(0, True, "S", options=bytes((2, 4, 5, 180)))
    made.packet(1.03, True, "S", options=bytes((2, 4, 5, 180)))
    made.handshake(t=3.07)
    download(made, 3.2, 20, 0.02)


def refused(made: Connection) -> None:
    made.packet(0, True, "S", options=bytes((2, 4, 5, 180)))
    made.packet(1e-4, False, "RA")


def unanswered(made: Connection) -> None:
    for t in (0, 1, 3, 7):
        made.packet(t, True, "S", options=bytes((2, 4, 5, 180)))


def given_up(made: Connection) -> None:
    for t in (0, 1, 3):
        made.packet(t, True, "S", options=bytes((2, 4, 5, 180)))
    made.packet(5, True, "R")


def half_open(made: Connection) -> None:
    made.packet(0, True, "S", options=bytes((2, 4, 5, 180)))
    made.packet(0.02, False, "SA", options=bytes((2, 4, 5, 180)))
    made.packet(0.0201, True, "R")


def closed_window(made: Connection) -> None:
    made.handshake()
    end = download(made, 0.1, 40, 0.02)
    made.packet(end + 0.01, True, ack=40 * MSS, window=0)
    made.packet(end + 4.01, True, ack=40 * MSS)
    download(made, end + 4.02, 20, 0.02, first=40)


def nagle(made: Connection) -> None:
    made.handshake(rtt=0.001)
    t = 0.1
    for number in range(40):
        made.packet(t, False, "PA", seq=300 * number, length=300)
        made.packet(t + 0.041, True, ack=300 * (number + 1))
        t += 0.0411


def delayed_acks_before_requests(made: Connection) -> None:
    made.handshake()
    for number in range(0, 90, 3):
        t = 0.1 + 0.02 * number
        made.packet(t - 1e-3, True, "PA", seq=40 * number, length=120, ack=number * MSS)
        for segment in range(number, number + 3):
            made.packet(t + 1e-5 * segment, False, seq=segment * MSS, length=MSS)
        made.packet(t + 0.01, True, seq=40 * number + 120, ack=(number + 2) * MSS)
        made.packet(t + 0.058, True, seq=40 * number + 120, ack=(number + 3) * MSS)


def rewritten(made: Connection) -> None:
    made.handshake()
    for segment in range(20):
        made.packet(0.1 + segment * 1e-3, False, seq=segment * MSS, length=MSS)
    for segment in range(1, 20):
        far = 900_000_000
        block = ((far + MSS, far + (segment + 1) * MSS),)
        made.packet(0.12 + segment * 1e-3, True, sack=block)
    made.packet(0.45, False, seq=0, length=MSS)
    made.packet(0.47, True, ack=20 * MSS)


def black_hole(made: Connection) -> None:
    made.handshake()
    made.packet(0.1, False, seq=0, length=MSS)
    made.packet(0.1001, False, seq=MSS, length=MSS)
    made.packet(0.1002, False, "PA", seq=2 * MSS, length=400)
    made.packet(0.12, True, sack=((2 * MSS, 2 * MSS + 400),))
    for number in range(6):
        made.packet(0.1 + 0.3 * 2**number, False, seq=0, length=MSS)
    made.packet(30, True, "FA", sack=((2 * MSS, 2 * MSS + 400),))


def capture_drops(made: Connection) -> None:
    made.handshake()
    download(made, 0.1, 40, 0.02)
    del made.packets[20:22]
    made.packets = [each for each in made.packets if not 0.112 <= each[0] < 0.1131 or each[2] < 100]


def window_limit(made: Connection) -> None:
    made.windows = (8 * MSS, 60_000)
    made.handshake(rtt=0.1, scale=None)
    for turn in range(60):
        for segment in range(8):
            number = 8 * turn + segment
            made.packet(0.2 + turn * 0.1 + segment * 1e-4, False, seq=number * MSS, length=MSS)
            if segment % 2:
                made.packet(0.3 + turn * 0.1 + segment * 1e-4 - 1e-5, True, ack=(number + 1) * MSS)


def window_that_grows(made: Connection) -> None:
    """A receiver that opens its window by a segment per RTT, which the sender fills."""
    made.windows = (10 * MSS >> 2, 9_000)
    made.handshake(rtt=0.1, scale=2)
    sent = 0
    for turn in range(30):
        for segment in range(10 + turn):
            t = 0.2 + turn * 0.1 + segment * 1e-5
            made.packet(t, False, seq=(sent + segment) * MSS, length=MSS)
        sent += 10 + turn
        made.windows = ((11 + turn) * MSS >> 2, 9_000)
        made.packet(0.3 + turn * 0.1 - 1e-4, True, ack=sent * MSS)


def window_scale_of_0(made: Connection) -> None:
    window_limit(made)
    again = Connection(windows=made.windows)
    again.handshake(rtt=0.1, scale=0)
    made.packets[: len(again.packets)] = again.packets


def send_buffer(made: Connection) -> None:
    made.windows = (9_000, 9_000)
    made.handshake(rtt=0.1)
    for number in range(0, 1_200, 2):
        t = 0.2 + number // 2 * 0.005
        made.packet(t, False, seq=number * MSS, length=MSS)
        made.packet(t + 1e-5, False, seq=(number + 1) * MSS, length=MSS)
        made.packet(t + 0.0999, True, ack=(number + 2) * MSS)


def window_that_acks_open(made: Connection) -> None:
    """A sender that sends ten segments at once when the ACKs have opened the window as much."""
    made.windows = (20 * MSS >> 2, 9_000)
    made.handshake(rtt=0.1, scale=2)
    for turn in range(60):
        for segment in range(10):
            t = 0.2 + 0.05 * turn + 1e-5 * segment
            made.packet(t, False, seq=(10 * turn + segment) * MSS, length=MSS)
            if segment % 2:
                ack = (10 * turn + segment + 1) * MSS
                made.packet(0.3 + 0.05 * turn - 1e-4 - 4e-3 * (9 - segment), True, ack=ack)


def duplicates(made: Connection) -> None:
    made.handshake()
    download(made, 0.1, 100, 0.02)
    made.packets += [(t + 5e-5, *rest) for t, *rest in made.packets[10:150:20]]


def data_after_a_reset(made: Connection) -> None:
    made.windows = (40 * MSS >> 7, 512)
    made.handshake(rtt=0.05)
    end = download(made, 0.1, 20, 0.05)
    made.packet(end + 0.001, True, "R", seq=0)
    for segment in range(20, 60):
        made.packet(end + 0.002 * segment, False, seq=segment * MSS, length=MSS)


def mostly_overtaken(made: Connection) -> None:
    made.handshake()
    end = download(made, 0.1, 20, 0.02)
    for turn in range(8):
        first = 20 + 4 * turn
        for segment in range(first, first + 4):
            made.packet(end + 1e-5 * (segment - first), False, seq=segment * MSS, length=MSS)
        sack = (((first + 1) * MSS, (first + 2) * MSS),)
        made.packet(end + 0.02, True, ack=first * MSS, sack=sack)
        made.packet(end + 0.0201, True, ack=(first + 2) * MSS)
        made.packet(end + 0.0202, True, ack=(first + 4) * MSS)
        end += 0.021
    for segment in range(52, 58):
        made.packet(end + 1e-5 * (segment - 52), False, seq=segment * MSS, length=MSS)
    for segment in range(53, 58):
        sack = ((53 * MSS, (segment + 1) * MSS),)
        made.packet(end + 0.02 + 1e-5 * segment, True, ack=52 * MSS, sack=sack)
    made.packet(end + 0.022, False, seq=52 * MSS, length=MSS)
    made.packet(end + 0.042, True, ack=58 * MSS)


def application(made: Connection) -> None:
    made.handshake()
    for number in range(30):
        download(made, 0.1 + number * 0.3, 20, 0.02, first=20 * number)


def captured_late(made: Connection) -> None:
    made.handshake()
    for number in range(20):
        made.packet(0.1 + 0.01 * number, True, ack=(number + 1) * MSS)
        made.packet(0.1005 + 0.01 * number, False, seq=number * MSS, length=MSS)


def time_outs(made: Connection) -> None:
    made.handshake()
    end = 0.1
    for turn in range(3):
        end = download(made, end, 20, 0.02, first=21 * turn)
        last = 21 * turn + 20
        made.packet(end, False, seq=last * MSS, length=MSS)
        made.packet(end + 0.6, False, seq=last * MSS, length=MSS)
        made.packet(end + 0.62, True, ack=(last + 1) * MSS)
        end += 0.63


def overtaken(made: Connection) -> None:
    made.handshake()
    end = download(made, 0.1, 20, 0.02)
    for segment in range(20, 24):
        made.packet(end + 1e-5 * segment, False, seq=segment * MSS, length=MSS)
    made.packet(end + 0.02, True, ack=20 * MSS, sack=((21 * MSS, 22 * MSS),))
    made.packet(end + 0.0201, True, ack=22 * MSS)
    made.packet(end + 0.0202, True, ack=24 * MSS)


def acks_only(made: Connection) -> None:
    made.handshake()
    end = download(made, 0.1, 40, 0.02)
    client = [each for each in made.packets if each[1][12:16] == HOSTS[0]]
    made.packets = client
    made.packet(0.05, True, "PA", length=300)
    made.packet(end + 0.1, True, seq=300, ack=60 * MSS)


def without_sack(made: Connection) -> None:
    """Twenty of sixty segments are lost, of which a partial ACK each RTT tells one."""
    options = bytes((2, 4, 5, 180, 1, 3, 3, 7))
    made.packet(0, True, "S", options=options)
    made.packet(1e-4, False, "SA", options=options)
    made.packet(0.1, True)
    begin = download(made, 0.2, 40, 0.1)
    holes = list(range(40, 100, 3))
    for segment in range(40, 100):
        made.packet(begin + 1e-4 * segment, False, seq=segment * MSS, length=MSS)
        if segment not in holes:
            made.packet(begin + 0.1 + 1e-4 * segment, True, ack=40 * MSS)
    for turn, (hole, following) in enumerate(zip(holes, [*holes[1:], 100], strict=True)):
        made.packet(begin + 0.12 + 0.1 * turn, False, seq=hole * MSS, length=MSS)
        made.packet(begin + 0.2199 + 0.1 * turn, True, ack=following * MSS)


def stamps(t: float, echo: float) -> bytes:
    """The option of timestamps, ms."""
    return struct.pack(">BBBBII", 1, 1, 8, 10, round(1e3 * t) + 5_000, round(1e3 * echo) + 5_000)


def arrivals(made: Connection, segments: int, window: int) -> None:
    """Adds so many segments in each RTT of 100 ms to a receiver, which offers a window at once."""
    made.windows = (window >> 7, 500)
    at_client(made, 0.1)
    for number in range(50 * segments):
        t = 0.2 + 0.1 * number / segments
        data, ack = stamps(t, t - 0.1), stamps(t, t)
        made.packet(t, False, seq=number * MSS, length=MSS, options=data)
        made.packet(t + 1e-5, True, ack=(number + 1) * MSS, options=ack)


def window_at_the_receiver(made: Connection) -> None:
    arrivals(made, 20, 20 * MSS)


def even_rate_at_the_receiver(made: Connection) -> None:
    arrivals(made, 20, 200 * MSS)


def pauses_at_the_receiver(made: Connection) -> None:
    at_client(made, 0.03)
    for number in range(150):
        t = 0.1 + 0.4 * (number // 10) + 1e-4 * number
        made.packet(t, False, seq=number * MSS, length=MSS)
        made.packet(t + 1e-5, True, ack=(number + 1) * MSS)


def send_buffer_in_pulses(made: Connection) -> None:
    """A host whose application writes again when a third of its send buffer is free."""
    made.windows = (9_000, 9_000)
    made.handshake(rtt=0.4)
    for pulse in range(45):
        t = 0.5 + 0.134 * pulse
        for segment in range(20 * pulse, 20 * pulse + 20):
            made.packet(t + 1e-6 * (segment % 20), False, seq=segment * MSS, length=MSS)
            made.packet(t + 0.4 + 1e-5 * (segment % 20), True, ack=(segment + 1) * MSS)
