//! A talk without a model: what a word means after the one before it, and acts that are taken back.

use super::world::{PACE, START_S, World, failing};
use agenda::directive;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use mind::moment::Word;
use serde_json::json;

/// What is answered to a word, alone.
fn answer(world: &mut World, said: &str) -> String {
    let before = world.told().len();
    let word = mind::moment::Word { at: String::new(), text: said.to_owned(), thread: "main".to_owned() };
    world.moment.words.push(word);
    world.wake();
    let told = world.told();
    assert_eq!(told.len(), before + 1, "{said}: {:?}", &told[before..]);
    told[before].clone()
}

/// A house with a list that is read and written as the tools do it.
fn with_list(list: &'static str) -> World {
    World::new().answering(move |call| match call.tool.as_str() {
        "notes.read" => {
            let lines = list.lines().count();
            Some(json!({"ok": true, "text": list, "from": 1, "lines": lines, "lines_total": lines}))
        }
        "reminder.add" => Some(json!({"ok": true, "id": "reminder-4", "next": "later", "said": "tomorrow at 09:00"})),
        "reminder.list" => Some(json!({"ok": true, "reminders": [
            {"id": "reminder-4", "text": "call Ann", "said": "tomorrow at 09:00", "next": "2026-05-29T09:00:00Z"},
        ]})),
        _ => None,
    })
}

/// Found by an hour of kills: words of two chats that came at once were done twice, for those of the one were shown again
/// after words of the other stood between.
#[test]
fn words_of_two_chats_at_once_are_each_done_once() {
    let mut world = with_list("");
    let word = |thread: &str, n: usize| Word {
        at: format!("2026-05-28T20:26:40.{n:03}Z"),
        text: format!("add thing {n} to my list"),
        thread: thread.to_owned(),
    };
    let (private, group) = ((0..12).map(|n| word("telegram-1", n)), (12..18).map(|n| word("telegram-2", n)));
    let mut waiting: Vec<Word> = private.chain(group).collect();
    for round in 0..24 {
        // As the loop shows them: of one thread at a time, each word until it was answered.
        let turn = ["telegram-1", "telegram-2"][round % 2];
        let shown = waiting.iter().find(|word| word.thread == turn).or(waiting.first());
        let Some(thread) = shown.map(|word| word.thread.clone()) else { break };
        world.moment.words = waiting.iter().filter(|word| word.thread == thread).cloned().collect();
        world.moment.thread = thread;
        let thought = world.think();
        for call in thought.tool_calls.iter().filter(|call| call.tool == "memory.append") {
            let text = call.args["data"]["text"].as_str().unwrap();
            waiting.retain(|word| !text.contains(&format!("\"{}\"", &word.text[4..word.text.len() - 11])));
        }
    }
    assert!(waiting.is_empty(), "{waiting:?}");
    for n in 0..18 {
        let line = format!("- [ ] thing {n}\n");
        let done = world.called("notes.append").into_iter().filter(|call| call.args["text"] == line.as_str());
        assert_eq!(done.count(), 1, "{line}");
    }
}

/// Found by a first evening: "remnid me tomorow at 9 to call mum" and "halp" were not understood.
#[test]
fn a_slip_of_the_pen_is_asked_about_and_done_after_a_yes() {
    for (said, meant) in [
        ("remnid me tomorow at 9 to call mum", "remind me tomorrow at 9 to call mum"),
        ("please remnd me tomorrow at 9 to call mum", "please remind me tomorrow at 9 to call mum"),
        ("remiind me tmrw at 9 to call mum", "remind me tomorrow at 9 to call mum"),
        ("hwlp", "help"),
        ("folow https://example.org/feed.xml", "follow https://example.org/feed.xml"),
    ] {
        let mut world = with_list("").ungreeted();
        world.wake();
        assert_eq!(answer(&mut world, said), format!("Did you mean `{meant}`? `yes` says so."));
        assert!(!answer(&mut world, "yes").contains("Did you mean"), "{said}");
        let is_done = world.calls.iter().any(|call| call.tool == "reminder.add");
        assert_eq!(is_done, said.contains("mum"), "{said}");
    }
    let mut world = with_list("").ungreeted();
    world.wake();
    let which = "Did you mean 1 `halt` or 2 `help`? The number says which.";
    assert_eq!(answer(&mut world, "halp"), which);
    assert!(answer(&mut world, "2").contains("sentences like these"));
    // Found: "Did you mean ``?", of what has no sentence to show.
    let told = answer(&mut with_list("").ungreeted(), "cancle the reminder about mum");
    assert!(!told.contains("``"), "{told}");
    // What has no sentence near to it is not guessed at.
    let mut world = with_list("").ungreeted();
    world.wake();
    for said in ["the lamp hums", "remand prison"] {
        let told = answer(&mut world, said);
        assert!(told.contains("do not understand"), "{said}: {told}");
    }
}

/// Found by living with it: "80 s and 34 words after the offer" a plain yes followed four feeds.
#[test]
fn a_yes_answers_the_last_thing_asked_and_nothing_older() {
    let mut world = World::new().ungreeted();
    world.wake();
    answer(&mut world, "what time is it?");
    let said = answer(&mut world, "yes");
    assert_eq!(world.moment.checklist, "", "nothing is followed: {said}");
    assert!(said.contains("`follow them` does that"), "{said}");
    answer(&mut world, "follow them");
    assert!(world.moment.checklist.contains("lwn.net"), "what names it is enough");
    let mut late = World::new().ungreeted();
    late.wake();
    late.clock_s += 7_200;
    answer(&mut late, "yes");
    assert_eq!(late.moment.checklist, "", "an hour later it is no answer either");
}

#[test]
fn what_is_not_certain_is_asked_and_a_number_answers() {
    let mut world = World::new();
    let said = "I want to change what you are for";
    let (means, choices) = instinct::means(said);
    assert!(means.is_empty() && (2..=3).contains(&choices.len()), "{means:?} {choices:?}");
    let asked = answer(&mut world, said);
    assert!(asked.starts_with("Did you mean 1 `"), "{asked}");
    let at = choices.iter().position(|choice| *choice == "set_purpose").expect("it is among them");
    let told = answer(&mut world, &(at + 1).to_string());
    assert!(told.starts_with("I do not change PURPOSE.md"), "{told}");
    let told = answer(&mut world, "1");
    assert!(told.starts_with("I do not understand \"1\""), "a number answers once: {told}");
}

#[test]
fn that_is_the_last_thing_made() {
    let mut world = with_list("- [ ] buy milk\n");
    answer(&mut world, "remind me tomorrow at 9 to call Ann");
    let said = answer(&mut world, "cancel that");
    assert_eq!(world.called("reminder.cancel")[0].args["id"], "reminder-4", "{said}");
    assert_eq!(said, "Done: I no longer remind you of \"call Ann\".");
    let said = answer(&mut world, "cancel that");
    assert!(said.contains("nothing that I made for you"), "only once: {said}");
    answer(&mut world, "follow https://a.example/feed");
    let said = answer(&mut world, "undo that");
    assert!(said.contains("no longer follow https://a.example/feed"), "{said}");
    // An order that came after it is newer.
    answer(&mut world, "remind me tomorrow at 9 to call Ann");
    world.clock_s += 120;
    let mut agenda = agenda::Agenda::default();
    let now = Timestamp::from_second(world.clock_s).unwrap();
    let rules = agenda::Rules::default();
    let when = agenda::When { now, owner: true, thread: "main", rules: &rules };
    let order = directive::understand("check https://a.example every hour", now, &TimeZone::UTC).unwrap();
    agenda.apply(&agenda::Change::Directive(order.change), when).unwrap();
    world.moment.directives = agenda.directives.lines(now, &TimeZone::UTC);
    answer(&mut world, "cancel that");
    assert_eq!(world.called("directive.end").len(), 1);
}

#[test]
fn lines_of_the_list_are_ticked_off_and_struck_out_one_at_a_time() {
    let mut world = with_list("# Mine\n- [ ] buy milk\n- [ ] buy oat milk\n- [x] milk the cow\n");
    assert_eq!(
        answer(&mut world, "what is on my list?"),
        "On your list: buy milk; buy oat milk. 1 done. `done with …` ticks one off."
    );
    let said = answer(&mut world, "done with milk");
    assert!(
        said.contains("2 lines have that: buy milk; buy oat milk") && world.called("notes.write").is_empty(),
        "{said}"
    );
    let said = answer(&mut world, "done with oat milk");
    assert_eq!(said, "Done: \"buy oat milk\" is done.");
    let written = world.called("notes.write")[0].args["text"].as_str().unwrap().to_owned();
    assert_eq!(written, "# Mine\n- [ ] buy milk\n- [x] buy oat milk\n- [x] milk the cow\n");
    answer(&mut world, "remove the cow from my list");
    let written = world.called("notes.write")[1].args["text"].as_str().unwrap().to_owned();
    assert_eq!(written, "# Mine\n- [ ] buy milk\n- [ ] buy oat milk\n");
    // What was read in part is not written back.
    let mut cut = World::new().answering(|call| {
        let text = json!({"ok": true, "text": "- [ ] buy milk\n", "from": 1, "lines": 1, "lines_total": 9});
        (call.tool == "notes.read").then_some(text)
    });
    let said = answer(&mut cut, "done with milk");
    assert!(said.contains("too long") && cut.called("notes.write").is_empty(), "{said}");
}

#[test]
fn several_sentences_are_answered_one_by_one_and_all_or_none_is_done() {
    let mut world = World::new();
    let said = answer(&mut world, "Hello! What time is it? And who are you?");
    assert!(said.contains("It is 2026-05-28 20:26 UTC") && said.contains("I am Feral"), "{said}");
    assert!(!said.contains("Hello."), "a greeting beside a question needs no answer: {said}");
    let said = answer(&mut world, "Note that the key is under the stone. It is the left stone.");
    assert!(said.starts_with("Done: written down"), "{said}");
    assert!(world.papers["scratch"].contains("the key is under the stone. It is the left stone."));
    answer(&mut world, "take a snapshot. paint the fence blue.");
    assert!(world.called("memory.snapshot").is_empty(), "what is half understood is not half done");
}

/// Found: words from a chat that had waited come as lines of one word, and two of them became one item of the list.
#[test]
fn lines_that_are_understood_each_are_so_many_words() {
    let lines = "add milk to my list\nadd two eggs to my list\n\nadd bread to my list";
    let mut world = World::new().says(lines);
    world.wake();
    let told = world.told();
    assert!(told.len() == 3 && told.iter().all(|said| said.starts_with("Done: ")), "{told:?}");
    assert_eq!(world.papers["notes/todo"], "- [ ] milk\n- [ ] two eggs\n- [ ] bread\n");
    let mut world = World::new();
    answer(&mut world, "note that the key is under the stone\nthe left one, by the gate");
    let kept = &world.papers["scratch"];
    assert!(kept.contains("under the stone the left one, by the gate"), "one note of two lines: {kept}");
}

/// Words with addresses, names and quotes keep their text.
#[test]
fn what_is_kept_is_kept_as_it_was_said() {
    let mut world = World::new();
    answer(&mut world, "note: Ann's \"new\" address is <ann.o'neil@A.example>, Apt. 4?!");
    assert!(
        world.papers["scratch"].ends_with(": Ann's \"new\" address is <ann.o'neil@A.example>, Apt. 4?!\n")
    );
    answer(&mut world, "Add to my list: e-mail Bob's boss @ 5");
    assert_eq!(world.papers["notes/todo"], "- [ ] e-mail Bob's boss @ 5\n");
}

#[test]
fn an_order_that_takes_a_model_is_not_kept_in_secret() {
    let mut world = World::new();
    let said = "change your purpose to: be a lighthouse";
    let line = format!(
        "Open request request-7 of your owner's, \"{said}\"; next: finish it. purpose.rewrite allowed for it."
    );
    world.moment.requests = vec![line];
    let told = answer(&mut world, said);
    assert!(told.contains("PURPOSE.md") && told.contains("`cancel request-7` drops it"), "{told}");
    let told = answer(&mut world, "paint the fence");
    assert!(!told.contains("request-7"), "{told}");
}

/// Where a model is away, instinct takes what it knows word for word; the rest waits for the model.
#[test]
fn only_what_stands_in_the_table_is_known_in_a_models_place() {
    for known in [
        "status",
        "Hey, what's next?",
        "note the tea is cold",
        "remind me in 5 minutes to drink",
        "how do I stop you?",
    ] {
        assert!(instinct::knows(known), "{known}");
    }
    for not in [
        "hello",
        "thanks",
        "yes",
        "what do you think about tea?",
        "write me a poem",
        "I want to change what you are for",
        "read https://a.example/ and tell me whether it is any good",
        "remind me when it is done",
        "why is the sky blue?",
        "draft a post about tea",
        "what do you make of it?",
        "are you there?",
    ] {
        assert!(!instinct::knows(not), "{not}");
    }
}

#[test]
fn a_reminder_that_fails_says_so_and_is_not_the_last_thing_made() {
    let mut world = World::kept()
        .answering(|call| (call.tool == "reminder.add").then(|| failing("remind of what is past")).flatten());
    let said = answer(&mut world, "remind me at 2020-01-01 09:00 to look back");
    assert!(said.starts_with("reminder.add failed: remind of what is past"), "{said}");
    world.reborn(PACE);
    let said = answer(&mut world, "cancel that");
    assert!(said.contains("nothing that I made"), "{said}");
    assert!(world.clock_s >= START_S);
}

/// Found by reading: the questions of what it did, over which span, and what is no such question.
#[test]
fn questions_of_what_it_did_name_a_span_and_others_are_none() {
    let asked = |said: &str| {
        let mut world = World::new().says(said);
        world.wake();
        world
            .called("self.examine")
            .iter()
            .map(|call| call.args["since"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    for (said, span) in [
        ("what did you do last night and what did it cost?", "last night"),
        ("What have you done today?", "today"),
        ("what did you do since 9", "since 9"),
        ("what failed this week?", "this week"),
        ("Hey Feral, what did you do and what did it cost?", "last 24 hours"),
        (
            "Hello! Please tell me: what have you been up to since yesterday, and how much did it cost?",
            "since yesterday",
        ),
        ("how much have you spent this month", "this month"),
        ("yesterday, what went wrong?", "yesterday"),
        ("what happened overnight", "overnight"),
        ("what have you done so far today?", "today"),
        ("did anything fail in the last 2 hours?", "in the last 2 hours"),
        ("what did you do on friday and what failed?", "on friday"),
    ] {
        assert_eq!(asked(said), [span], "{said}");
    }
    for said in [
        "what did you do with my file?",
        "what happened to the mail",
        "what do you do",
        "what are you up to",
        "do what you did yesterday",
        "yesterday",
        "tell me a joke about what went wrong",
        "remind me what failed",
    ] {
        assert_eq!(asked(said), [""; 0], "{said}");
    }
    assert_eq!(asked("what did you do today and what failed yesterday?"), ["today", "yesterday"]);
}
