"""Words in column names, by the content of the columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from celltcp.logs.options import Direction

TIME = {"time", "timestamp", "timestamps", "t", "ts", "date", "datetime", "epoch", "elapsed", "clock"}
TIME |= {
    "s",
    "sec",
    "secs",
    "seconds",
    "timeinseconds",
    "utc",
    "datetimestamp",
    "msec",
    "start",
}
TIME |= {"zeit", "uhrzeit", "zeitpunkt", "datum", "temps", "heure", "horodatage"}
TIME |= {"tiempo", "hora", "fecha", "tempo", "ora", "tijd", "czas", "時間", "时间", "日時"}
INDEX = {
    "seq",
    "index",
    "idx",
    "id",
    "no",
    "nr",
    "num",
    "number",
    "row",
    "sample",
    "i",
    "n",
    "unnamed",
}
END = {"end", "stop", "finish", "until", "ended", "stopped", "finished"}
DURATION = {"duration", "dur", "length", "interval"}
RATE = {
    "rate",
    "throughput",
    "bitrate",
    "bandwidth",
    "bw",
    "capacity",
    "goodput",
    "tput",
    "brate",
    "thr",
}
RATE |= {"thput", "thrput", "datarate", "speed", "durchsatz", "datenrate"}
RATE |= {"geschwindigkeit", "débit", "debit", "vitesse", "velocidad", "velocidade"}
RATE |= {"velocità", "caudal", "snelheid"}
VOLUME = {"bytes", "byte", "octets", "octet", "transfer", "transferred", "volume", "bits"}
DOWN = {"down", "downlink", "dl", "download", "rx", "received", "receive", "recv", "in", "downstream"}
DOWN |= {"pdsch", "empfangen", "descendant", "descendante", "réception", "descarga"}
DOWN |= {"bajada", "empfangene", "ingress", "inbound", "incoming"}
UP = {"up", "uplink", "ul", "upload", "tx", "sent", "send", "out", "upstream", "transmitted"}
UP |= {"gesendete", "egress", "outbound", "outgoing"}
UP |= {"pusch", "gesendet", "montant", "montante", "émission", "subida"}
DELAY = {"rtt", "srtt", "latency", "delay", "ping", "owd"}
#: Words of columns whose other words may look like a rate's.
OTHER = DELAY | {
    "jitter",
    "loss",
    "lost",
    "drop",
    "drops",
    "dropped",
    "error",
    "errors",
    "err",
    "bler",
}
OTHER |= {
    "retransmits",
    "retrans",
    "retr",
    "cwnd",
    "ssthresh",
    "frame",
    "fps",
    "sampling",
    "mcs",
    "cqi",
}
OTHER |= {
    "snr",
    "sinr",
    "rsrp",
    "rsrq",
    "rssi",
    "lat",
    "lon",
    "latitude",
    "longitude",
    "altitude",
    "km",
}
OTHER |= {"kmh", "mph", "buffer", "queue", "packets", "packet", "pkts", "pps", "success", "hit", "cpu"}
#: Rates of the physical layer.
OTHER |= {"linkspeed", "phy"}
#: Amounts of a moment, of which none belongs to the time of a row.
OTHER |= {
    "flight",
    "inflight",
    "window",
    "wnd",
    "rwnd",
    "unacked",
    "outstanding",
    "backlog",
    "mss",
    "mtu",
}
#: Words of parts of a document of a direction each.
SIDES: dict[Direction, set[str]] = {"down": DOWN, "up": UP}
#: Words of rows of a direction each; "up" and "down" may be the state of a link.
ROWS: dict[Direction, set[str]] = {
    "down": DOWN - {"down", "pdsch"},
    "up": UP - {"up", "pusch"},
}
#: Words of the quality of the radio.
RADIO = {"sinr": {"sinr", "snr"}, "rsrp": {"rsrp"}}
