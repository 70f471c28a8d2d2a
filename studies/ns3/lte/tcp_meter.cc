// SPDX-License-Identifier: GPL-2.0-only
// Links with ns-3, which is licensed under GPL-2.0-only; so is this program.
#include "tcp_meter.h"

#include "ns3/packet.h"
#include "ns3/simulator.h"
#include "ns3/tcp-header.h"
#include "ns3/tcp-option-sack.h"
#include "ns3/tcp-socket-base.h"

#include <algorithm>
#include <limits>

using namespace ns3;

namespace study
{

TcpMeter::TcpMeter(Ptr<TcpSocketBase> socket)
    : m_minMs(std::numeric_limits<double>::quiet_NaN())
{
    socket->TraceConnectWithoutContext("Tx", MakeCallback(&TcpMeter::Sent, this));
    socket->TraceConnectWithoutContext("Rx", MakeCallback(&TcpMeter::Received, this));
}

// ns-3 numbers from 0 and a run stays below 4 GB, so sequence numbers compare as integers.
void
TcpMeter::Sent(Ptr<const Packet> packet, const TcpHeader& header, Ptr<const TcpSocketBase>)
{
    if (packet->GetSize() == 0)
    {
        return;
    }
    const uint32_t start = header.GetSequenceNumber().GetValue();
    const bool again = start < m_end;
    m_retransmissions += again;
    m_end = std::max(m_end, start + packet->GetSize());
    if (start >= m_acked)
    {
        m_open[start] = Segment{Simulator::Now(), again};
    }
}

void
TcpMeter::Received(Ptr<const Packet>, const TcpHeader& header, Ptr<const TcpSocketBase>)
{
    m_newest = Time::Min();
    const uint32_t ack = header.GetAckNumber().GetValue();
    if (ack > m_acked)
    {
        Cover(m_acked, ack);
        m_acked = ack;
    }
    if (header.HasOption(TcpOption::SACK))
    {
        const auto sack = DynamicCast<const TcpOptionSack>(header.GetOption(TcpOption::SACK));
        const auto blocks = sack->GetSackList();
        if (!blocks.empty())
        {
            Cover(blocks.front().first.GetValue(), blocks.front().second.GetValue());
        }
    }
    if (m_newest != Time::Min())
    {
        const double ms = (Simulator::Now() - m_newest).GetSeconds() * 1e3;
        m_minMs = m_samples == 0 ? ms : std::min(m_minMs, ms);
        ++m_samples;
        m_sumMs += ms;
    }
}

void
TcpMeter::Cover(uint32_t from, uint32_t to)
{
    const auto end = m_open.lower_bound(to);
    auto segment = m_open.lower_bound(from);
    while (segment != end)
    {
        if (!segment->second.again)
        {
            m_newest = std::max(m_newest, segment->second.passed);
        }
        segment = m_open.erase(segment);
    }
}

double
TcpMeter::RttMeanMs() const
{
    return m_sumMs / m_samples;
}

double
TcpMeter::RttMinMs() const
{
    return m_minMs;
}

uint64_t
TcpMeter::Retransmissions() const
{
    return m_retransmissions;
}

} // namespace study
