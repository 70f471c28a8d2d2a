//! Queue of Linux before the access link, in place of that of the path.

use kernel_protocol::LinuxQueue;
use net::{Estimator, Limit, LinkCapacity, Queue, QueueConfig};
use network_builder::Plan;
use scenario::{Buffer, Capacity, Path, Pie};
use units::{Bytes, Duration, Rate};

/// Parameters by their numbers in `linux/pkt_sched.h`. Target and limit are the same in all disciplines.
const TARGET: u16 = 1;
const LIMIT: u16 = 2;

/// Burst allowance of PIE in Linux, which is no parameter (`pie_vars_init` in `include/net/pie.h`).
const PIE_BURST: Duration = Duration::from_millis(150);

/// Parts per unit of the weights of PIE in Linux.
const PIE_WEIGHT: f64 = 16.0;

/// Lets packets pass the path's queue before the access link without delay, since they wait in Linux's.
pub(crate) fn bypass_access_queue(plan: &mut Plan) {
    let link = &mut plan.topology.links[plan.access[0].down.0 as usize];
    if let LinkCapacity::Constant(rate) = link.capacity {
        plan.hidden_queue = Some(rate);
    }
    link.capacity = LinkCapacity::Constant(Rate::from_mbps(1e6));
    link.queue = QueueConfig {
        limit: Limit::Unlimited,
        discipline: Queue::Droptail,
    };
}

/// Returns the queue of Linux that is like that of a path; the error names what Linux does not have.
pub(crate) fn linux_queue(path: &Path) -> Result<LinuxQueue, String> {
    let (Capacity::Constant { rate }, Buffer::Packets(limit)) = (&path.down, path.buffer) else {
        return Err("kernel.queue: not a constant rate and packets".to_owned());
    };
    let micros = |time: Duration| time.as_micros() as u32;
    let bytes = |bytes: Bytes| bytes.get() as u32;
    let (kind, target, mut options) = match &path.queue {
        Queue::Codel(codel) => (
            "codel",
            codel.target,
            vec![(3, micros(codel.interval)), (4, codel.ecn.into())],
        ),
        Queue::FqCodel(fq) => (
            "fq_codel",
            fq.target,
            vec![
                (3, micros(fq.interval)),
                (4, fq.ecn.into()),
                (5, fq.flows),
                (6, bytes(fq.quantum)),
            ],
        ),
        Queue::Pie(pie) => ("pie", pie.target, pie_options(pie)?),
        _ => return Err("kernel.queue: only codel, fq-codel and pie".to_owned()),
    };
    options.extend([(TARGET, micros(target)), (LIMIT, limit as u32)]);
    Ok(LinuxQueue {
        host: "phone".to_owned(),
        rate: rate.bits_per_second(),
        kind: kind.to_owned(),
        options,
    })
}

fn pie_options(pie: &Pie) -> Result<Vec<(u16, u32)>, String> {
    if pie.max_burst != PIE_BURST {
        return Err(format!("path.queue.max_burst: Linux has {PIE_BURST}"));
    }
    let rate = pie.estimator == Estimator::DepartureRate;
    let weight = |value: f64| (value * PIE_WEIGHT) as u32;
    Ok(vec![
        (3, pie.update.as_micros() as u32),
        (4, weight(pie.alpha)),
        (5, weight(pie.beta)),
        (6, pie.ecn.into()),
        (8, rate.into()),
    ])
}
