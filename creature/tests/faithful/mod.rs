//! Local servers that hold to what the providers document: rules, caches, streams and faults of each wire, with a scripted mind.
//!
//! Invariant: nothing here knows the creature; a server judges by its wire's pages alone, and a mind sees what a model would.
#![allow(
    dead_code,
    unused_imports,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm
)]

mod anthropic;
mod anthropic_rules;
mod anthropic_turns;
mod cache;
mod chat;
mod chat_rules;
mod events;
mod given;
pub mod http;
pub mod ledger;
mod media;
pub mod models;
mod reply;
mod responses;
mod responses_items;
mod responses_rules;
mod rules;
pub mod say;
pub mod seen;
mod serve;
pub mod tool_rules;

pub use cache::{Tokens, tokens};
pub use ledger::Entry;
pub use models::Prices;
pub use rules::{Refusal, Why};
pub use say::Say;
pub use seen::{Message, Seen, Shown};

use cache::Cache;
use given::Given;
use serde_json::Value;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// How often a wait looks again where nothing tells it of a change.
const LOOK: Duration = Duration::from_millis(100);

/// The form spoken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wire {
    Anthropic,
    Responses,
    Chat,
}

impl Wire {
    pub const ALL: [Wire; 3] = [Wire::Anthropic, Wire::Responses, Wire::Chat];

    /// Its name in the owner's settings.
    pub fn name(self) -> &'static str {
        match self {
            Wire::Anthropic => "anthropic",
            Wire::Responses => "responses",
            Wire::Chat => "openai",
        }
    }

    /// A model of this wire that every server here knows.
    pub fn model(self) -> &'static str {
        match self {
            Wire::Anthropic => "claude-sonnet-5-5",
            Wire::Responses => "gpt-6.1-sol",
            Wire::Chat => "local-test",
        }
    }
}

/// How a server differs from its provider's own.
#[derive(Clone, Debug)]
pub struct Rules {
    /// Of where streams are split.
    pub seed: u64,
    /// Comments, pings and odd spaces in streams.
    pub noise: bool,
    /// Writes of uneven length; else the stream goes in one.
    pub split: bool,
    /// In tokens.
    pub window: usize,
    /// Names of models known beside those of the table, as the newest of the wire.
    pub models: Vec<String>,
    /// Questions whether tools are had are answered without the mind.
    pub probe: bool,
    /// A server that is not OpenAI's own: unknown fields are read over, `/props` and `/api/show` answer.
    pub local: bool,
    pub drops_tools: bool,
    pub object_arguments: bool,
    pub no_ids: bool,
    pub no_usage: bool,
    pub no_done: bool,
    pub repeats_names: bool,
    /// What is over so many tokens is cut from the front, and nothing is said.
    pub cuts_at: Option<usize>,
    pub system_first: bool,
    pub roles_alternate: bool,
    /// As templates of Llama 3 have it: at most one call a turn.
    pub single_calls: bool,
    /// As templates of Mistral have it: calls and their results aside, user and assistant alternate.
    pub alternates_beside_calls: bool,
    /// As DeepSeek has it: a reply is held to an object, to no schema.
    pub refuses_schema: bool,
    pub refuses_format: bool,
    /// What this server refuses beside the rules of its wire.
    pub refuses: Option<Refuses>,
}

/// A look at a request's body: none where it is taken, else the status and the body of the refusal.
#[derive(Clone)]
pub struct Refuses(pub Arc<Judge>);

type Judge = dyn Fn(&Value) -> Option<(u16, String)> + Send + Sync;

impl std::fmt::Debug for Refuses {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Refuses")
    }
}

impl Default for Rules {
    fn default() -> Rules {
        Rules {
            seed: 7,
            noise: true,
            split: true,
            window: 1_000_000,
            models: Vec::new(),
            probe: true,
            local: false,
            drops_tools: false,
            object_arguments: false,
            no_ids: false,
            no_usage: false,
            no_done: false,
            repeats_names: false,
            cuts_at: None,
            system_first: false,
            roles_alternate: false,
            single_calls: false,
            alternates_beside_calls: false,
            refuses_schema: false,
            refuses_format: false,
            refuses: None,
        }
    }
}

impl Rules {
    /// A local server with a strict template.
    pub fn local() -> Rules {
        Rules { local: true, system_first: true, roles_alternate: true, window: 32_768, ..Rules::default() }
    }

    /// A local server with every habit that a reply may have.
    pub fn odd() -> Rules {
        Rules { object_arguments: true, no_ids: true, no_usage: true, no_done: true, ..Rules::local() }
    }
}

type Mind = Box<dyn FnMut(&Seen) -> Say + Send>;

#[derive(Default)]
struct State {
    now_s: u64,
    requests: usize,
    cache: Cache,
    given: Given,
    seen: Vec<Seen>,
    refusals: Vec<Refusal>,
    ledger: Vec<Entry>,
    /// Paths of requests that were no talk.
    looked: Vec<String>,
    /// Clients that hung up before the end of an answer.
    hung_up: usize,
}

struct Shared {
    wire: Wire,
    rules: Rules,
    mind: Mutex<Mind>,
    state: Mutex<State>,
    changed: Condvar,
    closed: AtomicBool,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A server on loopback; it ends with this value.
pub struct Faithful {
    address: SocketAddr,
    shared: Arc<Shared>,
}

impl Faithful {
    pub fn start(wire: Wire, rules: Rules, mind: impl FnMut(&Seen) -> Say + Send + 'static) -> Faithful {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let shared = Arc::new(Shared {
            wire,
            rules,
            mind: Mutex::new(Box::new(mind)),
            state: Mutex::default(),
            changed: Condvar::new(),
            closed: AtomicBool::new(false),
        });
        let theirs = Arc::clone(&shared);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if theirs.closed.load(Ordering::Relaxed) {
                    return;
                }
                let shared = Arc::clone(&theirs);
                thread::spawn(move || serve::serve(&shared, &stream));
            }
        });
        Faithful { address, shared }
    }

    /// As in `http://127.0.0.1:4000`.
    pub fn origin(&self) -> String {
        format!("http://{}", self.address)
    }

    /// What a client of this wire is told, as `base_url` has it.
    pub fn base_url(&self) -> String {
        match self.shared.wire {
            Wire::Anthropic => self.origin(),
            Wire::Responses | Wire::Chat => format!("{}/v1", self.origin()),
        }
    }

    /// Requests refused for their form, and minds that fell.
    pub fn violations(&self) -> Vec<Refusal> {
        self.refusals().into_iter().filter(|refusal| refusal.why == Why::Form).collect()
    }

    /// All requests refused, whatever for.
    pub fn refusals(&self) -> Vec<Refusal> {
        self.shared.state().refusals.clone()
    }

    #[track_caller]
    pub fn assert_no_violations(&self) {
        let violations = self.violations();
        assert!(violations.is_empty(), "refused for their form: {violations:#?}");
    }

    pub fn ledger(&self) -> Vec<Entry> {
        self.shared.state().ledger.clone()
    }

    /// What the mind was shown, request by request.
    pub fn seen(&self) -> Vec<Seen> {
        self.shared.state().seen.clone()
    }

    /// Paths asked for that are no talk, as `/v1/models`.
    pub fn looked(&self) -> Vec<String> {
        self.shared.state().looked.clone()
    }

    /// Clients that hung up before the end of an answer.
    pub fn hung_up(&self) -> usize {
        self.shared.state().hung_up
    }

    /// The caches' clock, which stands still else.
    pub fn forward(&self, seconds: u64) {
        self.shared.state().now_s += seconds;
    }

    /// Other words from the next request on.
    pub fn change_mind(&self, mind: impl FnMut(&Seen) -> Say + Send + 'static) {
        *self.shared.mind.lock().unwrap_or_else(PoisonError::into_inner) = Box::new(mind);
    }

    /// Waits until so many requests were put to the mind.
    #[track_caller]
    pub fn wait_for_seen(&self, count: usize) {
        self.wait(&format!("{count} requests"), |state| state.seen.len() >= count);
    }

    /// Waits until so many requests were answered and counted.
    #[track_caller]
    pub fn wait_for_counted(&self, count: usize) {
        self.wait(&format!("{count} answers"), |state| state.ledger.len() >= count);
    }

    #[track_caller]
    pub fn wait_for_hung_up(&self, count: usize) {
        self.wait(&format!("{count} clients to hang up"), |state| state.hung_up >= count);
    }

    #[track_caller]
    fn wait(&self, what: &str, mut enough: impl FnMut(&State) -> bool) {
        // Only so that a test that is broken ends; nothing is measured by it.
        let patience = Instant::now() + Duration::from_secs(120);
        let mut state = self.shared.state();
        while !enough(&state) {
            let left = patience.saturating_duration_since(Instant::now());
            assert!(!left.is_zero(), "waited in vain for {what}; {} were seen", state.seen.len());
            state = self
                .shared
                .changed
                .wait_timeout(state, left.min(LOOK))
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
    }
}

impl Drop for Faithful {
    fn drop(&mut self) {
        self.shared.closed.store(true, Ordering::Relaxed);
        // Wakes the listener, which then ends.
        let _ = TcpStream::connect(self.address);
    }
}
