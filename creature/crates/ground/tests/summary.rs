//! Summaries, as data.
#![allow(clippy::disallowed_methods, clippy::unwrap_used)]

use ground::summary::summarise;

const TEXT: &str = "Heading\n\nThe gull is a bird of the coast. Dr. Smith watched gulls at the coast for ten years, \
    e.g. in Wales. It rained. Gulls of the coast eat fish, and the gull colony grows where fish are.\n\n\
    * Buy tickets now\n* Menu\n\nOne visitor said \"The weather was awful.\" Cars were parked behind the museum!";

#[test]
fn the_sentences_that_say_most_in_their_order() {
    assert_eq!(
        summarise(TEXT, 2),
        [
            "Dr. Smith watched gulls at the coast for ten years, e.g. in Wales.",
            "Gulls of the coast eat fish, and the gull colony grows where fish are."
        ]
    );
    assert_eq!(summarise(TEXT, 2), summarise(TEXT, 2));
    assert!(!summarise(TEXT, 99).iter().any(|sentence| sentence.contains("Menu")));
}

#[test]
fn the_first_sentence_has_the_advantage_and_not_more() {
    let first = "Harbours freeze slowly during winters.";
    let longer = "Quiet lanterns guide distant ships homeward.";
    let heavier = "Gulls follow gulls, gulls follow trawlers, trawlers follow gulls.";
    assert_eq!(summarise(&format!("{first} {longer}"), 1), [first]);
    assert_eq!(summarise(&format!("{longer} {first}"), 1), [longer]);
    assert_eq!(summarise(&format!("{first} {heavier}"), 1), [heavier]);
}

#[test]
fn odd_texts_do_not_trip_it() {
    assert!(summarise("", 3).is_empty());
    assert!(summarise(" \n\n ... !!! —— ", 3).is_empty());
    assert!(summarise(TEXT, 0).is_empty());
    assert_eq!(summarise("no end in sight", 3), ["no end in sight"]);
    assert_eq!(summarise("Same thing said twice here. Same thing said twice here.", 3).len(), 1);
    let endless = "word and other words without an end ".repeat(500);
    let cut = summarise(&endless, 3);
    assert!(!cut.is_empty() && cut.iter().all(|sentence| sentence.chars().count() < 700));
    let solid = "🦀é".repeat(5000);
    assert!(summarise(&solid, 2).iter().all(|sentence| sentence.chars().count() <= 700));
    assert_eq!(summarise("今日は海に行った。鳥がたくさんいた。海の鳥は白い。", 1).len(), 1);
    assert_eq!(summarise("wrapped lines\nare one sentence. And another one follows here.", 9).len(), 2);
}

/// Nanoseconds that this thread has computed: what else the machine does is not among them.
fn computed_ns() -> Option<u64> {
    let counts = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    counts.split(' ').next()?.parse().ok()
}

/// The least that a summary of so many copies took of three tries; no two sentences are the same.
fn cost_ns(copies: usize) -> Option<u64> {
    let copy = |number: usize| TEXT.replace(". ", &format!(" at place {number}. ")) + "\n\n";
    let text: String = (0..copies).map(copy).collect();
    let tries = (0..3).map(|_| {
        let before = computed_ns()?;
        assert!(!summarise(&text, 5).is_empty());
        Some(computed_ns()? - before)
    });
    tries.min()?
}

#[test]
fn eight_times_the_text_costs_about_eight_times_as_much() {
    let Some((once, eight)) = cost_ns(200).zip(cost_ns(1_600)) else {
        println!("not counted: walls hide how long a thread computes");
        return;
    };
    println!("{once} ns, {eight} ns");
    assert!(eight < 24 * once, "{once} ns for one, {eight} ns for eight: that is not linear");
}
