//! Killed again and again: each word is heard once, each answer arrives once or is told as doubtful, none is lost, in order.

use crate::home::{Home, append, lines};
use house::clock;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Words of a short run, and of the long one.
const WORDS: usize = 120;
const MANY: usize = 1_000;

/// Answers each line of the inbox once, in memory, as a creature does, until it is told to end.
fn creature(house: house::House, ends: Arc<AtomicBool>) -> std::thread::JoinHandle<()> {
    std::thread::spawn(move || {
        let mut heard = 0;
        while !ends.load(Ordering::Relaxed) {
            let inbox = lines(&house.inbox());
            for line in inbox.iter().skip(heard) {
                let mut data = line.clone();
                data["from"] = json!("owner");
                let of =
                    |data: Value| json!({"at": clock::stamp(), "life": 7, "kind": "message", "data": data});
                append(&house.memory(), &of(data));
                let text = format!("answer to <{}>", line["text"].as_str().unwrap());
                let answer = json!({"from": "creature", "kind": "answer", "thread": line["thread"], "text": text, "at": clock::stamp()});
                append(&house.memory(), &of(answer));
            }
            heard = inbox.len();
            std::thread::sleep(Duration::from_millis(5));
        }
    })
}

/// Says words, through ends of the program at each step of the wire and at any moment, cuts and refusals; then starts it.
fn said_over_kills(home: &mut Home, words: usize) {
    let steps =
        ["receive", "before_acknowledge", "after_acknowledge", "before_send", "after_send", "connect"];
    for nth in 0..words {
        let files = json!([{"name": "plan.txt", "text": "inside"}]);
        let files = if nth % 5 == 2 { files } else { json!([]) };
        home.heard("telegram", json!({"word": format!("word {nth:04}"), "files": files}));
        // The network is cut, and the platform refuses for a while: one trouble at a time, as each makes the next pause longer.
        let is_well = lines(&home.folder("telegram").join("trouble.jsonl")).is_empty();
        match if is_well { nth % 17 } else { 0 } {
            3 => home.trouble("telegram", json!({"op": "receive", "kind": "away", "why": "cut"})),
            7 => home.trouble("telegram", json!({"op": "send", "kind": "away", "why": "cut"})),
            11 => home.trouble("telegram", json!({"op": "send", "kind": "slower", "ms": 20})),
            13 => home.trouble(
                "telegram",
                json!({"op": "send", "kind": "doubtful", "why": "cut", "happens": nth % 2 == 0}),
            ),
            15 => home.trouble("telegram", json!({"op": "acknowledge", "kind": "away", "why": "cut"})),
            _ => {}
        }
        if nth % 6 == 0 {
            // At a step of the wire, or at whatever moment it is.
            match nth % 12 {
                0 => {
                    let step = steps[nth / 12 % steps.len()];
                    home.start_cut(&format!("{step}:{}", 1 + nth % 2));
                }
                _ => home.start(),
            }
        }
        std::thread::sleep(Duration::from_millis(7 + (nth as u64 * 13) % 40));
    }
    // The network is there again.
    let _ = std::fs::remove_file(home.folder("telegram").join("trouble.jsonl"));
    home.start();
}

fn over_kills(has_keys: bool, words: usize) {
    let mut home = Home::new(&["telegram"]);
    home.pair("telegram");
    home.limits("telegram", json!({"keys_ms": has_keys.then_some(3_600_000)}));
    let ends = Arc::new(AtomicBool::new(false));
    let creature = creature(home.house.clone(), ends.clone());
    said_over_kills(&mut home, words);
    home.until_acknowledged("telegram");
    home.until("no word waits for its file", |home| {
        home.state("telegram")["waiting"].as_array()?.is_empty().then_some(())
    });
    let all = home.words().join("\n");
    for nth in 0..words {
        assert_eq!(all.matches(&format!("word {nth:04}")).count(), 1, "word {nth} in the inbox");
    }
    let places: Vec<usize> = (0..words).map(|nth| all.find(&format!("word {nth:04}")).unwrap()).collect();
    assert!(places.is_sorted(), "heard in order");
    // Words that came at once stand in one line, which has one answer.
    let firsts: Vec<String> =
        home.words().iter().map(|text| text.lines().next().unwrap_or_default().to_owned()).collect();
    let fates = |home: &Home| {
        let told = home.texts("telegram");
        let doubtful = told.iter().filter(|text| text.contains("may not have reached you")).count();
        let answers: Vec<String> = told.into_iter().filter(|text| text.contains("answer to")).collect();
        (answers.join("\n"), doubtful)
    };
    home.until("every answer arrived or is doubtful", |home| {
        let (answers, doubtful) = fates(home);
        let arrived = firsts.iter().filter(|first| answers.contains(first.as_str())).count();
        (arrived + doubtful >= firsts.len()).then_some(())
    });
    ends.store(true, Ordering::Relaxed);
    creature.join().unwrap();
    let (answers, doubtful) = fates(&home);
    for first in &firsts {
        let times = answers.matches(first.as_str()).count();
        assert!(times <= 1, "the answer to {first} arrived {times} times");
    }
    let arrived: Vec<usize> = firsts.iter().filter_map(|first| answers.find(first.as_str())).collect();
    assert!(arrived.is_sorted(), "answered in order");
    println!(
        "{words} words in {} lines: {} answers arrived, {doubtful} are doubtful",
        firsts.len(),
        arrived.len()
    );
    if has_keys {
        assert_eq!((arrived.len(), doubtful), (firsts.len(), 0));
    }
}

#[test]
fn with_keys_every_answer_arrives_once() {
    over_kills(true, WORDS);
}

#[test]
fn without_keys_an_answer_of_unknown_fate_is_told_as_doubtful() {
    over_kills(false, WORDS);
}

#[test]
fn only_one_program_serves_a_house() {
    let home = Home::paired(&["telegram"]);
    home.until("it is connected", |home| home.log().contains("telegram: connected").then_some(()));
    let other = home.command().spawn().unwrap().wait_with_output().unwrap();
    assert!(!other.status.success());
    assert!(
        home.log().contains("another program serves the channels of this house already"),
        "{}",
        home.log()
    );
}

#[test]
#[ignore = "minutes; `scripts/trials channels kills` ends the whole house"]
fn a_thousand_words_over_hundreds_of_ends() {
    over_kills(false, MANY);
    over_kills(true, MANY);
}

#[test]
fn it_touches_its_lock_as_long_as_it_looks_at_the_house() {
    let home = Home::paired(&["telegram"]);
    let lock = home.house.channels_lock();
    for nth in 0..3 {
        let before = house::files::mark(&lock);
        assert!(before.is_some());
        home.answers("telegram-100", &format!("answer {nth}"));
        home.until("a touch", |_| (house::files::mark(&lock) != before).then_some(()));
    }
}
