//! The fate of each word, by what the house keeps and what the platform saw: heard, done, answered, told or in doubt. Pure.

use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// How the engine says that an answer may be missing, and that one was not taken.
const DOUBT: [&str; 2] = ["may not have reached you", "could not be sent here"];

/// A word of the owner's.
#[derive(Clone, Debug)]
pub struct Said {
    /// What tells it from all others, in its answer too.
    pub name: String,
    pub chat: i64,
}

/// What there is of all words at one moment.
#[derive(Clone, Debug, Default)]
pub struct Records {
    /// Texts of the owner's words and of the creature's, in the order of its memory.
    pub heard: Vec<String>,
    pub answers: Vec<String>,
    pub list: String,
    /// Messages of the bot that the platform shows: chat and text, in order.
    pub told: Vec<(i64, String)>,
    pub outbox: Steps,
}

/// What the outbox said of each message by its key; it is written anew now and then, so it is read again and again.
#[derive(Clone, Debug, Default)]
pub struct Steps {
    sent: BTreeMap<String, Kept>,
}

#[derive(Clone, Debug, Default)]
struct Kept {
    chat: i64,
    kind: String,
    text: String,
    step: String,
}

impl Kept {
    fn is_over(&self) -> bool {
        ["sent", "doubtful", "refused"].contains(&self.step.as_str())
    }

    /// Whether nobody can know by it that it arrived.
    fn is_in_doubt(&self) -> bool {
        ["doubtful", "refused"].contains(&self.step.as_str())
    }
}

impl Steps {
    pub fn read(&mut self, lines: &[Value]) {
        for line in lines {
            let item = &line["item"];
            let Some(key) = line["key"].as_str().or(item["key"].as_str()) else { continue };
            let kept = self.sent.entry(key.to_owned()).or_default();
            if item.is_object() {
                let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
                kept.chat = text(&item["chat"]["id"]).parse().unwrap_or(0);
                (kept.kind, kept.text) = (text(&item["kind"]), text(&item["text"]));
            }
            if let (Some(step), false) = (line["step"].as_str(), kept.is_over()) {
                step.clone_into(&mut kept.step);
            }
        }
    }

    pub fn count(&self, step: &str) -> usize {
        self.sent.values().filter(|kept| kept.step == step).count()
    }

    /// Messages on this word of whose arrival nobody knows.
    fn in_doubt(&self, name: &str) -> usize {
        self.sent.values().filter(|kept| kept.is_in_doubt() && kept.text.contains(name)).count()
    }

    fn waiting(&self) -> usize {
        self.sent.values().filter(|kept| !kept.is_over()).count()
    }
}

impl Records {
    /// Whether nothing more has to come.
    pub fn is_settled(&self, said: &[Said]) -> bool {
        self.outbox.waiting() == 0
            && said.iter().all(|said| self.told(said) > 0 || self.outbox.in_doubt(&said.name) > 0)
    }

    /// What grows as long as anything comes.
    pub fn sizes(&self) -> [usize; 4] {
        [self.heard.len(), self.answers.len(), self.told.len(), self.outbox.waiting()]
    }

    /// Whether the owner was told that a death came between this word and what was to be done.
    fn is_cut_off(&self, name: &str) -> bool {
        self.answers
            .iter()
            .any(|text| text.contains(name) && text.contains("cut off before it came to an end"))
    }

    fn told(&self, said: &Said) -> usize {
        self.told.iter().filter(|(chat, text)| *chat == said.chat && text.contains(&said.name)).count()
    }

    /// The figures, and each fault in a sentence.
    pub fn judged(&self, said: &[Said]) -> Value {
        let mut faults = Vec::new();
        let (mut answered, mut doubtful, mut arrived) = (0, 0, 0);
        for word in said {
            self.word(word, &mut faults);
            let (told, in_doubt) = (self.told(word), self.outbox.in_doubt(&word.name));
            answered += usize::from((told, in_doubt) == (1, 0));
            doubtful += usize::from(told < 2 && in_doubt > 0);
            arrived += usize::from(told == 1 && in_doubt > 0);
        }
        let chats: BTreeSet<i64> = said.iter().map(|said| said.chat).collect();
        for chat in chats {
            self.order(chat, said, &mut faults);
            self.doubts(chat, &mut faults);
        }
        let waiting = self.outbox.waiting();
        if waiting > 0 {
            faults.push(format!("{waiting} messages still wait in the outbox"));
        }
        let cut_off = said.iter().filter(|said| self.is_cut_off(&said.name)).count();
        let doubts_told = self.told.iter().filter(|(_, text)| is_doubt(text)).count();
        json!({
            "words": said.len(), "answered_once": answered, "doubtful": doubtful, "doubtful_arrived": arrived,
            "cut_off": cut_off, "doubts_told": doubts_told, "messages": self.told.len(), "faults": faults,
        })
    }

    fn word(&self, word: &Said, faults: &mut Vec<String>) {
        let name = word.name.as_str();
        let count = |texts: &[String]| texts.iter().filter(|text| text.contains(name)).count();
        let astray =
            self.told.iter().filter(|(chat, text)| *chat != word.chat && text.contains(name)).count();
        let mut fault =
            |is_wrong: bool, what: String| is_wrong.then(|| faults.push(format!("{name} {what}")));
        let (heard, answers) = (count(&self.heard), count(&self.answers));
        let done = self.list.matches(name).count();
        fault(heard != 1, format!("was heard {heard} times"));
        // A life that ended in the middle of it says so, and does it no second time.
        let is_cut_off = done == 0 && self.is_cut_off(name);
        fault(done != 1 && !is_cut_off, format!("was done {done} times"));
        fault(answers != 1, format!("was answered {answers} times"));
        fault(astray > 0, "was answered in another chat".to_owned());
        let (told, in_doubt) = (self.told(word), self.outbox.in_doubt(name));
        fault(answers > 0 && told == 0 && in_doubt == 0, "has an answer that was lost".to_owned());
        fault(told > 1, format!("has an answer that was told {told} times"));
    }

    /// What is in doubt in a chat was said there, or is itself in doubt.
    fn doubts(&self, chat: i64, faults: &mut Vec<String>) {
        let of = |kept: &&Kept| kept.chat == chat && kept.kind != "refusal";
        let (on_doubt, others): (Vec<&Kept>, Vec<&Kept>) =
            self.outbox.sent.values().filter(of).partition(|kept| kept.kind == "doubt");
        let in_doubt = others.iter().filter(|kept| kept.is_in_doubt()).count();
        let unknown = on_doubt.iter().filter(|kept| kept.is_in_doubt()).count();
        let told = self.told.iter().filter(|(to, text)| *to == chat && is_doubt(text)).count();
        if told + unknown < in_doubt {
            faults.push(format!("{in_doubt} messages are in doubt in {chat}, and {told} were shown so"));
        }
    }

    /// Words come in the order in which they were said.
    fn order(&self, chat: i64, said: &[Said], faults: &mut Vec<String>) {
        let names: Vec<&str> =
            said.iter().filter(|said| said.chat == chat).map(|said| said.name.as_str()).collect();
        let told = self.told.iter().filter(|(to, _)| *to == chat).map(|(_, text)| text.as_str());
        let heard = self.heard.iter().map(String::as_str);
        in_order("heard", &names, heard, faults);
        in_order("answered", &names, told, faults);
    }
}

fn is_doubt(text: &str) -> bool {
    DOUBT.iter().any(|doubt| text.contains(doubt))
}

fn in_order<'a>(what: &str, names: &[&str], texts: impl Iterator<Item = &'a str>, faults: &mut Vec<String>) {
    let (mut last, mut seen) = (0, BTreeSet::new());
    for text in texts {
        for (at, name) in names.iter().enumerate().filter(|(_, name)| text.contains(**name)) {
            if seen.insert(at) && at < last {
                faults.push(format!("{name} was {what} after {}", names[last]));
            }
            last = last.max(at);
        }
    }
}
