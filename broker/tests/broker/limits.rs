//! Limits on amounts: a hundred thousand transfers against an account kept beside them, kills, two at once, damage.

use broker::money::limits::spent::{Charge, DAY_MS, Line, Moment, Over, Spent};
use broker::money::limits::{Full, Limits};
use broker::policy::{Policy, ToolRule};
use broker::services::mcp::{limit, rules};
use house::House;
use house::decimal::Decimal;
use serde_json::{Value, json};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

/// Rules as an owner has them for a wallet: a friend, everybody for ether, everybody for a token of 6 decimals.
const RULES: &str = r#"
[[mcp.wallet.rules]]
tool = "send"
with = { token = "", to = "0xfriend" }
do = "allow"
limit = [
    { of = ["amount", "max_fee"], each = "0.5", day = "1.25" },
    { of = ["amount", "max_fee"], each = "0.5", day = "2", sum = "ether" },
]
[[mcp.wallet.rules]]
tool = "send"
with = { token = "" }
do = "allow"
limit = [{ of = ["amount", "max_fee"], each = "0.1", day = "2", sum = "ether" }]
[[mcp.wallet.rules]]
tool = "send"
with = { token = "USDC" }
do = "allow"
limit = [
    { of = ["amount"], each = "25", day = "100" },
    { of = ["max_fee"], each = "0.01", day = "2", sum = "ether" },
]
"#;

fn owners(text: &str) -> Vec<ToolRule> {
    let policy = Policy::read(&format!("[mcp.wallet]\ncommand = [\"wallet\"]\n{text}")).unwrap();
    policy.mcp["wallet"].rules.clone()
}

/// Text of an amount in units of 10⁻¹⁸.
fn text(units: u128) -> String {
    format!("{}.{:018}", units / 10_u128.pow(18), units % 10_u128.pow(18))
}

const ETHER: u128 = 10_u128.pow(18);

/// Numbers that are the same each time.
struct Seeded(u64);

impl Seeded {
    fn below(&mut self, most: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (mixed ^ (mixed >> 31)) % most
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[usize::try_from(self.below(from.len() as u64)).unwrap()]
    }
}

/// A transfer that really left.
struct Gone {
    real_ms: u64,
    to: &'static str,
    token: &'static str,
    amount: u128,
    fee: u128,
}

impl Gone {
    /// What it adds to the owner's four sums, by an account that knows nothing of rules: friend, ether, token.
    fn adds(&self) -> [u128; 3] {
        let ether = if self.token.is_empty() { self.amount + self.fee } else { self.fee };
        let friend = if self.token.is_empty() && self.to == "0xfriend" { ether } else { 0 };
        [friend, ether, if self.token.is_empty() { 0 } else { self.amount }]
    }
}

const DAILY: [u128; 3] = [ETHER * 5 / 4, 2 * ETHER, 100 * ETHER];

/// The sums of the last real day.
fn of_day(gone: &[Gone], real_ms: u64) -> [u128; 3] {
    let mut sums = [0; 3];
    for adds in gone.iter().rev().take_while(|gone| gone.real_ms + DAY_MS > real_ms).map(Gone::adds) {
        sums.iter_mut().zip(adds).for_each(|(sum, add)| *sum += add);
    }
    sums
}

fn is_within(sums: [u128; 3]) -> bool {
    sums.iter().zip(DAILY).all(|(sum, most)| *sum <= most)
}

/// A machine whose clocks do what clocks do; the wall clock is not even asked for.
struct Machine {
    real_ms: u64,
    boot: u64,
    boot_ms: u64,
}

impl Machine {
    fn now(&self) -> Moment {
        Moment { boot: self.boot.to_string(), boot_ms: self.boot_ms }
    }

    fn passes(&mut self, ms: u64) {
        self.real_ms += ms;
        self.boot_ms += ms;
    }

    /// Was off for up to two days, which nobody can know; or, a program itself, was put back to an earlier moment of this
    /// boot. Returns the real time.
    fn leaps(&mut self, off: bool, dice: &mut Seeded) -> u64 {
        self.real_ms += dice.below(2 * DAY_MS);
        if off {
            (self.boot, self.boot_ms) = (self.boot + 1, dice.below(100_000));
        } else {
            self.boot_ms = self.boot_ms.saturating_sub(dice.below(DAY_MS));
        }
        self.real_ms
    }
}

/// The sums as they come back from what is on disk, JSON and all.
fn again(kept: &[String], now: &Moment) -> Spent {
    Spent::of(kept.iter().map(|line| serde_json::from_str::<Line>(line).unwrap()), now)
}

#[test]
fn a_hundred_thousand_transfers_never_go_a_unit_beyond_in_any_real_day() {
    let (rules, mut dice) = (owners(RULES), Seeded(33));
    let mut machine = Machine { real_ms: 0, boot: 1, boot_ms: 5_000 };
    let (mut kept, mut gone): (Vec<String>, Vec<Gone>) = (Vec::new(), Vec::new());
    let mut spent = Spent::of([], &machine.now());
    let (mut refused, mut killed, mut leaps, mut exact_from) = (0, 0, 0, 0);
    for round in 0..100_000 {
        machine.passes(dice.below(20 * 60_000));
        match dice.below(4_000) {
            // The broker is killed and started: the file is all that is left.
            0..=39 => spent = again(&kept, &machine.now()),
            at @ (40 | 41) => {
                exact_from = machine.leaps(at == 40, &mut dice) + 2 * DAY_MS;
                (spent, leaps) = (if at == 40 { again(&kept, &machine.now()) } else { spent }, leaps + 1);
            }
            // The file is written anew with what counts. Found: with the time in its first line instead of its last, the
            // time since the last call was counted twice after the next start.
            42..=60 => kept = spent.lines().iter().map(|line| serde_json::to_string(line).unwrap()).collect(),
            _ => {}
        }
        let to = dice.pick(&["0xfriend", "0xstranger"]);
        let token = dice.pick(&["", "", "USDC"]);
        let most = if token.is_empty() { ETHER * 6 / 10 } else { 30 * ETHER };
        let amount = (u128::from(dice.below(1 << 32)) * most) >> 32;
        let fee = (u128::from(dice.below(1 << 20)) * ETHER / 100) >> 20;
        let call = Gone { real_ms: machine.real_ms, to, token, amount, fee };
        let mut arguments = json!({"to": to, "amount": text(amount), "max_fee": text(fee)});
        if !token.is_empty() {
            arguments["token"] = token.into();
        }
        let rule = rules::judge(&rules, "send", &arguments).unwrap();
        let charges = limit::of_rule("wallet", rule, &arguments).unwrap();
        let single = match (token, to) {
            ("", "0xfriend") => amount + fee <= ETHER / 2,
            ("", _) => amount + fee <= ETHER / 10,
            _ => amount <= 25 * ETHER && fee <= ETHER / 100,
        };
        let mut sums = of_day(&gone, machine.real_ms);
        sums.iter_mut().zip(call.adds()).for_each(|(sum, add)| *sum += add);
        match spent.take(&charges, &machine.now()) {
            Ok(line) => {
                assert!(single && is_within(sums), "round {round}: {sums:?} is beyond");
                kept.push(serde_json::to_string(&line).unwrap());
                if dice.below(500) == 0 {
                    // Killed after it was kept and before it left, or after it left: it counts either way.
                    killed += 1;
                    spent = again(&kept, &machine.now());
                } else {
                    spent.apply(line);
                }
                gone.push(call);
            }
            Err(_) => {
                // After a leap less time is known to have passed than did.
                let must_fit = single && is_within(sums) && machine.real_ms > exact_from;
                assert!(!must_fit, "round {round}: {arguments} fits, and was refused");
                refused += 1;
            }
        }
    }
    println!("{} left, {refused} refused, {killed} kills, {leaps} leaps", gone.len());
    assert!(gone.len() > 10_000 && refused > 10_000 && killed > 10 && leaps > 20);
}

fn home() -> (tempfile::TempDir, House) {
    let dir = tempfile::tempdir().unwrap();
    let house = House::new(dir.path());
    std::fs::create_dir_all(house.broker()).unwrap();
    (dir, house)
}

fn clock(ms: &Arc<AtomicU64>) -> impl Fn() -> Moment + Send + Sync + 'static {
    let ms = ms.clone();
    move || Moment { boot: "one".to_owned(), boot_ms: ms.load(Ordering::SeqCst) }
}

fn charge(amount: &str) -> Charge {
    let read = |text| Decimal::read(text).unwrap();
    Charge { sum: "a".to_owned(), amount: read(amount), each: read("5"), day: read("10") }
}

#[test]
fn two_at_once_never_go_beyond_together() {
    let (_dir, house) = home();
    let limits = Arc::new(Limits::open(&house));
    let taken = Mutex::new(Decimal::default());
    std::thread::scope(|scope| {
        for seed in 0..4 {
            let (limits, taken) = (&limits, &taken);
            scope.spawn(move || {
                let mut dice = Seeded(seed);
                for _ in 0..60 {
                    let charge = charge(&format!("0.{:03}", dice.below(1_000)));
                    if limits.take(std::slice::from_ref(&charge)).is_ok() {
                        let mut taken = taken.lock().unwrap();
                        *taken = taken.plus(charge.amount).unwrap();
                    }
                }
            });
        }
    });
    let taken = taken.into_inner().unwrap();
    assert!(taken <= Decimal::read("10").unwrap() && taken > Decimal::read("9").unwrap(), "{taken}");
}

#[test]
fn what_was_taken_is_there_after_a_kill_at_any_byte() {
    let (_dir, house) = home();
    let ms = Arc::new(AtomicU64::new(1_000));
    let limits = Limits::by(&house, clock(&ms));
    for _ in 0..3 {
        limits.take(&[charge("3")]).unwrap();
    }
    drop(limits);
    let whole = std::fs::read(house.spent()).unwrap();
    let second = whole.iter().rposition(|byte| *byte == b'\n').unwrap();
    let second = whole[..second].iter().rposition(|byte| *byte == b'\n').unwrap() + 1;
    // Torn anywhere in its last line: that call never left.
    for cut in second..=whole.len() {
        std::fs::write(house.spent(), &whole[..cut]).unwrap();
        let limits = Limits::by(&house, clock(&ms));
        let fits = |amount: &str| limits.look(&[charge(amount)]).is_ok();
        assert_eq!(
            (fits("1"), fits("1.01"), fits("4")),
            (true, cut < whole.len(), cut < whole.len()),
            "{cut}"
        );
        limits.take(&[charge("1")]).unwrap();
        // And what is appended after it is read as well.
        let again = Limits::by(&house, clock(&ms));
        assert!(again.look(&[charge("3.01")]).is_err());
    }
}

#[test]
fn time_that_passes_makes_room_and_the_refusal_says_when() {
    let (_dir, house) = home();
    let ms = Arc::new(AtomicU64::new(1_000));
    let limits = Limits::by(&house, clock(&ms));
    let wait = |amount: &str| match limits.look(&[charge(amount)]) {
        Err(Full::Over(Over::Day(_, left, wait_ms))) => (left.to_string(), wait_ms),
        other => panic!("{other:?}"),
    };
    limits.take(&[charge("4")]).unwrap();
    ms.fetch_add(1_000, Ordering::SeqCst);
    let never_left = limits.take(&[charge("5")]).unwrap();
    assert_eq!(wait("1.5"), ("1".to_owned(), DAY_MS - 1_000));
    assert_eq!(wait("5"), ("1".to_owned(), DAY_MS - 1_000));
    limits.back(never_left);
    limits.take(&[charge("5")]).unwrap();
    assert_eq!(wait("5").1, DAY_MS - 1_000, "the first makes room");
    ms.fetch_add(DAY_MS - 1_001, Ordering::SeqCst);
    assert_eq!(wait("5").1, 1);
    ms.fetch_add(1, Ordering::SeqCst);
    assert_eq!(limits.look(&[charge("5")]), Ok(()));
    assert!(matches!(limits.look(&[charge("5.000000001")]), Err(Full::Over(Over::Each(_)))));
    assert!(
        matches!(limits.look(&[charge("3"), charge("3")]), Err(Full::Over(Over::Day(..)))),
        "two limits of one rule that share a sum are added up"
    );
}

#[test]
fn sums_that_cannot_be_read_or_written_let_nothing_out() {
    let (_dir, house) = home();
    let ms = Arc::new(AtomicU64::new(1_000));
    Limits::by(&house, clock(&ms)).take(&[charge("3")]).unwrap();
    let good = std::fs::read_to_string(house.spent()).unwrap();
    let is_closed = || matches!(Limits::by(&house, clock(&ms)).take(&[charge("1")]), Err(Full::Closed(_)));
    for spoilt in ["{}\nnonsense\n", "\u{0}\u{0}\u{0}\n", "nonsense\n{}\n"] {
        std::fs::write(house.spent(), spoilt.replace("{}", good.trim())).unwrap();
        assert!(is_closed(), "{spoilt:?}");
    }
    std::fs::remove_file(house.spent()).unwrap();
    std::fs::create_dir(house.spent()).unwrap();
    assert!(is_closed(), "a folder");
}

#[test]
fn what_is_no_amount_is_refused_in_words() {
    let rules = owners(
        "[[mcp.wallet.rules]]\ntool = \"send\"\ndo = \"allow\"\n\
         limit = [{of = [\"amount\", \"gas.max\"], each = \"5\", day = \"10\"}]\n",
    );
    let said = |arguments: Value| limit::of_rule("wallet", &rules[0], &arguments);
    assert_eq!(said(json!({"amount": "1.5", "gas": {"max": 2}})).unwrap()[0].amount.to_string(), "3.5");
    for (arguments, word) in [
        (json!({}), "amount is missing"),
        (json!({"amount": "1"}), "gas.max is missing"),
        (json!({"amount": "1", "gas": {"max": "1"}, "gas.max": "0"}), "there twice"),
        (json!({"amount": 1.5, "gas.max": "0"}), "no amount as text"),
        (json!({"amount": -1, "gas.max": "0"}), "no amount as text"),
        (json!({"amount": "-1", "gas.max": "0"}), "no plain decimal"),
        (json!({"amount": "1e-3", "gas.max": "0"}), "no plain decimal"),
        (json!({"amount": ["1"], "gas.max": "0"}), "no amount as text"),
        (json!({"amount": null, "gas.max": "0"}), "no amount as text"),
        (json!({"amount": "0".repeat(100), "gas.max": "0"}), "more than 38"),
        (json!({"amount": "9".repeat(38), "gas.max": 18_446_744_073_709_551_615_u64}), ""),
    ] {
        match said(arguments.clone()) {
            Err(error) => assert!(error.contains(word) && !word.is_empty(), "{arguments}: {error}"),
            Ok(charges) => assert!(word.is_empty() && charges[0].amount > charges[0].each, "{arguments}"),
        }
    }
}
