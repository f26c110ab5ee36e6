//! The tools as the server lists them: names, words and schemas; nothing else can be done.

use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde_json::{Value, json};
use std::sync::Arc;

/// Most transfers that `history` tells of.
pub const MOST_TOLD: u64 = 100;

pub fn all() -> Vec<Tool> {
    let text = |description: &str| json!({"type": "string", "description": description});
    let send = json!({
        "to": text("address with its checksum (EIP-55), as it was given"),
        "amount": text("in whole units, as decimal text like \"0.05\""),
        "token": text("symbol of a token; left out: the chain's own coin"),
        "max_fee": text("most that gas may cost, in whole units of the chain's own coin, like \"0.001\""),
    });
    let count = json!({"count": {"type": "integer", "minimum": 1, "maximum": MOST_TOLD, "description": "how many, else 20"}});
    vec![
        tool(
            "balance",
            "What this wallet holds, of the chain's own coin and of each token.",
            json!({}),
            &[],
            true,
        ),
        tool("history", "What this wallet sent, the newest first, and what became of it.", count, &[], true),
        tool("status", "Address, chain, what waits for a block and what is wrong.", json!({}), &[], true),
        tool(
            "send",
            "Sends an amount of the chain's own coin or of a token. It is simulated first, and waits up to 20 s for a block.",
            send,
            &["to", "amount", "max_fee"],
            false,
        ),
    ]
}

fn tool(
    name: &'static str,
    description: &'static str,
    properties: Value,
    required: &[&str],
    looks: bool,
) -> Tool {
    let schema = json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false});
    let schema: JsonObject = schema.as_object().cloned().unwrap_or_default();
    let annotations =
        ToolAnnotations::new().read_only(looks).destructive(!looks).idempotent(looks).open_world(true);
    Tool::new(name, description, Arc::new(schema)).with_annotations(annotations)
}
