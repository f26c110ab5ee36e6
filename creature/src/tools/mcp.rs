//! `mcp.*`: tools of the MCP servers that the owner named; the broker starts them, judges each call and records it.

use super::arguments::Arguments;
use super::files::{inside, room};
use super::tool_context::{ToolContext, fault, waits, with};
use crate::fault::Fault;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ground::text;
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
            let (kept, unkept) = pictures(tools, args, &reply.pictures);
            let look = (!kept.is_empty()).then_some("files.see tells what a picture shows");
            let failed = (reply.status >= 400).then_some("the server says that the call failed");
            let kept = Some(kept).filter(|kept| !kept.is_empty());
            let more = json!({"pictures": kept, "hint": look, "left_out": unkept, "failed": failed});
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

/// Keeps pictures in the workspace, for `files.see`: their paths, and why one could not be kept. The call happened all the same.
fn pictures(
    tools: &mut ToolContext<'_>,
    args: &Arguments,
    pictures: &[Value],
) -> (Vec<String>, Option<String>) {
    let (mut kept, mut unkept) = (Vec::new(), None);
    for (number, picture) in pictures.iter().enumerate() {
        match keep(tools, args, number + 1, picture) {
            Ok(path) => kept.push(path),
            Err(fault) => unkept = Some(format!("a picture: {fault}; {}", fault.hint)),
        }
    }
    (kept, unkept)
}

fn keep(
    tools: &mut ToolContext<'_>,
    args: &Arguments,
    number: usize,
    picture: &Value,
) -> Result<String, Fault> {
    let word = |key: &str| picture.get(key).and_then(Value::as_str).unwrap_or_default();
    let unkept = |cause: &dyn std::error::Error| {
        Fault::caused("keep a picture in the workspace", cause, "is the disk full?")
    };
    let bytes = STANDARD.decode(word("data")).map_err(|cause| unkept(&cause))?;
    let ending = match word("mime_type") {
        "image/png" => "png",
        "image/jpeg" => "jpg",
        "image/gif" => "gif",
        "image/webp" => "webp",
        other => return Err(Fault::new(format!("no model sees {}", text::first(other, 60)), "")),
    };
    let time = tools.store.clock.now().strftime("%Y%m%dT%H%M%S%3f");
    let path = format!("{PICTURES}/{time}-{number}.{ending}");
    room(tools, bytes.len() as u64)?;
    let file = inside(tools, args, &path)?;
    file.parent().map_or(Ok(()), std::fs::create_dir_all).map_err(|cause| unkept(&cause))?;
    memory::replace(&file, &bytes).map_err(|cause| unkept(&cause))?;
    Ok(path)
}
