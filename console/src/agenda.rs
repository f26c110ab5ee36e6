//! The creature's plans, read from its agenda: items of every kind, read alike, each field bounded.

use house::bounds::{self, brief};
use house::records::text;
use house::records::view::{Field, field};
use house::{House, files, standing};
use serde_json::{Value, json};

/// Bytes read of the agenda, and characters of an item's text.
const MOST_BYTES: u64 = 4 << 20;
pub const AIM_CHARS: usize = 120;
const ID_CHARS: usize = 40;
/// Reasons to think that are named.
const MOST_REASONS: usize = 3;

/// The kinds of items: the key of the list, the field that says what it is, when it is due, and when it ended. In the
/// order in which the creature works on them by default; what comes by the clock alone last.
const KINDS: [[&str; 4]; 8] = [
    ["requests", "text", "not_before", "ended_at"],
    ["goals", "title", "", ""],
    ["opportunities", "title", "not_before", "ended_at"],
    ["tasks", "text", "at", "ended_at"],
    ["gaps", "what", "", "ended_at"],
    ["directives", "text", "next", "ended"],
    ["reminders", "text", "next", "finished"],
    ["pulse", "text", "next", "finished"],
];

/// The agenda; `None` where there is none yet, an error where it cannot be read.
pub fn read(house: &House) -> Result<Option<Value>, String> {
    let wrong = || format!("what it means to do cannot be read: {} is damaged", house.agenda().display());
    let bytes = files::read_most(&house.agenda(), MOST_BYTES).map_err(|_| wrong())?;
    let Some(bytes) = bytes else { return Ok(None) };
    bounds::read(&bytes).filter(Value::is_object).map(Some).ok_or_else(wrong)
}

/// The items of a kind, as they stand in the file.
fn list<'a>(agenda: &'a Value, kind: &str) -> &'a [Value] {
    agenda.get(kind).map(|items| field(items, "list")).unwrap_or_default()
}

/// Says how many of its reasons to think by itself left a result, and the most frequent ones; empty where it had none.
pub fn unasked(agenda: &Value) -> String {
    let Some(all) = agenda.pointer("/reasons/by_reason").and_then(Value::as_object) else {
        return String::new();
    };
    let count = field::<u64>;
    let sum = |name: &str| all.values().fold(0_u64, |sum, of| sum.saturating_add(count(of, name)));
    let (asked, used) = (sum("asked"), sum("used"));
    if asked == 0 {
        return String::new();
    }
    let mut most: Vec<_> = all.iter().collect();
    most.sort_by_key(|(_, of)| std::cmp::Reverse(count(of, "asked")));
    let most = most.iter().take(MOST_REASONS).map(|(name, of)| {
        format!("{} {} of {}", brief(name, ID_CHARS), count(of, "used"), count(of, "asked"))
    });
    let most = most.collect::<Vec<_>>().join(", ");
    let since = agenda.pointer("/reasons/since").and_then(Value::as_str).unwrap_or_default();
    let since = house::moments::told(since);
    format!("of {asked} reasons to think by itself since {since}, {used} left something: {most}")
}

fn usd(item: &Value, name: &str) -> f64 {
    field(item, name)
}

/// Returns the cost of a goal or a way for which it asks.
pub fn asked_usd(item: &Value) -> f64 {
    field::<Option<f64>>(item, "asked_usd").unwrap_or_else(|| usd(item, "cost_usd"))
}

fn is_open(item: &Value, end: &str) -> bool {
    item.get(end).is_none_or(Value::is_null)
}

/// The steps of a goal.
pub fn steps(goal: &Value) -> &[Value] {
    field(goal, "checkpoints")
}

/// The first step of a goal that is not done.
fn next_step(goal: &Value) -> Option<&Value> {
    steps(goal).iter().find(|step| text(step, "status") != "done")
}

/// An item of any kind, for people and programs.
#[derive(Clone, Debug)]
pub struct Item {
    pub kind: &'static str,
    pub id: String,
    pub title: String,
    /// `open`, `awaiting` (the owner's yes), or how it ended.
    pub state: String,
    /// Next thing to do: a step, the stage's demand, or the word that says yes.
    pub next: String,
    /// When it comes due, RFC 3339; empty where it does not wait for a time.
    pub due: String,
    pub why: String,
    pub whole: Value,
}

impl Item {
    pub fn is_open(&self) -> bool {
        matches!(self.state.as_str(), "open" | "awaiting")
    }

    /// Whether nothing but its time makes it come: it is no work by itself.
    pub fn is_timed(&self) -> bool {
        matches!(self.kind, "reminders" | "pulse")
    }

    pub fn json(&self) -> Value {
        let Self { kind, id, title, state, next, due, why, whole } = self;
        let mut item = json!({"kind": kind, "id": id, "title": title, "state": state, "next": next, "due": due, "why": why});
        if let Some(fields) = item.as_object_mut().filter(|_| *kind == "goals") {
            fields.insert("steps".into(), steps(whole).into());
        }
        item
    }

    /// The item in a line: its id, what it is and what is next.
    pub fn line(&self) -> String {
        let next = if self.next.is_empty() { String::new() } else { format!("; next: {}", self.next) };
        let due = if self.due.is_empty() {
            String::new()
        } else {
            format!(" ({})", house::moments::off(&self.due))
        };
        format!("{} {}{next}{due}", self.id, self.title)
    }
}

/// Every item, those of a kind in the file's order, kinds in that of `KINDS`.
pub fn items(agenda: &Value, now: &str) -> Vec<Item> {
    let of = |kind: &'static [&'static str; 4]| {
        let [list_name, ..] = kind;
        list(agenda, list_name).iter().map(move |item| read_item(kind, item, now))
    };
    KINDS.iter().flat_map(of).collect()
}

fn read_item(kind: &'static [&'static str; 4], item: &Value, now: &str) -> Item {
    let [kind, title, due, end] = kind;
    let said = |name: &str| brief(text(item, name), AIM_CHARS);
    let owed = usd(item, "asked_usd") > usd(item, "approved_usd");
    let state = match *kind {
        "goals" => brief(text(item, "status"), ID_CHARS),
        "opportunities" if is_open(item, end) && owed => "awaiting".into(),
        // An order holds until its time.
        _ if is_open(item, end) && (text(item, "until").is_empty() || text(item, "until") > now) => {
            "open".into()
        }
        _ => "ended".into(),
    };
    let id = brief(text(item, "id"), ID_CHARS);
    let next = match *kind {
        _ if state == "awaiting" => {
            format!("your yes to {:.2} USD, by the word `approve {id}`", asked_usd(item))
        }
        _ if state != "open" => String::new(),
        "goals" => next_step(item).filter(|step| text(step, "text") != text(item, "title")).map_or_else(
            String::new,
            |step| {
                let parked = if text(step, "status") == "blocked" { "parked at " } else { "" };
                format!("{parked}{}", brief(text(step, "text"), AIM_CHARS))
            },
        ),
        "requests" => match item.get("wait").filter(|wait| wait.is_object()) {
            Some(wait) => format!("it waits for {}", brief(text(wait, "what"), AIM_CHARS)),
            None => said("next"),
        },
        "opportunities" if text(item, "next").is_empty() => said("stage"),
        "opportunities" => said("next"),
        _ => String::new(),
    };
    let why = match *kind {
        _ if !state.is_empty() && state != "open" && state != "awaiting" => {
            ["reason", "outcome", "why"].map(said).into_iter().find(|why| !why.is_empty()).unwrap_or_default()
        }
        "goals" | "tasks" if field(item, "owner") => "yours".into(),
        "requests" if text(item, "so_far").is_empty() => "you asked".into(),
        "requests" => format!("you asked, and were told: {}", said("so_far")),
        "directives" => "your order".into(),
        "reminders" => recurs(item.get("schedule").unwrap_or(&Value::Null)),
        "gaps" => format!("missed {} times", field::<u64>(item, "times")),
        "opportunities" => format!("{:.2} USD, at {}", usd(item, "amount_usd"), said("stage")),
        _ => String::new(),
    };
    let waits = item.get("wait").map(|wait| text(wait, "until")).filter(|until| !until.is_empty());
    let due = match (*kind, waits) {
        ("requests", Some(until)) => brief(until, ID_CHARS),
        _ if due.is_empty() => String::new(),
        _ => brief(text(item, due), ID_CHARS),
    };
    let title = brief(text(item, title), AIM_CHARS);
    Item { kind, id, title, state, next, due, why, whole: item.clone() }
}

/// Says when a reminder recurs, as `every Monday at 08:00`; empty where it comes once.
fn recurs(schedule: &Value) -> String {
    const DAYS: [&str; 7] = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];
    let clock = |name: &str| text(schedule, name).chars().take("08:00".len()).collect::<String>();
    let number = |name: &str| field::<u64>(schedule, name);
    let days = field::<&[Value]>(schedule, "days").iter();
    let days: Vec<usize> =
        days.filter_map(|day| usize::try_from(day.as_u64()?).ok()?.checked_sub(1)).collect();
    let named = || days.iter().filter_map(|day| DAYS.get(*day).copied()).collect::<Vec<_>>().join(", ");
    match text(schedule, "kind") {
        "daily" => format!("every day at {}", clock("time")),
        "weekly" if days == [0, 1, 2, 3, 4] => format!("every weekday at {}", clock("time")),
        "weekly" => format!("every {} at {}", named(), clock("time")),
        "monthly" => format!("every month on day {} at {}", number("day"), clock("time")),
        "every" => {
            let every = house::moments::span(std::time::Duration::from_secs(number("every_s")));
            format!("every {every} from {} to {}", clock("from"), clock("to"))
        }
        _ => String::new(),
    }
}

/// Ranks before the usual order of kinds: the owner's focus that holds, by kind and by word, then the owner's settings.
#[derive(Default)]
pub struct Ranks {
    kinds: Vec<String>,
    topic: String,
}

impl Ranks {
    /// By the newest focus among the items, and by `[agenda] order` as it was handed over.
    pub fn of(house: &House, items: &[Item]) -> Self {
        let texts = |value: Option<&Value>| -> Vec<String> {
            let list = value.and_then(Vec::<&str>::read).unwrap_or_default();
            list.into_iter().map(str::to_owned).collect()
        };
        let is_focus = |item: &&Item| item.whole.pointer("/wish/kind").is_some_and(|kind| kind == "focus");
        let focus = orders(items).into_iter().rev().find(|item| is_focus(&item));
        let mut kinds = focus.as_ref().map(|item| texts(item.whole.get("first"))).unwrap_or_default();
        let handed = standing::small(&house.handed_settings()).unwrap_or_default();
        kinds.extend(texts(handed.pointer("/settings/agenda/order")));
        let topic = focus
            .map(|item| item.whole.pointer("/wish/topic").and_then(Value::as_str).map(str::to_lowercase));
        Self { kinds, topic: topic.flatten().unwrap_or_default() }
    }

    /// The rank of an item: a request, then what the focus names, then by kind.
    fn rank(&self, item: &Item) -> (bool, bool, usize) {
        let is_meant = !self.topic.is_empty() && item.title.to_lowercase().contains(&self.topic);
        let kind = if item.kind == "directives" { "tasks" } else { item.kind };
        let place = self.kinds.iter().position(|one| one == kind).unwrap_or(self.kinds.len());
        (item.kind != "requests", !is_meant, place)
    }
}

/// Returns its plans by priority: ready items, then those that wait for their time, last those that wait for a yes;
/// within these as `Ranks` say and by kind, of a kind the oldest first. The creature ranks further by its last looks.
pub fn stack(items: &[Item], ranks: &Ranks, now: &str) -> Vec<Item> {
    let is_work = |item: &&Item| {
        let order = item.kind == "directives" && item.due.is_empty();
        item.is_open() && !item.is_timed() && !order
    };
    let mut stack: Vec<Item> = items.iter().filter(is_work).cloned().collect();
    stack.sort_by_key(|item| (item.due.as_str() > now, item.state == "awaiting", ranks.rank(item)));
    stack
}

/// The owner's orders that hold and are no work by themselves: a focus, a pause, quiet.
pub fn orders(items: &[Item]) -> Vec<Item> {
    let holds = |item: &&Item| item.kind == "directives" && item.is_open() && item.due.is_empty();
    items.iter().filter(holds).cloned().collect()
}

/// Returns the items due after `now`, the earliest first.
pub fn due(items: &[Item], now: &str) -> Vec<Item> {
    let mut due: Vec<Item> =
        items.iter().filter(|item| item.is_open() && item.due.as_str() > now).cloned().collect();
    due.sort_by(|one, other| one.due.cmp(&other.due));
    due
}

/// Sums revenue in US dollars: earned, executed but not received, and expected of the rest.
pub fn revenue(agenda: &Value) -> Value {
    let earned = agenda.get("opportunities").map_or(0.0, |all| usd(all, "earned_usd"));
    let (mut pending, mut expected) = (0.0, 0.0);
    for one in list(agenda, "opportunities").iter().filter(|one| is_open(one, "ended_at")) {
        let left = (usd(one, "amount_usd") - usd(one, "earned_usd")).max(0.0);
        let is_executed = matches!(text(one, "stage"), "collect" | "report");
        *(if is_executed { &mut pending } else { &mut expected }) += left;
    }
    json!({"earned_usd": earned, "pending_usd": pending, "expected_usd": expected})
}
