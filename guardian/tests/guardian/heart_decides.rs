//! What the heart decides, as data: steps that are held up, ends of stewards, the owner's word at any moment.

use heart::HOUSE_LOST;
use heart::course::{Course, Does, Gone, Heard, Keeper, NOTHING_TO_RUN, Phase};
use heart::held::{Follows, Held, Look, SPIN_MS, Sleep, follows};
use heart::wire::{Record, Said, Version};
use processes::prepare::Asked;
use walls::Choice;
use walls::spec::Ceilings;

#[test]
fn what_follows_from_a_step_that_is_held_up() {
    let held =
        |looks, asleep, leaves, again, asked| Held { looks, asleep, leaves, again, asked, ..Held::default() };
    // Nobody wants anything: only sleep in the kernel ends it, and only a long one.
    assert_eq!(follows(&held(49, 49, false, false, None)), Follows::Nothing);
    assert_eq!(follows(&held(50, 50, false, false, None)), Follows::Anew);
    assert_eq!(follows(&held(9_999, 0, false, false, None)), Follows::Nothing, "work, or a slow disk");
    // The owner wants to leave.
    assert_eq!(follows(&held(1, 1, true, false, None)), Follows::Nothing, "the loop has a moment");
    assert_eq!(follows(&held(2, 2, true, false, None)), Follows::Ask);
    assert_eq!(follows(&held(26, 26, true, false, Some(2))), Follows::Nothing, "what lives may end well");
    assert_eq!(follows(&held(27, 0, true, false, Some(2))), Follows::Leave, "a disk holds no owner");
    assert_eq!(follows(&held(3, 3, true, true, Some(2))), Follows::Leave, "said twice");
    // A steward that waits for events sleeps, and says so again within a minute.
    let waits = |asleep| Held { waits: true, looks: asleep, asleep, ..Held::default() };
    assert_eq!(follows(&waits(11)), Follows::Nothing);
    assert_eq!(follows(&waits(12)), Follows::Anew);
    // One that spins takes the processor's time; on a busy machine it takes none.
    let spins = |spun_ms| Held { looks: 9_999, spun_ms, ..Held::default() };
    assert_eq!(follows(&spins(SPIN_MS - 1)), Follows::Nothing);
    assert_eq!(follows(&spins(SPIN_MS)), Follows::Anew);
}

#[test]
fn a_look_counts_sleep_in_a_row_and_time_since_the_first() {
    let look = |sleep, taken_ms| Look { sleep, taken_ms, place: String::new() };
    let mut held = Held::default();
    for (nth, sleep) in [Sleep::Asleep, Sleep::Asleep, Sleep::Disk, Sleep::Asleep].into_iter().enumerate() {
        held = held.after(&look(sleep, 1_000 + 10 * nth as u64));
    }
    assert_eq!((held.looks, held.asleep, held.spun_ms), (4, 1, 30));
    held = held.after(&look(Sleep::Stopped, 1_030));
    assert_eq!((held.looks, held.asleep), (5, 0), "what is stopped does not sleep");
}

/// A heart with its clock; every event takes a millisecond.
struct World {
    course: Course,
    now: u64,
}

impl World {
    fn new() -> Self {
        let mut world = Self { course: Course::new(600_000), now: 0 };
        assert_eq!(world.happens(Heard::Tick), [Does::Start(Keeper::Steward, None)]);
        world
    }

    fn happens(&mut self, heard: Heard) -> Vec<Does> {
        self.now += 1;
        self.course.step(self.now, heard)
    }

    fn says(&mut self, said: Said) -> Vec<Does> {
        self.happens(Heard::Said(said))
    }

    fn is_ready(&mut self) {
        self.says(Said::Ready);
    }

    /// The keeper's process ends, and its tree with it.
    fn ends(&mut self, gone: Gone) -> Vec<Does> {
        let mut does = self.happens(Heard::Gone(gone));
        self.now = self.now.max(self.course.due().expect("what it left is ended"));
        assert!(self.course.kills(self.now), "what it left is not ended: {:?}", self.course.phase);
        does.extend(self.happens(Heard::Swept));
        does
    }

    fn dies(&mut self) -> Vec<Does> {
        self.ends(Gone::Killed("SIGKILL".into()))
    }

    fn waits_until_due(&mut self) -> Vec<Does> {
        self.now = self.now.max(self.course.due().expect("something is due"));
        self.happens(Heard::Tick)
    }

    fn left(&self) -> Option<u8> {
        if let Phase::Left(code) = self.course.phase { Some(code) } else { None }
    }
}

fn starts(does: &[Does]) -> Option<Keeper> {
    does.iter().find_map(|does| if let Does::Start(keeper, _) = does { Some(*keeper) } else { None })
}

/// The sentence that the status says from here on.
fn stands(does: &[Does]) -> Option<&str> {
    does.iter().find_map(|does| match does {
        Does::Tell { line, stands: true } => Some(line.as_str()),
        _ => None,
    })
}

#[test]
fn a_steward_that_dies_begins_again_after_a_growing_rest_and_is_told_why() {
    let mut world = World::new();
    world.is_ready();
    let mut rests = Vec::new();
    for _ in 0..8 {
        let before = world.now;
        assert_eq!(starts(&world.dies()), None, "no version is on record");
        let does = world.waits_until_due();
        rests.push((world.now - before) / 1_000);
        let [Does::Start(Keeper::Steward, Some(why))] = does.as_slice() else { panic!("{does:?}") };
        assert!(why.contains("SIGKILL"), "{why}");
    }
    assert_eq!(rests, [1, 2, 4, 8, 16, 30, 30, 30]);
    // One that is ready and lasts makes the next rest short again; one that only builds does not.
    for (is_ready, rest_s) in [(false, 30), (true, 1)] {
        if is_ready {
            world.is_ready();
        }
        world.now += 600_000;
        world.happens(Heard::Tick);
        let before = world.now;
        world.dies();
        world.waits_until_due();
        assert_eq!((world.now - before) / 1_000, rest_s);
    }
}

#[test]
fn a_refused_start_is_passed_on_and_a_later_end_is_not() {
    for code in [1, 100] {
        let mut world = World::new();
        world.ends(Gone::Exited(code));
        assert_eq!(world.left(), Some(code));
        let mut world = World::new();
        world.is_ready();
        world.ends(Gone::Exited(code));
        assert_eq!(world.left(), None, "a steward that was ready failed");
        world.waits_until_due();
        world.ends(Gone::Exited(code));
        assert_eq!(world.left(), None, "and so did the next, before it was ready");
    }
    for code in [0, HOUSE_LOST] {
        let mut world = World::new();
        world.is_ready();
        world.ends(Gone::Exited(code));
        assert_eq!(world.left(), Some(code));
    }
}

#[test]
fn the_third_end_within_ten_minutes_calls_for_a_stand_in_and_the_steward_is_tried_again() {
    let mut world = World::new();
    world.course.has_version = true;
    world.is_ready();
    for _ in 0..2 {
        assert_eq!(starts(&world.dies()), None);
        assert_eq!(starts(&world.waits_until_due()), Some(Keeper::Steward));
    }
    let mut spans = Vec::new();
    for _ in 0..5 {
        let before = world.now;
        assert_eq!(starts(&world.dies()), Some(Keeper::StandIn), "{:?}", world.course);
        assert_eq!(world.waits_until_due(), [Does::PassOn], "it is asked to end");
        spans.push((world.now - before) / 60_000);
        assert_eq!(starts(&world.ends(Gone::Exited(0))), Some(Keeper::Steward));
    }
    assert_eq!(spans, [10, 20, 40, 60, 60]);
}

#[test]
fn ends_that_lie_apart_call_for_no_stand_in() {
    let mut world = World::new();
    world.course.has_version = true;
    world.is_ready();
    for _ in 0..9 {
        assert_eq!(starts(&world.dies()), None);
        world.waits_until_due();
        world.now += 300_001;
    }
}

#[test]
fn a_stand_in_that_dies_rests_and_one_with_nothing_to_run_leaves_it_to_the_steward() {
    let begun = || {
        let mut world = World::new();
        world.course.has_version = true;
        for _ in 0..2 {
            world.dies();
            world.waits_until_due();
        }
        assert_eq!(starts(&world.dies()), Some(Keeper::StandIn));
        world
    };
    let mut world = begun();
    let does = world.dies();
    assert_eq!(starts(&does), None, "it rests");
    // Found: the status went on saying that it stood in.
    assert!(stands(&does).is_some_and(|line| line.contains("is gone")), "{does:?}");
    let does = world.waits_until_due();
    assert_eq!(starts(&does), Some(Keeper::StandIn));
    assert!(stands(&does).is_some_and(|line| line.contains("stands in")), "{does:?}");
    let mut world = begun();
    assert_eq!(starts(&world.ends(Gone::Exited(NOTHING_TO_RUN))), None);
    assert_eq!(starts(&world.waits_until_due()), Some(Keeper::Steward));
    assert_eq!(starts(&world.dies()), None, "there is no version to run");
}

#[test]
fn stop_stops_at_any_moment() {
    let stop = Heard::Leave { ordered: false };
    // While the steward runs: it is told, and its end is the end.
    let mut world = World::new();
    world.is_ready();
    assert_eq!(world.happens(stop.clone()), [Does::PassOn]);
    world.dies();
    assert_eq!(world.left(), Some(0));
    // It reads an order for itself, and must not hear the same thing twice.
    let mut world = World::new();
    world.is_ready();
    assert_eq!(world.happens(Heard::Leave { ordered: true }), []);
    // Found: one that is not ready yet passes over the order that lies there, and stop was lost.
    world.happens(Heard::Gone(Gone::Killed("SIGKILL".into())));
    let mut world = World::new();
    assert_eq!(world.happens(Heard::Leave { ordered: true }), [Does::PassOn]);
    // While its tree is being ended.
    let mut world = World::new();
    world.is_ready();
    world.happens(Heard::Gone(Gone::Killed("SIGSEGV".into())));
    world.happens(stop.clone());
    world.happens(Heard::Swept);
    assert_eq!(world.left(), Some(0));
    // While nothing runs.
    let mut world = World::new();
    world.dies();
    world.happens(stop.clone());
    assert_eq!(world.left(), Some(0));
    // While the tree does not end: a disk holds it.
    let mut world = World::new();
    world.happens(Heard::Gone(Gone::Killed("SIGKILL".into())));
    world.happens(stop.clone());
    world.now += 10_000;
    world.happens(Heard::Tick);
    assert_eq!(world.left(), None);
    world.now += 300;
    world.happens(Heard::Tick);
    assert_eq!(world.left(), Some(0));
    // While a stand-in runs: it reads no orders.
    let mut world = World::new();
    world.course.has_version = true;
    for _ in 0..2 {
        world.dies();
        world.waits_until_due();
    }
    assert_eq!(starts(&world.dies()), Some(Keeper::StandIn));
    assert_eq!(world.happens(Heard::Leave { ordered: true }), [Does::PassOn]);
    world.ends(Gone::Exited(0));
    assert_eq!(world.left(), Some(0));
}

#[test]
fn a_steward_that_is_asked_to_leave_and_stays_is_believed_once_it_must_have_heard() {
    let mut world = World::new();
    world.is_ready();
    world.happens(Heard::Leave { ordered: false });
    // This round may have begun before the word.
    world.says(Said::Round { leaves: false });
    assert!(world.course.held.leaves, "the owner is forgotten");
    // Later ones have heard it, and that the owner then said `resume`.
    world.now += 2_000;
    world.says(Said::Round { leaves: false });
    assert!(!world.course.held.leaves);
    assert_eq!(starts(&world.dies()), None);
    assert_eq!(world.left(), None);
}

#[test]
fn a_stopped_steward_is_waited_for_until_the_owner_wants_to_leave() {
    let stopped = || Heard::Looked(Look { sleep: Sleep::Stopped, taken_ms: 0, place: "here".into() });
    let mut world = World::new();
    world.is_ready();
    world.says(Said::Waits { leaves: false });
    for _ in 0..9_999 {
        assert_eq!(world.happens(stopped()), []);
    }
    world.happens(Heard::Leave { ordered: false });
    // Found: words from before it was stopped were read after the owner's, and he was forgotten.
    for _ in 0..3 {
        world.says(Said::Round { leaves: false });
        world.says(Said::Waits { leaves: false });
    }
    let does: Vec<_> = (0..40).flat_map(|_| world.happens(stopped())).collect();
    assert!(does.contains(&Does::Ask), "{does:?}");
    assert!(world.course.kills(world.now), "{:?}", world.course.phase);
    world.happens(Heard::Swept);
    assert_eq!(world.left(), Some(0));
}

/// Found: a stand-in's life had 12 s to end, whatever the owner had set.
#[test]
fn a_stand_in_has_the_owners_time_to_end() {
    let mut world = World::new();
    let hex = "ab".repeat(20);
    world.course.goes_by(&Record {
        walls: Asked {
            choice: Choice::On,
            more: vec![],
            ceilings: Ceilings { processes: 1, memory_mib: 1, open_files: 1, file_mib: 1 },
        },
        grace_ms: 60_000,
        parked_ms: 600_000,
        blessed: vec![Version { tree: hex.clone(), commit: hex.clone(), sha256: hex }],
    });
    world.is_ready();
    for _ in 0..2 {
        world.dies();
        world.waits_until_due();
    }
    assert_eq!(starts(&world.dies()), Some(Keeper::StandIn));
    assert_eq!(world.waits_until_due(), [Does::PassOn]);
    world.now += 59_000;
    assert!(!world.course.kills(world.now), "its time is not over");
    world.now += 5_000;
    assert!(world.course.kills(world.now));
}
