//! The stack as data: rank, readiness, patience; and that it is right and quick whatever is on it.

use agenda::directive::{DirectiveChange, Wish};
use agenda::gaps::GapChange;
use agenda::goals::{GoalChange, Status};
use agenda::opportunities::{Move, OpportunityChange, Stage};
use agenda::own::Allowance;
use agenda::presence::PresenceChange;
use agenda::stack::{Around, Category, Line, next_ready, ready, stack};
use agenda::tasks::TaskChange;
use agenda::{Agenda, Change, Rules, When};
use jiff::{SignedDuration, Timestamp};
use proptest::prelude::*;
use std::collections::BTreeSet;

const START: Timestamp = Timestamp::constant(1_780_000_000, 0);
const DAY: i64 = 86_400;

fn at(seconds: i64) -> Timestamp {
    START + SignedDuration::from_secs(seconds)
}

/// An agenda, its clock and its owner's settings.
#[derive(Default)]
struct Kept {
    agenda: Agenda,
    rules: Rules,
    now_s: i64,
    around: Around,
}

impl Kept {
    fn tell(&mut self, owner: bool, change: &Change) {
        let when = When { now: at(self.now_s), thread: "main", owner, rules: &self.rules };
        self.agenda.apply(change, when).unwrap();
    }

    fn goal(&mut self, title: &str, steps: &[&str]) {
        let checkpoints = steps.iter().map(|step| (*step).to_owned()).collect();
        self.tell(
            false,
            &Change::Goal(GoalChange::Add { title: title.to_owned(), checkpoints, cost_usd: 0.0 }),
        );
    }

    fn mark(&mut self, id: &str, status: Status, reason: &str) {
        let (id, reason) = (id.to_owned(), reason.to_owned());
        self.tell(false, &Change::Goal(GoalChange::Checkpoint { id, checkpoint: None, status, reason }));
    }

    fn task(&mut self, owner: bool, text: &str, in_s: i64, every_s: Option<i64>) {
        let at = at(self.now_s + in_s);
        self.tell(owner, &Change::Task(TaskChange::Add { text: text.to_owned(), at, every_s }));
    }

    fn opportunity(&mut self, title: &str, amount_usd: f64) {
        let title = title.to_owned();
        self.tell(
            false,
            &Change::Opportunity(OpportunityChange::Add { title, amount_usd, next: String::new() }),
        );
    }

    /// One of everything, lowest rank first.
    fn one_of_all(&mut self) {
        self.around.own = Some(Allowance::default());
        self.around.changed = vec!["self/notes/tea.md".to_owned()];
        self.task(false, "look around", 0, Some(3_600));
        let (place, last) = ("x".to_owned(), "hello".to_owned());
        self.tell(false, &Change::Presence(PresenceChange::Note { place, last, every_days: Some(1) }));
        self.now_s += DAY;
        self.tell(false, &Change::Gap(GapChange::Note { what: "read PDFs".to_owned() }));
        self.task(false, "water the plants", 0, None);
        self.opportunity("tea labels", 40.0);
        self.goal("sell tea", &["find leaves", "pack"]);
    }

    fn lines(&self) -> Vec<Line> {
        stack(&self.agenda, &self.rules, &self.around, at(self.now_s))
    }

    fn order(&self) -> Vec<Category> {
        self.lines().iter().map(|line| line.category).collect()
    }

    /// Ids of what is ready, the first goes first.
    fn ready(&self) -> Vec<String> {
        ready(&self.lines(), at(self.now_s)).map(|line| line.id.clone()).collect()
    }

    /// A thought about the first ready line from which nothing comes.
    fn look(&mut self) -> Option<String> {
        let lines = self.lines();
        let first = ready(&lines, at(self.now_s)).next()?;
        self.tell(false, &first.looked());
        Some(first.id.clone())
    }
}

#[test]
fn one_of_all_ranks_as_designed_as_set_and_as_told() {
    let mut kept = Kept::default();
    kept.one_of_all();
    assert_eq!(kept.order(), Category::ALL);
    for line in kept.lines() {
        assert!(!line.why.is_empty() && !line.next.is_empty() && !line.title.is_empty(), "{line:?}");
    }
    let by_rank = |kept: &Kept, n: usize| (kept.lines()[n].why.clone(), kept.lines()[n].next.clone());
    assert_eq!(by_rank(&kept, 0), ("a goal of yours, checkpoint 1 of 2".into(), "find leaves".into()));
    assert_eq!(by_rank(&kept, 2), ("due since 0 s".into(), "water the plants".into()));
    kept.rules.order.reverse();
    assert_eq!(kept.order()[0], Category::Own);
    kept.rules.order.reverse();
    let wish = Wish::Focus { topic: "revenue".to_owned() };
    let until = Some(at(kept.now_s + DAY));
    kept.tell(
        true,
        &Change::Directive(DirectiveChange::Set { wish, text: "focus on revenue".to_owned(), until }),
    );
    assert_eq!(kept.order()[..2], [Category::Opportunities, Category::Goals]);
    assert!(kept.lines()[0].why.ends_with("; your owner put it first"), "{:?}", kept.lines()[0]);
    let wish = Wish::Focus { topic: "PDFs".to_owned() };
    kept.tell(
        true,
        &Change::Directive(DirectiveChange::Set { wish, text: "focus on PDFs".to_owned(), until }),
    );
    assert_eq!(kept.order()[..2], [Category::Gaps, Category::Goals], "what is about the focus goes first");
    kept.now_s += DAY;
    assert!(
        kept.lines().iter().all(|line| !line.why.contains("your owner put")),
        "a word of yesterday's is over"
    );
}

#[test]
fn what_was_looked_at_in_vain_waits_longer_each_time_and_what_changed_is_ready() {
    let mut kept = Kept::default();
    kept.goal("sell tea", &["find leaves", "pack"]);
    for wait_s in [60, 180, 540, 1_620, 4_860, 14_580, 43_740, 131_220, 2 * DAY, 2 * DAY] {
        assert_eq!(kept.look().as_deref(), Some("goal-1"));
        assert_eq!(next_ready(&kept.lines(), at(kept.now_s)), Some(at(kept.now_s + wait_s)));
        kept.now_s += wait_s - 1;
        assert_eq!(kept.look(), None, "nothing changed");
        kept.now_s += 1;
    }
    kept.look();
    kept.mark("goal-1", Status::Done, "");
    assert_eq!(kept.look().as_deref(), Some("goal-1"), "progress is looked at at once");
    assert_eq!(
        next_ready(&kept.lines(), at(kept.now_s)),
        Some(at(kept.now_s + 60)),
        "and patience begins anew"
    );
}

#[test]
fn what_its_owner_wants_is_looked_at_every_hour_however_often_in_vain() {
    let mut kept = Kept::default();
    kept.task(true, "find the book", 0, None);
    for wait_s in [60, 120, 240, 480, 960, 1_920, 3_600, 3_600] {
        assert_eq!(kept.look().as_deref(), Some("task-1"));
        assert_eq!(next_ready(&kept.lines(), at(kept.now_s)), Some(at(kept.now_s + wait_s)));
        kept.now_s += wait_s;
    }
}

#[test]
fn what_failed_is_tried_again_later_and_parked_it_is_gone() {
    let mut kept = Kept::default();
    kept.goal("first", &["a", "b"]);
    kept.goal("second", &["c"]);
    for wait_s in [60, 120] {
        assert_eq!(kept.ready(), ["goal-1", "goal-2"]);
        kept.mark("goal-1", Status::Failed, "no luck");
        assert_eq!(kept.ready(), ["goal-2"]);
        assert_eq!(next_ready(&kept.lines(), at(kept.now_s)), Some(at(kept.now_s + wait_s)));
        kept.now_s += wait_s;
    }
    assert!(kept.lines()[0].why.contains("failed 2 of 3 times, last: no luck"), "{:?}", kept.lines()[0]);
    kept.mark("goal-1", Status::Failed, "no luck");
    assert_eq!(kept.lines()[0].next, "b", "the next checkpoint goes on");
    kept.mark("goal-1", Status::Blocked, "needs a");
    assert_eq!(kept.ready(), ["goal-2"]);
}

#[test]
fn what_waits_for_the_owner_is_thought_of_once_a_day() {
    let mut kept = Kept::default();
    let checkpoints = vec!["buy".to_owned()];
    kept.tell(
        false,
        &Change::Goal(GoalChange::Add { title: "a rocket".to_owned(), checkpoints, cost_usd: 9e6 }),
    );
    kept.opportunity("a festival", 9_000.0);
    for stage in [Stage::Evaluate, Stage::Propose] {
        let (id, to) = ("opportunity-2".to_owned(), Move { stage: Some(stage), ..Move::default() });
        kept.tell(false, &Change::Opportunity(OpportunityChange::Move { id, to }));
    }
    for line in kept.lines() {
        assert!(line.awaits(), "{line:?}");
    }
    assert_eq!((kept.look().as_deref(), kept.look().as_deref()), (Some("goal-1"), Some("opportunity-2")));
    kept.now_s += DAY - 1;
    assert_eq!(kept.look(), None);
    kept.now_s += 1;
    assert_eq!(kept.ready().len(), 2);
}

#[test]
fn tasks_come_at_their_time_and_orders_of_the_owner_are_tasks() {
    let mut kept = Kept::default();
    kept.task(false, "later", 600, None);
    kept.task(false, "sooner", 300, None);
    kept.task(true, "nightly, as the owner said", 450, Some(DAY));
    let wish = Wish::Every { what: "check my mail".to_owned(), every_s: 600 };
    let text = "check my mail every 10 minutes".to_owned();
    kept.tell(true, &Change::Directive(DirectiveChange::Set { wish, text, until: None }));
    assert_eq!(kept.ready(), ["directive-4"]);
    assert_eq!(kept.lines()[0].why, "your owner wants it every 10 min");
    kept.tell(false, &Change::Directive(DirectiveChange::Did { id: "directive-4".to_owned() }));
    assert_eq!((kept.ready().len(), kept.agenda.next_at(at(0))), (0, Some(at(300))));
    kept.now_s = 590;
    assert_eq!(kept.ready(), ["task-2", "task-3"]);
    kept.now_s = 600;
    assert_eq!(kept.ready(), ["task-2", "task-3", "task-1", "directive-4"], "the longest due first");
    assert!(kept.lines().iter().all(|line| line.category == Category::Tasks));
}

#[test]
fn a_turn_that_comes_due_is_new_whatever_was_seen_of_the_last() {
    let mut kept = Kept::default();
    kept.task(false, "feed https://tea.example/feed", 0, Some(600));
    for _ in 0..5 {
        assert_eq!(kept.look().as_deref(), Some("task-1"));
        kept.tell(false, &Change::Task(TaskChange::Done { id: "task-1".to_owned(), failed: None }));
        assert_eq!(kept.ready().len(), 0);
        kept.now_s += 600;
    }
}

#[test]
fn rank_starves_nothing_for_longer_than_a_day() {
    let mut kept = Kept::default();
    kept.one_of_all();
    let mut seen = BTreeSet::new();
    let end_s = kept.now_s + DAY + 30 * 60;
    // Goals without end: each time one is thought about, it goes on and is ready again.
    while kept.now_s < end_s {
        if let Some(id) = kept.look() {
            if id.starts_with("goal") {
                kept.tell(
                    false,
                    &Change::Goal(GoalChange::Extend { id, checkpoints: vec!["on".to_owned()] }),
                );
                let goal = kept.agenda.goals.list.first_mut().unwrap();
                goal.checkpoints.remove(0);
            } else {
                seen.insert(id);
            }
        }
        kept.now_s += 300;
    }
    assert_eq!(seen.len(), 7, "{seen:?}");
}

#[test]
fn papers_that_changed_are_one_line() {
    let mut kept = Kept::default();
    kept.around.changed = (0..9).map(|n| format!("self/notes/{n}.md")).collect();
    assert_eq!(kept.lines().len(), 1);
    assert!(kept.lines()[0].next.contains("self/notes/4.md and 4 more"), "{:?}", kept.lines()[0]);
    kept.look();
    kept.now_s += 600;
    assert_eq!(kept.ready().len(), 0, "the same papers can wait");
    kept.around.changed.insert(0, "self/notes/new.md".to_owned());
    assert_eq!(kept.ready(), ["knowledge"]);
}

#[test]
fn ranking_ten_times_the_items_takes_no_hundred_times_as_long() {
    let fewer = fastest(25);
    let more = fastest(250);
    assert!(more < fewer * 50, "{fewer:?} for 100 items, {more:?} for 1,000");
}

/// How long ranking four times as many items takes, the fastest of twenty.
fn fastest(quarter: usize) -> std::time::Duration {
    let mut kept = Kept::default();
    for n in 0..quarter as u32 {
        kept.goal(&format!("goal {n}"), &["one", "two", "three"]);
        kept.opportunity(&format!("opportunity {n}"), f64::from(n));
        kept.task(false, &format!("task {n}"), i64::from(n) * 60, (n % 2 == 0).then_some(600));
        kept.tell(false, &Change::Gap(GapChange::Note { what: format!("gap {n}") }));
    }
    for _ in 0..100 {
        kept.look();
    }
    let fastest = (0..20).map(|_| {
        let began = std::time::Instant::now();
        assert_eq!(kept.lines().len(), 4 * quarter);
        began.elapsed()
    });
    fastest.min().unwrap()
}

const ALL: [Status; 5] = [Status::Pending, Status::Active, Status::Done, Status::Failed, Status::Blocked];

#[derive(Clone, Debug)]
enum Act {
    Goal,
    Step(usize, Status),
    Task(i64, bool),
    Did(usize),
    Gap,
    Look,
    Rest(i64),
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        1 => Just(Act::Goal),
        1 => (0..6_usize, 0..5_usize).prop_map(|(which, status)| Act::Step(which, ALL[status])),
        1 => (-100..5_000_i64, any::<bool>()).prop_map(|(in_s, often)| Act::Task(in_s, often)),
        1 => (0..6_usize).prop_map(Act::Did),
        1 => Just(Act::Gap),
        4 => Just(Act::Look),
        4 => (1..4_000_i64).prop_map(Act::Rest),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_happens_the_stack_is_in_order_and_its_ready_lines_are_due(
        acts in prop::collection::vec(act(), 0..80),
    ) {
        let mut kept = Kept::default();
        let mut named = 0;
        for act in acts {
            named += 1;
            match act {
                Act::Goal => kept.goal(&format!("goal {named}"), &["a", "b"]),
                Act::Step(which, status) => {
                    let open = kept.agenda.goals.list.iter().filter(|goal| goal.next().is_some());
                    if let Some(id) = open.map(|goal| goal.id.clone()).nth(which) {
                        kept.mark(&id, status, "some reason");
                    }
                }
                Act::Task(in_s, often) => kept.task(false, &format!("task {named}"), in_s, often.then_some(900)),
                Act::Did(which) => {
                    let open = kept.agenda.tasks.list.iter().filter(|task| task.ended_at.is_none());
                    if let Some(id) = open.map(|task| task.id.clone()).nth(which) {
                        kept.tell(false, &Change::Task(TaskChange::Done { id, failed: None }));
                    }
                }
                Act::Gap => kept.tell(false, &Change::Gap(GapChange::Note { what: "one".to_owned() })),
                Act::Look => {
                    let looked = kept.look();
                    let again = kept.ready();
                    prop_assert!(looked.is_none_or(|id| !again.contains(&id)), "looked at in vain, it waits");
                }
                Act::Rest(rest_s) => kept.now_s += rest_s,
            }
            let (lines, now) = (kept.lines(), at(kept.now_s));
            let ids: BTreeSet<&String> = lines.iter().map(|line| &line.id).collect();
            prop_assert_eq!(ids.len(), lines.len(), "each item has one line");
            let goals = kept.agenda.goals.list.iter().filter(|goal| goal.line().contains("(open)"));
            let goals = goals.filter(|goal| goal.next().is_some()).count();
            let tasks = kept.agenda.tasks.list.iter().filter(|task| task.ended_at.is_none()).count();
            prop_assert_eq!(lines.len(), goals + tasks + kept.agenda.gaps.list.len(), "and nothing is left out");
            let now_ready = ready(&lines, now).count();
            prop_assert!(lines[..now_ready].iter().all(|line| line.ready_at <= now), "what is ready goes first");
            for line in &lines {
                let task = kept.agenda.tasks.list.iter().find(|task| task.id == line.id);
                prop_assert!(task.is_none_or(|task| task.at <= line.ready_at), "nothing comes before its time");
            }
            // A stack is a matter of the agenda alone: written down and read again it is the same.
            let text = serde_json::to_string(&kept.agenda).unwrap();
            let read: Agenda = serde_json::from_str(&text).unwrap();
            prop_assert_eq!(stack(&read, &kept.rules, &Around::default(), now), stack(&kept.agenda, &kept.rules, &Around::default(), now));
        }
    }
}

#[test]
fn the_id_of_an_open_item_is_the_same_in_every_self() {
    let around = Around { items: vec!["Map the Water".to_owned()], ..Around::default() };
    let lines = stack(&Agenda::default(), &Rules::default(), &around, at(0));
    assert_eq!(lines[0].id, "item-f59fc5", "looks at it are remembered by its id");
}
