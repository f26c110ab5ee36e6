//! The one table of tools: what each takes, where it may be used, and what it is for.
//!
//! The order is that of every prompt; a change in it is a change of what caches hold.

use super::Scope::{House, Outward, Talk};
use super::arg::{Arg, Kind, amount, flag, json_of, list, number, object, one_of, text, words};
use super::{Tool, tool};

const TEN_YEARS_S: u64 = 3_650 * 86_400;
const WEEK_S: u64 = 604_800;
const ANY: u64 = u64::MAX;

const ID: Arg = text("id");
const TEXT: Arg = words("text");
const NAME: Arg = words("name");
const PATH: Arg = words("path");
const FROM: Arg = number("from", 1, ANY).maybe();
const LINES: Arg = number("lines", 1, ANY).maybe();
const SINCE: Arg = text("since").maybe().about("30m, 8h, today, 9am, monday or a time");
const SPAN: Arg =
    text("since").maybe().about("as people say it: 2h, last night, yesterday, since 9am, or a time");
const QUERY: Arg = words("query");
const URL: Arg = words("url");
const SUMMARY: Arg = words("summary");
const HOLD: Arg = flag("hold").maybe();
const EVERY_S: Arg = number("every_s", 0, TEN_YEARS_S).maybe();
const METHOD: Arg = words("method");
const REASON: Arg = text("reason").maybe();
const BODY: Arg = json_of("body", &["object", "array", "string"]).maybe();

const EDIT: Kind = Kind::Record(&[PATH, text("old"), text("new").maybe()]);
const STEPS: Arg = list("checkpoints", &Kind::Words, 1_000);
const STATUS: Arg = one_of("status", &["active", "done", "failed", "blocked", "pending"]);
const STAGES: &[&str] = &["scan", "evaluate", "propose", "execute", "collect", "report"];
const KEPT: &[&str] = &["note", "skill", "fact", "snapshot", "memory", "told"];
const AGENDA: &[&str] = &["stack", "goals", "opportunities", "tasks", "gaps", "presence"];

const OBJECTIVE: Arg = text("objective").maybe();
const MODE: Arg = one_of("mode", &["minimal", "full", "base_only", "none"]).maybe();
const DEPENDS_ON: Arg = list("depends_on", &Kind::Words, 64).maybe();
const PREVIOUS: Arg = json_of("depends_on_previous", &["boolean", "string", "array"]).maybe();
const NOT_BEFORE: Arg = json_of("not_before", &["string", "number"]).maybe();
const HELD: Arg = list("tools", &Kind::Words, 64).maybe();
const CALLED: Arg = text("name").maybe();
const SESSION: Kind = Kind::Record(&[OBJECTIVE, MODE, DEPENDS_ON, PREVIOUS, NOT_BEFORE, HELD, CALLED]);
const GRAPH: Arg = list("graph", &SESSION, 16).maybe();

/// Every tool there is.
pub const TOOLS: &[Tool] = &[
    tool("complete_run", &[SUMMARY.maybe()], Talk, "end this wake: nothing more is to be done now"),
    tool(
        "rest",
        &[number("sleep_s", 0, WEEK_S), text("intent").maybe()],
        Talk,
        "end this wake and rest so long; `intent` says what you mean to do next",
    ),
    tool(
        "memory.append",
        &[text("text").maybe(), object("data").maybe(), text("kind").maybe()],
        Talk,
        "remember something: `text`, or an object in `data`; kind `observation` unless given; kind `message` with data {text} answers the owner's words",
    ),
    tool(
        "memory.snapshot",
        &[text("text").maybe()],
        Talk,
        "put a summary of everything in place of older records; without `text` one is made from the records",
    ),
    tool(
        "owner.message",
        &[text("text"), flag("done").maybe(), words("kind").maybe()],
        Talk,
        "say this to your owner, word for word. It answers their words: `done` false while work on the request goes on, true when it is done. Unasked it needs a kind (revenue, approval, milestone, broken or weekly_summary); few an hour go, the rest is gathered",
    ),
    tool(
        "reminder.add",
        &[
            TEXT,
            words("when").about("`2026-12-01 09:00`, `in 20 min`, `daily 09:00`, `weekly mon,thu 09:00`, `monthly 31 09:00`, `every 45 min 08:00-20:00`"),
            text("zone").maybe(),
            text("prompt").maybe(),
        ],
        House,
        "`prompt` runs apart then",
    ),
    tool("reminder.list", &[], House, "those to come"),
    tool("reminder.cancel", &[ID], House, "take one back"),
    tool(
        "pulse.add",
        &[text("text"), EVERY_S, MODE],
        House,
        "a standing concern, reviewed apart every hour unless said; mode: what a review may do, as of spawn",
    ),
    tool("pulse.update", &[ID, text("text").maybe(), EVERY_S], House, "change one"),
    tool("pulse.close", &[ID, text("why")], House, "end one"),
    tool("pulse.list", &[], House, "those that are open"),
    tool(
        "directive.set",
        &[text("text").about("`focus on … this week`, `… every 10 minutes`, `only message me about …`, `pause until …`, `resume`")],
        House,
        "keep your owner's word",
    ),
    tool("directive.list", &[], House, "those that hold"),
    tool("directive.end", &[ID], House, "take one back, at your owner's word"),
    tool(
        "notes.read",
        &[NAME, FROM, LINES],
        Talk,
        "read a paper of yours: name is scratch, diary, heartbeat, facts or notes/<slug>",
    ),
    tool("notes.write", &[NAME, text("text")], Talk, "replace a paper"),
    tool("notes.append", &[NAME, TEXT], Talk, "add to the end of a paper"),
    tool(
        "records",
        &[SINCE, text("kind").maybe(), text("text").maybe(), FROM],
        Talk,
        "your memory, newest first, a day back unless said: since when, of which kind, with which text; one alone is shown whole",
    ),
    tool(
        "self.examine",
        &[SPAN, text("until").maybe()],
        Talk,
        "what you did, what failed and what it cost in a span, a day back unless said, and what is worth looking at",
    ),
    tool("history", &[SINCE, FROM], Talk, "what the guardian did: lives, commits, blessings, falls"),
    tool("knowledge.write", &[NAME, TEXT], House, "keep a note self/notes/<name>.md, to be found again"),
    tool(
        "knowledge.search",
        &[QUERY, one_of("kind", KEPT).maybe(), number("most", 1, 30).maybe()],
        House,
        "find words or a \"phrase\" in notes, skills, facts, snapshots and all your memory; `told`: not your own thoughts",
    ),
    tool("fact.add", &[TEXT, text("source").maybe()], House, "hold one statement for true in self/facts.md"),
    tool("skill.write", &[NAME, text("text")], House, "write down how to do a thing; its first line says what"),
    tool("skill.load", &[NAME], House, "read a skill"),
    tool("skill.list", &[], House, "your skills"),
    tool("dream.now", &[], House, "dream soon: merge facts, tend the pulse, forget what is long finished"),
    tool("dream.undo", &[text("name").maybe()], House, "take back what the last dream changed"),
    tool(
        "purpose.rewrite",
        &[TEXT, words("reason")],
        House,
        "replace PURPOSE.md; the old text stays in memory; after reading untrusted text your owner is asked first",
    ),
    tool(
        "goal.add",
        &[text("title"), STEPS.maybe(), amount("cost_usd").maybe()],
        House,
        "a goal, with its steps in order",
    ),
    tool("goal.extend", &[ID, STEPS], House, "more steps"),
    tool(
        "goal.checkpoint",
        &[ID, STATUS, number("checkpoint", 0, ANY).maybe(), REASON],
        House,
        "status of a step by number, else of the next; a reason for failed and blocked; the same failure three times parks it",
    ),
    tool(
        "opportunity.add",
        &[text("title"), amount("amount_usd").maybe(), text("next").maybe()],
        House,
        "a way to earn, at stage scan",
    ),
    tool(
        "opportunity.move",
        &[
            ID,
            one_of("stage", STAGES).maybe(),
            amount("amount_usd").maybe(),
            amount("earned_usd").maybe(),
            text("next").maybe(),
            number("wait_s", 0, TEN_YEARS_S).maybe(),
        ],
        House,
        "on by one stage; earned_usd is what came in now",
    ),
    tool(
        "task.add",
        &[text("text"), text("at").maybe(), number("in_s", 0, TEN_YEARS_S).maybe(), EVERY_S],
        House,
        "do this at a time, once or again and again",
    ),
    tool("task.done", &[ID, text("failed").maybe()], House, "done, or why it failed"),
    tool("gap.note", &[text("what")], House, "something you could not do"),
    tool(
        "presence.note",
        &[text("place"), text("last").maybe(), number("every_days", 0, 3_650).maybe()],
        House,
        "you posted there; be back in so many days",
    ),
    tool("agenda.list", &[one_of("kind", AGENDA).maybe()], House, "the stack, or all of a kind"),
    tool(
        "agenda.close",
        &[ID, text("reason"), one_of("outcome", &["done", "failed", "dropped"]).maybe()],
        House,
        "end any of them",
    ),
    tool(
        "agenda.approve",
        &[ID],
        House,
        "whether your owner approved it: the owner's own `approve ID`, or a plain yes to the message that asked, does; nothing else can",
    ),
    tool(
        "files.read",
        &[PATH, FROM, LINES],
        House,
        "read a file of your workspace, `lines` lines from line `from`; `next_from` is where it goes on",
    ),
    tool(
        "files.list",
        &[text("path").maybe(), number("depth", 1, 32).maybe()],
        House,
        "what lies below a folder of your workspace: kind, size, time",
    ),
    tool(
        "files.search",
        &[words("pattern"), text("path").maybe(), FROM],
        House,
        "find a regular expression in your workspace: path:line: text",
    ),
    tool("files.write", &[PATH, text("text")], House, "write a file in your workspace, at most 1 MiB"),
    tool(
        "files.create_workspace",
        &[NAME, text("about").maybe()],
        House,
        "make a folder in your workspace, with a readme",
    ),
    tool("repo.status", &[], House, "what differs from the last commit"),
    tool("repo.diff", &[text("path").maybe(), flag("staged").maybe()], House, "the differences themselves"),
    tool(
        "repo.map",
        &[text("folder").maybe(), FROM],
        House,
        "files with their length and what their first line says, your source unless `folder` is given; a folder that is too long is one line",
    ),
    tool(
        "repo.outline",
        &[PATH, FROM],
        House,
        "functions, types and impls of a Rust file with their lines; headings of a paper",
    ),
    tool(
        "repo.search",
        &[words("pattern"), text("path").maybe(), number("context", 0, 10).maybe(), FROM],
        House,
        "find a regular expression in creature/ and self/, or in `path`, with lines around it",
    ),
    tool(
        "repo.read",
        &[PATH, FROM, LINES, text("item").maybe().about("a name as repo.outline shows it")],
        House,
        "read a file of the repository of at most 1 MiB with its line numbers, or one `item` of it; `next_from` is where it goes on",
    ),
    tool(
        "repo.edit",
        &[list("edits", &EDIT, 64), SUMMARY, HOLD],
        Outward,
        "change yourself: `old` quoted exactly and standing once, empty for a new file; gathers in a draft, which is then built, tested and rehearsed, and you are reborn; hold:true only edits the draft",
    ),
    tool(
        "repo.apply_patch",
        &[words("patch"), SUMMARY, HOLD],
        Outward,
        "the same with a unified diff",
    ),
    tool("repo.check", &[], Outward, "whether your draft, else your source, compiles, its tests too: seconds"),
    tool(
        "repo.test",
        &[text("filter").maybe()],
        Outward,
        "tests of your draft, else of your source, what the change touches first; `filter` is part of a name, `probation` names those that take long",
    ),
    tool("repo.install_deps", &[], Outward, "cargo fetch: get what creature/Cargo.toml names"),
    tool(
        "repo.commit",
        &[SUMMARY],
        Outward,
        "the draft is built, tested and rehearsed, then you are reborn; without one papers are committed at once",
    ),
    tool(
        "repo.drop",
        &[flag("back").maybe()],
        Outward,
        "the draft goes, kept aside until the next one does; back:true takes up the last that went",
    ),
    tool(
        "repo.reset_hard",
        &[words("reason").maybe()],
        Outward,
        "put creature/ back to the commit you run; what was there is kept under a ref",
    ),
    tool(
        "repo.run",
        &[words("command"), number("deadline_s", 1, 600).maybe()],
        Outward,
        "run a shell command from the repository root, for 60 s unless given; everything it starts ends with it; 256 KiB of its output are kept",
    ),
    tool(
        "web.fetch_text",
        &[URL, number("most_chars", 1, 200_000).maybe()],
        Outward,
        "the readable text of a page, 30000 characters unless given",
    ),
    tool("web.search", &[QUERY, number("most", 1, 20).maybe()], Outward, "search the web"),
    tool(
        "feed.read",
        &[URL, number("most", 1, 50).maybe()],
        Outward,
        "the newest items of an RSS or Atom feed",
    ),
    tool("x.post", &[TEXT], Outward, "post on X; a draft in self/drafts/ where no account is configured"),
    tool(
        "x.reply",
        &[words("to"), TEXT],
        Outward,
        "reply to the post with id `to`; a draft where no account is configured",
    ),
    tool("x.search", &[QUERY, number("most", 10, 100).maybe()], Outward, "search recent posts on X"),
    tool("x.get_mentions", &[text("since_id").maybe()], Outward, "posts that mention you on X"),
    tool(
        "service.list",
        &[],
        Outward,
        "the owner's services you may call, with their rules: allow, ask (the owner decides), draft, deny",
    ),
    tool(
        "service.execute",
        &[words("service"), METHOD, PATH, object("query").maybe(), BODY, REASON],
        Outward,
        "call a service by name; keys are added outside, you never see them; `reason` is shown to the owner if asked; a result with `asked` waits for the owner: go on with something else, the outcome comes as news",
    ),
    tool("janee.list", &[], Outward, "what the owner's Janee can do for you"),
    tool(
        "janee.execute",
        &[words("capability"), METHOD, PATH, BODY, object("headers").maybe(), REASON],
        Outward,
        "the same by a capability of Janee; body is text",
    ),
    tool(
        "spawn",
        &[OBJECTIVE, MODE, DEPENDS_ON, PREVIOUS, NOT_BEFORE, HELD, CALLED, GRAPH],
        House,
        "work on `objective` apart; each is reported as news when it ends; mode: minimal (usual: looks, web, files, shell), full (all tools), base_only (looks in the house), none (one answer); depends_on: ids whose answers it waits for; depends_on_previous: true or `all` for all spawned before it; not_before: time (your owner's clock, unless it has a zone) or seconds; tools: fewer of its mode; graph: several such objects, depending on each other's `name`",
    ),
    tool(
        "sessions.list",
        &[text("id").maybe()],
        House,
        "sub-sessions and how far they are; with `id` its answer",
    ),
    tool("sessions.cancel", &[words("id")], House, "end a sub-session, its children and what waits for it"),
];
