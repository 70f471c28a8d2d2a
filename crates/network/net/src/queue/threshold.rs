//! ECN marking above a threshold of the queue length (RFC 8257 §3.1).

use config::{FieldError, table};
use units::Bytes;

use super::droptail::DropTail;
use super::{Attachment, Qdisc, QueueContext};
use crate::packet_pool::PacketHandle;
use crate::{Backlog, Observer};

table! {
    /// The parameter of a queue that marks above a threshold.
    pub struct Threshold {
        /// Waiting bytes above which arrivals are marked, K; default 30kB (20 packets, Alizadeh et al.,
        /// SIGCOMM 2010, section 3.4).
        pub ecn_threshold: Bytes = Bytes::new(30_000),
    }
}

impl Threshold {
    pub(super) fn check(&self) -> Result<(), FieldError> {
        Ok(())
    }
}

/// FIFO that marks arrivals above the threshold.
pub(super) struct ThresholdQdisc {
    queue: DropTail,
    ecn_threshold: u64,
}

impl ThresholdQdisc {
    pub(super) fn new(parameters: &Threshold, _: Attachment) -> Self {
        Self {
            queue: DropTail::default(),
            ecn_threshold: parameters.ecn_threshold.get(),
        }
    }
}

impl Qdisc for ThresholdQdisc {
    fn backlog(&self) -> Backlog {
        self.queue.backlog()
    }

    fn enqueue<O: Observer>(
        &mut self,
        handle: PacketHandle,
        context: &mut QueueContext<'_, O>,
    ) -> bool {
        if self.backlog().bytes > self.ecn_threshold {
            context.mark(handle);
        }
        self.queue.enqueue(handle, context)
    }

    fn dequeue<O: Observer>(&mut self, context: &mut QueueContext<'_, O>) -> Option<PacketHandle> {
        self.queue.dequeue(context)
    }
}
