//! Killed again and again: each word is heard once, each answer arrives once or is told as doubtful, none is lost, in order.

use crate::home::{Home, append, lines};
use house::clock;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

const WORDS: usize = 120;

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

fn over_kills(has_keys: bool) {
    let mut home = Home::new(&["telegram"]);
    home.pair("telegram");
    home.limits("telegram", json!({"has_keys": has_keys}));
    let ends = Arc::new(AtomicBool::new(false));
    let creature = creature(home.house.clone(), ends.clone());
    let steps =
        ["receive", "before_acknowledge", "after_acknowledge", "before_send", "after_send", "connect"];
    for nth in 0..WORDS {
        home.say("telegram", &format!("word {nth:03}"));
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
    home.start();
    home.until("every answer arrived or is doubtful", |home| {
        let told = home.texts("telegram");
        let doubtful = told.iter().filter(|text| text.contains("may not have reached you")).count();
        let arrived =
            (0..WORDS).filter(|nth| told.iter().any(|text| text.contains(&format!("word {nth:03}")))).count();
        (arrived + doubtful >= WORDS).then_some(())
    });
    home.until_acknowledged("telegram");
    ends.store(true, Ordering::Relaxed);
    creature.join().unwrap();
    let all = home.words().join("\n");
    for nth in 0..WORDS {
        assert_eq!(all.matches(&format!("word {nth:03}")).count(), 1, "word {nth} in the inbox");
    }
    let places: Vec<usize> = (0..WORDS).map(|nth| all.find(&format!("word {nth:03}")).unwrap()).collect();
    assert!(places.is_sorted(), "heard in order");
    let told = home.texts("telegram");
    let doubtful = told.iter().filter(|text| text.contains("may not have reached you")).count();
    let answers: Vec<&String> = told.iter().filter(|text| text.contains("answer to")).collect();
    let joined = answers.iter().map(|text| text.as_str()).collect::<Vec<_>>().join("\n");
    for nth in 0..WORDS {
        let times = joined.matches(&format!("word {nth:03}")).count();
        assert!(times <= 1, "the answer to word {nth} arrived {times} times");
    }
    let arrived: Vec<usize> = (0..WORDS).filter_map(|nth| joined.find(&format!("word {nth:03}"))).collect();
    assert!(arrived.is_sorted(), "answered in order");
    assert!(arrived.len() + doubtful >= WORDS);
    if has_keys {
        assert_eq!((arrived.len(), doubtful), (WORDS, 0));
    }
}

#[test]
fn with_keys_every_answer_arrives_once() {
    over_kills(true);
}

#[test]
fn without_keys_an_answer_of_unknown_fate_is_told_as_doubtful() {
    over_kills(false);
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
