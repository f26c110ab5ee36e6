//! The owner's word to a running guardian, from another terminal: a small file, a signal, an answer.

use crate::house::House;
use crate::run::Guardian;
use crate::vocabulary::Event;
use crate::{clock, files, hunt};
use anyhow::{Context, Result, bail};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::time::Duration;

/// How long the command waits for the guardian to take an order up.
const WAIT: Duration = Duration::from_secs(60);
const LOOK: Duration = Duration::from_millis(50);

#[derive(Debug, Serialize, Deserialize)]
struct Order {
    id: String,
    order: String,
    #[serde(default)]
    to: Option<String>,
}

impl Guardian {
    /// Carries out the order that lies there, once.
    pub fn obey_order(&mut self) {
        let order = match files::read_small(&self.house.order()).map(|bytes| bytes.unwrap_or_default()) {
            Ok(bytes) => serde_json::from_slice::<Order>(&bytes),
            Err(error) => return self.report.warn(&format!("{error:#}")),
        };
        let Ok(order) = order else {
            return self
                .report
                .warn(&format!("{} is not an order and is ignored", self.house.order().display()));
        };
        if order.id == self.state.order {
            return;
        }
        self.state.order = order.id;
        let event = match order.order.as_str() {
            "stop" => Event::OwnerStop,
            "pause" => Event::OwnerPause,
            "resume" => Event::OwnerResume,
            "rollback" => {
                self.state.rollback_to = order.to;
                Event::OwnerRollback
            }
            other => return self.report.warn(&format!("no order is called `{other}`")),
        };
        // The step saves what it decides together with the order's id; what decides nothing is saved here.
        self.happen(event);
        self.save();
        self.publish();
    }
}

/// The mark of an order that is not to be taken up at start: one whose id is forgotten, or one to stop what has stopped.
pub fn passed_over(house: &House, forgotten: bool) -> Option<files::Mark> {
    let bytes = files::read_small(&house.order()).ok().flatten().unwrap_or_default();
    let stops = serde_json::from_slice::<Order>(&bytes).is_ok_and(|order| order.order == "stop");
    (forgotten || stops).then(|| files::mark(&house.order())).flatten()
}

/// The running guardian's process, by the lock it holds; `None` when none runs.
pub fn running(house: &House) -> Option<i32> {
    let file = files::open(&house.lock()).ok()??;
    if fs2::FileExt::try_lock_shared(&file).is_ok() {
        return None;
    }
    std::fs::read_to_string(house.lock()).ok()?.trim().parse().ok()
}

/// Whether a guardian runs here and its broker with it.
pub fn broker_runs(house: &House) -> bool {
    let broker = published(house).and_then(|document| document.get("broker")?.get("running")?.as_bool());
    running(house).is_some() && broker == Some(true)
}

/// Gives an order and waits until it is taken up; for `stop`, until the guardian is gone.
pub fn give(house: &House, order: &str, to: Option<String>) -> Result<()> {
    let pid =
        running(house).context("no guardian is running here; start one with `cargo run -p guardian`")?;
    let id = format!("{}-{}", clock::name(), std::process::id());
    let body = serde_json::to_vec(&Order { id: id.clone(), order: order.into(), to })?;
    files::replace(&house.order(), &body)?;
    kill(Pid::from_raw(pid), Signal::SIGUSR1)
        .with_context(|| format!("failed to wake the guardian, process {pid}"))?;
    for _ in 0..WAIT.as_millis() / LOOK.as_millis() {
        if order == "stop" {
            if !hunt::exists(pid) || running(house).is_none() {
                println!("stopped; nothing is running");
                return Ok(());
            }
        } else if published(house)
            .is_some_and(|document| document.get("order") == Some(&Value::String(id.clone())))
        {
            println!("{order}: taken up; `cargo run -p guardian -- status` shows how it goes");
            return Ok(());
        }
        std::thread::sleep(LOOK);
    }
    bail!("the guardian, process {pid}, has not taken the order up within {} s", WAIT.as_secs())
}

fn published(house: &House) -> Option<Value> {
    serde_json::from_slice(&files::read_small(&house.published()).ok()??).ok()
}

/// One line of a text, nothing in which steers a terminal.
fn harmless(text: &str) -> String {
    crate::report::harmless(&text.replace('\n', " "))
}

/// Prints what is going on; exit status 3 when no guardian runs.
pub fn status(house: &House, as_json: bool) -> Result<u8> {
    let pid = running(house);
    let mut document = published(house).unwrap_or_else(|| serde_json::json!({"phase": "never started"}));
    if let (None, Some(fields)) = (pid, document.as_object_mut()) {
        fields.insert("phase".into(), "not running".into());
        fields.insert("note".into(), "no guardian is running here".into());
        fields.insert("guardian_pid".into(), Value::Null);
        fields.insert("creature_pid".into(), Value::Null);
        if let Some(Value::Object(broker)) = fields.get_mut("broker") {
            broker.insert("running".into(), false.into());
            broker.insert("pid".into(), Value::Null);
            broker.insert("note".into(), "not running".into());
        }
    }
    if as_json {
        println!("{}", crate::asks::spelled_json(&document));
    } else {
        for name in ["phase", "note", "life", "commit", "blessed", "last_good", "mind", "safe", "walls"] {
            match document.get(name) {
                Some(Value::String(text)) if !text.is_empty() => println!("{name:<10} {}", harmless(text)),
                Some(Value::Null | Value::String(_)) | None => {}
                Some(value) => println!("{name:<10} {}", harmless(&value.to_string())),
            }
        }
        for (name, line) in crate::report::broker_lines(house, document.get("broker")) {
            println!("{name:<10} {line}");
        }
        if let Some(end) = document.get("ends").and_then(Value::as_array).and_then(|ends| ends.last()) {
            let [at, ended, cause] = ["at", "ended", "cause"].map(|name| crate::records::text(end, name));
            println!("{:<10} {at}: {} ({})", "last death", ended.replace('_', " "), harmless(cause));
        }
    }
    Ok(if pid.is_some() { 0 } else { 3 })
}
