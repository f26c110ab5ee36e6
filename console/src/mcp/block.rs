//! A server as it stands in `owner.toml`: the exact lines that the owner is shown, and that are written. Pure.

use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt::Write;
use toml_edit::Value;

/// Word by which uvx takes only what was fetched before.
const OFFLINE: &str = "--offline";

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Block {
    pub name: String,
    pub command: Vec<String>,
    pub url: String,
    pub hand: String,
    pub token_env: String,
    pub env: Vec<String>,
    pub set: BTreeMap<String, String>,
    pub read: Vec<String>,
    pub write: Vec<String>,
    pub network: String,
    pub about: String,
    /// Calls an hour; 0 leaves it at its default.
    pub per_hour: u32,
    pub rules: Vec<Rule>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    pub tool: String,
    #[serde(rename = "do")]
    pub verdict: String,
    #[serde(default)]
    pub looks: bool,
    /// More of it, as TOML: conditions on arguments, limits.
    #[serde(default)]
    pub also: String,
}

impl Rule {
    pub fn new(tool: &str, verdict: &str, looks: bool) -> Self {
        Self { tool: tool.to_owned(), verdict: verdict.to_owned(), looks, also: String::new() }
    }

    /// Whether it is about a tool; `*` is any text, at the end of a name alone.
    pub fn names(&self, tool: &str) -> bool {
        match self.tool.strip_suffix('*') {
            Some(begins) => tool.starts_with(begins),
            None => self.tool == tool,
        }
    }

    pub fn line(&self) -> String {
        let looks = if self.looks { ", looks = true" } else { "" };
        let also = if self.also.is_empty() { String::new() } else { format!(", {}", self.also) };
        format!("{{ tool = {}, do = {}{looks}{also} }}", quoted(&self.tool), quoted(&self.verdict))
    }
}

impl Block {
    pub fn lines(&self) -> String {
        let mut lines = format!("[mcp.{}]\n", self.name);
        let mut put = |key: &str, value: String| {
            let _ = writeln!(lines, "{key} = {value}");
        };
        for (key, text) in [("hand", &self.hand), ("url", &self.url), ("token_env", &self.token_env)] {
            if !text.is_empty() {
                put(key, quoted(text));
            }
        }
        let lists =
            [("command", &self.command), ("env", &self.env), ("read", &self.read), ("write", &self.write)];
        for (key, list) in lists {
            if !list.is_empty() {
                put(
                    key,
                    format!("[{}]", list.iter().map(|text| quoted(text)).collect::<Vec<_>>().join(", ")),
                );
            }
        }
        if !self.set.is_empty() {
            let set: Vec<String> =
                self.set.iter().map(|(name, value)| format!("{name} = {}", quoted(value))).collect();
            put("set", format!("{{ {} }}", set.join(", ")));
        }
        if !self.network.is_empty() {
            put("network", quoted(&self.network));
        }
        if !self.about.is_empty() {
            put("about", quoted(&self.about));
        }
        if self.per_hour > 0 {
            put("per_hour", self.per_hour.to_string());
        }
        if !self.rules.is_empty() {
            let rules: String = self.rules.iter().map(|rule| format!("  {},\n", rule.line())).collect();
            put("rules", format!("[\n{rules}]"));
        }
        lines
    }

    /// The same while its program is fetched: with an open network, and without the order to do without.
    pub fn fetching(&self) -> Self {
        let command = self.command.iter().filter(|word| *word != OFFLINE).cloned().collect();
        Self { command, network: "open".to_owned(), ..self.clone() }
    }

    /// The same with `{home}` and `{house}` replaced by these folders.
    pub fn placed(mut self, home: &str, house: &str) -> Self {
        let values = self.command.iter_mut().chain(self.set.values_mut());
        values.for_each(|value| *value = value.replace("{home}", home).replace("{house}", house));
        self
    }

    /// Names of the variables that it gets.
    pub fn variables(&self) -> Vec<String> {
        self.env.iter().chain(Some(&self.token_env).filter(|name| !name.is_empty())).cloned().collect()
    }
}

fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}
