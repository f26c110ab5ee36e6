//! A build beside a life: it has no phase that would end it, so the policy remembers since when it may be at work.

use guardian::decide::policy::Policy;
use guardian::decide::vocabulary::{Action, Event, Record, Standing, Subject};
use guardian::limits::Limits;

/// A life of a kept binary that has just beaten for the first time, with its source built beside it.
fn alive(limits: &Limits) -> Policy {
    let mut policy = Policy::new(Record::default(), 0);
    policy.step(limits, 0, Event::Tick);
    let (tree, rungs) = ("b".to_owned(), vec!["a".to_owned(), "b".to_owned()]);
    let standing = Standing::Blessed;
    let subject = Subject { tree, standing, rungs, kept: true, built: false, unexamined: false };
    let spawned = policy.step(limits, 0, Event::Surveyed(subject));
    assert!(matches!(spawned.as_slice(), [Action::Spawn { kept: true, .. }]), "{spawned:?}");
    let actions = policy.step(limits, 0, Event::Beat { turns: 0, thought: false });
    assert_eq!(actions, [Action::BuildBeside]);
    policy
}

/// Beats, so that nothing but the build is late; what is to be done then.
fn later(policy: &mut Policy, limits: &Limits, from: u64, to: u64) -> Vec<Action> {
    let step = limits.beat_ms / 2;
    let mut actions = Vec::new();
    for now in (from..=to).step_by(step as usize) {
        actions.extend(policy.step(limits, now, Event::Beat { turns: now, thought: false }));
        actions.extend(policy.step(limits, now, Event::Tick));
    }
    actions
}

#[test]
fn a_build_beside_that_overstays_is_ended_once() {
    let limits = Limits::default();
    let mut policy = alive(&limits);
    assert_eq!(later(&mut policy, &limits, 1, limits.build_ms - 1), []);
    let actions = later(&mut policy, &limits, limits.build_ms - 1, limits.build_ms * 3);
    assert_eq!(actions, [Action::StopBuild]);
}

#[test]
fn a_build_that_takes_its_place_has_time_of_its_own() {
    let limits = Limits::default();
    let mut policy = alive(&limits);
    let end = Event::Exited { blame: guardian::decide::vocabulary::Blame::Code, rebirth: true };
    policy.step(&limits, limits.build_ms - 10, end);
    policy.step(&limits, limits.build_ms - 10, Event::Committed);
    let now = limits.build_ms - 10 + limits.rest_longest_ms;
    policy.step(&limits, now, Event::Tick);
    let (tree, standing) = ("c".to_owned(), Standing::Unproven);
    let subject =
        Subject { tree, standing, rungs: vec!["a".into()], kept: false, built: false, unexamined: false };
    assert_eq!(policy.step(&limits, now, Event::Surveyed(subject)), [Action::Build]);
    assert_eq!(policy.step(&limits, now + 1, Event::Tick), [], "it has only just begun");
}
