//! Tools of this life as a mind knows them: values, made from the catalogue of tools.

use super::thought::ToolCall;
use serde_json::{Map, Value, json};

/// The tool that calls those a request does not list.
pub const MORE: &str = "more";

/// Condition on which a request lists a tool; any other is called through `more`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Listed {
    Always,
    /// Where the owner configured this: the name of a service, `services` for any, `mcp`, or `sight`.
    Where(&'static str),
    Never,
}

/// Tool as it is put to a model.
#[derive(Clone, Debug)]
pub struct KnownTool {
    /// Name with a dot, `family.verb`.
    pub name: &'static str,
    /// Its line in a prompt.
    pub line: String,
    /// Tool as a wire has it, with a name without a dot.
    pub native: model::Tool,
    /// It changes files: papers or the house.
    pub changes_files: bool,
    pub listed: Listed,
}

/// Every tool there is, in the order of the table: a provider's cache holds them as long as nothing in it changes.
#[derive(Clone, Debug, Default)]
pub struct ToolList(pub Vec<KnownTool>);

impl Default for &'static ToolList {
    /// No tools.
    fn default() -> Self {
        static NONE: ToolList = ToolList(Vec::new());
        &NONE
    }
}

impl ToolList {
    fn that<'a>(&'a self, may: &'a dyn Fn(&str) -> bool) -> impl Iterator<Item = &'a KnownTool> {
        self.0.iter().filter(|tool| may(tool.name))
    }

    /// The tools that `may` be used as a prompt has them, a line each.
    pub fn lines(&self, may: &dyn Fn(&str) -> bool) -> String {
        self.that(may).map(|tool| tool.line.as_str()).collect()
    }

    /// The tools that `may` be used as a wire has them.
    pub fn native(&self, may: &dyn Fn(&str) -> bool) -> Vec<model::Tool> {
        self.that(may).map(|tool| tool.native.clone()).collect()
    }

    /// The tool of this name, with a dot or as a wire has it.
    pub fn by_wire_name(&self, name: &str) -> Option<&KnownTool> {
        self.0.iter().find(|tool| tool.name == name || tool.native.name == name)
    }

    /// The tool of this name, if there is one.
    pub fn known(&self, name: &str) -> Option<&KnownTool> {
        self.0.iter().find(|tool| tool.name == name)
    }

    /// Whether this life has a tool of this name; an earlier life may have had others.
    pub fn exists(&self, name: &str) -> bool {
        self.known(name).is_some()
    }

    /// Whether a request lists the tool of this name, in a house where this is configured.
    pub fn is_listed(&self, name: &str, configured: &[String]) -> bool {
        self.known(name).is_some_and(|tool| match tool.listed {
            Listed::Always => true,
            Listed::Where(what) => configured.iter().any(|known| known == what),
            Listed::Never => false,
        })
    }

    /// The tool `more`, which names those that are not listed; its line in a prompt, and as a wire has it.
    pub fn more(&self, configured: &[String]) -> (String, model::Tool) {
        let others = self.0.iter().filter(|tool| !self.is_listed(tool.name, configured));
        let names: Vec<&str> = others.map(|tool| tool.name).collect();
        let description =
            format!("call another by name; without `args`, what it takes: {}", names.join(", "));
        let schema = json!({
            "type": "object",
            "properties": {"tool": {"type": "string"}, "args": {"type": "string", "description": "a JSON object, as text"}},
            "required": ["tool"],
        });
        let line = format!("- {MORE} {{tool, args?: {{…}}}}: {description}\n");
        (line, model::Tool { name: MORE.to_owned(), description, schema, strict: false })
    }

    /// A call of `more` as the call of the tool that it names.
    pub fn unfold(&self, call: &mut ToolCall) {
        if call.tool != MORE || call.refused.is_some() {
            return;
        }
        let Some(name) = call.args.get("tool").and_then(Value::as_str).map(|name| name.trim().to_owned())
        else {
            call.refused = Some(format!("{MORE} needs `tool`, a name out of its list"));
            return;
        };
        let args = match call.args.get("args") {
            Some(Value::Object(args)) => Some(args.clone()),
            Some(Value::String(text)) if !text.trim().is_empty() => serde_json::from_str(text).ok(),
            _ => Some(Map::new()),
        };
        match args {
            Some(args) => call.args = args,
            None => call.refused = Some(format!("not run: `args` of {MORE} is no JSON object, as text")),
        }
        call.tool = self.by_wire_name(&name).map_or(name, |tool| tool.name.to_owned());
    }
}
