//! Budget arithmetic and prices as data: caps hold, no turn of the clock refreshes, nothing unknown is free.

use broker::ground::caps::{Cap, Caps, Class, Cost, Day, Limit, Money, Span, dollars, micros};
use broker::money::prices::{Prices, Rate, Usage};
use broker::policy::Policy;
use std::collections::BTreeMap;

const DAY: Limit = Limit { span: Span::Day, whole: 1_000, share: 150 };
const WEEK: Limit = Limit { span: Span::Week, whole: 3_000, share: 450 };
const CAPS: Caps = Caps([DAY, WEEK]);
const DAILY: Cap = Cap { span: Span::Day, is_share: false };
const WEEKLY: Cap = Cap { span: Span::Week, is_share: false };
const AUTONOMOUS_DAILY: Cap = Cap { span: Span::Day, is_share: true };

/// 2026-11-23, a Monday.
const MONDAY: Day = Day(20_780);

fn spend(money: &mut Money, call: &str, today: Day, class: Class, amount: u64) -> Result<(), Cap> {
    money.may(&CAPS, today, class, Cost::at_most(amount)).map_err(|no| no.cap)?;
    money.reserve(call, money.counts_on(today), class, Cost::at_most(amount));
    Ok(())
}

#[test]
fn weeks_begin_on_mondays_and_days_have_names() {
    assert_eq!(MONDAY.to_string(), "2026-11-23");
    assert_eq!(Day(MONDAY.0 + 6).monday(), MONDAY);
    assert_eq!(Day(MONDAY.0 - 1).monday(), Day(MONDAY.0 - 7));
    assert_eq!(Day(0).monday(), Day(-3), "1970 began on a Thursday");
    let json = serde_json::to_string(&MONDAY).unwrap();
    assert_eq!(json, "\"2026-11-23\"");
    assert_eq!(serde_json::from_str::<Day>(&json).unwrap(), MONDAY);
}

#[test]
fn each_share_has_its_caps_and_each_cap_its_reset() {
    let mut money = Money::default();
    spend(&mut money, "a", MONDAY, Class::Autonomous, 150).unwrap();
    assert_eq!(spend(&mut money, "b", MONDAY, Class::Autonomous, 1), Err(AUTONOMOUS_DAILY));
    spend(&mut money, "c", MONDAY, Class::Owner, 850).unwrap();
    assert_eq!(spend(&mut money, "d", MONDAY, Class::Owner, 1), Err(DAILY));
    assert_eq!(Span::Day.ends(MONDAY), Day(MONDAY.0 + 1));
    for (n, day) in [(1, Day(MONDAY.0 + 1)), (2, Day(MONDAY.0 + 2))] {
        spend(&mut money, &format!("e{n}"), day, Class::Owner, 1_000).unwrap();
    }
    let thursday = Day(MONDAY.0 + 3);
    assert_eq!(spend(&mut money, "f", thursday, Class::Owner, 1), Err(WEEKLY));
    assert_eq!(Span::Week.ends(thursday), Day(MONDAY.0 + 7));
    spend(&mut money, "g", Day(MONDAY.0 + 7), Class::Owner, 1_000).unwrap();
    // What is free is never in the way.
    assert_eq!(spend(&mut money, "h", thursday, Class::Owner, 0), Ok(()));
}

#[test]
fn a_reservation_counts_until_it_is_settled_once() {
    let mut money = Money::default();
    spend(&mut money, "a", MONDAY, Class::Owner, 900).unwrap();
    assert_eq!(spend(&mut money, "b", MONDAY, Class::Owner, 200), Err(DAILY));
    assert_eq!(money.settle("a", 100).unwrap().amount, 900);
    assert_eq!(money.settle("a", 0), None, "settled once");
    assert_eq!(money.on(MONDAY).total, 100);
    // More than was reserved is recorded as it was.
    spend(&mut money, "c", MONDAY, Class::Owner, 900).unwrap();
    money.settle("c", 5_000);
    assert_eq!(money.on(MONDAY).total, 5_100);
    assert_eq!(spend(&mut money, "d", MONDAY, Class::Owner, 1), Err(WEEKLY));
}

#[test]
fn over_midnight_a_call_counts_on_the_day_it_was_reserved() {
    let (mut money, tuesday) = (Money::default(), Day(MONDAY.0 + 1));
    spend(&mut money, "a", MONDAY, Class::Owner, 1_000).unwrap();
    spend(&mut money, "b", tuesday, Class::Owner, 1_000).unwrap();
    money.settle("a", 10);
    assert_eq!(money.on(tuesday).total, 1_000);
    assert_eq!(money.on(tuesday.monday()).total, 1_010);
}

#[test]
fn a_clock_set_back_refreshes_nothing_and_one_that_jumps_loses_nothing() {
    let mut money = Money::default();
    spend(&mut money, "a", MONDAY, Class::Owner, 1_000).unwrap();
    for back in [1, 7, 400] {
        assert_eq!(
            spend(&mut money, "b", Day(MONDAY.0 - back), Class::Owner, 1),
            Err(DAILY),
            "{back} days back"
        );
    }
    // Ten days ahead there is room, and back again nothing is forgotten.
    let ahead = Day(MONDAY.0 + 10);
    spend(&mut money, "c", ahead, Class::Owner, 600).unwrap();
    assert_eq!(spend(&mut money, "d", MONDAY, Class::Owner, 1), Err(DAILY));
    let tuesday = Day(MONDAY.0 + 1);
    spend(&mut money, "e", tuesday, Class::Owner, 400).unwrap();
    assert_eq!(spend(&mut money, "f", tuesday, Class::Owner, 1), Err(DAILY));
    assert_eq!(spend(&mut money, "g", ahead, Class::Owner, 1), Err(DAILY), "spent while it was back");
    assert_eq!(money.on(MONDAY.monday()).total, 2_000);
}

#[test]
fn very_many_days_are_bounded_and_none_is_lost() {
    let mut money = Money::default();
    for n in 0..500 {
        money.reserve(&format!("c{n}"), Day(MONDAY.0 + n), Class::Owner, Cost::at_most(1));
    }
    assert_eq!(money.on(Day(0)).total, 500);
    assert_eq!(money.on(Day(MONDAY.0 + 499)).total, 1);
    money.settle("c0", 0);
    assert_eq!(money.on(Day(0)).total, 499, "also of a day that is counted with a later one");
    assert!(serde_json::to_string(&money).unwrap().len() < 100_000);
}

/// The plainest model there is: every call with its day and cost.
#[derive(Default)]
struct Plain {
    calls: BTreeMap<String, (Day, Class, u64)>,
    newest: Option<Day>,
}

impl Plain {
    fn sum(&self, from: Day, class: Option<Class>) -> u64 {
        let counts = |call: &&(Day, Class, u64)| call.0 >= from && class.is_none_or(|class| call.1 == class);
        self.calls.values().filter(counts).map(|call| call.2).sum()
    }

    fn may(&self, today: Day, class: Class, amount: u64) -> bool {
        let fits = |from, only, cap| self.sum(from, only) + amount <= cap;
        let own = Some(Class::Autonomous);
        amount == 0
            || (fits(today, None, DAY.whole)
                && fits(today.monday(), None, WEEK.whole)
                && (class == Class::Owner
                    || (fits(today, own, DAY.share) && fits(today.monday(), own, WEEK.share))))
    }
}

#[test]
fn arithmetic_agrees_with_a_plain_model_whatever_happens() {
    for seed in 1..=200_u64 {
        let mut random = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let mut below = |most: u64| {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            random % most
        };
        let (mut money, mut plain, mut open) = (Money::default(), Plain::default(), Vec::new());
        let mut today = MONDAY;
        for n in 0..300 {
            match below(10) {
                // The clock: mostly forward, sometimes far, sometimes back.
                0 => today = Day(today.0 + below(2) as i64),
                1 if below(4) == 0 => today = Day(MONDAY.0 + below(30) as i64 - 10),
                2..=5 => {
                    let class = if below(2) == 0 { Class::Owner } else { Class::Autonomous };
                    let (call, amount) = (format!("c{n}"), below(200));
                    let fits = money.may(&CAPS, today, class, Cost::at_most(amount)).is_ok();
                    assert_eq!(fits, plain.may(today, class, amount), "seed {seed}, step {n}");
                    if fits {
                        let day = plain.newest.map_or(today, |newest| today.max(newest));
                        assert_eq!(money.counts_on(today), day);
                        money.reserve(&call, day, class, Cost::at_most(amount));
                        plain.newest = Some(day);
                        plain.calls.insert(call.clone(), (day, class, amount));
                        open.push((call, amount));
                    }
                }
                _ if !open.is_empty() => {
                    let (call, amount) = open.swap_remove(below(open.len() as u64) as usize);
                    let actual = below(amount + 1);
                    money.settle(&call, actual).unwrap();
                    plain.calls.get_mut(&call).unwrap().2 = actual;
                }
                _ => {}
            }
            assert_eq!(money.on(today).total, plain.sum(today, None), "seed {seed}, step {n}");
            assert_eq!(
                money.on(today.monday()).autonomous,
                plain.sum(today.monday(), Some(Class::Autonomous))
            );
            assert_eq!(money.open(), open.len());
        }
        // Written and read again it is the same.
        let again: Money = serde_json::from_str(&serde_json::to_string(&money).unwrap()).unwrap();
        assert_eq!(again, money);
    }
}

#[test]
fn dollars_and_micros() {
    assert_eq!(micros(5.0), 5_000_000);
    assert_eq!(micros(-1.0), 0);
    assert_eq!(micros(f64::NAN), 0);
    assert!((dollars(1_234_567) - 1.234_567).abs() < 1e-9);
}

fn prices(settings: &str) -> Prices {
    Prices::new(&Policy::read(settings).unwrap())
}

#[test]
fn known_models_have_their_price_and_other_makers_the_worst() {
    let prices = prices("");
    let cost = |model: &str| tokens(&prices, model);
    assert_eq!(cost("claude-sonnet-5-5"), 2 + 10);
    assert_eq!(cost("claude-haiku-4-5-20251001"), 1 + 5);
    assert_eq!(cost("gpt-5-2025-08-07"), 1 + 10, "1.25 + 10 without its fraction");
    for known in ["claude-opus-5-5", "claude-fable-5-1", "gpt-6.1-sol", "gpt-6-luna", "gpt-5-pro"] {
        assert_eq!(prices.guess(known), None, "{known}");
    }
    // Older than any in the table: what they cost was something else.
    for unknown in ["nobody-knows-it", "", "gpt-4", "gpt-4o-mini", "claude-2", "chatgpt-9", "egpt-9"] {
        assert_eq!(cost(unknown), 30 + 150, "{unknown}");
        assert!(prices.guess(unknown).unwrap().contains("the worst"), "{unknown}");
    }
}

#[test]
fn an_unknown_name_of_a_known_family_counts_as_its_dearest_and_the_owner_is_told() {
    let prices = prices("");
    for (model, dearest) in [
        ("claude-sonnet-7", 3 + 15),
        ("claude-sonnet-55", 3 + 15),
        ("claude-sonnet-5x", 3 + 15),
        ("anthropic/claude-sonnet-5.5", 3 + 15),
        ("us.anthropic.claude-opus-6-v1:0", 30 / 2 + 75),
        ("claude-haiku-6", 1 + 5),
        ("claude-quartz-6", 15 + 75),
        ("gpt-7", 5 + 30),
        ("gpt-7-sol", 5 + 30),
        ("gpt-7-terra", 2 + 12),
        ("gpt-9-mini", 4 + 1),
        ("gpt-5.4-mini-ultra", 30 + 180),
        ("gpt-7-pro", 30 + 180),
    ] {
        let cost = tokens(&prices, model);
        // Fractions of a dollar are left out.
        assert!((dearest..=dearest + 1).contains(&cost), "{model}: {cost}");
        let guess = prices.guess(model).unwrap();
        assert!(guess.contains("the dearest") && guess.contains(&format!("[prices.{model:?}]")), "{guess}");
    }
}

#[test]
fn the_owners_price_of_gpt_5_is_not_that_of_gpt_5_pro() {
    let prices =
        prices("[prices.gpt-5]\ninput = 1\noutput = 1\n[prices.\"local*\"]\ninput = 0\noutput = 0\n");
    assert_eq!(tokens(&prices, "gpt-5"), 2);
    assert_eq!(tokens(&prices, "gpt-5-2025-08-07"), 2);
    assert_eq!(tokens(&prices, "gpt-5-pro"), 15 + 120);
    assert_eq!(tokens(&prices, "gpt-5-mini"), 2);
    assert!(prices.of("local-model:8b").is_free() && !prices.of("remote").is_free());
}

/// Dollars, whole, for a million tokens each way.
fn tokens(prices: &Prices, model: &str) -> u64 {
    let usage = Usage { input: 100_000, output: 100_000, ..Usage::default() };
    prices.of(model).cost(&usage) / 100_000
}

#[test]
fn without_a_table_everything_counts_as_the_worst() {
    for table in ["", "not a table", "[claude-sonnet-5]\ninput = 3"] {
        let prices = Prices::with(&Policy::default(), table);
        let usage = Usage { input: 1_000, output: 1_000, cache_read: 1_000, ..Usage::default() };
        assert_eq!(prices.of("claude-sonnet-5").cost(&usage), 30_000 + 150_000 + 30_000);
    }
}

#[test]
fn the_owners_price_wins_and_the_longest_name_counts() {
    let prices = prices(
        "[prices.\"claude*\"]\ninput = 1\noutput = 2\n[prices.\"claude-sonnet*\"]\ninput = 7\noutput = 8\n\
         [prices.\"local*\"]\ninput = 0\noutput = 0\n",
    );
    let tokens = |model: &str, usage| prices.of(model).cost(&usage);
    assert_eq!(tokens("claude-sonnet-5", Usage { input: 10, ..Usage::default() }), 70);
    assert_eq!(tokens("claude-haiku-4-5", Usage { output: 10, ..Usage::default() }), 20);
    // Missing: a cache is read as input and written at twice that.
    assert_eq!(tokens("claude-x", Usage { cache_read: 10, ..Usage::default() }), 10);
    assert_eq!(tokens("claude-x", Usage { cache_write: 10, ..Usage::default() }), 20);
    assert!(prices.of("local-model").is_free());
    assert!(!prices.of("remote-model").is_free());
}

#[test]
fn the_worst_case_is_never_below_the_cost() {
    let prices = prices("");
    for model in ["claude-sonnet-5-5", "claude-haiku-5-5", "gpt-5.4", "gpt-6.1-terra", "gpt-7", "unknown"] {
        let rate: Rate = prices.of(model);
        for input in [1, 1_000, 199_999, 200_001, 900_000] {
            let kinds = [
                Usage { input, output: 500, ..Usage::default() },
                Usage { cache_read: input, output: 500, ..Usage::default() },
                Usage { cache_write: input, output: 500, ..Usage::default() },
                Usage { input: input / 2, cache_write: input / 2, output: 500, ..Usage::default() },
            ];
            assert!(
                kinds.iter().all(|usage| rate.cost(usage) <= rate.worst(input, 500, false)),
                "{model} {input}"
            );
            let hour = Usage { cache_write_hour: input, output: 500, ..Usage::default() };
            assert!(rate.cost(&hour) <= rate.worst(input, 500, true), "{model} {input}");
        }
    }
    let long = |input| Usage { input, ..Usage::default() };
    assert_eq!(prices.of("claude-sonnet-4-6").cost(&long(200_001)), 2 * 3 * 200_001);
    assert_eq!(
        prices.of("claude-sonnet-5-5").cost(&long(200_001)),
        2 * 200_001,
        "one price for all of its window"
    );
    assert_eq!(prices.of("claude-haiku-5-5").cost(&long(100_001)), 50_001, "five times as much");
    assert_eq!(prices.of("claude-sonnet-5-5").cost(&long(u64::MAX)), u64::MAX);
}

#[test]
fn a_share_holds_what_is_likely_and_bends_for_what_is_possible() {
    let may = |money: &Money, most, likely| {
        money.may(&CAPS, MONDAY, Class::Autonomous, Cost { most, likely }).map_err(|no| no.cap)
    };
    let mut money = Money::default();
    money.reserve("a", MONDAY, Class::Autonomous, Cost { most: 130, likely: 60 });
    assert_eq!(may(&money, 57, 57), Ok(()), "most: a quarter beyond 150");
    assert_eq!(may(&money, 58, 57), Err(AUTONOMOUS_DAILY));
    money.settle("a", 130);
    assert_eq!(may(&money, 57, 20), Ok(()));
    assert_eq!(may(&money, 57, 21), Err(AUTONOMOUS_DAILY), "likely: no further than the share");
    // The owner's caps do not bend.
    let full = Cost { most: 871, likely: 1 };
    assert_eq!(money.may(&CAPS, MONDAY, Class::Owner, full).map_err(|no| no.cap), Err(DAILY));
}

#[test]
fn a_refusal_says_whether_calls_under_way_are_in_the_way() {
    let mut money = Money::default();
    spend(&mut money, "a", MONDAY, Class::Owner, 500).unwrap();
    let no =
        |money: &Money, amount| money.may(&CAPS, MONDAY, Class::Owner, Cost::at_most(amount)).unwrap_err();
    let first = no(&money, 600);
    assert_eq!((first.spent, first.reserved, first.waits, first.is_too_large), (0, 500, true, false));
    money.settle("a", 500);
    let second = no(&money, 600);
    assert_eq!((second.spent, second.reserved, second.waits, second.is_too_large), (500, 0, false, false));
    assert!(no(&money, 1_001).is_too_large);
}
