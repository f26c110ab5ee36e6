//! Paths of the house: no other file spells them.

use std::path::{Path, PathBuf};

/// The house: a repository root and the places in it that the creature knows by name.
#[derive(Clone, Debug)]
pub struct House {
    root: PathBuf,
}

impl House {
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    pub fn purpose(&self) -> PathBuf {
        self.root.join("PURPOSE.md")
    }

    /// The creature's part of `owner.toml`, as the guardian hands it over. Read only.
    pub fn settings(&self) -> PathBuf {
        self.root.join(".self/settings.json")
    }

    /// The creature's own source.
    pub fn source(&self) -> PathBuf {
        self.root.join("creature")
    }

    /// The creature's papers, tracked by git: scratch, diary, HEARTBEAT.md, drafts.
    pub fn papers(&self) -> PathBuf {
        self.root.join("self")
    }

    /// The owner's words to a model on how to do this: `summary`, `talked`, `dream`; without such a file the built-in
    /// ones count.
    pub fn prompt(&self, name: &str) -> PathBuf {
        self.root.join("self/prompts").join(name).with_extension("md")
    }

    pub fn drafts(&self) -> PathBuf {
        self.root.join("self/drafts")
    }

    pub fn checklist(&self) -> PathBuf {
        self.root.join("self/HEARTBEAT.md")
    }

    pub fn memory(&self) -> PathBuf {
        self.root.join(".self/memory.jsonl")
    }

    pub fn snapshots(&self) -> PathBuf {
        self.root.join(".self/snapshots")
    }

    pub fn heartbeat(&self) -> PathBuf {
        self.root.join(".self/heartbeat")
    }

    /// Status of the guardian: phase, life, falls, answers. Read only.
    pub fn guardian(&self) -> PathBuf {
        self.root.join(".self/guardian.json")
    }

    /// Events of the guardian, one a line. Read only.
    pub fn history(&self) -> PathBuf {
        self.root.join(".self/history.jsonl")
    }

    /// Time until which the owner, who is typing a word, is not to be overtaken.
    pub fn typing(&self) -> PathBuf {
        self.root.join(".self/typing")
    }

    pub fn inbox(&self) -> PathBuf {
        self.root.join(".self/inbox.jsonl")
    }

    /// Outcomes of acts that needed the owner's yes; written by the broker.
    pub fn asks(&self) -> PathBuf {
        self.root.join(".self/asks.jsonl")
    }

    /// Every call that left the house, and what it cost; written by the broker.
    pub fn ledger(&self) -> PathBuf {
        self.root.join(".self/ledger.jsonl")
    }

    /// Costs of models so far, and their caps; written by the broker.
    pub fn budget(&self) -> PathBuf {
        self.root.join(".self/budget.json")
    }

    /// The creature's working state: cursors, instinct, the request to the guardian.
    pub fn mind(&self) -> PathBuf {
        self.root.join(".self/mind")
    }

    pub fn request(&self) -> PathBuf {
        self.root.join(".self/mind/request.json")
    }

    pub fn cursors(&self) -> PathBuf {
        self.root.join(".self/mind/cursors.json")
    }

    pub fn instinct(&self) -> PathBuf {
        self.root.join(".self/mind/instinct.json")
    }

    /// Conversations with models, a file each.
    pub fn conversations(&self) -> PathBuf {
        self.root.join(".self/mind/conversations")
    }

    /// Talks with the owner that are over, and what each came to.
    pub fn talks(&self) -> PathBuf {
        self.root.join(".self/mind/talks.json")
    }

    /// The thought under way, as far as it is streamed, for those who follow it.
    pub fn thinking(&self) -> PathBuf {
        self.root.join(".self/mind/thinking.txt")
    }

    /// Whether each model server was found to take tools.
    pub fn servers(&self) -> PathBuf {
        self.root.join(".self/mind/servers.json")
    }

    /// The agenda: goals, tasks and all else the creature means to do.
    pub fn agenda(&self) -> PathBuf {
        self.root.join(".self/mind/agenda.json")
    }

    /// Wakes, changes of the agenda and turns of sub-sessions, beside memory.
    pub fn books(&self) -> PathBuf {
        self.root.join(".self/mind/bookkeeping.jsonl")
    }

    /// Watches, and what each of them saw.
    pub fn watches(&self) -> PathBuf {
        self.root.join(".self/mind/watches.json")
    }

    /// State of the sources the creature follows.
    pub fn scanned(&self) -> PathBuf {
        self.root.join(".self/mind/scanned.json")
    }

    /// Sub-sessions under way.
    pub fn sessions(&self) -> PathBuf {
        self.root.join(".self/mind/sessions.json")
    }

    /// Events of this life as they happen, for those who show them.
    pub fn feed(&self) -> PathBuf {
        self.root.join(".self/mind/feed.jsonl")
    }

    /// The index over notes, snapshots and memory; it can be rebuilt from them.
    pub fn index(&self) -> PathBuf {
        self.root.join(".self/mind/index.sqlite")
    }

    /// Facts and agenda before and after each part of the last dreams, a folder a dream.
    pub fn dreams(&self) -> PathBuf {
        self.root.join(".self/mind/dreams")
    }

    /// Time the creature last dreamt, and how far a dream under way has come.
    pub fn dream(&self) -> PathBuf {
        self.root.join(".self/mind/dream.json")
    }

    /// Papers of knowledge as they were when last looked at.
    pub fn looked(&self) -> PathBuf {
        self.root.join(".self/mind/looked.json")
    }

    /// Facts that the creature holds for true, one a line.
    pub fn facts(&self) -> PathBuf {
        self.root.join("self/facts.md")
    }

    /// Small documents on how to do things, written by the creature for itself.
    pub fn skills(&self) -> PathBuf {
        self.root.join("self/skills")
    }

    pub fn workspace(&self) -> PathBuf {
        self.root.join(".self/workspace")
    }

    /// `TMPDIR` of this life and its builds.
    pub fn temporary(&self) -> PathBuf {
        self.root.join(".self/workspace/tmp")
    }

    /// Long tool results, kept whole where the thought only sees head and tail.
    pub fn spills(&self) -> PathBuf {
        self.root.join(".self/workspace/results")
    }

    /// Last result of each test of the tree that lives.
    pub fn tests(&self) -> PathBuf {
        self.root.join(".self/mind/tests.json")
    }

    /// The copy of the source on which edits gather.
    pub fn draft(&self) -> PathBuf {
        self.root.join(".self/workspace/draft")
    }

    /// The draft that was put aside last.
    pub fn draft_aside(&self) -> PathBuf {
        self.root.join(".self/workspace/draft.aside")
    }

    pub fn draft_lock(&self) -> PathBuf {
        self.root.join(".self/workspace/draft.lock")
    }

    /// Cargo's target directory for the creature, shared with the guardian's builds.
    pub fn target(&self) -> PathBuf {
        self.root.join("target/creature")
    }
}
