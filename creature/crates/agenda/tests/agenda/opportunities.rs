//! Opportunities as data, and their pipeline against a simple model of where the money is.

use agenda::opportunities::{Move, OpportunityChange, Stage, Totals};
use agenda::{Agenda, Change, Rules, When};
use jiff::{SignedDuration, Timestamp};
use proptest::prelude::*;
use serde_json::Value;

const START: Timestamp = Timestamp::constant(1_780_000_000, 0);

fn tell(agenda: &mut Agenda, seconds: i64, owner: bool, change: OpportunityChange) -> Result<Value, String> {
    let now = START + SignedDuration::from_secs(seconds);
    let when = When { now, thread: "main", owner, rules: &Rules::default() };
    let before = agenda.clone();
    let told = agenda.apply(&Change::Opportunity(change), when).map_err(|refused| refused.error);
    assert!(told.is_ok() || *agenda == before, "a refusal leaves all as it was");
    told
}

fn add(title: &str, amount_usd: f64) -> OpportunityChange {
    OpportunityChange::Add { title: title.to_owned(), amount_usd, next: String::new() }
}

fn to(stage: Stage) -> OpportunityChange {
    moved(Move { stage: Some(stage), ..Move::default() })
}

fn moved(to: Move) -> OpportunityChange {
    OpportunityChange::Move { id: "opportunity-1".to_owned(), to }
}

fn close() -> OpportunityChange {
    OpportunityChange::Close { id: "opportunity-1".to_owned(), reason: "told".to_owned() }
}

#[test]
fn from_lead_to_money_and_forgotten_the_earned_stays() {
    let mut agenda = Agenda::default();
    tell(&mut agenda, 0, false, add("tea labels", 400.0)).unwrap();
    let totals = |agenda: &Agenda| {
        let Totals { pipeline_usd, pending_usd, earned_usd } = agenda.opportunities.totals();
        (pipeline_usd, pending_usd, earned_usd)
    };
    assert_eq!(totals(&agenda), (400.0, 0.0, 0.0));
    for stage in [Stage::Evaluate, Stage::Propose, Stage::Execute, Stage::Collect] {
        tell(&mut agenda, 1, false, to(stage)).unwrap();
    }
    assert_eq!(totals(&agenda), (0.0, 400.0, 0.0));
    tell(&mut agenda, 2, false, moved(Move { earned_usd: Some(150.25), ..Move::default() })).unwrap();
    assert_eq!(totals(&agenda), (0.0, 249.75, 150.25));
    let earned = Some(250.0);
    tell(
        &mut agenda,
        3,
        false,
        moved(Move { stage: Some(Stage::Report), earned_usd: earned, ..Move::default() }),
    )
    .unwrap();
    assert_eq!(tell(&mut agenda, 4, false, close()).unwrap()["earned_usd"], 400.25);
    assert_eq!(totals(&agenda), (0.0, 0.0, 400.25));
    assert_eq!(agenda.opportunities.items.purge(START + SignedDuration::from_secs(5)), 1);
    assert_eq!(totals(&agenda), (0.0, 0.0, 400.25));
}

#[test]
fn above_the_threshold_the_owner_decides() {
    let mut agenda = Agenda::default();
    let approve = || OpportunityChange::Approve { id: "opportunity-1".to_owned() };
    let amount = |usd| moved(Move { amount_usd: Some(usd), ..Move::default() });
    let refused = Err("opportunity-1 of 501 USD waits for your owner's yes".to_owned());
    tell(&mut agenda, 0, false, add("a festival", 501.0)).unwrap();
    tell(&mut agenda, 1, false, to(Stage::Evaluate)).unwrap();
    let proposed = tell(&mut agenda, 2, false, to(Stage::Propose)).unwrap();
    assert!(proposed["note"].as_str().unwrap().contains("waits for your owner's yes"), "{proposed}");
    assert_eq!(tell(&mut agenda, 3, false, to(Stage::Execute)), refused);
    assert_eq!(
        tell(&mut agenda, 3, true, to(Stage::Execute)),
        refused,
        "a word of the owner's is not yet a yes"
    );
    assert!(tell(&mut agenda, 4, false, approve()).is_err(), "nobody says yes to himself");
    assert_eq!(tell(&mut agenda, 5, true, approve()).unwrap()["approved_usd"], 501.0);
    tell(&mut agenda, 6, false, to(Stage::Execute)).unwrap();
    assert!(tell(&mut agenda, 7, false, amount(502.0)).is_err(), "the yes was to 501");
    tell(&mut agenda, 8, false, amount(20.0)).unwrap();
}

#[test]
fn stages_are_not_skipped_and_nothing_is_earned_for_nothing() {
    let mut agenda = Agenda::default();
    assert_eq!(tell(&mut agenda, 0, false, to(Stage::Scan)).unwrap_err(), "there is no opportunity-1");
    tell(&mut agenda, 0, false, add("x", 1.0)).unwrap();
    for (change, why) in [
        (to(Stage::Propose), "opportunity-1 is at scan and cannot go to propose"),
        (moved(Move { earned_usd: Some(1.0), ..Move::default() }), "nothing is earned before it is executed"),
        (moved(Move { amount_usd: Some(-1.0), ..Move::default() }), "-1 is no amount"),
        (
            moved(Move { stage: Some(Stage::Evaluate), earned_usd: Some(f64::NAN), ..Move::default() }),
            "nothing is earned before it is executed",
        ),
        (add("X", 2.0), "opportunity-1 is about that already"),
    ] {
        assert_eq!(tell(&mut agenda, 1, false, change).unwrap_err(), why);
    }
    tell(&mut agenda, 2, false, to(Stage::Evaluate)).unwrap();
    tell(&mut agenda, 3, false, to(Stage::Scan)).unwrap();
    tell(&mut agenda, 4, false, close()).unwrap();
    assert_eq!(tell(&mut agenda, 5, false, to(Stage::Scan)).unwrap_err(), "opportunity-1 has ended");
}

#[test]
fn a_change_is_kept_in_memory_in_this_form() {
    let change = Change::Opportunity(to(Stage::Collect));
    let text = serde_json::to_string(&change).unwrap();
    assert!(
        text.starts_with(r#"{"opportunity":{"do":"move","id":"opportunity-1","stage":"collect""#),
        "{text}"
    );
    assert_eq!(serde_json::from_str::<Change>(&text).unwrap(), change);
}

#[derive(Clone, Debug)]
enum Act {
    Move(usize),
    Amount(u32),
    Earn(u32),
    Approve(bool),
    Close,
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        4 => (0..6_usize).prop_map(Act::Move),
        1 => (0..1_000_u32).prop_map(Act::Amount),
        1 => (0..600_u32).prop_map(Act::Earn),
        1 => any::<bool>().prop_map(Act::Approve),
        1 => Just(Act::Close),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_pipeline_goes_as_the_model_says(acts in prop::collection::vec(act(), 0..60)) {
        let mut agenda = Agenda::default();
        tell(&mut agenda, 0, false, add("all", 100.0)).unwrap();
        // Stage, amount, earned, approved, open.
        let mut model = (0_usize, 100_u32, 0_u32, 0_u32, true);
        for act in acts {
            let (stage, amount, earned, approved, open) = model;
            let may = |stage, amount| stage != 3 || amount <= 500.max(approved);
            let (change, owner, after) = match act {
                Act::Move(next) => {
                    let ok = next <= stage + 1 && may(next, amount);
                    (to(Stage::ALL[next]), false, ok.then_some((next, amount, earned, approved, true)))
                }
                Act::Amount(usd) => {
                    let change = moved(Move { amount_usd: Some(f64::from(usd)), ..Move::default() });
                    (change, false, may(stage, usd).then_some((stage, usd, earned, approved, true)))
                }
                Act::Earn(usd) => {
                    let change = moved(Move { earned_usd: Some(f64::from(usd)), ..Move::default() });
                    // One that stands at execute stays within what was allowed, or it could not stand there.
                    (change, false, (stage >= 3).then_some((stage, amount, earned + usd, approved, true)))
                }
                Act::Approve(owner) => {
                    let change = OpportunityChange::Approve { id: "opportunity-1".to_owned() };
                    (change, owner, owner.then_some((stage, amount, earned, amount, true)))
                }
                Act::Close => (close(), false, Some((stage, amount, earned, approved, false))),
            };
            let after = after.filter(|_| open);
            prop_assert_eq!(tell(&mut agenda, 1, owner, change).is_ok(), after.is_some(), "{:?} {:?}", act, model);
            model = after.unwrap_or(model);
            let (stage, amount, earned, _, open) = model;
            let left = if open { f64::from(amount.saturating_sub(earned)) } else { 0.0 };
            let (pipeline_usd, pending_usd) = if stage < 4 { (left, 0.0) } else { (0.0, left) };
            let expected = Totals { pipeline_usd, pending_usd, earned_usd: f64::from(earned) };
            prop_assert_eq!(agenda.opportunities.totals(), expected);
        }
    }
}
