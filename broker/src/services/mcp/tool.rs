//! A tool as its server describes it, within bounds, and the fingerprint of that description; pure.

use house::printable::{self, hex};
use rmcp::model::Skill;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// Longest name (MCP 2025-11-25, server/tools, "Tool Names": 1 to 128 characters of `A-Za-z0-9_-.`; older servers use `/`).
const MOST_NAME: usize = 128;
/// Most bytes of a description together with its schema.
const MOST_BYTES: usize = 64 << 10;
/// Deepest nesting of a schema.
const MOST_DEPTH: usize = 64;
/// Characters of the line that stands for a tool in a prompt.
const MOST_LINE: usize = 110;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tool {
    pub name: String,
    pub description: String,
    pub schema: Value,
    /// Whether its server says that it changes nothing: for the proposal of rules only.
    #[serde(default)]
    pub says_it_looks: bool,
    /// The skill of its server that it stands for, with the digests of its files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skill: Option<Skill>,
}

/// Whether a tool may be named so.
pub fn is_name(name: &str) -> bool {
    let fits = |letter: char| letter.is_ascii_alphanumeric() || "_-./".contains(letter);
    (1..=MOST_NAME).contains(&name.len()) && name.chars().all(fits)
}

impl Tool {
    /// Takes a tool as a server lists it, or says why it is not offered.
    pub fn take(listed: &rmcp::model::Tool) -> Result<Self, String> {
        let name = listed.name.as_ref();
        if !is_name(name) {
            let shown: String = name.chars().take(40).collect();
            return Err(format!("a tool is named {shown:?}, which MCP does not allow"));
        }
        let description = printable::spelled(listed.description.as_deref().unwrap_or_default());
        let schema = Value::Object(listed.input_schema.as_ref().clone());
        if description.len() + schema.to_string().len() > MOST_BYTES {
            return Err(format!("{name} is described in more than {MOST_BYTES} bytes"));
        }
        if depth(&schema) > MOST_DEPTH {
            return Err(format!("the schema of {name} is nested more than {MOST_DEPTH} deep"));
        }
        let says_it_looks = listed.annotations.as_ref().and_then(|said| said.read_only_hint).unwrap_or(false);
        Ok(Self { name: name.to_owned(), description, schema, says_it_looks, skill: None })
    }

    /// Bytes of its name and of what it is.
    pub fn bytes(&self) -> usize {
        self.name.len() + self.whole().len()
    }

    /// SHA-256 of its description and schema, and of the skill that it stands for, in hex.
    pub fn fingerprint(&self) -> String {
        let skill = self.skill.as_ref().map(|skill| sorted(&json!(skill)));
        let parts = [Some(json!(self.description)), Some(sorted(&self.schema)), skill];
        hex(&Sha256::digest(parts.into_iter().flatten().collect::<Value>().to_string()))
    }

    /// Its description, its schema, and the skill that it stands for, for an owner to compare.
    pub fn whole(&self) -> String {
        let skill = self.skill.as_ref().map(|skill| format!("\n{:#}", json!(skill))).unwrap_or_default();
        format!("{}\n{:#}{skill}", self.description, self.schema)
    }

    /// Its name and the first sentence of its description, in one line.
    pub fn line(&self) -> String {
        let words = self.description.split_whitespace().collect::<Vec<_>>().join(" ");
        let first = words.split_once(". ").map_or(words.as_str(), |(first, _)| first).trim_end_matches('.');
        let line = if first.is_empty() { self.name.clone() } else { format!("{}: {first}", self.name) };
        house::bounds::brief(&line, MOST_LINE)
    }
}

fn depth(value: &Value) -> usize {
    match value {
        Value::Object(fields) => 1 + fields.values().map(depth).max().unwrap_or(0),
        Value::Array(values) => 1 + values.iter().map(depth).max().unwrap_or(0),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 0,
    }
}

/// The value with the keys of its objects in order: a server may list them in another each time.
fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let mut names: Vec<&String> = fields.keys().collect();
            names.sort();
            names.into_iter().filter_map(|name| Some((name.clone(), sorted(fields.get(name)?)))).collect()
        }
        Value::Array(values) => values.iter().map(sorted).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    }
}
