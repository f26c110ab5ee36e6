//! A year of a life, 1,000,000 records, 10,000 wakes and 300 lives: how large its picture is, and by hand how long it takes.

use crate::life_index::{place, read_up, seen};
use console::life::{Life, Span, picture, tell};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::time::Instant;
use trials::{House, SOUND};

const YEAR_MS: u64 = 365 * 86_400_000;
/// The first of January 2025.
const BEGIN_MS: u64 = 1_735_689_600_000;
const WHY: [&str; 6] = [
    "your owner's word waits",
    "ready: goal-3 herons",
    "due on the checklist: water them",
    "3 events wait",
    "unfinished: a draft of pace.rs",
    "ready: own-sources look what is new",
];

fn stamp(at_ms: u64) -> String {
    let at = jiff::Timestamp::from_millisecond(at_ms as i64).unwrap();
    format!("{at:.3}")
}

/// Writes a life of so many wakes of `records` records each, evenly over a year, in files as they are kept.
pub fn write_year(root: &Path, wakes: u64, records: u64, lives: u64) {
    let state = root.join(".self");
    std::fs::create_dir_all(state.join("mind")).unwrap();
    let open = |name: &str| BufWriter::with_capacity(1 << 20, File::create(state.join(name)).unwrap());
    let mut history = open("history.jsonl");
    let (mut deaths, mut asks, mut ledger) = (open("deaths.jsonl"), open("asks.jsonl"), open("ledger.jsonl"));
    let mut beats = open("mind/bookkeeping.jsonl");
    let mut memory = open("memory-2025-07-01T00-00-00.000Z.jsonl");
    let words =
        "It nests where the reeds stand thick, and I count what I can see of it from here. ".repeat(4);
    let (each_ms, mut number) = (YEAR_MS / wakes, 0_u64);
    for wake in 0..wakes {
        let begun_ms = BEGIN_MS + wake * each_ms + wake % 7 * 90_000;
        let life = 1 + wake * lives / wakes;
        if wake == wakes / 2 {
            memory = open("memory.jsonl");
        }
        if wake * lives / wakes != (wake.max(1) - 1) * lives / wakes || wake == 0 {
            lived(&mut history, &mut deaths, life, begun_ms);
        }
        let (at, why) = (stamp(begun_ms), WHY[(wake % 6) as usize]);
        writeln!(beats, r#"{{"at":"{at}","life":{life},"kind":"heartbeat","data":{{"wake":{wake},"thoughts":{number},"why":["{why} {}"]}}}}"#, wake % 900).unwrap();
        for record in 0..records {
            let at = stamp(begun_ms + 5_000 + record * 4_000);
            match record {
                0 if wake % 5 == 0 => writeln!(memory, r#"{{"at":"{at}","life":{life},"kind":"message","data":{{"from":"owner","text":"how are the herons today, number {wake}?","thread":"main"}}}}"#),
                1 if wake % 9 == 0 => writeln!(memory, r#"{{"at":"{at}","life":{life},"kind":"self_change","data":{{"ok":{},"stage":"build","summary":"rest longer {wake}","files":["a.rs"],"error":"no"}}}}"#, wake % 2 == 0),
                2 if wake % 27 == 0 => writeln!(memory, r#"{{"at":"{at}","life":{life},"kind":"dream","data":{{"name":"d","parts":3}}}}"#),
                record if record % 5 == 3 => {
                    number += 1;
                    let _ = writeln!(ledger, r#"{{"seq":{number},"at":"{at}","life":{life},"event":"settle","service":"anthropic","method":"POST","path":"/v1/messages","bytes_out":9000,"bytes_in":900,"status":200,"cost_micro_usd":{},"decision":"by usage","call":"c{number}","class":"{}","day":"2025-01-01","note":"some-model","prev":"","hash":""}}"#, 40 + number % 90, if wake % 6 == 0 { "owner" } else { "autonomous" });
                    writeln!(memory, r#"{{"at":"{at}","life":{life},"kind":"thought","data":{{"mind":"anthropic/some-model","thought":{number},"wake":{wake},"round":0,"monologue":"{words}","intent":"look","tool_calls":[{{"tool":"repo.read","args":{{"path":"a.md"}}}}],"sleep_s":60,"usage":{{"input_tokens":1000,"output_tokens":200}},"owner":{}}}}}"#, wake % 6 == 0)
                }
                record => writeln!(memory, r#"{{"at":"{at}","life":{life},"kind":"action","data":{{"thought":{number},"tool":"repo.read","args":{{"path":"creature/src/pace.rs"}},"result":{{"ok":{},"text":"{words}"}}}}}}"#, record % 11 > 0),
            }
            .unwrap();
        }
        if wake % 40 == 0 {
            let id = wake / 40;
            writeln!(asks, r#"{{"at":"{at}","id":"{id}","event":"asked","kind":"service","service":"x","method":"POST","path":"/2/tweets"}}"#).unwrap();
            if wake % 400 > 0 {
                writeln!(
                    asks,
                    r#"{{"at":"{}","id":"{id}","event":"executed","kind":"service"}}"#,
                    stamp(begun_ms + 7_200_000)
                )
                .unwrap();
            }
        }
    }
}

fn lived(history: &mut impl Write, deaths: &mut impl Write, life: u64, at_ms: u64) {
    let (at, commit) = (stamp(at_ms), format!("{:040x}", life / 2));
    writeln!(
        history,
        r#"{{"at":"{at}","what":"commit","by":"self","commit":"{commit}","summary":"change number {life}"}}"#
    )
    .unwrap();
    writeln!(history, r#"{{"at":"{at}","what":"life","life":{life},"commit":"{commit}","safe":false}}"#)
        .unwrap();
    if !life.is_multiple_of(3) {
        writeln!(
            history,
            r#"{{"at":"{}","what":"blessed","life":{life},"commit":"{commit}"}}"#,
            stamp(at_ms + 30_000)
        )
        .unwrap();
    } else {
        let to = format!("{:040x}", life / 2 - 1);
        writeln!(history, r#"{{"at":"{}","what":"fall","life":{life},"from_commit":"{commit}","to_commit":"{to}","told":"put back"}}"#, stamp(at_ms + 3_700_000)).unwrap();
        writeln!(deaths, r#"{{"at":"{}","life":{life},"ended":"crashed","cause":"exit status 101","blame":"code","commit":"{commit}","lived_s":3600.0}}"#, stamp(at_ms + 3_600_000)).unwrap();
    }
}

fn span(days: u64, of: u64) -> Span {
    let end_ms = BEGIN_MS + YEAR_MS / 2;
    Span::of_ms(end_ms.saturating_sub(days * 86_400_000 / of), end_ms)
}

#[test]
fn a_drawn_year_is_bounded_whatever_lies_in_it() {
    let house = House::new(SOUND);
    write_year(&house.root, 6_000, 4, 300);
    let mut life = Life::open(&seen(&house));
    read_up(&mut life);
    let year = life.span().unwrap();
    for columns in [390, 800, 1_600, 3_000] {
        let svg = picture::svg(&life, &year, columns, &place());
        assert!(svg.len() < 400_000, "{columns} columns: {} bytes", svg.len());
        assert!(svg.matches("<a ").count() > 300, "{columns}: {}", svg.matches("<a ").count());
    }
}

fn resident_kb() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = |name: &str| status.lines().find(|line| line.starts_with(name)).unwrap_or_default().to_owned();
    format!("{}; {}", line("VmRSS"), line("VmHWM"))
}

/// Prints what a year takes; run alone, for it tells what the whole process takes.
#[test]
#[ignore = "takes minutes, and tells figures"]
fn a_year_by_the_clock() {
    let house = House::new(SOUND);
    let begun = Instant::now();
    write_year(&house.root, 10_000, 100, 300);
    println!("written in {:?}; {}", begun.elapsed(), resident_kb());
    let mut life = Life::open(&seen(&house));
    let (begun, mut looks) = (Instant::now(), Vec::new());
    loop {
        let look = Instant::now();
        let looked = life.look();
        looks.push(look.elapsed());
        if !looked.more {
            println!("{} bytes of records", looked.all_bytes);
            break;
        }
    }
    println!("indexed in {:?}; {}", begun.elapsed(), resident_kb());
    looks.sort_unstable();
    println!("{} looks, the longest {:?}", looks.len(), &looks[looks.len() - 5..]);
    let begun = Instant::now();
    drop(life);
    println!("closed in {:?}; {}", begun.elapsed(), resident_kb());
    let begun = Instant::now();
    let mut life = Life::open(&seen(&house));
    println!("opened in {:?}", begun.elapsed());
    let begun = Instant::now();
    life.look();
    println!("looked in {:?}; {}", begun.elapsed(), resident_kb());
    let year = life.span().unwrap();
    let spans = [
        ("year", year),
        ("30 days", span(30, 1)),
        ("12 days", span(12, 1)),
        ("day", span(1, 1)),
        ("hour", span(1, 24)),
    ];
    for (name, span) in spans {
        for columns in [390, 1_600] {
            let begun = Instant::now();
            let svg = picture::svg(&life, &span, columns, &place());
            let drawn = begun.elapsed();
            let begun = Instant::now();
            let rows = tell::table(&life, &span, &place()).rows.len();
            println!(
                "{name} at {columns}: drawn in {drawn:?}, {} bytes; {rows} rows told in {:?}",
                svg.len(),
                begun.elapsed()
            );
        }
    }
    println!("{}", resident_kb());
}
