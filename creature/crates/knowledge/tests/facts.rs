//! Facts: what counts as the same, what stays apart, and that merging loses no statement, whatever the paper.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

use knowledge::facts::{Fact, Line, add, list, merge, read, undo, unite, write};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

fn same(one: &str, other: &str) -> bool {
    Fact::new(one, "", "").sense() == Fact::new(other, "", "").sense()
}

#[test]
fn the_same_is_told_from_the_related() {
    for (one, other) in [
        ("The owner lives in Berlin.", "owner lives in berlin"),
        ("It isn't open on Mondays", "It is not open on monday"),
        ("“Feral” runs on Linux!", "Feral runs on  Linux"),
        ("A reader likes short posts", "The readers like short post"),
    ] {
        assert!(same(one, other), "{one} / {other}");
    }
    for (one, other) in [
        ("The price is 5 dollars", "The price is 6 dollars"),
        ("The price is 3.5", "The price is 35"),
        ("It was -4 outside", "It was 4 outside"),
        ("Growth was 5%", "Growth was 5"),
        ("It is open", "It is not open"),
        ("It is open", "It isn't open"),
        ("Alice beats Bob", "Bob beats Alice"),
        ("Alice owns the house", "Alice's brother owns the house"),
        ("The bridge is safe", "The bridge is safe in summer"),
        ("He likes red apples", "He likes green apples"),
        ("The bus leaves", "The bu leaves"),
        ("...", "!!!"),
    ] {
        assert!(!same(one, other), "{one} / {other}");
    }
}

#[test]
fn the_earliest_stays_with_its_source() {
    let paper = "# What I know\n\nOf the owner:\n- The owner lives in Berlin [mail, 2026-03-02]\n- Swifts sleep in the air\n\
        - owner lives in berlin. [x.example, 2025-01-01]\n* not mine\n- Swifts sleep in the air [book, 2026-01-01]\n";
    let merged = merge(paper);
    assert_eq!(
        merged,
        "# What I know\n\nOf the owner:\n- owner lives in berlin. [x.example, 2025-01-01]\n\
        - Swifts sleep in the air [book, 2026-01-01]\n* not mine\n"
    );
    assert_eq!((list(paper).len(), list(&merged).len()), (4, 2));
    assert_eq!(list(paper)[0].source, "mail");
    let known = add(paper, &Fact::new("The owner lives in Berlin", "guess", "2026-05-05")).unwrap_err();
    assert_eq!(known.date, "2026-03-02");
    let after = add(paper, &Fact::new("Herons\nfish  alone", "a [walk], 2026-01-01", "2026-05-05")).unwrap();
    assert!(after.ends_with("- Herons fish alone [a walk, 2026-05-05]\n"), "{after}");
}

#[test]
fn uniting_keeps_figures_and_the_earliest_source() {
    let paper = "- The shop opens at 9 [sign, 2026-02-01]\n- Swifts fly\n- The shop closes at 18:30 [mail, 2026-01-01]\n";
    let united = unite(paper, &[1, 3], "The shop is open from 9 to 18:30").unwrap();
    assert_eq!(united, "- The shop is open from 9 to 18:30 [mail, 2026-01-01]\n- Swifts fly\n");
    for (numbers, words) in [
        (vec![1, 3], "The shop is open all day"),
        (vec![1, 3], "The shop is open from 9 to 18:30 since 2020"),
        (vec![1, 4], "The shop is open from 9"),
        (vec![0, 1], "The shop is open from 9"),
        (vec![1, 1], "The shop is open from 9"),
        (vec![1], "The shop opens at 9"),
        (vec![1, 3], " "),
    ] {
        assert!(unite(paper, &numbers, words).is_err(), "{numbers:?} {words}");
    }
    assert!(unite(paper, &[1, 2], &format!("9 {}", "x".repeat(500))).is_err());
}

/// Papers of few words, so that the same is said often.
fn papers() -> impl Strategy<Value = String> {
    let word = prop::sample::select(vec![
        "the", "owl", "owls", "Owl,", "sleeps", "not", "5", "5.0", "-5", "ü", "a", "isn't",
    ]);
    let said = prop::collection::vec(word, 1..4).prop_map(|words| words.join(" "));
    let mark = prop::sample::select(vec![
        "",
        " [book]",
        " [2026-01-02]",
        " [mail, 2025-05-05]",
        " [a, b, 2026-01-01]",
        " [",
        "]",
    ]);
    let fact = (said, mark).prop_map(|(said, mark)| format!("- {said}{mark}"));
    let line =
        prop_oneof![6 => fact, 1 => "[ -~]{0,12}", 1 => Just(String::new()), 1 => Just("## Part".to_owned())];
    prop::collection::vec(line, 0..24).prop_map(|lines| lines.join("\n"))
}

fn senses(text: &str) -> BTreeMap<Vec<String>, String> {
    let mut earliest: BTreeMap<Vec<String>, String> = BTreeMap::new();
    for fact in list(text) {
        let date = if fact.date.is_empty() { "later".to_owned() } else { fact.date.clone() };
        let known = earliest.entry(fact.sense()).or_insert_with(|| date.clone());
        *known = date.min(known.clone());
    }
    earliest
}

fn others(text: &str) -> Vec<String> {
    let other = |line| if let Line::Other(text) = line { Some(text) } else { None };
    read(text).into_iter().filter_map(other).collect()
}

#[test]
fn a_line_that_somebody_spaced_otherwise_stays_as_it_is() {
    for text in ["-  two spaces\n", "- a fact []\n"] {
        assert_eq!((write(&read(text)).as_str(), others(text).len()), (text, 1));
    }
}

proptest! {
    #[test]
    fn what_is_read_is_written_as_it_was(text in papers()) {
        let ended = if text.is_empty() || text.ends_with('\n') { text.clone() } else { format!("{text}\n") };
        prop_assert_eq!(write(&read(&text)), ended);
    }

    #[test]
    fn merging_keeps_each_statement_once_with_its_earliest_date(text in papers()) {
        let merged = merge(&text);
        let after = list(&merged);
        prop_assert_eq!(senses(&merged), senses(&text));
        prop_assert_eq!(after.len(), senses(&text).len());
        prop_assert_eq!(others(&merged), others(&text));
        let before: BTreeSet<String> = list(&text).into_iter().map(|fact| format!("{fact:?}")).collect();
        prop_assert!(after.iter().all(|fact| before.contains(&format!("{fact:?}"))), "nothing is made up");
        prop_assert_eq!(merge(&merged), merged);
    }

    #[test]
    fn adding_agrees_with_merging(text in papers(), words in "[a-z5]{1,6}( [a-z5]{1,6}){0,3}", source in ".{0,20}") {
        let fact = Fact::new(&words, &source, "2026-04-04");
        match add(&text, &fact) {
            Ok(after) => {
                prop_assert_eq!(list(&after).last().cloned(), Some(fact.clone()));
                prop_assert_eq!(senses(&after).len(), senses(&text).len() + 1);
                prop_assert!(add(&after, &fact).is_err());
            }
            Err(known) => prop_assert_eq!(known.sense(), fact.sense()),
        }
    }

    #[test]
    fn undoing_gives_back_what_was_and_keeps_what_came_after(text in papers(), later in "[a-z]{7,9} stays") {
        let merged = merge(&text);
        let ended = write(&read(&text));
        prop_assert_eq!(undo(&text, &merged, &merged), ended.clone());
        let fact = Fact::new(&later, "later", "2026-04-04");
        let now = add(&merged, &fact).unwrap();
        let undone = undo(&text, &merged, &now);
        prop_assert_eq!(list(&undone).last().cloned(), Some(fact));
        prop_assert_eq!(list(&undone).len(), list(&text).len() + 1);
        prop_assert_eq!(undo(&text, &merged, &undone), undone);
    }

    #[test]
    fn no_text_does_harm(text in "(?s).{0,200}", words in ".{0,50}", numbers in prop::collection::vec(0usize..5, 0..4)) {
        merge(&text);
        let _ = unite(&text, &numbers, &words);
        let _ = add(&text, &Fact::new(&words, &text, &words));
    }
}
