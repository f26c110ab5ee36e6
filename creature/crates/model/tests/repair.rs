//! What models really write around, before and beside their JSON; and anything else, which must never panic.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

use model::repair::{Found, object};
use serde_json::{Value, json};

fn value(found: &Found) -> Value {
    Value::Object(found.object.clone())
}

#[test]
fn json_is_left_alone() {
    for text in [r#"{}"#, r#" {"a": "{\"b\": 1} // no, 'really'"} "#] {
        let found = object(text).unwrap();
        assert_eq!(value(&found), serde_json::from_str::<Value>(text).unwrap());
        assert!(found.how.is_empty(), "{:?}", found.how);
    }
}

#[test]
fn usual_damage_is_put_right_and_named() {
    let plain = json!({"a": 1, "b": [true, null]});
    let cases = [
        ("```json\n{\"a\": 1, \"b\": [true, null]}\n```", vec!["fenced"]),
        ("```\n{\"a\": 1, \"b\": [true, null]}", vec!["fenced"]),
        ("Here you go: {\"a\": 1, \"b\": [true, null]}", vec!["text before it"]),
        ("{\"a\": 1, \"b\": [true, null]}\nHope it helps!", vec!["text after it"]),
        ("{\"a\": 1, \"b\": [true, null,],}", vec!["trailing comma"]),
        ("{\"a\": 1, \"b\": [true, null]", vec!["unclosed brace"]),
        ("```json\n{\"a\": 1, \"b\": [true, null]\n```\n", vec!["unclosed brace", "fenced"]),
        ("{\"a\": 1, \"b\": [true, null}", vec!["unclosed brace"]),
        ("{\"a\": 1, // one\n \"b\": /* list */ [true, # yes\n null]}", vec!["comment"]),
        ("{'a': 1, 'b': [True, None]}", vec!["single quotes", "foreign word"]),
        ("{a: 1, b: [true, null]}", vec!["bare key"]),
        ("{\"a\": 1\n \"b\": [true\n null]}", vec!["missing comma"]),
        ("<think>{\"a\": 2, maybe? {}}</think>\n{\"a\": 1, \"b\": [true, null]}", vec!["thinking before it"]),
        ("e.g. {} or {x}: {\"a\": 1, \"b\": [true, null]}", vec!["text before it", "several objects"]),
        ("\u{feff}{\"a\": 1, \"b\": [true, null]}", vec![]),
        ("[{\"a\": 1, \"b\": [true, null]}]", vec!["text before it", "text after it"]),
    ];
    for (text, how) in cases {
        let found = object(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(value(&found), plain, "{text}");
        assert_eq!(found.how, how, "{text}");
    }
}

#[test]
fn strings_keep_what_they_say() {
    let cases = [
        ("{\"a\": \"one\ntwo\tthree\"}", "one\ntwo\tthree"),
        ("{\"a\": \"say \"hi\" to me\"}", "say \"hi\" to me"),
        ("{'a': 'it's \"fine\"'}", "it's \"fine\""),
        ("{'a': 'it\\'s'}", "it's"),
        ("{\"a\": \"C:\\dir \\d+ \\u12\",}", "C:\\dir \\d+ \\u12"),
        ("{\"a\": \"\\ud83d\\ude00 \\u00e9 \\\" \\\\ \\/ 😀\",}", "😀 é \" \\ / 😀"),
        ("{\"a\": \"```rust\nfn main() { // {\n}\n```\"}", "```rust\nfn main() { // {\n}\n```"),
        ("{\"a\": \"line\\\nnext\"}", "line\nnext"),
    ];
    for (text, said) in cases {
        let found = object(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(value(&found), json!({ "a": said }), "{text}");
    }
}

#[test]
fn a_brace_is_supplied_inside_a_thought_too() {
    let text = r#"{"calls": [{"tool": "x", "args": {"p": 1}], "sleep_s": 5}"#;
    let found = object(text).unwrap();
    let calls = json!([{"tool": "x", "args": {"p": 1}}]);
    assert_eq!(value(&found), json!({"calls": calls, "sleep_s": 5}));
}

#[test]
fn what_cannot_be_meant_in_one_way_is_an_error_that_says_where() {
    let cases = [
        ("", "no JSON object"),
        ("I will look around.", "no JSON object"),
        ("[1, 2]", "no JSON object"),
        ("{\"a\": \"cut sho", "line 1 column 7: expected a string that ends"),
        ("{\"a\": {\"b\": {\"c\": 1", "expected a key or }, found the end"),
        ("{\"calls\": [{\"tool\": \"x\"}", "found the end"),
        ("{\"a\": }", "line 1 column 7: expected a value, found \"}\""),
        ("{\"a\": 1,\n \"b\": yes}", "line 2 column 7: expected a value, found \"yes}\""),
        ("{\"a\": 1 2}", "line 1 column 9: expected a comma or }"),
        ("{\"a\": 0x1}", "expected a number"),
        ("{\"a\" 1}", "no JSON object"),
        ("{\"a\": \"\\ud800\",}", "half characters"),
    ];
    for (text, said) in cases {
        let error = object(text).expect_err(text);
        assert!(error.contains(said), "{text}: {error}");
    }
    let deep = format!("{{\"a\":{}", "[".repeat(100_000));
    assert!(object(&deep).expect_err("deep").contains("less nesting"));
}

#[test]
fn an_argument_of_a_broken_thought_does_not_pass_for_the_thought() {
    let text = "{\"monologue\": oops, \"tool_calls\": [{\"tool\": \"repo.reset_hard\", \"args\": {}}]}";
    let error = object(text).expect_err("broken at its first value");
    assert!(error.contains("column 15"), "{error}");
    let again = format!("{text}\n\nSorry, once more:\n{{\"monologue\": \"ok\"}}");
    assert_eq!(value(&object(&again).unwrap()), json!({"monologue": "ok"}));
}

struct Random(u64);

impl Random {
    fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % most as u64) as usize
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.below(from.len())]
    }

    fn text(&mut self) -> String {
        let pieces =
            ["a", "é", "\"", "'", "\\", "\n", "{", "}", "]", ", ", ": ", "//", "😀", "```", " \u{1}", "#"];
        (0..self.below(12)).map(|_| self.pick(&pieces)).collect()
    }

    fn value(&mut self, depth: usize) -> Value {
        match self.below(if depth > 3 { 5 } else { 7 }) {
            0 => json!(self.below(1_000_000) as f64 / 64.0),
            1 => json!(-(self.below(9) as i64)),
            2 => [Value::Null, json!(true), json!(false)][self.below(3)].clone(),
            3 | 4 => json!(self.text()),
            5 => (0..self.below(4)).map(|_| self.value(depth + 1)).collect(),
            _ => self.object(depth),
        }
    }

    fn object(&mut self, depth: usize) -> Value {
        let entry = |random: &mut Random| (random.text(), random.value(depth + 1));
        Value::Object((0..self.below(5)).map(|_| entry(self)).collect())
    }
}

#[test]
fn any_json_object_comes_back_through_any_wrapping() {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    for _ in 0..3_000 {
        let mut object_in = random.object(0);
        object_in["monologue"] = json!(random.text());
        let text = match random.below(2) {
            0 => object_in.to_string(),
            _ => serde_json::to_string_pretty(&object_in).unwrap(),
        };
        let before = random.pick(&["Sure!\n", "```json\n", "<think>{\"x\": [}</think>", ""]);
        let after = random.pick(&["\n```", "\nDone: (no more)", "  "]);
        let wrapped = format!("{before}{text}{after}");
        let found = object(&wrapped).unwrap_or_else(|error| panic!("{wrapped}\n{error}"));
        assert_eq!(value(&found), object_in, "{wrapped}");
    }
}

#[test]
fn no_mutilation_panics_or_takes_long() {
    let mut random = Random(0x2545_f491_4f6c_dd1d);
    let junk = [
        "{", "}", "[", "]", "\"", "'", ",", ":", "\\", "\\u", "\\ud8", "//", "/*", "#", "```", "\n", "é",
        "\0", "None", "-", "1e999", "{\"", "<think>", "\u{feff}",
    ];
    for _ in 0..20_000 {
        let mut letters: Vec<char> = random.object(0).to_string().chars().collect();
        for _ in 0..random.below(8) {
            let at = random.below(letters.len() + 1);
            match random.below(3) {
                0 => letters.truncate(at),
                1 => {
                    letters.splice(at..(at + random.below(4)).min(letters.len()), []);
                }
                _ => {
                    letters.splice(at..at, random.pick(&junk).chars());
                }
            }
        }
        let text: String = letters.into_iter().collect();
        match object(&text) {
            Ok(found) => assert!(found.start < found.end && found.end <= text.len()),
            Err(said) => assert!(!said.is_empty()),
        }
    }
    // A megabyte each: work that grew with the square of the length would not end.
    for piece in junk.iter().chain(&["{\"\n", "{\"a\":", "{\"a\":[", "\n{\"a\":1", "\" "]) {
        let _ = object(&piece.repeat((1 << 20) / piece.len()));
    }
}
