//! Gathers a report's facts: records since a time, of each kind the newest so many bytes, and the present state.

use super::facts::Facts;
use crate::agenda;
use crate::owners::Owners;
use house::bounds::{self, brief};
use house::clock::Millis;
use house::records::ledger::{Booked, Entry};
use house::records::{self, text};
use house::{House, asks, clock, instance, minds, moments, standing};
use serde_json::Value;
use std::path::Path;

/// Longest time from the record of a thought, a wake or an edit until a call made for it is settled.
pub const SETTLED_LATER_MS: Millis = 2_000;
/// Bytes read of each kind of record.
const MOST_BYTES: u64 = 64 << 20;
/// Asks that are told singly, and models that are named.
const MOST_ASKS: usize = 50;
const MOST_MODELS: usize = 20;

pub fn facts(house: &House, since: &str) -> Facts {
    let mut facts = Facts::default();
    let mut cut = Vec::new();
    cut.extend(each(&house.history(), since, |event| facts.guarded(event)));
    cut.extend(each(&house.deaths(), since, |death| facts.died(death)));
    cut.extend(each(&house.memory(), since, |record| facts.remembered(record)));
    cut.extend(each(&house.ledger(), since, |entry| facts.entered(entry)));
    cut.extend(each(&house.asks(), since, |line| facts.answered(line)));
    facts.cut = cut;
    let waiting = asks::waiting(house);
    facts.waits = waiting.iter().take(MOST_ASKS).map(|ask| (told(ask), format!("asks {}", ask.id))).collect();
    if waiting.len() > MOST_ASKS {
        facts.waits.push((format!("{} more asks", waiting.len() - MOST_ASKS), "asks".into()));
    }
    facts.budget = standing::small(&house.budget()).filter(Value::is_object);
    // A broker that has ended wrote its page some time ago.
    if instance::broker_runs(house) {
        facts.down = facts.budget.as_ref().map(minds::down).unwrap_or_default();
    }
    facts.note = match instance::running(house).and_then(|pid| instance::published(house, pid)) {
        Some(state) => brief(text(&state, "note"), bounds::NAME_CHARS),
        None => "no guardian runs".into(),
    };
    means_to(house, since, &mut facts);
    facts
}

fn told(ask: &asks::Ask) -> String {
    format!("{}, {} ago: {}", ask.line(), ask.age(), ask.summary())
}

/// Takes every record of a file and of those rotated away from it since a time, oldest first; of more than
/// `MOST_BYTES` the newest. Returns the file's name where some were left out.
pub fn each(path: &Path, since: &str, mut take: impl FnMut(&Value)) -> Option<String> {
    let (mut room, mut is_cut, mut parts) = (MOST_BYTES, false, Vec::new());
    for path in records::whole(path, since).rev() {
        let bytes = std::fs::metadata(&path).map_or(0, |meta| meta.len());
        let place = records::place(&path, since);
        let wanted = bytes.saturating_sub(place);
        is_cut |= wanted > room;
        let taken = wanted.min(room);
        room -= taken;
        if taken > 0 {
            parts.push((path, bytes - taken, taken));
        }
        if room == 0 {
            break;
        }
    }
    let mut owners = Owners::beside(path);
    for (path, place, most) in parts.into_iter().rev() {
        records::from(&path, place, most).since(since).for_each(|one| take(&owners.judged(one)));
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    is_cut.then_some(name)
}

/// Takes every record of a span, oldest first. Later records are not read, however long ago the span was.
pub fn between(path: &Path, since: &str, until: &str, mut take: impl FnMut(&Value)) {
    let mut owners = Owners::beside(path);
    for path in records::whole(path, since) {
        for record in records::from(&path, records::place(&path, since), MOST_BYTES) {
            if text(&record, "at") > until {
                return;
            }
            if text(&record, "at") >= since {
                take(&owners.judged(record));
            }
        }
    }
}

/// Time by which a call is settled that was made for a record of this time.
pub fn settled_by(at: &str) -> Option<String> {
    moments::ms(at).map(|at_ms| clock::stamp_of(at_ms.saturating_add(SETTLED_LATER_MS)))
}

/// Calls of models that were settled in a span.
#[derive(Default)]
pub struct Paid {
    pub micro: u64,
    pub calls: u64,
    pub models: Vec<String>,
}

/// Sums the cost of calls of models in a span.
pub fn paid(house: &House, since: &str, until: &str) -> Paid {
    let mut paid = Paid::default();
    between(&house.ledger(), since, until, |entry| {
        let entry = Entry(entry);
        if entry.booked() == Booked::Settle {
            paid.micro = paid.micro.saturating_add(entry.cost_micro_usd());
            paid.calls += 1;
            let model = brief(entry.note(), bounds::NAME_CHARS);
            if !paid.models.contains(&model) && paid.models.len() < MOST_MODELS {
                paid.models.push(model);
            }
        }
    });
    paid
}

/// Takes in the creature's plans, those that wait for a yes, and goals that ended.
fn means_to(house: &House, since: &str, facts: &mut Facts) {
    let agenda = match agenda::read(house) {
        Ok(Some(agenda)) => agenda,
        Ok(None) => {
            facts.next = Some(Vec::new());
            return;
        }
        Err(_) => return,
    };
    facts.unasked = agenda::unasked(&agenda);
    let (mut goals, mut timed) = (Vec::new(), Vec::new());
    for item in agenda::items(&agenda, &clock::stamp()) {
        let named = format!("{} {}", item.id, item.title);
        match (item.kind, item.state.as_str()) {
            ("goals", "open") => goals.push(item.line()),
            ("goals" | "opportunities", "awaiting") => {
                let told = format!("{named}, {:.2} USD", agenda::asked_usd(&item.whole));
                facts.waits.push((told, format!("say: approve {}", item.id)));
            }
            ("goals", state) if text(&item.whole, "changed_at") >= since => {
                let why = if item.why.is_empty() { String::new() } else { format!(" ({})", item.why) };
                facts.ended.add((state == "done", format!("goal {state}: {named}{why}")));
            }
            ("tasks" | "reminders", "open") => timed.push((item.due, named)),
            _ => {}
        }
    }
    timed.sort();
    let timed = timed.into_iter().map(|(at, what)| format!("{what} ({})", moments::told(&at)));
    facts.next = Some(goals.into_iter().chain(timed).collect());
}
