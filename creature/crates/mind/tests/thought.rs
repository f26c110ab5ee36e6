//! Reading a thought from what a model wrote.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

use mind::thought::{MOST_CALLS, Thought, of_words, read};
use serde_json::{Value, json};

fn reads(text: &str) -> Thought {
    read(text).unwrap_or_else(|why| panic!("{why}: {text}")).0
}

#[test]
fn a_plain_thought_is_read_strictly() {
    let text = json!({
        "monologue": "I look.", "intent": "look",
        "tool_calls": [{"tool": "repo.read", "args": {"path": "a.rs"}}], "sleep_s": 30,
    });
    let (thought, how) = read(&text.to_string()).unwrap();
    assert_eq!(how, "strict");
    assert_eq!(
        (thought.monologue.as_str(), thought.intent.as_str(), thought.sleep_s),
        ("I look.", "look", 30)
    );
    assert_eq!(thought.tool_calls[0].tool, "repo.read");
    assert_eq!(thought.tool_calls[0].args["path"], "a.rs");
}

#[test]
fn words_are_an_answer_only_where_nothing_of_a_thought_or_a_call_is_in_them() {
    for text in
        ["It is at four.", "<think>hm</think>\nAt four.", "Use `{}` in Rust:\n```rust\nfn main() {}\n```"]
    {
        assert!(
            of_words(text).is_some_and(|thought| thought.delivers && thought.tool_calls.is_empty()),
            "{text}"
        );
    }
    for text in [
        "",
        "{\"monologue\": \"cut sh",
        "Sure! {\"intent\": \"look",
        "```json\n{\"a\": 1}\n```",
        "I call it: <tool_call>",
        "First \"tool\": \"repo.read\"",
        "<html>sign in</html>",
        "[{\"name\": \"t\"}]",
    ] {
        assert_eq!(of_words(text), None, "{text}");
    }
}

#[test]
fn the_shapes_models_give_calls_are_all_read() {
    for call in [
        json!({"tool": "t", "args": {"a": 1}}),
        json!({"tool": " t ", "args": "{\"a\": 1}"}),
        json!({"tool": "t", "args_json": "{\"a\": 1}"}),
        json!({"tool": "t", "args": null, "args_json": "{a: 1,}"}),
        json!({"name": "t", "arguments": {"a": 1}}),
        json!({"name": "t", "input": {"a": 1}, "id": "x", "of_tomorrow": []}),
        json!({"type": "function", "function": {"name": "t", "arguments": "{\"a\":1}"}}),
    ] {
        let thought = reads(&json!({"tool_calls": [call]}).to_string());
        assert_eq!(thought.tool_calls[0].tool, "t", "{call}");
        assert_eq!(thought.tool_calls[0].args["a"], 1, "{call}");
    }
    for call in [json!({"tool": "t"}), json!({"tool": "t", "args": ""}), json!({"tool": "t", "args": null})] {
        assert!(reads(&json!({"tool_calls": [call]}).to_string()).tool_calls[0].args.is_empty(), "{call}");
    }
}

#[test]
fn rests_are_read_however_they_are_written() {
    let rest = |sleep: Value| reads(&json!({"intent": "i", "sleep_s": sleep}).to_string()).sleep_s;
    assert_eq!(rest(json!(12)), 12);
    assert_eq!(rest(json!(1.2)), 2);
    assert_eq!(rest(json!("45")), 45);
    assert_eq!(rest(json!("45 s")), 45);
    assert_eq!(rest(json!(-5)), 0);
    assert_eq!(rest(json!(1e300)), 604_800);
    assert_eq!(rest(json!(0)), 0);
}

#[test]
fn an_unsaid_rest_is_none_after_calls_and_one_without() {
    assert_eq!(reads(r#"{"intent": "i", "tool_calls": [{"tool": "t"}]}"#).sleep_s, 0);
    assert_eq!(reads(r#"{"intent": "i"}"#).sleep_s, 60);
}

#[test]
fn what_is_missing_is_empty_but_not_everything_may_be() {
    assert_eq!(reads(r#"{"monologue": null, "intent": "only"}"#).monologue, "");
    assert_eq!(reads(r#"{"monologue": ["two", "lines"]}"#).monologue, "two\nlines");
    let why = read(r#"{"answer": 42, "sleep_s": 1}"#).unwrap_err();
    assert!(why.contains("answer") && why.contains("monologue"), "{why}");
}

#[test]
fn errors_say_what_and_where() {
    for (text, says) in [
        (r#"{"intent": "i", "tool_calls": {}}"#, vec!["`tool_calls`", "list"]),
        (r#"{"intent": "i", "tool_calls": [{"tool": "t"}, 5]}"#, vec!["tool_calls[1]", "number"]),
        (r#"{"intent": "i", "tool_calls": [{"args": {}}]}"#, vec!["tool_calls[0]", "no tool"]),
        (
            r#"{"intent": "i", "tool_calls": [{"tool": "t", "args": [1]}]}"#,
            vec!["tool_calls[0]", "`args` of t", "a list"],
        ),
        (
            r#"{"intent": "i", "tool_calls": [{"tool": "t", "args_json": "[1]"}]}"#,
            vec!["tool_calls[0]", "`args_json` of t"],
        ),
        (r#"{"intent": {"a": 1}}"#, vec!["`intent`", "an object"]),
        (r#"{"intent": "i", "sleep_s": "later"}"#, vec!["`sleep_s`"]),
    ] {
        let why = read(text).unwrap_err();
        for part in says {
            assert!(why.contains(part), "{part} is not in: {why}");
        }
    }
}

#[test]
fn of_more_calls_than_allowed_the_first_are_read_and_the_others_named() {
    let call = |at: usize| json!({"tool": "repo.read", "args": {"path": format!("file-{at}.rs")}});
    let mut calls: Vec<Value> = (0..30).map(call).collect();
    calls[28] = json!({"args": {}});
    calls[29] = json!(5);
    let thought = reads(&json!({"intent": "read all", "tool_calls": calls, "sleep_s": 0}).to_string());
    assert_eq!((thought.tool_calls.len(), thought.over.len()), (MOST_CALLS, 14));
    let said = thought.not_run().unwrap();
    assert!(said.starts_with("not run: 14 more than the 16 allowed at once: repo.read"), "{said}");
    assert!((16..28).all(|at| said.contains(&format!("file-{at}.rs"))), "{said}");
    assert!(said.contains("names no tool") && said.chars().count() < 1_150, "{said}");
    assert_eq!(reads(&json!({"tool_calls": &calls[..16]}).to_string()).not_run(), None);
    let many: Vec<Value> = (0..500).map(call).collect();
    let said = reads(&json!({"tool_calls": many}).to_string()).not_run().unwrap();
    assert!(said.contains("484 more") && said.contains("and 464 others") && said.chars().count() < 1_150);
}

#[test]
fn no_text_makes_it_panic() {
    let whole = json!({"monologue": "mö", "intent": "i", "tool_calls": [{"tool": "t", "args_json": "{\"a\":\"ü\"}"}], "sleep_s": 3}).to_string();
    for (at, _) in whole.char_indices() {
        let _ = read(&whole[..at]);
        let _ = read(&whole[at..]);
    }
    for text in ["", "null", "[]", "\"text\"", "{}", "no", "```json\n```", "\u{0}"] {
        assert!(read(text).is_err(), "{text:?}");
    }
}
