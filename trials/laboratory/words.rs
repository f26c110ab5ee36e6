//! The judge of words over kills sees each fault: a run in which all is right passes, and each that is broken once does not.

use crate::fates::{Records, Said};
use serde_json::{Value, json};

const OWNER: i64 = 1_001;
const GROUP: i64 = -700;

fn said() -> Vec<Said> {
    let chat = |number| if number % 3 == 0 { GROUP } else { OWNER };
    (1..=6).map(|number| Said { name: format!("thing-{number:05}"), chat: chat(number) }).collect()
}

fn kept(key: &str, chat: i64, kind: &str, text: &str, step: &str) -> [Value; 2] {
    let item = json!({"key": key, "chat": {"id": chat.to_string()}, "kind": kind, "text": text});
    [json!({"step": "queued", "item": item}), json!({"step": step, "key": key})]
}

/// All is heard, done and answered; the answer to the fourth is in doubt, and told so.
fn right() -> (Records, Vec<Value>) {
    let (mut records, mut outbox) = (Records::default(), Vec::new());
    for Said { name, chat } in said() {
        let answer = format!("Done: “{name}” is on your list.");
        records.heard.push(format!("add {name} to my list"));
        records.answers.push(answer.clone());
        records.list += &format!("- {name}\n");
        let is_in_doubt = name.ends_with('4');
        outbox.extend(kept(&name, chat, "answer", &answer, if is_in_doubt { "doubtful" } else { "sent" }));
        if is_in_doubt {
            let told =
                "One answer of 03:10 may not have reached you; it stands in the window and on the page.";
            outbox.extend(kept("doubt", chat, "doubt", told, "sent"));
            records.told.push((chat, told.to_owned()));
        } else {
            records.told.push((chat, answer));
        }
    }
    (records, outbox)
}

fn faults(broken: impl Fn(&mut Records, &mut Vec<Value>)) -> (bool, Vec<String>) {
    let (mut records, mut outbox) = right();
    broken(&mut records, &mut outbox);
    records.outbox.read(&outbox);
    let judged = records.judged(&said());
    (records.is_settled(&said()), serde_json::from_value(judged["faults"].clone()).unwrap())
}

type Breaks = fn(&mut Records, &mut Vec<Value>);

#[test]
fn the_judge_passes_what_is_right_and_names_each_fault() {
    assert_eq!(faults(|_, _| {}), (true, vec![]));
    let cases: [(&str, bool, Breaks); 12] = [
        ("thing-00002 was heard 0 times", true, |records, _| _ = records.heard.remove(1)),
        ("thing-00002 was heard 2 times", true, |records, _| records.heard.push(records.heard[1].clone())),
        ("thing-00001 was done 2 times", true, |records, _| records.list += "- thing-00001\n"),
        ("thing-00005 was answered 2 times", true, |records, _| {
            records.answers.push(records.answers[4].clone());
        }),
        ("thing-00006 has an answer that was lost", false, |records, _| {
            records.told.retain(|(_, text)| !text.contains("thing-00006"));
        }),
        ("thing-00001 has an answer that was told 2 times", true, |records, _| {
            records.told.push(records.told[0].clone());
        }),
        ("thing-00003 was answered in another chat", false, |records, _| records.told[2].0 = OWNER),
        ("thing-00001 was answered after thing-00002", true, |records, _| records.told.swap(0, 1)),
        ("thing-00002 was heard after thing-00005", true, |records, _| records.heard.swap(1, 4)),
        ("1 messages are in doubt in 1001, and 0 were shown so", true, |records, _| {
            records.told.retain(|(_, text)| !text.contains("may not have"));
        }),
        ("1 messages still wait in the outbox", false, |_, outbox| _ = outbox.pop()),
        ("thing-00004 has an answer that was lost", false, |_, outbox| {
            outbox.retain(|line| line["key"] != "thing-00004" && line["item"]["key"] != "thing-00004");
        }),
    ];
    for (fault, is_settled, breaks) in cases {
        let (settles, found) = faults(breaks);
        assert!(found.iter().any(|found| found == fault), "{fault}: {found:#?}");
        assert_eq!(settles, is_settled, "{fault}");
    }
}

#[test]
fn a_doubt_that_is_itself_in_doubt_is_told_enough() {
    let (settles, found) = faults(|records, outbox| {
        records.told.retain(|(_, text)| !text.contains("may not have"));
        outbox
            .iter_mut()
            .filter(|line| line["key"] == "doubt")
            .for_each(|line| line["step"] = json!("doubtful"));
    });
    assert!(settles && found.is_empty(), "{found:?}");
}
