//! Pages: the client loads a document and the objects that it refers to, over several connections or over one.

use std::collections::{BTreeMap, VecDeque};

use config::{Distribution, FieldContext, FieldError, check_number, table};
use units::random::RngStream;
use units::{Bytes, Duration, Instant};

use crate::application::{Application, Command, End};
use crate::jitter::{DEFAULT_JITTER, Jitter, check_jitter};
use crate::workload::{SECOND, Settings, at_least_one};

/// Maximum number of connections of a page load.
const MAX_CONNECTIONS: u32 = 32;

table! {
    /// Pages that the receiving node loads, one after another. A page is a document and objects. An object is requested
    /// when the one that names it has arrived and was parsed; the document names those of the first level. The
    /// event "page_first_byte_s" has the time from the opening of the first connection to the first byte (on the kernel
    /// engine to the first 8 kB, or all of it). At the end of each page, "page_bytes" has its payload, and "page_load_s" the
    /// time from that opening to the last byte.
    /// Connections are closed after each page. A page that is not complete at the end of the run has its age as
    /// "page_load_age_s", unless another page took as long.
    pub struct Page {
        /// Payload of the document; default 30kB.
        pub document: Distribution<Bytes> = Distribution::Constant {
            value: Bytes::new(30_000),
        },
        /// Number of objects; default 70.
        pub objects: u32 = 70,
        /// Payload of each object; default log-normal with a median of 10kB and a sigma of 1.4.
        pub object: Distribution<Bytes> = Distribution::Lognormal {
            median: Bytes::new(10_000),
            sigma: 1.4,
        },
        /// Levels of objects: each object of a level is named by one of the level before; default 3.
        pub depth: u32 = 3,
        /// Time from the arrival of a document or object to the requests for the objects that it refers to; default 10ms.
        pub parse: Distribution<Duration> = Distribution::Constant {
            value: Duration::from_millis(10),
        },
        /// Connections at the same time, each with one request at a time as in HTTP/1.1; default 6.
        pub connections: u32 = 6,
        /// Whether all requests go over one connection at once, and the responses follow each other, as in HTTP/2;
        /// default false. `connections` means nothing then.
        pub multiplexed: bool,
        /// Payload of each request; default 500B.
        pub request: Bytes = Bytes::new(500),
        /// Time from the last byte of a request at the sending node to the first byte of the response; default 10ms.
        pub think: Distribution<Duration> = Distribution::Constant {
            value: Duration::from_millis(10),
        },
        /// Time from the end of a page to the next; default exponential with a mean of 1s.
        pub gap: Distribution<Duration> = SECOND,
        /// Share by which a constant gap is shorter or longer at random, from 0 to 1; default 0.1, with which periodic
        /// flows do not stay in phase; 0: none.
        pub jitter: f64 = DEFAULT_JITTER,
        /// Number of pages; unset: as many as fit into the run.
        pub count: Option<u32>,
    }
}

impl Settings for Page {
    fn check(&self) -> Result<(), FieldError> {
        self.document.check(false).in_table("document")?;
        self.object.check(false).in_table("object")?;
        check_number("depth", self.depth, 1, 100)?;
        self.parse.check(true).in_table("parse")?;
        check_number("objects", self.objects, 0, 10_000)?;
        check_number("connections", self.connections, 1, MAX_CONNECTIONS)?;
        self.think.check(true).in_table("think")?;
        self.gap.check(true).in_table("gap")?;
        check_jitter(self.jitter)?;
        at_least_one("count", self.count, "1 page or more")
    }

    fn is_random(&self) -> bool {
        // The objects that name others are drawn.
        true
    }

    fn mean_period_ns(&self, rtt_ns: f64) -> f64 {
        let page = rtt_ns + self.parse.mean() + self.think.mean() + self.gap.mean();
        // Per request, as if the objects took no time of their own.
        page / f64::from(self.objects + 1)
    }

    fn sets_nodelay(&self) -> bool {
        // Clients and servers of HTTP/2 set it, because many streams share the connection.
        self.multiplexed
    }

    fn application(&self, draws: RngStream) -> Box<dyn Application> {
        Box::new(Browser::new(self.clone(), draws))
    }
}

/// Document or object of a page.
#[derive(Clone, Debug, Default)]
struct Object {
    bytes: u64,
    /// Indices of the objects that it refers to.
    references: Vec<usize>,
}

/// Connection of a page load.
#[derive(Clone, Debug, Default)]
struct PageConnection {
    is_open: bool,
    /// Objects whose requests are on their way.
    requested: VecDeque<usize>,
    /// Request bytes at the server that belong to no complete request yet.
    partial: u64,
    /// Objects whose responses are on their way, with the bytes of each that have not arrived.
    answers: VecDeque<(usize, u64)>,
    /// Time before which no response begins: they leave in the order of the requests.
    busy_until: Instant,
}

impl PageConnection {
    fn is_idle(&self) -> bool {
        self.requested.is_empty() && self.answers.is_empty()
    }
}

/// Event that is due at a time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Due {
    /// The client has parsed an object.
    Parsed(usize),
    /// The server answers the oldest request on a connection.
    Answer(usize),
    /// The next page begins.
    Page,
}

/// Browser of a flow, and its server.
pub(crate) struct Browser {
    config: Page,
    draws: RngStream,
    jitter: Jitter,
    objects: Vec<Object>,
    connections: Vec<PageConnection>,
    /// Objects that are to be requested.
    waiting: VecDeque<usize>,
    /// Objects that have not arrived.
    missing_objects: usize,
    /// Connections that are still being closed.
    closing_connections: usize,
    started_at: Instant,
    /// Whether the first byte of the page has arrived.
    has_begun: bool,
    pages: u32,
    /// Longest load of a page.
    longest_load: Duration,
    /// Events to come, by time and order.
    due: BTreeMap<(Instant, u64), Due>,
    order: u64,
    /// Time of the latest [`Command::WakeAt`].
    wake_at: Instant,
    /// Index of the connection of the current callback.
    slot: usize,
}

impl Browser {
    pub(crate) fn new(config: Page, draws: RngStream) -> Self {
        let connections = if config.multiplexed {
            1
        } else {
            config.connections
        };
        Self {
            connections: vec![PageConnection::default(); connections as usize],
            jitter: Jitter::new(config.jitter, &draws),
            config,
            draws,
            objects: Vec::new(),
            waiting: VecDeque::new(),
            missing_objects: 0,
            closing_connections: 0,
            started_at: Instant::ZERO,
            has_begun: false,
            pages: 0,
            longest_load: Duration::ZERO,
            due: BTreeMap::new(),
            order: 0,
            wake_at: Instant::NEVER,
            slot: 0,
        }
    }

    /// Draws the objects of a page, of which the document is the first.
    fn draw_page(&mut self) {
        let draws = &mut self.draws;
        let document = self.config.document.draw(draws).get().max(1);
        let count = self.config.objects as usize;
        let mut objects = vec![Object::default(); count + 1];
        objects[0].bytes = document;
        // Levels are as large as each other; the first ones take the rest.
        let depth = (self.config.depth as usize).min(count.max(1));
        let mut above = 0..1;
        let mut next = 1;
        for level in 0..depth {
            let size = count / depth + usize::from(level < count % depth);
            for index in next..next + size {
                objects[index].bytes = self.config.object.draw(draws).get().max(1);
                let by = above.start + draws.uniform_u64(above.len() as u64) as usize;
                objects[by].references.push(index);
            }
            above = next..next + size;
            next += size;
        }
        self.missing_objects = objects.len();
        self.objects = objects;
    }

    fn schedule(&mut self, at: Instant, event: Due) {
        self.due.insert((at, self.order), event);
        self.order += 1;
    }

    fn begin(&mut self, now: Instant) {
        self.draw_page();
        self.started_at = now;
        self.has_begun = false;
        self.connections.fill(PageConnection::default());
        self.waiting.push_back(0);
    }

    /// Sends the requests for which there is a connection; opens connections that are needed.
    fn request(&mut self, out: &mut Vec<Command>) {
        while let Some(&object) = self.waiting.front() {
            let is_shared = self.config.multiplexed;
            let Some(slot) = self
                .connections
                .iter()
                .position(|connection| is_shared || connection.is_idle())
            else {
                return;
            };
            self.waiting.pop_front();
            let connection = &mut self.connections[slot];
            connection.requested.push_back(object);
            out.push(Command::SelectSlot(slot));
            if !core::mem::replace(&mut connection.is_open, true) {
                out.push(Command::Open);
            }
            out.push(Command::Send(End::Client, self.config.request.get().max(1)));
        }
    }

    fn send_response(&mut self, slot: usize, out: &mut Vec<Command>) {
        let connection = &mut self.connections[slot];
        if let Some(object) = connection.requested.pop_front() {
            let bytes = self.objects[object].bytes;
            connection.answers.push_back((object, bytes));
            out.extend([Command::SelectSlot(slot), Command::Send(End::Server, bytes)]);
        }
    }

    fn on_object(&mut self, now: Instant, object: usize, out: &mut Vec<Command>) {
        self.missing_objects -= 1;
        if !self.objects[object].references.is_empty() {
            let parse = self.config.parse.draw(&mut self.draws);
            self.schedule(now + parse, Due::Parsed(object));
        }
        if self.missing_objects == 0 {
            let elapsed = now.saturating_since(self.started_at);
            let bytes: u64 = self.objects.iter().map(|each| each.bytes).sum();
            out.push(Command::Record("page_bytes", bytes as f64));
            out.push(Command::Record("page_load_s", elapsed.as_secs_f64()));
            self.longest_load = self.longest_load.max(elapsed);
            self.pages += 1;
            for (slot, connection) in self.connections.iter().enumerate() {
                if connection.is_open {
                    self.closing_connections += 1;
                    out.extend([Command::SelectSlot(slot), Command::Close(End::Client)]);
                }
            }
        }
    }

    /// Sends what can be sent, and asks for the next call.
    fn send_ready(&mut self, out: &mut Vec<Command>) {
        self.request(out);
        let next = self.due.keys().next().map_or(Instant::NEVER, |key| key.0);
        if next != self.wake_at && next != Instant::NEVER {
            self.wake_at = next;
            out.push(Command::WakeAt(next));
        }
    }
}

impl Application for Browser {
    fn wants_progress(&self) -> bool {
        true
    }

    fn select_slot(&mut self, slot: usize) {
        self.slot = slot;
    }

    fn on_wake(&mut self, now: Instant, out: &mut Vec<Command>) {
        self.wake_at = Instant::NEVER;
        if self.objects.is_empty() {
            self.begin(now);
        }
        while let Some(entry) = self.due.first_entry()
            && entry.key().0 <= now
        {
            match entry.remove() {
                Due::Parsed(object) => {
                    let references = core::mem::take(&mut self.objects[object].references);
                    self.waiting.extend(references);
                }
                Due::Answer(slot) => self.send_response(slot, out),
                Due::Page => self.begin(now),
            }
        }
        self.send_ready(out);
    }

    fn on_progress(&mut self, now: Instant, end: End, bytes: u64, out: &mut Vec<Command>) {
        let slot = self.slot;
        if end == End::Server {
            let request = self.config.request.get().max(1);
            let received = self.connections[slot].partial + bytes;
            self.connections[slot].partial = received % request;
            for _ in 0..received / request {
                let think = self.config.think.draw(&mut self.draws);
                let connection = &mut self.connections[slot];
                connection.busy_until = connection.busy_until.max(now + think);
                let at = connection.busy_until;
                self.schedule(at, Due::Answer(slot));
            }
        } else {
            if !core::mem::replace(&mut self.has_begun, true) {
                let elapsed = now.saturating_since(self.started_at);
                out.push(Command::Record("page_first_byte_s", elapsed.as_secs_f64()));
            }
            let mut left = bytes;
            while left > 0
                && let Some((object, missing)) = self.connections[slot].answers.front_mut()
            {
                let part = left.min(*missing);
                *missing -= part;
                left -= part;
                if *missing == 0 {
                    let object = *object;
                    self.connections[slot].answers.pop_front();
                    self.on_object(now, object, out);
                }
            }
        }
        self.send_ready(out);
    }

    fn on_completed(&mut self, now: Instant, out: &mut Vec<Command>) {
        self.closing_connections -= 1;
        if self.closing_connections == 0 && self.config.count.is_none_or(|count| self.pages < count)
        {
            let gap = self.jitter.draw_pause(&self.config.gap, &mut self.draws);
            self.schedule(now + gap, Due::Page);
        }
        self.send_ready(out);
    }

    fn on_stopped(&mut self, now: Instant, out: &mut Vec<Command>) {
        let age = now.saturating_since(self.started_at);
        if self.missing_objects > 0 && age > self.longest_load {
            out.push(Command::Record("page_load_age_s", age.as_secs_f64()));
        }
    }
}

#[cfg(test)]
mod tests;
