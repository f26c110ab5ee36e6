//! The ledger on a real disk: grouped and chained, mended where it is torn, closed where it is anything else.

use broker::ground::caps::{Class, Day};
use broker::ground::clock::Clock;
use broker::ledger::chain::{self, BEGINNING, End};
use broker::ledger::opening;
use broker::ledger::sums::Sums;
use broker::ledger::{Closed, Entry, LARGEST_BYTES, Ledger};
use broker::policy;
use house::House;
use std::path::Path;
use std::process::Command;

const NOW_MS: i64 = 1_795_300_000_000;

pub struct Place {
    folder: tempfile::TempDir,
    pub house: House,
}

impl Place {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self { house: House::new(folder.path()), folder }
    }

    pub fn open(&self) -> Ledger {
        Ledger::open(&self.house, Clock::told(NOW_MS).0)
    }

    pub fn text(&self) -> String {
        std::fs::read_to_string(self.house.ledger()).unwrap()
    }

    pub fn write(&self, text: &[u8]) {
        std::fs::write(self.house.ledger(), text).unwrap();
    }

    fn names(&self, folder: &str, part: &str) -> Vec<String> {
        let folder = std::fs::read_dir(self.folder.path().join(folder)).unwrap();
        let names = folder.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<_> = names.filter(|name| name.contains(part)).collect();
        names.sort();
        names
    }

    /// A ledger of some lines, closed as it should be.
    pub async fn filled(&self, lines: u64) {
        let ledger = self.open();
        for n in 0..lines {
            ledger.append(reserve(n)).await.unwrap();
        }
    }
}

fn reserve(n: u64) -> Entry {
    Entry {
        life: 7,
        event: "reserve".into(),
        call: format!("c{n}"),
        cost_micro_usd: Some(10),
        class: Some(Class::Owner),
        day: Some(Day(20_780)),
        note: "a \"quoted\" word, ein Wörtchen, \u{1}".into(),
        ..Entry::default()
    }
}

fn verified(text: &str, mut end: End) -> (u64, Sums) {
    let mut sums = Sums::default();
    for line in text.lines() {
        let (line, next) = chain::next(line.as_bytes(), &end).unwrap();
        sums.apply(&line.at, &line.entry);
        end = next;
    }
    (end.seq, sums)
}

#[tokio::test]
async fn many_at_once_are_all_there_in_one_chain() {
    let place = Place::new();
    let ledger = place.open();
    let appended = (0..5_000).map(|n| ledger.append(reserve(n)));
    for done in futures_util::future::join_all(appended).await {
        done.unwrap();
    }
    // Acknowledged is on the disk, not only on its way.
    let (count, sums) = verified(&place.text(), End::default());
    assert_eq!(count, 5_000);
    assert_eq!(sums.money.on(Day(20_780)).total, 50_000);
    drop(ledger);
    let again = place.open();
    assert_eq!(again.closed(), None);
    assert_eq!(again.opened().money.on(Day(20_780)).total, 50_000);
    assert_eq!(again.opened().money.open(), 0, "whose process died stands as spent");
}

#[test]
fn a_hash_is_that_of_the_line_without_it() {
    let mut text = String::new();
    let end = chain::add(&mut text, &End::default(), "2026-11-22T00:00:00.000Z", &reserve(1)).unwrap();
    let mut line: serde_json::Value = serde_json::from_str(&text).unwrap();
    let hash = line.as_object_mut().unwrap().remove("hash").unwrap();
    assert_eq!(line["seq"], 1);
    assert_eq!(line["prev"], BEGINNING);
    assert_eq!(hash, chain::hash(line.to_string().as_bytes()));
    assert_eq!(hash, end.hash);
    let names: Vec<&String> = line.as_object().unwrap().keys().collect();
    assert_eq!(names[..2], ["seq", "at"]);
}

#[tokio::test]
async fn the_chain_goes_on_after_a_restart_and_without_an_anchor() {
    let place = Place::new();
    place.filled(3).await;
    place.filled(2).await;
    assert_eq!(verified(&place.text(), End::default()).0, 5);
    std::fs::remove_file(place.house.anchor()).unwrap();
    place.filled(1).await;
    assert_eq!(verified(&place.text(), End::default()).0, 6);
}

#[tokio::test]
async fn a_torn_last_line_is_set_aside_and_noted() {
    let place = Place::new();
    place.filled(3).await;
    let whole = place.text();
    for torn in ["{\"seq\":4,\"at\":\"20", "\0\0\0\0\0\0\0\0", "x"] {
        place.write(format!("{whole}{torn}").as_bytes());
        let ledger = place.open();
        assert_eq!(ledger.closed(), None, "{torn:?}");
        ledger.append(reserve(9)).await.unwrap();
        drop(ledger);
        let text = place.text();
        assert!(text.starts_with(&whole) && text.contains("a torn last line of"), "{text}");
        verified(&text, End::default());
        // As it was, for the next.
        place.write(whole.as_bytes());
        std::fs::remove_file(place.house.anchor()).unwrap();
    }
    assert!(!place.names(".self/broker", "torn-").is_empty(), "kept, not deleted");
}

/// What is done to a ledger of five lines and its anchor, and what is said of it.
type Damage = (&'static str, fn(&Place, &str), &'static str);

#[tokio::test]
async fn anything_else_is_closed_never_fresh() {
    let damages: [Damage; 11] = [
        ("shorter", |place, text| place.write(&text.as_bytes()[..text.len() - 200]), "shorter than it was"),
        (
            "a line less",
            |place, text| {
                let end = text.trim_end().rfind('\n').unwrap() + 1;
                place.write(&text.as_bytes()[..end]);
            },
            "shorter than it was",
        ),
        ("empty", |place, _| place.write(b""), "shorter than it was"),
        ("missing", |place, _| std::fs::remove_file(place.house.ledger()).unwrap(), "missing"),
        ("garbage after", |place, text| place.write(format!("{text}garbage\n").as_bytes()), "not a line"),
        (
            "garbage as long",
            |place, text| place.write("g".repeat(text.len()).as_bytes()),
            "line 1 of the file: it has no end",
        ),
        (
            "last line changed",
            |place, text| {
                let at = text.rfind("\"c4\"").unwrap();
                place.write(format!("{}\"c5\"{}", &text[..at], &text[at + 4..]).as_bytes());
            },
            "its hash is not its own",
        ),
        (
            "middle changed, no anchor",
            |place, text| {
                std::fs::remove_file(place.house.anchor()).unwrap();
                place.write(text.replace("\"c2\"", "\"c7\"").as_bytes());
            },
            "its hash is not its own",
        ),
        (
            "a line left out, no anchor",
            |place, text| {
                std::fs::remove_file(place.house.anchor()).unwrap();
                let lines: Vec<&str> = text.lines().collect();
                place.write(format!("{}\n{}\n", lines[0], lines[2]).as_bytes());
            },
            "it does not follow line 1",
        ),
        ("anchor garbage", |place, _| std::fs::write(place.house.anchor(), "{").unwrap(), "anchor.json"),
        (
            "a folder",
            |place, _| {
                std::fs::remove_file(place.house.ledger()).unwrap();
                std::fs::create_dir(place.house.ledger()).unwrap();
            },
            "ledger.jsonl",
        ),
    ];
    for (what, damage, said) in damages {
        let place = Place::new();
        place.filled(5).await;
        damage(&place, &place.text());
        let ledger = place.open();
        let why = ledger.closed().unwrap_or_else(|| panic!("{what}: open"));
        assert!(why.contains(said), "{what}: {why}");
        let Err(Closed(refused)) = ledger.append(reserve(6)).await else { panic!("{what}: appended") };
        assert_eq!(refused, why);
        assert_eq!(place.open().closed(), Some(why), "{what}: as closed the next time");
    }
}

#[tokio::test]
async fn a_ledger_and_its_anchor_gone_are_not_a_fresh_start_where_earlier_ones_lie() {
    let place = Place::new();
    place.filled(2).await;
    std::fs::rename(place.house.ledger(), place.folder.path().join(".self/ledger-20261122T000000000.jsonl"))
        .unwrap();
    std::fs::remove_file(place.house.anchor()).unwrap();
    assert!(place.open().closed().unwrap().contains("missing"));
}

#[tokio::test]
async fn replaced_or_changed_under_way_closes_it() {
    let hands: [fn(&Place); 3] = [
        |place| std::fs::remove_file(place.house.ledger()).unwrap(),
        |place| {
            let text = place.text();
            std::fs::remove_file(place.house.ledger()).unwrap();
            place.write(text.as_bytes());
        },
        |place| place.write(b""),
    ];
    for hand in hands {
        let place = Place::new();
        let ledger = place.open();
        ledger.append(reserve(1)).await.unwrap();
        hand(&place);
        assert!(ledger.append(reserve(2)).await.is_err());
        assert!(ledger.closed().is_some());
        assert!(ledger.append(reserve(3)).await.is_err(), "and stays so");
    }
}

#[tokio::test]
async fn the_owners_way_out_counts_today_and_this_week_as_spent_and_deletes_nothing() {
    let place = Place::new();
    place.filled(5).await;
    place.write(b"garbage\n");
    assert!(place.open().closed().is_some());
    let clock = Clock::told(NOW_MS).0;
    let budget = policy::Budget::default();
    opening::accept(&place.house, &clock, &budget).unwrap();
    let ledger = place.open();
    assert_eq!(ledger.closed(), None);
    let today = Day::of(clock.now());
    assert!(ledger.opened().money.on(today).total >= 20_000_000);
    assert!(ledger.opened().money.on(today.monday()).autonomous >= 3_000_000);
    drop(ledger);
    assert_eq!(verified(&place.text(), End::default()).0, 1, "its first line says so");
    assert!(place.text().contains("accepted"));
    let kept = place.names(".self", "-closed.jsonl");
    assert_eq!(kept.len(), 1);
    assert_eq!(std::fs::read(place.folder.path().join(".self").join(&kept[0])).unwrap(), b"garbage\n");
}

#[tokio::test]
async fn a_large_one_is_moved_aside_and_the_chain_goes_on() {
    let place = Place::new();
    let (clock, told) = Clock::told(NOW_MS);
    let ledger = Ledger::open_with(&place.house, clock.clone(), 4_000);
    for n in 0..40 {
        told.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        ledger.append(reserve(n)).await.unwrap();
    }
    drop(ledger);
    let mut end = End::default();
    let moved = place.names(".self", "ledger-2");
    assert!(moved.len() > 2, "{moved:?}");
    let folder = place.folder.path().join(".self");
    for file in moved.iter().map(|name| folder.join(name)).chain([place.house.ledger()]) {
        for line in std::fs::read_to_string(file).unwrap().lines() {
            end = chain::next(line.as_bytes(), &end).unwrap().1;
        }
    }
    assert_eq!(end.seq, 40);
    let ledger = Ledger::open_with(&place.house, clock, LARGEST_BYTES);
    assert_eq!(ledger.closed(), None);
    assert_eq!(ledger.opened().money.on(Day(20_780)).total, 400, "spend of all of them");
}

#[tokio::test]
async fn a_rotation_that_broke_off_goes_on() {
    for is_moved in [false, true] {
        let place = Place::new();
        place.filled(4).await;
        let mut anchor: serde_json::Value =
            serde_json::from_slice(&std::fs::read(place.house.anchor()).unwrap()).unwrap();
        anchor["rotating"] = "ledger-20261122T000000000.jsonl".into();
        std::fs::write(place.house.anchor(), anchor.to_string()).unwrap();
        if is_moved {
            let aside = place.folder.path().join(".self/ledger-20261122T000000000.jsonl");
            std::fs::rename(place.house.ledger(), aside).unwrap();
        }
        let ledger = place.open();
        assert_eq!(ledger.closed(), None, "moved: {is_moved}");
        ledger.append(reserve(4)).await.unwrap();
        assert_eq!(ledger.opened().money.on(Day(20_780)).total, 40);
        drop(ledger);
        assert_eq!(place.open().opened().money.on(Day(20_780)).total, 50);
    }
}

#[tokio::test]
async fn two_at_once_do_not_write_one_ledger() {
    let place = Place::new();
    let first = place.open();
    first.append(reserve(1)).await.unwrap();
    let second = place.open();
    assert!(second.closed().unwrap().contains("another broker"));
    assert!(second.append(reserve(2)).await.is_err());
    first.append(reserve(3)).await.unwrap();
    drop(first);
    assert_eq!(place.open().closed(), None);
}

#[tokio::test]
async fn odd_texts_stay_one_line_and_bounded() {
    let place = Place::new();
    let ledger = place.open();
    let odd = "\u{0}\n\"hash\":\"".repeat(10_000);
    let entry =
        Entry { path: odd.clone(), note: odd.clone(), decision: odd.clone(), call: odd, ..reserve(1) };
    ledger.append(entry).await.unwrap();
    drop(ledger);
    assert_eq!(place.open().closed(), None);
    assert!(place.text().len() < chain::LONGEST_LINE);
}

/// A file system of two megabytes, where we may mount one.
fn small_disk(at: &Path) -> bool {
    let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", "size=2m", "tmpfs"]).arg(at).output();
    mounted.is_ok_and(|done| done.status.success())
}

#[tokio::test]
async fn a_full_disk_closes_it_until_there_is_room() {
    let place = Place::new();
    if !small_disk(place.folder.path()) {
        eprintln!("skipped: only root mounts a small disk");
        return;
    }
    let ledger = place.open();
    ledger.append(reserve(0)).await.unwrap();
    let filler = place.folder.path().join("filler");
    let mut written = 0;
    let _ = std::fs::write(&filler, vec![0; 3 << 20]);
    let closed = loop {
        match ledger.append(reserve(written + 1)).await {
            Ok(()) => written += 1,
            Err(Closed(why)) => break why,
        }
        assert!(written < 100_000);
    };
    assert!(closed.contains("is the disk full?"), "{closed}");
    assert!(ledger.closed().is_some());
    std::fs::remove_file(&filler).unwrap();
    ledger.append(reserve(written + 1)).await.unwrap();
    assert_eq!(ledger.closed(), None);
    let (count, _) = verified(&place.text(), End::default());
    assert_eq!(count, written + 2, "what failed is not in it, what was acknowledged is");
    drop(ledger);
    assert_eq!(place.open().closed(), None);
    let _ = Command::new("umount").arg("-l").arg(place.folder.path()).status();
}
