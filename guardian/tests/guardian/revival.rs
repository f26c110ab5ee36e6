//! A daemon's comings and goings as data: told the time and what happened, it says what to do.

use guardian::decide::revival::{Act, Event, Pace, Presence, Revival};

fn running(now: u64) -> Revival {
    let mut revival = Revival::new(Pace::USUAL);
    assert_eq!(revival.step(now, Event::Found), Some(Act::Start));
    assert_eq!(revival.step(now, Event::Started), None);
    assert_eq!(revival.presence, Presence::Running { since: now });
    revival
}

#[test]
fn without_a_program_nothing_is_started() {
    let mut revival = Revival::new(Pace::USUAL);
    for event in [Event::Tick, Event::Reload, Event::Ended, Event::Started, Event::NotStarted] {
        assert_eq!((revival.step(5, event), &revival.presence), (None, &Presence::Without));
    }
    assert_eq!(revival.deadline(), None);
}

#[test]
fn rests_double_to_their_longest_and_begin_anew_once_it_has_lived() {
    let (mut revival, mut now, mut rests) = (running(0), 0, Vec::new());
    for _ in 0..10 {
        now += 10;
        assert_eq!(revival.step(now, Event::Ended), None);
        let at = revival.deadline().unwrap();
        assert_eq!(revival.step(at - 1, Event::Tick), None, "not before its time");
        assert_eq!(revival.step(at, Event::Tick), Some(Act::Start));
        rests.push(at - now);
        now = at;
        revival.step(now, Event::Started);
    }
    assert_eq!(
        rests,
        [200, 400, 800, 1_600, 3_200, 6_400, 12_800, 25_600, Pace::USUAL.longest_ms, Pace::USUAL.longest_ms]
    );
    now += Pace::USUAL.proven_ms;
    revival.step(now, Event::Ended);
    assert_eq!(revival.deadline(), Some(now + Pace::USUAL.shortest_ms));
}

#[test]
fn what_cannot_be_started_is_tried_again_after_a_rest() {
    let mut revival = Revival::new(Pace::USUAL);
    revival.step(0, Event::Found);
    revival.step(0, Event::NotStarted);
    assert_eq!(revival.presence, Presence::Due { at: Pace::USUAL.shortest_ms });
    assert_eq!(revival.step(Pace::USUAL.shortest_ms, Event::Tick), Some(Act::Start));
    revival.step(Pace::USUAL.shortest_ms, Event::NotStarted);
    assert_eq!(revival.presence, Presence::Due { at: 3 * Pace::USUAL.shortest_ms });
}

#[test]
fn a_reload_is_no_death() {
    let mut revival = running(0);
    assert_eq!(revival.step(10, Event::Reload), Some(Act::Terminate));
    assert_eq!(revival.step(11, Event::Reload), None, "it ends already");
    assert!(revival.running());
    assert_eq!(revival.step(20, Event::Ended), Some(Act::Start));
    revival.step(20, Event::Started);
    revival.step(30, Event::Ended);
    assert_eq!(revival.deadline(), Some(30 + Pace::USUAL.shortest_ms), "the rests have not grown for it");
    assert_eq!(revival.step(31, Event::Reload), Some(Act::Start), "and a change cuts one short");
}

#[test]
fn what_will_not_end_is_killed() {
    let mut revival = running(0);
    revival.step(10, Event::Reload);
    assert_eq!(revival.step(10 + Pace::USUAL.grace_ms - 1, Event::Tick), None);
    assert_eq!(revival.step(10 + Pace::USUAL.grace_ms, Event::Tick), Some(Act::Kill));
    assert_eq!(revival.deadline(), Some(10 + 2 * Pace::USUAL.grace_ms), "and once more, should it be needed");
    assert_eq!(revival.step(10 + Pace::USUAL.grace_ms, Event::Ended), Some(Act::Start));
}

#[test]
fn what_is_wanted_no_more_is_ended_and_comes_back_when_it_is() {
    let mut revival = running(0);
    assert_eq!(revival.step(10, Event::Dropped), Some(Act::Terminate));
    assert_eq!(revival.step(10 + Pace::USUAL.grace_ms, Event::Tick), Some(Act::Kill));
    assert_eq!((revival.step(11, Event::Ended), &revival.presence), (None, &Presence::Without));
    let mut revival = running(0);
    revival.step(10, Event::Dropped);
    assert_eq!(revival.step(11, Event::Reload), None, "wanted again before it has ended");
    assert_eq!(revival.step(12, Event::Ended), Some(Act::Start));
    revival.step(12, Event::NotStarted);
    revival.step(13, Event::Dropped);
    assert_eq!(revival.deadline(), None);
}

#[test]
fn what_has_something_to_do_now_and_then_rests_as_long_each_time() {
    let pace = Pace { first_ms: 50, shortest_ms: 900, longest_ms: 900, ..Pace::USUAL };
    let mut revival = Revival::new(pace);
    assert_eq!(revival.step(0, Event::Found), None);
    assert_eq!(revival.step(49, Event::Tick), None);
    for now in [50, 1_050, 2_050] {
        assert_eq!(revival.step(now, Event::Tick), Some(Act::Start), "{now}");
        revival.step(now, Event::Started);
        revival.step(now + 100, Event::Ended);
        assert_eq!(revival.deadline(), Some(now + 1_000));
    }
    // Other settings hold from the next rest on.
    revival.pace = Pace { shortest_ms: 10, longest_ms: 10, ..pace };
    revival.step(3_050, Event::Tick);
    revival.step(3_050, Event::Started);
    revival.step(3_060, Event::Ended);
    assert_eq!(revival.deadline(), Some(3_070));
}

/// Every event in every order, a few deep: one process at most, and always a way on.
#[test]
fn there_is_never_more_than_one() {
    let events = [Event::Tick, Event::Found, Event::Reload, Event::Dropped, Event::Ended];
    let mut worlds = vec![(Revival::new(Pace::USUAL), false, 0_u64)];
    for _ in 0..6 {
        let mut next = Vec::new();
        for (revival, alive, now) in &worlds {
            for event in events {
                // Only what lives can end.
                if event == Event::Ended && !alive {
                    continue;
                }
                let (mut revival, mut alive, now) = (revival.clone(), *alive, now + 1_000);
                alive &= event != Event::Ended;
                if revival.step(now, event) == Some(Act::Start) {
                    assert!(!alive, "a second one: {revival:?} at {event:?}");
                    for outcome in [Event::Started, Event::NotStarted] {
                        let mut revival = revival.clone();
                        revival.step(now, outcome);
                        next.push((revival, outcome == Event::Started, now));
                    }
                    continue;
                }
                assert_eq!(revival.running(), alive, "{revival:?}");
                next.push((revival, alive, now));
            }
        }
        worlds = next;
    }
}
