//! Its own time as data: when a look comes due, what it is about, and what it counts for.

use agenda::own::{Allowance, Kind, Own, OwnChange};
use agenda::reasons::ReasonChange;
use agenda::stack::{Around, stack};
use agenda::waking::OWN;
use agenda::{Agenda, Change, Rules, When};
use jiff::Timestamp;

const HOUR: i64 = 3_600;

fn at(now_s: i64) -> Timestamp {
    Timestamp::from_second(1_760_000_000 + now_s).unwrap()
}

/// A house that looks by itself, at a rate of three cents an hour.
struct House {
    agenda: Agenda,
    allowance: Allowance,
    now_s: i64,
    looks: u64,
}

impl House {
    fn new() -> Self {
        let kinds = vec![Kind::Sources, Kind::Goals, Kind::Writing, Kind::Opportunities, Kind::Growth];
        let allowance = Allowance { usd_per_hour: 0.03, kinds, ..Allowance::default() };
        Self { agenda: Agenda::default(), allowance, now_s: 0, looks: 0 }
    }

    fn apply(&mut self, change: Change) {
        let (rules, now) = (Rules::default(), at(self.now_s));
        let when = When { now, thread: "main", owner: false, rules: &rules };
        self.agenda.apply(&change, when).unwrap();
    }

    fn tell(&mut self, change: OwnChange) {
        self.apply(Change::Own(change));
    }

    fn uses(&mut self, what: String) {
        self.apply(Change::Reason(ReasonChange::Used { what }));
    }

    fn own(&self) -> &Own {
        &self.agenda.own
    }

    /// The second at which the line of own time is ready.
    fn due_s(&self) -> i64 {
        let around = Around { own: Some(self.allowance.clone()), ..Around::default() };
        let lines = stack(&self.agenda, &Rules::default(), &around, at(self.now_s));
        lines.last().unwrap().ready_at.as_second() - at(0).as_second()
    }

    /// Waits for the next look and has it: what it leaves, its price, the rest it chooses.
    fn look(&mut self, leaves: Option<&str>, usd: f64, rest_s: Option<u64>) -> Kind {
        self.now_s = self.due_s().max(self.now_s);
        let look = self.own().next(&self.allowance);
        self.apply(Change::Reason(ReasonChange::Asked { reason: OWN.to_owned() }));
        self.tell(OwnChange::Began { look });
        if let Some(what) = leaves {
            self.tell(OwnChange::Left);
            self.apply(Change::Reason(ReasonChange::Left { what: what.to_owned(), ask: None }));
        }
        self.tell(OwnChange::Ended { usd, rest_s });
        self.looks += 1;
        look
    }

    /// Looks had within these hours, each as it is told by its number.
    fn looks(&mut self, hours: i64, mut each: impl FnMut(&mut Self, u64)) -> u64 {
        let (until, before) = (self.now_s + hours * HOUR, self.looks);
        while self.due_s().max(self.now_s) < until {
            let number = self.looks + 1;
            each(self, number);
            assert!(self.looks == number, "a look was not had");
        }
        self.now_s = until;
        self.looks - before
    }
}

#[test]
fn the_first_look_is_due_at_once_and_the_rest_it_chose_is_kept() {
    let mut house = House::new();
    assert_eq!(house.due_s(), 0);
    house.look(Some("notes/a"), 0.0001, Some(42));
    assert_eq!(house.due_s(), house.now_s + 42, "what it chose as its rest is kept");
    house.look(None, 0.0001, Some(20_000));
    assert_eq!(house.due_s(), house.now_s + 20_000);
    let mut house = House::new();
    house.tell(OwnChange::Rested { rest_s: 600 });
    assert!(house.own().kinds.is_empty(), "a rest is no look");
    assert_eq!(house.due_s(), house.now_s + 600, "as is the rest of a thought about something else");
}

#[test]
fn money_and_hours_hold_it_back_however_soon_it_wants_to() {
    let mut house = House::new();
    house.look(Some("notes/a"), 0.03, Some(2));
    assert!(house.due_s() - house.now_s >= HOUR, "a look of three cents at three cents an hour");
    house.allowance.room_at = Some(at(9 * HOUR));
    assert_eq!(house.due_s(), 9 * HOUR);
    house.allowance.wakes_at = Some(at(11 * HOUR));
    assert_eq!(house.due_s(), 11 * HOUR);
}

#[test]
fn the_first_hour_of_a_house_may_use_more() {
    let mut house = House::new();
    house.allowance.first_hour_usd = 0.144;
    house.tell(OwnChange::Settled);
    house.look(Some("notes/a"), 0.01, Some(2));
    assert!(house.due_s() - house.now_s < 600, "a cent of fourteen: {} s", house.due_s() - house.now_s);
    house.now_s = HOUR + 1;
    let last_s = house.now_s;
    house.look(Some("notes/b"), 0.01, Some(2));
    assert!(house.due_s() - last_s >= 1_200, "a cent of three: {} s", house.due_s() - last_s);
}

#[test]
fn what_finds_nothing_costs_a_twentieth_of_the_rate_at_most() {
    for usd in [0.0005, 0.004, 0.03] {
        let mut house = House::new();
        let looks = house.looks(7 * 24, |house, _| {
            house.look(None, usd, Some(2));
        });
        let (spent, rate) = (looks as f64 * usd, 7.0 * 24.0 * 0.03);
        assert!(spent <= rate / 20.0, "{looks} looks of {usd} USD: {spent} of {rate} USD");
        assert!(looks >= 5, "and it still looks: {looks}");
    }
    let mut house = House::new();
    house.allowance.usd_per_hour = 0.0;
    let free = house.looks(24, |house, _| {
        house.look(None, 0.0, Some(2));
    });
    assert!(free < 24, "a mind that costs nothing looks no oftener than once an hour: {free}");
}

#[test]
fn what_pads_is_found_out_and_what_is_used_is_not() {
    let mut padding = House::new();
    let pads = padding.looks(48, |house, number| {
        house.look(Some(&format!("notes/{number}")), 0.001, Some(300));
    });
    let mut good = House::new();
    let goes = good.looks(48, |house, number| {
        house.look(Some(&format!("notes/{number}")), 0.001, Some(300));
        if number % 3 == 0 {
            house.uses(format!("notes/{}", number - 2));
        }
    });
    assert!(goes >= 4 * pads, "the good one looked {goes} times, the padding one {pads}");
    assert!(pads >= 8, "and it still looks: {pads}");
    assert_eq!(good.agenda.reasons.line(OWN), format!("own: {} of {goes} were used", goes / 3));
}

#[test]
fn every_kind_has_its_turn() {
    let mut house = House::new();
    let had: Vec<Kind> = (0..10).map(|_| house.look(None, 0.0, Some(1_800))).collect();
    assert_eq!(had, [house.allowance.kinds.clone(), house.allowance.kinds.clone()].concat());
    assert!(!had.contains(&Kind::Mentions), "there is nothing to look at for it");
}

#[test]
fn a_look_lost_with_its_life_does_not_end_all_looking() {
    let mut house = House::new();
    house.tell(OwnChange::Began { look: Kind::Goals });
    assert_eq!(house.due_s(), 2 * HOUR);
    house.now_s = 3 * HOUR;
    assert_eq!(house.look(None, 0.0, None), Kind::Sources);
}

#[test]
fn whatever_it_is_told_it_stays_finite() {
    let mut house = House::new();
    house.allowance.usd_per_hour = 1e-9;
    for number in 0..400_u64 {
        house.now_s += 60;
        house.tell(OwnChange::Began { look: Kind::ALL[number as usize % 6] });
        let usd = [f64::NAN, f64::INFINITY, 1e9, -1.0][number as usize % 4];
        house.tell(OwnChange::Ended { usd, rest_s: Some(u64::MAX) });
        assert!(house.own().usd.is_finite() && house.due_s() <= house.now_s + 7 * 86_400);
    }
    let kept = house.agenda.to_json();
    assert_eq!(serde_json::from_slice::<Agenda>(&kept).unwrap().own, *house.own());
}

/// An agenda of an older self, which kept what each kind left and how much of that was used.
#[test]
fn own_time_as_an_older_self_kept_it_is_read() {
    let tally = serde_json::json!({"looks": 4.5, "used": 2.0, "last_at": "2025-10-09T08:00:00Z"});
    let left = serde_json::json!([{"what": "notes/a", "kind": "goals", "look": 3, "sketch": [1, 2]}]);
    let own = serde_json::json!({
        "settled_at": "2025-10-08T08:00:00Z", "looks": 9, "kinds": {"goals": tally}, "all": tally, "idle": 2,
        "under_way": {"kind": "goals", "at": "2025-10-09T08:00:00Z", "left": true}, "chosen_s": 300, "usd": 0.5,
        "left": left,
    });
    let kept = serde_json::json!({"own": own}).to_string();
    let own = serde_json::from_slice::<Agenda>(kept.as_bytes()).unwrap().own;
    assert!(own.settled_at.is_some() && own.all.last_at.is_some() && own.kinds["goals"] == own.all);
    assert!(own.under_way.is_some_and(|look| look.left) && own.chosen_s == Some(300) && own.idle == 2);
    let change = r#"{"own": {"do": "left", "what": "notes/a", "sketch": [1]}}"#;
    assert_eq!(serde_json::from_str::<Change>(change).unwrap(), Change::Own(OwnChange::Left));
}
