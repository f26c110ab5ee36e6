//! Tests of how a result reads: text as text, never longer than the cap, and no hole in a span of lines.

use crate::seeing::{after, body};
use crate::yard::Yard;
use creature::tools::show;
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use std::fmt::Write;

#[tokio::test]
async fn a_result_reads_as_text_and_not_as_json() {
    let mut yard = Yard::new();
    yard.put("creature/a.rs", "//! \"A\".\n\tlet x = \"\\n\";\n");
    let read = yard.shown("repo.read", json!({"path": "creature/a.rs"})).await;
    assert_eq!(read, "path: creature/a.rs\nlines: 1-2 of 2\n\n1  //! \"A\".\n2  \tlet x = \"\\n\";\n");
    let ran = yard.shown("repo.run", json!({"command": "echo one; echo two >&2; exit 3"})).await;
    let begins = "failed: the command ended: exit status 3\nhint: stdout and stderr say why\nstatus: 3\n";
    assert!(ran.starts_with(begins) && ran.contains("stdout: one") && ran.contains("stderr: two"), "{ran}");
    let failed = yard.shown("repo.read", json!({})).await;
    assert_eq!(
        failed,
        "failed: repo.read needs `path`\nhint: it takes {path, from?: 1-, lines?: 1-, item?}\n"
    );
    let listed = show::shown(
        &json!({"ok": true, "list": [{"id": "a", "n": 1}, "two", []], "none": []}),
        &Map::new(),
        false,
        900,
    );
    assert_eq!(listed, "none: none\nlist:\n- id: a; n: 1\n- two\n");
    let error: String = (1..=3_000).map(|at| format!("line {at} of an error\n")).collect();
    let whole = Map::from_iter([("error".to_owned(), json!("kept.txt"))]);
    let long = show::shown(&json!({"ok": false, "error": error, "hint": "mend"}), &whole, false, 5_000);
    let next = after(&long, "{path: kept.txt, from:").unwrap();
    assert!(
        long.starts_with("failed: line 1 of an error\nhint: mend\n")
            && long.ends_with("line 3000 of an error\n")
    );
    assert!(long.contains(&format!("\nline {} of an error\n… lines {next}-", next - 1)), "{long}");
    assert!(long.contains("of 3000 left out") && !long.contains(&format!("\nline {next} of")), "{long}");
    assert_eq!(show::shown(&json!({"ok": true}), &Map::new(), false, 900), "ok\n");
}

/// JSON that a tool might answer.
fn any_result() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<u32>().prop_map(Value::from),
        "[a-zé🦊 \n]{0,400}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 60, 8, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..8).prop_map(Value::from),
            prop::collection::btree_map("[a-z]{1,8}", inner, 0..8)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn nothing_shown_is_longer_than_the_cap(result in any_result(), failed in any::<bool>(), most in 0_usize..3_000) {
        let mut result = match result {
            Value::Object(fields) => fields,
            other => Map::from_iter([("result".to_owned(), other)]),
        };
        result.insert("ok".to_owned(), json!(!failed));
        let shown = show::shown(&Value::Object(result), &Map::new(), false, most);
        prop_assert!(shown.chars().count() <= most, "{} of {most}: {shown}", shown.chars().count());
    }

    #[test]
    fn lines_left_out_are_counted(lines in prop::collection::vec("[a-z]{0,60}", 2..400), most in 600_usize..6_000) {
        let text = lines.join("\n") + "\n";
        let shown = show::shown(&json!({"ok": true, "stdout": text}), &Map::new(), false, most);
        prop_assert!(shown.chars().count() <= most);
        let mut seen: Vec<&str> = shown.lines().collect();
        if let Some(at) = seen.iter().position(|line| line.starts_with("… lines ")) {
            let (mark, numbers) = (seen.remove(at), |part: &str| part.parse::<usize>().unwrap());
            let (first, last) = mark.trim_start_matches("… lines ").split(' ').next().unwrap().split_once('-').unwrap();
            prop_assert_eq!((numbers(first), seen.len()), (at + 1, lines.len() - (numbers(last) + 1 - numbers(first))));
            let expected: Vec<&str> = lines[..at].iter().chain(&lines[numbers(last)..]).map(String::as_str).collect();
            prop_assert_eq!(seen, expected);
        } else {
            prop_assert_eq!(seen, text.lines().collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_span_of_lines_has_no_hole(
        lines in prop::collection::vec("[a-zé🦊]{0,80}", 1..200),
        from in 1_usize..150,
        count in 1_usize..200,
        most in 400_usize..4_000,
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let mut yard = Yard::new();
        yard.put("creature/some.rs", &(lines.join("\n") + "\n"));
        yard.tools.most_shown = most;
        let from = from.min(lines.len());
        let args = json!({"path": "creature/some.rs", "from": from, "lines": count});
        let shown = runtime.block_on(yard.shown("repo.read", args));
        prop_assert!(shown.chars().count() <= most);
        let mut expected = String::new();
        let width = lines.len().to_string().len();
        let told = body(&shown).lines().count();
        for (at, line) in (from..).zip(&lines[from - 1..]).take(told) {
            writeln!(expected, "{at:>width$}  {line}").unwrap();
        }
        prop_assert!(told > 0);
        prop_assert_eq!(body(&shown), expected);
        let next = from + told;
        prop_assert_eq!(after(&shown, "next_from:"), (next <= lines.len()).then_some(next));
    }
}
