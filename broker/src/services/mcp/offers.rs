//! Resources and prompts of a server, offered as tools, so that the same rules, pins and records hold for them.

use super::tool::Tool;
use rmcp::model::{
    CallToolResult, ContentBlock, GetPromptRequestParams, GetPromptResponse, PaginatedRequestParams, Prompt,
    ReadResourceRequestParams, ReadResourceResponse, Resource, ResourceTemplate, ServerCapabilities,
};
use rmcp::service::{Peer, RoleClient, ServiceError};
use serde_json::{Map, Value, json};

/// Most resources or prompts that are listed.
const MOST_LISTED: usize = 1_000;
const MOST_PAGES: usize = 100;

pub const LIST_RESOURCES: &str = "resources/list";
pub const READ_RESOURCE: &str = "resources/read";
pub const LIST_PROMPTS: &str = "prompts/list";
pub const GET_PROMPT: &str = "prompts/get";

/// Offers what a server has beside its tools as tools, which are named like the methods of the protocol.
pub fn of(capabilities: &ServerCapabilities) -> Vec<Tool> {
    let tool = |name: &str, description: &str, properties: Value, required: &[&str]| Tool {
        name: name.to_owned(),
        description: description.to_owned(),
        schema: json!({"type": "object", "properties": properties, "required": required}),
        says_it_looks: true,
        skill: None,
    };
    let mut tools = Vec::new();
    if capabilities.resources.is_some() {
        tools.push(tool(LIST_RESOURCES, "Lists what can be read here, by its address.", json!({}), &[]));
        let uri = json!({"uri": {"type": "string"}});
        tools.push(tool(READ_RESOURCE, "Reads a resource by its address.", uri, &["uri"]));
    }
    if capabilities.prompts.is_some() {
        tools.push(tool(LIST_PROMPTS, "Lists the prompts that are kept here.", json!({}), &[]));
        let prompt = json!({"name": {"type": "string"}, "arguments": {"type": "object"}});
        let get = tool(GET_PROMPT, "Gets a prompt with its places filled in.", prompt, &["name"]);
        // A server may do anything to fill them in: fetch an address, say.
        tools.push(Tool { says_it_looks: false, ..get });
    }
    tools
}

/// The result of such a tool as one of a tool; none where the server wants something in between.
pub async fn take(
    peer: &Peer<RoleClient>,
    tool: &str,
    arguments: &Map<String, Value>,
) -> Result<Option<CallToolResult>, ServiceError> {
    let text = |name: &str| arguments.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    let blocks = match tool {
        LIST_RESOURCES => {
            let resources = paged(peer, Kind::Resources).await?;
            // A server may have no templates, and then no such method.
            let templates = paged(peer, Kind::Templates).await.unwrap_or_default();
            blocks(resources.into_iter().chain(templates))
        }
        LIST_PROMPTS => blocks(paged(peer, Kind::Prompts).await?.into_iter()),
        READ_RESOURCE => {
            let read = peer.read_resource_once(ReadResourceRequestParams::new(text("uri"))).await?;
            let ReadResourceResponse::Complete(read) = read else { return Ok(None) };
            read.contents.into_iter().map(ContentBlock::resource).collect()
        }
        _ => {
            let mut asked = GetPromptRequestParams::new(text("name"));
            asked.arguments = arguments.get("arguments").and_then(Value::as_object).cloned();
            let got = peer.get_prompt_once(asked).await?;
            let GetPromptResponse::Complete(prompt) = got else { return Ok(None) };
            prompt.messages.into_iter().map(|message| message.content).collect()
        }
    };
    Ok(Some(CallToolResult::success(blocks)))
}

#[derive(Clone, Copy)]
enum Kind {
    Resources,
    Templates,
    Prompts,
}

/// Lists what a server has of a kind, a line each, page by page; a list without end is cut.
async fn paged(peer: &Peer<RoleClient>, kind: Kind) -> Result<Vec<String>, ServiceError> {
    let (mut lines, mut cursor) = (Vec::new(), None);
    for _ in 0..MOST_PAGES {
        let (more, next) = page(peer, kind, cursor).await?;
        lines.extend(more);
        cursor = next;
        if cursor.is_none() || lines.len() >= MOST_LISTED {
            break;
        }
    }
    Ok(lines)
}

async fn page(
    peer: &Peer<RoleClient>,
    kind: Kind,
    cursor: Option<String>,
) -> Result<(Vec<String>, Option<String>), ServiceError> {
    let at = Some(PaginatedRequestParams::default().with_cursor(cursor));
    Ok(match kind {
        Kind::Resources => {
            let page = peer.list_resources(at).await?;
            (page.resources.iter().map(resource).collect(), page.next_cursor)
        }
        Kind::Templates => {
            let page = peer.list_resource_templates(at).await?;
            (page.resource_templates.iter().map(template).collect(), page.next_cursor)
        }
        Kind::Prompts => {
            let page = peer.list_prompts(at).await?;
            (page.prompts.iter().map(prompt).collect(), page.next_cursor)
        }
    })
}

fn blocks(lines: impl Iterator<Item = String>) -> Vec<ContentBlock> {
    lines.take(MOST_LISTED).map(ContentBlock::text).collect()
}

fn line(name: &str, description: Option<&String>) -> String {
    let words = description.map(|words| format!(": {}", house::printable::flat(words))).unwrap_or_default();
    house::bounds::brief(&format!("{name}{words}"), 300)
}

fn resource(resource: &Resource) -> String {
    line(&format!("{} ({})", resource.uri, resource.name), resource.description.as_ref())
}

fn template(template: &ResourceTemplate) -> String {
    line(&format!("{} ({})", template.uri_template, template.name), template.description.as_ref())
}

fn prompt(prompt: &Prompt) -> String {
    let names: Vec<&str> = prompt.arguments.iter().flatten().map(|argument| argument.name.as_str()).collect();
    line(&format!("{} ({})", prompt.name, names.join(", ")), prompt.description.as_ref())
}
