//! Two hours of a house without a key, on a clock of its own: it greets, follows feeds on a yes, reads, notes, tells and reminds.

use crate::broker::{self, Answer, Asked, StandIn, loopback};
use crate::house::TempHouse;
use crate::lived::Lived;
use instinct::offer::OFFERED;
use jiff::Timestamp;
use memory::Record;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Titles of each feed by its host; the newest last.
type Feeds = Arc<Mutex<BTreeMap<&'static str, Vec<&'static str>>>>;

const RUST: &str = "blog.rust-lang.org";
const WEEK: &str = "this-week-in-rust.org";
const LWN: &str = "lwn.net";
const SIMON: &str = "simonwillison.net";

const CHECKLIST: &str = "# Heartbeat\n\n- [ ] note the house is new\n- [ ] every 1m: check my mail\n";

/// The web behind the broker: feeds that change, their pages, one page that is refused, and one host that is down.
fn web(asked: &Asked, feeds: &Feeds) -> Answer {
    let url = match (asked.path.as_str(), asked.query.get("url")) {
        ("/status", _) => return broker::status(Value::Null, &[]),
        ("/web", Some(url)) => url.as_str(),
        _ => return broker::refusal(404, "not_found", None),
    };
    let host = url.split('/').nth(2).unwrap_or_default();
    if host == SIMON {
        return broker::refusal(502, "upstream_away", None);
    }
    let feeds = feeds.lock().unwrap();
    let is = |kind: &str, text: String| Answer::Is(200, vec![("content-type", kind.to_owned())], text);
    if OFFERED.iter().any(|(_, feed)| *feed == url) {
        let item = |(at, title): (usize, &&str)| {
            format!(
                "<item><title>{title}</title><link>https://{host}/{at}</link><description>{title}, in short.</description></item>"
            )
        };
        let items: String = feeds[host].iter().enumerate().rev().map(item).collect();
        return is(
            "application/rss+xml",
            format!("<rss version=\"2.0\"><channel><title>{host}</title>{items}</channel></rss>"),
        );
    }
    let title = url.rsplit('/').next().and_then(|at| feeds[host].get(at.parse::<usize>().ok()?)).unwrap();
    match title.contains("subscribers") {
        true => broker::refusal(403, "refused", None),
        false => is(
            "text/html",
            format!(
                "<html><title>{title}</title><body><article><p>{title} is told here at some length by those who made it.</p>\
             <p>It says a second thing too, which is shorter.</p></article></body></html>"
            ),
        ),
    }
}

/// A house, its life and its hour.
struct Keyless {
    house: TempHouse,
    lived: Lived,
    feeds: Feeds,
    broker: StandIn,
    wakes: usize,
}

impl Keyless {
    async fn born(at: &str) -> Self {
        let feeds = Feeds::default();
        feeds.lock().unwrap().extend([
            (RUST, vec!["Cargo waits less", "A new borrow checker", "How cargo waits"]),
            (WEEK, vec!["This Week in Rust 600"]),
            (LWN, vec!["Kernel notes for subscribers", "A small tool turns forty"]),
        ]);
        let serving = Arc::clone(&feeds);
        let broker = StandIn::new(move |asked| web(asked, &serving));
        let mut house = TempHouse::in_memory();
        house.broker = Some(broker.base());
        house.owner("[rest]\nshortest_s = 1\n[agenda]\ntime_zone = \"Europe/Berlin\"\n");
        house.write("self/HEARTBEAT.md", CHECKLIST);
        let lived = Lived::born(&house, at, 1).await;
        Self { house, lived, feeds, broker, wakes: 0 }
    }

    fn now(&self) -> Timestamp {
        *self.lived.hand().lock().unwrap()
    }

    /// Lives until this hour.
    async fn until(&mut self, at: &str) {
        let end: Timestamp = at.parse().unwrap();
        while self.now() < end {
            let rest = self.lived.stay().await;
            self.wakes += 1;
            assert!(self.wakes < 400, "it spins");
            let left = Duration::try_from(end.duration_since(self.now())).unwrap();
            self.lived.pass(rest.min(left));
        }
    }

    /// The owner says something, and it is heard at once.
    async fn says(&mut self, text: &str) {
        let at = format!("{:.3}", self.now());
        self.house.say(&json!({"at": at, "text": text}).to_string());
        self.lived.stay().await;
    }

    fn publish(&self, host: &str, title: &'static str) {
        self.feeds.lock().unwrap().get_mut(host).unwrap().push(title);
    }

    /// What the owner was told, of this kind: when, and what.
    fn told(&self, kind: &str) -> Vec<(String, String)> {
        let word = |record: &Record, key: &str| record.data[key].as_str().unwrap_or_default().to_owned();
        let of = |record: &Record| {
            record.kind == "message" && word(record, "from") == "creature" && word(record, "kind") == kind
        };
        self.house
            .records()
            .iter()
            .filter(|record| of(record))
            .map(|record| (record.at.clone(), word(record, "text")))
            .collect()
    }

    fn paper(&self, name: &str) -> String {
        std::fs::read_to_string(self.house.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// Records of memory from this hour on.
    fn since(&self, at: &str) -> Vec<Record> {
        let from: Timestamp = at.parse().unwrap();
        self.house
            .records()
            .into_iter()
            .filter(|record| record.at.parse::<Timestamp>().unwrap() >= from)
            .collect()
    }

    fn looks(&self, host: &str) -> usize {
        let feed = OFFERED.iter().find(|(_, feed)| feed.contains(host)).unwrap().1;
        self.broker.heard("/web").iter().filter(|asked| asked.query["url"] == feed).count()
    }
}

#[tokio::test]
async fn two_hours_of_a_house_without_a_key() {
    loopback!();
    // Half past seven in Berlin.
    let mut world = Keyless::born("2026-10-20T05:30:00Z").await;
    world.until("2026-10-20T05:31:00Z").await;
    let greeting = world.told("greeting");
    assert_eq!(greeting.len(), 1);
    assert!(OFFERED.iter().all(|(name, _)| greeting[0].1.contains(name)), "{greeting:?}");
    let cannot = world.told("broken");
    assert_eq!(cannot.len(), 1, "{cannot:?}");
    assert!(cannot[0].1.contains("every 1m: check my mail"), "{cannot:?}");

    world.says("yes").await;
    world.says("remind me in 20 min to stretch").await;
    world.until("2026-10-20T05:40:00Z").await;
    let list = world.paper("self/HEARTBEAT.md");
    assert!(OFFERED.iter().all(|(_, url)| list.contains(&format!("feed: {url}"))), "{list}");
    let notes = world.paper("self/notes/2026-10-blog-rust-lang-org.md");
    assert!(
        notes.contains("How cargo waits is told here at some length") && notes.contains("2026-10-20"),
        "{notes}"
    );

    world.until("2026-10-20T06:00:01Z").await;
    let reminded = world.told("reminder");
    assert_eq!(reminded, [("2026-10-20T05:51:00.000Z".to_owned(), "stretch".to_owned())]);
    let first = world.told("digest");
    assert_eq!(first.len(), 1, "at eight: {first:?}");
    assert_eq!(first[0].0, "2026-10-20T06:00:00.000Z");
    let text = &first[0].1;
    assert!(text.starts_with("Digest: 6 new at 3 sources: 5 read, 1 could not be read."), "{text}");
    assert!(
        text.contains("blog.rust-lang.org, 3 new:\n- 2 on cargo waits:\n")
            || text.contains("blog.rust-lang.org, 3 new:\n- 2 on cargo:\n"),
        "{text}"
    );
    assert!(
        text.contains(
            "A small tool turns forty is told here at some length by those who made it. https://lwn.net/1"
        ),
        "{text}"
    );
    assert!(text.contains("\nsimonwillison.net did not answer, 2 times in a row."), "{text}");
    assert!(world.paper("self/notes/digest-2026-10-20.md").contains("6 new at 3 sources"));

    world.until("2026-10-20T06:20:00Z").await;
    world.publish(RUST, "A release for the old machines");
    world.publish(WEEK, "This Week in Rust 601");
    world.until("2026-10-20T07:15:00Z").await;
    let quiet = world.since("2026-10-20T06:45:00Z");
    world.says("what's new?").await;
    let second = world.told("answer").pop().unwrap().1;
    assert!(second.starts_with("Digest: 2 new at 2 sources: 2 read."), "{second}");
    assert!(second.contains("601") && !second.contains("forty"), "only what is new: {second}");
    world.until("2026-10-20T07:30:00Z").await;

    floods_nobody(&world);
    let (all, quiet) = (world.house.records().len(), quiet.len());
    println!("{} wakes, {all} records, {quiet} in the half hour before the second digest", world.wakes);
}

/// Three messages nobody asked for, a failure said once, and looks at the pace of the sources.
fn floods_nobody(world: &Keyless) {
    assert_eq!(world.told("digest").len(), 1, "once a day");
    let due = 7_200 / creature::pace::SOURCE_PACE_S as usize;
    let looks = world.looks(LWN);
    assert!((due..=due + 1).contains(&looks), "{looks} looks in two hours at a feed that never changed");
    let all = world.house.records();
    let unasked = all.iter().filter(|record| {
        let own = record.kind == "message" && record.data["from"] == "creature";
        own && !matches!(record.data["kind"].as_str(), Some("answer" | "reminder"))
    });
    let unasked: Vec<&Value> = unasked.map(|record| &record.data["text"]).collect();
    assert_eq!(unasked.len(), 3, "greeting, what it cannot do, digest: {unasked:#?}");
    assert!(all.len() <= 150, "{} records in two hours", all.len());
    let failed = all.iter().filter(|record| {
        record.data["monologue"].as_str().is_some_and(|said| said.contains("simonwillison.net failed"))
    });
    assert_eq!(failed.count(), 1, "a source that is down is said once");
}

/// Found by living with it: an idle house wrote records at every wake. One look an hour is told of.
#[tokio::test]
async fn an_idle_hour_without_a_key_leaves_one_record() {
    loopback!();
    let mut world = Keyless::born("2026-10-20T10:00:00Z").await;
    world.house.write("self/HEARTBEAT.md", "# Nothing\n");
    world.until("2026-10-20T11:00:00Z").await;
    let before = world.house.all_records().len();
    world.until("2026-10-20T14:00:00Z").await;
    let idle: Vec<Record> = world.house.all_records().into_iter().skip(before).collect();
    println!("{} wakes in four hours, {} records in the last three", world.wakes, idle.len());
    assert!(world.wakes > 12, "it wakes: {}", world.wakes);
    let of = |kind: &str| idle.iter().filter(|record| record.kind == kind).count();
    assert!((2..=4).contains(&of("thought")), "{idle:#?}");
    assert!((2..=4).contains(&of("heartbeat")), "{idle:#?}");
    assert_eq!(of("message"), 0);
}

/// What the owner said of messages and of work holds for the digest too.
#[tokio::test]
async fn quiet_and_pause_hold_the_digest_back() {
    loopback!();
    for (holds, lets_go) in [("don't message me", "message me again"), ("pause", "resume")] {
        let mut world = Keyless::born("2026-10-20T05:30:00Z").await;
        world.says("follow LWN").await;
        world.until("2026-10-20T05:40:00Z").await;
        world.says(holds).await;
        world.until("2026-10-20T07:00:00Z").await;
        assert!(world.told("digest").is_empty(), "{holds}: {:?}", world.told("digest"));
        world.says(lets_go).await;
        world.until("2026-10-20T07:10:00Z").await;
        let told = world.told("digest");
        assert_eq!(told.len(), 1, "{lets_go}: {told:?}");
        assert!(told[0].1.contains("A small tool turns forty"), "{told:?}");
    }
}
