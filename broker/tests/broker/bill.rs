//! What a call comes to, as data: likely and at most, and what an answer may claim.

use broker::ground::caps::Cost;
use broker::llm::bill::{Bill, Like};
use broker::llm::experience::{Experience, Head};
use broker::llm::request::Size;
use broker::money::prices::{Prices, Usage};
use broker::policy::Policy;

/// Of a model at 2 and 10 dollars; 40,000 tokens in at most, 8,000 out.
fn bill() -> Bill {
    let rate = Prices::new(&Policy::default()).of("claude-sonnet-5-5");
    let size = Size { input_tokens: 40_000, output_tokens: 8_000, ..Size::default() };
    Bill { rate, size, like: None }
}

fn sized(change: impl FnOnce(&mut Size)) -> Bill {
    let mut bill = bill();
    change(&mut bill.size);
    bill
}

#[test]
fn absurd_usage_is_held_at_what_the_request_can_have_cost() {
    let bill = bill();
    let most = 100_000 + 80_000;
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
                ..Usage::default()
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
    let bill = sized(|size| size.output_tokens = 1);
    let usage = Usage { input: 10, output: 900, ..Usage::default() };
    assert_eq!(bill.by_usage(&usage, 4_000), (20 + 9_000, false));
    let (held, is_beyond) = bill.by_usage(&usage, 100);
    assert!(is_beyond && held == 10 * 2 + 5 + 1_000, "{held}");
}

fn learned(experience: &Experience, usage: &Usage) {
    experience.learn("m", bill().like(usage), None, usage);
}

#[test]
fn what_is_likely_is_learned_from_the_dearest_of_the_latest_calls() {
    let experience = Experience::default();
    let cost = || Bill { like: experience.of("m"), ..bill() }.cost(0);
    assert_eq!(cost().likely, 16_680 * 5 / 2 + 25_000, "as usual, while nothing is known yet");
    for (input, output) in [(10_000, 400), (8_000, 800)] {
        learned(&experience, &Usage { input, output, ..Usage::default() });
    }
    // A quarter above 10,000 tokens in and 800 out, at the price of writing to a cache.
    assert_eq!(cost().likely, 12_520 * 5 / 2 + 10_000);
    assert!(experience.of("other").is_none());
    for _ in 0..16 {
        let like = Like { input_permille: Some(100), output_tokens: 80 };
        experience.learn("m", like, None, &Usage::default());
    }
    assert_eq!(cost().likely, 5_000 * 5 / 2 + 1_000);
    learned(&experience, &Usage { input: u64::MAX, output: u64::MAX, ..Usage::default() });
    assert_eq!(cost().likely, cost().most);
}

/// Found: a token a byte was reserved, three to four times what a prompt has, so that caps were met long before money was.
#[test]
fn a_prompt_is_reserved_by_the_tokens_a_byte_that_were_seen() {
    let experience = Experience::default();
    let reserved =
        || Bill { like: experience.of("m"), ..sized(|size| size.extra_tokens = 1_000) }.reserved_tokens();
    assert_eq!(reserved(), 39_000 / 2 + 1_000, "two bytes a token before anything is settled");
    learned(&experience, &Usage { input: 12_000, output: 5, ..Usage::default() });
    assert_eq!(reserved(), 39_000 * 375 / 1_000 + 1_000, "a quarter above what was seen");
    learned(&experience, &Usage { input: 2_000, cache_read: 14_000, ..Usage::default() });
    assert_eq!(reserved(), 39_000 / 2 + 1_000, "the highest of what was seen, read from a cache or not");
    learned(&experience, &Usage { input: 36_000, ..Usage::default() });
    assert_eq!(reserved(), 40_000, "never above a token a byte");
    for _ in 0..16 {
        learned(&experience, &Usage { input: 10, ..Usage::default() });
    }
    assert_eq!(reserved(), 39_000 / 4 + 1_000, "never below a quarter");
    // Too short to tell, and not of words alone: both teach nothing of a prompt.
    let usage = Usage { input: 900, output: 7, ..Usage::default() };
    for odd in [sized(|size| size.input_tokens = 1_500), sized(|size| size.extra_tokens = 51_000)] {
        assert_eq!(odd.like(&usage), Like { input_permille: None, output_tokens: 7 });
    }
}

#[test]
fn a_usage_beyond_the_reservation_counts_as_it_is() {
    let bill = bill();
    let usage = Usage { input: 30_000, output: 10, ..Usage::default() };
    assert!(usage.prompt() > bill.reserved_tokens());
    assert_eq!(bill.by_usage(&usage, 100), (60_000 + 100, false));
}

#[test]
fn what_begins_as_the_last_call_that_was_read_is_likely_read() {
    let experience = Experience::default();
    let body = |tail: &str| format!("{}{tail}", "the same from the start. ".repeat(400)).into_bytes();
    let (first, next) = (body("\"cache_control\""), body("and more of it, with the mark behind"));
    let read = |body: &[u8]| experience.cached_tokens("m", body);
    let learn = |usage: &Usage| experience.learn("m", bill().like(usage), Head::of(&first).as_ref(), usage);
    learn(&Usage { input: 9_000, cache_read: 1_000, ..Usage::default() });
    assert_eq!(read(&next), 0, "the last call was hardly read from a cache");
    learn(&Usage { input: 500, cache_read: 9_000, cache_write: 400, ..Usage::default() });
    assert_eq!(read(&next), 9_400, "what was read and what was written");
    assert_eq!((read(b"the same"), read(&[b'x'; 20_000])), (0, 0), "neither a short one nor another");
    assert_eq!(experience.cached_tokens("other", &next), 0);
    let bill = Bill { like: experience.of("m"), ..bill() };
    let (fresh, cached) = (bill.cost(0), bill.cost(9_400));
    assert_eq!(fresh.most, cached.most, "what is reserved stays uncached");
    // 9,400 tokens at 0.20 in place of 2.50 USD a million.
    assert_eq!(fresh.likely - cached.likely, 9_400 * 23 / 10);
}

#[test]
fn a_cut_stream_counts_its_prompt_and_a_bound_on_what_it_wrote() {
    let bill = bill();
    assert_eq!(bill.cut(None, 3_000, 1), 50_000 + 30_000, "the prompt as reserved, a token a byte written");
    assert_eq!(bill.cut(None, 0, 4), 50_000 + 10_000, "what was thought unseen has a bound by time");
    assert_eq!(bill.cut(None, 1 << 40, 1 << 40), 50_000 + 80_000, "never above the limit of a reply");
    let said = Usage { input: 1_000, cache_read: 10_000, output: 1, ..Usage::default() };
    assert_eq!(bill.cut(Some(said), 400, 1), 2_000 + 2_000 + 4_000, "a prompt it was told of");
    let said = Usage { output: 4_000, ..said };
    assert_eq!(bill.cut(Some(said), 400, 1), 4_000 + 40_000, "never below what is billed");
    assert_eq!(bill.cut(Some(said), 6_000, 1), 4_000 + 60_000, "nor below what was written");
    for zeros in [Usage::default(), Usage { input: 1, ..Usage::default() }] {
        assert_eq!(bill.cut(Some(zeros), 3_000, 1), 50_000 + 30_000, "a prompt nobody can have sent");
    }
    let all = Usage { output: 4_000, ..Usage::default() };
    assert_eq!(bill.cut(Some(all), 100, 1), 50_000 + 40_000, "the larger of both, prompt and reply");
}

#[test]
fn what_is_refused_says_how_many_tokens_would_fit() {
    let like = Some(Like { input_permille: Some(300), output_tokens: 8_000 });
    let bill = Bill { like, ..sized(|size| size.extra_tokens = 1_000) };
    let cost = bill.cost(0);
    let tokens = bill.fitting_tokens(Cost { most: cost.most - 1, likely: cost.likely });
    assert!((11_600..=11_700).contains(&tokens), "a little less than all of its 39,000 bytes: {tokens}");
    // Half of what the prompt costs, beside the reply: half of it fits.
    let half = Cost::at_most((cost.most - 80_000 - 2_500) / 2 + 80_000 + 2_500);
    let tokens = bill.fitting_tokens(half);
    assert!((5_800..=5_850).contains(&tokens), "{tokens}");
    assert_eq!(bill.fitting_tokens(Cost { likely: 0, ..cost }), 0);
    assert_eq!(bill.fitting_tokens(Cost::at_most(80_000)), 0, "the reply alone takes all");
}

#[test]
fn the_name_of_the_limit_is_learned_from_a_refusal() {
    let experience = Experience::default();
    let wants = |server: &str| experience.wants_new_limit(server);
    experience.refused("a", 500, b"max_completion_tokens");
    experience.refused("a", 400, b"something else");
    assert!(!wants("a"));
    experience.refused("a", 400, b"'max_tokens' is not supported, use 'max_completion_tokens'");
    assert!(wants("a") && !wants("b"), "each server has its own");
    experience.refused("a", 422, b"extra field: max_completion_tokens");
    assert!(!wants("a"));
}
