"""Captures: analysis of the TCP connections in pcap and pcapng files."""

from __future__ import annotations

from celltcp.pcap.analysis import CaptureAnalyses, analyse

__all__ = ["CaptureAnalyses", "analyse"]
