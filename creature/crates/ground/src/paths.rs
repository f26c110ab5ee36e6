//! Paths of the house: no other file spells them.

use std::path::{Path, PathBuf};

/// The house: a repository root and the places in it that the creature knows by name.
#[derive(Clone, Debug)]
pub struct House {
    root: PathBuf,
}

macro_rules! places {
    ($($(#[$doc:meta])* $name:ident = $path:literal;)*) => {
        $($(#[$doc])* pub fn $name(&self) -> PathBuf { self.root.join($path) })*
    };
}

impl House {
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The owner's words to a model on how to do this: `summary`, `talked`, `dream`; without such a file the built-in
    /// ones count.
    pub fn prompt(&self, name: &str) -> PathBuf {
        self.root.join("self/prompts").join(name).with_extension("md")
    }

    places! {
        purpose = "PURPOSE.md";
        /// The creature's part of `owner.toml`, as the guardian hands it over. Read only.
        settings = ".self/settings.json";
        /// The creature's own source.
        source = "creature";
        /// The creature's papers, tracked by git: scratch, diary, HEARTBEAT.md, drafts.
        papers = "self";
        drafts = "self/drafts";
        checklist = "self/HEARTBEAT.md";
        memory = ".self/memory.jsonl";
        snapshots = ".self/snapshots";
        heartbeat = ".self/heartbeat";
        /// Status of the guardian: phase, life, falls, answers. Read only.
        guardian = ".self/guardian.json";
        /// Events of the guardian, one a line. Read only.
        history = ".self/history.jsonl";
        /// Time until which the owner, who is typing a word, is not to be overtaken.
        typing = ".self/typing";
        inbox = ".self/inbox.jsonl";
        /// Outcomes of acts that needed the owner's yes; written by the broker.
        asks = ".self/asks.jsonl";
        /// News of MCP servers; written by the broker.
        news = ".self/news.jsonl";
        /// Every call that left the house, and what it cost; written by the broker.
        ledger = ".self/ledger.jsonl";
        /// Costs of models so far, and their caps; written by the broker.
        budget = ".self/budget.json";
        /// The creature's working state: cursors, instinct, the request to the guardian.
        mind = ".self/mind";
        request = ".self/mind/request.json";
        cursors = ".self/mind/cursors.json";
        instinct = ".self/mind/instinct.json";
        /// Conversations with models, a file each.
        conversations = ".self/mind/conversations";
        /// Talks with the owner that are over, and what each came to.
        talks = ".self/mind/talks.json";
        /// The thought under way, as far as it is streamed, for those who follow it.
        thinking = ".self/mind/thinking.txt";
        /// Whether each model server was found to take tools.
        servers = ".self/mind/servers.json";
        /// The agenda: goals, tasks and all else the creature means to do.
        agenda = ".self/mind/agenda.json";
        /// Wakes, changes of the agenda and turns of sub-sessions, beside memory.
        books = ".self/mind/bookkeeping.jsonl";
        /// Watches, and what each of them saw.
        watches = ".self/mind/watches.json";
        /// State of the sources the creature follows.
        scanned = ".self/mind/scanned.json";
        /// Sub-sessions under way.
        sessions = ".self/mind/sessions.json";
        /// Events of this life as they happen, for those who show them.
        feed = ".self/mind/feed.jsonl";
        /// The index over notes, snapshots and memory; it can be rebuilt from them.
        index = ".self/mind/index.sqlite";
        /// Facts and agenda before and after each part of the last dreams, a folder a dream.
        dreams = ".self/mind/dreams";
        /// Time the creature last dreamt, and how far a dream under way has come.
        dream = ".self/mind/dream.json";
        /// Papers of knowledge as they were when last looked at.
        looked = ".self/mind/looked.json";
        /// Facts that the creature holds for true, one a line.
        facts = "self/facts.md";
        workspace = ".self/workspace";
        /// `TMPDIR` of this life and its builds.
        temporary = ".self/workspace/tmp";
        /// Long tool results, kept whole where the thought only sees head and tail.
        spills = ".self/workspace/results";
        /// Last result of each test of the tree that lives.
        tests = ".self/mind/tests.json";
        /// The copy of the source on which edits gather.
        draft = ".self/workspace/draft";
        /// The draft that was put aside last.
        draft_aside = ".self/workspace/draft.aside";
        draft_lock = ".self/workspace/draft.lock";
        /// Cargo's target directory for the creature, shared with the guardian's builds.
        target = "target/creature";
    }
}
