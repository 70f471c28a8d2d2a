// SPDX-License-Identifier: GPL-2.0-only
// Links with ns-3, which is licensed under GPL-2.0-only; so is this program.
#pragma once

#include "ns3/lte-common.h"
#include "ns3/nstime.h"

#include <cstdint>

namespace study
{

/// Means of what the UE's PHY saw of the downlink from a time on.
class RadioMeter
{
  public:
    /// Listens to the PHY of the only UE; samples before `from` do not count.
    explicit RadioMeter(ns3::Time from);

    /// Mean of the SINR that the UE measures, linear, in dB; NaN without a sample.
    double SinrDb() const;
    /// Mean MCS of first transmissions; NaN if there was none.
    double Mcs() const;
    /// Mean size of the transport blocks of first transmissions, in bytes.
    double TransportBlockBytes() const;
    /// Share of first transmissions that could not be decoded.
    double FirstBler() const;
    /// Share of subframes that brought this UE a transport block, first or again.
    double ShareOfSubframes(ns3::Time until) const;

  private:
    void Sinr(uint16_t cell, uint16_t rnti, double rsrp, double sinr, uint8_t carrier);
    void Received(const ns3::PhyReceptionStatParameters block);

    ns3::Time m_from;
    uint64_t m_sinrSamples = 0;
    double m_sinrSum = 0.0;
    uint64_t m_blocks = 0;
    uint64_t m_first = 0;
    uint64_t m_firstLost = 0;
    uint64_t m_mcsSum = 0;
    uint64_t m_bytesSum = 0;
};

} // namespace study
