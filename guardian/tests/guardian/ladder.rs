//! An exhaustive walk over a small house with a ladder of three trees, whatever dies in whatever order.
//!
//! A life is found again, nothing falls but onto what lived longer, and nothing turns in circles.

use foldhash::{HashMap, HashSet};
use guardian::decide::policy::Policy;
use guardian::decide::vocabulary::{Action, Blame, Cause, Event, Phase, Record, Standing, Subject, Watch};
use guardian::limits::Limits;
use house::clock::Millis;
use std::collections::{BTreeSet, VecDeque};
use std::rc::Rc;
use std::sync::LazyLock;

const NOW: Millis = 100_000;
/// A life goes on for so long at a time; whatever it lived before it dies in less counts as nothing here.
const WHILE: Millis = 4_000;
/// What stands for all that was lived: long enough to prove that what dies at once is worse.
const LONG: Millis = 2_000_000;
/// Turns of a day, and days in which all that is wrong must have come to its end.
const TURNS: usize = 50;
const DAYS: usize = 4;
/// How often a house may have been put back in them.
const MOST_FALLS: usize = 6;
/// Each becomes the next one.
const TREES: [&str; 3] = ["a", "b", "c"];

static LIMITS: LazyLock<Limits> = LazyLock::new(|| Limits {
    build_ms: 10,
    boot_ms: 10,
    beat_ms: 1 << 40,
    standstill_ms: 1 << 40,
    probation_ms: 1,
    grace_ms: 1,
    rest_ms: 1,
    rest_longest_ms: 1,
    tries: 2,
    loop_deaths: 2,
    loop_window_ms: 1_000,
    spell_ms: 1_000,
    parked_ms: 2,
    lives_unblessed: 1_000,
    ..Limits::default()
});

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct House {
    policy: Policy,
    head: &'static str,
    ladder: Vec<&'static str>,
    fallen: BTreeSet<&'static str>,
    /// How many of the trees there are by now.
    trees: usize,
    child: bool,
    safe: bool,
}

/// What may happen to a house. Rollbacks may fail in all of it.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Turn {
    Due,
    Beat,
    LivesOn,
    DayPasses,
    Dies(Blame),
    BecomesNext,
    GuardianKilled,
}

impl House {
    fn new() -> Self {
        let policy = Policy::new(Record::default(), NOW);
        let (ladder, fallen) = (vec!["a"], BTreeSet::new());
        Self { policy, head: "a", ladder, fallen, trees: 1, child: false, safe: false }
    }

    fn turns(&self) -> Vec<Turn> {
        let mut turns = vec![Turn::Due, Turn::DayPasses, Turn::GuardianKilled];
        if self.child {
            turns.extend([Turn::Beat, Turn::LivesOn, Turn::Dies(Blame::Code), Turn::Dies(Blame::Owner)]);
        }
        if matches!(self.policy.phase, Phase::Settled { .. }) && !self.safe && self.trees < TREES.len() {
            turns.push(Turn::BecomesNext);
        }
        turns
    }

    /// The house after that, with its times told relative to `NOW`; two where a rollback may have failed.
    fn after(&self, turn: Turn) -> Vec<Self> {
        let (house, was_put_back) = self.with(turn, false);
        let failed = was_put_back.then(|| self.with(turn, true).0);
        std::iter::once(house).chain(failed).collect()
    }

    /// The house after that, and whether a rollback was tried.
    fn with(&self, turn: Turn, fails: bool) -> (Self, bool) {
        let mut house = self.clone();
        let mut now = NOW;
        let event = match turn {
            Turn::Due => {
                now = house.policy.deadline(&LIMITS).unwrap_or(NOW).clamp(NOW, NOW + 10);
                if matches!(house.policy.phase, Phase::Building { .. }) {
                    Event::BuildSucceeded
                } else {
                    Event::Tick
                }
            }
            Turn::Beat => Event::Beat { turns: 1, thought: true },
            Turn::LivesOn => {
                now += WHILE;
                Event::Beat { turns: 1, thought: true }
            }
            Turn::DayPasses => {
                house.policy.record.world_until = 0;
                Event::Tick
            }
            Turn::Dies(blame) => {
                house.child = false;
                Event::Exited { blame, rebirth: false }
            }
            Turn::BecomesNext => {
                house.child = false;
                house.head = TREES[house.trees];
                house.trees += 1;
                Event::Exited { blame: Blame::Code, rebirth: true }
            }
            Turn::GuardianKilled => {
                house.child = false;
                house.policy = Policy::new(house.policy.record.clone(), NOW);
                Event::Tick
            }
        };
        let was_put_back = house.happen(now, event, fails);
        (house.at_now(now), was_put_back)
    }

    /// Whether a rollback was tried.
    fn happen(&mut self, now: Millis, event: Event, fails: bool) -> bool {
        let mut is_put_back = false;
        let mut events = VecDeque::from([event]);
        while let Some(event) = events.pop_front() {
            for action in self.policy.step(&LIMITS, now, event) {
                is_put_back |= matches!(action, Action::Rollback { .. });
                events.extend(self.perform(action, fails));
            }
        }
        is_put_back
    }

    fn perform(&mut self, action: Action, fails: bool) -> Option<Event> {
        match action {
            Action::Survey { .. } => Some(Event::Surveyed(self.subject())),
            Action::Spawn { safe, .. } => {
                assert!(!self.child, "two creatures: {self:?}");
                (self.child, self.safe) = (true, safe);
                None
            }
            Action::Terminate | Action::KillTree => {
                self.child = false;
                Some(Event::Exited { blame: Blame::Code, rebirth: false })
            }
            Action::Tidy => Some(Event::Tidied),
            Action::SetAside => Some(Event::StateSetAside),
            Action::Commit => Some(Event::Committed),
            Action::Bless => {
                self.bless(self.head);
                Some(Event::Blessed)
            }
            Action::Rollback { .. } if fails => Some(Event::Failed),
            Action::Rollback { cause, to_bottom } => Some(self.roll_back(cause, to_bottom)),
            Action::Build | Action::BuildBeside | Action::StopBuild => None,
            Action::Bury { .. } | Action::Answer | Action::Leave | Action::TellBroken { .. } => None,
            // Its trees owe none.
            Action::Examine | Action::StopExam => panic!("{action:?} in {self:?}"),
        }
    }

    fn subject(&self) -> Subject {
        let standing = match self.ladder.iter().position(|tree| *tree == self.head) {
            Some(0) => Standing::Bottom,
            _ if self.fallen.contains(self.head) => Standing::Fallen,
            Some(_) => Standing::Blessed,
            None => Standing::Unproven,
        };
        let rungs = self.ladder.iter().map(|tree| (*tree).to_owned()).collect();
        Subject { tree: self.head.into(), standing, rungs, kept: true, built: true, unexamined: false }
    }

    fn bless(&mut self, tree: &'static str) {
        self.ladder.retain(|other| *other != tree || *other == "a");
        if self.ladder.last() != Some(&tree) {
            self.ladder.push(tree);
        }
    }

    fn roll_back(&mut self, cause: Cause, to_bottom: bool) -> Event {
        let fell: Vec<&'static str> = self.fell().collect();
        let mut others = self.ladder.iter().copied().filter(|tree| *tree != self.head);
        let target = match cause {
            Cause::LateDeaths => {
                let lived = self.policy.lived_before(&LIMITS);
                lived.iter().find_map(|tree| others.clone().find(|other| other == tree))
            }
            Cause::Acquitted => fell.first().copied().filter(|tree| self.fallen.contains(tree)),
            _ if to_bottom => others.next(),
            _ => others.next_back(),
        };
        let Some(target) = target else { return Event::RollbackExhausted };
        match cause {
            Cause::LateDeaths => {
                let lived = self.policy.record.lives.of(target);
                assert!(lived.weighed_ms > 0, "left for what has not lived: {self:?}");
            }
            Cause::Acquitted | Cause::CrashLoop | Cause::TriesSpent => {}
            other => panic!("{other:?} in {self:?}"),
        }
        if cause.condemns() {
            self.fallen.insert(self.head);
            self.ladder.retain(|tree| *tree != self.head || *tree == "a");
        }
        if cause == Cause::LateDeaths {
            let at = self.ladder.iter().position(|tree| *tree == target).unwrap();
            self.ladder.truncate(at + 1);
        } else if cause == Cause::Acquitted {
            self.fallen.retain(|tree| !fell.contains(tree));
            self.bless(target);
        }
        self.head = target;
        Event::RollbackDone
    }

    fn fell(&self) -> impl Iterator<Item = &'static str> {
        let fell =
            self.policy.record.fell.iter().flat_map(|fell| [&fell.first].into_iter().chain(&fell.others));
        fell.map(|tree| TREES.into_iter().find(|one| one == tree).unwrap())
    }

    fn at_now(mut self, now: Millis) -> Self {
        let back = |at: &mut Millis, oldest: Millis| *at = (*at + NOW).saturating_sub(now).max(NOW - oldest);
        let steady = |watch: &mut Watch| {
            back(&mut watch.since, LIMITS.parked_ms);
            (watch.beat_at, watch.turned_at, watch.recorded, watch.turns) = (NOW, NOW, NOW, 0);
        };
        match &mut self.policy.phase {
            Phase::Building { since } | Phase::Booting { since } | Phase::Stopping { since, .. } => {
                *since = NOW
            }
            Phase::Probation { watch, bless_at, .. } => {
                steady(watch);
                back(bless_at, 0);
            }
            Phase::Settled { watch } => steady(watch),
            Phase::Resting { until } | Phase::Parked { until } => back(until, 0),
            Phase::RollingBack | Phase::Paused | Phase::Done => {}
        }
        let record = &mut self.policy.record;
        record.deaths.retain(|at| at + WHILE > now);
        record.deaths.iter_mut().for_each(|at| *at = NOW);
        (record.rest_ms, record.lives_unblessed, self.policy.seen) = (1, 0, NOW);
        record.world_until = if record.world_until > now { NOW + 2 * WHILE } else { 0 };
        record.fell.iter_mut().for_each(|fell| fell.at = NOW);
        for lived in &mut record.lives.0 {
            let long = if lived.lived_ms >= WHILE { LONG } else { 0 };
            let deaths = lived.counted.min(2);
            (lived.lived_ms, lived.weighed_ms, lived.deaths, lived.counted) = (long, long, deaths, deaths);
            lived.counted_at = 0;
        }
        self
    }

    fn check(&self) {
        assert_eq!(self.ladder[0], "a", "{self:?}");
        assert!(self.policy.record.lives.0.len() <= TREES.len() + 1, "{self:?}");
        assert_eq!(
            self.child,
            self.policy.alive() || matches!(self.policy.phase, Phase::Stopping { .. }),
            "{self:?}"
        );
    }

    /// Goes on with trees that behave as told: how often it was put back, and whether anything came to live.
    fn go_on(&self, lives: &impl Fn(&Self) -> bool, known: &mut HashMap<Self, Day>) -> (usize, bool) {
        let mut house = self.clone();
        let (mut falls, mut lived) = (0, false);
        for _ in 0..DAYS {
            let day = known.entry(house).or_insert_with_key(|house| house.day(lives)).clone();
            (house, falls, lived) = (day.end, falls + day.falls, lived | day.lived);
        }
        (falls, lived)
    }

    fn day(&self, lives: &impl Fn(&Self) -> bool) -> Day {
        let (end, _) = self.with(Turn::DayPasses, false);
        let mut day = Day { end, falls: 0, lived: false };
        for _ in 0..TURNS {
            let house = &day.end;
            let turn = match house.child {
                true if !lives(house) => Turn::Dies(Blame::Code),
                true if matches!(house.policy.phase, Phase::Booting { .. }) => Turn::Beat,
                _ => Turn::Due,
            };
            let (next, _) = house.with(turn, false);
            day.falls += usize::from(next.head != house.head);
            day.lived |= lives(&next) && matches!(next.policy.phase, Phase::Settled { .. });
            if next == *house {
                break; // The rest of the day it stays as it is.
            }
            day.end = next;
        }
        day
    }
}

/// What a day brought to a house: the same wherever it comes from.
#[derive(Clone)]
struct Day {
    end: House,
    falls: usize,
    lived: bool,
}

#[test]
fn whatever_dies_a_life_is_found_again_and_nothing_turns_in_circles() {
    let mut seen: HashSet<Rc<House>> = [Rc::new(House::new())].into_iter().collect();
    let mut open = VecDeque::from_iter(seen.iter().cloned());
    let mut causes = BTreeSet::new();
    while let Some(house) = open.pop_front() {
        for next in house.turns().into_iter().flat_map(|turn| house.after(turn)).map(Rc::new) {
            assert!(seen.len() < 400_000, "the small house is not small: {next:?}");
            if seen.insert(next.clone()) {
                next.check();
                causes.insert(format!("{:?}", next.policy.record.pending));
                open.push_back(next);
            }
        }
    }
    println!("{} states; {causes:?}", seen.len());
    // Whatever it is at, a guardian that is killed goes on from a rest.
    let resting = seen.iter().filter(|house| matches!(house.policy.phase, Phase::Resting { .. }));
    let all_go_on = |where_: &str, most: usize, must_live: bool, lives: &dyn Fn(&House) -> bool| {
        let mut known = HashMap::default();
        for house in resting.clone() {
            let (falls, lived) = house.go_on(&lives, &mut known);
            assert!(falls <= most && (lived || !must_live), "{falls} falls where {where_}, from {house:?}");
        }
    };
    all_go_on("all die at once", MOST_FALLS, false, &|_| false);
    all_go_on("all die once settled", MOST_FALLS, false, &|house| {
        !matches!(house.policy.phase, Phase::Settled { .. })
    });
    for tree in TREES {
        let lives = |house: &House| house.head == tree || house.safe;
        all_go_on(&format!("only {tree} and safe mode live"), MOST_FALLS, true, &lives);
    }
    all_go_on("all live", 1, true, &|_| true);
}

#[test]
fn what_condemns_is_only_what_the_code_did() {
    for cause in [Cause::KnownBad, Cause::Environment, Cause::Owner, Cause::Acquitted] {
        assert!(!cause.condemns());
    }
    let lived = [Cause::TriesSpent, Cause::CrashLoop, Cause::LateDeaths, Cause::LoopOfLoops];
    for cause in lived.into_iter().chain([Cause::DoesNotBuild, Cause::TestsFailed]) {
        assert!(cause.condemns());
    }
}
