//! Paths of the house: the only file that spells them.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// A repository root and the places in it that guardian, broker and console know by name.
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

    /// Identifies the house on this machine, whatever path it is seen at: device and inode of a folder of its own.
    /// Stays the same when the house is moved on its disk.
    pub fn identity(&self) -> String {
        let meta = std::fs::metadata(self.own());
        meta.map_or_else(|_| "none".into(), |meta| format!("{:x}-{:x}", meta.dev(), meta.ino()))
    }

    places! {
        owner_settings = "owner.toml";
        /// The owner's keys; read by the broker alone.
        secrets = ".env";
        creature = "creature";
        /// Settings the creature gives itself, as it declares them.
        declared_settings = "creature/settings.toml";
        /// The creature's part of the owner's settings, as the guardian hands it over.
        handed_settings = ".self/settings.json";
        target = "target/creature";
        /// Folder of cargo's builds.
        built = "target/creature/debug";
        /// Folder of control runs; removed once a build is judged.
        control = "target/creature/tmp/control";
        /// Cargo's home for the creature, seeded from the owner's.
        cargo_home = "target/creature/cargo-home";
        purpose = "PURPOSE.md";
        /// A copy of the purpose, readable inside walls: those grant the inode of `PURPOSE.md` at launch, not one
        /// that replaced it.
        purpose_copy = ".self/purpose.md";
        state_folder = ".self";
        memory = ".self/memory.jsonl";
        heartbeat = ".self/heartbeat";
        inbox = ".self/inbox.jsonl";
        /// Time until which the creature waits for a word that the owner is typing in a window.
        typing = ".self/typing";
        snapshots = ".self/snapshots";
        workspace = ".self/workspace";
        /// `HOME` and `TMPDIR` of everything the guardian starts.
        home = ".self/workspace/home";
        temporary = ".self/workspace/tmp";
        mind = ".self/mind";
        /// The creature's feed of events, for programs.
        events = ".self/mind/feed.jsonl";
        /// Prompts given to its minds, and their replies.
        conversations = ".self/mind/conversations";
        /// The creature's notes of each wake, beside its memory.
        bookkeeping = ".self/mind/bookkeeping.jsonl";
        /// The creature's plans.
        agenda = ".self/mind/agenda.json";
        request = ".self/mind/request.json";
        /// The thought under way, as it streams.
        thinking = ".self/mind/thinking.txt";
        published = ".self/guardian.json";
        last_good = ".self/last_good.txt";
        deaths = ".self/deaths.jsonl";
        history = ".self/history.jsonl";
        logs = ".self/log";
        build_log = ".self/log/build.log";
        build_messages = ".self/log/build.jsonl";
        exam_log = ".self/log/exam.log";
        broker_log = ".self/log/broker.log";
        broker_build_log = ".self/log/broker-build.log";
        console_build_log = ".self/log/console-build.log";
        channels_build_log = ".self/log/channels-build.log";
        channels_log = ".self/log/channels.log";
        /// Cargo's output while it fetched the creature's crates before the first build.
        fetch_log = ".self/log/fetch.log";
        broker_check_log = ".self/log/broker-check.log";
        /// Notices sent to the owner, and how far the records are read for them.
        notices = ".self/notices.json";
        notices_log = ".self/log/notices.log";
        /// Log of the last packing of the repository.
        small_log = ".self/log/git.log";
        reports = ".self/reports";
        asks = ".self/asks.jsonl";
        /// News of MCP servers, for the creature.
        news = ".self/news.jsonl";
        budget = ".self/budget.json";
        ledger = ".self/ledger.jsonl";
        /// The broker's state; the creature has no access.
        broker = ".self/broker";
        tokens = ".self/broker/tokens.json";
        /// The broker's note of the ledger's length.
        anchor = ".self/broker/anchor.json";
        answers = ".self/broker/answers.jsonl";
        asks_folder = ".self/broker/asks";
        recipients = ".self/broker/recipients.jsonl";
        /// Packages of Python's and npm's that the owner allowed.
        packages = ".self/broker/packages.jsonl";
        taint = ".self/broker/taint.json";
        hours = ".self/broker/hours.jsonl";
        /// Amounts that calls of tools came to, by the owner's limits.
        spent = ".self/broker/spent.jsonl";
        /// The state of the owner's channels; the creature has no access.
        channels = ".self/broker/channels";
        /// Held by the one program that serves them, and touched by it as long as it does.
        channels_lock = ".self/broker/channels/lock";
        /// How each channel stands, for people.
        channels_standing = ".self/broker/channels/standing.json";
        /// Pairings that the owner asked for, and those that were taken back.
        pairing = ".self/broker/channels/pairing.json";
        /// Files that the owner sent by a channel.
        received = ".self/received";
        /// `owner.toml` as it was before the console changed it.
        owner_before = ".self/broker/owner-before.toml";
        /// The token of the link to the owner's page.
        page_link = ".self/broker/page.json";
        /// State of the owner's page beyond this machine.
        page_folder = ".self/broker/page";
        page_standing = ".self/broker/page/standing.json";
        /// Failed sign-ins there, and the waits they brought.
        page_guesses = ".self/broker/page/guesses.json";
        phone_page_log = ".self/log/phone-page.log";
        phone_page_build_log = ".self/log/phone-page-build.log";
        /// The index of the owner's page, which can always be made anew from the records.
        page_index = ".self/page/index";
        /// The state of the guardian's first process.
        heart = ".self/heart.json";
        own = ".self/guardian";
        state = ".self/guardian/state.json";
        lock = ".self/guardian/lock";
        creature_lock = ".self/guardian/creature.lock";
        broker_lock = ".self/guardian/broker.lock";
        binaries = ".self/guardian/binaries";
        order = ".self/guardian/order.json";
        /// Files that were in the way and cannot be kept in git: moved here, never deleted.
        kept = ".self/guardian/kept";
    }

    pub fn ask(&self, id: &str) -> PathBuf {
        self.asks_folder().join(format!("{id}.json"))
    }

    /// The morning report of a day, as `2026-01-31`.
    pub fn report(&self, day: &str) -> PathBuf {
        self.reports().join(format!("{day}.md"))
    }

    /// Cargo's output of the last build of a hand.
    pub fn hand_build_log(&self, hand: &str) -> PathBuf {
        self.logs().join(format!("hand-{hand}-build.log"))
    }

    pub fn life_log(&self, life: u64) -> PathBuf {
        self.logs().join(format!("life-{life}.log"))
    }
}
