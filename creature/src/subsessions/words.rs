//! The words put to a sub-session and the tools it has, by its mode. Pure.
//!
//! Invariant: what a mode's prompt lists is what its calls are held to.

use super::review;
use crate::mind::context::head;
use crate::tools::catalogue::TOOLS;
use agenda::sessions::{MOST_HOPS, Mode, NOTHING, Origin, Session};

const BASE: &str = include_str!("../../prompts/sub_base.md");
const MINIMAL: &str = include_str!("../../prompts/sub_minimal.md");
const FULL: &str = include_str!("../../prompts/sub_full.md");

/// Looking within the house.
const LOOKING: &str = "notes.read records self.examine history files.read files.list files.search repo.status repo.diff repo.map \
    repo.outline repo.search repo.read knowledge.search skill.list skill.load sessions.list";

/// Beside looking: reading what is outside, writing what others of the house will read, and the shell, which is within the
/// same walls.
const WORKING: &str = "repo.run memory.append notes.write notes.append files.write files.create_workspace web.fetch_text \
    web.search feed.read x.search x.get_mentions service.list knowledge.write fact.add pulse.list pulse.update \
    reminder.list";

/// What ends or steers the life itself stays with its own thoughts.
const NEVER: &str = "complete_run dream.now dream.undo purpose.rewrite";

/// Characters of purpose and of the snapshot that a full session is given.
const MOST_PURPOSE: usize = 4_000;
const MOST_SNAPSHOT: usize = 4_000;

/// Whether a session of this mode, held to these tools, may use one.
pub fn allows(mode: Mode, held: &[String], tool: &str) -> bool {
    let among = |list: &str| list.split(' ').any(|known| known == tool);
    let given = match mode {
        Mode::None => false,
        Mode::BaseOnly => among(LOOKING),
        Mode::Minimal => among(LOOKING) || among(WORKING),
        Mode::Full => !among(NEVER),
    };
    given && (held.is_empty() || held.iter().any(|held| held == tool))
}

/// A session's part and how it works.
pub fn part(session: &Session) -> String {
    let rest = match session.mode {
        Mode::None => "Call no tool: answer in your words.",
        Mode::BaseOnly => "",
        Mode::Minimal => MINIMAL,
        Mode::Full => FULL,
    };
    let look = match &session.origin {
        Origin::Own(kind) => format!(
            "- This is a quick look of your own ({kind}): nobody asked for it. Begin your report with `{NOTHING}` unless \
             it is worth a dearer thought; else say what you found, where, and what should be done with it.\n"
        ),
        _ => String::new(),
    };
    format!("{}\n{look}{}\n", BASE.trim_end(), rest.trim_end())
}

/// Whether a session may use a tool.
pub fn may(session: &Session, tool: &str) -> bool {
    let allowed = allows(session.mode, &session.tools, tool) || review::may(session, tool);
    allowed && (session.depth < 2 || tool != "spawn")
}

/// Its part, and which of all tools it may use, where it shares the mind's own frame.
pub fn within(session: &Session) -> String {
    let tools: Vec<&str> = TOOLS.iter().map(|tool| tool.name).filter(|tool| may(session, tool)).collect();
    let tools = match tools.is_empty() {
        true => String::new(),
        false => format!("\nYour tools, of all that there are: {}.\n", tools.join(", ")),
    };
    part(session) + &tools
}

/// Its objective and what it builds on.
pub fn task(session: &Session, purpose: &str, snapshot: &str) -> String {
    let mut text = String::new();
    if session.mode == Mode::Full {
        text += &format!("\n# PURPOSE.md\n\n{}\n", head(purpose, MOST_PURPOSE));
        text += &format!("\n# What you remember (last snapshot)\n\n{}\n", head(snapshot, MOST_SNAPSHOT));
    }
    text += &format!("\n# Your objective\n\n{}\n", session.objective);
    if !session.given.is_empty() {
        text += &format!("\n# Answers you build on\n\n{}\n", session.given.join("\n\n"));
    }
    text
}

/// The hour, and where in its time it stands.
pub fn now(session: &Session, now: &str) -> String {
    let (id, hop, round) = (&session.id, session.hop, session.hop_rounds.saturating_add(1));
    format!("# Now\n\n{now}. {id}, hop {hop} of {MOST_HOPS}, thought {round} in it.")
}
