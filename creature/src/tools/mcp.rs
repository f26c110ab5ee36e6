//! `mcp.*`: tools of the MCP servers that the owner named; the broker starts them, judges each call and records it.

use super::arguments::Arguments;
use super::files::{inside, room};
use super::tool_context::{ToolContext, fault, waits, with};
use crate::fault::Fault;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

/// Folder of the workspace for pictures that tools answer with.
const PICTURES: &str = "pictures";

pub async fn describe(tools: &mut ToolContext<'_>, args: &Arguments) -> Result<Value, Fault> {
    let said = tools.way_out()?.mcp_describe(&request(args)).await.map_err(fault)?;
    Ok(with(json!({"from": "others"}), said))
}

pub async fn call(tools: &mut ToolContext<'_>, args: &Arguments) -> Result<Value, Fault> {
    let more = json!({"arguments": args.value("arguments"), "reason": args.maybe_text("reason")});
    match tools.way_out()?.mcp_call(&with(request(args), more)).await {
        Ok(reply) => {
            let kept = pictures(tools, args, &reply.pictures)?;
            let failed = (reply.status >= 400).then_some("the server says that the call failed");
            let more = json!({"pictures": kept, "failed": failed});
            Ok(with(
                json!({"from": "others", "text": reply.body, "truncated": reply.truncated.then_some(true)}),
                more,
            ))
        }
        Err(error) => waits(error),
    }
}

fn request(args: &Arguments) -> Value {
    let tool = args.maybe_text("tool").map(str::trim);
    with(json!({"server": args.text("server").trim()}), json!({"tool": tool}))
}

/// Keeps pictures in the workspace, for `files.see`; their paths.
fn pictures(
    tools: &mut ToolContext<'_>,
    args: &Arguments,
    pictures: &[Value],
) -> Result<Option<Vec<String>>, Fault> {
    let mut kept = Vec::new();
    for (number, picture) in pictures.iter().enumerate() {
        let word = |key: &str| picture.get(key).and_then(Value::as_str).unwrap_or_default();
        let Ok(bytes) = STANDARD.decode(word("data")) else { continue };
        let ending = match word("mime_type") {
            "image/png" => "png",
            "image/jpeg" => "jpg",
            "image/gif" => "gif",
            "image/webp" => "webp",
            _ => continue,
        };
        let time = tools.store.clock.now().strftime("%Y%m%dT%H%M%S%3f");
        let path = format!("{PICTURES}/{time}-{}.{ending}", number + 1);
        room(tools, bytes.len() as u64)?;
        let file = inside(tools, args, &path)?;
        let unkept = |cause: &dyn std::error::Error| {
            Fault::caused("keep a picture in the workspace", cause, "is the disk full?")
        };
        file.parent().map_or(Ok(()), std::fs::create_dir_all).map_err(|cause| unkept(&cause))?;
        memory::replace(&file, &bytes).map_err(|cause| unkept(&cause))?;
        kept.push(path);
    }
    Ok(Some(kept).filter(|kept| !kept.is_empty()))
}
