//! The list of tools: name, arguments and meaning, for the prompt and for reading arguments.
//!
//! Invariant: one list; what the prompt says a tool takes is what its arguments are checked against.

use crate::fault::Fault;
use std::sync::OnceLock;

/// Where a tool may be used.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scope {
    /// Also in safe mode.
    Talk,
    /// Within the house; also in a rehearsal, on its copy.
    House,
    /// Reaches the network, runs commands or asks the guardian; not in a rehearsal.
    Outward,
}

/// One tool as a mind is told of it; an argument with `?` may be left out.
#[derive(Clone, Copy, Debug)]
pub struct Tool {
    pub name: &'static str,
    pub args: &'static [&'static str],
    pub meaning: &'static str,
    pub scope: Scope,
}

const fn tool(
    name: &'static str,
    args: &'static [&'static str],
    scope: Scope,
    meaning: &'static str,
) -> Tool {
    Tool { name, args, meaning, scope }
}

use Scope::{House, Outward, Talk};

/// Every tool there is.
pub const TOOLS: &[Tool] = &[
    tool("complete_run", &["summary?"], Talk, "end this wake: nothing more is to be done now"),
    tool(
        "memory.append",
        &["text?", "data?", "kind?"],
        Talk,
        "remember something: `text`, or an object in `data`; kind `observation` unless given; kind `message` with data {text} answers the owner's words",
    ),
    tool(
        "memory.snapshot",
        &["text?"],
        Talk,
        "put a summary of everything in place of older records; without `text` one is made from the records",
    ),
    tool(
        "owner.message",
        &["kind", "text", "done?"],
        Talk,
        "tell your owner unasked what matters: kind revenue, approval, milestone, broken or weekly_summary; few an hour go, the rest is gathered; kind answer answers: `done` false while work on the request goes on, true when it is done",
    ),
    tool(
        "reminder.add",
        &["text", "when", "zone?", "prompt?"],
        House,
        "when: `2026-12-01 09:00`, `in 20 min`, `daily 09:00`, `weekly mon,thu 09:00`, `monthly 31 09:00`, `every 45 min 08:00-20:00`; `prompt` runs apart then",
    ),
    tool("reminder.list", &[], House, "those to come"),
    tool("reminder.cancel", &["id"], House, "take one back"),
    tool("pulse.add", &["text", "every_s?"], House, "a standing concern, reviewed every hour unless said"),
    tool("pulse.update", &["id", "text?", "every_s?"], House, "change one"),
    tool("pulse.close", &["id", "why"], House, "end one"),
    tool("pulse.list", &[], House, "those that are open"),
    tool(
        "directive.set",
        &["text"],
        House,
        "keep your owner's word: `focus on … this week`, `… every 10 minutes`, `only message me about …`, `pause until …`, `resume`",
    ),
    tool("directive.list", &[], House, "those that hold"),
    tool("directive.end", &["id"], House, "take one back, at your owner's word"),
    tool(
        "notes.read",
        &["name"],
        Talk,
        "read a paper of yours: name is scratch, diary, heartbeat, facts or notes/<slug>",
    ),
    tool("notes.write", &["name", "text"], Talk, "replace a paper"),
    tool("notes.append", &["name", "text"], Talk, "add to the end of a paper"),
    tool("knowledge.write", &["name", "text"], House, "keep a note self/notes/<name>.md, to be found again"),
    tool(
        "knowledge.search",
        &["query", "kind?", "most?"],
        House,
        "find words or a \"phrase\" in notes, skills, facts, snapshots and all your memory; kind is one of them",
    ),
    tool("fact.add", &["text", "source?"], House, "hold one statement for true in self/facts.md"),
    tool("skill.write", &["name", "text"], House, "write down how to do a thing; its first line says what"),
    tool("skill.load", &["name"], House, "read a skill"),
    tool("skill.list", &[], House, "your skills"),
    tool("dream.now", &[], House, "dream soon: merge facts, tend the pulse, forget what is long finished"),
    tool("dream.undo", &["name?"], House, "take back what the last dream changed"),
    tool(
        "purpose.rewrite",
        &["text", "reason"],
        House,
        "replace PURPOSE.md; the old text stays in memory; after reading untrusted text your owner is asked first",
    ),
    tool(
        "goal.add",
        &["title", "checkpoints?", "cost_usd?"],
        House,
        "a goal, with its steps as a list of texts in order",
    ),
    tool("goal.extend", &["id", "checkpoints"], House, "more steps"),
    tool(
        "goal.checkpoint",
        &["id", "status", "checkpoint?", "reason?"],
        House,
        "status of a step by number, else of the next: active, done, failed, blocked, pending; a reason for failed and blocked; the same failure three times parks it",
    ),
    tool("opportunity.add", &["title", "amount_usd?", "next?"], House, "a way to earn, at stage scan"),
    tool(
        "opportunity.move",
        &["id", "stage?", "amount_usd?", "earned_usd?", "next?", "wait_s?"],
        House,
        "on to evaluate, propose, execute, collect, report, one at a time; earned_usd is what came in now",
    ),
    tool(
        "task.add",
        &["text", "at?", "in_s?", "every_s?"],
        House,
        "do this at a time, once or again and again",
    ),
    tool("task.done", &["id", "failed?"], House, "done, or why it failed"),
    tool("gap.note", &["what"], House, "something you could not do"),
    tool(
        "presence.note",
        &["place", "last?", "every_days?"],
        House,
        "you posted there; be back in so many days",
    ),
    tool("agenda.list", &["kind?"], House, "the stack, or goals, opportunities, tasks, gaps, presence"),
    tool("agenda.close", &["id", "reason", "outcome?"], House, "end any of them: done, failed or dropped"),
    tool(
        "agenda.approve",
        &["id"],
        House,
        "whether your owner approved it: the owner's own `approve ID`, or a plain yes to the message that asked, does; nothing else can",
    ),
    tool(
        "files.read",
        &["path", "from?", "lines?"],
        House,
        "read a file of your workspace, `lines` lines from line `from`",
    ),
    tool("files.list", &["path?"], House, "list a folder of your workspace"),
    tool("files.write", &["path", "text"], House, "write a file in your workspace, at most 1 MiB"),
    tool(
        "files.create_workspace",
        &["name", "about?"],
        House,
        "make a folder in your workspace, with a readme",
    ),
    tool("repo.status", &[], House, "what differs from the last commit"),
    tool("repo.diff", &["path?", "staged?"], House, "the differences themselves"),
    tool(
        "repo.map",
        &["path?"],
        House,
        "files with their first line of purpose and their length; your source unless `path` is given",
    ),
    tool(
        "repo.read",
        &["path", "from?", "lines?"],
        House,
        "read a file of the repository, `lines` lines from line `from`",
    ),
    tool(
        "repo.edit",
        &["edits", "summary", "hold?"],
        Outward,
        "change yourself: edits is [{path, old, new}], `old` quoted exactly and standing once, empty for a new file; builds, tests, rehearses, then you are reborn; hold:true only applies",
    ),
    tool("repo.apply_patch", &["patch", "summary", "hold?"], Outward, "the same with a unified diff"),
    tool("repo.build", &[], Outward, "cargo build of your source as it is"),
    tool("repo.test", &["filter?"], Outward, "cargo test of your source as it is"),
    tool("repo.install_deps", &[], Outward, "cargo fetch: get what creature/Cargo.toml names"),
    tool(
        "repo.commit",
        &["summary"],
        Outward,
        "keep what is there: source is built, tested and rehearsed, then you are reborn; papers are committed at once",
    ),
    tool(
        "repo.reset_hard",
        &["reason?"],
        Outward,
        "put creature/ back to the commit you run; what was there is kept under a ref",
    ),
    tool(
        "repo.run",
        &["command", "deadline_s?"],
        Outward,
        "run a shell command from the repository root; 60 s unless given, at most 600; everything it starts ends with it",
    ),
    tool("web.fetch_text", &["url", "most_chars?"], Outward, "the readable text of a page"),
    tool("web.search", &["query", "most?"], Outward, "search the web"),
    tool("feed.read", &["url", "most?"], Outward, "the newest items of an RSS or Atom feed"),
    tool("x.post", &["text"], Outward, "post on X; a draft in self/drafts/ where no account is configured"),
    tool(
        "x.reply",
        &["to", "text"],
        Outward,
        "reply to the post with id `to`; a draft where no account is configured",
    ),
    tool("x.search", &["query", "most?"], Outward, "search recent posts on X"),
    tool("x.get_mentions", &["since_id?"], Outward, "posts that mention you on X"),
    tool(
        "service.list",
        &[],
        Outward,
        "the owner's services you may call, with their rules: allow, ask (the owner decides), draft, deny",
    ),
    tool(
        "service.execute",
        &["service", "method", "path", "query?", "body?", "reason?"],
        Outward,
        "call a service by name; keys are added outside, you never see them; query is an object, `reason` is shown to the owner if asked; a result with `asked` waits for the owner: go on with something else, the outcome comes as news",
    ),
    tool("janee.list", &[], Outward, "what the owner's Janee can do for you"),
    tool(
        "janee.execute",
        &["capability", "method", "path", "body?", "headers?", "reason?"],
        Outward,
        "the same by a capability of Janee; body is text",
    ),
    tool(
        "spawn",
        &[
            "objective?",
            "mode?",
            "depends_on?",
            "depends_on_previous?",
            "not_before?",
            "tools?",
            "name?",
            "graph?",
        ],
        House,
        "work on `objective` apart; what one thought spawned is reported together as news; mode: minimal (usual: looks, web, files), full (all tools), base_only (looks in the house), none (one answer); depends_on: ids whose answers it waits for; not_before: time or seconds; tools: fewer of its mode; graph: several such objects, depending on each other's `name`",
    ),
    tool("sessions.list", &["id?"], House, "sub-sessions and how far they are; with `id` its answer"),
    tool("sessions.cancel", &["id"], House, "end a sub-session, its children and what waits for it"),
];

/// The list as a prompt has it, a line a tool.
pub fn catalogue() -> &'static str {
    static TEXT: OnceLock<String> = OnceLock::new();
    TEXT.get_or_init(|| {
        let line = |tool: &Tool| format!("- {} {}: {}\n", tool.name, takes(tool), tool.meaning);
        TOOLS.iter().map(line).collect()
    })
}

/// A tool's arguments in braces.
pub fn takes(tool: &Tool) -> String {
    format!("{{{}}}", tool.args.join(", "))
}

/// Whether there is such a tool in this life; what only an earlier one had can fail no more.
pub fn exists(name: &str) -> bool {
    TOOLS.iter().any(|tool| tool.name == name)
}

/// The tool of this name; a near one is named in the hint.
pub fn find(name: &str) -> Result<&'static Tool, Fault> {
    if let Some(tool) = TOOLS.iter().find(|tool| tool.name == name) {
        return Ok(tool);
    }
    let (family, verb) = name.split_once(['.', '_', '/']).unwrap_or((name, name));
    let near = TOOLS.iter().map(|tool| tool.name).filter(|known| {
        known.split_once('.').is_some_and(|(known, known_verb)| known == family || known_verb == verb)
    });
    let near: Vec<&str> = near.collect();
    let hint = match near.is_empty() {
        true => "the tools are listed in the prompt".to_owned(),
        false => format!("there are {}", near.join(", ")),
    };
    let name: String = name.chars().take(80).collect();
    Err(Fault::new(format!("no tool is called `{name}`"), hint))
}
