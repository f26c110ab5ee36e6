//! Obeys the owner's orders: each is taken up once, heard by the policy or refused, and answered in `guardian.json`.

use crate::act::around::Around;
use crate::decide::vocabulary::{Event, Phase, Want};
use crate::orders::ID_BYTES;
use crate::run::Guardian;
use anyhow::{Result, bail};
use heart::order::Order;
use house::bounds::{TOLD_CHARS, brief};
use house::files;
use house::interrupt::Interrupted;
use repo::Repo;
use repo::tree::short;

impl Guardian {
    /// Carries out the order in the file, once.
    pub fn obey_order(&mut self) {
        let executor = &mut self.executor;
        let around = &mut executor.around;
        let path = around.house.order();
        let order = match files::read_small(&path).map(|bytes| bytes.unwrap_or_default()) {
            Ok(bytes) => serde_json::from_slice::<Order>(&bytes),
            Err(error) => return around.report.warn(&format!("{error:#}")),
        };
        let Some(order) = order.ok().filter(|order| order.id.len() <= ID_BYTES) else {
            return around.report.warn(&format!("{} is not an order and is ignored", path.display()));
        };
        if order.id == around.state.order {
            return;
        }
        // A rollback is not accepted while a life is ending: looked at again when it has ended.
        if order.order == "rollback" && matches!(around.decided.phase, Phase::Stopping { .. }) {
            executor.order_seen = None;
            return;
        }
        let taken_up = take_up(around, &executor.ladder.repo, &order.order, order.to.as_deref());
        if taken_up.as_ref().is_err_and(|error| error.is::<Interrupted>()) {
            executor.order_seen = None;
            return;
        }
        (around.state.order, around.state.order_outcome) = (order.id, None);
        around.state.order_under_way.clone_from(&order.order);
        match taken_up {
            // If the order decides something, the step saves it together with the order's id; otherwise it is saved
            // below.
            Ok((event, told)) => {
                event.into_iter().for_each(|event| self.happen(event));
                if let Some(told) = told {
                    self.executor.around.state.order_came_to(true, told);
                }
            }
            Err(refused) => {
                let told = format!("{refused:#}");
                around.report.warn(&format!("{}: {told}", order.order));
                around.state.order_came_to(false, brief(&told, TOLD_CHARS));
            }
        }
        self.executor.around.save();
        self.executor.around.is_news = true;
    }
}

/// Returns the event an order causes, and the answer that can be given now; an error refuses it without any effect.
fn take_up(
    around: &mut Around,
    repo: &Repo,
    order: &str,
    to: Option<&str>,
) -> Result<(Option<Event>, Option<String>)> {
    let (decided, life) = (&around.decided, around.state.life);
    Ok(match order {
        "stop" => (Some(Event::OwnerStop), None),
        "pause" if decided.phase == Phase::Paused => (None, Some("it is paused already".into())),
        "pause" => (Some(Event::OwnerPause), None),
        "resume" if decided.record.want == Want::Pause => {
            (Some(Event::OwnerResume), Some("it goes on".into()))
        }
        "resume" if decided.alive() => (None, Some(format!("it was not paused: life {life} goes on"))),
        "resume" => (Some(Event::OwnerResume), Some("it was not paused; it goes on at once".into())),
        "rollback" => {
            let (head, to) = (repo.head()?, repo.rollback_target(to)?);
            if to.tree == head.tree && !repo.is_fallen(to.tree) && repo.is_at(to)? {
                let name = short(to.commit);
                return Ok((None, Some(format!("creature/ is already what {name} has; nothing was done"))));
            }
            around.state.rollback_to = Some(to.commit.to_string());
            (Some(Event::OwnerRollback), None)
        }
        other => bail!("no order is called `{other}`"),
    })
}
