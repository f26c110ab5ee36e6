//! Judges a canonical call by the owner's rules, and does what the matching rule says.

use super::{Services, drafts, oauth, posts, recipients, sending};
use crate::approvals::act::{Act, Call};
use crate::approvals::outcome::with;
use crate::ground::hours::Full;
use crate::ground::refusal::Unfit;
use crate::ledger::Closed;
use crate::policy::{Taint, Verdict};
use crate::services::mcp::limit;
use crate::services::mcp::rules::tool_of;
use house::bounds::brief;
use posts::sending::Standing;
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
        && act.is_outward()
        && let Some(refused) = services.approvals.unproven(life, &act).await?
    {
        return Ok(refused);
    }
    let (mut uses, mut unknown, mut is_begun) = (1, None, false);
    if let Act::Post(call) = &act {
        match posts::sending::standing(services, call).await {
            Ok(Standing { done: Some(outcome), .. }) => return Ok(outcome.envelope()),
            Ok(standing) => (uses, unknown, is_begun) = (standing.left, standing.unknown, standing.is_begun),
            Err(unfit) => return services.approvals.refuse(life, &act, unfit).await,
        }
    }
    if let Some(most) = rule.per_hour {
        match services.handles.hours.take_many(&rule.key, most, uses) {
            Ok(_) => {}
            Err(Full::Wait(seconds)) => {
                let error = match uses {
                    1 => format!("{here} may be used {most} times an hour, and was"),
                    _ => format!("{here} may be used {most} times an hour, and {uses} are not left"),
                };
                let hint = if uses > most {
                    "make less of it".to_owned()
                } else {
                    format!("there is room again in {seconds} s")
                };
                let unfit = Unfit::new(error, hint);
                let refused = services.approvals.refuse(life, &act, unfit).await?;
                return Ok(with(refused, "retry_after_s", seconds));
            }
            Err(Full::Closed(why)) => return Err(Closed(why)),
        }
    }
    match rule.verdict {
        Verdict::Draft => draft(services, life, &act, &call).await,
        Verdict::Ask => {
            let why = unknown.unwrap_or_else(|| format!("the owner's rules ask about {here}"));
            services.approvals.ask(life, act, why, reason).await
        }
        Verdict::Deny => services.approvals.refuse(life, &act, services.unknown(&call.service)).await,
        Verdict::Allow => {
            match unknown.or_else(|| new_while_tainted(services, life, &act).filter(|_| !is_begun)) {
                Some(why) => services.approvals.ask(life, act, why, reason).await,
                None => allowed(services, life, &act).await,
            }
        }
    }
}

/// Names an unknown recipient, if untrusted text was read and the act changes something.
fn new_while_tainted(services: &Services, life: u64, act: &Act) -> Option<String> {
    if !act.is_outward()
        || services.approvals.when_tainted == Taint::Allow
        || !services.handles.taint.is_tainted(life)
    {
        return None;
    }
    let new = recipients::of(act).into_iter().find(|recipient| services.handles.taint.is_new(recipient))?;
    let new = brief(&services.handles.secrets.scrub(&new), MOST_NEW);
    Some(format!("text of others was read a short while ago, and this is new: {new}"))
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
    Ok(match drafts::keep(&services.handles.house, &services.handles.clock, act, call) {
        Ok(path) => {
            let note = "the owner's rules keep this as a draft; nothing was sent";
            let kept = Unfit::new(note, "the owner reads drafts").envelope();
            with(with(kept, "draft", true), "path", path)
        }
        Err(error) => Unfit::new(format!("{error:#}"), "nothing was sent and nothing kept").envelope(),
    })
}
