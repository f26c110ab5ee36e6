//! The graph of sub-sessions against a simple model, under random failure, kills at any point and clock jumps.

mod plain;

use agenda::sessions::{MOST_KEPT, MOST_OPEN, Origin, Previous, Request, Sessions, Status};
use jiff::{SignedDuration, Timestamp};
use plain::{Item, Model};
use proptest::prelude::*;
use std::collections::BTreeSet;

const AT_ONCE: usize = 3;

/// What a thought costs, and a leg may.
const COST: u64 = 10;
const MOST_COST: u64 = 90;

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_900_000_000 + second).unwrap()
}

fn request(parent: &str, depends_on: &[&str]) -> Request {
    Request {
        origin: Origin::Tool { parent: parent.to_owned() },
        thread: "main".to_owned(),
        objective: "look".to_owned(),
        depends_on: depends_on.iter().map(|id| (*id).to_owned()).collect(),
        ..Request::default()
    }
}

#[derive(Clone, Debug)]
struct Wanted {
    /// Numbers of sessions, also unknown ones and its own.
    on: Vec<u64>,
    previous: bool,
    wait_s: Option<i64>,
}

#[derive(Clone, Debug)]
enum Step {
    /// By a thought, or by the session of this number; several in one call.
    Spawn(Option<u64>, Vec<Wanted>),
    Wait(i64),
    Turn,
    Think(usize, usize),
    Acted(usize),
    Misread(usize),
    Answer(usize),
    Fail(usize),
    Cancel(u64),
    /// The life ends here and the next one reads the file.
    Kill,
    Report,
}

fn wanted() -> impl Strategy<Value = Wanted> {
    let on = prop::collection::vec(1_u64..40, 0..3);
    (on, any::<bool>(), prop::option::of(0_i64..2_000)).prop_map(|(on, previous, wait_s)| Wanted {
        on,
        previous,
        wait_s,
    })
}

fn step() -> impl Strategy<Value = Step> {
    let which = 0_usize..AT_ONCE;
    prop_oneof![
        3 => (prop::option::of(1_u64..40), prop::collection::vec(wanted(), 1..4)).prop_map(|(by, all)| Step::Spawn(by, all)),
        2 => prop_oneof![0_i64..400, Just(30_000), -5_000_i64..0].prop_map(Step::Wait),
        6 => Just(Step::Turn),
        4 => (which.clone(), 0_usize..3).prop_map(|(which, calls)| Step::Think(which, calls)),
        2 => which.clone().prop_map(Step::Acted),
        1 => which.clone().prop_map(Step::Misread),
        4 => which.clone().prop_map(Step::Answer),
        2 => which.prop_map(Step::Fail),
        1 => (1_u64..40).prop_map(Step::Cancel),
        2 => Just(Step::Kill),
        2 => Just(Step::Report),
    ]
}

struct Test {
    real: Sessions,
    model: Model,
    now: i64,
    thoughts: u64,
    told: BTreeSet<u64>,
}

fn number(id: &str) -> u64 {
    id.trim_start_matches("session-").parse().unwrap()
}

fn name(number: u64) -> String {
    format!("session-{number}")
}

impl Test {
    fn new() -> Self {
        Self {
            real: Sessions::default(),
            model: Model::default(),
            now: 0,
            thoughts: 0,
            told: BTreeSet::new(),
        }
    }

    fn pick(&self, which: usize) -> Option<u64> {
        self.model.running().get(which).copied()
    }

    fn spawn(&mut self, by: Option<u64>, all: &[Wanted]) {
        self.thoughts += 1;
        let parent = by.map_or(format!("thought-{}", self.thoughts / 2), name);
        let requests = all.iter().map(|wanted| Request {
            depends_on: wanted.on.iter().map(|on| name(*on)).collect(),
            depends_on_previous: Previous::All(wanted.previous),
            not_before: wanted.wait_s.map(|wait| at(self.now + wait)),
            ..request(&parent, &[])
        });
        let first = self.real.next + 1;
        let mut next = Model { items: self.model.items.clone() };
        let fits = next.items.values().filter(|item| !item.reported).count() + all.len() <= MOST_OPEN;
        let known: BTreeSet<u64> = self
            .real
            .all
            .iter()
            .map(|session| number(&session.id))
            .chain(first..first + all.len() as u64)
            .collect();
        for (id, wanted) in (first..).zip(all) {
            let mut on: BTreeSet<u64> = wanted.on.iter().copied().filter(|on| known.contains(on)).collect();
            if wanted.previous {
                let here = |known: &BTreeSet<u64>, id: &u64| known.contains(id);
                let kin = next.items.iter().filter(|(id, item)| here(&known, id) && item.family == parent);
                let kin: Vec<u64> = kin.map(|(id, _)| *id).collect();
                let others = next.items.iter().filter(|(id, item)| here(&known, id) && item.parent == by);
                let last = others.clone().map(|(id, _)| *id).max();
                let open: Vec<u64> =
                    others.filter(|(_, item)| !item.status.ended()).map(|(id, _)| *id).collect();
                match (kin.is_empty() && by.is_none(), open.is_empty()) {
                    (false, _) => on.extend(kin),
                    (true, false) => on.extend(open),
                    (true, true) => on.extend(last),
                }
            }
            let item = Item {
                parent: by,
                family: parent.clone(),
                on,
                not_before: wanted.wait_s.map(|wait| self.now + wait),
                status: Status::Waiting,
                hop: 0,
                began: 0,
                rounds: 0,
                cost: 0,
                misread: 0,
                calls: 0,
                cuts: 0,
                reported: false,
            };
            next.items.insert(id, item);
        }
        let ids = first..first + all.len() as u64;
        let circular = ids.clone().any(|id| next.circular(id, id, &mut BTreeSet::new()));
        let allowed = by.is_none_or(|by| {
            self.model.items.get(&by).is_some_and(|item| !item.status.ended() && item.parent.is_none())
        });
        let spawned = self.real.spawn_all(requests.collect(), at(self.now));
        assert_eq!(spawned.is_ok(), fits && allowed && !circular, "{spawned:?}");
        if spawned.is_ok() {
            next.settle();
            self.model = next;
        }
    }

    fn step(&mut self, step: &Step) {
        let now = at(self.now);
        match step {
            Step::Spawn(by, all) => self.spawn(*by, all),
            Step::Wait(wait) => self.now += wait,
            Step::Turn => {
                self.real.tick(now, MOST_COST);
                self.real.begin(now, AT_ONCE);
                self.model.turn(self.now);
            }
            Step::Think(which, calls) => {
                let Some(id) = self.pick(*which) else { return };
                self.real.thought(&name(id), vec!["call".to_owned(); *calls]);
                let item = self.model.items.get_mut(&id).unwrap();
                (item.rounds, item.misread, item.calls) = (item.rounds + 1, 0, *calls);
                self.real.paid(&name(id), COST);
                item.cost += COST;
            }
            Step::Acted(which) => {
                let Some(id) = self.pick(*which) else { return };
                self.real.acted(&name(id), true);
                let item = self.model.items.get_mut(&id).unwrap();
                item.calls = item.calls.saturating_sub(1);
            }
            Step::Misread(which) => {
                let Some(id) = self.pick(*which) else { return };
                self.real.misread(&name(id), "no JSON", now);
                let item = self.model.items.get_mut(&id).unwrap();
                (item.rounds, item.misread) = (item.rounds + 1, item.misread + 1);
                if item.misread == 3 {
                    item.status = Status::Failed;
                }
                self.model.settle();
            }
            Step::Answer(which) => {
                let Some(id) = self.pick(*which) else { return };
                assert_eq!(self.real.answered(&name(id), "found", now), [name(id)]);
                self.model.items.get_mut(&id).unwrap().status = Status::Done;
            }
            Step::Fail(which) => {
                let Some(id) = self.pick(*which) else { return };
                self.real.failed(&name(id), "broken", now);
                self.model.items.get_mut(&id).unwrap().status = Status::Failed;
                self.model.settle();
            }
            Step::Cancel(id) => self.cancel(*id),
            Step::Kill => self.kill(),
            Step::Report => self.report(),
        }
    }

    fn cancel(&mut self, id: u64) {
        let live = self.model.items.get(&id).is_some_and(|item| !item.status.ended());
        assert_eq!(self.real.cancel(&name(id), at(self.now)).is_ok(), live);
        if live {
            for (kin, item) in &mut self.model.items {
                if !item.status.ended() && (*kin == id || item.parent == Some(id)) {
                    item.status = Status::Cancelled;
                }
            }
            self.model.settle();
        }
    }

    fn kill(&mut self) {
        let text = serde_json::to_string(&self.real).unwrap();
        let read: Sessions = serde_json::from_str(&text).unwrap();
        assert_eq!(read, self.real);
        self.real = read;
        self.real.cut_off(at(self.now));
        for item in
            self.model.items.values_mut().filter(|item| item.status == Status::Running && item.calls > 0)
        {
            (item.calls, item.cuts) = (0, item.cuts + 1);
            if item.cuts == 2 {
                item.status = Status::Failed;
            }
        }
        self.model.settle();
    }

    fn report(&mut self) {
        let reports = self.real.reports(at(self.now));
        let told: BTreeSet<BTreeSet<u64>> =
            reports.iter().map(|report| report.ids.iter().map(|id| number(id)).collect()).collect();
        assert_eq!(told, self.model.reports(self.now));
        for id in reports.iter().flat_map(|report| &report.ids) {
            assert!(self.told.insert(number(id)), "{id} is told twice");
            self.model.items.get_mut(&number(id)).unwrap().reported = true;
        }
        reports.iter().flat_map(|report| &report.ids).for_each(|id| self.real.reported(id));
    }

    fn compare(&self) {
        let now = at(self.now);
        for (id, item) in &self.model.items {
            match self.real.get(&name(*id)) {
                Some(session) => {
                    assert_eq!(session.status, item.status, "{session:?}");
                    assert_eq!(session.reported, item.reported);
                    if item.status == Status::Running {
                        assert_eq!(
                            (session.hop, session.hop_rounds, session.acting.len()),
                            (item.hop, item.rounds, item.calls)
                        );
                    }
                }
                None => assert!(item.reported, "{id} is gone and was not told"),
            }
        }
        assert!(self.real.running().count() <= AT_ONCE);
        let live = self.real.all.iter().any(|session| !session.status.ended());
        match self.real.next_at(now) {
            None => assert!(!live, "something waits for ever"),
            Some(next) if next > now => {
                let mut idle = self.real.clone();
                let just_before = next.checked_sub(SignedDuration::from_secs(1)).unwrap();
                assert!(just_before < now || idle.begin(just_before, AT_ONCE).is_empty(), "polled");
                assert!(!idle.begin(next, AT_ONCE).is_empty(), "woken for nothing");
            }
            Some(_) => assert!(self.real.needs_work(now)),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_graph_is_what_the_model_says(steps in prop::collection::vec(step(), 1..120)) {
        let mut test = Test::new();
        for step in &steps {
            test.step(step);
            test.compare();
        }
        // Left alone in a life that has no call under way, all of it ends by its own time, and is told.
        test.step(&Step::Kill);
        for _ in 0..2_000 {
            let Some(next) = test.real.next_at(at(test.now)) else { break };
            test.now = test.now.max(next.as_second() - at(0).as_second()) + 100;
            test.step(&Step::Turn);
            test.step(&Step::Report);
            test.compare();
        }
        prop_assert!(test.real.all.iter().all(|session| session.status.ended() && session.reported));
        prop_assert_eq!(test.told.len(), test.model.items.len());
        prop_assert!(test.real.all.len() <= MOST_KEPT);
    }
}
