//! A job from the owner's word to the answer in the life after, by a mind that reads before it writes, and errs thrice.

use super::faithful::{Faithful, Rules, Say, Seen, Shown, Wire};
use super::{LIMITS, start, until, until_remembered};
use serde_json::{Value, json};
use trials::model::{MONEY, asleep};
use trials::{House, lines};

const ASKED: &str = "Give yourself a tool files.words that counts words, lines and characters of a workspace file, with tests; then tell me how many words notes.txt has.";
const NOTES: &str = "three herons stood\nin the reed\tand one flew\n";

/// The test that goes with it.
const TEST: &str = r#"//! Words, lines and characters of a workspace file are counted.

use crate::yard::Yard;
use serde_json::json;

#[tokio::test] async fn words_lines_and_letters_of_a_file_are_counted() {
    let mut yard = Yard::new();
    yard.put(".self/workspace/a.txt", "ein B\u{e4}r\n tanzt\n");
    let counted = yard.call("files.words", json!({"path": "a.txt"})).await;
    assert_eq!((&counted["words"], &counted["lines"], &counted["characters"]), (&json!(3), &json!(2), &json!(15)));
    assert_eq!(yard.call("files.words", json!({"path": "no.txt"})).await["ok"], json!(false));
}
"#;

/// Thoughts it may take.
const MOST_THOUGHTS: usize = 11;

/// What came of a call of this tool in the last thought.
fn came(seen: &Seen, tool: &str) -> Vec<String> {
    let results = seen.last_results().into_iter();
    results.filter(|(name, _)| name.replace('_', ".") == tool).map(|(_, text)| text).collect()
}

/// All results of the conversation, as one text.
fn all_results(seen: &Seen) -> String {
    let parts = seen.messages.iter().flat_map(|message| &message.parts);
    let texts = parts.filter_map(|part| match part {
        Shown::Result { text, .. } => Some(text.as_str()),
        _ => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}

/// A line that a search found: its file, and what stands there.
fn hit<'a>(found: &'a str, part: &str) -> (&'a str, &'a str) {
    let line = found.lines().find(|line| line.contains(part)).unwrap_or_else(|| panic!("no {part}: {found}"));
    let mut parts = line.splitn(3, ':');
    (parts.next().unwrap(), parts.nth(1).unwrap().trim())
}

/// Each step is written from what the request shows, and from nothing else.
fn step(seen: &Seen) -> Say {
    let is_asked = seen.messages.iter().flat_map(|message| &message.parts).any(
        |part| matches!(part, Shown::Text(text) if text.contains("# Your owner's words") && text.contains(ASKED)),
    );
    let said = seen.history().into_iter().any(|(name, ..)| name.contains("owner"));
    if !is_asked || said {
        return Say::new().says("Nothing to do.").rests(300);
    }
    if let Some(counted) = came(seen, "files.words").pop() {
        let words = counted.lines().find_map(|line| line.strip_prefix("words: ")).unwrap_or(&counted);
        let text = format!("notes.txt has {words} words");
        return Say::new().says("I tell it.").calls("owner.message", json!({"text": text, "done": true}));
    }
    if seen.tool("files.words").is_some() {
        let text = seen.all_text();
        let born = text.split("What this life was born with").nth(1).unwrap_or_default();
        assert!(born.contains("Now(files::words)"), "it is not shown what it was born with: {text}");
        return Say::new()
            .thinks("It is there.")
            .says("I count.")
            .calls("files.words", json!({"path": "notes.txt"}));
    }
    if let Some(text) = came(seen, "repo.edit").pop() {
        return mended(&text);
    }
    if !came(seen, "repo.outline").is_empty() {
        return written(&all_results(seen));
    }
    match came(seen, "repo.search").as_slice() {
        [entered, tests] => looks_closer(entered, tests),
        _ => Say::new()
            .thinks("How is a tool entered?")
            .says("I look how a tool that is there is entered, and where tests are.")
            .calls(
                "repo.search",
                json!({"pattern": "\"files\\.(read|write)\"", "path": "creature/src/tools", "context": 6}),
            )
            .calls("repo.search", json!({"pattern": "^mod (tools|yard|wakes);", "path": "creature/tests"})),
    }
}

/// It knows where: now what stands there.
fn looks_closer(entered: &str, tests: &str) -> Say {
    let (row, _) = hit(entered, "\"files.read\"");
    assert!(entered.contains("Now(files::read)"), "its row does not name its function: {entered}");
    let family = row.replace("catalogue/files.rs", "files.rs");
    let (main, _) = hit(tests, "mod yard;");
    Say::new()
        .says("I read the family it belongs to, and what its tests stand on.")
        .calls("repo.outline", json!({"path": family}))
        .calls("repo.read", json!({"path": family, "item": "read"}))
        .calls("repo.outline", json!({"path": main.replace("main.rs", "yard.rs")}))
}

fn between<'a>(text: &'a str, before: &str, after: &str) -> &'a str {
    let rest = text.split_once(before).unwrap_or_else(|| panic!("no {before}: {text}")).1;
    rest.split_once(after).unwrap_or_else(|| panic!("no {after}: {text}")).0
}

fn edit(why: &str, edits: Value) -> Say {
    let summary = "count what is in a file: the owner asked for it";
    Say::new().says(why).calls("repo.edit", json!({"edits": edits, "summary": summary, "hold": null}))
}

/// What it is told is wrong is mended by an edit of a line.
fn mended(text: &str) -> Say {
    if text.contains("`old` is not there") {
        let path = between(text, " of ", ": `old`");
        let real =
            text.lines().find_map(|line| line.split_once(": ").filter(|(_, line)| *line == "mod wakes;"));
        let (_, real) = real.unwrap_or_else(|| panic!("it is not shown what stands there: {text}"));
        return edit("So it is called.", json!([{"path": path, "old": real}]));
    }
    if text.contains("cargo build failed") {
        let path = between(text, "--> ", ":");
        let (wrong, right) =
            (between(text, "no method named `", "`"), between(text, "there is a method `", "`"));
        return edit("It is called otherwise.", json!([{"path": path, "old": wrong, "new": right}]));
    }
    assert!(
        text.contains("1 test fails") && text.contains("words_lines_and_letters"),
        "not foreseen: {text}"
    );
    let said = |side: &str| text.lines().find_map(|line| line.trim_start().strip_prefix(side));
    let bytes_for_letters = said("left: ").is_some_and(|left| left.ends_with("Number(16))"));
    assert!(
        bytes_for_letters && said("right: ").is_some_and(|right| right.ends_with("Number(15))")),
        "{text}"
    );
    let (bytes, letters) = ("text.len())", "text.chars().count())");
    edit(
        "Bytes are no letters.",
        json!([{"path": "creature/src/tools/files.rs", "old": bytes, "new": letters}]),
    )
}

/// One edit: the tool, its row in the table, and its tests.
fn written(shown: &str) -> Say {
    let (table, _) = hit(shown, "\"files.read\"");
    let (main, listed) = hit(shown, "mod wakes;");
    // As its neighbours have it: the signature, how a path is found, and how a fault is told.
    let numbered =
        shown.lines().find(|line| line.contains("pub fn read(tools") && line.ends_with('{')).unwrap();
    let signature = &numbered[numbered.find("pub fn").unwrap()..];
    for needed in [
        "let file = inside(tools, args, path)?;",
        "args.text(\"path\")",
        "files::whole(&file, most)",
        "tools.belt.files.most_bytes",
        "&[PATH",
    ] {
        assert!(shown.contains(needed), "it was not shown `{needed}`: {shown}");
    }
    assert!(shown.contains("pub fn put(") && shown.contains("pub async fn call("), "{shown}");
    let tool = format!(
        "{}\n    let path = args.text(\"path\");\n    let file = inside(tools, args, path)?;\n    let most = tools.belt.files.most_bytes;\n    \
         let text = files::whole(&file, most)\n        \
         .map_err(|cause| Fault::caused(format!(\"count {{path}}\"), &cause, \"files.list shows what is there\"))?;\n    \
         let text = String::from_utf8_lossy(&text);\n    \
         let (words, lines, characters) = (text.split_whitespaces().count(), text.lines().count(), text.len());\n    \
         Ok(json!({{\"path\": path, \"words\": words, \"lines\": lines, \"characters\": characters}}))\n}}\n\n",
        signature.replace("fn read(", "fn words(")
    );
    let entered = "tool(\"files.words\", &[PATH], House, Now(files::words), ALL_SUBSESSIONS, \"count words, lines and characters of a file of your workspace\"),";
    let first = "tool(\n        \"files.read\",";
    let edits = json!([
        {"path": table.replace("catalogue/files.rs", "files.rs"), "old": signature, "new": format!("{tool}{signature}")},
        {"path": table, "old": first, "new": format!("{entered}\n    {first}")},
        // It misremembers the name.
        {"path": main, "old": format!("pub {listed}"), "new": format!("{listed}\nmod words;")},
        {"path": main.replace("main.rs", "words.rs"), "old": "", "new": TEST},
    ]);
    edit("I write it, with its test.", edits)
}

/// The owner asks for a tool; it is written, mended three times by a line, born and used, and the owner told.
pub fn gives_itself_a_tool(house: &House) {
    let server = Faithful::start(Wire::Anthropic, Rules::default(), step);
    let (model, address) = (Wire::Anthropic.model(), server.base_url());
    let prices = MONEY.replace("prices.scripted", &format!("prices.{model}"));
    house.write("owner.toml", &format!(
        "{LIMITS}{prices}{}[rest]\nshortest_s = 1\nlongest_s = 2\n[model]\nprovider = \"anthropic\"\nmodel = \"{model}\"\nbase_url = \"{address}\"\nkey_env = \"TEST_MODEL_KEY\"\n",
        asleep()
    ));
    house.write(".self/workspace/notes.txt", NOTES);
    let good = house.read(".self/last_good.txt");
    let before = lines(&house.path(".self/memory.jsonl")).len();
    house.say(ASKED);
    let guardian = start(house);
    let answer = until_remembered(house, "the answer to the job", |record| {
        server.assert_no_violations();
        record["data"]["from"] == "creature"
            && record["data"]["text"].as_str().is_some_and(|text| text.contains("notes.txt has"))
    });
    assert_eq!(answer["data"]["text"], "notes.txt has 9 words", "{answer:#}");
    let records = lines(&house.path(".self/memory.jsonl")).split_off(before);
    let changes: Vec<&Value> = records.iter().filter(|record| record["kind"] == "self_change").collect();
    let stages: Vec<&str> = changes.iter().filter_map(|change| change["data"]["stage"].as_str()).collect();
    assert_eq!(
        stages,
        ["apply", "build", "test", "asked", "born"],
        "each mistake costs one more edit of a line"
    );
    let change = changes[3];
    let at = |record: &Value| -> jiff::Timestamp { record["at"].as_str().unwrap().parse().unwrap() };
    let first = records.iter().find(|record| record["kind"] == "thought").unwrap();
    let took = at(&answer).duration_since(at(first)).as_secs_f64();
    println!(
        "the job took {took:.1} s beside the model, from its first thought to the answer: {}",
        change["data"]["took"]
    );
    assert!(answer["life"].as_u64() > change["life"].as_u64(), "another life answers");
    one_conversation(&server.seen());
    until(house, "the life with the tool to be blessed", || {
        house.status()["blessed"] == true && house.read(".self/last_good.txt") != good
    });
    assert_eq!(guardian.stop(), 0);
    server.assert_no_violations();
    println!("{}", super::faithful::ledger::table(&server.ledger(), &super::faithful::Prices::MIDDLE));
    let good = house.read(".self/last_good.txt").trim().to_owned();
    assert!(
        house
            .git(&["show", &format!("{good}:creature/src/tools/catalogue/files.rs")])
            .contains("files::words")
    );
}

/// Counted from the owner's word to the answer: each request goes on from the one before, and the next life from a handover.
fn one_conversation(seen: &[Seen]) {
    let job: Vec<&Seen> = seen
        .iter()
        .filter(|seen| {
            let said = |text: &String| text.contains("# Your owner's words") && text.contains(ASKED);
            seen.messages
                .iter()
                .flat_map(|message| &message.parts)
                .any(|part| matches!(part, Shown::Text(text) if said(text)))
        })
        .collect();
    let answered = job.iter().position(|seen| !came(seen, "owner.message").is_empty()).unwrap_or(job.len());
    assert!((4..=MOST_THOUGHTS).contains(&answered), "{answered} thoughts");
    println!("{answered} thoughts from the owner's word to the answer");
    let thoughts: Vec<usize> = job[..answered].iter().map(|seen| seen.thoughts()).collect();
    let next = thoughts.iter().rposition(|at| *at == 0).unwrap();
    assert!(next > 0, "the life after begins anew: its tools are others");
    let expected: Vec<usize> = (0..next).chain(0..answered - next).collect();
    assert_eq!(thoughts, expected, "a conversation was dropped");
    let handed: String = job[next]
        .messages
        .iter()
        .flat_map(|message| &message.parts)
        .map(|part| match part {
            Shown::Text(text) => text.as_str(),
            _ => "",
        })
        .collect();
    for kept in [
        "How your last conversation ended",
        ASKED,
        "I write it, with its test.",
        "- repo.edit",
        "## What came back last",
    ] {
        assert!(handed.contains(kept), "`{kept}` is not handed over: {handed}");
    }
}
