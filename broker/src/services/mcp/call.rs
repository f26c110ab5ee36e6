//! Call of a tool, from the creature's request to its envelope; judged, recorded and answered like a call to a service.

use super::content;
use super::failure::Lost;
use super::limit;
use super::listing;
use super::pins::Pinned;
use super::rules::{self, LOOK, tool_of};
use crate::approvals::act::{Act, Call, Pin};
use crate::approvals::outcome::{Answer, Outcome, not_sent};
use crate::door::finish::client_gone;
use crate::ground::hours::Full;
use crate::ground::refusal::{Refusal, Unfit};
use crate::ledger::{Closed, Entry};
use crate::services::{Services, carry, upstream};
use house::bounds::brief;
use serde::Deserialize;
use serde_json::{Map, Value};
use std::sync::Arc;

/// Most bytes of arguments.
const MOST_ARGUMENTS: usize = 1 << 20;
pub const UNNOTED: &str = "its answer is withheld: that text of others was read could not be written down";
/// Method, in records, of a call that may change something.
const CALL: &str = "CALL";

/// A call as the creature requests it.
#[derive(Default, Deserialize)]
#[serde(default)]
pub struct Asked {
    pub server: String,
    pub tool: String,
    pub arguments: Map<String, Value>,
    pub reason: String,
}

impl Asked {
    pub fn read(bytes: &[u8]) -> Result<Self, Refusal> {
        Refusal::reading(bytes, "{\"server\",\"tool\",\"arguments\": {…},\"reason\"}")
    }

    fn call(&self, looks: bool) -> Call {
        let path = format!("/{}", self.tool);
        Call {
            service: self.server.clone(),
            method: if looks { LOOK } else { CALL }.to_owned(),
            url: path.clone(),
            path,
            headers: vec![("content-type".to_owned(), "application/json".to_owned())],
            body: Value::Object(self.arguments.clone()).to_string(),
        }
    }
}

/// A call of a tool.
pub async fn run(services: Arc<Services>, life: u64, asked: Asked) -> Result<Value, Closed> {
    let looks = services.mcp.servers.get(&asked.server).is_some_and(|server| {
        let arguments = Value::Object(asked.arguments.clone());
        rules::judge(&server.start.settings.rules, &asked.tool, &arguments).is_some_and(|rule| rule.looks)
    });
    let act = Act::Mcp(asked.call(looks));
    match fit(&services, &asked).await {
        Ok(()) => carry::carry(&services, life, act, &asked.reason).await,
        Err(Unfitting::Changed(pinned)) => changed(&services, life, &asked, &pinned).await,
        Err(Unfitting::Not(unfit)) => services.approvals.refuse(life, &act, unfit).await,
    }
}

enum Unfitting {
    Not(Unfit),
    /// The tool is not what it was when it was first seen.
    Changed(Box<Pinned>),
}

/// Ok if there is such a tool, as it was first seen, and calls are left this hour.
async fn fit(services: &Services, asked: &Asked) -> Result<(), Unfitting> {
    let not = |error: String, hint: &str| Unfitting::Not(Unfit { error, hint: hint.to_owned() });
    let server = services.mcp.server(&asked.server).map_err(Unfitting::Not)?;
    if Value::Object(asked.arguments.clone()).to_string().len() > MOST_ARGUMENTS {
        return Err(not(
            format!("the arguments are larger than {MOST_ARGUMENTS} bytes"),
            "send less at once",
        ));
    }
    let pinned =
        listing::pinned(services, server).await.map_err(|why| not(why, "go on with something else"))?;
    let Some(pinned) = pinned.get(&asked.tool) else {
        let near = house::settings::words::suggest(
            &asked.tool,
            &pinned.keys().map(String::as_str).collect::<Vec<_>>(),
        );
        let error = format!("{} has no tool {:?}", asked.server, brief(&asked.tool, 80));
        return Err(not(error, &near));
    };
    if pinned.changed.is_some() {
        return Err(Unfitting::Changed(Box::new(pinned.clone())));
    }
    match services.handles.hours.take(&super::hours_of(&asked.server), server.start.settings.per_hour) {
        Ok(_) => Ok(()),
        Err(Full::Wait(seconds)) => {
            let most = server.start.settings.per_hour;
            let error = format!("{} may be called {most} times an hour, and was", asked.server);
            Err(not(error, &format!("there is one again in {seconds} s")))
        }
        Err(Full::Closed(why)) => Err(not(why, "the owner has to look at it")),
    }
}

/// Asks the owner about a tool that is not what it was.
async fn changed(services: &Services, life: u64, asked: &Asked, pinned: &Pinned) -> Result<Value, Closed> {
    let Some(now) = &pinned.changed else { return Ok(Value::Null) };
    let pin = Pin {
        server: asked.server.clone(),
        tool: asked.tool.clone(),
        fingerprint: now.fingerprint(),
        before: pinned.tool.whole(),
        after: now.whole(),
    };
    let why = format!(
        "{} describes its tool {} otherwise than when it was first seen, so it is not called until you agree",
        asked.server, asked.tool
    );
    services.approvals.ask(life, Act::Pin(pin), why, &asked.reason).await
}

/// Sends a permitted call: recorded first, sent once, its end recorded.
pub async fn send(services: &Services, call: &Call, line: Entry) -> Result<Outcome, Closed> {
    let server = match services.mcp.server(&call.service) {
        Ok(server) => server,
        Err(unfit) => return Ok(Outcome::NotSent(unfit)),
    };
    let Ok(Value::Object(arguments)) = serde_json::from_str(&call.body) else {
        return Ok(not_sent("the arguments are no object", "give {\"name\": value}"));
    };
    // An approved call may have waited while the tool changed.
    let pinned = services.mcp.pins.of(&call.service).remove(tool_of(call));
    let Some(Pinned { tool, changed: None }) = pinned else {
        return Ok(not_sent("the tool is not what it was when this was asked", "call it anew"));
    };
    let counted = match limit::take(services, call) {
        Ok(counted) => counted,
        Err(unfit) => {
            let (event, decision) = ("refuse".to_owned(), "refused".to_owned());
            let note = brief(&unfit.error, 200);
            services.handles.ledger.refused(Entry { event, decision, note, ..line }).await?;
            return Ok(Outcome::NotSent(unfit));
        }
    };
    services.handles.ledger.append(Entry { bytes_out: call.body.len() as u64, ..line.clone() }).await?;
    let result = tokio::select! {
        result = server.call(&tool, arguments) => result,
        () = client_gone() => Err(Lost::Silent(format!("cancelled: nobody waits for {} any more", call.service))),
    };
    if let (Some(number), Err(Lost::Unreached(_))) = (counted, &result) {
        services.handles.limits.back(number);
    }
    let reads = server.start.settings.untrusted && !matches!(result, Err(Lost::Unreached(_)));
    let is_noted = !reads || services.handles.taint.try_read_untrusted(line.life).is_ok();
    let outcome = match result {
        _ if !is_noted => upstream::unsure(call, UNNOTED.to_owned()),
        Ok(result) => {
            let mut content = content::of(result, &services.handles.secrets);
            for refused in server.start.forward.refused() {
                content.text.push_str(&format!("\n[not reached: {}]", house::printable::flat(&refused)));
            }
            answered(content)
        }
        Err(Lost::Unreached(why)) => not_sent(why, "try again later, or go on without it"),
        Err(Lost::Said(why)) => answered(content::Content { text: why, failed: true, ..Default::default() }),
        Err(Lost::Silent(why)) if call.method == LOOK => not_sent(why, "it only looks: try it again"),
        Err(Lost::Silent(why)) => upstream::unsure(call, why),
    };
    services.handles.ledger.ended(outcome.entry(line)).await;
    Ok(outcome)
}

/// An answer in the terms of a service's: 200, or 422 where the server says that the call failed.
fn answered(content: content::Content) -> Outcome {
    Outcome::Answered(Answer {
        status: if content.failed { 422 } else { 200 },
        content_type: "text/plain".to_owned(),
        body: content.text,
        truncated: content.truncated,
        pictures: content.pictures,
        ..Answer::default()
    })
}
