//! What rows of the table are written with: imports, arguments that several tools take, marks, the macro `later!`.

pub(super) use crate::tools::marks::Scope::{House, Outward, Talk};
pub(super) use crate::tools::marks::{Apart, Changes, Marks};
pub(super) use crate::tools::tool::Run::{Later, Now};
pub(super) use crate::tools::tool::arg::{
    Arg, Kind, amount, flag, json_of, list, number, object, one_of, text, words,
};
pub(super) use crate::tools::tool::{Tool, tool};

pub const TEN_YEARS_S: u64 = 3_650 * 86_400;
pub const WEEK_S: u64 = 604_800;
pub const ANY: u64 = u64::MAX;

pub const ID: Arg = text("id");
pub const TEXT: Arg = words("text");
pub const NAME: Arg = words("name");
pub const PATH: Arg = words("path");
pub const FROM: Arg = number("from", 1, ANY).maybe();
pub const LINES: Arg = number("lines", 1, ANY).maybe();
pub const SINCE: Arg = text("since").maybe().about("30m, 8h, today, 9am, monday or a time");
pub const SPAN: Arg =
    text("since").maybe().about("as people say it: 2h, last night, yesterday, since 9am, or a time");
pub const QUERY: Arg = words("query");
pub const URL: Arg = words("url");
pub const SUMMARY: Arg = words("summary");
pub const HOLD: Arg = flag("hold").maybe();
pub const EVERY_S: Arg = number("every_s", 0, TEN_YEARS_S).maybe();
pub const METHOD: Arg = words("method");
pub const REASON: Arg = text("reason").maybe();
pub const BODY: Arg = json_of("body", &["object", "array", "string"]).maybe();

pub const EDIT: Kind = Kind::Record(&[PATH, text("old"), text("new").maybe()]);
pub const STEPS: Arg = list("checkpoints", &Kind::Words, 1_000);
pub const STATUS: Arg = one_of("status", &["active", "done", "failed", "blocked", "pending"]);
pub const STAGES: &[&str] = &["scan", "evaluate", "propose", "execute", "collect", "report"];
pub const KEPT: &[&str] = &["note", "skill", "fact", "snapshot", "memory", "told"];
pub const AGENDA: &[&str] = &["stack", "goals", "opportunities", "tasks", "gaps", "presence"];

pub const OBJECTIVE: Arg = text("objective").maybe();
pub const MODE: Arg = one_of("mode", &["minimal", "full", "base_only", "none"]).maybe();
pub const DEPENDS_ON: Arg = list("depends_on", &Kind::Words, 64).maybe();
pub const PREVIOUS: Arg = json_of("depends_on_previous", &["boolean", "string", "array"]).maybe();
pub const NOT_BEFORE: Arg = json_of("not_before", &["string", "number"]).maybe();
pub const HELD: Arg = list("tools", &Kind::Words, 64).maybe();
pub const CALLED: Arg = text("name").maybe();
pub const SESSION: Kind = Kind::Record(&[OBJECTIVE, MODE, DEPENDS_ON, PREVIOUS, NOT_BEFORE, HELD, CALLED]);
pub const GRAPH: Arg = list("graph", &SESSION, 16).maybe();

/// Marks by which sub-sessions have the tool: all that have tools, minimal and full ones, full ones, none.
pub const LOOKS: Marks = Marks::new(Apart::Looks);
pub const WORKS: Marks = Marks::new(Apart::Works);
pub const FULL: Marks = Marks::new(Apart::Full);
pub const OWN: Marks = Marks::new(Apart::Never);

/// An async function as a row has it.
macro_rules! later {
    ($run:path) => {
        Later(|tools, args| Box::pin($run(tools, args)))
    };
}
pub(crate) use later;
