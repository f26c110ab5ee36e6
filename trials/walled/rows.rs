//! A row for each tool: what it is called with, and what the answer must say.

use serde_json::Value;
use std::collections::BTreeMap;

pub struct Row {
    pub tool: &'static str,
    /// JSON; `$goal` stands for the first `goal-N` that an earlier result names, `SITE` for the outside.
    args: &'static str,
    /// What the answer says; that of a failure is right only where this begins so.
    pub right: &'static str,
    /// It goes into a turn of its own.
    pub is_alone: bool,
    /// The life ends with it: its answer is read from the records.
    pub ends_life: bool,
}

const fn row(tool: &'static str, args: &'static str, right: &'static str) -> Row {
    Row { tool, args, right, is_alone: false, ends_life: false }
}

const fn alone(tool: &'static str, args: &'static str, right: &'static str) -> Row {
    Row { is_alone: true, ..row(tool, args, right) }
}

const fn last(tool: &'static str, args: &'static str, right: &'static str) -> Row {
    Row { ends_life: true, ..alone(tool, args, right) }
}

/// Kinds of names that a result gives and a later call needs.
const NAMES: [&str; 9] =
    ["goal", "opportunity", "task", "gap", "reminder", "pulse", "directive", "session", "job"];

impl Row {
    /// Its arguments; none while a name in them is not known yet.
    pub fn filled(&self, came: &BTreeMap<String, String>, site: &str) -> Option<Value> {
        let mut args = self.args.replace("SITE", site);
        for name in NAMES {
            let mark = format!("${name}");
            if !args.contains(&mark) {
                continue;
            }
            let said: Vec<&str> = came.values().map(String::as_str).collect();
            let said = said.join("\n");
            let at = said.match_indices(&format!("{name}-")).find(|(at, _)| {
                said[at + name.len() + 1..].starts_with(|letter: char| letter.is_ascii_digit())
            })?;
            let number = |letter: &char| letter.is_ascii_digit() || (name == "job" && *letter == '-');
            let tail: String = said[at.0 + name.len() + 1..].chars().take_while(number).collect();
            args = args.replace(&mark, &format!("{name}-{}", tail.trim_end_matches('-')));
        }
        Some(serde_json::from_str(&args).unwrap_or_else(|error| panic!("{}: {error}: {args}", self.tool)))
    }
}

pub const ROWS: &[Row] = &[
    row("owner.message", r#"{"text": "I begin", "done": false}"#, ""),
    row("memory.append", r#"{"text": "seven herons"}"#, ""),
    row("memory.snapshot", r#"{}"#, ""),
    row("reminder.add", r#"{"text": "water the reed", "when": "in 20 min"}"#, "reminder-"),
    row("reminder.list", r#"{}"#, "water the reed"),
    row("reminder.cancel", r#"{"id": "$reminder"}"#, ""),
    row(
        "watch",
        r#"{"file": ".self/workspace/reed.txt", "find": "reed", "when": "appears", "say": "The reed is there"}"#,
        "watch-",
    ),
    row("pulse.add", r#"{"text": "is the reed wet"}"#, "pulse-"),
    row("pulse.list", r#"{}"#, "is the reed wet"),
    row("pulse.update", r#"{"id": "$pulse", "text": "is the reed dry"}"#, ""),
    row("pulse.close", r#"{"id": "$pulse", "why": "it rains"}"#, ""),
    row("directive.set", r#"{"text": "focus on goals this week"}"#, "directive-"),
    row("directive.list", r#"{}"#, "goals"),
    row("directive.end", r#"{"id": "$directive"}"#, ""),
    row("notes.write", r#"{"name": "notes/reed", "text": "seven herons stood"}"#, "self/notes/reed.md"),
    row("notes.append", r#"{"name": "diary", "text": "I saw herons."}"#, "diary"),
    row("notes.read", r#"{"name": "scratch"}"#, "seven herons"),
    row("records", r#"{"since": "1h"}"#, ""),
    row("self.examine", r#"{"since": "1h"}"#, ""),
    row("history", r#"{"since": "1h"}"#, ""),
    row(
        "knowledge.write",
        r#"{"name": "herons", "text": "Herons stand on one leg."}"#,
        "self/notes/herons.md",
    ),
    row("knowledge.search", r#"{"query": "herons"}"#, "Herons stand"),
    row("fact.add", r#"{"text": "A heron has one neck."}"#, ""),
    row("skill.write", r#"{"name": "count", "text": "Count herons.\n\nOne by one."}"#, ""),
    row("dream.now", r#"{}"#, ""),
    row("dream.undo", r#"{"name": "none"}"#, "failed: no such dream is kept"),
    row("goal.add", r#"{"title": "count herons", "checkpoints": ["look", "count"]}"#, "goal-"),
    row("goal.extend", r#"{"id": "$goal", "checkpoints": ["tell"]}"#, ""),
    row("goal.checkpoint", r#"{"id": "$goal", "status": "done"}"#, ""),
    row("opportunity.add", r#"{"title": "sell reed", "amount_usd": 5}"#, "opportunity-"),
    row("opportunity.move", r#"{"id": "$opportunity"}"#, ""),
    row("task.add", r#"{"text": "look again", "in_s": 3600}"#, "task-"),
    row("task.done", r#"{"id": "$task"}"#, ""),
    row("gap.note", r#"{"what": "see at night"}"#, "gap-"),
    row("presence.note", r#"{"place": "reed.example"}"#, ""),
    row("agenda.list", r#"{}"#, ""),
    row("agenda.close", r#"{"id": "$gap", "reason": "night is over"}"#, ""),
    row("files.write", r#"{"path": "count.txt", "text": "seven herons\n"}"#, "count.txt"),
    row("files.read", r#"{"path": "count.txt"}"#, "seven herons"),
    row("files.list", r#"{}"#, "count.txt"),
    row("files.search", r#"{"pattern": "her.ns"}"#, "count.txt:1"),
    row(
        "files.edit",
        r#"{"edits": [{"path": "count.txt", "old": "seven", "new": "eight"}]}"#,
        "count.txt (changed)",
    ),
    row("files.create_workspace", r#"{"name": "reed"}"#, "reed"),
    row("files.see", r#"{"path": "heron.png", "question": "how many herons?"}"#, "seven herons stand there"),
    row("files.move", r#"{"path": "reed/README.md", "to": "reed.md"}"#, "reed.md"),
    row("files.delete", r#"{"path": "reed"}"#, "reed"),
    row("repo.status", r#"{}"#, ""),
    row("repo.diff", r#"{}"#, ""),
    row("repo.map", r#"{}"#, "greet.rs"),
    row("repo.outline", r#"{"path": "creature/src/greet.rs"}"#, "greeting"),
    row("repo.search", r#"{"pattern": "At d.sk", "path": "skills"}"#, "skills/herons/SKILL.md"),
    row("repo.read", r#"{"path": "creature/src/greet.rs"}"#, "good day"),
    row(
        "repo.edit",
        r#"{"edits": [{"path": "creature/src/greet.rs", "old": "good day", "new": "morning"}], "summary": "greet shorter", "hold": true}"#,
        "",
    ),
    row("repo.check", r#"{}"#, ""),
    row("repo.test", r#"{}"#, ""),
    row("repo.drop", r#"{}"#, ""),
    row(
        "repo.apply_patch",
        r#"{"patch": "--- a/creature/src/greet.rs\n+++ b/creature/src/greet.rs\n@@ -1,5 +1,5 @@\n //! Greets.\n \n pub fn greeting() -> &'static str {\n-    \"good day\"\n+    \"day\"\n }\n", "summary": "greet shorter", "hold": true}"#,
        "",
    ),
    row("repo.install_deps", r#"{}"#, ""),
    row(
        "repo.run",
        r#"{"command": "sh skills/herons/scripts/count.sh > .self/workspace/counted 2>&1; sleep 100", "background": true}"#,
        "job-",
    ),
    row("job", r#"{"id": "$job", "act": "end"}"#, "stopped"),
    row("web.fetch_text", r#"{"url": "SITE/article"}"#, "starts in ten years"),
    row("web.search", r#"{"query": "herons"}"#, "seven herons"),
    row("feed.read", r#"{"url": "SITE/feed"}"#, "A heron"),
    row("x.search", r#"{"query": "herons"}"#, "seven herons"),
    row("x.get_mentions", r#"{}"#, "seven herons"),
    // After text of others the owner is asked first.
    row(
        "x.post",
        r#"{"text": "Seven herons.", "thread": ["Eight?"], "pictures": [{"path": "heron.png", "alt": "herons", "part": 2}]}"#,
        "",
    ),
    row("x.reply", r#"{"to": "78", "text": "Eight."}"#, ""),
    row("service.list", r#"{}"#, "notes"),
    row("service.execute", r#"{"service": "notes", "method": "GET", "path": "/count"}"#, "seven herons"),
    row("mcp.describe", r#"{"server": "like", "tool": "look"}"#, "Looks."),
    row(
        "mcp.call",
        r#"{"server": "like", "tool": "look", "arguments": {"text": "seven herons"}}"#,
        "seven herons",
    ),
    row("spawn", r#"{"objective": "count apart", "mode": "none", "not_before": 3600}"#, "session-"),
    row("sessions.list", r#"{}"#, "count apart"),
    row("sessions.cancel", r#"{"id": "$session"}"#, ""),
    row("purpose.rewrite", r##"{"text": "# Purpose\n\nCount herons.\n", "reason": "herons"}"##, ""),
    alone("complete_run", r#"{}"#, ""),
    alone("rest", r#"{"sleep_s": 300}"#, "300"),
    alone("repo.reset_hard", r#"{"reason": "to see it work"}"#, ""),
    last("repo.commit", r#"{"summary": "greet shorter"}"#, ""),
];
