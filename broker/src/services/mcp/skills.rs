//! Skills of a server, each offered as a tool: named and described in a line, pinned with the digests of its files, read when called.
//!
//! The form is that of <https://github.com/modelcontextprotocol/ext-skills/blob/main/specification/stable/skills.mdx>.
//! Invariant: nothing of a skill is read before it is called, and nothing of it is given that is not what was pinned.

use super::tool::{self, Tool};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use house::{bounds::brief, printable};
use rmcp::model::{
    CallToolResult, ContentBlock, ReadResourceRequestParams, ReadResourceResponse, ResourceContents,
    SKILL_MD, Skill, SkillResources,
};
use rmcp::service::{Peer, RoleClient, ServiceError};
use saphyr_parser::{Event, Parser, ScalarStyle};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

/// Beginning of the names of such tools; after it comes the path of the skill's address.
pub const PREFIX: &str = "skills/";
/// Most files of a skill and bytes of all of them, by the form.
const MOST_FILES: usize = 512;
const MOST_BYTES: u64 = 16 << 20;
/// Most bytes of what its server lists of it.
const MOST_LISTED: usize = 256 << 10;

/// Takes a skill as its server lists it, or says why it is not offered.
pub fn take(mut skill: Skill) -> Result<Tool, String> {
    let odd = |why: &str| format!("the skill {}: {why}", brief(&printable::flat(&skill.uri), 100));
    skill.validate().map_err(|error| odd(&brief(&printable::flat(&error.to_string()), 200)))?;
    let path = skill.uri.split_once("://").map_or(skill.uri.as_str(), |(_, path)| path);
    let name = format!("{PREFIX}{}", path.strip_suffix(&format!("/{SKILL_MD}")).unwrap_or(path));
    if !tool::is_name(&name) || name.split('/').any(|part| matches!(part, "" | "." | "..")) {
        return Err(odd("its path has other letters than A to z, digits, - _ and ."));
    }
    let listed = serde_json::to_string(&skill).map_err(|error| odd(&error.to_string()))?.len();
    let root = root(&skill).to_owned();
    let SkillResources::Files(files) = &mut skill.resources else {
        return Err(odd("its files have no digests, so no yes to it would last"));
    };
    let bytes = files.iter().fold(0_u64, |sum, file| sum.saturating_add(file.size));
    if files.len() > MOST_FILES || bytes > MOST_BYTES || listed > MOST_LISTED {
        return Err(format!("the skill {path} is too large: {} files of {bytes} bytes", files.len()));
    }
    files.sort_by(|one, other| one.uri.cmp(&other.uri));
    let names: Vec<&str> =
        files.iter().map(|file| file.uri.strip_prefix(&root).unwrap_or(&file.uri)).collect();
    Ok(Tool {
        name,
        description: printable::spelled(&skill.frontmatter.description),
        schema: json!({"type": "object", "properties": {"file": {"type": "string", "enum": names}}}),
        // It is to be followed: more than a look.
        says_it_looks: false,
        skill: Some(skill),
    })
}

/// Begin of the addresses of its files.
fn root(skill: &Skill) -> &str {
    skill.uri.strip_suffix(SKILL_MD).unwrap_or(&skill.uri)
}

/// Reads its text, or another file of it; none where the server wants something in between.
pub async fn read(
    peer: &Peer<RoleClient>,
    skill: &Skill,
    arguments: &Map<String, Value>,
) -> Result<Option<CallToolResult>, ServiceError> {
    let file = arguments.get("file").and_then(Value::as_str).filter(|file| !file.is_empty());
    let wanted = file.map_or_else(|| skill.uri.clone(), |file| format!("{}{file}", root(skill)));
    // No file of a skill whose text is not what was pinned.
    let given = match held(peer, skill, &skill.uri).await? {
        Some(Ok(_)) if wanted != skill.uri => held(peer, skill, &wanted).await?,
        given => given,
    };
    Ok(given.map(|given| match given {
        Ok(contents) => CallToolResult::success(vec![ContentBlock::resource(contents)]),
        Err(why) => CallToolResult::error(vec![ContentBlock::text(why)]),
    }))
}

/// A file as the server gives it, or why it does not hold.
async fn held(
    peer: &Peer<RoleClient>,
    skill: &Skill,
    uri: &str,
) -> Result<Option<Result<ResourceContents, String>>, ServiceError> {
    let SkillResources::Files(files) = &skill.resources else { return Ok(None) };
    let Some(file) = files.iter().find(|file| file.uri == uri) else {
        return Ok(Some(Err(format!("the skill has no file {}", brief(&printable::flat(uri), 200)))));
    };
    let read = peer.read_resource_once(ReadResourceRequestParams::new(uri)).await?;
    let ReadResourceResponse::Complete(read) = read else { return Ok(None) };
    let Ok([contents]) = <[ResourceContents; 1]>::try_from(read.contents) else {
        return Ok(Some(Err(format!("{uri} is not given as one file"))));
    };
    let bytes = match &contents {
        ResourceContents::TextResourceContents { text, .. } => text.clone().into_bytes(),
        ResourceContents::BlobResourceContents { blob, .. } => STANDARD.decode(blob).unwrap_or_default(),
        _ => Vec::new(),
    };
    let holds = file.verify(&bytes).map_err(|error| error.to_string()).and_then(|()| {
        let is_as_said = uri != skill.uri || is_as_said(&bytes, &json!(skill.frontmatter));
        if is_as_said {
            Ok(())
        } else {
            Err(format!("{uri} says otherwise what it is for than its server lists"))
        }
    });
    Ok(Some(holds.map(|()| contents).map_err(|why| {
        format!("not given, for it is not what was seen before: {why}; call it again, and your owner is asked if it changed")
    })))
}

/// Whether the front matter of a text has the fields that were listed, and no others.
pub fn is_as_said(text: &[u8], said: &Value) -> bool {
    let is_mark = |line: &&str| line.trim_end() == "---";
    let Ok(text) = std::str::from_utf8(text) else { return false };
    let mut lines = text.split_inclusive('\n');
    if !lines.next().as_ref().is_some_and(is_mark) {
        return false;
    }
    let yaml: String = lines.take_while(|line| !is_mark(line)).collect();
    let events = Parser::new_from_str(&yaml).map(|event| event.ok().map(|(event, _)| event));
    let mut events =
        events.skip_while(|event| matches!(event, Some(Event::StreamStart | Event::DocumentStart(_))));
    same(&mut events, said)
        && events.all(|event| matches!(event, Some(Event::DocumentEnd | Event::StreamEnd)))
}

fn same<'yaml>(events: &mut impl Iterator<Item = Option<Event<'yaml>>>, said: &Value) -> bool {
    match (events.next().flatten(), said) {
        (Some(Event::Scalar(text, style, ..)), _) => reads(&text, style, said),
        (Some(Event::SequenceStart(..)), Value::Array(items)) => {
            items.iter().all(|item| same(events, item))
                && matches!(events.next().flatten(), Some(Event::SequenceEnd))
        }
        (Some(Event::MappingStart(..)), Value::Object(fields)) => {
            let mut seen = BTreeSet::new();
            loop {
                match events.next().flatten() {
                    Some(Event::MappingEnd) => return seen.len() == fields.len(),
                    Some(Event::Scalar(key, ..)) => {
                        let is_same = fields.get(key.as_ref()).is_some_and(|field| same(events, field));
                        if !is_same || !seen.insert(key.into_owned()) {
                            return false;
                        }
                    }
                    _ => return false,
                }
            }
        }
        _ => false,
    }
}

/// Whether a text of YAML reads as a value; all that stands there may be read as text, too.
fn reads(text: &str, style: ScalarStyle, said: &Value) -> bool {
    let is_plain = style == ScalarStyle::Plain;
    match said {
        Value::String(said) => said == text,
        Value::Bool(said) => is_plain && text.eq_ignore_ascii_case(&said.to_string()),
        Value::Number(said) => {
            is_plain
                && (text == said.to_string()
                    || text.parse().ok().is_some_and(|number: f64| said.as_f64() == Some(number)))
        }
        Value::Null => is_plain && matches!(text, "" | "~" | "null" | "Null" | "NULL"),
        Value::Array(_) | Value::Object(_) => false,
    }
}
