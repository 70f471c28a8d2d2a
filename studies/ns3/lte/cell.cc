// SPDX-License-Identifier: GPL-2.0-only
// Links with ns-3, which is licensed under GPL-2.0-only; so is this program.
#include "cell.h"

#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/lte-module.h"
#include "ns3/mobility-module.h"
#include "ns3/point-to-point-module.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>

using namespace ns3;

namespace study
{

namespace
{

constexpr double DOWNLINK_HZ = 2620e6; // EARFCN 2750, 3GPP TS 36.101 table 5.7.3-1
constexpr uint32_t DOWNLINK_EARFCN = 2750;
constexpr uint32_t UPLINK_EARFCN = 20750;
constexpr double UE_POWER_DBM = 24.0;
constexpr double UE_NOISE_FIGURE_DB = 7.0;
constexpr double ENB_NOISE_FIGURE_DB = 5.0;

void
Require(bool holds, const std::string& message)
{
    if (!holds)
    {
        throw std::invalid_argument(message);
    }
}

void
Check(const CellConfig& config)
{
    static constexpr std::array<uint16_t, 6> BANDWIDTHS{6, 15, 25, 50, 75, 100};
    Require(std::find(BANDWIDTHS.begin(), BANDWIDTHS.end(), config.prbs) != BANDWIDTHS.end(),
            "prbs " + std::to_string(config.prbs) + " must be 6, 15, 25, 50, 75 or 100");
    Require(config.rlc == "am" || config.rlc == "um",
            "rlc \"" + config.rlc + "\" must be am or um");
    Require(config.amc == "mi" || config.amc == "piro",
            "amc \"" + config.amc + "\" must be mi or piro");
    Require(config.distanceM > 0.0, "distance must be above 0 m");
    Require(config.rlcBufferBytes >= 1500, "buffer must hold a packet of 1500 bytes");
}

} // namespace

double
EnbPowerForSinr(double sinrDb, uint16_t prbs, double distanceM)
{
    constexpr double LIGHT_M_PER_S = 299792458.0;
    const double lossDb = 20.0 * std::log10(4.0 * M_PI * distanceM * DOWNLINK_HZ / LIGHT_M_PER_S);
    const double noiseDbm = -174.0 + 10.0 * std::log10(180e3 * prbs) + UE_NOISE_FIGURE_DB;
    return sinrDb + lossDb + noiseDbm;
}

Cell::Cell(const CellConfig& config)
{
    Check(config);
    SetDefaults(config);

    m_lte = CreateObject<LteHelper>();
    m_epc = CreateObject<PointToPointEpcHelper>();
    m_lte->SetEpcHelper(m_epc);
    m_lte->SetPathlossModelType(FriisPropagationLossModel::GetTypeId());
    m_lte->SetEnbDeviceAttribute("DlBandwidth", UintegerValue(config.prbs));
    m_lte->SetEnbDeviceAttribute("UlBandwidth", UintegerValue(config.prbs));
    m_lte->SetEnbDeviceAttribute("DlEarfcn", UintegerValue(DOWNLINK_EARFCN));
    m_lte->SetEnbDeviceAttribute("UlEarfcn", UintegerValue(UPLINK_EARFCN));
    m_lte->SetUeDeviceAttribute("DlEarfcn", UintegerValue(DOWNLINK_EARFCN));

    m_remote.Create(1);
    m_enb.Create(1);
    m_ue.Create(1);
    MobilityHelper mobility;
    auto places = CreateObject<ListPositionAllocator>();
    places->Add(Vector(0.0, 0.0, 0.0));
    places->Add(Vector(config.distanceM, 0.0, 0.0));
    mobility.SetPositionAllocator(places);
    mobility.SetMobilityModel("ns3::ConstantPositionMobilityModel");
    mobility.Install(NodeContainer(m_enb, m_ue));

    const NetDeviceContainer enb = m_lte->InstallEnbDevice(m_enb);
    const NetDeviceContainer ue = m_lte->InstallUeDevice(m_ue);
    InternetStackHelper internet;
    internet.Install(NodeContainer(m_remote, m_ue));
    m_ueAddress = m_epc->AssignUeIpv4Address(ue).GetAddress(0);
    Ipv4StaticRoutingHelper().GetStaticRouting(m_ue.Get(0)->GetObject<Ipv4>())
        ->SetDefaultRoute(m_epc->GetUeDefaultGatewayAddress(), 1);
    Wire(config);
    m_lte->Attach(ue.Get(0), enb.Get(0));
}

void
Cell::SetDefaults(const CellConfig& config) const
{
    Config::SetDefault("ns3::LteEnbPhy::TxPower", DoubleValue(config.enbPowerDbm));
    Config::SetDefault("ns3::LteEnbPhy::NoiseFigure", DoubleValue(ENB_NOISE_FIGURE_DB));
    Config::SetDefault("ns3::LteUePhy::TxPower", DoubleValue(UE_POWER_DBM));
    Config::SetDefault("ns3::LteUePhy::NoiseFigure", DoubleValue(UE_NOISE_FIGURE_DB));
    Config::SetDefault("ns3::LteAmc::AmcModel",
                       EnumValue(config.amc == "mi" ? LteAmc::MiErrorModel : LteAmc::PiroEW2010));
    Config::SetDefault("ns3::LteEnbRrc::EpsBearerToRlcMapping",
                       EnumValue(config.rlc == "am" ? LteEnbRrc::RLC_AM_ALWAYS
                                                    : LteEnbRrc::RLC_UM_ALWAYS));
    Config::SetDefault("ns3::LteRlcAm::MaxTxBufferSize", UintegerValue(config.rlcBufferBytes));
    Config::SetDefault("ns3::LteRlcUm::MaxTxBufferSize", UintegerValue(config.rlcBufferBytes));
}

void
Cell::Wire(const CellConfig& config)
{
    PointToPointHelper wire;
    wire.SetDeviceAttribute("DataRate", StringValue("1Gb/s"));
    wire.SetDeviceAttribute("Mtu", UintegerValue(1500));
    wire.SetChannelAttribute("Delay", TimeValue(config.wireDelay));
    const NetDeviceContainer ends = wire.Install(m_epc->GetPgwNode(), m_remote.Get(0));
    Ipv4AddressHelper addresses("1.0.0.0", "255.0.0.0");
    addresses.Assign(ends);
    Ipv4StaticRoutingHelper().GetStaticRouting(m_remote.Get(0)->GetObject<Ipv4>())
        ->AddNetworkRouteTo(Ipv4Address("7.0.0.0"), Ipv4Mask("255.0.0.0"), 1);
}

Ptr<Node>
Cell::RemoteHost() const
{
    return m_remote.Get(0);
}

Ptr<Node>
Cell::Ue() const
{
    return m_ue.Get(0);
}

Ipv4Address
Cell::UeAddress() const
{
    return m_ueAddress;
}

} // namespace study
