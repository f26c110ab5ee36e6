//! `spawn` and `sessions.*`: begins sub-sessions, tells how far they are, and cancels them.

use super::arguments::Arguments;
use super::tool_context::ToolContext;
use crate::fault::Fault;
use crate::store::Store;
use agenda::sessions::{Origin, Request, Session, Spawned};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

/// The longest that a session may wait to begin, in seconds: a year.
const MOST_WAIT_S: i64 = 366 * 86_400;

pub fn spawn(tools: &mut ToolContext<'_>, args: &Arguments) -> Result<Value, Fault> {
    let asked: Vec<Value> = match args.value("graph") {
        None => vec![Value::Object(args.given().clone())],
        Some(_) if args.given().len() > 1 => {
            return Err(args.fault("takes `graph` or one objective, not both"));
        }
        Some(graph) => graph.as_array().cloned().unwrap_or_default(),
    };
    let requests = asked.into_iter().map(|one| request(tools, args, one)).collect::<Result<_, Fault>>()?;
    let spawned: Vec<Value> = tools
        .store
        .spawn(requests, tools.facts.mind == "instinct")?
        .into_iter()
        .map(|spawned| {
            let line = tools.store.sessions.get(&spawned.id).map(Session::line);
            json!({"id": spawned.id, "is": line, "warnings": spawned.warnings})
        })
        .collect();
    Ok(
        json!({"spawned": spawned, "note": "all are reported together once none is at work any more: to you as news, of your owner's work to its thread too"}),
    )
}

pub fn list(tools: &mut ToolContext<'_>, args: &Arguments) -> Result<Value, Fault> {
    let Some(id) = args.maybe_text("id") else {
        let lines: Vec<String> = tools.store.sessions.all.iter().map(Session::line).collect();
        return Ok(json!({"sessions": lines}));
    };
    let session =
        tools.store.sessions.get(id).ok_or_else(|| args.fault(format!("knows no sub-session {id:?}")))?;
    Ok(json!({
        "id": id, "status": session.status, "objective": session.objective, "depends_on": session.depends_on,
        "answer": session.answer, "thread": session.thread,
    }))
}

pub fn cancel(tools: &mut ToolContext<'_>, args: &Arguments) -> Result<Value, Fault> {
    let now = tools.store.clock.now();
    let refused = |refused: agenda::Refusal| Fault::new(refused.error, refused.hint);
    let changed = tools.store.sessions.cancel(args.text("id"), now).map_err(refused)?;
    tools.store.turned(&changed)?;
    Ok(json!({"ended": changed}))
}

impl Store {
    /// Spawns sub-sessions, all of them or none; refused on instinct, which runs none.
    pub fn spawn(&mut self, requests: Vec<Request>, on_instinct: bool) -> Result<Vec<Spawned>, Fault> {
        if on_instinct {
            let hint = "do it by your own tools; a model would be needed";
            return Err(Fault::new("spawn a sub-session: no model is offered, and instinct runs none", hint));
        }
        let refused = |refused: agenda::Refusal| Fault::new(refused.error, refused.hint);
        let spawned = self.sessions.spawn_all(requests, self.clock.now()).map_err(refused)?;
        let ids: Vec<String> = spawned.iter().map(|spawned| spawned.id.clone()).collect();
        self.turned(&ids)?;
        Ok(spawned)
    }
}

/// Reads one request; tools that its mode does not have are dropped, and it is refused if none is left.
fn request(tools: &ToolContext<'_>, args: &Arguments, mut asked: Value) -> Result<Request, Fault> {
    if let Value::Object(fields) = &mut asked {
        fields.retain(|_, value| !value.is_null());
        if let Some(said) = fields.get_mut("not_before") {
            *said = json!(moment(tools, args, said)?);
        }
        if let Some(said) = fields.get_mut("depends_on_previous")
            && let Some(names) = said.as_str().and_then(names)
        {
            *said = names;
        }
    }
    let mut request: Request =
        serde_json::from_value(asked).map_err(|why| args.fault(format!("cannot be read: {why}")))?;
    let usable =
        |tool: &String| tools.belt.marks(tool).is_some_and(|marks| marks.modes.contains(&request.mode));
    let (held, dropped): (Vec<String>, Vec<String>) = request.tools.into_iter().partition(usable);
    if held.is_empty() && !dropped.is_empty() {
        let error = format!("names no tool that a session of this mode has: {}", dropped.join(", "));
        return Err(args.fault(error.chars().take(300).collect::<String>()));
    }
    request.tools = held;
    request.model = tools.belt.models.named(&request.model).map_err(|why| args.fault(why))?;
    request.effort = tools.belt.models.effort(&request.effort).map_err(|why| args.fault(why))?;
    let parent = tools.caller.session.clone().unwrap_or_else(|| format!("thought-{}", tools.facts.thoughts));
    request.origin = Origin::Tool { parent };
    request.thread.clone_from(&tools.caller.thread);
    request.owner = tools.caller.owner;
    let warning = |tool: String| format!("{tool} is not among the tools of this mode: dropped");
    request.warnings = dropped.into_iter().map(warning).collect();
    Ok(request)
}

/// Names in a text that is a JSON list.
fn names(text: &str) -> Option<Value> {
    serde_json::from_str::<Vec<String>>(text).ok().map(Value::from)
}

/// Reads `not_before`: a moment, or seconds from now, which may stand in text.
fn moment(tools: &ToolContext<'_>, args: &Arguments, said: &Value) -> Result<Timestamp, Fault> {
    let now = tools.store.clock.now();
    let in_text = |text: &str| text.trim().parse::<i64>().ok();
    let parsed = match said.as_i64().or_else(|| in_text(said.as_str()?)) {
        Some(wait_s) if (0..=MOST_WAIT_S).contains(&wait_s) => {
            now.checked_add(SignedDuration::from_secs(wait_s)).ok()
        }
        Some(_) => None,
        None => {
            said.as_str().and_then(|text| super::agenda::moment(text.trim(), &tools.store.rules.time_zone))
        }
    };
    let at: Timestamp = parsed.ok_or_else(|| {
        args.fault("takes a time as in 2030-01-31T08:00:00Z or 2030-01-31 08:00, or seconds from now, as `not_before`")
    })?;
    match at.duration_since(now).as_secs() > MOST_WAIT_S {
        true => Err(args.fault("takes a time within a year as `not_before`")),
        false => Ok(at),
    }
}
