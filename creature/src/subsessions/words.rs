//! The prompt of a sub-session and the tools it has, by its mode. Pure.
//!
//! Invariant: a session may call the tools its prompt lists, and no others.

use super::review;
use crate::tools::catalogue::{self, TOOLS};
use crate::tools::marks::Mark;
use crate::tools::tool::Tool;
use agenda::sessions::{HOP_ROUNDS, MOST_HOPS, Mode, NOTHING, Origin, Session};
use ground::text::head;

const BASE: &str = include_str!("../../prompts/sub_base.md");
const MINIMAL: &str = include_str!("../../prompts/sub_minimal.md");
const FULL: &str = include_str!("../../prompts/sub_full.md");

/// Whole text a session of mode `none` is told beside its objective.
const PLAIN: &str = "A turn without calls ends this; its words are the answer.";

/// Most characters of purpose and of the snapshot that a full session is given.
const MOST_PURPOSE: usize = 4_000;
const MOST_SNAPSHOT: usize = 4_000;

/// Whether a session of this mode may use a tool; `held`: the only ones it was given, empty for all of the mode.
fn allows(mode: Mode, held: &[String], tool: &Tool) -> bool {
    tool.marks.modes.contains(&mode) && (held.is_empty() || held.iter().any(|held| held == tool.name))
}

/// Returns the brief of a session: what it is and how it works, by its mode and origin.
pub fn brief(session: &Session) -> String {
    let base = if session.mode == Mode::None { PLAIN } else { BASE };
    let rest = match session.mode {
        Mode::None | Mode::BaseOnly => "",
        Mode::Minimal => MINIMAL,
        Mode::Full => FULL,
    };
    let look = match &session.origin {
        Origin::Own(kind) => format!(
            "- This is a quick look of your own ({kind}): nobody asked for it. Begin your report with `{NOTHING}` unless \
             it is worth a dearer thought; else say what you found, where, and what should be done with it. It has \
             {HOP_ROUNDS} thoughts.\n"
        ),
        _ => String::new(),
    };
    format!("{}\n{look}{}\n", base.trim_end(), rest.trim_end())
}

/// Whether a session may use a tool.
pub fn may(session: &Session, tool: &str) -> bool {
    let may = |tool: &Tool| {
        let allowed = allows(session.mode, &session.tools, tool) || review::may(session, &tool.marks);
        allowed && (session.depth < 2 || !tool.marks.has(Mark::Spawns))
    };
    catalogue::known(tool).is_some_and(may)
}

/// A session's brief and the names of its tools, for one that shares the mind's frame, where all tools are listed.
pub fn brief_with_tools(session: &Session) -> String {
    let tools: Vec<&str> = TOOLS.iter().map(|tool| tool.name).filter(|tool| may(session, tool)).collect();
    let tools = match tools.is_empty() {
        true => String::new(),
        false => format!("\nYour tools, of all that there are: {}.\n", tools.join(", ")),
    };
    brief(session) + &tools
}

/// A session's objective and the answers it builds on; for a full one purpose, skills and snapshot too.
pub fn task(session: &Session, purpose: &str, skills: &str, snapshot: &str) -> String {
    let mut text = String::new();
    if session.mode == Mode::Full {
        text += &format!("\n# PURPOSE.md\n\n{}\n", head(purpose, MOST_PURPOSE));
        if !skills.is_empty() {
            text += &format!("\n# Skills\n\n{skills}\n");
        }
        text += &format!("\n# What you remember (last snapshot)\n\n{}\n", head(snapshot, MOST_SNAPSHOT));
    }
    text += &format!("\n# Your objective\n\n{}\n", session.objective);
    if !session.given.is_empty() {
        text += &format!("\n# Answers you build on\n\n{}\n", session.given.join("\n\n"));
    }
    text
}

/// The time, and which hop and thought of the session it is.
pub fn now(session: &Session, now: &str) -> String {
    let (id, hop, round) = (&session.id, session.hop, session.hop_rounds.saturating_add(1));
    format!("# Now\n\n{now}. {id}, hop {hop} of {MOST_HOPS}, thought {round} in it.")
}
