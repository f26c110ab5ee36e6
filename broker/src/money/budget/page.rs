//! `.self/budget.json`: what is spent, what is left and what is wrong; replaced whole, shortly after each change.

use super::state::{Inner, State};
use crate::ground::caps::{Day, Micros, Span, dollars};
use crate::ledger::{Entry, sums};
use house::files;
use jiff::Timestamp;
use serde_json::{Value, json};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Arc, Weak};
use std::time::Duration;

/// Time for which changes are collected before the page is written.
const GATHER: Duration = Duration::from_millis(200);
/// Longest time between two looks without a change: the clock may be set, the machine may sleep.
const LOOK: Duration = Duration::from_secs(60);

/// Keeps the page up to date for as long as there is a budget.
pub(super) fn keep(inner: &Arc<Inner>, changes: Receiver<()>) {
    let budget = Arc::downgrade(inner);
    let spawned = std::thread::Builder::new().name("budget".into()).spawn(move || follow(&budget, &changes));
    if let Err(error) = spawned {
        tracing::error!("failed to start what writes budget.json: {error}");
    }
}

fn follow(budget: &Weak<Inner>, changes: &Receiver<()>) {
    let mut written = Value::Null;
    loop {
        let Some(inner) = budget.upgrade() else { return };
        let mut page = view(&inner);
        let is_new = {
            let at = page.as_object_mut().and_then(|fields| fields.insert("at".into(), Value::Null));
            let is_new = page != written;
            written = page.clone();
            if let (Some(fields), Some(at)) = (page.as_object_mut(), at) {
                fields.insert("at".into(), at);
            }
            is_new
        };
        // Not synced: the page is written at each start, and a sync here would delay the ledger's.
        let replace = || files::replace_unsynced(&inner.house.budget(), format!("{page}\n").as_bytes());
        if is_new && let Err(error) = replace() {
            tracing::warn!("{error:#}");
            written = Value::Null;
        }
        let look = until_midnight(inner.clock.now()).min(inner.until_waking_turns()).min(LOOK);
        drop(inner);
        match changes.recv_timeout(look) {
            Ok(()) => {
                std::thread::sleep(GATHER);
                while changes.try_recv().is_ok() {}
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}

/// Time until midnight UTC, when a new day's money becomes available without a call.
fn until_midnight(now: Timestamp) -> Duration {
    let midnight_ms = Day(Day::of(now).0 + 1).starts_s().saturating_mul(1_000);
    let left_ms = midnight_ms.saturating_sub(now.as_millisecond());
    Duration::from_millis(u64::try_from(left_ms).unwrap_or(0)) + GATHER
}

pub(super) fn view(inner: &Inner) -> Value {
    let today = Day::of(inner.clock.now());
    let (closed, stamp) = (inner.ledger.closed(), inner.clock.stamp());
    let mut state = inner.state();
    let money = &state.money;
    let (day, week) = (money.spent_on(today), money.spent_on(Span::Week.begins(today)));
    let (open, open_in_all) = (money.reserved_on(today), money.reserved_on(Span::earliest(today)));
    let caps: Vec<_> = inner.caps.0.iter().map(|cap| (cap, money.spent_on(cap.span.begins(today)))).collect();
    let used_up = caps.iter().filter(|(cap, spent)| spent.total >= cap.whole);
    let resets = used_up.map(|(cap, _)| cap.span.ends(today)).max().unwrap_or(Day(today.0 + 1));
    let listed = caps.iter().map(|(cap, spent)| {
        json!({
            "span": cap.span.name(),
            "spent_usd": dollars(spent.total),
            "cap_usd": dollars(cap.whole),
            "autonomous_usd": dollars(spent.autonomous),
            "autonomous_cap_usd": dollars(cap.share),
        })
    });
    let listed: Vec<Value> = listed.collect();
    let closed = closed.map(|why| {
        format!(
            "{why}. Nothing that costs leaves. Mend it and restart the guardian; or stop it and run `broker \
             --accept-ledger`, which begins a new ledger with {} counted as spent",
            Span::all_now()
        )
    });
    let warning = warning(inner, &state, today);
    json!({
        "at": stamp,
        "since": inner.since,
        "day": today,
        "spent_today_usd": dollars(day.total),
        "reserved_today_usd": dollars(open.total),
        "daily_cap_usd": dollars(inner.caps.whole(Span::Day)),
        "autonomous_today_usd": dollars(day.autonomous),
        "autonomous_reserved_usd": dollars(open.autonomous),
        "autonomous_cap_usd": dollars(inner.caps.share(Span::Day)),
        "spent_week_usd": dollars(week.total),
        "weekly_cap_usd": dollars(inner.caps.whole(Span::Week)),
        "autonomous_week_usd": dollars(week.autonomous),
        "autonomous_weekly_cap_usd": dollars(inner.caps.share(Span::Week)),
        "reserved_usd": dollars(open_in_all.total),
        "caps": listed,
        "warning": warning.as_ref().map(|warning| &warning.text),
        "poor": warning.as_ref().is_some_and(|warning| warning.is_poor),
        "price": (!state.prices_told.is_empty()).then(|| state.prices_told.join("; ")),
        "closed": closed,
        "stopped": inner.health.stopped(),
        "mind": state.mind,
        "nearby": state.nearby,
        "models": inner.health.models(),
        "mcp": state.mcp,
        "autonomy": inner.autonomy(&mut state),
        "resets_at": format!("{resets}T00:00:00Z"),
    })
}

/// Warning about caps that are nearly spent.
pub(super) struct Warning {
    text: String,
    /// Whether it is about more than the creature's share: then no call is worth making that can wait.
    is_poor: bool,
}

/// Returns a warning if caps are nearly spent.
fn warning(inner: &Inner, state: &State, today: Day) -> Option<Warning> {
    let limits = || inner.caps.0.iter().rev().map(|cap| (cap, state.money.spent_on(cap.span.begins(today))));
    let nearly_spent = |what: String, spent: Micros, cap: Micros| {
        let percent = if cap == 0 { 100.0 } else { 100.0 * spent as f64 / cap as f64 };
        let is_much = spent > 0 && percent >= inner.warn_percent;
        is_much.then(|| format!("{:.0} % of {what} {:.2} USD", percent.floor(), dollars(cap)))
    };
    let whole = limits()
        .filter_map(|(cap, spent)| nearly_spent(format!("{}'s", cap.span.now()), spent.total, cap.whole));
    let share = limits().filter_map(|(cap, spent)| {
        nearly_spent(format!("the autonomous share of {}'s", cap.span.now()), spent.autonomous, cap.share)
    });
    let mut said: Vec<String> = whole.collect();
    let counted = state.money.counts_on(today);
    let is_poor = !said.is_empty() || counted > today;
    said.extend(share);
    if counted > today {
        said.push(format!("what was spent up to {counted} counts still, for the clock was there already"));
    }
    (!said.is_empty()).then(|| Warning { text: format!("spent: {}", said.join("; ")), is_poor })
}

impl Inner {
    /// Records once a day that money runs short.
    pub(super) fn warn(&self, state: &mut State) {
        let today = Day::of(self.clock.now());
        let Some(Warning { text: warning, .. }) = warning(self, state, today) else { return };
        let on = state.money.counts_on(today);
        if state.warned_on.is_none_or(|warned| warned < on) {
            state.warned_on = Some(on);
            tracing::warn!("{warning}");
            let entry = Entry { decision: sums::WARNED.into(), day: Some(on), ..Entry::note(warning) };
            self.ledger.submit(entry);
        }
    }
}
