// SPDX-License-Identifier: GPL-2.0-only
// Links with ns-3, which is licensed under GPL-2.0-only; so is this program.
#pragma once

#include "ns3/ipv4-address.h"
#include "ns3/lte-helper.h"
#include "ns3/net-device-container.h"
#include "ns3/node-container.h"
#include "ns3/nstime.h"
#include "ns3/point-to-point-epc-helper.h"

#include <cstdint>
#include <string>

namespace study
{

/// The set-up of both measurements: band 7 (EARFCN 2750, 2620 MHz), Friis path loss, no fading, one
/// antenna at either end, UE with 24 dBm and a noise figure of 7 dB, eNB with one of 5 dB.
struct CellConfig
{
    /// Bandwidth of both directions: 6, 15, 25, 50, 75 or 100 PRB.
    uint16_t prbs = 100;
    /// Over the whole bandwidth, in dBm.
    double enbPowerDbm = 46.0;
    /// From antenna to antenna, in metres.
    double distanceM = 600.0;
    /// "am" or "um" (3GPP TS 36.322).
    std::string rlc = "am";
    /// Method that chooses CQI and MCS: "mi" (mutual information, BLER 10 %) or "piro" (a bound on the BER).
    std::string amc = "mi";
    /// Of the RLC entity that sends downlink, in bytes.
    uint32_t rlcBufferBytes = 0;
    /// Of the link between remote host and PGW, one way.
    ns3::Time wireDelay;
};

/// The power that gives `sinrDb` at the UE, in dBm: Friis' loss over the distance, and the noise that ns-3
/// assumes, which is -174 dBm/Hz over 180 kHz of each PRB and the noise figure.
double EnbPowerForSinr(double sinrDb, uint16_t prbs, double distanceM);

/// One eNB with one UE, the EPC, and a remote host behind a link of 1 Gbit/s.
class Cell
{
  public:
    /// Sets ns-3's defaults and builds everything. Throws std::invalid_argument that names field, value
    /// and what is allowed.
    explicit Cell(const CellConfig& config);

    ns3::Ptr<ns3::Node> RemoteHost() const;
    ns3::Ptr<ns3::Node> Ue() const;
    ns3::Ipv4Address UeAddress() const;

  private:
    void SetDefaults(const CellConfig& config) const;
    void Wire(const CellConfig& config);

    ns3::Ptr<ns3::PointToPointEpcHelper> m_epc;
    ns3::Ptr<ns3::LteHelper> m_lte;
    ns3::NodeContainer m_remote;
    ns3::NodeContainer m_enb;
    ns3::NodeContainer m_ue;
    ns3::Ipv4Address m_ueAddress;
};

} // namespace study
