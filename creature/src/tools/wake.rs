//! `complete_run` and `rest`: how a thought ends its wake, and when it will be woken; the loop reads what they say.

use super::arguments::Arguments;
use super::tool_context::ToolContext;
use crate::fault::Fault;
use agenda::items::later;
use agenda::rest::Bounds;
use jiff::Timestamp;
use serde_json::{Value, json};

/// Limits of a rest chosen now: the bounds in force, and what ends it before its time, the earliest first.
#[derive(Clone, Debug, Default)]
pub struct Rests {
    pub bounds: Bounds,
    pub due: Vec<(Timestamp, String)>,
}

pub fn complete(tools: &mut ToolContext<'_>, args: &Arguments) -> Result<Value, Fault> {
    tools.belt.left.completed = true;
    Ok(Value::Object(args.given().clone()))
}

/// Tells when the rest will end in truth, and for what.
pub fn rest(tools: &mut ToolContext<'_>, args: &Arguments) -> Result<Value, Fault> {
    let mut told = args.given().clone();
    let Some(asked_s) = args.number("sleep_s").filter(|asked_s| *asked_s > 0) else {
        return Ok(Value::Object(told));
    };
    let (now, Rests { bounds, due }) = (tools.store.clock.now(), &tools.belt.rests);
    let rest_s = bounds.chosen(asked_s as u64);
    let over = later(now, rest_s);
    let (at, why) = match due.first().filter(|(at, _)| *at < over) {
        Some((at, what)) => ((*at).max(now), what.clone()),
        None => (over, "this rest is over".to_owned()),
    };
    told.insert("wakes_at".to_owned(), json!(format!("{at:.0}")));
    told.insert("for".to_owned(), json!(why));
    if rest_s != asked_s as u64 {
        told.insert(
            "bounds".to_owned(),
            json!(format!("rests are of {} to {} s", bounds.shortest_s, bounds.chosen_s)),
        );
    }
    told.insert("sooner".to_owned(), json!("only for a word of your owner's, or news"));
    Ok(Value::Object(told))
}
