//! `say`: the word is kept whatever comes, and what is printed is the answer to that very word.

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};
use std::io::Write;
use std::process::Stdio;
use trials::lease::Lease;
use trials::{Guardian, House, SOUND, lines, said};

const INBOX: &str = ".self/inbox.jsonl";
const MEMORY: &str = ".self/memory.jsonl";

/// Hears each line of the inbox that names its thread, remembers it, and answers on that thread: not at all where it
/// begins with `never`, where it begins with `later` after much that is no answer; before one that
/// begins with `early` it answers another.
pub const ANSWERS: &str = r#"
told=0
record() { printf '{"at":"2026-01-02T03:04:05.000Z","life":%s,"kind":"message","data":{%s}\n' "$FERAL_LIFE" "$1" >> .self/memory.jsonl; }
tell() { record "\"from\":\"creature\",\"kind\":\"$1\",\"text\":\"$2\",\"thread\":\"$3\"}"; }
hear() {
  [ -f .self/inbox.jsonl ] || return 0
  number=0
  while IFS= read -r line; do
    number=$((number+1)); [ "$number" -gt "$told" ] || continue
    told=$number
    case "$line" in *'"thread"'*) ;; *) continue;; esac
    text=$(printf '%s' "$line" | sed 's/.*"text":"\(.*\)","thread".*/\1/')
    thread=$(printf '%s' "$line" | sed 's/.*"thread":"\([^"]*\)".*/\1/')
    case "$text" in early*) tell answer 'to an earlier word' "$thread";; esac
    record "\"from\":\"owner\",\"id\":\"$number\",${line#?}"
    case "$text" in
    never*) ;;
    later*) tell waiting 'the model is down' "$thread"; tell reminder 'feed the herons' "$thread"
      tell answer 'to somebody else' main; tell answer "at last: $text" "$thread";;
    *) tell answer "you said: $text" "$thread";;
    esac
  done < .self/inbox.jsonl
}
think alive
while :; do hear; beat; sleep 0.1; done
"#;

fn living() -> (House, Guardian) {
    let house = House::new(ANSWERS);
    let guardian = house.start();
    house.until("it lives", || !house.thoughts().is_empty());
    (house, guardian)
}

fn out(output: &std::process::Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn words(house: &House) -> Vec<String> {
    lines(&house.path(INBOX))
        .iter()
        .map(|line| line["text"].as_str().unwrap_or_default().to_owned())
        .collect()
}

#[test]
fn a_word_is_kept_and_its_answer_is_printed_whole() {
    let (house, guardian) = living();
    // As an owner's editor may have left it.
    house.write(INBOX, "half a word");
    let output = house.ask(&["say", "what", "are you", "up to?"]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert_eq!(out(&output), "you said: what are you up to?\n", "and nothing else: {}", said(&output));
    let kept = house.read(INBOX);
    let (before, word) = kept.split_once('\n').unwrap();
    assert_eq!(before, "half a word", "what stood there is not swallowed");
    let word: Value = serde_json::from_str(word).unwrap();
    assert!(
        word["at"].as_str().unwrap().ends_with('Z') && word["thread"].as_str().unwrap().starts_with("say-")
    );

    let long: String = (0..800).map(|number| format!("word{number:04} ")).collect();
    let long = format!("\"{long}\"\n\n    let indented = 1; class=Odb (9);\tü");
    let output = house.ask(&["say", "--json", &long]);
    let told: Value = serde_json::from_str(&out(&output)).unwrap();
    assert_eq!((&told["word"], &told["answer"]), (&json!(long), &json!(format!("you said: {long}"))));
    assert_eq!(told["at"], "2026-01-02T03:04:05.000Z");
    let output = house.ask(&["say", &long]);
    assert_eq!(
        out(&output),
        format!("you said: {}\n", long.replace('\t', "    ")),
        "to the letter, line by line"
    );
    guardian.stop();
}

#[test]
fn a_word_from_the_standard_input_is_taken_and_no_escape_reaches_the_terminal() {
    let house = House::new(&ANSWERS.replace("you said: ", r"\\u001b[2J\\u202eyou said: "));
    let guardian = house.start();
    house.until("it lives", || !house.thoughts().is_empty());
    let mut child = house
        .command(&["say", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all("  two\nlines\n".as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let told = out(&output);
    assert!(told.ends_with("you said: two\nlines\n"), "{}", said(&output));
    assert!(told.contains("u{1b}[2J") && !said(&output).contains(['\u{1b}', '\u{202e}']), "{told:?}");
    assert_eq!(words(&house), ["two\nlines"]);
    guardian.stop();
}

#[test]
fn several_at_once_are_each_told_their_own_answer() {
    let (house, guardian) = living();
    std::thread::scope(|scope| {
        for number in 0..8 {
            let house = &house;
            scope.spawn(move || {
                let word = format!("word number {number}");
                let output = house.ask(&["say", &word]);
                assert_eq!(out(&output), format!("you said: {word}\n"), "{}", said(&output));
            });
        }
    });
    let mut kept = words(&house);
    kept.sort();
    assert_eq!(kept, (0..8).map(|number| format!("word number {number}")).collect::<Vec<_>>(), "each once");
    guardian.stop();
}

#[test]
fn what_is_no_answer_to_it_is_not_taken_for_one() {
    let (house, guardian) = living();
    let output = house.ask(&["say", "later, please"]);
    assert_eq!(out(&output), "at last: later, please\n", "{}", said(&output));
    assert!(said(&output).contains("still waiting; it says: the model is down"), "{}", said(&output));

    // On a thread others speak on too, what was said before the word was heard is none.
    let output = house.ask(&["say", "--thread", "garden", "early, please"]);
    assert_eq!(out(&output), "you said: early, please\n", "{}", said(&output));
    assert_eq!(lines(&house.path(INBOX)).last().unwrap()["thread"], "garden");

    let output = house.ask(&["say", "--wait", "1", "--json", "never mind"]);
    assert_eq!(output.status.code(), Some(3), "{}", said(&output));
    assert!(
        said(&output).contains("no answer within 1 s") && said(&output).contains("-- feed"),
        "{}",
        said(&output)
    );
    let told: Value = serde_json::from_str(&out(&output)).unwrap();
    assert_eq!((&told["answer"], &told["at"]), (&Value::Null, &Value::Null));
    assert_eq!(words(&house).last().unwrap(), "never mind", "it is kept");
    guardian.stop();
}

#[test]
fn where_nobody_lives_it_is_said_and_the_word_is_heard_by_the_next_that_does() {
    let house = House::new(ANSWERS);
    let output = house.ask(&["say", "are you there?"]);
    assert_eq!(output.status.code(), Some(1));
    let told = said(&output);
    assert!(told.contains("nobody lives here now: no guardian runs") && told.contains("is kept"), "{told}");
    let output = house.ask(&["say", "--wait", "0", "a second one"]);
    // Found: where it was not waited for, nothing said that nobody would hear it for now.
    let kept = "kept; nobody lives here now: no guardian runs; ";
    assert!(output.status.success() && out(&output).starts_with(kept), "{}", said(&output));
    assert_eq!(words(&house), ["are you there?", "a second one"]);

    let guardian = house.start();
    house.until("both are answered", || {
        let memory = house.read(MEMORY);
        memory.contains("you said: are you there?") && memory.contains("you said: a second one")
    });
    assert!(house.ask(&["pause"]).status.success());
    let output = house.ask(&["say", "and now?"]);
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    assert!(said(&output).contains("it is paused; `cargo run -p guardian -- resume`"), "{}", said(&output));

    // The guardian ends while a word waits.
    assert!(house.ask(&["resume"]).status.success());
    house.until("it lives again", || house.thoughts().len() > 1);
    let child =
        house.command(&["say", "never"]).stderr(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    house.until("the word is kept", || words(&house).iter().any(|word| word == "never"));
    guardian.stop();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    assert!(said(&output).contains("kept for when it does"), "{}", said(&output));
}

#[test]
fn ctrl_c_ends_the_waiting_and_the_word_stays() {
    let (house, guardian) = living();
    let child =
        house.command(&["say", "never"]).stderr(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    house.until("the word is kept", || words(&house) == ["never"]);
    kill(Pid::from_raw(child.id() as i32), Signal::SIGINT).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), out(&output).as_str()), (Some(130), ""), "{}", said(&output));
    assert!(said(&output).contains("the word stays kept"), "{}", said(&output));
    assert_eq!(words(&house), ["never"]);
    guardian.stop();
}

/// The creature would pass it over or take a part of it.
#[test]
fn what_the_creature_would_not_take_as_it_is_is_refused_and_not_kept() {
    let house = House::new(SOUND);
    let long = "ü".repeat(8_001);
    let many = "a".repeat(65);
    for wrong in [
        &["say"][..],
        &["say", ""],
        &["say", " \n"],
        &["say", "-"],
        &["say", "a bell \u{7}"],
        &["say", &long],
        &["say", "--thread", "", "hello"],
        &["say", "--thread", "with space", "hello"],
        &["say", "--thread", &many, "hello"],
        &["say", "--wait", "long", "hello"],
        &["asks", "--wait", "1"],
    ] {
        let output = house.ask(wrong);
        assert_eq!(output.status.code(), Some(2), "{wrong:?}: {}", said(&output));
        assert!(!said(&output).contains('\u{7}'), "{}", said(&output));
    }
    assert_eq!(house.read(INBOX), "", "nothing is kept");
    let longest = "ü".repeat(8_000);
    let output = house.ask(&["say", "--wait", "0", &longest]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert_eq!(words(&house), [longest]);
    // What lies in its place is not written through, and not waited for.
    std::fs::remove_file(house.path(INBOX)).unwrap();
    nix::unistd::mkfifo(&house.path(INBOX), nix::sys::stat::Mode::S_IRWXU).unwrap();
    let output = house.ask(&["say", "hello"]);
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    assert!(said(&output).contains("failed to append to"), "{}", said(&output));
}

/// Several take turns by a lock on the folder, which the creature can hold too.
#[test]
fn a_lock_that_is_never_given_back_keeps_no_word_from_the_inbox() {
    let house = House::new(SOUND);
    let folder = std::fs::File::open(house.path(".self")).unwrap();
    fs2::FileExt::lock_exclusive(&folder).unwrap();
    let output = house.ask(&["say", "--wait", "0", "hello"]);
    assert!(output.status.success(), "{}", said(&output));
    assert_eq!(words(&house), ["hello"]);
}

/// The words are those that a test of the creature's holds instinct to.
#[test]
fn a_command_that_is_a_word_says_it_and_prints_the_answer() {
    let (house, guardian) = living();
    for (args, word) in [
        (&["remind", "in 10 minutes to stretch"][..], "remind me in 10 minutes to stretch"),
        (&["remind", "me", "tomorrow", "at", "9", "to", "call"], "remind me tomorrow at 9 to call"),
        (&["pulse"], "List your standing concerns, please."),
        (&["dream"], "Dream now, please."),
        (&["compact"], "Take a snapshot now, please."),
    ] {
        let output = house.ask(args);
        assert_eq!(out(&output), format!("you said: {word}\n"), "{}", said(&output));
        assert_eq!(output.status.code(), Some(0));
    }
    let output = house.ask(&["dream", "--json", "--thread", "nights"]);
    let told: Value = serde_json::from_str(&out(&output)).unwrap();
    assert_eq!((&told["word"], &told["thread"]), (&json!("Dream now, please."), &json!("nights")));
    assert_eq!(words(&house).len(), 6);
    guardian.stop();
    for wrong in [&["remind"][..], &["remind", " "], &["dream", "of", "herons"], &["pulse", "--full"]] {
        assert_eq!(house.ask(wrong).status.code(), Some(2), "{wrong:?}");
    }
    assert_eq!(house.ask(&["compact"]).status.code(), Some(1), "nobody lives to hear it");
    assert_eq!(words(&house).len(), 7, "and it is kept");
}

/// Found: `say` failed with "try again" while the inbox was leased, and the word was nowhere.
#[test]
fn a_word_for_an_inbox_that_is_leased_is_kept_once_it_is_given_back() {
    let house = House::new("think alive; live");
    house.say("first");
    let lease = Lease::of(&house.path(".self/inbox.jsonl"));
    let mut say = house.command(&["say", "--wait", "0", "second"]).stdout(Stdio::null()).spawn().unwrap();
    house.until("the word to wait", || lease.is_waited_for());
    assert!(!house.read(".self/inbox.jsonl").contains("second"));
    drop(lease);
    assert!(say.wait().unwrap().success());
    assert_eq!(house.read(".self/inbox.jsonl").matches("second").count(), 1);
}
