//! The priority stack: everything there is to do, ranked, each line with why it ranks and what is next.

mod looked;

pub use crate::rules::Category;
pub(crate) use looked::apply;
pub use looked::{Look, Looked, LookedChange};

use crate::directive::{Directive, Wish};
use crate::goals::{Goal, GoalStatus};
use crate::items::{self, Item, backoff_s, later, span};
use crate::opportunities::{Opportunity, Stage};
use crate::own::Allowance;
use crate::requests::Request;
use crate::rules::Rules;
use crate::tasks::Task;
use crate::text;
use crate::{Agenda, waking};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// Seconds for which a line that can wait is left alone after a look, and a category may be passed over.
const DAY_S: i64 = 86_400;

/// Looks in a row without result after which a look puts off its whole category: many lines cost no more than one.
const MOST_IDLE: u32 = 4;

/// Changed papers that are named in a line.
const NAMED: usize = 5;

/// Reasons for a thought that are not part of the agenda.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Around {
    /// Papers of knowledge that changed since they were last read.
    pub changed: Vec<String>,
    /// Open items of the checklist that do not recur.
    pub items: Vec<String>,
    /// Allowance of own time; none where no own time is allowed.
    pub own: Option<Allowance>,
    /// Threads on which words of the owner's wait to be answered; none where no mind works on requests.
    pub talks: Option<Vec<String>>,
}

/// Line of the stack.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Line {
    pub category: Category,
    /// The item it is about, as in `goal-7`.
    pub id: String,
    pub title: String,
    /// Reason for its rank.
    pub why: String,
    /// Next step.
    pub next: String,
    /// Time from which the line is worth a thought.
    pub ready_at: Timestamp,
    /// Time it last changed or came due by the clock: no reason to end a rest that a thought chose after that.
    #[serde(default, skip)]
    pub changed_at: Timestamp,
}

impl Line {
    fn of(category: Category, id: &str, title: &str, why: String, next: &str, ready_at: Timestamp) -> Self {
        let (id, title, next) = (id.to_owned(), title.to_owned(), next.to_owned());
        Self { category, id, title, why, next, ready_at, changed_at: ready_at }
    }

    /// Whether nothing can be done about the line but to ask the owner.
    pub fn awaits(&self) -> bool {
        self.next == ask(&self.id)
    }
}

/// Everything there is to do: ready lines first, then by rank. Within a rank those not looked at since they
/// changed go first, then the oldest: so a goal that makes progress is gone on with.
pub fn stack(agenda: &Agenda, rules: &Rules, around: &Around, now: Timestamp) -> Vec<Line> {
    let order = agenda.directives.order(&rules.order, now);
    let focus = agenda.directives.focus(now).map(str::to_lowercase);
    let mut entries = Found::all(agenda, rules, around, now);
    let passed_over = passed_over(agenda, &entries, now);
    let place = |order: &[Category], category| order.iter().position(|one| *one == category);
    for Entry { line, rank, .. } in &mut entries {
        let now_at = place(&order, line.category).unwrap_or(order.len());
        let meant = focus.as_ref().is_some_and(|topic| line.title.to_lowercase().contains(topic));
        let moved = place(&rules.order, line.category).is_some_and(|usual| now_at < usual);
        *rank = now_at + 3;
        if line.category == Category::Requests {
            *rank = 0;
        } else if passed_over.contains(&line.category) {
            *rank = 1;
            line.why += "; passed over for a day";
        } else if meant || moved {
            *rank = if meant { 2 } else { *rank };
            line.why += "; your owner put it first";
        }
    }
    entries.sort_by_key(|entry| (entry.line.ready_at.max(now), entry.rank, entry.seen_at, entry.since));
    entries.into_iter().map(|entry| entry.line).collect()
}

/// The lines worth a thought now.
pub fn ready(lines: &[Line], now: Timestamp) -> impl Iterator<Item = &Line> {
    lines.iter().filter(move |line| line.ready_at <= now)
}

/// Returns the time the next line becomes worth a thought.
pub fn next_ready(lines: &[Line], now: Timestamp) -> Option<Timestamp> {
    lines.iter().map(|line| line.ready_at).filter(|at| *at > now).min()
}

/// Lists categories with a line ready for a day and no look for a day: they go first, so that rank starves none.
fn passed_over(agenda: &Agenda, entries: &[Entry], now: Timestamp) -> Vec<Category> {
    let (looked, long_ago) = (&agenda.looked, later(now, -DAY_S));
    let waits = |category: &Category| {
        let last = looked.categories.get(&items::name(category)).copied().or(looked.since);
        let ready = |entry: &Entry| entry.line.category == *category && entry.line.ready_at <= long_ago;
        last.is_some_and(|last| last <= long_ago) && entries.iter().any(ready)
    };
    Category::ALL.into_iter().filter(waits).collect()
}

/// A line with what it is sorted by.
struct Entry {
    line: Line,
    rank: usize,
    /// Its last look; `Timestamp::MIN` where there was none since it changed.
    seen_at: Timestamp,
    /// Time the line came to be: of equals the oldest goes first.
    since: Timestamp,
}

/// For whom a line is worked: decides how long it is left alone after a look of which nothing came.
#[derive(Clone, Copy)]
enum Whose {
    Owner,
    Own,
    CanWait,
}

impl Whose {
    fn of(owner: bool) -> Self {
        if owner { Whose::Owner } else { Whose::Own }
    }

    /// Seconds a line is left alone after so many looks: the owner's an hour at most, the creature's two days.
    fn waits_s(self, looks: u32) -> i64 {
        match self {
            Whose::Owner => backoff_s(looks),
            Whose::Own => 60_i64.saturating_mul(3_i64.pow(looks.saturating_sub(1).min(8))).min(2 * DAY_S),
            Whose::CanWait => DAY_S,
        }
    }
}

/// The lines of an agenda, in no order yet.
struct Found<'a> {
    agenda: &'a Agenda,
    rules: &'a Rules,
    now: Timestamp,
    entries: Vec<Entry>,
}

impl<'a> Found<'a> {
    fn all(agenda: &'a Agenda, rules: &'a Rules, around: &Around, now: Timestamp) -> Vec<Entry> {
        let mut found = Self { agenda, rules, now, entries: Vec::new() };
        agenda.goals.list.iter().for_each(|goal| found.goal(goal));
        agenda.opportunities.items.open().for_each(|one| found.opportunity(one));
        agenda.tasks.open().for_each(|task| found.task(task));
        agenda.directives.standing(now).for_each(|directive| found.order(directive));
        if let Some(waiting) = &around.talks {
            let answers = |one: &&Item<Request>| one.is_fresh() && waiting.contains(&one.thread);
            agenda.requests.open().filter(|one| !answers(one)).for_each(|one| found.request(one));
        }
        found.gaps_and_places();
        found.papers(&around.changed);
        around.items.iter().for_each(|item| found.item(item));
        around.own.iter().for_each(|allowance| found.own_time(allowance));
        found.entries
    }

    /// Adds a line, put off where it was looked at since it changed, or where `MOST_IDLE` looks had no result.
    fn put(&mut self, mut line: Line, since: Timestamp, changed_at: Timestamp, whose: Whose) {
        let look = self.agenda.looked.lines.get(&line.id);
        let look = look.filter(|look| look.at >= changed_at && look.next == line.next);
        if let Some(look) = look {
            line.ready_at = line.ready_at.max(later(look.at, whose.waits_s(look.times)));
        }
        let looked = &self.agenda.looked;
        let last = looked.categories.get(&items::name(line.category)).filter(|last| changed_at <= **last);
        if let (Some(last), Some(idle @ 1..)) = (last, looked.idle.checked_sub(MOST_IDLE))
            && line.category != Category::Knowledge
        {
            line.ready_at = line.ready_at.max(later(*last, whose.waits_s(idle)));
        }
        // What the owner wants is asked for whatever came of it before.
        let again = self.agenda.reasons.due_at(waking::line_kind(&line.id));
        if let (Some(again), Whose::Own | Whose::CanWait) = (again, whose) {
            line.ready_at = line.ready_at.max(again);
        }
        let seen_at = look.map_or(Timestamp::MIN, |look| look.at);
        line.changed_at = changed_at;
        self.entries.push(Entry { line, rank: 0, seen_at, since });
    }

    fn goal(&mut self, goal: &Item<Goal>) {
        let awaits = goal.status == GoalStatus::Awaiting;
        let (why, next, ready_at) = match (goal.status, goal.next()) {
            (GoalStatus::Awaiting, _) => {
                let why = format!("would cost {} USD and waits for your owner's yes", goal.cost_usd);
                (why, ask(&goal.id), goal.made_at)
            }
            (GoalStatus::Open, Some((at, step))) => {
                let of = if goal.owner { "your owner's goal" } else { "a goal of yours" };
                let (of_all, failed) = (goal.checkpoints.len(), step.tries.said());
                let why = format!("{of}, checkpoint {} of {of_all}{failed}", at + 1);
                let ready_at = step.tries.again_at().unwrap_or(goal.made_at);
                (why, step.text.clone(), ready_at.max(goal.not_before.unwrap_or(ready_at)))
            }
            _ => return,
        };
        let line = Line::of(Category::Goals, &goal.id, &goal.about, why, &next, ready_at);
        let whose = if awaits { Whose::CanWait } else { Whose::of(goal.owner) };
        // What comes due by the clock counts as changed then.
        let due = goal.not_before.map_or(goal.changed_at, |at| at.min(self.now));
        self.put(line, goal.made_at, goal.changed_at.max(due), whose);
    }

    fn opportunity(&mut self, one: &Item<Opportunity>) {
        let awaits = one.stage == Stage::Propose && one.awaits(self.rules);
        let mut why = format!("{} USD at stage {}", one.amount_usd, items::name(one.stage));
        if awaits {
            why += ", waits for your owner's yes";
        }
        let next = match one.next.as_str() {
            _ if awaits => &ask(&one.id),
            "" => one.stage.work(),
            next => next,
        };
        let ready_at = one.not_before.unwrap_or(one.made_at);
        let line = Line::of(Category::Opportunities, &one.id, &one.about, why, next, ready_at);
        let whose = if awaits { Whose::CanWait } else { Whose::of(one.owner) };
        self.put(line, one.made_at, one.changed_at.max(ready_at.min(self.now)), whose);
    }

    fn task(&mut self, task: &Item<Task>) {
        let own_round = task.every_s.is_some() && !task.owner;
        let category = if own_round { Category::Scanning } else { Category::Tasks };
        let due = task.due_at();
        let late_s = self.now.as_second() - due.as_second();
        let when = if late_s < 0 { "in" } else { "since" };
        let mut why = format!("due {when} {}", span(late_s.saturating_abs()));
        if let Some(every_s) = task.every_s {
            why += &format!(", every {}", span(every_s));
        }
        why += &task.tries.said();
        let line = Line::of(category, &task.id, &text::clip(&task.about, 80), why, &task.about, due);
        // A task that comes due counts as changed then, whatever look it had before.
        self.put(line, due, task.changed_at.max(due.min(self.now)), Whose::of(task.owner));
    }

    /// A request of the owner's; its words are the reason to think while they wait. It keeps its own time.
    fn request(&mut self, one: &Item<Request>) {
        let (why, next) = one.why_and_next();
        let ready_at = one.ready_at();
        let line = Line::of(Category::Requests, &one.id, &text::clip(&one.about, 80), why, &next, ready_at);
        let (seen_at, since) = (one.worked_at.unwrap_or(Timestamp::MIN), one.made_at);
        self.entries.push(Entry { line, rank: 0, seen_at, since });
    }

    /// A standing order of the owner's ranks among the tasks.
    fn order(&mut self, directive: &Item<Directive>) {
        let (Wish::Every { what, every_s }, Some(due)) = (&directive.wish, directive.next) else { return };
        let every = span(i64::try_from(*every_s).unwrap_or(i64::MAX));
        let why = format!("your owner wants it every {every}");
        let line = Line::of(Category::Tasks, &directive.id, &text::clip(what, 80), why, what, due);
        self.put(line, due, due.min(self.now), Whose::Owner);
    }

    fn gaps_and_places(&mut self) {
        for gap in self.agenda.gaps.open() {
            let why = format!("missed {} times", gap.times);
            let next = "learn it, build it, or note why not, and close it";
            let line = Line::of(Category::Gaps, &gap.id, &gap.about, why, next, gap.changed_at);
            self.put(line, gap.changed_at, gap.changed_at, Whose::CanWait);
        }
        for (name, place) in &self.agenda.presence.places {
            let Some(ready_at) = place.due_at() else { continue };
            let ago = span(self.now.as_second() - place.last_at.as_second());
            let (id, title) = (format!("presence-{name}"), format!("be seen on {name}"));
            let (why, next) = (format!("last seen there {ago} ago"), "post something worth reading");
            let line = Line::of(Category::Presence, &id, &title, why, next, ready_at);
            self.put(line, ready_at, place.last_at.max(ready_at.min(self.now)), Whose::CanWait);
        }
    }

    /// An open item of the checklist.
    fn item(&mut self, text: &str) {
        let id = format!("item-{:06x}", text::short_hash(text) >> 8);
        let (why, next) =
            ("open on your checklist".to_owned(), "do it, and tick it off in self/HEARTBEAT.md");
        let line = Line::of(Category::Tasks, &id, &text::clip(text, 80), why, next, Timestamp::MIN);
        self.put(line, Timestamp::MIN, Timestamp::MIN, Whose::Own);
    }

    /// Own time comes due by `Own::due_at`, and later while nothing of such looks is used; not by its last look.
    fn own_time(&mut self, allowance: &Allowance) {
        let own = &self.agenda.own;
        let (id, title, why, next) = own.line(allowance, self.now);
        let again = self.agenda.reasons.due_at(waking::OWN).unwrap_or(Timestamp::MIN);
        let ready_at = own.due_at(allowance, self.now).max(again);
        let line = Line::of(Category::Own, &id, title, why, next, ready_at);
        self.entries.push(Entry { line, rank: 0, seen_at: ready_at, since: ready_at });
    }

    fn papers(&mut self, changed: &[String]) {
        if changed.is_empty() {
            return;
        }
        let mut named = changed.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
        if changed.len() > NAMED {
            named += &format!(" and {} more", changed.len() - NAMED);
        }
        let why = format!("{} changed since you last read them", changed.len());
        let next = text::clip(&format!("read {named}; keep what matters"), 300);
        let always = Timestamp::MIN;
        let line = Line::of(Category::Knowledge, "knowledge", "papers changed", why, &next, always);
        self.put(line, always, always, Whose::CanWait);
    }
}

fn ask(id: &str) -> String {
    format!("ask your owner for a yes to {id} (owner.message, kind approval), once; then wait")
}
