//! An exhaustive walk over every state the policy can reach in a small world, holding its invariants in each.

use crate::replies::answers;
use foldhash::{HashMap, HashSet};
use guardian::decide::longevity::Lives;
use guardian::decide::policy::Policy;
use guardian::decide::vocabulary::{
    Action, Blame, Event, Exam, Examined, Pending, Phase, Record, Standing, Subject, Want, Watch,
};
use guardian::limits::Limits;
use house::clock::Millis;
use std::collections::VecDeque;
use std::sync::{Arc, LazyLock};

/// Where the walk stands in its own time; every state is told relative to it.
const NOW: Millis = 1_000;

static LIMITS: LazyLock<Limits> = LazyLock::new(|| Limits {
    build_ms: 2,
    boot_ms: 1,
    beat_ms: 2,
    standstill_ms: 3,
    probation_ms: 1,
    grace_ms: 1,
    rest_ms: 1,
    rest_longest_ms: 1,
    tries: 2,
    loop_deaths: 2,
    loop_window_ms: 1_000_000,
    parked_ms: 2,
    lives_unblessed: 2,
    ..Limits::default()
});

/// The policy and what really exists: a creature, a build, tests beside a creature.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct World {
    policy: Policy,
    child: bool,
    build: bool,
    exam: bool,
}

impl World {
    /// The same world, with its times told relative to `NOW` and the past that no longer matters cut off.
    fn at_now(mut self, now: Millis) -> Self {
        let back = |at: &mut Millis| *at = (*at + NOW).saturating_sub(now);
        let watch = |watch: &mut Watch| {
            back(&mut watch.since);
            back(&mut watch.beat_at);
            back(&mut watch.turned_at);
            watch.recorded = NOW;
            watch.since = watch.since.max(NOW - 2);
            watch.turned_at = watch.turned_at.max(NOW - 3);
            watch.beat_at = watch.beat_at.max(NOW - 2);
            // Only whether there was one counts; here it comes with the thought.
            watch.turns = watch.thought.into();
        };
        match &mut self.policy.phase {
            Phase::Building { since } | Phase::Booting { since } | Phase::Stopping { since, .. } => {
                back(since)
            }
            Phase::Probation { watch: it, bless_at, exam } => {
                watch(it);
                back(bless_at);
                *bless_at = (*bless_at).max(NOW - 1);
                match exam {
                    Exam::Runs { since: at } | Exam::Waits { until: at } => {
                        back(at);
                        *at = (*at).max(NOW - 2);
                    }
                    Exam::Over => {}
                }
            }
            Phase::Settled { watch: it } => watch(it),
            Phase::Resting { until } | Phase::Parked { until } => {
                back(until);
                *until = (*until).max(NOW);
            }
            Phase::RollingBack | Phase::Paused | Phase::Done => {}
        }
        self.policy.record.deaths.iter_mut().for_each(|at| *at = NOW);
        // State is set aside for the one tree each time, and for the other never again: so the world stays small.
        self.policy.record.set_aside.retain(|tree| tree == "b");
        self.policy.record.lives = Lives::default();
        self.policy.record.fell = None;
        self.policy.record.environment = self.policy.record.environment.min(3);
        // Of the 24 that have an end only the last two tell worlds apart.
        self.policy.record.unsure = self.policy.record.unsure.clamp(22, 23);
        self.policy.record.lives_unblessed = self.policy.record.lives_unblessed.min(LIMITS.lives_unblessed);
        self.policy.record.rest_ms = LIMITS.rest_ms;
        (self.policy.seen, self.policy.beside) = (NOW, None);
        if self.policy.phase == Phase::Done {
            self.policy.record = Record::default();
            self.policy.subject = None;
        }
        self
    }

    /// What may happen next to this world: with its owner away and the world failing it, or with its owner busy.
    fn events(&self, owner: bool) -> Vec<Event> {
        let mut events = vec![Event::Tick];
        if owner {
            events.extend([Event::OwnerStop, Event::OwnerPause, Event::OwnerResume, Event::OwnerRollback]);
        }
        if self.child {
            events.extend([Blame::Code, Blame::Disk].into_iter().flat_map(|blame| {
                [Event::Exited { blame, rebirth: false }, Event::Exited { blame, rebirth: true }]
            }));
            events.push(Event::Request);
            events.push(Event::Beat { turns: 1, thought: true });
            if !owner {
                events.push(Event::Beat { turns: 0, thought: false });
            }
        }
        if self.build {
            events.push(Event::BuildSucceeded);
            events.push(Event::BuildFailed(Blame::Code));
            if !owner {
                events.extend([Blame::Network, Blame::Owner].map(Event::BuildFailed));
            }
        }
        if self.exam {
            events.extend([Examined::Passed, Examined::Failed].map(Event::Examined));
            if !owner {
                events.extend(
                    [Blame::Owner, Blame::Disk].map(|blame| Event::Examined(Examined::Unsure(blame))),
                );
            }
        }
        events
    }
}

/// Every world an event can lead to, all answers of its actions taken.
fn after(world: &World, now: Millis, event: Event) -> Vec<World> {
    let mut done = Vec::new();
    let mut open = vec![(world.clone(), VecDeque::from([event]), VecDeque::<Action>::new())];
    while let Some((mut world, mut events, mut actions)) = open.pop() {
        if let Some(action) = actions.pop_front() {
            check_action(&world, now, &action);
            for answer in answers(&action) {
                let (mut world, mut events) = (world.clone(), events.clone());
                match &action {
                    Action::Spawn { .. } => world.child = answer.is_none(),
                    Action::Build => world.build = answer.is_none(),
                    Action::Examine => world.exam = answer.is_none(),
                    Action::StopExam if world.exam => {
                        world.exam = false;
                        events.push_back(Event::Examined(Examined::Failed));
                    }
                    Action::StopBuild if world.build => {
                        world.build = false;
                        events.push_back(Event::BuildFailed(Blame::Code));
                    }
                    _ => {}
                }
                events.extend(answer);
                open.push((world, events, actions.clone()));
            }
        } else if let Some(event) = events.pop_front() {
            match event {
                Event::Exited { .. } => world.child = false,
                Event::BuildSucceeded | Event::BuildFailed(_) => world.build = false,
                Event::Examined(_) => world.exam = false,
                _ => {}
            }
            let before = world.policy.phase.clone();
            actions.extend(world.policy.step(&LIMITS, now, event.clone()));
            // As the guardian does.
            world.exam &= world.policy.examines();
            check_step(&before, &world, &event);
            open.push((world, events, actions));
        } else {
            check_rest(&world);
            done.push(world.at_now(now));
        }
    }
    done
}

fn check_action(world: &World, now: Millis, action: &Action) {
    match action {
        Action::Spawn { .. } => {
            assert!(
                !world.child && !world.build,
                "one creature at most, and none beside its build: {world:?}"
            );
            assert!(world.policy.record.untidy, "from here on what is dirty is the creature's: {world:?}");
        }
        Action::Examine => {
            assert!(world.child && !world.exam, "tests of no life, or twice: {world:?}");
            assert!(unexamined(world), "nothing is owed: {world:?}");
        }
        Action::Build => assert!(!world.child && !world.build, "never two builds: {world:?}"),
        Action::Bless => match &world.policy.phase {
            Phase::Probation { watch, .. } => {
                assert!(watch.thought, "blessed without a thought: {world:?}");
                assert!(now >= watch.since + LIMITS.probation_ms, "blessed too soon: {world:?}");
                assert!(!unexamined(world), "blessed while its tests are owed: {world:?}");
                assert!(!world.exam, "blessed while its tests run: {world:?}");
                assert!(world.policy.record.safe.is_none(), "a safe life was blessed: {world:?}");
                let falls = matches!(world.policy.record.pending, Some(Pending::Fall(_)));
                assert!(!falls, "what only stands in was blessed: {world:?}");
            }
            other => panic!("blessed from {other:?}"),
        },
        Action::Rollback { cause, .. } => {
            assert!(!world.child && !world.build, "put back under a living creature: {world:?}");
            let pending = Some(Pending::Fall(*cause));
            assert_eq!(world.policy.record.pending, pending, "a rollback a killed guardian would forget");
        }
        Action::Leave => assert!(!world.child, "left with a creature alive: {world:?}"),
        Action::Survey { .. } | Action::Tidy | Action::Commit | Action::SetAside => {
            assert!(!world.child, "{action:?} in {world:?}")
        }
        _ => {}
    }
}

fn unexamined(world: &World) -> bool {
    world.policy.subject.as_ref().is_some_and(|subject| subject.unexamined)
}

fn check_step(before: &Phase, world: &World, event: &Event) {
    if matches!(world.policy.phase, Phase::Settled { .. }) && !matches!(before, Phase::Settled { .. }) {
        assert!(matches!(before, Phase::Probation { .. }), "settled from {before:?} by {event:?}");
    }
    if matches!(before, Phase::Done) {
        assert_eq!(world.policy.phase, Phase::Done, "left, and came back by {event:?}");
    }
}

/// With nothing more to answer, no world is stuck.
fn check_rest(world: &World) {
    let policy = &world.policy;
    match &policy.phase {
        Phase::Done => assert!(!world.child),
        Phase::Paused => assert_eq!(policy.record.want, Want::Pause),
        Phase::RollingBack => panic!("a rollback that nothing answers: {world:?}"),
        _ => assert!(policy.deadline(&LIMITS).is_some(), "waits for ever: {world:?}"),
    }
    let lives = policy.alive() || matches!(policy.phase, Phase::Stopping { .. });
    assert_eq!(lives, world.child, "the phase and the creature disagree: {world:?}");
    assert_eq!(matches!(policy.phase, Phase::Building { .. }), world.build, "{world:?}");
    assert_eq!(policy.examines(), world.exam, "tests that nobody runs, or that nobody waits for: {world:?}");
    if let Phase::Probation { exam, .. } = &policy.phase {
        let owes = unexamined(world) && policy.record.safe.is_none() && !policy.stands_in();
        assert_eq!(*exam != Exam::Over, owes, "owed and not asked for: {world:?}");
    }
}

/// With the owner away, and with the owner busy; each is walked once for all tests.
static AWAY: LazyLock<HashSet<Arc<World>>> = LazyLock::new(|| reachable(false));
static BUSY: LazyLock<HashSet<Arc<World>>> = LazyLock::new(|| reachable(true));

fn reachable(owner: bool) -> HashSet<Arc<World>> {
    let record = Record { set_aside: vec!["b".into()], ..Record::default() };
    let policy = Policy::new(record, NOW);
    let start = Arc::new(World { policy, child: false, build: false, exam: false });
    let mut seen: HashSet<Arc<World>> = [start.clone()].into_iter().collect();
    let mut open = VecDeque::from([start]);
    while let Some(world) = open.pop_front() {
        let deadline = world.policy.deadline(&LIMITS).unwrap_or(NOW);
        let times: HashSet<Millis> = [NOW, deadline.max(NOW)].into_iter().collect();
        for now in times {
            for event in world.events(owner) {
                for next in after(&world, now, event).into_iter().map(Arc::new) {
                    assert!(seen.len() < 900_000, "the small world is not small: {next:?}");
                    if seen.insert(next.clone()) {
                        open.push_back(next);
                    }
                }
            }
        }
    }
    seen
}

#[test]
fn every_state_reachable_with_the_owner_away_keeps_the_invariants_and_finds_back_to_a_life() {
    all_find_a_life(&AWAY);
}

#[test]
fn every_state_reachable_with_the_owner_busy_keeps_the_invariants_and_finds_back_to_a_life() {
    all_find_a_life(&BUSY);
}

fn all_find_a_life(worlds: &HashSet<Arc<World>>) {
    assert!(worlds.len() > 2_000, "the walk was cut short: {} states", worlds.len());
    println!("{} states", worlds.len());
    let mut known: HashMap<World, bool> = HashMap::default();
    for world in worlds.iter().filter(|world| world.policy.record.want == Want::Keep) {
        assert!(finds_a_life(world, &mut known), "no life comes of {world:?}");
    }
}

/// With an owner who wants it and a world that works, a life begins within a bounded number of steps.
fn finds_a_life(world: &World, known: &mut HashMap<World, bool>) -> bool {
    let mut world = world.clone();
    for _ in 0..200 {
        if world.child && world.policy.alive() {
            return true;
        }
        if world.policy.phase == Phase::Done || *known.get(&world).unwrap_or(&false) {
            return true;
        }
        let now = world.policy.deadline(&LIMITS).unwrap_or(NOW).max(NOW);
        let event = if world.build {
            Event::BuildSucceeded
        } else if world.child {
            Event::Exited { blame: Blame::Code, rebirth: false }
        } else {
            Event::Tick
        };
        // Of all that may come of it, the answers of a world that works: the last of each list but failure.
        let next = happily(&world, now, event);
        known.insert(world, true);
        world = next;
    }
    false
}

fn happily(world: &World, now: Millis, event: Event) -> World {
    let mut world = world.clone();
    let mut events = VecDeque::from([event]);
    while let Some(event) = events.pop_front() {
        match event {
            Event::Exited { .. } => world.child = false,
            Event::BuildSucceeded | Event::BuildFailed(_) => world.build = false,
            Event::Examined(_) => world.exam = false,
            _ => {}
        }
        for action in world.policy.step(&LIMITS, now, event) {
            match action {
                Action::Survey { .. } => events.push_back(Event::Surveyed(Subject {
                    tree: "a".into(),
                    standing: Standing::Bottom,
                    rungs: vec!["a".into()],
                    kept: true,
                    built: true,
                    unexamined: false,
                })),
                Action::Spawn { .. } => world.child = true,
                Action::Build => world.build = true,
                Action::Tidy => events.push_back(Event::Tidied),
                Action::SetAside => events.push_back(Event::StateSetAside),
                Action::Commit => events.push_back(Event::Committed),
                Action::Bless => events.push_back(Event::Blessed),
                Action::Rollback { .. } => events.push_back(Event::RollbackDone),
                Action::Examine => world.exam = true,
                Action::StopExam => events.push_back(Event::Examined(Examined::Failed)),
                _ => {}
            }
        }
        world.exam &= world.policy.examines();
    }
    world.at_now(now)
}

#[test]
fn every_event_has_an_answer_in_every_reachable_state() {
    let (tree, rungs) = ("b".into(), vec!["a".into()]);
    let subject =
        Subject { tree, standing: Standing::Unproven, rungs, kept: false, built: true, unexamined: true };
    let events = [
        Event::Tick,
        Event::Surveyed(subject),
        Event::OwnerEdits,
        Event::Failed,
        Event::BuildSucceeded,
        Event::BuildFailed(Blame::Code),
        Event::Beat { turns: 1, thought: true },
        Event::Exited { blame: Blame::Code, rebirth: true },
        Event::Examined(Examined::Passed),
        Event::Examined(Examined::Failed),
        Event::Examined(Examined::Unsure(Blame::Owner)),
        Event::Committed,
        Event::Tidied,
        Event::Blessed,
        Event::RollbackDone,
        Event::RollbackExhausted,
        Event::Interrupted,
        Event::Stuck(None),
        Event::Request,
        Event::OwnerStop,
        Event::OwnerRollback,
    ];
    for world in AWAY.iter().chain(BUSY.iter()) {
        for event in &events {
            for now in [0, NOW, NOW + 1_000_000] {
                let mut policy = world.policy.clone();
                let actions = policy.step(&LIMITS, now, event.clone());
                assert!(actions.len() <= 4, "{event:?} in {world:?} asks for {actions:?}");
            }
        }
    }
}
