//! Orders of the owner to a running guardian, from another terminal: a small file, a signal, an answer.

use crate::act::executor::Executor;
use crate::decide::vocabulary::{Event, Phase, Want};
use crate::git::tree::short;
use crate::run::Guardian;
use anyhow::{Context, Result, bail};
use house::bounds::{TOLD_CHARS, brief};
use house::interrupt::Interrupted;
use house::records::text;
use house::{House, clock, files, instance, terminal};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// How long the command waits for an order's outcome.
const WAIT: Duration = Duration::from_secs(60);
const LOOK: Duration = Duration::from_millis(50);
/// Most bytes of an order's id, and of a commit's name in it.
const ID_BYTES: usize = 64;
const NAME_BYTES: usize = 512;

#[derive(Debug, Serialize, Deserialize)]
struct Order {
    id: String,
    order: String,
    #[serde(default)]
    to: Option<String>,
}

impl Guardian {
    /// Carries out the order in the file, once.
    pub fn obey_order(&mut self) {
        let executor = &mut self.executor;
        let path = executor.house.order();
        let order = match files::read_small(&path).map(|bytes| bytes.unwrap_or_default()) {
            Ok(bytes) => serde_json::from_slice::<Order>(&bytes),
            Err(error) => return executor.report.warn(&format!("{error:#}")),
        };
        let Some(order) = order.ok().filter(|order| order.id.len() <= ID_BYTES) else {
            return executor.report.warn(&format!("{} is not an order and is ignored", path.display()));
        };
        if order.id == executor.state.order {
            return;
        }
        // A rollback is not accepted while a life is ending: looked at again when it has ended.
        if order.order == "rollback" && matches!(executor.decided.phase, Phase::Stopping { .. }) {
            executor.order_seen = None;
            return;
        }
        let taken_up = executor.take_up(&order.order, order.to.as_deref());
        if taken_up.as_ref().is_err_and(|error| error.is::<Interrupted>()) {
            executor.order_seen = None;
            return;
        }
        (executor.state.order, executor.state.order_outcome) = (order.id, None);
        executor.state.order_under_way.clone_from(&order.order);
        match taken_up {
            // If the order decides something, the step saves it together with the order's id; otherwise it is saved
            // below.
            Ok((event, told)) => {
                event.into_iter().for_each(|event| self.happen(event));
                if let Some(told) = told {
                    self.executor.state.order_came_to(true, told);
                }
            }
            Err(refused) => {
                let told = format!("{refused:#}");
                executor.report.warn(&format!("{}: {told}", order.order));
                executor.state.order_came_to(false, brief(&told, TOLD_CHARS));
            }
        }
        self.executor.publish();
        self.executor.save();
    }
}

impl Executor {
    /// The event an order causes, and what can be answered now; an error refuses the order without any effect.
    fn take_up(&mut self, order: &str, to: Option<&str>) -> Result<(Option<Event>, Option<String>)> {
        let (paused, life) = (self.decided.record.want == Want::Pause, self.state.life);
        Ok(match order {
            "stop" => (Some(Event::OwnerStop), None),
            "pause" if self.decided.phase == Phase::Paused => (None, Some("it is paused already".into())),
            "pause" => (Some(Event::OwnerPause), None),
            "resume" if paused => (Some(Event::OwnerResume), Some("it goes on".into())),
            "resume" if self.decided.alive() => {
                (None, Some(format!("it was not paused: life {life} goes on")))
            }
            "resume" => (Some(Event::OwnerResume), Some("it was not paused; it goes on at once".into())),
            "rollback" => {
                let (head, to) = (self.repo.head()?, self.repo.rollback_target(to)?);
                let name = short(to.commit);
                let there = to.tree == head.tree && !self.repo.is_fallen(to.tree) && self.repo.is_at(to)?;
                if there {
                    return Ok((
                        None,
                        Some(format!("creature/ is already what {name} has; nothing was done")),
                    ));
                }
                self.state.rollback_to = Some(to.commit.to_string());
                (Some(Event::OwnerRollback), None)
            }
            other => bail!("no order is called `{other}`"),
        })
    }
}

/// The mark of an order to ignore at start: any order if the state was lost, or an order to stop.
pub fn passed_over(house: &House, forgotten: bool) -> Option<files::Mark> {
    (forgotten || is_to_stop(house)).then(|| files::mark(&house.order())).flatten()
}

/// Whether the order in the file is to stop.
pub fn is_to_stop(house: &House) -> bool {
    let bytes = files::read_small(&house.order()).ok().flatten().unwrap_or_default();
    serde_json::from_slice::<Order>(&bytes).is_ok_and(|order| order.order == "stop")
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
        let told = instance::published(house, pid).filter(|told| text(told, "order") == id);
        if let Some(outcome) =
            told.as_ref().and_then(|told| told.get("order_outcome")).filter(|it| it.is_object())
        {
            let said = format!("{order}: {}", text(outcome, "told").replace('\n', " "));
            anyhow::ensure!(outcome.get("ok") == Some(&true.into()), said);
            terminal::line(&said);
            return Ok(0);
        }
        if let Some(told) = told {
            (taken_up, note) = (true, text(&told, "note").replace('\n', " "));
        }
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
