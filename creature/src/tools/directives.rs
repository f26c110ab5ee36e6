//! `directive.*`: notes standing orders of the owner's that were not understood when they were heard; lists all.

use super::arguments::Arguments;
use super::tool_context::ToolContext;
use crate::fault::Fault;
use agenda::Change;
use agenda::directive::{self, Directive};
use agenda::items::Item;
use serde_json::{Value, json};

pub fn set(tools: &mut ToolContext<'_>, args: &Arguments) -> Result<Value, Fault> {
    let text = args.text("text");
    let understood = directive::understand(text, tools.store.clock.now(), &tools.store.rules.time_zone).ok_or_else(|| {
        let hint = "say it as in: focus on revenue this week · check my mail every 10 minutes · only message me about \
            money · pause until friday · resume";
        Fault::new("directive.set cannot read `text`", hint)
    })?;
    let done = tools.change(&Change::Directive(understood.change.clone()))?;
    Ok(json!({"noted": directive::reply(&understood), "done": done}))
}

pub fn list(tools: &mut ToolContext<'_>, _: &Arguments) -> Result<Value, Fault> {
    let line = |directive: &Item<Directive>| {
        let Item { id, about: text, made_at: at, of: Directive { until, next, .. }, .. } = directive;
        json!({"id": id, "text": text, "at": at, "until": until, "next": next})
    };
    let standing = tools.store.agenda.directives.standing(tools.store.clock.now());
    Ok(json!({"directives": standing.map(line).collect::<Vec<_>>()}))
}
