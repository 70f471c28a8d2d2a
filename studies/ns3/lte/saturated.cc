// SPDX-License-Identifier: GPL-2.0-only
// Links with ns-3, which is licensed under GPL-2.0-only; so is this program.
//
// Downlink of one cell that always has something to send: what arrives at the UE's IP layer.
// Prints one row of CSV after its header.
#include "cell.h"
#include "radio_meter.h"

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/version-defines.h"

#include <cstdint>
#include <iomanip>
#include <iostream>
#include <stdexcept>

using namespace ns3;

namespace
{

constexpr uint32_t PACKET_BYTES = 1500; // at the IP layer
constexpr uint32_t HEADER_BYTES = 28;   // of IPv4 and UDP
constexpr uint16_t PORT = 5000;

/// What every bandwidth carries less than: 75.4 Mbit/s are LTE's most for 100 PRB without MIMO (TS 36.213
/// table 7.1.7.2.1-1, MCS 28).
double
OfferedMbps(uint16_t prbs)
{
    return 0.9 * prbs;
}

struct Delivered
{
    Time from;
    uint64_t bytes = 0;

    void Packet(Ptr<const ns3::Packet> packet, const Address&)
    {
        if (Simulator::Now() >= from)
        {
            bytes += packet->GetSize() + HEADER_BYTES;
        }
    }
};

void
Measure(study::CellConfig config, double sinrDb, Time warmUp, Time duration)
{
    config.enbPowerDbm = study::EnbPowerForSinr(sinrDb, config.prbs, config.distanceM);
    const study::Cell cell(config);
    const study::RadioMeter radio(warmUp);
    Delivered delivered{warmUp};

    PacketSinkHelper sink("ns3::UdpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), PORT));
    const ApplicationContainer receiver = sink.Install(cell.Ue());
    receiver.Get(0)->TraceConnectWithoutContext("Rx", MakeCallback(&Delivered::Packet, &delivered));
    UdpClientHelper source(cell.UeAddress(), PORT);
    source.SetAttribute("PacketSize", UintegerValue(PACKET_BYTES - HEADER_BYTES));
    source.SetAttribute("MaxPackets", UintegerValue(UINT32_MAX));
    source.SetAttribute(
        "Interval",
        TimeValue(Seconds(8e-6 * PACKET_BYTES / OfferedMbps(config.prbs))));
    ApplicationContainer sender = source.Install(cell.RemoteHost());
    sender.Start(MilliSeconds(200)); // after the UE's attach

    const Time end = warmUp + duration;
    Simulator::Stop(end);
    Simulator::Run();
    std::cout << "prbs,sinr_db,rlc,amc,mbps,measured_sinr_db,mcs,tbs_bytes,first_bler,"
                 "subframes,ns3\n"
              << config.prbs << ',' << sinrDb << ',' << config.rlc << ',' << config.amc << ','
              << std::fixed << std::setprecision(4)
              << 8e-6 * delivered.bytes / duration.GetSeconds() << ',' << radio.SinrDb() << ','
              << radio.Mcs() << ',' << radio.TransportBlockBytes() << ',' << radio.FirstBler() << ','
              << radio.ShareOfSubframes(end) << ',' << NS3_VERSION_MAJOR << '.' << NS3_VERSION_MINOR
              << '\n';
    Simulator::Destroy();
}

} // namespace

int
main(int argc, char* argv[])
{
    study::CellConfig config;
    config.rlcBufferBytes = 750 * PACKET_BYTES;
    double sinrDb = 20.0;
    Time warmUp = Seconds(1);
    Time duration = Seconds(10);
    CommandLine line(__FILE__);
    line.AddValue("prbs", "bandwidth in PRB", config.prbs);
    line.AddValue("sinr", "at the UE, in dB", sinrDb);
    line.AddValue("rlc", "am or um", config.rlc);
    line.AddValue("amc", "mi or piro", config.amc);
    line.AddValue("buffer", "of the RLC entity, in bytes", config.rlcBufferBytes);
    line.AddValue("distance", "between the antennas, in metres", config.distanceM);
    line.AddValue("warm-up", "time before the measurement", warmUp);
    line.AddValue("duration", "of the measurement", duration);
    line.Parse(argc, argv);
    try
    {
        if (!duration.IsStrictlyPositive())
        {
            throw std::invalid_argument("duration must be above 0 s");
        }
        Measure(config, sinrDb, warmUp, duration);
    }
    catch (const std::invalid_argument& error)
    {
        std::cerr << "saturated: " << error.what() << '\n';
        return 2;
    }
    return 0;
}
