//! The sections of `owner.toml` that every creature has; those a creature adds for itself are in `declared`.

use super::forms::Form;
use super::key::Shape::{Amount, Clamped, Count, Flag, List, Text, Word};
use super::key::section;

/// Permissions of a tool: always usable, usable only for a request of the owner's that asks for it in plain words,
/// never usable.
pub const PERMISSIONS: &[&str] = &["always", "owner", "never"];
const CATEGORIES: &[&str] = &["goals", "opportunities", "tasks", "gaps", "presence", "knowledge", "scanning"];
/// A longer rest would come close to the 150 minutes without a turn after which the guardian takes a creature for
/// hung.
const LONGEST_REST_S: u64 = 3_600;

section! {
    /// Bounds on the rest between wakes.
    Rest {
        /// seconds: shortest rest between wakes
        shortest_s: u64 = 2, Clamped(1, LONGEST_REST_S);
        /// seconds: longest rest while there is something to do
        longest_s: u64 = 300, Clamped(1, LONGEST_REST_S);
        /// seconds: longest rest with nothing to do
        quiet_s: u64 = 1_800, Clamped(1, LONGEST_REST_S);
    }
}

section! {
    /// Order of the creature's work, and limits from which on the owner is asked.
    Agenda {
        /// what goes first: `goals`, `opportunities`, `tasks`, `gaps`, `presence`, `knowledge`, `scanning`; what you
        /// leave out follows
        order: Vec<String> = vec![], List(&Word(CATEGORIES));
        /// USD from which on an opportunity is not executed without your yes
        ask_above_usd: f64 = 500.0, Amount(0.0, f64::MAX);
        /// USD from which on a goal of its own waits for your yes
        goal_cost_usd: f64 = 50.0, Amount(0.0, f64::MAX);
        /// messages to you; the rest is gathered into one
        messages_per_hour: u32 = 5, Count(0, u32::MAX as u64);
        /// yours, as in `Europe/Berlin`: reminders and "today" are counted there; empty: this machine's
        time_zone: String = String::new(), Text(Form::Zone);
        /// thoughts in one wake
        rounds: u32 = 8, Clamped(1, 50);
        /// whether it works through `self/HEARTBEAT.md`
        checklist: bool = true, Flag;
        /// seconds between two looks at that, while it has open items
        checklist_s: u64 = 300, Clamped(60, 86_400);
    }
}

section! {
    /// Where ways to earn are looked for.
    Revenue {
        /// whether `platforms` are looked at, and own time looks for what would be worth doing
        enabled: bool = true, Flag;
        /// minutes between two looks at a platform
        scan_interval_minutes: u64 = 30, Clamped(5, 1_440);
        /// where it looks, by plain code while it has a model: a page or feed by its address (`feed: ` before one that
        /// does not show it is a feed), or a service of yours as `NAME` or `NAME/path`, read by GET
        platforms: Vec<String> = vec![], List(&Text(Form::Free));
    }
}

section! {
    /// Sub-sessions.
    Sessions {
        /// sub-sessions that run beside one another
        at_once: u32 = 3, Clamped(1, 8);
    }
}

section! {
    /// The nightly dream.
    Dream {
        /// when it dreams, UTC
        at: String = "01:00".to_owned(), Text(Form::TimeOfDay);
        /// name of the model it dreams with, of the same provider; left out: as `[model]`
        model: Option<String> = None, Text(Form::Free);
    }
}

section! {
    /// Where the file tools work, and how much of it they show.
    Files {
        /// whether the file tools work at `risky_root` instead of the workspace, and the walls let lives write there,
        /// see [walls](walls.md#risky-mode)
        risky: bool = false, Flag;
        /// that folder, in the house or by an absolute path
        risky_root: String = String::new(), Text(Form::Free);
        /// entries that `files.list` shows at once; it says how many it left out
        most_entries: u32 = 300, Clamped(10, 5_000);
        /// bytes of a file that `files.read` reads
        most_bytes: u64 = 512 << 10, Clamped(1_024, 16 << 20);
    }
}

section! {
    /// How long each step of a self-edit may take.
    SelfEdit {
        /// seconds a self-edit's build may take
        build_s: u64 = 900, Clamped(1, 1_200);
        /// seconds its tests may take, their build included
        test_s: u64 = 600, Clamped(1, 1_200);
        /// seconds its rehearsal may take
        rehearsal_s: u64 = 60, Clamped(1, 120);
    }
}
