//! Its own time as data: when a look comes due, what it is about, and what it counts for.

use agenda::own::{Allowance, Kind, LeftThing, Own, OwnChange, sketch};
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
}

impl House {
    fn new() -> Self {
        let kinds = vec![Kind::Sources, Kind::Goals, Kind::Writing, Kind::Opportunities, Kind::Growth];
        let allowance = Allowance { usd_per_hour: 0.03, kinds, ..Allowance::default() };
        Self { agenda: Agenda::default(), allowance, now_s: 0 }
    }

    fn tell(&mut self, change: OwnChange) -> serde_json::Value {
        let (rules, now) = (Rules::default(), at(self.now_s));
        let when = When { now, thread: "main", owner: false, rules: &rules };
        self.agenda.apply(&Change::Own(change), when).unwrap()
    }

    fn own(&self) -> &Own {
        &self.agenda.own
    }

    fn due_s(&self) -> i64 {
        self.own().due_at(&self.allowance, at(self.now_s)).as_second() - at(0).as_second()
    }

    /// Waits for the next look and has it: what it leaves, its price, the rest it chooses.
    fn look(&mut self, leaves: Option<(&str, &str)>, usd: f64, rest_s: Option<u64>) -> Kind {
        self.now_s = self.due_s().max(self.now_s);
        let look = self.own().next(&self.allowance, at(self.now_s));
        self.tell(OwnChange::Began { look });
        if let Some((what, text)) = leaves {
            self.tell(OwnChange::Left { what: what.to_owned(), sketch: sketch(text) });
        }
        self.tell(OwnChange::Ended { usd, rest_s });
        look
    }

    /// Looks had within these hours, each as it is told by its number.
    fn looks(&mut self, hours: i64, mut each: impl FnMut(&mut Self, u64)) -> u64 {
        let (until, before) = (self.now_s + hours * HOUR, self.own().looks);
        while self.due_s().max(self.now_s) < until {
            let number = self.own().looks + 1;
            each(self, number);
            assert!(self.own().looks == number, "a look was not had");
        }
        self.now_s = until;
        self.own().looks - before
    }
}

#[test]
fn the_first_look_is_due_at_once_and_the_rest_it_chose_is_kept() {
    let mut house = House::new();
    assert_eq!(house.due_s(), 0);
    house.look(Some(("notes/a", "something was found out about flat files")), 0.0001, Some(42));
    assert_eq!(house.due_s(), house.now_s + 42, "what it chose as its rest is kept");
    house.look(None, 0.0001, Some(20_000));
    assert_eq!(house.due_s(), house.now_s + 20_000);
    let mut house = House::new();
    house.tell(OwnChange::Rested { rest_s: 600 });
    assert_eq!(house.own().summary(at(house.now_s)), "", "a rest is no look");
    assert_eq!(house.due_s(), house.now_s + 600, "as is the rest of a thought about something else");
}

#[test]
fn money_and_hours_hold_it_back_however_soon_it_wants_to() {
    let mut house = House::new();
    house.look(Some(("notes/a", "a page worth the reading, on makers")), 0.03, Some(2));
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
    house.look(Some(("notes/a", "a page worth the reading, on makers")), 0.01, Some(2));
    assert!(house.due_s() - house.now_s < 600, "a cent of fourteen: {} s", house.due_s() - house.now_s);
    house.now_s = HOUR + 1;
    let last_s = house.now_s;
    house.look(Some(("notes/b", "another one entirely, about letters")), 0.01, Some(2));
    assert!(house.due_s() - last_s > 1_200, "a cent of three: {} s", house.due_s() - last_s);
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
    let usd = 0.001;
    let word = |number: u64| format!("w{}", (number * 7_919) % 104_729);
    let said = |number: u64| {
        (0..12)
            .map(|at| format!("{}{}", word(number * 31 + at), word(number + at * 97)))
            .collect::<Vec<_>>()
            .join(" ")
    };
    let mut padding = House::new();
    let pads = padding.looks(48, |house, number| {
        house.look(Some((&format!("notes/{number}"), &said(number))), usd, Some(300));
    });
    let mut good = House::new();
    let goes = good.looks(48, |house, number| {
        house.look(Some((&format!("notes/{number}"), &said(number))), usd, Some(300));
        if number > 1 {
            house.tell(OwnChange::Used { what: format!("notes/{}", number - 1) });
        }
    });
    assert!(goes >= 4 * pads, "the good one looked {goes} times, the padding one {pads}");
    assert!(good.own().share() > 0.6 && padding.own().share() < 0.15);
}

#[test]
fn the_same_again_in_other_words_is_not_left_at_all() {
    let mut house = House::new();
    let text = "Small tools outlive their makers because whoever reads them can mend them in an evening.";
    house.look(Some(("notes/a", text)), 0.0, Some(60));
    assert_eq!(house.own().idle, 0);
    house.look(Some(("notes/b", &format!("Indeed: {}", text.to_lowercase()))), 0.0, Some(60));
    assert_eq!((house.own().idle, house.own().left.len()), (1, 1));
    house.look(
        Some(("notes/c", "Flat files need no server and survive every upgrade of one.")),
        0.0,
        Some(60),
    );
    assert_eq!(house.own().idle, 0);
}

#[test]
fn a_thing_is_used_by_a_later_look_only_and_counts_once() {
    let mut house = House::new();
    let left = |what: &str| OwnChange::Left { what: what.to_owned(), sketch: Vec::new() };
    let used = |what: &str| OwnChange::Used { what: what.to_owned() };
    house.tell(OwnChange::Began { look: Kind::Sources });
    house.tell(left("notes/a"));
    house.tell(left("notes/b"));
    assert_eq!(house.tell(used("notes/a"))["counts"], false, "its own look uses nothing");
    assert_eq!(house.own().unused().count(), 0);
    house.tell(OwnChange::Ended { usd: 0.0, rest_s: None });
    let mut unused: Vec<&str> = house.own().unused().collect();
    unused.sort_unstable();
    assert_eq!(unused, ["notes/a", "notes/b"]);
    assert_eq!(house.tell(used("notes/a"))["counts"], true);
    assert_eq!(house.tell(used("notes/a"))["counts"], false);
    assert_eq!(house.tell(used("notes/b"))["counts"], true);
    assert!((house.own().all.used - 1.0).abs() < 1e-9, "one look, useful once");
    assert_eq!(house.tell(used("notes/c"))["counts"], false);
    assert_eq!(house.tell(left("notes/d"))["counts"], false, "outside a look nothing is left by one");
}

#[test]
fn every_kind_has_its_turns_and_what_is_used_has_more() {
    let mut house = House::new();
    let mut had = std::collections::BTreeMap::<Kind, u32>::new();
    house.looks(14 * 24, |house, number| {
        let text = format!("t{number}a t{number}bbb t{number}ccc t{number}ddd");
        let kind = house.look(Some((&format!("notes/{number}"), &text)), 0.0, Some(1_800));
        if kind == Kind::Sources {
            house.tell(OwnChange::Used { what: format!("notes/{number}") });
        }
        *had.entry(kind).or_default() += 1;
    });
    assert_eq!(had.len(), 5, "{had:?}");
    let others = had.iter().filter(|(kind, _)| **kind != Kind::Sources).map(|(_, count)| *count);
    assert!(others.max().unwrap() * 2 < had[&Kind::Sources], "{had:?}");
    assert!(!had.contains_key(&Kind::Mentions), "there is nothing to look at for it");
    let summary = house.own().summary(at(house.now_s));
    assert!(summary.contains("most came of sources"), "{summary}");
}

#[test]
fn a_look_lost_with_its_life_does_not_end_all_looking() {
    let mut house = House::new();
    house.tell(OwnChange::Began { look: Kind::Goals });
    assert_eq!(house.due_s(), 2 * HOUR);
    house.now_s = 3 * HOUR;
    house.look(None, 0.0, None);
    assert_eq!(house.own().looks, 2);
}

#[test]
fn whatever_it_is_told_it_stays_bounded_and_finite() {
    let mut house = House::new();
    for number in 0..400_u64 {
        house.now_s += 60;
        house.tell(OwnChange::Began { look: Kind::ALL[number as usize % 6] });
        for n in 0..3 {
            let what = "x".repeat(500) + &format!("{number}-{n}");
            house.tell(OwnChange::Left { what, sketch: vec![number as u32 * 10 + n; 500] });
        }
        house.tell(OwnChange::Ended { usd: f64::NAN, rest_s: Some(u64::MAX) });
    }
    let own = house.own();
    assert!(
        own.left.len() <= 96
            && own.left.iter().all(|LeftThing { what, sketch, .. }| what.len() < 500 && sketch.len() <= 24)
    );
    assert!(own.usd.is_finite() && house.due_s() <= house.now_s + 86_400);
    let kept = house.agenda.to_json();
    assert_eq!(Agenda::from_json(&kept).unwrap().own, *house.own());
}
