//! What was paid beside what stands on record: what is dropped or falsely priced is seen, what leaves no record by design is not.

use crate::witness::{AWAKE, LONGEST, RESTS, judged, record, thought, witnessed};
use guardian::decide::conduct::Invariant::{self, Costs, Done, Paid, Remembered};
use guardian::decide::witness::{Claimed, Witness};
use serde_json::{Value, json};

fn settle(decision: &str, cost: u64) -> Value {
    json!({"event": "settle", "life": 7, "decision": decision, "cost_micro_usd": cost})
}

/// What so many paid calls and such records come to.
fn account(paid: &[Value], records: &[Value]) -> Vec<(Invariant, bool)> {
    let mut witness = witnessed(&[], records);
    paid.iter().for_each(|line| witness.paid(line));
    [2_000, 3_000].into_iter().for_each(|now| witness.looked(RESTS, LONGEST, now));
    judged(&mut witness, &[Remembered, Costs])
}

fn priced(cost: f64) -> Value {
    thought(0, json!({"input_tokens": 9, "cost_usd": cost}))
}

#[test]
fn what_was_paid_is_on_record_at_its_price() {
    let six = vec![settle("by usage", 4_000); 6];
    assert_eq!(account(&six, &vec![priced(0.004); 6]), [(Remembered, true), (Costs, true)]);
    assert_eq!(account(&six, &vec![priced(0.0004); 6]), [(Remembered, true), (Costs, false)]);
    assert_eq!(account(&six, &vec![priced(0.04); 6]), [(Remembered, true), (Costs, false)]);
    assert_eq!(account(&six, &vec![thought(0, Value::Null); 6]), [(Remembered, true), (Costs, false)]);
    assert_eq!(account(&six, &[]), [(Remembered, false), (Costs, true)]);
    assert_eq!(account(&six, &vec![priced(0.004); 3]), [(Remembered, false), (Costs, true)]);
    assert_eq!(account(&six, &vec![record("heartbeat", json!({"wake": 3})); 6])[0], (Remembered, false));
    assert_eq!(account(&six[..5], &[]), [], "too few to tell");
    // Free models cost nothing.
    assert_eq!(account(&vec![settle("by usage", 0); 6], &vec![priced(0.0); 6]), [(Remembered, true)]);
}

/// Found by a harmful edit that passed: thoughts of sub-sessions told no cost, which is little beside the others.
#[test]
fn a_record_that_tells_no_cost_among_those_that_do_is_false() {
    let six = vec![settle("by usage", 4_000); 6];
    let apart = record("agenda", json!({"about": "session", "thought": 2, "usage": null}));
    let five = vec![priced(0.004); 5];
    assert_eq!(account(&six, &[five.clone(), vec![apart.clone()]].concat())[1], (Costs, false));
    let told = record("agenda", json!({"about": "session", "thought": 2, "usage": {"cost_usd": 0.004}}));
    assert_eq!(account(&six, &[five.clone(), vec![told]].concat())[1], (Costs, true));
    // A sub-session's model may be free.
    let with_free = [vec![settle("by usage", 4_000); 5], vec![settle("by usage", 0)]].concat();
    assert_eq!(account(&with_free, &[five, vec![apart]].concat())[1], (Costs, true));
}

#[test]
fn a_thought_cut_by_the_owners_word_was_paid_and_has_no_record() {
    let mut paid = vec![settle("by usage", 4_000); 6];
    paid.push(settle("cut: the client left; its prompt and what was written", 100_000));
    assert_eq!(account(&paid, &vec![priced(0.004); 6]), [(Remembered, true)]);
}

#[test]
fn a_dear_summary_of_a_talk_or_a_handover_makes_no_cost_false() {
    let paid = [vec![settle("by usage", 2_000); 5], vec![settle("by usage", 90_000); 2]].concat();
    let talk = record("observation", json!({"about": "talk", "text": "they spoke of herons"}));
    assert_eq!(account(&paid, &vec![priced(0.002); 5]), [(Remembered, true), (Costs, true)]);
    let with = [vec![priced(0.002); 5], vec![talk]].concat();
    assert_eq!(account(&paid, &with)[0], (Remembered, true));
}

#[test]
fn an_answer_that_claims_more_than_it_can_have_cost_is_no_false_record() {
    let held = "by usage, held at what it can have cost: the answer claims 9 tokens in and 9 out";
    assert_eq!(
        account(
            &[vec![settle("by usage", 4_000); 6], vec![settle(held, 4_000)]].concat(),
            &vec![priced(4.0); 7]
        ),
        [(Remembered, true)]
    );
}

#[test]
fn a_call_whose_line_in_the_ledger_comes_after_the_rest_began_counts_with_the_next() {
    let mut witness = Witness::of(7, false);
    let mut settled = 0;
    for turn in 0..12_u64 {
        let at = turn * 10_000;
        witness.looked(AWAKE, LONGEST, at);
        witness.recorded(&priced(0.004), AWAKE, at);
        // One turn late.
        (settled..turn).for_each(|_| witness.paid(&settle("by usage", 4_000)));
        settled = turn;
        [at + 1_000, at + 2_000].into_iter().for_each(|now| witness.looked(RESTS, LONGEST, now));
    }
    assert!(judged(&mut witness, &[Remembered, Costs]).iter().all(|(_, kept)| *kept));
}

#[test]
fn a_mind_that_is_away_makes_no_paid_refusal_a_forgotten_thought() {
    let mut witness = Witness::of(7, false);
    for turn in 0..20_u64 {
        witness.looked(AWAKE, LONGEST, turn * 10_000);
        witness.paid(&settle("by usage", 4_000));
        let away = Claimed { is_away: true, ..RESTS };
        [1_000, 2_000].into_iter().for_each(|at| witness.looked(away, LONGEST, turn * 10_000 + at));
    }
    assert_eq!(judged(&mut witness, &[Remembered, Costs]), []);
}

#[test]
fn a_thought_on_record_had_a_call_to_a_model() {
    let paid = |paid: &[Value], records: &[Value]| {
        let mut witness = witnessed(&[], records);
        paid.iter().for_each(|line| witness.paid(line));
        [2_000, 3_000].into_iter().for_each(|now| witness.looked(RESTS, LONGEST, now));
        judged(&mut witness, &[Paid])
    };
    assert_eq!(paid(&vec![settle("by usage", 4_000); 6], &vec![priced(0.004); 6]), [(Paid, true)]);
    assert_eq!(paid(&vec![settle("free", 0); 9], &vec![priced(0.0); 9]), [(Paid, true)], "a free model's");
    assert_eq!(
        paid(&vec![settle("stands: no usage in the answer", 9); 6], &vec![priced(0.0); 6]),
        [(Paid, true)]
    );
    assert_eq!(paid(&vec![settle("by usage", 4_000); 3], &vec![priced(0.004); 6]), [(Paid, false)]);
    assert_eq!(paid(&[], &vec![priced(0.004); 6]), [(Paid, false)], "none was ever asked");
    let others =
        vec![json!({"event": "settle", "life": 6, "decision": "by usage", "cost_micro_usd": 4_000}); 6];
    assert_eq!(paid(&others, &vec![priced(0.004); 6]), [(Paid, false)], "another life's call");
    // Instinct asks nobody, and a call may have come before what was forgotten.
    let mut instinct = thought(0, Value::Null);
    instinct["data"]["mind"] = json!("instinct");
    assert_eq!(paid(&[], &vec![instinct; 9]), []);
    assert_eq!(paid(&vec![settle("by usage", 4_000); 5], &vec![priced(0.004); 6]), [(Paid, true)]);
}

/// Found by a harmful edit that passed: the thoughts of sub-sessions were dropped, which are few beside the others.
#[test]
fn a_sub_session_that_is_done_had_a_thought_on_record() {
    let says = |about: Value| {
        let mut data = json!({"about": "session", "session": "session-1"});
        data.as_object_mut().unwrap().extend(about.as_object().unwrap().clone());
        record("agenda", data)
    };
    let [waits, runs] = ["waiting", "running"].map(|status| says(json!({"status": status, "hop": 1})));
    let thinks = says(json!({"thought": "I looked", "usage": null}));
    let [done, failed] =
        ["done", "failed"].map(|status| says(json!({"status": status, "answer": "all is well"})));
    let over = |first: &[&Value], then: &[&Value]| {
        let mut witness = Witness::of(7, false);
        for (turn, records) in [first, then, &[]].into_iter().enumerate() {
            let at = turn as u64 * 10_000;
            witness.looked(AWAKE, LONGEST, at);
            records.iter().for_each(|record| witness.recorded(record, AWAKE, at));
            [at + 1_000, at + 2_000].into_iter().for_each(|now| witness.looked(RESTS, LONGEST, now));
        }
        judged(&mut witness, &[Remembered])
    };
    assert_eq!(over(&[&waits, &runs, &thinks, &done], &[]), [(Remembered, true)]);
    assert_eq!(over(&[&thinks, &waits, &runs], &[&done]), [(Remembered, true)]);
    assert_eq!(over(&[&waits, &runs, &done], &[&thinks]), [(Remembered, true)], "memory is read first");
    assert_eq!(over(&[&waits, &runs, &done], &[]), [(Remembered, false)]);
    assert_eq!(over(&[&waits, &runs, &failed], &[]), [], "no answer, no thought");
    assert_eq!(over(&[&done], &[]), [], "it ran in another life");
}

#[test]
fn a_life_that_says_it_was_born_of_an_edit_was() {
    let says = record("self_change", json!({"ok": true, "stage": "born", "summary": "count herons"}));
    for is_born in [true, false] {
        let mut witness = Witness::of(7, is_born);
        witness.recorded(&says, AWAKE, 1_000);
        assert_eq!(judged(&mut witness, &[Done]), [(Done, is_born)]);
    }
}
