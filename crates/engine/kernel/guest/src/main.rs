//! Init, the only program of the guest. It sets up the hosts, runs the workloads of its job on real sockets, reports the
//! states of senders to the path, and powers the machine off.

mod connection;
mod device;
mod event_loop;
mod flows;
mod host;
mod reader;

use std::io;

use kernel_protocol::{Message, PROTOCOL, Reply};
use nix::mount::{MsFlags, mount};
use nix::sys::reboot::{RebootMode, reboot};
use nix::sys::utsname::uname;

use device::Device;
use event_loop::EventLoop;

fn main() {
    if let Err(error) = run() {
        eprintln!("celltcp-guest: {error}");
        // Without the path, errors can only go to the console.
        let _ =
            Device::open().and_then(|mut device| device.send(&Message::Fail(error.to_string())));
    }
    let Err(error) = reboot(RebootMode::RB_POWER_OFF);
    eprintln!("celltcp-guest: {error}");
}

fn run() -> io::Result<()> {
    for (kind, folder) in [("proc", "/proc"), ("sysfs", "/sys"), ("devtmpfs", "/dev")] {
        std::fs::create_dir_all(folder)?;
        mount(
            Some(kind),
            folder,
            Some(kind),
            MsFlags::empty(),
            None::<&str>,
        )?;
    }
    let mut device = Device::open()?;
    let release = uname()?.release().to_string_lossy().into_owned();
    let reply = device.request(&Message::Hello {
        protocol: PROTOCOL,
        release,
    })?;
    let Reply::Job(job) = reply else {
        return Err(io::Error::other("the path does not reply with a job"));
    };
    let hosts = host::set_up(&job)?;
    EventLoop::new(device, &hosts, &job)?.run()
}
