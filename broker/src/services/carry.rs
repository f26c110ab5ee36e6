//! Judges a canonical call by the owner's rules, and does what the matching rule says.

use super::{Services, canonical, drafts, oauth, recipients, sending};
use crate::approvals::act::{Act, Call};
use crate::approvals::outcome::with;
use crate::ground::hours::Full;
use crate::ground::refusal::Unfit;
use crate::ledger::Closed;
use crate::policy::{Taint, Verdict};
use crate::services::mcp::limit;
use crate::services::mcp::rules::tool_of;
use house::bounds::brief;
use serde_json::Value;

/// Characters shown of an unknown recipient.
const MOST_NEW: usize = 200;

/// Judges a canonical call, and does what the matching rule says.
pub async fn carry(services: &Services, life: u64, act: Act, reason: &str) -> Result<Value, Closed> {
    let Some(call) = act.call().cloned() else { return Ok(Value::Null) };
    let here = match matches!(act, Act::Mcp(_)) {
        true => format!("{} of {}", tool_of(&call), call.service),
        false => format!("{} {} at {}", call.method, call.path, call.service),
    };
    let rule = match services.judged(&act) {
        Ok(rule) => rule,
        Err(words) => {
            let unfit = Unfit::new(format!("{here} is not allowed"), words);
            return services.approvals.refuse(life, &act, unfit).await;
        }
    };
    if matches!(act, Act::Mcp(_))
        && let Err(unfit) = limit::look(services, &call)
    {
        return services.approvals.refuse(life, &act, unfit).await;
    }
    if rule.verdict == Verdict::Allow
        && !canonical::is_safe(&call.method)
        && let Some(refused) = services.approvals.unproven(life, &act).await?
    {
        return Ok(refused);
    }
    if let Some(most) = rule.per_hour {
        match services.handles.hours.take(&rule.key, most) {
            Ok(_) => {}
            Err(Full::Wait(seconds)) => {
                let error = format!("{here} may be used {most} times an hour, and was");
                let unfit = Unfit::new(error, format!("there is one again in {seconds} s"));
                let refused = services.approvals.refuse(life, &act, unfit).await?;
                return Ok(with(refused, "retry_after_s", seconds));
            }
            Err(Full::Closed(why)) => return Err(Closed(why)),
        }
    }
    match rule.verdict {
        Verdict::Draft => draft(services, life, &act, &call).await,
        Verdict::Ask => {
            services.approvals.ask(life, act, format!("the owner's rules ask about {here}"), reason).await
        }
        Verdict::Deny => services.approvals.refuse(life, &act, services.unknown(&call.service)).await,
        Verdict::Allow => match new_while_tainted(services, life, &act) {
            Some(new) => {
                let why = format!(
                    "text of others was read a short while ago, and this is new: {}",
                    brief(&services.handles.secrets.scrub(&new), MOST_NEW)
                );
                services.approvals.ask(life, act, why, reason).await
            }
            None => allowed(services, life, &act).await,
        },
    }
}

/// An unknown recipient, if untrusted text was read and the act changes something.
fn new_while_tainted(services: &Services, life: u64, act: &Act) -> Option<String> {
    let outward = act.call().is_some_and(|call| !canonical::is_safe(&call.method));
    if !outward || services.approvals.when_tainted == Taint::Allow || !services.handles.taint.is_tainted(life)
    {
        return None;
    }
    recipients::of(act).into_iter().find(|recipient| services.handles.taint.is_new(recipient))
}

async fn allowed(services: &Services, life: u64, act: &Act) -> Result<Value, Closed> {
    let tainted = services.handles.taint.is_tainted(life);
    let id = oauth::nonce().unwrap_or_default();
    let outcome = sending::perform(services, life, act, "allow", &id).await?;
    if outcome.is_success() && !tainted {
        sending::know_recipients(services, act);
    }
    Ok(outcome.envelope())
}

async fn draft(services: &Services, life: u64, act: &Act, call: &Call) -> Result<Value, Closed> {
    services.handles.ledger.append(act.entry(life, act.event(), "draft", "")).await?;
    Ok(match drafts::keep(&services.handles.house, &services.handles.clock, call) {
        Ok(path) => {
            let note = "the owner's rules keep this as a draft; nothing was sent";
            let kept = Unfit::new(note, "the owner reads drafts").envelope();
            with(with(kept, "draft", true), "path", path)
        }
        Err(error) => Unfit::new(format!("{error:#}"), "nothing was sent and nothing kept").envelope(),
    })
}
