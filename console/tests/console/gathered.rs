//! Notices as data: gathered, so many an hour, the weightiest first, and none told twice.

use console::notices::state::{Notice, State, What};
use serde_json::json;
use trials::{House, SOUND};

const MINUTE: u64 = 60_000;
const HOUR: u64 = 60 * MINUTE;

fn notice(what: What, name: &str) -> Notice {
    let at = "2026-01-02T03:04:05.000Z".to_owned();
    Notice { at, what, name: name.into(), text: format!("{name} happened"), own: "own".into(), times: 1 }
}

#[test]
fn what_comes_within_seconds_goes_as_one_and_weightiest_first() {
    let mut state = State::default();
    assert_eq!(state.take(0, 5_000, 6), None, "nothing waits");
    state.add(notice(What::Death, "a death"), 1_000);
    state.add(notice(What::Budget, "a budget"), 3_000);
    assert_eq!(state.take(5_999, 5_000, 6), None, "gathered from the first on");
    state.add(notice(What::Ask, "an ask"), 5_999);
    let sending = state.take(6_000, 5_000, 6).unwrap();
    let json = sending.json("2026-01-02T03:04:06.000Z", "/house");
    assert_eq!(json["text"], "an ask happened\na death happened\na budget happened");
    assert_eq!((&json["what"], &json["house"]), (&json!("ask"), &json!("/house")));
    let kinds = json["notices"].as_array().unwrap().iter().map(|one| one["what"].clone());
    assert_eq!(kinds.collect::<Vec<_>>(), ["ask", "death", "budget"]);
    assert_eq!(state.take(60_000, 5_000, 6), None, "once");
    state.add(notice(What::Ask, "another"), 200_000);
    assert!(state.take(100_000, 5_000, 6).is_some(), "a clock that was set back does not silence it");
}

#[test]
fn so_many_an_hour_and_the_rest_with_the_next() {
    let mut state = State::default();
    let mut sendings = Vec::new();
    for minute in 0..65 {
        state.add(notice(What::Ask, &format!("ask {minute}")), minute * MINUTE);
        sendings.extend(state.take(minute * MINUTE, 0, 2).map(|sending| (minute, sending)));
    }
    let minutes: Vec<u64> = sendings.iter().map(|(minute, _)| *minute).collect();
    assert_eq!(minutes, [0, 1, 60, 61]);
    let third = &sendings[2].1;
    assert_eq!((third.notices.len(), third.left_out), (50, 9), "bounded, and what is beyond is counted");
    let text = third.text(|notice| &notice.text);
    assert!(text.starts_with("ask 2 happened\n") && text.ends_with("\nand 39 more"), "{text}");
    assert_eq!(third.json("", "")["notices"].as_array().unwrap().len(), 20);
}

#[test]
fn a_death_loop_makes_one_notice_an_hour_and_hides_no_ask() {
    let mut state = State::default();
    let mut sendings = Vec::new();
    for minute in 0..59 {
        let now = minute * MINUTE;
        let name = if minute < 30 { "crashed at a" } else { "crashed at b" };
        state.add(notice(What::Death, name), now);
        if minute == 40 {
            state.add(notice(What::Ask, "an ask"), now);
        }
        sendings.extend(
            state.take(now + 10_000, 5_000, 6).map(|sending| (minute, sending.text(|one| &one.text))),
        );
    }
    let together =
        "an ask happened\n29 times, last: crashed at a happened\n11 times, last: crashed at b happened";
    assert_eq!(sendings, [(0, "crashed at a happened".to_owned()), (40, together.to_owned())]);
    assert_eq!(state.take(40 * MINUTE + HOUR, 0, 6), None, "an hour after it was told");
    let last = state.take(41 * MINUTE + HOUR, 0, 6).unwrap();
    assert_eq!(last.text(|one| &one.text), "18 times, last: crashed at b happened");
}

#[test]
fn what_was_handed_over_or_failed_is_counted_and_never_told_again() {
    let house = House::new(SOUND);
    let place = house::House::new(&house.root);
    let mut state = State::default();
    state.add(notice(What::Ask, "an ask"), 0);
    state.add(notice(What::Death, "a death"), 0);
    state.take(0, 0, 6).unwrap();
    state.save(&place.notices()).unwrap();
    let mut state = State::load(&place.notices());
    assert_eq!((state.untold, state.handed_over, state.waiting.len()), (2, 0, 0), "killed meanwhile");
    state.add(notice(What::Ask, "another"), 0);
    let sending = state.take(1, 0, 6).unwrap();
    assert_eq!(sending.text(|one| &one.text), "another happened\n2 before could not be told");
    assert_eq!(state.ended(&sending, Some("it failed".into())), Some("it failed".into()));
    assert_eq!((state.untold, state.handed_over), (3, 0));
    state.add(notice(What::Ask, "a third"), 2);
    let sending = state.take(2, 0, 6).unwrap();
    assert_eq!(state.ended(&sending, Some("it failed".into())), None, "said once");
    state.add(notice(What::Ask, "a fourth"), 3);
    let sending = state.take(3, 0, 6).unwrap();
    assert_eq!((sending.untold, state.ended(&sending, None)), (4, None));
    assert_eq!((state.untold, state.failed.as_str()), (0, ""));
}
