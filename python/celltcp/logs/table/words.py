"""Words in names of columns, by what the columns have."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from celltcp.logs.options import Direction

TIME = {
    "time", "timestamp", "timestamps", "t", "ts", "date", "datetime", "epoch", "elapsed", "clock", "s",
    "sec", "secs", "seconds", "timeinseconds", "utc", "datetimestamp", "msec", "start", "zeit",
    "uhrzeit", "zeitpunkt", "datum", "temps", "heure", "horodatage", "tiempo", "hora", "fecha", "tempo",
    "ora", "tijd", "czas", "時間", "时间", "日時",
}  # fmt: skip
INDEX = {
    "seq", "index", "idx", "id", "no", "nr", "num", "number", "row", "sample", "i", "n", "unnamed",
}  # fmt: skip
END = {"end", "stop", "finish", "until", "ended", "stopped", "finished"}
DURATION = {"duration", "dur", "length", "interval"}
RATE = {
    "rate", "throughput", "bitrate", "bandwidth", "bw", "capacity", "goodput", "tput", "brate", "thr",
    "thput", "thrput", "datarate", "speed", "durchsatz", "datenrate", "geschwindigkeit", "débit",
    "debit", "vitesse", "velocidad", "velocidade", "velocità", "caudal", "snelheid",
}  # fmt: skip
VOLUME = {"bytes", "byte", "octets", "octet", "transfer", "transferred", "volume", "bits"}
DOWN = {
    "down", "downlink", "dl", "download", "rx", "received", "receive", "recv", "in", "downstream",
    "pdsch", "empfangen", "descendant", "descendante", "réception", "descarga", "bajada", "empfangene",
    "ingress", "inbound", "incoming",
}  # fmt: skip
UP = {
    "up", "uplink", "ul", "upload", "tx", "sent", "send", "out", "upstream", "transmitted", "gesendete",
    "egress", "outbound", "outgoing", "pusch", "gesendet", "montant", "montante", "émission", "subida",
}  # fmt: skip
DELAY = {"rtt", "srtt", "latency", "delay", "ping", "owd"}
#: Words of quantities whose other words may look like those of a rate. Rates of the physical layer, and
#: amounts at a moment, which belong to no length of time, are among them.
OTHER = DELAY | {
    "jitter", "loss", "lost", "drop", "drops", "dropped", "error", "errors", "err", "bler",
    "retransmits", "retrans", "retr", "cwnd", "ssthresh", "frame", "fps", "sampling", "mcs", "cqi",
    "snr", "sinr", "rsrp", "rsrq", "rssi", "lat", "lon", "latitude", "longitude", "altitude", "km",
    "kmh", "mph", "buffer", "queue", "packets", "packet", "pkts", "pps", "success", "hit", "cpu",
    "linkspeed", "phy", "flight", "inflight", "window", "wnd", "rwnd", "unacked", "outstanding",
    "backlog", "mss", "mtu",
}  # fmt: skip
#: Words in names of parts of a document, by their direction.
SIDES: dict[Direction, set[str]] = {"down": DOWN, "up": UP}
#: Words in cells with the direction of a row; "up" and "down" may be the state of a link.
ROWS: dict[Direction, set[str]] = {
    "down": DOWN - {"down", "pdsch"},
    "up": UP - {"up", "pusch"},
}
#: Words in names of columns with the quality of the radio, by quantity.
RADIO = {"sinr": {"sinr", "snr"}, "rsrp": {"rsrp"}}
