//! What a life leaves in files and ledger, folded into observations: what harms is seen, and what only looks like harm is not.

use guardian::decide::conduct::Invariant::{
    self, Answered, Done, Heard, Once, Prompt, Reminded, Rests, Results,
};
use guardian::decide::witness::{Claimed, Longest, Witness};
use serde_json::{Value, json};

pub fn record(kind: &str, data: Value) -> Value {
    json!({"at": "2026-01-01T00:00:00.000Z", "life": 7, "kind": kind, "data": data})
}

fn message(from: &str, kind: &str, thread: &str, text: &str) -> Value {
    record("message", json!({"from": from, "kind": kind, "thread": thread, "text": text}))
}

pub const AWAKE: Claimed = Claimed { rests: false, acts: false, is_away: false, turns: 1, rest_ms: 0 };
pub const RESTS: Claimed = Claimed { rests: true, turns: 5, rest_ms: 60_000, ..AWAKE };
pub const LONGEST: Longest = Longest { usual_ms: 1_800_000, any_ms: 3_600_000 };

/// A witness of a turn with these words and records, with nothing taken yet.
pub fn witnessed(said: &[&str], records: &[Value]) -> Witness {
    let mut witness = Witness::of(7, false);
    said.iter().for_each(|line| witness.said(line.as_bytes(), 0));
    records.iter().for_each(|record| witness.recorded(record, AWAKE, 1_000));
    witness
}

/// Observations of a turn with these records, and the rest after it.
fn turn(said: &[&str], records: &[Value], rest: Claimed) -> Vec<(Invariant, bool)> {
    let mut witness = witnessed(said, records);
    [2_000, 3_000, 60_000].into_iter().for_each(|now| witness.looked(rest, LONGEST, now));
    judged(&mut witness, &[Results, Heard, Answered])
}

/// What was observed of these invariants.
pub fn judged(witness: &mut Witness, of: &[Invariant]) -> Vec<(Invariant, bool)> {
    witness.take().into_iter().filter(|(invariant, _)| of.contains(invariant)).collect()
}

pub fn thought(calls: usize, usage: Value) -> Value {
    let calls: Vec<Value> = (0..calls).map(|_| json!({"tool": "notes.append", "args": {}})).collect();
    record("thought", json!({"mind": "m", "thought": 4, "tool_calls": calls, "usage": usage}))
}

fn action() -> Value {
    record("action", json!({"thought": 4, "tool": "notes.append", "result": {"ok": true}}))
}

#[test]
fn each_call_has_its_result_and_an_answer_is_one() {
    let none = Value::Null;
    assert_eq!(turn(&[], &[thought(2, none.clone()), action(), action()], RESTS), [(Results, true)]);
    assert_eq!(turn(&[], &[thought(2, none.clone()), action()], RESTS), [(Results, false)]);
    assert_eq!(turn(&[], &[thought(0, none.clone())], RESTS), []);
    let words = [message("owner", "", "main", "hello"), thought(2, none.clone()), action()];
    let answered = [words.as_slice(), &[message("creature", "answer", "main", "hi")]].concat();
    assert_eq!(turn(&["hello"], &answered, RESTS), [(Heard, true), (Answered, true), (Results, true)]);
    // Another life's records say nothing of this one.
    let mut other = thought(2, none);
    other["life"] = 6.into();
    assert_eq!(turn(&[], &[other], RESTS), []);
}

#[test]
fn a_result_too_long_for_a_line_has_no_number_and_is_a_result() {
    let cut = record("action", json!({"truncated": true, "bytes": 5_000_000, "head": "{"}));
    assert_eq!(turn(&[], &[thought(1, Value::Null), cut], RESTS), [(Results, true)]);
}

#[test]
fn a_word_is_heard_and_has_an_answer_that_says_something() {
    let heard = message("owner", "", "work", "what is it?");
    let line = r#"{"text": "what is it?", "thread": "work"}"#;
    let answer = |thread: &str, text: &str| message("creature", "answer", thread, text);
    let with = |said: Value| turn(&[line], &[heard.clone(), said], RESTS);
    assert_eq!(with(answer("work", "a heron")), [(Heard, true), (Answered, true)]);
    for empty in [" \n", ".", "…".trim_matches('…')] {
        assert_eq!(with(answer("work", empty)), [(Heard, true), (Answered, false)], "{empty:?}");
    }
    assert_eq!(with(answer("work", "\u{1f44d}")), [(Heard, true), (Answered, true)], "a sign is an answer");
    assert_eq!(with(answer("main", "a heron")), [(Heard, true), (Answered, false)], "on another thread");
    assert_eq!(turn(&[line], std::slice::from_ref(&heard), RESTS), [(Heard, true), (Answered, false)]);
    assert_eq!(turn(&[line], &[], RESTS), [(Heard, false)]);
    // A mind that is away says so, and nothing is observed.
    assert_eq!(with(message("creature", "waiting", "work", "the model is down")), [(Heard, true)]);
    // Still at it.
    assert_eq!(turn(&[line], &[heard], Claimed { rests: false, ..RESTS }), [(Heard, true)]);
    // An editor wrote it, without quotes.
    let bare = [message("owner", "", "main", "good morning"), answer("main", "and to you")];
    assert_eq!(turn(&["good morning "], &bare, RESTS), [(Heard, true), (Answered, true)]);
}

#[test]
fn what_the_creature_takes_for_no_word_is_none() {
    let none = ["", " ", r#"{"text": 3}"#, r#"{"text": "a\u0007b"}"#, "\u{7}"];
    assert_eq!(turn(&none, &[], RESTS), []);
    assert_eq!(turn(&["[1]"], &[message("owner", "", "main", "[1]")], AWAKE), [(Heard, true)]);
    assert_eq!(turn(&[r#""hello""#], &[message("owner", "", "main", "hello")], AWAKE), [(Heard, true)]);
    let thread = "a thread/with signs";
    let line = json!({"text": "hello", "thread": thread}).to_string();
    let records = [
        message("owner", "", "athreadwithsigns", "hello"),
        message("creature", "answer", "athreadwithsigns", "hi"),
    ];
    assert_eq!(turn(&[&line], &records, RESTS), [(Heard, true), (Answered, true)]);
    // A flood is passed over in part.
    let many = vec!["again"; 60];
    assert!(turn(&many, &[], RESTS).len() < 32);
}

#[test]
fn a_word_whose_secret_was_hidden_is_heard() {
    let heard = [
        message("owner", "", "main", "[hidden] is the key"),
        message("creature", "answer", "main", "thanks"),
    ];
    assert_eq!(turn(&["sk-12345 is the key"], &heard, RESTS), [(Heard, true), (Answered, true)]);
}

#[test]
fn an_answer_to_one_word_hides_no_other_that_was_not_heard() {
    let records = [message("owner", "", "main", "first"), message("creature", "answer", "main", "hi")];
    assert_eq!(
        turn(&["first", "second"], &records, RESTS),
        [(Heard, true), (Answered, true), (Heard, false)]
    );
}

#[test]
fn a_word_heard_at_the_very_end_of_a_turn_may_wait_for_the_next() {
    let mut witness = witnessed(&["hello"], &[message("owner", "", "main", "hello")]);
    let rest = Claimed { turns: 2, ..RESTS };
    (2..100).for_each(|at| witness.looked(rest, LONGEST, at * 1_000));
    assert_eq!(judged(&mut witness, &[Answered]), []);
    witness.looked(Claimed { turns: 2, ..AWAKE }, LONGEST, 100_000);
    [101_000, 102_000].into_iter().for_each(|now| witness.looked(Claimed { turns: 3, ..rest }, LONGEST, now));
    assert_eq!(judged(&mut witness, &[Answered]), [(Answered, false)], "a whole turn gave none");
}

#[test]
fn a_machine_that_stood_still_makes_no_word_late_and_forgets_no_reminder() {
    let agenda = json!({"reminders": {"list": [{"id": "r1", "next": "1970-01-01T00:10:00Z"}]}});
    let mut witness = witnessed(&["hello"], &[]);
    witness.begin(1_000);
    witness.looked(RESTS, LONGEST, 1_000);
    witness.reminders(&agenda, 1_000, 1_000);
    // A night.
    let morning = 30_000_000;
    witness.begin(morning);
    witness.reminders(&agenda, morning as i64, morning);
    for now in (0..20).map(|at| morning + at * 1_000) {
        witness.begin(now);
        witness.looked(RESTS, LONGEST, now);
        witness.reminders(&agenda, now as i64, now);
    }
    assert_eq!(judged(&mut witness, &[Heard, Reminded]), []);
    for now in (20..40).map(|at| morning + at * 1_000) {
        witness.begin(now);
        witness.looked(RESTS, LONGEST, now);
    }
    assert_eq!(judged(&mut witness, &[Heard]), [(Heard, false)], "half a minute of the morning is enough");
}

#[test]
fn a_replaced_file_makes_nothing_missing() {
    let mut witness = witnessed(&["hello"], &[thought(2, Value::Null), action()]);
    witness.lost();
    [2_000, 3_000, 60_000].into_iter().for_each(|now| witness.looked(RESTS, LONGEST, now));
    assert_eq!(judged(&mut witness, &[Results, Heard, Answered]), []);
}

#[test]
fn a_model_that_takes_its_time_is_waited_for_before_a_word_counts_as_unheard() {
    let open = json!({"life": 7, "event": "reserve", "call": "c1", "cost_micro_usd": 9});
    let at = 20 * 60_000;
    for (line, expected) in [(Some(open), vec![]), (None, vec![(Heard, false)])] {
        let mut witness = witnessed(&["hello"], &[]);
        line.iter().for_each(|line| witness.paid(line));
        witness.looked(AWAKE, LONGEST, at);
        assert_eq!(judged(&mut witness, &[Heard]), expected);
    }
}

/// Found by a harmful edit that passed: answers went to another thread, and the report of a sub-session counted for all words.
#[test]
fn a_report_or_a_reminder_answers_no_word_about_something_else() {
    let words = ["look at the garden", "what is four and three?"];
    let heard = words.map(|word| message("owner", "", "main", word));
    let told = |kind: &str| {
        let records = [heard.as_slice(), &[message("creature", kind, "main", "all is well")]].concat();
        let mut witness = witnessed(&words, &records);
        for turn in 0..4_u64 {
            let at = 10_000 * turn;
            witness.looked(Claimed { turns: turn, ..AWAKE }, LONGEST, at + 5_000);
            let rest = Claimed { turns: turn + 1, ..RESTS };
            [6_000, 7_000].into_iter().for_each(|now| witness.looked(rest, LONGEST, at + now));
        }
        let seen = judged(&mut witness, &[Answered]);
        (seen.iter().filter(|(_, kept)| *kept).count(), seen.iter().filter(|(_, kept)| !kept).count())
    };
    assert_eq!(told("answer"), (1, 0), "one answer may be for both");
    assert_eq!(told("sub-sessions"), (1, 1));
    assert_eq!(told("reminder"), (0, 2));
}

#[test]
fn something_comes_of_a_word_soon() {
    let heard = message("owner", "", "main", "hello");
    let call = json!({"life": 7, "event": "reserve", "call": "c1"});
    let mut witness = witnessed(&["hello"], std::slice::from_ref(&heard));
    witness.paid(&call);
    witness.looked(AWAKE, LONGEST, 900_000);
    assert_eq!(judged(&mut witness, &[Prompt]), [(Prompt, true)], "a slow model is not its fault");
    let mut witness = witnessed(&["hello"], std::slice::from_ref(&heard));
    [60_000, 92_000, 150_000].into_iter().for_each(|now| witness.looked(AWAKE, LONGEST, now));
    assert_eq!(judged(&mut witness, &[Prompt]), [(Prompt, false)]);
    // A thought that was under way when it was heard may take its time; after it the word is next.
    let mut witness = witnessed(&["hello"], &[]);
    witness.paid(&call);
    witness.recorded(&heard, AWAKE, 1_000);
    [60_000, 120_000, 300_000].into_iter().for_each(|now| witness.looked(AWAKE, LONGEST, now));
    assert_eq!(judged(&mut witness, &[Prompt]), []);
    let mut witness = witnessed(&["hello"], std::slice::from_ref(&heard));
    let acts = Claimed { acts: true, ..AWAKE };
    [60_000, 120_000, 300_000].into_iter().for_each(|now| witness.looked(acts, LONGEST, now));
    assert_eq!(judged(&mut witness, &[Prompt]), []);
    [320_000, 400_000].into_iter().for_each(|now| witness.looked(AWAKE, LONGEST, now));
    assert_eq!(judged(&mut witness, &[Prompt]), [(Prompt, false)]);
    // Instinct answers without a call.
    let answer = message("creature", "answer", "main", "hi");
    assert_eq!(judged(&mut witnessed(&["hello"], &[heard, answer]), &[Prompt]), [(Prompt, true)]);
}

#[test]
fn an_answer_is_given_once_to_a_word() {
    let (word, answer) = (message("owner", "", "main", "hello"), message("creature", "answer", "main", "hi"));
    let once = |records: &[Value]| judged(&mut witnessed(&[], records), &[Once]);
    assert_eq!(once(&[word.clone(), answer.clone(), answer.clone()]), [(Once, true), (Once, false)]);
    assert_eq!(
        once(&[word.clone(), answer.clone(), word.clone(), answer.clone()]),
        [(Once, true), (Once, true)]
    );
    let two = [word.clone(), word.clone(), answer.clone(), answer.clone(), answer.clone()];
    assert_eq!(once(&two), [(Once, true), (Once, true), (Once, false)], "two words may have one answer each");
    let other = message("creature", "answer", "work", "hi");
    assert_eq!(once(&[answer, other]), [(Once, true), (Once, true)], "two threads");
    // That work goes on may be said more than once, and two requests may both end with the same word.
    let mut going = message("creature", "answer", "main", "I am at it");
    going["data"]["done"] = json!(false);
    let ends = message("creature", "answer", "main", "Done.");
    let records = [word.clone(), word.clone(), going.clone(), going.clone(), ends.clone(), ends.clone()];
    assert_eq!(once(&records), [(Once, true), (Once, true)]);
    assert_eq!(once(&[records.as_slice(), &[ends]].concat()).last(), Some(&(Once, false)));
    let daily = message("creature", "reminder", "main", "water the fern");
    assert_eq!(once(&[daily.clone(), daily]), []);
}

#[test]
fn a_rest_is_as_long_as_the_owner_allows_after_a_thought_that_acted() {
    let rested = |records: &[Value], paid: &[Value], claimed: Claimed| {
        let mut witness = witnessed(&[], records);
        paid.iter().for_each(|line| witness.paid(line));
        [2_000, 3_000].into_iter().for_each(|now| witness.looked(claimed, LONGEST, now));
        judged(&mut witness, &[Rests])
    };
    let (hour, day) = (Claimed { rest_ms: 3_600_000, ..RESTS }, Claimed { rest_ms: 86_400_000, ..RESTS });
    let acted = [thought(1, Value::Null), action()];
    assert_eq!(rested(&acted, &[], RESTS), [(Rests, true)]);
    assert_eq!(rested(&acted, &[], hour), [(Rests, false)]);
    assert_eq!(rested(&[], &[], day), [(Rests, false)]);
    // With own time a thought may choose a day.
    let mut chose = acted.clone();
    chose[0]["data"]["sleep_s"] = json!(86_400);
    assert_eq!(rested(&chose, &[], day), [(Rests, true)]);
    chose[0]["data"]["sleep_s"] = json!(300);
    assert_eq!(rested(&chose, &[], day), [(Rests, false)]);
    // It goes on after the owner's word, whose answer chooses none, and ends when it was to end.
    let mut chose = acted.clone();
    chose[0]["data"]["sleep_s"] = json!(7_200);
    let mut witness = witnessed(&[], &chose);
    [2_000, 3_000]
        .into_iter()
        .for_each(|now| witness.looked(Claimed { rest_ms: 7_200_000, ..RESTS }, LONGEST, now));
    let mut answers = thought(0, Value::Null);
    answers["data"]["sleep_s"] = json!(60);
    witness.looked(AWAKE, LONGEST, 100_000);
    witness.recorded(&answers, AWAKE, 101_000);
    let goes_on = Claimed { rest_ms: 7_100_000, ..RESTS };
    [102_000, 103_000].into_iter().for_each(|now| witness.looked(goes_on, LONGEST, now));
    assert_eq!(judged(&mut witness, &[Rests]), [(Rests, true), (Rests, true)]);
    witness.looked(AWAKE, LONGEST, 7_201_000);
    [7_202_000, 7_203_000].into_iter().for_each(|now| witness.looked(goes_on, LONGEST, now));
    assert_eq!(judged(&mut witness, &[Rests]), [(Rests, false)], "it is over");
    // After empty answers, a refusal, and while the mind is away, an hour is as it should be.
    assert_eq!(rested(&[thought(0, Value::Null)], &[], hour), [(Rests, true)]);
    assert_eq!(rested(&acted, &[json!({"event": "refuse", "life": 7})], hour), [(Rests, true)]);
    assert_eq!(rested(&acted, &[], Claimed { is_away: true, ..hour }), [(Rests, true)]);
}

#[test]
fn what_is_on_record_as_written_is_there_in_the_rest_after_it() {
    let done = |tool: &str, path: &str| {
        record("action", json!({"thought": 4, "tool": tool, "result": {"ok": true, "path": path}}))
    };
    let due = |records: &[Value]| {
        let mut witness = witnessed(&[], records);
        witness.looked(RESTS, LONGEST, 2_000);
        assert_eq!(witness.due(), None, "its files may still be written");
        witness.looked(RESTS, LONGEST, 3_000);
        let due = witness.due();
        due.iter().for_each(|path| witness.found(path, false));
        (due, judged(&mut witness, &[Done]))
    };
    let written = done("files.write", ".self/workspace/count.txt");
    let path = Some(".self/workspace/count.txt".to_owned());
    assert_eq!(due(std::slice::from_ref(&written)), (path.clone(), vec![(Done, false)]));
    let told = [written.clone(), action(), message("creature", "answer", "main", "written")];
    assert_eq!(due(&told).0, path, "nothing that was done since moves it");
    // What came later may have moved it; another folder than the workspace is not looked into.
    for other in [done("repo.run", ""), done("files.move", ""), record("agenda", json!({"about": "session"}))]
    {
        assert_eq!(due(&[written.clone(), other]).0, None);
    }
    for path in ["projects/count.txt", ".self/workspace/../broker/keys", "/etc/passwd", ".self/workspacex/a"]
    {
        assert_eq!(due(&[done("files.write", path)]).0, None, "{path}");
    }
    let failed = record(
        "action",
        json!({"tool": "files.write", "result": {"ok": false, "path": ".self/workspace/a"}}),
    );
    assert_eq!(due(&[failed]).0, None);
}
