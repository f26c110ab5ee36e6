//! Conversations as text and what plain code makes of them, of every wire.

use creature::tools::catalogue::LIST;
use mind::extract::extract;
use mind::transcript::{Line, lines, text};
use model::{Answer, Turn};
use serde_json::{Value, json};

fn told(text: &str) -> Turn {
    Turn::Said { text: text.to_owned() }
}

fn came(id: &str, text: &str, failed: bool) -> Turn {
    Turn::Results { results: vec![Answer { id: id.to_owned(), text: text.to_owned(), failed }] }
}

/// The same step on every wire: some words, and a call of id `c`.
fn steps(words: &str, tool: &str, args: &Value) -> Vec<(Value, bool)> {
    let wire_name = tool.replace('.', "_");
    let thought =
        json!({"monologue": words, "intent": "", "tool_calls": [{"tool": tool, "args": args}], "sleep_s": 0});
    vec![
        (
            json!([
                {"type": "thinking", "thinking": "hidden", "signature": "s"},
                {"type": "text", "text": words},
                {"type": "tool_use", "id": "c", "name": wire_name, "input": args},
            ]),
            false,
        ),
        (
            json!([
                {"type": "reasoning", "encrypted_content": "hidden"},
                {"type": "message", "content": [{"type": "output_text", "text": words}]},
                {"type": "function_call", "call_id": "c", "name": wire_name, "arguments": args.to_string()},
            ]),
            false,
        ),
        (
            json!({"role": "assistant", "content": words, "tool_calls": [
                {"id": "c", "type": "function", "function": {"name": wire_name, "arguments": args.to_string()}},
            ]}),
            false,
        ),
        (json!({"role": "assistant", "content": thought.to_string()}), true),
    ]
}

#[test]
fn every_wire_reads_as_the_same_lines() {
    let args = json!({"path": "creature/src/a.rs"});
    for (raw, in_json) in steps("I look.", "repo.read", &args) {
        let answer = match in_json {
            true => told(
                "# What came of your calls, in their order\n\n## repo.read\nfn a() {}\n## not a tool\nend\n",
            ),
            false => came("c", "fn a() {}\n## not a tool\nend", false),
        };
        let read = lines(&[told("look at a"), Turn::Thought { raw: raw.clone() }, answer], &LIST);
        let Value::Object(args) = args.clone() else { panic!() };
        let expected = vec![
            Line::Told("look at a".to_owned()),
            Line::Said("I look.".to_owned()),
            Line::Called { tool: "repo.read".to_owned(), args },
            Line::Came { call: 2, text: "fn a() {}\n## not a tool\nend".to_owned(), failed: false },
        ];
        assert_eq!(read, expected, "{raw}");
        let text = text(&read);
        assert!(!text.contains("hidden") && text.contains("== called ==\nrepo.read {"), "{text}");
    }
}

#[test]
fn plain_code_says_what_was_done_what_failed_and_which_files_changed() {
    let mut turns = vec![told("make it greet")];
    let mut call = |tool: &str, args: Value, text: &str, failed: bool| {
        let raw = steps("I go on.", tool, &args).remove(0).0;
        turns.extend([Turn::Thought { raw }, came("c", text, failed)]);
    };
    for page in 0..3 {
        call("repo.read", json!({"path": format!("creature/src/{page}.rs")}), "fn", false);
    }
    let edit = |path: &str| json!({"edits": [{"path": path, "old": "a", "new": "b"}], "summary": "s"});
    call("repo.edit", edit("creature/src/lost.rs"), "failed: `old` stands there twice", true);
    call("repo.edit", edit("creature/src/greet.rs"), "path: x", false);
    call("repo.test", json!({"filter": "greet"}), "failed: greets_in_one_word panicked", true);
    call("notes.append", json!({"name": "diary", "text": "greeted"}), "ok", false);
    let cut =
        steps("Now the last thing.", "web.fetch_text", &json!({"url": "https://a.example"})).remove(0).0;
    turns.push(Turn::Thought { raw: cut });
    let said = extract(&lines(&turns, &LIST), &LIST);
    for part in [
        "- repo.read ×3: creature/src/0.rs; creature/src/1.rs; creature/src/2.rs",
        "- repo.edit: creature/src/lost.rs (failed)",
        "- web.fetch_text: https://a.example (its outcome is not known)",
        "## What failed and was not made good\n- repo.test greet: failed: greets_in_one_word panicked\n",
        "## Files you changed\n- creature/src/greet.rs\n- diary\n",
        "- Now the last thing.",
    ] {
        assert!(said.contains(part), "{part:?} is not in:\n{said}");
    }
    assert_eq!(extract(&[], &LIST), "");
    let long: Vec<Turn> = turns.iter().cycle().take(4_000).cloned().collect();
    assert!(extract(&lines(&long, &LIST), &LIST).chars().count() < 24_000);
}
