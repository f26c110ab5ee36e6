//! A conversation's file cut at every byte, torn within, of another version or no file at all: it is gone on with, or begun anew.

use super::world::{JSON, NATIVE, World};
use crate::broker::{TOKEN, loopback};
use crate::faithful::{Rules, Say, Seen, Wire};
use crate::house::TempHouse;
use crate::lived::Lived;
use creature::config::Settings;
use creature::paths::House;
use hands::Broker;
use mind::Outcome;
use mind::conversation::{Conversation, Entry};
use mind::llm::{ModelMind, Reach, offered};
use mind::moment::{Moment, Word};
use model::Turn;
use serde_json::json;
use std::collections::BTreeMap;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;

const NOON: &str = "2026-03-02T12:00:00Z";
const LATER: &str = "2026-03-02T12:01:00Z";
const WORD: &str = "write two lines into the diary";

fn ways() -> [(Wire, Rules, &'static str); 4] {
    [
        (Wire::Anthropic, Rules::default(), NATIVE),
        (Wire::Responses, Rules::default(), NATIVE),
        (Wire::Chat, Rules::odd(), NATIVE),
        (Wire::Anthropic, Rules::default(), JSON),
    ]
}

fn file(house: &TempHouse) -> PathBuf {
    house.path(".self/mind/conversations/talk-main.jsonl")
}

/// Three calls at once, one of which fails, the answer, and a rest.
fn short(seen: &Seen) -> Say {
    let line = |at: usize| json!({"name": "diary", "text": format!("line <{at}>")});
    if !seen.all_text().contains(WORD) || seen.autonomous {
        return Say::new().says("Nothing to do.").rests(300);
    }
    match seen.thoughts() {
        0 => Say::new()
            .thinks("Two lines, then a look.")
            .says("I write.")
            .calls("notes.append", line(0))
            .calls("notes.append", line(1))
            .calls("files.read", json!({"path": "no.txt"})),
        1 => Say::new().thinks("Written.").calls("owner.message", json!({"text": "it is written"})),
        _ => Say::new().says("Done.").rests(300),
    }
}

/// A world in which this conversation was had by a real life, and its file.
async fn talked(wire: Wire, rules: Rules, form: &str) -> (World, Vec<u8>) {
    let world = World::new(wire, rules, form, short);
    world.house.write("PURPOSE.md", "Be.\n");
    world.house.say(&json!({"at": NOON, "text": WORD}).to_string());
    let mut lived = Lived::born(&world.house, NOON, 1).await;
    lived.stay().await;
    world.house.record("message", |data| data["text"] == "it is written");
    world.server.assert_no_violations();
    let bytes = std::fs::read(file(&world.house)).unwrap();
    (world, bytes)
}

/// The mind of another life, which knows of the conversation what its file says.
fn reborn(world: &World) -> ModelMind {
    let broker = Broker::new(world.house.broker.as_ref().unwrap(), TOKEN).unwrap();
    let house = House::new(world.house.path(""));
    let handed = Settings::handed_anew(&house, &mut None).unwrap().unwrap();
    let (settings, house) = (&handed.0.model, &house);
    let tools = &creature::tools::catalogue::LIST;
    let reach = Reach {
        base: broker.base(),
        token: broker.token(),
        settings,
        house,
        tools,
        commit: "",
        configured: &[],
        outside: "",
    };
    offered(&reach, &world.door.status.lock().unwrap()).unwrap().unwrap()
}

async fn goes_on(world: &World) -> Seen {
    let words = vec![Word { at: NOON.to_owned(), text: WORD.to_owned(), thread: "main".to_owned() }];
    let moment = Moment {
        now: LATER.to_owned(),
        life: 2,
        owner: true,
        thread: "main".to_owned(),
        words,
        ..Moment::default()
    };
    let outcome = reborn(world).think(&moment, &|| {}).await;
    assert!(matches!(outcome, Outcome::Thought { .. }), "{outcome:?}");
    world.server.assert_no_violations();
    world.server.seen().pop().unwrap()
}

/// What each call of these lines is to have come to: its result where it stands there, else what is known of it.
fn expected(lines: &[&[u8]]) -> Vec<String> {
    let mut calls: Vec<(String, String)> = Vec::new();
    for line in lines {
        let known = |calls: &mut Vec<(String, String)>, id: &str, text: String| {
            calls.iter_mut().rev().find(|(known, _)| known == id).unwrap().1 = text;
        };
        match serde_json::from_slice(line).unwrap() {
            Entry::Thought { calls: made, .. } => {
                calls.extend(made.into_iter().map(|call| (call.id, "not run: ".to_owned())));
            }
            Entry::Began { id } => known(&mut calls, &id, "outcome unknown: ".to_owned()),
            Entry::Done { id, text, .. } => known(&mut calls, &id, text),
            Entry::Head { .. } | Entry::Said { .. } | Entry::Rested => {}
        }
    }
    calls.into_iter().map(|(_, text)| text).collect()
}

/// Calls, results and what is not known of them, as the model is shown it.
fn shown_rightly(seen: &Seen, lines: &[&[u8]], at: usize) {
    let expected = expected(lines);
    if seen.json_mode {
        expected.iter().for_each(|text| assert!(seen.all_text().contains(text), "line {at}: no {text}"));
        return;
    }
    let shown: Vec<String> = seen.history().into_iter().map(|(.., text)| text.unwrap()).collect();
    assert_eq!(shown.len(), expected.len(), "line {at}: {shown:?}");
    for (shown, expected) in shown.iter().zip(&expected) {
        assert!(shown.starts_with(expected.as_str()), "line {at}: {shown:?} is not {expected:?}");
    }
}

#[test]
fn a_file_cut_at_any_byte_is_read_up_to_its_last_whole_line_and_gone_on_with() {
    loopback!();
    // Side by side: each takes long.
    std::thread::scope(|scope| {
        for way in ways() {
            scope.spawn(|| {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
                runtime.unwrap().block_on(cut_at_any_byte(way));
            });
        }
    });
}

async fn cut_at_any_byte((wire, rules, form): (Wire, Rules, &str)) {
    let (world, bytes) = talked(wire, rules, form).await;
    let path = file(&world.house);
    let lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
    println!("{wire:?} {form}: {} bytes, {} lines", bytes.len(), lines.len());
    let (mut whole, mut end) = (0, 0);
    let mut turns: Vec<Turn> = Vec::new();
    for cut in 0..=bytes.len() {
        std::fs::write(&path, &bytes[..cut]).unwrap();
        let is_end = whole < lines.len() && cut == end + lines[whole].len();
        let loaded = Conversation::load(&path);
        if is_end {
            (whole, end) = (whole + 1, cut);
            turns.clone_from(&loaded.as_ref().expect("a whole line more").turns);
        }
        match loaded {
            None => assert_eq!(whole, 0, "{wire:?} {form}: cut at {cut} it is not read"),
            Some(loaded) => assert!(loaded.turns == turns, "{wire:?} {form}: cut at {cut} it is another"),
        }
        let left = if whole == 0 { cut } else { end };
        assert_eq!(std::fs::metadata(&path).unwrap().len() as usize, left, "cut at {cut}");
    }
    world.server.change_mind(|_| Say::new().says("On.").rests(1));
    let mut end = 0;
    for (at, line) in lines.iter().enumerate() {
        for torn in [line.len() / 2, line.len()] {
            std::fs::write(&path, &bytes[..end + torn]).unwrap();
            let seen = goes_on(&world).await;
            let whole = at + usize::from(torn == line.len());
            shown_rightly(&seen, &lines[..whole], whole);
            assert!(Conversation::load(&path).is_some_and(|kept| !kept.turns.is_empty()));
        }
        end += line.len();
    }
}

type Harm = (&'static str, fn(&World, &[u8]));

/// What may stand where the conversation's file was.
fn harms() -> Vec<Harm> {
    fn instead(world: &World) -> PathBuf {
        std::fs::remove_file(file(&world.house)).unwrap();
        file(&world.house)
    }
    vec![
        ("a line torn within, and others after it", |world, bytes| {
            let mut lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
            let torn = lines.iter().position(|line| line.starts_with(br#"{"entry":"done""#)).unwrap();
            lines[torn] = &lines[torn][..lines[torn].len() / 2];
            std::fs::write(file(&world.house), lines.concat()).unwrap();
        }),
        ("a file of another version", |world, bytes| {
            let text = String::from_utf8_lossy(bytes).replace(r#""entry":"began""#, r#""entry":"set_out""#);
            std::fs::write(file(&world.house), text).unwrap();
        }),
        ("a head of another version", |world, bytes| {
            let text = String::from_utf8_lossy(bytes).replacen("fingerprint", "print", 1);
            std::fs::write(file(&world.house), text).unwrap();
        }),
        ("40 MB of it", |world, bytes| {
            let mut text = bytes.to_vec();
            let rested = b"{\"entry\":\"rested\"}\n";
            text.extend(rested.iter().cycle().take(40_000_000 / rested.len() * rested.len()));
            std::fs::write(file(&world.house), text).unwrap();
        }),
        ("a line of 20 MB that is no entry", |world, bytes| {
            let mut text = bytes.to_vec();
            text.resize(text.len() + 20_000_000, b'[');
            text.push(b'\n');
            std::fs::write(file(&world.house), text).unwrap();
        }),
        ("a file that may not be read", |world, _| {
            std::fs::set_permissions(file(&world.house), PermissionsExt::from_mode(0o0)).unwrap();
        }),
        ("a folder with something in it", |world, _| {
            let folder = instead(world);
            std::fs::create_dir_all(folder.join("in")).unwrap();
        }),
        ("a pipe nobody writes to", |world, _| {
            let pipe = instead(world);
            assert!(std::process::Command::new("mkfifo").arg(pipe).status().unwrap().success());
        }),
        ("a link to a file without end", |world, _| symlink("/dev/zero", instead(world)).unwrap()),
        ("a link to itself", |world, _| symlink(file(&world.house), instead(world)).unwrap()),
        ("a file in place of all conversations", |world, _| {
            let folder = world.house.path(".self/mind/conversations");
            std::fs::remove_dir_all(&folder).unwrap();
            std::fs::write(folder, "mine").unwrap();
        }),
    ]
}

#[tokio::test]
async fn whatever_stands_in_a_conversations_place_the_owner_is_answered() {
    loopback!();
    let (world, bytes) = talked(Wire::Anthropic, Rules::default(), NATIVE).await;
    let memory = std::fs::read(world.house.path(".self/memory.jsonl")).unwrap();
    for (life, (name, harm)) in (2..).zip(harms()) {
        println!("{name}");
        world.house.write(".self/memory.jsonl", &memory);
        let folder = world.house.path(".self/mind/conversations");
        let _ = std::fs::remove_file(&folder);
        let _ = std::fs::remove_dir_all(&folder);
        world.house.write(".self/mind/conversations/talk-main.jsonl", &bytes);
        harm(&world, &bytes);
        let (asked, answer) = (format!("are you there, {life}?"), format!("yes, {life}"));
        let (told, calls) = (asked.clone(), answer.clone());
        world.server.change_mind(move |seen| match seen.last_results().pop() {
            _ if seen.autonomous || !seen.all_text().contains(&told) => Say::new().rests(300),
            Some((name, _)) if name.contains("owner") => Say::new().says("Said.").rests(300),
            _ => {
                // What was done stands in its records, whatever became of the conversation.
                let text = seen.all_text();
                let lost = text.contains("Your last conversation is lost") && text.contains("line <1>");
                assert!(lost || seen.history().len() >= 3, "not told of what was done: {text}");
                Say::new().says("I am.").calls("owner.message", json!({"text": calls}))
            }
        });
        world.house.say(&json!({"at": LATER, "text": asked}).to_string());
        let mut lived = Lived::born(&world.house, LATER, life).await;
        lived.stay().await;
        let records = world.house.records();
        let said = |record: &&memory::Record| record.kind == "message" && record.data["text"] == answer;
        assert_eq!(records.iter().filter(said).count(), 1, "{name}: {:#?}", records.last());
        world.server.assert_no_violations();
        assert!(
            Conversation::load(&file(&world.house)).is_some(),
            "{name}: no conversation stands there now"
        );
    }
    let diary = std::fs::read_to_string(world.house.path("self/diary.md")).unwrap();
    assert_eq!((diary.matches("<0>").count(), diary.matches("<1>").count()), (1, 1), "{diary}");
}

/// A disk full in the middle of a line: what is gone on with is what the file says, never what only memory held.
#[test]
fn an_entry_that_could_not_be_written_is_not_in_the_conversation() {
    let house = TempHouse::new();
    let path = house.path("talk.jsonl");
    let said = |text: &str| Entry::Said { text: text.to_owned(), life: 1, at_s: 0, shown: BTreeMap::new() };
    let mut talk = Conversation::begin(path.clone(), Default::default(), Vec::new()).unwrap();
    talk.add(said("one")).unwrap();
    let kept = std::fs::read(&path).unwrap();
    if !std::path::Path::new("/dev/full").exists() {
        println!("skipped: there is no /dev/full here");
        return;
    }
    // A full device takes no byte of it.
    std::fs::remove_file(&path).unwrap();
    symlink("/dev/full", &path).unwrap();
    assert!(talk.add(said("two")).is_err());
    std::fs::remove_file(&path).unwrap();
    std::fs::write(&path, &kept).unwrap();
    talk.add(said("three")).unwrap();
    let turns = |words: &[&str]| -> Vec<Turn> {
        words.iter().map(|text| Turn::Said { text: (*text).to_owned() }).collect()
    };
    assert_eq!(Conversation::load(&path).unwrap().turns, turns(&["one", "three"]));
    assert_eq!(talk.turns, turns(&["one", "three"]), "its memory says what its file does not");
}
