//! Memory size of the kernel of a run.

use nix::unistd::{SysconfVar, sysconf};
use scenario::Scenario;

const MIB: u64 = 1 << 20;
/// Memory of the kernel, its program and the path without the buffers of connections, bytes.
const BASE: u64 = 256 * MIB;
/// Minimum size, bytes.
const MIN_SIZE: u64 = 512 * MIB;

/// Returns the size of the memory, bytes.
///
/// The buffers of both ends of all connections that may be open at a time take at most half of the memory beyond
/// [`BASE`]. Data in flight count as two more receive buffers, because the network copies them until they are
/// delivered. The host allocates pages only when they are used; the size stays below half of its memory.
pub(crate) fn size(scenario: &Scenario) -> u64 {
    let tcp = &scenario.tcp;
    let connection = tcp.send_buffer_max.get() + 3 * tcp.receive_buffer_max.get();
    let flows = &scenario.expand_flows().flows;
    let connections: u64 = flows.iter().map(|flow| u64::from(flow.count)).sum();
    let needed = BASE.saturating_add(connections.saturating_mul(2 * connection));
    needed
        .min(memory_of_host() / 2)
        .max(MIN_SIZE)
        .next_multiple_of(MIB)
}

/// Returns the memory of this machine, bytes; no limit where it is unknown.
fn memory_of_host() -> u64 {
    let value = |name| {
        sysconf(name)
            .ok()
            .flatten()
            .and_then(|value| u64::try_from(value).ok())
    };
    let (pages, page) = (value(SysconfVar::_PHYS_PAGES), value(SysconfVar::PAGE_SIZE));
    pages
        .zip(page)
        .map_or(u64::MAX, |(pages, page)| pages.saturating_mul(page))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sized(changes: &[&str]) -> u64 {
        let changes: Vec<String> = changes.iter().map(|&change| change.into()).collect();
        let scenario = Scenario::from_toml("name = \"sized\"", "sized.toml", &changes).unwrap();
        size(&scenario) / MIB
    }

    #[test]
    fn the_memory_grows_with_the_buffers_of_all_connections() {
        assert_eq!(sized(&[]), 512);
        let large = ["tcp.receive_buffer_max=64MiB", "tcp.send_buffer_max=64MiB"];
        assert_eq!(sized(&large), 256 + 2 * 4 * 64);
        assert!(sized(&["flows.0.count=1000", large[0]]) >= 512);
    }
}
