// SPDX-License-Identifier: GPL-2.0-only
// Links with ns-3, which is licensed under GPL-2.0-only; so is this program.
//
// One TCP flow from the remote host to the UE that always has something to send.
// Prints one row of CSV after its header.
#include "cell.h"
#include "radio_meter.h"
#include "tcp_meter.h"

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/version-defines.h"

#include <iomanip>
#include <iostream>
#include <map>
#include <memory>
#include <stdexcept>

using namespace ns3;

namespace
{

constexpr uint16_t PORT = 5000;
const std::map<std::string, std::string> CCAS{{"reno", "ns3::TcpLinuxReno"},
                                              {"cubic", "ns3::TcpCubic"},
                                              {"bbr", "ns3::TcpBbr"}};

void
SetTcpDefaults(const std::string& cca)
{
    const auto type = CCAS.find(cca);
    if (type == CCAS.end())
    {
        throw std::invalid_argument("cca \"" + cca + "\" must be reno, cubic or bbr");
    }
    Config::SetDefault("ns3::TcpL4Protocol::SocketType",
                       TypeIdValue(TypeId::LookupByName(type->second)));
    // 1500 bytes at the IP layer less 20 of IPv4, 20 of TCP and 12 of its time stamps.
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(1448));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
    // Never the limit: a full RLC buffer is 1.1 MB.
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(16 << 20));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(16 << 20));
}

/// Listens to the only socket of the sending host, which is there from the start of its application on.
void
Listen(Ptr<BulkSendApplication> sender, std::unique_ptr<study::TcpMeter>* meter)
{
    *meter = std::make_unique<study::TcpMeter>(DynamicCast<TcpSocketBase>(sender->GetSocket()));
}

void
Measure(const study::CellConfig& config, const std::string& cca, Time duration)
{
    SetTcpDefaults(cca);
    const study::Cell cell(config);
    const Time start = MilliSeconds(200); // after the UE's attach
    const study::RadioMeter radio(start);

    PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), PORT));
    ApplicationContainer receiver = sink.Install(cell.Ue());
    BulkSendHelper source("ns3::TcpSocketFactory", InetSocketAddress(cell.UeAddress(), PORT));
    source.SetAttribute("SendSize", UintegerValue(64 << 10));
    ApplicationContainer sender = source.Install(cell.RemoteHost());
    sender.Start(start);
    std::unique_ptr<study::TcpMeter> tcp;
    Simulator::Schedule(start + NanoSeconds(1),
                        &Listen,
                        DynamicCast<BulkSendApplication>(sender.Get(0)),
                        &tcp);

    Simulator::Stop(start + duration);
    Simulator::Run();
    const uint64_t received = DynamicCast<PacketSink>(receiver.Get(0))->GetTotalRx();
    std::cout << "cca,prbs,rlc,goodput_mbps,rtt_mean_ms,rtt_min_ms,retransmissions,measured_sinr_db,"
                 "mcs,first_bler,ns3\n"
              << cca << ',' << config.prbs << ',' << config.rlc << ',' << std::fixed
              << std::setprecision(4) << 8e-6 * received / duration.GetSeconds() << ','
              << tcp->RttMeanMs() << ',' << tcp->RttMinMs() << ',' << tcp->Retransmissions() << ','
              << radio.SinrDb() << ',' << radio.Mcs() << ',' << radio.FirstBler() << ','
              << NS3_VERSION_MAJOR << '.' << NS3_VERSION_MINOR << '\n';
    Simulator::Destroy();
}

} // namespace

int
main(int argc, char* argv[])
{
    study::CellConfig config;
    config.rlcBufferBytes = 750 * 1500;
    config.wireDelay = MilliSeconds(8); // a base RTT of some 25 ms with ns-3's LTE
    std::string cca = "cubic";
    Time duration = Seconds(60);
    CommandLine line(__FILE__);
    line.AddValue("cca", "reno, cubic or bbr", cca);
    line.AddValue("prbs", "bandwidth in PRB", config.prbs);
    line.AddValue("power", "of the eNB, in dBm", config.enbPowerDbm);
    line.AddValue("distance", "between the antennas, in metres", config.distanceM);
    line.AddValue("rlc", "am or um", config.rlc);
    line.AddValue("buffer", "of the RLC entity that sends downlink, in bytes", config.rlcBufferBytes);
    line.AddValue("delay", "between remote host and PGW, one way", config.wireDelay);
    line.AddValue("duration", "of the flow", duration);
    line.Parse(argc, argv);
    try
    {
        if (!duration.IsStrictlyPositive())
        {
            throw std::invalid_argument("duration must be above 0 s");
        }
        Measure(config, cca, duration);
    }
    catch (const std::invalid_argument& error)
    {
        std::cerr << "greedy: " << error.what() << '\n';
        return 2;
    }
    return 0;
}
