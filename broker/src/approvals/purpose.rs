//! `POST /purpose`: a request to rewrite `PURPOSE.md`, carried out here, or turned into an ask after untrusted text was read.
//!
//! Invariant: the file is replaced whole and no link is followed; exactly the approved text is written.

use super::Approvals;
use super::act::Act;
use super::outcome::{Outcome, done, not_sent};
use crate::door::callers::Life;
use crate::door::finish::finished;
use crate::ground::files;
use crate::ground::refusal::{Refusal, Unfit};
use crate::ledger::{Closed, Entry};
use crate::policy::Taint;
use axum::Router;
use axum::extract::{Extension, State};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use bytes::Bytes;
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;

/// Largest purpose, in bytes.
const MOST_BYTES: usize = 256 << 10;

pub fn routes(approvals: Arc<Approvals>) -> Router {
    Router::new().route("/purpose", post(rewrite)).with_state(approvals)
}

#[derive(Deserialize)]
struct Asked {
    text: String,
    #[serde(default)]
    reason: String,
}

async fn rewrite(
    State(approvals): State<Arc<Approvals>>,
    Extension(life): Extension<Life>,
    body: Bytes,
) -> Response {
    match Refusal::reading(&body, "{\"text\",\"reason\"}") {
        Ok(asked) => finished(run(approvals, life.0, asked)).await,
        Err(refusal) => refusal.into_response(),
    }
}

async fn run(approvals: Arc<Approvals>, life: u64, asked: Asked) -> Result<Value, Closed> {
    let act = Act::Purpose { text: asked.text };
    let Act::Purpose { text } = &act else { return Ok(Value::Null) };
    if let Err(unfit) = fit(text) {
        return approvals.refuse(life, &act, unfit).await;
    }
    if let Some(refused) = approvals.unproven(life, &act).await? {
        return Ok(refused);
    }
    if approvals.when_tainted == Taint::Ask && approvals.handles.taint.is_tainted(life) {
        let why = "text of others was read a short while ago".to_owned();
        return approvals.ask(life, act, why, &asked.reason).await;
    }
    let outcome = write(&approvals, text, act.entry(life, act.event(), "allow", "")).await?;
    Ok(if outcome.is_success() { json!({"ok": true}) } else { outcome.envelope() })
}

fn fit(text: &str) -> Result<(), Unfit> {
    let unfit = |error: &str, hint: &str| Err(Unfit::new(error, hint));
    if text.trim().is_empty() {
        return unfit("the purpose is empty", "write what to live for");
    }
    if text.len() > MOST_BYTES {
        return unfit(
            "the purpose is larger than 256 KiB",
            "a purpose is read in every thought: make it short",
        );
    }
    if text.contains('\0') {
        return unfit("the purpose holds a null character", "write plain text");
    }
    Ok(())
}

/// Writes the purpose; the ledger first.
pub async fn write(approvals: &Approvals, text: &str, line: Entry) -> Result<Outcome, Closed> {
    let (path, bytes_out) = ("PURPOSE.md".to_owned(), text.len() as u64);
    approvals.handles.ledger.append(Entry { path, bytes_out, ..line }).await?;
    // Written to a folder the creature cannot reach, then moved over the old file.
    let (aside, purpose) =
        (approvals.handles.house.broker().join("PURPOSE.aside"), approvals.handles.house.purpose());
    Ok(match files::replace_by(&aside, &purpose, 0o644, text.as_bytes()) {
        Ok(()) => done("PURPOSE.md was written"),
        Err(error) => {
            tracing::error!("{error:#}");
            not_sent("PURPOSE.md could not be written", "the owner has to look at it")
        }
    })
}
