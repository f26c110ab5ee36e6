//! Papers in the index: small files, indexed whole when their size or time says that they changed.

use crate::index::Index;
use crate::{Error, Kind, SearchPaths, papers, stamp};
use ground::files;
use rusqlite::{Transaction, params};
use std::collections::BTreeMap;
use std::io;
use std::path::Path;

/// Papers of one folder that are indexed: the last by name, which of snapshots are the newest.
const MOST_PAPERS: usize = 2_000;

/// Bytes of one paper that are indexed.
const MOST_BYTES: u64 = 1 << 20;

/// Bytes of a piece, which is what a hit is; a longer line is a piece of its own, and so is every fact.
const PIECE: usize = 2_000;

/// Low bits of a row's number that hold the number of the piece; the bits above hold the file's.
pub(crate) const PIECE_BITS: u32 = 16;

impl Index {
    /// Indexes papers that are new or changed, and forgets those that are gone.
    pub(crate) fn take_papers(&mut self, paths: &SearchPaths) -> Result<(), Error> {
        let taking = self.database.transaction()?;
        let mut known: BTreeMap<String, (i64, String)> = taking
            .prepare("SELECT path, number, stamp FROM files")?
            .query_map([], |row| Ok((row.get(0)?, (row.get(1)?, row.get(2)?))))?
            .collect::<Result<_, _>>()?;
        let all = paths.papers.iter().flat_map(|(kind, place)| {
            papers(place).into_iter().rev().take(MOST_PAPERS).map(|path| (*kind, path))
        });
        for (kind, path) in all {
            let Some(stamp) = stamp(&path) else { continue };
            let name = path.strip_prefix(&paths.root).unwrap_or(&path).display().to_string();
            match known.remove(&name) {
                Some((_, before)) if before == stamp => continue,
                Some((number, _)) => forget(&taking, number)?,
                None => {}
            }
            // A paper that cannot be read counts as empty until it changes.
            let text = read(&path).unwrap_or_default();
            let sql = "INSERT INTO files (kind, path, stamp) VALUES (?1, ?2, ?3)";
            taking.execute(sql, params![kind.name(), name, stamp])?;
            let number = taking.last_insert_rowid();
            let mut adding = taking.prepare("INSERT INTO papers (rowid, text) VALUES (?1, ?2)")?;
            for (at, piece) in pieces(kind, &text).into_iter().take(1 << PIECE_BITS).enumerate() {
                let row = (number << PIECE_BITS) + at as i64;
                adding.execute(params![row, piece])?;
            }
        }
        for (number, _) in known.into_values() {
            forget(&taking, number)?;
        }
        Ok(taking.commit()?)
    }
}

fn forget(taking: &Transaction, number: i64) -> Result<(), Error> {
    let (first, last) = (number << PIECE_BITS, ((number + 1) << PIECE_BITS) - 1);
    taking.execute("DELETE FROM papers WHERE rowid BETWEEN ?1 AND ?2", [first, last])?;
    taking.execute("DELETE FROM files WHERE number = ?1", [number])?;
    Ok(())
}

fn read(path: &Path) -> io::Result<String> {
    let (bytes, _) = files::head(path, 0, MOST_BYTES)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Cuts a paper into pieces between lines; each line of the facts is a piece.
fn pieces(kind: Kind, text: &str) -> Vec<String> {
    let most = if kind == Kind::Fact { 0 } else { PIECE };
    let mut pieces: Vec<String> = Vec::new();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        match pieces.last_mut() {
            Some(last) if last.len() + line.len() < most => {
                last.push('\n');
                last.push_str(line);
            }
            _ => pieces.push(line.to_owned()),
        }
    }
    pieces
}
