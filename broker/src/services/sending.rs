//! The last step of every call: allowed still, written down, proved, sent once, and written down again.
//!
//! Invariant: nothing leaves that the ledger does not hold.

use crate::approvals::act::{Act, Call, cut};
use crate::broker::{Broker, Shared};
use crate::ledger::{Closed, Entry};
use crate::policy::Verdict;
use crate::services::canonical::{self, Unfit};
use crate::services::upstream::{self, Outcome};
use crate::services::{oauth, recipients, rules};
use crate::services::{rules_of, unknown};
use serde_json::{Value, json};

/// Writes a no down, and gives it.
pub async fn refuse(broker: &Broker, life: u64, act: &Act, unfit: Unfit) -> Result<Value, Closed> {
    let note = cut(&broker.scrub(&unfit.error), 200);
    broker
        .ledger
        .append(Entry { decision: "refused".to_owned(), note, ..entry(life, "refuse", act) })
        .await?;
    Ok(json!({"ok": false, "error": unfit.error, "hint": unfit.hint}))
}

/// What the ledger says of an act.
pub fn entry(life: u64, event: &str, act: &Act) -> Entry {
    let call = act.call().cloned().unwrap_or_default();
    let short = |text: &str| cut(text, 300);
    Entry {
        life,
        event: event.to_owned(),
        service: if call.service.is_empty() { act.kind().to_owned() } else { short(&call.service) },
        method: short(&call.method),
        path: short(&call.path),
        ..Entry::default()
    }
}

/// From now on they are not new.
pub fn know_recipients(broker: &Broker, act: &Act) {
    let outward = act.call().is_some_and(|call| !canonical::is_safe(&call.method));
    for recipient in recipients::of(act).into_iter().filter(|_| outward) {
        if let Err(error) = broker.taint.know(&recipient) {
            tracing::warn!("{error:#}");
        }
    }
}

/// Whether an approved act may still be carried out.
pub fn still_allowed(broker: &Broker, act: &Act) -> Result<(), Unfit> {
    let Some(call) = act.call() else { return Ok(()) };
    let gone =
        |error: String| Unfit { error, hint: "nothing was done; the owner has to allow it first".to_owned() };
    let rules = rules_of(broker, act);
    match rules::judge(&rules, &call.method, &call.path).map(|rule| rule.verdict) {
        Some(Verdict::Allow | Verdict::Ask) => {}
        Some(Verdict::Deny | Verdict::Draft) | None => {
            return Err(gone(format!("the owner's rules no longer allow {} {}", call.method, call.path)));
        }
    }
    let Act::Service(call) = act else { return Ok(()) };
    let service = broker.services.all.get(&call.service);
    let service = service.ok_or_else(|| gone(format!("there is no service {} any more", call.service)))?;
    let now = upstream::address(&service.base_url, &call.path, &[])?;
    if call.url.split('?').next() != Some(now.as_str()) {
        return Err(gone(format!("{} is at another address now", call.service)));
    }
    Ok(())
}

/// Sends a call that may leave: written down first, proved, sent once, written down again.
pub async fn send(
    broker: &Shared,
    life: u64,
    call: &Call,
    decision: &str,
    id: &str,
) -> Result<Outcome, Closed> {
    let act = Act::Service(call.clone());
    let Some(service) = broker.services.all.get(&call.service) else {
        return Ok(Outcome::NotSent(unknown(broker, &call.service)));
    };
    let proof = match oauth::proof(broker, &call.service, service, call, None).await {
        Ok(proof) => proof,
        Err(unfit) => return Ok(Outcome::NotSent(unfit)),
    };
    let line = Entry { decision: decision.to_owned(), call: id.to_owned(), ..entry(life, "call", &act) };
    let bytes_out = call.body.len() as u64;
    broker.ledger.append(Entry { bytes_out, ..line.clone() }).await?;
    let stale = oauth::token_of(service, &proof);
    let mut outcome = upstream::send(broker, service, call, proof).await;
    if outcome.status() == Some(401) && stale.is_some() {
        // What was not let in did not happen: once more with a new token.
        if let Ok(proof) = oauth::proof(broker, &call.service, service, call, stale.as_deref()).await {
            broker.ledger.append(Entry { bytes_out, ..line.clone() }).await?;
            outcome = upstream::send(broker, service, call, proof).await;
        }
    }
    if service.untrusted && outcome.status().is_some() {
        broker.taint.read_untrusted(life);
    }
    written_down(broker, line, &outcome).await;
    Ok(outcome)
}

/// The end of a call in the ledger. It has happened, so its client hears of it even where this fails.
pub async fn written_down(broker: &Broker, line: Entry, outcome: &Outcome) {
    let (bytes_in, decision) = match outcome {
        Outcome::Answered(answer) => (answer.body.len() as u64, "answered"),
        Outcome::Redirected(..) => (0, "redirect not followed"),
        Outcome::NotSent(_) => (0, "not sent"),
        Outcome::Unsure(_) => (0, "unsure"),
        Outcome::Denied(..) => (0, "denied there"),
    };
    let note = match outcome {
        Outcome::NotSent(unfit) | Outcome::Unsure(unfit) => cut(&unfit.error, 200),
        Outcome::Answered(_) | Outcome::Redirected(..) | Outcome::Denied(..) => String::new(),
    };
    let end = Entry { bytes_in, status: outcome.status(), decision: decision.to_owned(), note, ..line };
    if let Err(closed) = broker.ledger.append(end).await {
        tracing::error!("the end of a call is not in the ledger: {}", closed.0);
    }
}
