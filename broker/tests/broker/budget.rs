//! The budget over a real ledger and a clock that is told: midnights, restarts, the owner's window, warnings.

use broker::ground::caps::Cost;
use broker::ground::clock::Clock;
use broker::ground::rate::Rate;
use broker::ground::waking::Waking;
use broker::ledger::sums::Stopped;
use broker::ledger::{Entry, Ledger};
use broker::money::budget::Budget;
use broker::policy;
use house::House;
use serde_json::Value;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

/// 2026-11-25 12:00 UTC, a Wednesday.
const NOON_MS: i64 = 1_795_608_000_000;
const DAY_MS: i64 = 86_400_000;

struct Place {
    _folder: tempfile::TempDir,
    house: House,
    clock: Clock,
    told: Arc<AtomicI64>,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (clock, told) = Clock::told(NOON_MS);
        let house = House::new(folder.path());
        std::fs::create_dir_all(house.broker()).unwrap();
        Self { _folder: folder, house, clock, told }
    }

    /// A dollar a day, two a week, half of it autonomous.
    fn open(&self, fingerprint: &str) -> Budget {
        let policy = policy::Budget {
            daily_usd: 1.0,
            weekly_usd: 2.0,
            autonomous_percent: 50.0,
            ..policy::Budget::default()
        };
        let ledger = Ledger::open(&self.house, self.clock.clone());
        // Here the caps are in the way, and the rate is not.
        let rate = Rate { per_day: 100_000_000, waking: Waking::new("", "") };
        Budget::new(&self.house, self.clock.clone(), ledger, &policy, rate, fingerprint.into())
    }

    fn at(&self, ms: i64) {
        self.told.store(ms, Ordering::SeqCst);
    }

    fn speak(&self, text: &str) {
        std::fs::write(self.house.inbox(), text).unwrap();
    }

    /// Lines with the mark, once all that was told before is written: no line overtakes another, and this waits for
    /// its own.
    async fn lines(&self, budget: &Budget, mark: &str) -> usize {
        drop(budget.reserve(Entry::default(), true, Cost::at_most(0)).await);
        std::fs::read_to_string(self.house.ledger()).unwrap().matches(mark).count()
    }
}

/// Spends micro-dollars; false where the cap is in the way.
async fn spend(budget: &Budget, amount: u64) -> bool {
    match budget.reserve(Entry::default(), false, Cost::at_most(amount)).await {
        Ok(reservation) => {
            reservation.settle(amount, Some(200), 1, "by usage");
            true
        }
        Err(refusal) => {
            assert_eq!(refusal.kind, "budget_cap", "{refusal:?}");
            false
        }
    }
}

fn number(budget: &Budget, name: &str) -> f64 {
    budget.view()[name].as_f64().unwrap()
}

#[tokio::test]
async fn what_was_spent_and_reserved_outlives_the_process() {
    let place = Place::new();
    let budget = place.open("");
    assert!(spend(&budget, 100_000).await);
    let open = budget.reserve(Entry::default(), false, Cost::at_most(300_000)).await.unwrap();
    // As a killed process leaves it: neither settled nor dropped.
    let left = std::fs::read(place.house.ledger()).unwrap();
    drop((open, budget));
    let text = String::from_utf8(left).unwrap();
    let other = Place::new();
    std::fs::write(other.house.ledger(), text).unwrap();
    let budget = other.open("");
    assert!(number(&budget, "spent_today_usd") >= 0.4 - 1e-9);
    assert!(!spend(&budget, 200_001).await);
    assert!(spend(&budget, 100_000).await);
}

#[tokio::test]
async fn dropped_it_stands_and_settled_it_is_what_it_was() {
    let place = Place::new();
    let budget = place.open("");
    drop(budget.reserve(Entry::default(), false, Cost::at_most(200_000)).await.unwrap());
    assert!((number(&budget, "spent_today_usd") - 0.2).abs() < 1e-9);
    budget
        .reserve(Entry::default(), false, Cost::at_most(200_000))
        .await
        .unwrap()
        .stands(0, None, 0, "stands");
    budget
        .reserve(Entry::default(), false, Cost::at_most(100_000))
        .await
        .unwrap()
        .settle(900_000, None, 0, "by usage");
    assert!((number(&budget, "spent_today_usd") - 1.3).abs() < 1e-9, "above the reservation, truthfully");
    assert!((number(&budget, "reserved_usd")).abs() < 1e-9);
    assert!(!spend(&budget, 1).await);
}

#[tokio::test]
async fn only_a_new_word_of_the_owners_opens_the_window() {
    let place = Place::new();
    place.speak("an old word\n");
    let budget = place.open("");
    assert!(spend(&budget, 500_000).await);
    assert!(!spend(&budget, 1).await, "what was there before opens nothing");
    place.speak("an old word\na new one\n");
    assert!(spend(&budget, 200_000).await);
    place.at(NOON_MS + 899_000);
    assert!(spend(&budget, 100_000).await);
    drop(budget);
    let budget = place.open("");
    assert!(spend(&budget, 100_000).await, "the window outlives the process");
    place.at(NOON_MS + 900_000);
    assert!(!spend(&budget, 1).await);
    place.speak("");
    assert!(!spend(&budget, 1).await, "shorter is not new");
    place.speak("again\n");
    let lowered = budget.reserve(Entry::default(), true, Cost::at_most(1)).await;
    assert_eq!(lowered.err().unwrap().kind, "budget_cap");
    assert!(spend(&budget, 100_000).await);
    assert!(!spend(&budget, 1).await, "the owner has a cap too");
}

#[tokio::test]
async fn it_warns_once_a_day() {
    let place = Place::new();
    let budget = place.open("");
    assert_eq!(budget.view()["warning"], Value::Null);
    assert!(spend(&budget, 390_000).await);
    assert_eq!(budget.view()["warning"], Value::Null);
    assert!(spend(&budget, 20_000).await && spend(&budget, 20_000).await);
    let warning = budget.view()["warning"].as_str().unwrap().to_owned();
    assert!(warning.contains("86 % of the autonomous share of today's 0.50 USD"), "{warning}");
    assert_eq!(budget.view()["poor"], false, "the owner has enough");
    assert_eq!(place.lines(&budget, "\"warned\"").await, 1);
    drop(budget);
    let budget = place.open("");
    assert!(spend(&budget, 10_000).await);
    assert_eq!(place.lines(&budget, "\"warned\"").await, 1, "also after a restart");
    place.at(NOON_MS + DAY_MS);
    assert!(spend(&budget, 450_000).await);
    assert_eq!(place.lines(&budget, "\"warned\"").await, 2);
}

#[tokio::test]
async fn a_stop_holds_for_its_key_only() {
    let place = Place::new();
    let budget = place.open("one key");
    let stopped =
        Stopped { provider: "anthropic".into(), status: 402, hint: "top up".into(), ..Stopped::default() };
    budget.stop(stopped.clone());
    budget.stop(stopped);
    let of = |service: &str| Entry { service: service.into(), ..Entry::default() };
    assert!(budget.reserve(of("openai"), false, Cost::at_most(1)).await.is_ok(), "others are asked still");
    let refusal = budget.reserve(of("anthropic"), false, Cost::at_most(1)).await.err().unwrap();
    assert_eq!((refusal.status, refusal.kind, refusal.hint.as_str()), (403, "stopped_until_owner", "top up"));
    drop(budget);
    let budget = place.open("one key");
    assert_eq!(budget.view()["stopped"]["status"], 402);
    assert!(budget.view()["stopped"].get("fingerprint").is_none());
    drop(budget);
    let budget = place.open("another key");
    assert!(spend(&budget, 1).await);
    assert_eq!(place.lines(&budget, "\"stopped\"").await, 1);
}

#[tokio::test]
async fn while_the_ledger_cannot_be_written_nothing_is_reserved_for_good() {
    let place = Place::new();
    let budget = place.open("");
    assert!(spend(&budget, 100_000).await);
    std::fs::remove_file(place.house.ledger()).unwrap();
    for _ in 0..10 {
        let refusal = budget.reserve(Entry::default(), false, Cost::at_most(100_000)).await.err().unwrap();
        assert_eq!((refusal.status, refusal.kind), (503, "ledger_closed"));
    }
    let view = budget.view();
    assert!((view["spent_today_usd"].as_f64().unwrap() - 0.1).abs() < 1e-9);
    assert!(view["closed"].as_str().unwrap().contains("--accept-ledger"));
}

/// A call that fits under no reset is not to be waited for; one that fits tomorrow is.
#[tokio::test]
async fn only_what_waiting_helps_says_how_long() {
    let place = Place::new();
    let budget = place.open("a");
    let cost = |micros: u64| Cost { most: micros, likely: micros };
    let large = budget.reserve(Entry::default(), false, cost(5_000_000)).await.err().unwrap();
    assert_eq!((large.kind, large.retry_after_s), ("budget_cap", None), "{large:?}");
    let held = budget.reserve(Entry::default(), false, cost(400_000)).await.unwrap();
    let waits = budget.reserve(Entry::default(), false, cost(400_000)).await.err().unwrap();
    assert_eq!(waits.retry_after_s, Some(30), "{waits:?}");
    held.settle(400_000, Some(200), 0, "by usage");
    let tomorrow = budget.reserve(Entry::default(), false, cost(400_000)).await.err().unwrap();
    assert_eq!(tomorrow.retry_after_s, Some(12 * 3_600), "{tomorrow:?}");
}

/// Who waits for a reset reads it on the page at once, not within a minute.
#[test]
fn midnight_is_on_the_page_without_a_call() {
    let place = Place::new();
    place.at(NOON_MS + DAY_MS / 2 - 300);
    let budget = place.open("a");
    let day = || {
        let page = std::fs::read_to_string(place.house.budget()).unwrap_or_default();
        serde_json::from_str::<Value>(&page).unwrap_or_default()["day"]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    };
    let wait_for = |what: &str| {
        crate::outside::happens(|| day() == what);
        assert_eq!(day(), what);
    };
    wait_for("2026-11-25");
    place.at(NOON_MS + DAY_MS / 2);
    wait_for("2026-11-26");
    assert!(budget.view()["since"].as_str().unwrap().starts_with("2026-11-25T23:59:59"));
}

/// Readers of the list of caps and those of the fields of before are told the same.
#[tokio::test]
async fn the_page_lists_every_cap_as_its_fields_say_it() {
    let place = Place::new();
    let budget = place.open("");
    assert!(spend(&budget, 100_000).await);
    place.at(NOON_MS + DAY_MS);
    assert!(spend(&budget, 200_000).await);
    let page = budget.view();
    let of = |span: &str, keys: [&str; 4]| {
        let [spent, cap, own, own_cap] = keys.map(|key| page[key].clone());
        assert!(spent.as_f64() > Some(0.0) && cap.as_f64() > Some(0.0), "{page}");
        serde_json::json!({"span": span, "spent_usd": spent, "cap_usd": cap, "autonomous_usd": own,
            "autonomous_cap_usd": own_cap})
    };
    let day = of("day", ["spent_today_usd", "daily_cap_usd", "autonomous_today_usd", "autonomous_cap_usd"]);
    let week =
        of("week", ["spent_week_usd", "weekly_cap_usd", "autonomous_week_usd", "autonomous_weekly_cap_usd"]);
    assert_eq!(page["caps"], serde_json::json!([day, week]));
    assert_ne!(page["caps"][0]["spent_usd"], page["caps"][1]["spent_usd"]);
}
