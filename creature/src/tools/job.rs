//! `job`: looks at what runs beside the life, waits for it, or ends it.

use super::arguments::Arguments;
use super::tool_context::ToolContext;
use crate::fault::Fault;
use crate::jobs::Job;
use serde_json::{Map, Value, json};
use std::sync::Arc;
use std::time::Duration;

/// Time that a command that is killed may take to be gone.
const ENDING: Duration = Duration::from_secs(5);

pub async fn job(tools: &mut ToolContext<'_>, args: &Arguments) -> Result<Value, Fault> {
    let me = tools.belt.job.clone();
    let own = me.as_ref().map(|own| own.id.clone());
    let others: Vec<Arc<Job>> =
        tools.belt.jobs.all().into_iter().filter(|job| Some(&job.id) != own.as_ref()).collect();
    let lines = || others.iter().map(|job| job.line()).collect::<Vec<_>>();
    let Some(id) = args.maybe_text("id").filter(|id| !id.trim().is_empty()) else {
        if args.maybe_text("act").is_some_and(|act| act != "look") {
            return Err(args.fault("needs `id`"));
        }
        return Ok(json!({"jobs": lines()}));
    };
    let Some(job) = others.iter().find(|job| job.id == id.trim()) else {
        let hint = match lines().as_slice() {
            [] => "nothing runs beside you; a job ends with the life that began it".to_owned(),
            lines => format!("there are: {}", lines.join("; ")),
        };
        return Err(Fault::new(format!("no job is called {id}"), hint));
    };
    let most_s = match args.text("act") {
        "wait" => Duration::from_secs(args.number("most_s").unwrap_or(60) as u64),
        "end" => {
            job.stop("you ended it");
            ENDING
        }
        _ => Duration::ZERO,
    };
    let spoken = async {
        match &me {
            Some(me) => me.hastened().await,
            None => std::future::pending().await,
        }
    };
    let is_spoken = tokio::select! {
        biased;
        () = job.done() => false,
        () = tokio::time::sleep(most_s) => false,
        () = spoken => true,
    };
    let (how, mut said) = match job.outcome_told() {
        Some(came) => (job.line(), came.result.as_object().cloned().unwrap_or_default()),
        None => (job.line(), job.said()),
    };
    // The call was one of the job's tool; this call went well.
    let ok = said.shift_remove("ok");
    let mut fields = Map::from_iter([("job".to_owned(), json!(how))]);
    fields.extend(ok.map(|ok| ("passed".to_owned(), ok)));
    fields.extend(said);
    if is_spoken {
        fields.insert("note".to_owned(), json!("your owner spoke: answer first, the job runs on"));
    }
    Ok(Value::Object(fields))
}
