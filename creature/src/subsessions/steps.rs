//! Steps of sub-sessions under way: a thought that a model is asked for, or a call that waits for something outside.
//!
//! Invariant: a step runs beside the life and holds nothing of it; what it came to is taken over once, in the one loop.

use crate::jobs::{Job, Jobs};
use crate::store::caller::Caller;
use agenda::items::later;
use ground::papers::Paper;
use jiff::{SignedDuration, Timestamp};
use mind::Outcome;
use mind::conversation::Conversation;
use mind::llm::ModelMind;
use mind::thought::ToolCall;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::JoinHandle;

/// A thought that nobody asked for, in seconds of the pace they keep, and the seconds they may be ahead of it: eighty in a
/// row, then one in eight seconds.
const THOUGHT_S: i64 = 8;
const BURST_S: i64 = 640;

/// The steps of all sub-sessions, and what each is to do next.
pub(crate) struct Steps {
    /// Steps under way, by the id of the session.
    under_way: BTreeMap<String, Step>,
    /// The calls of a session's last thought that it has not made yet.
    calls: BTreeMap<String, VecDeque<ToolCall>>,
    begun: u64,
    sender: UnboundedSender<Over>,
    over: UnboundedReceiver<Over>,
    /// The mind, for thoughts apart while it thinks itself.
    pub aside: Option<ModelMind>,
    /// Time at which thoughts that nobody asked for are back at their pace.
    paced: Timestamp,
    /// Calls that the end of an earlier life cut off were told to their sessions.
    pub knows_cut: bool,
}

struct Step {
    number: u64,
    task: JoinHandle<()>,
    doing: Doing,
}

/// Work of a session just now.
pub(crate) enum Doing {
    Asks(Asker),
    Calls(Box<Calling>),
}

/// Model that is asked for a session's thought.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Asker {
    /// The mind's own.
    Mind,
    Quick,
    /// The model the session was given.
    Named,
}

/// A call of a session under way.
pub(crate) struct Calling {
    pub call: ToolCall,
    pub caller: Caller,
    pub job: Arc<Job>,
    pub jobs: Jobs,
    /// Whether each of the watched files was as known when it began.
    pub known: Vec<bool>,
    /// The checklist as it was, where the call may change it.
    pub checklist: Option<Paper>,
}

/// Outcome of asking a model; without the conversation where that could not be kept.
pub(crate) struct Asked {
    pub talk: Option<Conversation>,
    pub outcome: Outcome,
}

/// A step that has ended: its session, what it did, and what a model was asked for.
pub(crate) type Ended = (String, Doing, Option<Asked>);

/// Notice that a step is over.
struct Over {
    id: String,
    number: u64,
    asked: Option<Asked>,
}

impl Drop for Step {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Drop for Calling {
    fn drop(&mut self) {
        self.jobs.forget(&self.job);
    }
}

impl Default for Steps {
    fn default() -> Self {
        let (sender, over) = unbounded_channel();
        let (under_way, calls) = (BTreeMap::new(), BTreeMap::new());
        let paced = Timestamp::MIN;
        Self { under_way, calls, begun: 0, sender, over, aside: None, paced, knows_cut: false }
    }
}

impl Steps {
    /// Begins a step of a session; what a model was asked for is what it returns.
    pub fn begin(
        &mut self,
        id: &str,
        doing: Doing,
        step: impl Future<Output = Option<Asked>> + Send + 'static,
    ) {
        self.begun += 1;
        let (number, sender, session) = (self.begun, self.sender.clone(), id.to_owned());
        let task = tokio::spawn(async move {
            let asked = step.await;
            // Nobody hears it after the life.
            let _ = sender.send(Over { id: session, number, asked });
        });
        self.under_way.insert(id.to_owned(), Step { number, task, doing });
    }

    /// The next step that has ended. Safe to drop and call again.
    pub async fn ended(&mut self) -> Ended {
        loop {
            let Some(Over { id, number, asked }) = self.over.recv().await else {
                return std::future::pending().await;
            };
            // One that was dropped may have ended just before.
            if self.under_way.get(&id).is_some_and(|step| step.number == number)
                && let Some(doing) = self.dropped(&id)
            {
                return (id, doing, asked);
            }
        }
    }

    /// Returns the time until which no thought that nobody asked for is begun.
    pub fn waits_until(&self) -> Timestamp {
        self.paced.checked_sub(SignedDuration::from_secs(BURST_S)).unwrap_or(Timestamp::MIN)
    }

    /// Counts a thought that nobody asked for.
    pub fn pace(&mut self, now: Timestamp) {
        // After a clock that was set back nothing waits longer than the pace allows.
        let most = later(now, BURST_S);
        self.paced = later(self.paced.clamp(now, most), THOUGHT_S);
    }

    /// Whether any step is under way.
    pub fn any(&self) -> bool {
        !self.under_way.is_empty()
    }

    pub fn is_under_way(&self, id: &str) -> bool {
        self.under_way.contains_key(id)
    }

    /// Ends the step of a session wherever it is; what it was.
    pub fn dropped(&mut self, id: &str) -> Option<Doing> {
        let mut step = self.under_way.remove(id)?;
        Some(std::mem::replace(&mut step.doing, Doing::Asks(Asker::Mind)))
    }

    /// The sessions with a step under way or calls to make.
    pub fn sessions(&self) -> Vec<String> {
        self.under_way.keys().chain(self.calls.keys()).cloned().collect()
    }

    /// The call that a session makes just now.
    pub fn call(&self, id: &str) -> Option<&Job> {
        match &self.under_way.get(id)?.doing {
            Doing::Calls(calling) => Some(&calling.job),
            Doing::Asks(_) => None,
        }
    }

    /// Sets what a session is to call.
    pub fn set_calls(&mut self, id: &str, calls: &[ToolCall]) {
        self.calls.insert(id.to_owned(), calls.iter().cloned().collect());
    }

    /// The next call of a session; none where its last thought has been acted on.
    pub fn next_call(&mut self, id: &str) -> Option<ToolCall> {
        let next = self.calls.get_mut(id).and_then(VecDeque::pop_front);
        if next.is_none() {
            self.calls.remove(id);
        }
        next
    }

    /// Forgets what a session was to call.
    pub fn forget_calls(&mut self, id: &str) {
        self.calls.remove(id);
    }
}
