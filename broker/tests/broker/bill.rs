//! What a call comes to, as data: likely and at most, and what an answer may claim.

use broker::llm::Wire;
use broker::llm::bill::{Bill, Like};
use broker::llm::experience::Experience;
use broker::llm::request::Judged;
use broker::policy::Policy;
use broker::prices::{Prices, Usage};

/// Of a model at 2 and 10 dollars; 40,000 tokens in at most, 8,000 out.
fn bill() -> Bill {
    let rate = Prices::new(&Policy::default()).of("claude-sonnet-5-5");
    let judged = Judged {
        model: "claude-sonnet-5-5".into(),
        is_stream: false,
        input_tokens: 40_000,
        output_tokens: 8_000,
        hour_cache: false,
        body: vec![],
    };
    Bill::new(rate, &judged)
}

#[test]
fn absurd_usage_is_held_at_what_the_request_can_have_cost() {
    let bill = bill();
    let most = bill.cost(None).most;
    assert_eq!(most, 100_000 + 80_000);
    for absurd in [4_294_967_295, u64::MAX, 40_001] {
        for usage in [
            Usage { input: absurd, ..Usage::default() },
            Usage { cache_read: absurd, output: 5, ..Usage::default() },
            Usage {
                input: absurd,
                output: absurd,
                cache_write: absurd,
                cache_write_hour: absurd,
                cache_read: absurd,
            },
            Usage { cache_write_hour: 40_000, output: 8_000, ..Usage::default() },
        ] {
            let (cost, is_beyond) = bill.by_usage(&usage, 100);
            assert!(is_beyond && cost <= most, "{usage:?}: {cost}");
        }
    }
    assert_eq!(bill.by_usage(&Usage { output: 9_000, ..Usage::default() }, 100), (80_000, true));
    let honest = Usage { input: 10_000, output: 500, ..Usage::default() };
    assert_eq!(bill.by_usage(&honest, 2_000), (25_000, false));
}

#[test]
fn a_server_that_heeds_no_limit_is_believed_as_far_as_its_answer_reaches() {
    let bill = Bill { output_tokens: 1, ..bill() };
    let usage = Usage { input: 10, output: 900, ..Usage::default() };
    assert_eq!(bill.by_usage(&usage, 4_000), (20 + 9_000, false));
    let (held, is_beyond) = bill.by_usage(&usage, 100);
    assert!(is_beyond && held == 10 * 2 + 5 + 1_000, "{held}");
}

#[test]
fn what_is_likely_is_learned_from_the_dearest_of_the_latest_calls() {
    let (bill, experience) = (bill(), Experience::default());
    let cost = || bill.cost(experience.of("m"));
    assert_eq!(cost().likely, 16_680 * 5 / 2 + 25_000, "as usual, while nothing is known yet");
    for (input, output) in [(10_000, 400), (8_000, 800)] {
        experience.learn("m", bill.like(&Usage { input, output, ..Usage::default() }));
    }
    // A quarter above 10,000 tokens in and 800 out, at the price of writing to a cache.
    assert_eq!(cost().likely, 12_520 * 5 / 2 + 10_000);
    assert!(experience.of("other").is_none());
    for _ in 0..16 {
        experience.learn("m", Like { input_permille: 100, output_tokens: 80 });
    }
    assert_eq!(cost().likely, 5_000 * 5 / 2 + 1_000);
    experience.learn("m", Like { input_permille: u64::MAX, output_tokens: u64::MAX });
    assert_eq!(cost().likely, cost().most);
}

#[test]
fn the_name_of_the_limit_is_learned_from_a_refusal() {
    let experience = Experience::default();
    let wants = || experience.wants_new_limit(Wire::OpenAi);
    experience.refused(Wire::OpenAi, 500, b"max_completion_tokens");
    experience.refused(Wire::OpenAi, 400, b"something else");
    assert!(!wants());
    experience.refused(Wire::OpenAi, 400, b"'max_tokens' is not supported, use 'max_completion_tokens'");
    assert!(wants());
    experience.refused(Wire::OpenAi, 422, b"extra field: max_completion_tokens");
    assert!(!wants());
}
