//! A server as it stands in `owner.toml`: the exact lines that the owner is shown, and that are written. Pure.
//!
//! Keys, their order and their defaults are those of the settings: what is at its default is not written.

use house::settings::key::{Key, Shape};
use house::settings::mcp::{Mcp, ToolRule};
use serde_json::{Map, Value};

/// Word by which uvx takes only what was fetched before.
const OFFLINE: &str = "--offline";

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Block {
    pub name: String,
    pub server: Mcp,
}

impl Block {
    pub fn lines(&self) -> String {
        let server = serde_json::to_value(&self.server).unwrap_or_default();
        let keys = server.as_object().map(|fields| said(fields, Mcp::KEYS)).unwrap_or_default();
        let line = |(key, value): (&Key, &Value)| match (&key.shape, value) {
            (Shape::List(shape @ Shape::Table(_)), Value::Array(items)) => {
                let items = items.iter().map(|item| format!("  {},\n", written(item, shape)));
                format!("{} = [\n{}]\n", key.name, items.collect::<String>())
            }
            (shape, value) => format!("{} = {}\n", key.name, written(value, shape)),
        };
        format!("[mcp.{}]\n{}", self.name, keys.into_iter().map(line).collect::<String>())
    }

    /// The same while its program is fetched: with an open network, and without the order to do without.
    pub fn fetching(&self) -> Self {
        let mut server = self.server.clone();
        server.command.retain(|word| word != OFFLINE);
        server.network = "open".to_owned();
        Self { server, ..self.clone() }
    }

    /// The same with `{home}` and `{house}` replaced by these folders.
    pub fn placed(mut self, home: &str, house: &str) -> Self {
        let values = self.server.command.iter_mut().chain(self.server.set.values_mut());
        values.for_each(|value| *value = value.replace("{home}", home).replace("{house}", house));
        self
    }
}

/// A rule as it stands in a list of them.
pub fn rule(rule: &ToolRule) -> String {
    written(&serde_json::to_value(rule).unwrap_or_default(), &Shape::Table(ToolRule::KEYS))
}

/// The keys that say more than their defaults, in the order of the settings.
fn said<'a>(fields: &'a Map<String, Value>, keys: &'static [Key]) -> Vec<(&'static Key, &'a Value)> {
    let of = |key: &'static Key| {
        let value = fields.get(key.name)?;
        (key.needed() || *value != (key.default)(key.name)).then_some((key, value))
    };
    keys.iter().filter_map(of).collect()
}

/// A value as TOML in a line.
fn written(value: &Value, shape: &Shape) -> String {
    let list = |all: Vec<String>, [open, close]: [&str; 2]| format!("{open}{}{close}", all.join(", "));
    let pair =
        |name: &str, value: &Value, shape: &Shape| format!("{} = {}", word(name), written(value, shape));
    match (shape, value) {
        (Shape::Needed(shape), value) => written(value, shape),
        (Shape::List(shape), Value::Array(all)) => {
            list(all.iter().map(|value| written(value, shape)).collect(), ["[", "]"])
        }
        (Shape::Table(keys), Value::Object(fields)) => {
            let keys = said(fields, keys).into_iter();
            list(keys.map(|(key, value)| pair(key.name, value, &key.shape)).collect(), ["{ ", " }"])
        }
        (Shape::Names(_, shape), Value::Object(fields)) => {
            list(fields.iter().map(|(name, value)| pair(name, value, shape)).collect(), ["{ ", " }"])
        }
        (_, Value::String(text)) => toml_edit::Value::from(text).to_string(),
        (_, value) => value.to_string(),
    }
}

/// A name as a key: quoted where TOML wants that.
fn word(name: &str) -> String {
    toml_edit::Key::new(name).display_repr().into_owned()
}
