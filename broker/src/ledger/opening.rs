//! Opens a ledger: locks it, checks every line, and treats it as closed if anything is odd.
//!
//! Invariant: a ledger that lost an acknowledged line is never opened.

use super::anchor::Anchor;
use super::chain::{self, End};
use super::entry::{Closed, Entry};
use super::sums::{ACCEPTED, Sums};
use crate::ground::caps::{Caps, Day, Span};
use crate::ground::clock::Clock;
use crate::ground::files;
use crate::policy::Budget;
use house::House;
use nix::fcntl::{Flock, FlockArg};
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Longest wait for a former broker to end.
const PATIENCE: Duration = Duration::from_secs(5);

/// A ledger whose lines were all checked.
pub struct Opened {
    pub file: File,
    pub bytes: u64,
    pub end: End,
    pub sums: Sums,
    pub torn_bytes: u64,
    /// Held for as long as the file is written.
    pub lock: Flock<File>,
}

pub fn open(house: &House, clock: &Clock) -> Result<Opened, Closed> {
    let shown = house.ledger().display().to_string();
    let closed = |what: String| Closed(what);
    std::fs::create_dir_all(house.broker()).map_err(|error| Closed(format!("no folder for it: {error}")))?;
    let lock = lock(&house.broker().join("ledger.lock"))?;
    let anchor = Anchor::read(house).map_err(|error| Closed(format!("{error:#}")))?;
    let anchor = finish_rotation(house, anchor)?;
    let is_there = std::fs::symlink_metadata(house.ledger()).is_ok();
    let known = anchor.clone().unwrap_or_default();
    if !is_there && known.bytes > 0 {
        return Err(closed(format!("{shown} is missing; it had {} lines", known.end.seq)));
    }
    if !is_there && anchor.is_none() && set_aside(house).next().is_some() {
        return Err(closed(format!("{shown} and its anchor are missing, but earlier ledgers are there")));
    }
    let mut options = OpenOptions::new();
    options.read(true).append(true).create(true).mode(0o644);
    let mut file = files::open_by(&mut options, &house.ledger())
        .map_err(|error| closed(format!("{shown} cannot be opened: {error}")))?;
    let meta = file.metadata().map_err(|error| closed(format!("{shown} cannot be read: {error}")))?;
    if !meta.is_file() {
        return Err(closed(format!("{shown} is not a regular file")));
    }
    if meta.len() < known.bytes {
        let lost = known.bytes - meta.len();
        return Err(closed(format!("{shown} is {lost} bytes shorter than it was")));
    }
    is_whole(&mut file, &known).map_err(|why| closed(format!("{shown}, {why}")))?;
    let (end, sums, bytes) = read_on(&mut file, known).map_err(|why| closed(format!("{shown}, {why}")))?;
    let torn_bytes = meta.len() - bytes;
    if torn_bytes > 0 {
        let mended = set_torn_aside(house, &mut file, bytes, clock);
        mended
            .map_err(|error| closed(format!("{shown} ends in a torn line that cannot be mended: {error}")))?;
    }
    let mut sums = sums;
    sums.money.forget_open();
    Ok(Opened { file, bytes, end, sums, torn_bytes, lock })
}

fn lock(path: &Path) -> Result<Flock<File>, Closed> {
    let mut file = files::open_lock(path)
        .map_err(|error| Closed(format!("{} cannot be opened: {error}", path.display())))?;
    let step = Duration::from_millis(50);
    let mut waited = Duration::ZERO;
    loop {
        match Flock::lock(file, FlockArg::LockExclusiveNonblock) {
            Ok(lock) => return Ok(lock),
            Err((back, _)) if waited < PATIENCE => {
                file = back;
                std::thread::sleep(step);
                waited += step;
            }
            Err((_, error)) => {
                return Err(Closed(format!("another broker writes it ({error}); end that one, then this")));
            }
        }
    }
}

/// Completes a rotation, which is noted in the anchor, carried out, then removed from the anchor; it may break off
/// anywhere.
fn finish_rotation(house: &House, anchor: Option<Anchor>) -> Result<Option<Anchor>, Closed> {
    let Some(mut anchor) = anchor else { return Ok(None) };
    let Some(name) = anchor.rotating.take() else { return Ok(Some(anchor)) };
    let moved = house.ledger().with_file_name(Path::new(&name).file_name().unwrap_or_default());
    let bytes_of = |path: &Path| std::fs::symlink_metadata(path).map(|meta| meta.len()).ok();
    if bytes_of(&moved) == Some(anchor.bytes) && matches!(bytes_of(&house.ledger()), None | Some(0)) {
        anchor.bytes = 0;
    }
    anchor.write(house).map_err(|error| Closed(format!("{error:#}")))?;
    Ok(Some(anchor))
}

/// Checks that all lines up to the anchor's are unchanged: each follows the one before, and the last is the anchor's.
/// Their sums are in the anchor.
fn is_whole(file: &mut File, anchor: &Anchor) -> Result<(), String> {
    file.seek(SeekFrom::Start(0)).map_err(|error| error.to_string())?;
    let mut reader = BufReader::with_capacity(1 << 16, file.take(anchor.bytes));
    // The first line of this file follows one in an older file.
    let (mut end, mut line) = (None::<End>, Vec::new());
    loop {
        let seq = end.as_ref().map_or_else(|| "1 of the file".to_owned(), |end| (end.seq + 1).to_string());
        if read_line(&mut reader, &mut line).map_err(|error| format!("line {seq}: {error}"))? == 0 {
            break;
        }
        let whole = line.strip_suffix(b"\n").ok_or_else(|| format!("line {seq}: it has no end"))?;
        end = Some(follows(whole, end.as_ref()).map_err(|why| format!("line {seq}: {why}"))?);
    }
    match end.unwrap_or_default() == anchor.end || anchor.bytes == 0 {
        true => Ok(()),
        false => Err(format!("line {}: it is not the one the anchor knows", anchor.end.seq)),
    }
}

/// The end of the chain after this line.
fn follows(line: &[u8], end: Option<&End>) -> Result<End, String> {
    let text = std::str::from_utf8(line).map_err(|_| "not text".to_owned())?;
    let (prev, hash) = chain::link(text)?;
    match end {
        None => chain::read(line).map(|first| End { seq: first.seq, hash: first.hash }),
        Some(end) if end.hash == prev => Ok(End { seq: end.seq + 1, hash: hash.to_owned() }),
        Some(end) => Err(format!("it does not follow line {}", end.seq)),
    }
}

/// Follows the chain from the anchor to the last complete line.
fn read_on(file: &mut File, anchor: Anchor) -> Result<(End, Sums, u64), String> {
    let Anchor { mut end, mut sums, mut bytes, .. } = anchor;
    file.seek(SeekFrom::Start(bytes)).map_err(|error| error.to_string())?;
    let mut reader = BufReader::with_capacity(1 << 16, file);
    let mut line = Vec::new();
    loop {
        let read = read_line(&mut reader, &mut line);
        let read = read.map_err(|error| format!("line {}: {error}", end.seq + 1))?;
        if read > chain::LONGEST_LINE && !line.ends_with(b"\n") && !rest_is_one_line(&mut reader) {
            return Err(format!("line {}: too long to be one of ours", end.seq + 1));
        }
        let Some(whole) = line.strip_suffix(b"\n") else { return Ok((end, sums, bytes)) };
        let next = chain::next(whole, &end).map_err(|why| format!("line {}: {why}", end.seq + 1))?;
        sums.apply(&next.0.at, &next.0.entry);
        end = next.1;
        bytes += read as u64;
    }
}

/// Reads the next line, as far as the longest there is and a byte more; returns how many bytes were read.
fn read_line(reader: &mut impl BufRead, line: &mut Vec<u8>) -> std::io::Result<usize> {
    line.clear();
    reader.take(chain::LONGEST_LINE as u64 + 1).read_until(b'\n', line)
}

/// Whether no further line ends: a torn end may be longer than any line, if the disk filled a lost part with zeros.
fn rest_is_one_line(reader: &mut impl BufRead) -> bool {
    loop {
        match reader.fill_buf() {
            Ok([]) => return true,
            Ok(bytes) if bytes.contains(&b'\n') => return false,
            Ok(bytes) => {
                let read = bytes.len();
                reader.consume(read);
            }
            Err(_) => return false,
        }
    }
}

fn set_torn_aside(house: &House, file: &mut File, bytes: u64, clock: &Clock) -> anyhow::Result<()> {
    let mut torn = Vec::new();
    file.seek(SeekFrom::Start(bytes))?;
    file.take(files::SMALL_FILE_BYTES).read_to_end(&mut torn)?;
    let name = format!("torn-{}.txt", stamp(clock));
    files::replace(&house.broker().join(name), &torn)?;
    file.set_len(bytes)?;
    Ok(file.sync_all()?)
}

/// A time that fits in a file's name.
pub fn stamp(clock: &Clock) -> String {
    clock.now().strftime("%Y%m%dT%H%M%S%3f").to_string()
}

/// Older ledger files.
fn set_aside(house: &House) -> impl Iterator<Item = PathBuf> + use<> {
    let folder = house.ledger().parent().map(Path::to_owned).unwrap_or_default();
    std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).filter(|path| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        name.starts_with("ledger-") && name.ends_with(".jsonl")
    })
}

/// Opens a new ledger on the owner's order after the old one was closed: sets the old one aside, and counts every
/// cap as spent. Returns a sentence about it.
pub fn accept(house: &House, clock: &Clock, budget: &Budget) -> anyhow::Result<String> {
    std::fs::create_dir_all(house.broker())?;
    let lock = lock(&house.broker().join("ledger.lock")).map_err(|Closed(why)| anyhow::anyhow!(why))?;
    let stamp = stamp(clock);
    let aside = house.ledger().with_file_name(format!("ledger-{stamp}-closed.jsonl"));
    // The old anchor is moved as well: beside a new ledger it would close that one again.
    for (from, to) in
        [(house.ledger(), aside), (house.anchor(), house.broker().join(format!("anchor-{stamp}.json")))]
    {
        if std::fs::symlink_metadata(&from).is_ok() {
            std::fs::rename(&from, &to)?;
        }
    }
    let now = Span::all_now();
    let entry = Entry {
        decision: ACCEPTED.into(),
        day: Some(Day::of(clock.now())),
        cost_micro_usd: Some(Caps::of(budget).largest()),
        ..Entry::note(format!("the owner accepted a new ledger at {stamp}; {now} count as spent"))
    };
    let mut text = String::new();
    let at = clock.stamp();
    let end = chain::add(&mut text, &End::default(), &at, &entry).map_err(anyhow::Error::msg)?;
    let mut sums = Sums::default();
    sums.apply(&at, &entry);
    files::replace(&house.ledger(), text.as_bytes())?;
    Anchor { at, end, bytes: text.len() as u64, sums, ..Anchor::default() }.write(house)?;
    drop(lock);
    Ok(format!(
        "a new ledger begins; the old one is kept as .self/ledger-{stamp}-closed.jsonl. All of {} \
         money counts as spent",
        Span::ALL.map(|span| format!("{}'s", span.now())).join(" and ")
    ))
}
