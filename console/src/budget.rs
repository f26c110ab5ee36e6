//! `budget`: money spent of each cap, the rest, the rate, the models; and today's spending by class, service and model.

use crate::report::gather;
use house::bounds;
use house::moments::Place;
use house::records::ledger::{Booked, Entry};
use house::records::{text, view::field};
use house::standing::Known;
use house::terminal::{self, typed};
use house::{House, broker_page, files, instance, minds, moments, own_time};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Classes, models and services that are told apart.
const MOST_NAMES: usize = 200;

/// The broker's page, and what is to be said where there is none; `Null` then.
pub fn page(house: &House) -> (Value, Option<String>) {
    match files::read_small(&house.budget()) {
        Ok(None) => (Value::Null, Some("nothing is spent yet: .self/budget.json is not there".into())),
        Ok(Some(bytes)) => match bounds::read(&bytes).filter(Value::is_object) {
            Some(page) => (page, None),
            None => (Value::Null, Some("what is spent cannot be read: .self/budget.json is damaged".into())),
        },
        Err(error) => (Value::Null, Some(format!("what is spent cannot be read: {error:#}"))),
    }
}

/// The page in a few lines; none where there is no page.
pub fn lines(house: &House, page: &Value) -> Vec<String> {
    if page.is_null() {
        return vec![];
    }
    let own = own_time::line(page, moments::now()).map(|told| format!("own time: {told}"));
    let old = (!instance::broker_runs(house))
        .then(|| format!("no broker runs: this is how it stood at {}", moments::near(text(page, "at"))));
    [broker_page::budget_line(page)].into_iter().chain(own).chain(old).collect()
}

pub fn show(house: &House, as_json: bool) -> u8 {
    let (page, missing) = page(house);
    let day = day(&page);
    let (by, cut) = by_what(house, &day);
    if as_json {
        terminal::json(
            &json!({"page": page, "day": day, "by": by, "only_the_newest": cut, "missing": missing}),
        );
        return 0;
    }
    if let Some(missing) = missing {
        terminal::field("missing", &missing);
    }
    if !page.is_null() {
        tell(house, &page);
    }
    let of_day = format!("{day} (UTC)");
    terminal::field(
        "by what",
        &if by.is_empty() { format!("{of_day}: no call was paid for") } else { of_day },
    );
    for one in &by {
        let (usd, calls): (f64, u64) = (field(one, "usd"), field(one, "calls"));
        let whose = match text(one, "class") {
            "owner" => "for your words",
            "autonomous" => "on its own",
            other => other,
        };
        terminal::below(
            1,
            &format!("${usd:.4} {whose}: {} {}, {calls} calls", text(one, "service"), text(one, "model")),
        );
    }
    if cut {
        terminal::below(1, "only the newest of the ledger was read: there was more");
    }
    terminal::line(&format!("all days: {}; caps stand in owner.toml, [budget]", typed("history --since 7d")));
    0
}

/// The day money is counted by now: the page's, or today by UTC.
fn day(page: &Value) -> String {
    let told = text(page, "day");
    let day = if told.is_empty() { house::clock::stamp() } else { told.to_owned() };
    day.chars().take("2026-01-31".len()).collect()
}

fn tell(house: &House, page: &Value) {
    let usd = field::<f64>;
    let caps: &[Value] = field(page, "caps");
    for (number, cap) in caps.iter().enumerate() {
        let span = text(cap, "span");
        // The shortest span is today; what is reserved counts in every longer one.
        let (reserved, own_reserved) = match number {
            0 => (usd(page, "reserved_today_usd"), usd(page, "autonomous_reserved_usd")),
            _ => (usd(page, "reserved_usd"), 0.0),
        };
        let (spent, most) = (usd(cap, "spent_usd"), usd(cap, "cap_usd"));
        let left = (most - spent - reserved).max(0.0);
        terminal::field(
            &format!("this {span}"),
            &format!("${spent:.2} of ${most:.2} spent, ${reserved:.2} reserved, ${left:.2} left"),
        );
        let (own, own_most) = (usd(cap, "autonomous_usd"), usd(cap, "autonomous_cap_usd"));
        let own_left = (own_most - own - own_reserved).max(0.0).min(left);
        terminal::below(1, &format!("on its own: ${own:.2} of ${own_most:.2} spent, ${own_left:.2} left"));
    }
    // The first line says the same of the caps, and what is the matter.
    let told = lines(house, page);
    told.iter()
        .skip(usize::from(!caps.is_empty() && !is_odd(page)))
        .for_each(|line| terminal::field("now", line));
    let matter = Known::read(house).matter(moments::now(), &Place::here());
    matter.into_iter().for_each(|matter| terminal::field("its mind", &matter));
    let ahead = |at: &str| at.parse::<jiff::Timestamp>().is_ok_and(|at| at > moments::now());
    let (room, resets) =
        (own_time::of(page).map(|own| text(own, "room_at")).unwrap_or_default(), text(page, "resets_at"));
    if ahead(room) {
        terminal::field("room", &format!("for a thought of its own at {}", moments::off(room)));
    } else if !room.is_empty() {
        terminal::field("room", "for a thought of its own: now");
    }
    if ahead(resets) {
        terminal::field("anew", &format!("counted from {}", moments::off(resets)));
    }
    let models: &[Value] = field(page, "models");
    for model in models.iter().filter(|model| text(model, "state") != "down") {
        let [name, upstream, state, since] =
            ["model", "upstream", "state", "since"].map(|name| text(model, name));
        terminal::field("model", &format!("{name} at {upstream}: {state} since {}", moments::near(since)));
    }
    minds::down(page).iter().for_each(|told| terminal::field("down", told));
}

fn is_odd(page: &Value) -> bool {
    ["warning", "price", "closed", "stopped"]
        .iter()
        .any(|name| page.get(name).is_some_and(|it| !it.is_null()))
}

/// Sums the cost of a day's settled calls by class, service and model, the dearest first; and says whether only the
/// newest part of the ledger was read.
fn by_what(house: &House, day: &str) -> (Vec<Value>, bool) {
    let mut sums: BTreeMap<[String; 3], (u64, u64)> = BTreeMap::new();
    let since = format!("{day}T00:00:00.000Z");
    let cut = gather::each(&house.ledger(), &since, |entry| {
        let entry = Entry(entry);
        if entry.booked() != Booked::Settle || entry.day() != day {
            return;
        }
        let name = [entry.class(), entry.service(), entry.note()];
        let name = name.map(|name| bounds::brief(name, bounds::NAME_CHARS));
        if sums.len() < MOST_NAMES || sums.contains_key(&name) {
            let (cost, calls) = sums.entry(name).or_default();
            (*cost, *calls) = (cost.saturating_add(entry.cost_micro_usd()), *calls + 1);
        }
    });
    let mut sums: Vec<_> = sums.into_iter().collect();
    sums.sort_by_key(|(_, (cost, _))| std::cmp::Reverse(*cost));
    let row = |([class, service, model], (micro, calls)): ([String; 3], (u64, u64))| json!({"class": class, "service": service, "model": model, "usd": micro as f64 / 1e6, "calls": calls});
    (sums.into_iter().map(row).collect(), cut.is_some())
}
