//! Names for writing rows of the table: imports, arguments that several tools take, marks, the macro `async_run!`.

pub(super) use crate::tools::marks::Mark::*;
pub(super) use crate::tools::marks::Scope::{House, Outward, Talk};
pub(super) use crate::tools::marks::{Changes, Marks};
pub(super) use crate::tools::tool::Run::{Async, Now};
pub(super) use crate::tools::tool::arg::{
    Arg, Kind, amount, flag, json_of, list, non_blank, number, object, one_of, text,
};
pub(super) use crate::tools::tool::{Tool, tool};

use agenda::sessions::Mode;

pub const TEN_YEARS_S: u64 = 3_650 * 86_400;
pub const WEEK_S: u64 = 604_800;
pub const ANY: u64 = u64::MAX;

pub const ID: Arg = text("id");
pub const TEXT: Arg = non_blank("text");
pub const NAME: Arg = non_blank("name");
pub const PATH: Arg = non_blank("path");
pub const FROM: Arg = number("from", 1, ANY).maybe();
pub const LINES: Arg = number("lines", 1, ANY).maybe();
pub const SINCE: Arg = text("since").maybe().about("30m, 8h, today, 9am, monday or a time");
pub const SPAN: Arg =
    text("since").maybe().about("as people say it: 2h, last night, yesterday, since 9am, or a time");
pub const QUERY: Arg = non_blank("query");
pub const URL: Arg = non_blank("url");
pub const SUMMARY: Arg = non_blank("summary");
pub const HOLD: Arg = flag("hold").maybe();
pub const EVERY_S: Arg = number("every_s", 0, TEN_YEARS_S).maybe();
pub const METHOD: Arg = non_blank("method");
pub const REASON: Arg = text("reason").maybe();
pub const BODY: Arg = json_of("body", &["object", "array", "string"]).maybe();

/// The arguments of a tool that needs none: some servers refuse a tool without any.
pub const NONE: &[Arg] = &[text("why").maybe()];

pub const EDIT: Kind = Kind::Record(&[PATH, text("old"), text("new").maybe()]);
pub const WHOLE_EDIT: Kind = Kind::Record(&[PATH, text("old"), text("new")]);
pub const STEPS: Arg = list("checkpoints", &Kind::NonBlankText, 1_000);
pub const STATUS: Arg = one_of("status", &["active", "done", "failed", "blocked", "pending"]);
pub const STAGES: &[&str] = &["scan", "evaluate", "propose", "execute", "collect", "report"];
pub const KNOWLEDGE_KINDS: &[&str] = &["note", "skill", "fact", "snapshot", "memory", "told"];
pub const AGENDA: &[&str] = &["stack", "requests", "goals", "opportunities", "tasks", "gaps", "presence"];

pub const OBJECTIVE: Arg = text("objective").maybe();
pub const MODE: Arg = one_of("mode", &["minimal", "full", "base_only", "none"]).maybe();
pub const DEPENDS_ON: Arg = list("depends_on", &Kind::NonBlankText, 64).maybe();
pub const PREVIOUS: Arg = json_of("depends_on_previous", &["boolean", "string", "array"]).maybe();
pub const NOT_BEFORE: Arg = json_of("not_before", &["string", "number"]).maybe();
pub const SESSION_TOOLS: Arg = list("tools", &Kind::NonBlankText, 64).maybe();
pub const SESSION_NAME: Arg = text("name").maybe();
pub const MODEL: Arg = text("model").maybe();
pub const EFFORT: Arg = text("effort").maybe();
pub const SESSION: Kind = Kind::Record(&[
    OBJECTIVE,
    MODE,
    DEPENDS_ON,
    PREVIOUS,
    NOT_BEFORE,
    SESSION_TOOLS,
    SESSION_NAME,
    MODEL,
    EFFORT,
]);
pub const GRAPH: Arg = list("graph", &SESSION, 16).maybe();

/// Parts of a thread after the first, a quoted post, pictures, and the service that a post is for.
pub const THREAD: Arg = list("thread", &Kind::NonBlankText, 24).maybe();
pub const QUOTE: Arg = text("quote").maybe();
pub const PICTURES: Arg =
    list("pictures", &Kind::Record(&[PATH, text("alt").maybe(), number("part", 1, 25).maybe()]), 100).maybe();
pub const ON: Arg = text("on").maybe();

/// Marks of a tool that looks, within the house or at what is outside, or is the shell: every sub-session has it.
pub const ALL_SUBSESSIONS: Marks = Marks::new(&[Mode::None, Mode::BaseOnly, Mode::Minimal, Mode::Full]);
/// Marks of a tool that writes what others of the house will read.
pub const MINIMAL: Marks = Marks::new(&[Mode::Minimal, Mode::Full]);
pub const FULL: Marks = Marks::new(&[Mode::Full]);
/// Marks of a tool that ends or steers the life itself: it stays with the life's own thoughts.
pub const NO_SUBSESSION: Marks = Marks::new(&[]);

/// An async function as a row has it.
macro_rules! async_run {
    ($run:path) => {
        Async(|tools, args| Box::pin($run(tools, args)))
    };
}
pub(crate) use async_run;
