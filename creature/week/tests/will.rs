//! A week that nobody speaks in: what a good mind makes of it, one that pads, and one that has nothing to say.

use crate::broker::loopback;
use crate::minds;
use crate::outside::Model;
use crate::owner::{FROM, TO};
use crate::purse::Purse;
use crate::seen;
use crate::world::time;
use crate::world::{Event, SETTINGS, World};
use crate::{checks, outside::Ask};
use jiff::{SignedDuration, Timestamp};
use memory::Record;

const USD_PER_DAY: f64 = 0.75;

const TITLES: [&str; 8] = [
    "A tool that outlived its maker",
    "Flat files in practice",
    "On reading a program whole",
    "Ten years of one script",
    "What lasts",
    "Makers who answer",
    "A small parser",
    "Plain text mail",
];

struct Week {
    world: World,
    records: Vec<Record>,
    asks: Vec<Ask>,
}

/// Lives a week with this model; the feed has something new every six hours.
fn week(model: Model, has_quick: bool, says: Vec<(&str, Event)>) -> Week {
    let hour = |hours: i64| format!("{:.0}", time(FROM) + SignedDuration::from_hours(hours));
    let hours: Vec<String> = (0..28).map(|at| hour(at * 6 + 1)).collect();
    let titles = TITLES.iter().cycle();
    let mut plan: Vec<(&str, Event)> =
        hours.iter().zip(titles).map(|(at, title)| (at.as_str(), Event::Publishes(title))).collect();
    plan.extend(says);
    let mut world = World::minded(FROM, SETTINGS, plan, model);
    world.outside.seen().purse = Some(Purse::new(USD_PER_DAY, has_quick, time(FROM)));
    world.live(TO, None);
    let (records, asks) = seen(&world);
    let week = Week { world, records, asks };
    week.print();
    week
}

impl Week {
    fn spent(&self) -> f64 {
        self.world.outside.seen().purse.as_ref().unwrap().own_usd()
    }

    /// Looks begun within these hours of the week.
    fn looks(&self, from_h: i64, to_h: i64) -> usize {
        let hour = |hours| time(FROM) + SignedDuration::from_hours(hours);
        let began = |record: &&Record| record.data["change"]["own"]["do"] == "began";
        let within = |at: Timestamp| at >= hour(from_h) && at < hour(to_h);
        checks::of(&self.records, "agenda").filter(began).filter(|record| within(time(&record.at))).count()
    }

    fn left(&self) -> (usize, usize) {
        let did = |what: &str| {
            let mine = |record: &&Record| {
                record.data["change"]["reason"]["do"] == what && record.data["done"]["counts"] == true
            };
            checks::of(&self.records, "agenda").filter(mine).count()
        };
        (did("left"), did("used"))
    }

    /// The rate was kept: a bucket and what ran in, and of more than that no more than one call was worth.
    fn within_the_rate(&self) {
        let purse = self.world.outside.seen();
        let purse = purse.purse.as_ref().unwrap();
        let dearest = purse.paid.iter().map(|(_, usd, ..)| *usd).fold(0.0, f64::max);
        let beyond = purse.most_beyond();
        assert!(beyond <= dearest, "{beyond:.4} USD beyond the rate, the dearest call was {dearest:.4}");
    }

    fn print(&self) {
        print_asks(&self.asks);
        let purse = self.world.outside.seen();
        let purse = purse.purse.as_ref().unwrap();
        let strong = purse.paid.iter().filter(|(.., model)| model == "strong").count();
        println!(
            "{} wakes, {} calls ({strong} of the strong model), {:.3} USD of {:.2}, {} refused, {} looks, left and used {:?}, \
             {}",
            self.world.wakes.len(),
            purse.paid.len(),
            purse.own_usd(),
            USD_PER_DAY * 7.0,
            purse.refused,
            self.looks(0, 7 * 24),
            self.left(),
            checks::kept(&self.world.house, "agenda")["reasons"]["by_reason"],
        );
    }
}

/// What was asked and answered, on demand.
fn print_asks(asks: &[Ask]) {
    let wanted = std::env::var_os("FERAL_WEEK_ASKS").is_some();
    for ask in asks.iter().filter(|_| wanted) {
        let why = ask.section("Now").split("Awake for: ").nth(1).unwrap_or("apart");
        println!("{:.0} {why}: {} {}", ask.at, ask.reply["monologue"], ask.reply["tool_calls"]);
    }
}

#[test]
fn a_good_mind_reaches_its_goals_and_uses_what_it_left() {
    loopback!();
    let week = week(minds::good, true, Vec::new());
    week.within_the_rate();
    let reached = checks::goals_reached(&week.records);
    assert!(reached.starts_with(&["settle in".to_owned()]) && reached.len() >= 3, "{reached:?}");
    assert!(reached.contains(&"a field guide to small tools".to_owned()), "{reached:?}");
    let (left, used) = week.left();
    assert!(left >= 20 && used * 2 >= left, "of {left} things left {used} were used");
    let greeting =
        checks::messages(&week.records).into_iter().find(|(_, text, _)| text.contains("I am Feral"));
    let (at, ..) = greeting.expect("it greets its owner");
    assert!(at.duration_since(time(FROM)) < SignedDuration::from_mins(15), "greeted at {at}");
    assert!(
        week.looks(6 * 24, 7 * 24) >= 8,
        "on the last day it still looks: {}",
        week.looks(6 * 24, 7 * 24)
    );
}

#[test]
fn a_padding_mind_is_found_out_and_wakes_less() {
    loopback!();
    for model in [minds::padding as Model, minds::circling] {
        let padding = week(model, true, Vec::new());
        padding.within_the_rate();
        let (first, last) = (padding.looks(0, 24), padding.looks(6 * 24, 7 * 24));
        assert!(last * 3 <= first, "{first} looks on the first day, {last} on the last");
        let (left, used) = padding.left();
        assert!(left > 0 && used * 10 <= left, "of {left} things left {used} were used");
    }
}

#[test]
fn an_empty_mind_costs_a_twentieth_of_the_rate_at_most() {
    loopback!();
    for has_quick in [true, false] {
        let empty = week(minds::empty, has_quick, Vec::new());
        empty.within_the_rate();
        let most = USD_PER_DAY * 7.0 / 20.0;
        assert!(empty.spent() <= most, "quick: {has_quick}: {} of {most} USD", empty.spent());
        assert!(empty.looks(24, 7 * 24) >= 3, "and it still looks: {}", empty.looks(24, 7 * 24));
    }
}

#[test]
fn silence_asked_for_is_kept() {
    loopback!();
    let (from, to) = ("2026-10-22T10:00:00Z", "2026-10-23T20:00:00Z");
    let says = |text: &str| Event::Says(text.to_owned());
    let week = week(minds::good, true, vec![(from, says("quiet")), (to, says("resume"))]);
    let silent = |at: Timestamp| at > time(from) && at < time(to);
    let broken: Vec<&Ask> = week.asks.iter().filter(|ask| silent(ask.at) && ask.words().is_empty()).collect();
    assert!(
        broken.is_empty(),
        "{} thoughts of its own in the silence, first at {}",
        broken.len(),
        broken[0].at
    );
    assert!(week.looks(24 * 4, 24 * 5) > 0, "after it, it looks again");
    week.within_the_rate();
}

/// It ticked one of three, said "the others next, in a minute", and never came back.
#[test]
fn open_items_of_the_checklist_come_back_until_they_are_done() {
    loopback!();
    let items =
        "# Checklist\n\n- [ ] sort the notes\n- [ ] name the makers\n- [ ] thank one of them\n".to_owned();
    let at = "2026-10-20T12:00:00Z";
    let mut world =
        World::minded(FROM, SETTINGS, vec![(at, Event::Saves("self/HEARTBEAT.md", items))], minds::good);
    world.live("2026-10-20T12:30:00Z", None);
    print_asks(&seen(&world).1);
    let list = std::fs::read_to_string(world.house.path("self/HEARTBEAT.md")).unwrap();
    assert_eq!((list.matches("- [x]").count(), list.matches("- [ ]").count()), (3, 0), "{list}");
}
