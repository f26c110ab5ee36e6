//! Who is heard: the owner alone; a code pairs once; strangers are told once and counted; bots and groups are silent.

use channels::channel::{Chat, Heard, Person, Press, What, Word};
use channels::judge::{Verdict, judged};
use channels::pairing::{Code, Tried, Try, is_open, is_over, tried};
use channels::state::{Owner, State};
use serde_json::Value;

const NOW: u64 = 1_800_000_000_000;

fn chat(id: &str, is_private: bool) -> Chat {
    Chat { id: id.into(), thread: None, is_private }
}

fn heard(id: &str, from: &str, text: &str) -> Heard {
    let what = What::Word(Word { message: id.into(), text: text.into(), ..Word::default() });
    let from = Person { id: from.into(), name: from.into(), is_bot: false };
    Heard { id: id.into(), at_ms: NOW, chat: chat("100", true), from, what }
}

fn with_owner() -> State {
    let chat = chat("100", true);
    State {
        owner: Some(Owner { id: "7".into(), name: "Ann".into(), chat, since: String::new() }),
        ..State::default()
    }
}

fn code() -> Code {
    Code { code: "ABCDEFGH".into(), tries: 5, is_late: false }
}

fn judge(state: &mut State, code: Option<&Code>, heard: &Heard) -> Verdict {
    judged(state, &["-5".to_owned()], "me", code, heard, NOW)
}

#[test]
fn a_code_is_taken_in_any_case_and_in_groups_and_counts_once() {
    for said in ["ABCDEFGH", "abcd-efgh", " Abcd efgh ", "Hello,\nABCDEFGH\nAnn"] {
        let mut state = State::default();
        assert_eq!(judge(&mut state, Some(&code()), &heard("1", "9", said)), Verdict::Paired, "{said}");
        assert_eq!(
            judge(&mut state, Some(&code()), &heard("2", "8", said)),
            Verdict::Stranger { told: true },
            "used"
        );
    }
    for said in ["ABCDEFG", "ABCDEFGHI", "my code is ABCDEFGH", "AB CD EF GH", ""] {
        assert_eq!(tried(&mut Tried::default(), Some(&code()), said), Try::None, "{said}");
    }
    assert_eq!(
        judge(&mut State::default(), None, &heard("1", "9", "ABCDEFGH")),
        Verdict::Stranger { told: true }
    );
}

#[test]
fn a_code_has_five_tries_of_all_people_together_and_another_code_begins_anew() {
    let mut state = State::default();
    for (nth, left) in [4, 3, 2, 1, 0].into_iter().enumerate() {
        let who = nth.to_string();
        assert_eq!(judge(&mut state, Some(&code()), &heard(&who, &who, "ABCDEFGZ")), Verdict::Missed(left));
    }
    // Whoever has the right one is told why it does not count, and guessers are not.
    assert_eq!(judge(&mut state, Some(&code()), &heard("9", "9", "ABCDEFGH")), Verdict::Over);
    assert!(is_over(&state.pairing, &code()));
    assert_eq!(
        judge(&mut state, Some(&code()), &heard("11", "11", "ABCDEFGX")),
        Verdict::Stranger { told: true }
    );
    let late = Code { is_late: true, ..code() };
    assert_eq!(judge(&mut State::default(), Some(&late), &heard("1", "9", "abcd-efgh")), Verdict::Over);
    let other = Code { code: "QRSTUVWX".into(), tries: 5, is_late: false };
    assert_eq!(judge(&mut state, Some(&other), &heard("10", "9", "qrst-uvwx")), Verdict::Paired);
}

/// Found: strangers were let into a room as long as a code lay there, used or late.
#[test]
fn nobody_is_let_in_by_a_code_that_was_used_or_is_late() {
    let mut state = State::default();
    assert!(is_open(&state.pairing, &code()));
    assert!(!is_open(&state.pairing, &Code { is_late: true, ..code() }));
    assert_eq!(judge(&mut state, Some(&code()), &heard("1", "9", "ABCDEFGH")), Verdict::Paired);
    assert!(!is_open(&state.pairing, &code()));
}

#[test]
fn the_code_and_a_digest_of_few_letters_are_all_that_is_kept_of_it() {
    let mut state = State::default();
    judge(&mut state, Some(&code()), &heard("1", "9", "ABCDEFGZ"));
    assert!(!serde_json::to_string(&state).unwrap().contains("ABCDEFG"));
}

#[test]
fn strangers_are_told_once_and_counted_and_never_more_than_a_few_an_hour() {
    let mut state = with_owner();
    assert_eq!(judge(&mut state, None, &heard("1", "8", "hi")), Verdict::Stranger { told: true });
    assert_eq!(judge(&mut state, None, &heard("2", "8", "hi")), Verdict::Stranger { told: false });
    let told = (0..5_000).filter(|nth| {
        let who = format!("crowd-{nth}");
        judge(&mut state, None, &heard(&who, &who, "hi")) == Verdict::Stranger { told: true }
    });
    assert_eq!(told.count(), 19, "20 an hour with the first");
    assert_eq!(state.strangers, 5_002);
    assert!(state.refused.len() <= 500);
}

#[test]
fn the_owner_is_heard_once_and_by_id_alone() {
    let mut state = with_owner();
    let word = heard("1", "7", "hello");
    assert_eq!(judge(&mut state, None, &word), Verdict::Owner);
    state.hear("1");
    assert_eq!(judge(&mut state, None, &word), Verdict::Silent, "known");
    let mut named = heard("2", "8", "hello");
    named.from.name = "Ann".into();
    assert_eq!(judge(&mut state, None, &named), Verdict::Stranger { told: true });
    let mut nobody = heard("3", "", "hello");
    nobody.from.name = "Ann".into();
    assert_eq!(judge(&mut state, None, &nobody), Verdict::Silent);
}

#[test]
fn bots_itself_groups_that_nobody_named_and_presses_of_strangers_are_silent() {
    let mut state = with_owner();
    let mut bot = heard("1", "7", "hello");
    bot.from.is_bot = true;
    assert_eq!(judge(&mut state, None, &bot), Verdict::Silent);
    assert_eq!(judge(&mut state, Some(&code()), &heard("2", "me", "ABCDEFGH")), Verdict::Silent);
    let in_group = |id: &str, group: &str, from: &str, is_addressed: bool| {
        let mut said = heard(id, from, "ABCDEFGH");
        said.chat = chat(group, false);
        said.what = What::Word(Word { text: "ABCDEFGH".into(), is_addressed, ..Word::default() });
        said
    };
    assert_eq!(judge(&mut state, Some(&code()), &in_group("3", "-5", "7", true)), Verdict::Owner);
    assert_eq!(judge(&mut state, Some(&code()), &in_group("4", "-5", "7", false)), Verdict::Silent);
    assert_eq!(judge(&mut state, Some(&code()), &in_group("5", "-6", "7", true)), Verdict::Silent);
    assert_eq!(
        judge(&mut state, Some(&code()), &in_group("6", "-5", "8", true)),
        Verdict::Silent,
        "no code in a group"
    );
    let mut press = heard("7", "8", "");
    press.what = What::Press(Press { data: "x".into(), message: "m".into(), reply: Value::Null });
    assert_eq!(judge(&mut state, None, &press), Verdict::Silent);
}

#[test]
fn what_cannot_be_read_or_is_not_believed_is_told_to_the_owner_and_while_a_code_is_open() {
    let unread = |id: &str, from: &str| {
        let mut unread = heard(id, from, "");
        unread.what = What::Unread { why: "it is encrypted".into() };
        unread
    };
    let told = Verdict::Unread("it is encrypted".into());
    let mut state = with_owner();
    assert_eq!(judge(&mut state, None, &unread("1", "7")), told);
    assert_eq!(judge(&mut state, None, &unread("2", "8")), Verdict::Silent);
    assert_eq!(judge(&mut state, Some(&code()), &unread("3", "8")), told);
    assert_eq!((state.pairing.times, state.pairing.is_used), (0, false), "it is no try and pairs nobody");
    let crowd =
        (0..100).filter(|nth| judge(&mut state, Some(&code()), &unread(&format!("c{nth}"), "9")) == told);
    assert_eq!(crowd.count(), 19);
}
