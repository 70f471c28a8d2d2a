//! Queue disciplines of a link, by their names in a scenario.

use config::{FieldError, add_kind_words, word_or_table};
use schemars::JsonSchema;
use serde::Serialize;

use super::codel::{Codel, CodelQdisc};
use super::droptail::DropTail;
use super::fq_codel::{FqCodel, FqCodelQdisc};
use super::pie::{Pie, PieQdisc};
use super::red::{Red, RedQdisc};
use super::threshold::{Threshold, ThresholdQdisc};
use super::{Attachment, Qdisc, QueueContext};
use crate::packet_pool::PacketHandle;
use crate::{Backlog, Limit, Observer};

/// Lists the disciplines: the one without parameters first, then each with its name, its parameters (a table of the
/// same name as the variant) and its state, which is a [`Qdisc`].
macro_rules! disciplines {
    (
        $(#[$plain_doc:meta])* $plain_word:literal $plain:ident => $plain_state:ident;
        $($(#[$doc:meta])* $word:literal $variant:ident => $state:ident;)+
    ) => {
        /// Queue discipline: the order of packets, and the rule by which some are dropped.
        #[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
        #[serde(tag = "kind", rename_all = "kebab-case")]
        #[schemars(deny_unknown_fields, transform = add_kind_words)]
        pub enum Queue {
            $(#[$plain_doc])*
            $plain,
            $($(#[$doc])* $variant($variant),)+
        }

        word_or_table!(Queue { $plain_word => $plain, } { $($word => $variant($variant),)+ });

        impl Queue {
            /// Checks that parameters are in their ranges.
            pub fn check(&self) -> Result<(), FieldError> {
                match self {
                    Self::$plain => Ok(()),
                    $(Self::$variant(parameters) => parameters.check(),)+
                }
            }
        }

        /// State of the discipline of a link.
        pub(super) enum Discipline {
            $plain($plain_state),
            $($variant($state),)+
        }

        impl Discipline {
            pub(super) fn new(queue: &Queue, attachment: Attachment) -> Self {
                match queue {
                    Queue::$plain => Self::$plain($plain_state::default()),
                    $(Queue::$variant(parameters) => Self::$variant($state::new(parameters, attachment)),)+
                }
            }
        }

        impl Qdisc for Discipline {
            #[inline]
            fn backlog(&self) -> Backlog {
                match self {
                    Self::$plain(queue) => queue.backlog(),
                    $(Self::$variant(queue) => queue.backlog(),)+
                }
            }

            fn make_room<O: Observer>(&mut self, limit: Limit, size: u64, context: &mut QueueContext<'_, O>) {
                match self {
                    Self::$plain(queue) => queue.make_room(limit, size, context),
                    $(Self::$variant(queue) => queue.make_room(limit, size, context),)+
                }
            }

            fn on_overflow(&mut self) {
                match self {
                    Self::$plain(queue) => queue.on_overflow(),
                    $(Self::$variant(queue) => queue.on_overflow(),)+
                }
            }

            fn enqueue<O: Observer>(&mut self, handle: PacketHandle, context: &mut QueueContext<'_, O>) -> bool {
                match self {
                    Self::$plain(queue) => queue.enqueue(handle, context),
                    $(Self::$variant(queue) => queue.enqueue(handle, context),)+
                }
            }

            fn dequeue<O: Observer>(&mut self, context: &mut QueueContext<'_, O>) -> Option<PacketHandle> {
                match self {
                    Self::$plain(queue) => queue.dequeue(context),
                    $(Self::$variant(queue) => queue.dequeue(context),)+
                }
            }
        }
    };
}

disciplines! {
    /// First in, first out; drops what does not fit.
    "droptail" Droptail => DropTail;
    /// First in, first out; marks what is ECN-capable and finds much waiting (RFC 8257 section 3.1).
    "threshold" Threshold => ThresholdQdisc;
    /// Controlled delay (RFC 8289): the second drop comes 71 ms after the first, by the integers of Linux 50 ms. Nothing is
    /// dropped while the link holds a packet of the MTU or less.
    "codel" Codel => CodelQdisc;
    /// Flow queues served in turn, each with CoDel at the times of Linux (RFC 8290). Where packets were dropped at the
    /// limit, CoDel drops more densely for a while.
    "fq-codel" FqCodel => FqCodelQdisc;
    /// Proportional integral controller enhanced (RFC 8033). Above a delay of 250 ms its drop probability rises above 1:
    /// all but two packets are dropped until it has fallen.
    "pie" Pie => PieQdisc;
    /// Random early detection (Floyd and Jacobson 1993): drops at random by the mean queue, and all above its upper
    /// threshold.
    "red" Red => RedQdisc;
}

impl Queue {
    /// Returns whether it drops at random.
    pub fn is_random(&self) -> bool {
        matches!(self, Self::Pie(_) | Self::Red(_))
    }
}
