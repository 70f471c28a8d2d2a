// SPDX-License-Identifier: GPL-2.0-only
// Links with ns-3, which is licensed under GPL-2.0-only; so is this program.
#include "radio_meter.h"

#include "ns3/config.h"
#include "ns3/simulator.h"

#include <cmath>

using namespace ns3;

namespace study
{

RadioMeter::RadioMeter(Time from)
    : m_from(from)
{
    const std::string phy = "/NodeList/*/DeviceList/*/ComponentCarrierMapUe/*/LteUePhy/";
    Config::ConnectWithoutContext(phy + "ReportCurrentCellRsrpSinr",
                                  MakeCallback(&RadioMeter::Sinr, this));
    Config::ConnectWithoutContext(phy + "DlSpectrumPhy/DlPhyReception",
                                  MakeCallback(&RadioMeter::Received, this));
}

void
RadioMeter::Sinr(uint16_t, uint16_t, double, double sinr, uint8_t)
{
    if (Simulator::Now() >= m_from)
    {
        ++m_sinrSamples;
        m_sinrSum += sinr;
    }
}

void
RadioMeter::Received(const PhyReceptionStatParameters block)
{
    if (Simulator::Now() < m_from)
    {
        return;
    }
    ++m_blocks;
    // ns-3 puts the number of earlier transmissions of the block into its redundancy version.
    if (block.m_rv == 0)
    {
        ++m_first;
        m_firstLost += block.m_correctness == 0;
        m_mcsSum += block.m_mcs;
        m_bytesSum += block.m_size;
    }
}

double
RadioMeter::SinrDb() const
{
    return 10.0 * std::log10(m_sinrSum / m_sinrSamples);
}

double
RadioMeter::Mcs() const
{
    return static_cast<double>(m_mcsSum) / m_first;
}

double
RadioMeter::TransportBlockBytes() const
{
    return static_cast<double>(m_bytesSum) / m_first;
}

double
RadioMeter::FirstBler() const
{
    return static_cast<double>(m_firstLost) / m_first;
}

double
RadioMeter::ShareOfSubframes(Time until) const
{
    return m_blocks / ((until - m_from).GetSeconds() * 1000.0);
}

} // namespace study
