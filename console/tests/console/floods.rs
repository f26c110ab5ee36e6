//! Floods of a creature's: whatever it writes and however much, nothing of ours swells or goes deaf.

use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom, Write};
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use trials::{Guardian, House, SOUND};

const MIB: u64 = 1 << 20;
/// Room for a reader of files that have no end.
const MOST_MIB: u64 = 64;

/// MiB of records in a flood: `FLOOD_MIB=400` for the figures.
fn flood_mib() -> u64 {
    std::env::var("FLOOD_MIB").ok().and_then(|text| text.parse().ok()).unwrap_or(48)
}

/// The most memory a process had, in KiB, as far as it can still be seen.
fn peak_kib(pid: u32) -> u64 {
    let text = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().strip_suffix(" kB")?.trim().parse().ok()).unwrap_or(0)
}

/// Runs a command to its end: what it said, and the most memory it was seen to have.
fn watched(house: &House, args: &[&str]) -> (String, u64) {
    let said = house.folder.path().join("said");
    let mut child = house.command(args).stdout(File::create(&said).unwrap()).spawn().unwrap();
    let mut peak = 0;
    while child.try_wait().unwrap().is_none() {
        peak = peak.max(peak_kib(child.id()));
        std::thread::sleep(Duration::from_micros(500));
    }
    assert!(child.wait().unwrap().success(), "{args:?}");
    (fs::read_to_string(said).unwrap(), peak >> 10)
}

fn record(kind: &str, data: &str) -> String {
    format!("{{\"at\":\"2026-01-02T03:04:05.000Z\",\"life\":1,\"kind\":\"{kind}\",\"data\":{data}}}\n")
}

/// A memory that is one text again and again, and how often.
fn filled(house: &House, line: &str, mib: u64) -> u64 {
    let lines = mib * MIB / line.len() as u64;
    let mut file = std::io::BufWriter::new(File::create(house.path(".self/memory.jsonl")).unwrap());
    (0..lines).for_each(|_| file.write_all(line.as_bytes()).unwrap());
    file.flush().unwrap();
    lines
}

const EVER: [&str; 3] = ["history", "--since", "2020-01-01T00:00:00Z"];

/// Found: `history` over a sparse line of 1 GiB had 1 GiB resident.
#[test]
fn history_over_a_sparse_line_stays_small_and_sees_what_follows() {
    let house = House::new(SOUND);
    let mut file = File::create(house.path(".self/memory.jsonl")).unwrap();
    let edit = |what: &str| {
        record("self_change", &format!("{{\"ok\":true,\"stage\":\"asked\",\"summary\":\"{what}\"}}"))
    };
    file.write_all(edit("before it").as_bytes()).unwrap();
    file.set_len(1 << 30).unwrap();
    file.seek(SeekFrom::End(0)).unwrap();
    file.write_all(format!("\n{}", edit("after it")).as_bytes()).unwrap();
    let (said, peak) = watched(&house, &EVER);
    println!("history over a sparse line of 1 GiB: {peak} MiB at its peak");
    assert!(said.contains("before it") && said.contains("after it"), "{said}");
    assert!(peak < MOST_MIB, "{peak} MiB");
}

/// Found: what `history` tells of was all held before the first line of it was shown.
#[test]
fn history_over_records_without_end_stays_small_and_tells_each() {
    let house = House::new(SOUND);
    let line =
        record("self_change", "{\"ok\":false,\"stage\":\"build\",\"summary\":\"again\",\"error\":\"no\"}");
    let lines = filled(&house, &line, flood_mib());
    let (said, peak) = watched(&house, &EVER);
    println!("history over {} MiB of self-edits: {peak} MiB at its peak", flood_mib());
    assert_eq!(
        said.lines().filter(|line| line.contains("self-edit refused at build: again")).count() as u64,
        lines
    );
    assert!(said.contains(&format!("self edit {lines}")), "{}", said.lines().last().unwrap());
    assert!(peak < MOST_MIB, "{peak} MiB");
    let (said, peak) = watched(&house, &["history", "--json", "--since", "2020-01-01T00:00:00Z"]);
    assert_eq!(said.matches("\"self_edit\"").count() as u64, lines);
    assert!(peak < MOST_MIB, "{peak} MiB");
}

#[test]
fn a_report_reads_a_bounded_part_of_records_without_end() {
    let house = House::new(SOUND);
    let line = record("message", &format!("{{\"from\":\"creature\",\"text\":\"{}\"}}", "x".repeat(200)));
    let lines = filled(&house, &line, 2 * MOST_MIB);
    let mut file = File::options().append(true).open(house.path(".self/memory.jsonl")).unwrap();
    file.set_len(1 << 30).unwrap();
    file.seek(SeekFrom::End(0)).unwrap();
    file.write_all(
        format!("\n{}", record("message", "{\"from\":\"owner\",\"text\":\"after it\"}")).as_bytes(),
    )
    .unwrap();
    drop(file);
    let began = std::time::Instant::now();
    let (said, peak) = watched(&house, &["report", "--since", "2020-01-01"]);
    println!("a report over 1 GiB and {lines} records: {peak} MiB at its peak, {:?}", began.elapsed());
    assert!(said.contains(": after it") && said.contains("of memory.jsonl only the newest"), "{said}");
    assert!(peak < MOST_MIB, "{peak} MiB");
    filled(&house, &line, 2 * MOST_MIB);
    let (said, peak) = watched(&house, &["report", "--since", "2020-01-01"]);
    assert!(said.contains("creature: xxx") && peak < MOST_MIB, "{peak} MiB: {said}");
}

/// A list of nothings takes forty times its bytes once it is read.
#[test]
fn a_record_of_a_million_nothings_is_none_and_no_load() {
    let house = House::new(SOUND);
    let edit = |summary: &str, more: &str| {
        record(
            "self_change",
            &format!("{{\"ok\":true,\"stage\":\"asked\",\"summary\":\"{summary}\",\"more\":[{more}]}}"),
        )
    };
    let crowded = edit("crowded", &vec!["0"; 1_900_000].join(","));
    fs::write(
        house.path(".self/memory.jsonl"),
        [&crowded, &edit("small", "0"), &crowded].map(String::as_str).concat(),
    )
    .unwrap();
    let (said, peak) = watched(&house, &EVER);
    println!(
        "history over records of {} MiB of nothings: {peak} MiB at its peak",
        crowded.len() as u64 / MIB
    );
    assert!(said.contains("self-edit, asked: small"), "{said}");
    assert!(peak < MOST_MIB, "{peak} MiB");
}

/// Found: tokens of 18446744073709551615 in memory, and `history` panicked for ever.
#[test]
fn tokens_beyond_all_numbers_are_counted_as_far_as_numbers_go() {
    let house = House::new(SOUND);
    let thought = record("thought", "{\"usage\":{\"input_tokens\":18446744073709551615}}");
    fs::write(house.path(".self/memory.jsonl"), thought.repeat(2)).unwrap();
    let (said, _) = watched(&house, &EVER);
    assert!(said.contains("thoughts 2"), "{said}");
}

/// A guardian at a terminal, and all that was shown there.
struct Terminal {
    guardian: Guardian,
    shown: Arc<Mutex<Vec<u8>>>,
}

impl Terminal {
    fn start(house: &House) -> Self {
        let pty = nix::pty::openpty(None, None).unwrap();
        let log = File::create(house.folder.path().join("guardian.log")).unwrap();
        let mut command = house.command(&[]);
        command.env("NO_COLOR", "1").stdout(Stdio::from(pty.slave)).stderr(log);
        let child = command.spawn().unwrap();
        let (mut screen, shown) = (File::from(pty.master), Arc::new(Mutex::new(Vec::new())));
        let seen = Arc::clone(&shown);
        std::thread::spawn(move || {
            let mut block = [0; 65_536];
            while let Ok(read @ 1..) = screen.read(&mut block) {
                seen.lock().unwrap().extend_from_slice(&block[..read]);
            }
        });
        Self { guardian: Guardian::new(child, house), shown }
    }

    fn shown(&self) -> String {
        String::from_utf8_lossy(&self.shown.lock().unwrap()).into_owned()
    }
}

/// Found: 400 MB of short records at a terminal: 5 MiB became 1.02 GB resident, and a minute deaf.
#[test]
fn a_flood_of_records_at_a_terminal_is_passed_over_and_counted() {
    let house = House::new(
        "think alive; blessed; until [ -e .self/flood ]; do beat; sleep 0.1; done; \
         cat .self/flood >> .self/memory.jsonl; think over; live",
    );
    let first = house.git(&["rev-parse", "HEAD"]);
    let terminal = Terminal::start(&house);
    house.until_blessed(&first);
    let quiet = peak_kib(terminal.guardian.pid() as u32) >> 10;
    let line = "{\"kind\":\"snapshot\",\"data\":{}}\n";
    let lines = flood_mib() * MIB / line.len() as u64;
    let flood = house.path(".self/flood.new");
    let mut file = std::io::BufWriter::new(File::create(&flood).unwrap());
    (0..lines).for_each(|_| file.write_all(line.as_bytes()).unwrap());
    drop(file);
    fs::rename(flood, house.path(".self/flood")).unwrap();
    let mut peak = 0;
    house.until("the thought after the flood", || {
        peak = peak.max(peak_kib(terminal.guardian.pid() as u32) >> 10);
        terminal.shown().contains("thought   over")
    });
    println!(
        "the guardian at a terminal, {} MiB of short records: {quiet} MiB before, {peak} MiB at its peak",
        flood_mib()
    );
    let shown = terminal.shown();
    assert_eq!(terminal.guardian.stop(), 0);
    let noticed = shown.lines().filter(|line| line.contains("snapshot")).count() as u64;
    let passed: u64 = shown
        .lines()
        .filter_map(|line| line.split_once(" earlier line")?.0.rsplit(' ').next())
        .map(|number| number.parse::<u64>().unwrap())
        .sum();
    assert!(peak < 32, "{peak} MiB");
    assert!(passed > lines / 2, "{passed} of {lines} were passed over; {noticed} were shown");
    assert!(
        (lines..lines + 20).contains(&(noticed + passed)),
        "{noticed} shown, {passed} passed over of {lines}"
    );
}
