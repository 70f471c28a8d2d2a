// SPDX-License-Identifier: GPL-2.0-only
// Links with ns-3, which is licensed under GPL-2.0-only; so is this program.
#pragma once

#include "ns3/nstime.h"
#include "ns3/ptr.h"

#include <cstdint>
#include <map>

namespace ns3
{
class Packet;
class TcpHeader;
class TcpSocketBase;
} // namespace ns3

namespace study
{

/// Counts at the sender, between TCP and IP.
class TcpMeter
{
  public:
    /// Listens to the sending socket.
    explicit TcpMeter(ns3::Ptr<ns3::TcpSocketBase> socket);

    /// Mean of one sample per ACK, in milliseconds: from the passing of the newest data segment that the
    /// ACK newly covers, cumulatively or by its first SACK block. Segments that passed twice give none
    /// (Karn's rule). NaN without a sample.
    double RttMeanMs() const;
    /// Least of these samples, in milliseconds.
    double RttMinMs() const;
    /// Data segments that passed again.
    uint64_t Retransmissions() const;

  private:
    struct Segment
    {
        ns3::Time passed;
        bool again;
    };

    void Sent(ns3::Ptr<const ns3::Packet> packet,
              const ns3::TcpHeader& header,
              ns3::Ptr<const ns3::TcpSocketBase> socket);
    void Received(ns3::Ptr<const ns3::Packet> packet,
                  const ns3::TcpHeader& header,
                  ns3::Ptr<const ns3::TcpSocketBase> socket);
    /// Takes note that everything in [from, to) has arrived.
    void Cover(uint32_t from, uint32_t to);

    /// Segments that no ACK has covered, by the sequence number of their first byte.
    std::map<uint32_t, Segment> m_open;
    uint32_t m_acked = 0;
    /// The newest segment that the current ACK covers.
    ns3::Time m_newest;
    uint32_t m_end = 0;
    uint64_t m_retransmissions = 0;
    uint64_t m_samples = 0;
    double m_sumMs = 0.0;
    double m_minMs;
};

} // namespace study
