//! Orders of the owner to a running guardian, from another terminal: a small file, a signal, an answer.

use anyhow::{Context, Result, bail};
use heart::order::{Order, is_to_stop};
use house::records::text;
use house::terminal::{self, hinted};
use house::{House, clock, files, instance};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::time::Duration;

/// How long the command waits for an order's outcome.
const WAIT: Duration = Duration::from_secs(60);
const LOOK: Duration = Duration::from_millis(50);
/// Most bytes of an order's id, and of a commit's name in it.
pub const ID_BYTES: usize = 64;
const NAME_BYTES: usize = 512;

/// The mark of an order to ignore at start: any order if the state was lost, or an order to stop.
pub fn passed_over(house: &House, forgotten: bool) -> Option<files::Mark> {
    (forgotten || is_to_stop(house)).then(|| files::mark(&house.order())).flatten()
}

/// Gives an order and waits for its outcome, which is printed; fails if the order was refused.
pub fn give(house: &House, order: &str, to: Option<String>) -> Result<u8> {
    if let Some(name) = to.as_ref().filter(|name| name.len() > NAME_BYTES) {
        bail!("no commit has a name of {} bytes", name.len());
    }
    let pid = instance::running(house)
        .context("no guardian is running here; start one with `cargo run -p guardian`")?;
    let id = format!("{}-{}", clock::name(), std::process::id());
    let body = serde_json::to_vec(&Order { id: id.clone(), order: order.into(), to })?;
    // To stop needs no file: on a full disk the signal alone says it.
    let signal = match files::replace(&house.order(), &body) {
        Err(_) if order == "stop" => Signal::SIGTERM,
        kept => kept.map(|()| Signal::SIGUSR1)?,
    };
    kill(Pid::from_raw(pid), signal)
        .with_context(|| format!("failed to wake the guardian, process {pid}"))?;
    let (mut taken_up, mut note) = (false, String::new());
    for _ in 0..WAIT.as_millis() / LOOK.as_millis() {
        // Read before checking whether it still runs: what it published last remains.
        let told = instance::published(house, pid);
        note = told.as_ref().map(|told| text(told, "note").replace('\n', " ")).unwrap_or(note);
        let told = told.filter(|told| text(told, "order") == id);
        if let Some(outcome) =
            told.as_ref().and_then(|told| told.get("order_outcome")).filter(|it| it.is_object())
        {
            let said = format!("{order}: {}", hinted(text(outcome, "told")).replace('\n', " "));
            anyhow::ensure!(outcome.get("ok") == Some(&true.into()), said);
            terminal::line(&said);
            return Ok(0);
        }
        taken_up |= told.is_some();
        if instance::running(house) != Some(pid) {
            if order == "stop" {
                terminal::line("stopped; nothing is running");
                return Ok(0);
            }
            bail!("{order}: the guardian, process {pid}, is gone; its next start takes the order up");
        }
        std::thread::sleep(LOOK);
    }
    let (seconds, what) = (WAIT.as_secs(), if taken_up { "come to an end with" } else { "taken up" });
    bail!("{order}: the guardian, process {pid}, has not {what} the order within {seconds} s; {note}")
}
