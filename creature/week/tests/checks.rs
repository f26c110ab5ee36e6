//! What must be so after any life, however it was killed: asserted of what memory holds and what the model was sent.

use crate::house::TempHouse;
use crate::outside::Ask;
use crate::world::time;
use creature::tools::catalogue::LIST;
use jiff::{SignedDuration, Timestamp};
use memory::Record;
use serde_json::Value;
use std::collections::BTreeMap;

/// The parts of what it is told by their headings, and the characters each may take; the owner's words are whole.
const PARTS: [(&str, usize); 10] = [
    ("PURPOSE.md", 6_000),
    ("Checklist", 2_000),
    ("What you remember", 4_000),
    ("Scratch", 4_000),
    ("Goals", 4_000),
    ("Latest records", 12_000),
    ("Where you stand", 1_500),
    ("What there is to do", 2_000),
    ("Events", 2_000),
    ("Now", 500),
];

/// What the mind's own prompt may take beside the tools, the shape of the answer included.
const MIND: usize = 4_900;

pub fn count(text: &str) -> usize {
    text.chars().count()
}

/// Every request kept to the caps of its parts, and what answers the owner holds no autonomous state.
pub fn context_within_caps(asks: &[Ask]) {
    for ask in asks.iter().filter(|ask| ask.is_thought()) {
        for (title, most) in PARTS {
            let shown = count(ask.section(title)).max(count(ask.fresh(title)));
            assert!(shown <= most, "{title}: {shown} of {most} characters at {}", ask.at);
        }
        let unlisted =
            LIST.0.iter().fold(ask.system.clone(), |said, tool| said.replace(tool.line.trim_end(), ""));
        // Which stand in the list, and which `more` names, is what the owner configured.
        let mind =
            unlisted.lines().filter(|line| !line.contains("call another by name")).map(count).sum::<usize>();
        assert!(mind <= MIND, "the mind's prompt: {mind} of {MIND} characters");
        let state = ask.section("Where you stand");
        assert!(ask.words().is_empty() || state.is_empty(), "a state beside the owner's words: {}", ask.text);
    }
}

/// No thought of a model in a wake without a reason, no more requests than thoughts but `lost` that were cut off, and
/// each says whose it is.
pub fn nothing_without_reason(asks: &[Ask], records: &[Record], lost: usize) {
    let wakes: BTreeMap<(u64, u64), &Record> =
        of(records, "heartbeat").map(|record| (wake(record), record)).collect();
    let thoughts: Vec<&Record> =
        of(records, "thought").filter(|record| record.data["mind"] != "instinct").collect();
    for thought in &thoughts {
        let why = &wakes[&wake(thought)].data["why"];
        assert!(
            why.as_array().is_some_and(|why| !why.is_empty()),
            "a thought without a reason: {}",
            thought.data
        );
    }
    let asked: Vec<&Ask> = asks.iter().filter(|ask| ask.is_thought()).collect();
    assert!(asked.len() >= thoughts.len(), "{} asked, {} thought", asked.len(), thoughts.len());
    assert!(
        asked.len() <= thoughts.len() + lost,
        "{} asked, {} thought, {lost} lost",
        asked.len(),
        thoughts.len()
    );
    for ask in asked {
        assert_eq!(ask.autonomous, ask.words().is_empty(), "whose is it? {}", ask.section("Now"));
    }
}

fn wake(record: &Record) -> (u64, u64) {
    (record.life, record.data["wake"].as_u64().unwrap())
}

/// At most so many tokens on any day.
pub fn tokens_within(asks: &[Ask], most: usize) {
    let mut days: BTreeMap<String, usize> = BTreeMap::new();
    for ask in asks {
        let tokens = (count(&ask.system) + count(&ask.text) + count(&ask.reply.to_string())) / 4;
        *days.entry(ask.at.strftime("%F").to_string()).or_default() += tokens;
    }
    assert!(days.values().all(|tokens| *tokens <= most), "more than {most} tokens on a day: {days:?}");
}

/// The creature's own messages to the owner: when, what, of which kind.
pub fn messages(records: &[Record]) -> Vec<(Timestamp, String, String)> {
    let own = of(records, "message").filter(|record| record.data["from"] != "owner");
    own.map(|record| (time(&record.at), word(record, "text"), word(record, "kind"))).collect()
}

/// At most `most` messages in any hour beside answers and reminders, which the owner asked for.
pub fn messages_within(records: &[Record], most: usize) {
    let all = messages(records);
    let own = all.iter().filter(|(_, _, kind)| !matches!(kind.as_str(), "answer" | "reminder"));
    let times: Vec<Timestamp> = own.map(|(at, _, _)| *at).collect();
    for (first, at) in times.iter().enumerate() {
        let hour = *at + SignedDuration::from_hours(1);
        let within = times[first..].iter().take_while(|other| **other < hour).count();
        assert!(within <= most, "{within} messages in the hour from {at}: {all:#?}");
    }
    let chatter = all.iter().find(|(_, text, _)| text.contains("checking in"));
    assert!(chatter.is_none(), "chatter was sent: {chatter:?}");
}

/// Every word of the owner's was answered within this time.
pub fn owner_answered(records: &[Record], within: SignedDuration) {
    let answers: Vec<Timestamp> = messages(records).into_iter().map(|(at, _, _)| at).collect();
    for said in of(records, "message").filter(|record| record.data["from"] == "owner") {
        let at = time(&said.at);
        let answered = answers.iter().any(|answer| *answer >= at && *answer <= at + within);
        assert!(answered, "nobody answered {:?}, said {at}", said.data["text"]);
    }
}

/// Goals by their titles, in the order in which they were reached.
pub fn goals_reached(records: &[Record]) -> Vec<String> {
    let added = |id: &str| {
        let mut made = of(records, "agenda").filter(|record| record.data["done"]["id"] == id);
        made.find_map(|record| record.data["change"]["goal"]["title"].as_str().map(str::to_owned)).unwrap()
    };
    let mut reached: Vec<String> = Vec::new();
    for record in of(records, "agenda").filter(|record| record.data["done"]["goal"] == "done") {
        let id = record.data["done"]["id"].as_str().unwrap().to_owned();
        reached.push(added(&id));
    }
    reached
}

pub fn of<'a>(records: &'a [Record], kind: &'a str) -> impl Iterator<Item = &'a Record> {
    records.iter().filter(move |record| record.kind == kind)
}

pub fn word(record: &Record, key: &str) -> String {
    record.data.get(key).and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// Every reminder told at its second, once; after a sleep or a death a little later, never before.
pub fn reminded(
    records: &[Record],
    expected: &[(String, Timestamp)],
    late: impl Fn(Timestamp) -> SignedDuration,
) {
    let mut told: Vec<(String, Timestamp)> = Vec::new();
    for record in of(records, "message").filter(|record| record.data["kind"] == "reminder") {
        let (at, due) = (time(&record.at), time(record.data["for_at"].as_str().unwrap()));
        assert!(at >= due && at <= due + late(due), "{} was due {due} and told {at}", record.data["text"]);
        told.push((word(record, "text"), due));
    }
    told.sort_by_key(|(_, at)| *at);
    let sorted = |list: &[(String, Timestamp)]| {
        let mut list = list.to_vec();
        list.sort_by(|one, other| (one.1, &one.0).cmp(&(other.1, &other.0)));
        list
    };
    assert_eq!(sorted(&told), sorted(expected));
}

/// One dream for each night, by the folders that are kept of them.
pub fn dreamt(house: &TempHouse, nights: &[&str]) {
    let folders = std::fs::read_dir(house.path(".self/mind/dreams")).unwrap();
    let mut names: Vec<String> =
        folders.map(|folder| folder.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    let days: Vec<&str> = names.iter().map(|name| &name[..8]).collect();
    assert_eq!(days, nights, "{names:?}");
}

/// The mind's own files, read as they are.
pub fn kept(house: &TempHouse, name: &str) -> Value {
    let text = std::fs::read_to_string(house.path(&format!(".self/mind/{name}.json"))).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// How each sub-session with this objective ended.
pub fn ended(house: &TempHouse, objective: &str) -> Vec<String> {
    let sessions = kept(house, "sessions");
    let all = sessions["all"].as_array().unwrap().iter();
    let mine = all.filter(|session| session["objective"] == objective);
    mine.map(|session| session["status"].as_str().unwrap().to_owned()).collect()
}
