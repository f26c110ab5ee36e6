//! Answers questions from the index: papers by rank, records newest first, each hit with a snippet.

use crate::index::Index;
use crate::papers::PIECE_BITS;
use crate::records::{Known, Line, OFFSET_BITS};
use crate::{Error, Kind, SearchPaths};
use ground::files;
use ground::sentences::{self, Sentence};
use ground::text::one_line;
use rusqlite::{Row, params};
use serde::Serialize;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};

/// Words and phrases of one question that count, and the characters of each.
const MOST_TERMS: usize = 12;
const MOST_TERM: usize = 64;

/// Papers with some of the words, where only records have all.
const SOME_PAPERS: usize = 3;

/// Characters of a record's snippet.
const SNIPPET: usize = 280;

/// Bytes of a record that are read for its snippet; more than the longest line that memory writes.
const MOST_LINE: u64 = 5 << 20;

/// Matching records that are looked through for those that `only_told` is about.
const MOST_LOOKED: usize = 200;

/// A question to the index.
#[derive(Clone, Debug)]
pub struct Question {
    /// Words, and phrases in double quotes; texts with all of them answer, or else those with any.
    pub words: String,
    /// Only hits of this kind; papers do not heed it where `only_told` is set.
    pub kind: Option<Kind>,
    /// Hits at most.
    pub most_hits: usize,
    /// Only papers, the owner's words and remembered notes, each by the sentence that says most, with its day: no
    /// thoughts, acts and answers, which only repeat the question.
    pub only_told: bool,
}

/// The answer to a question.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Found {
    pub hits: Vec<Hit>,
    /// No text has all the words; the hits have some.
    pub some_words: bool,
    /// Bytes of the oldest records, which are not indexed yet.
    pub unindexed_bytes: u64,
    /// The index was begun anew.
    pub anew: bool,
}

/// Text that answers the question.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Hit {
    pub kind: String,
    pub path: String,
    /// Time a record was written; of a paper, with `only_told`, the day that goes with its sentence; else empty.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub at: String,
    pub text: String,
}

impl Index {
    pub(crate) fn search(&self, paths: &SearchPaths, asked: &Question) -> Result<Found, Error> {
        let terms = terms(&asked.words);
        if terms.is_empty() || asked.most_hits == 0 {
            return Ok(Found::default());
        }
        let mut hits = self.answers(paths, asked, &terms, " ")?;
        let some_words = hits.is_empty() && terms.len() > 1;
        if some_words {
            hits = self.answers(paths, asked, &terms, " OR ")?;
        }
        Ok(Found { hits, some_words, ..Found::default() })
    }

    fn answers(
        &self,
        paths: &SearchPaths,
        asked: &Question,
        terms: &[String],
        between: &str,
    ) -> Result<Vec<Hit>, Error> {
        let query =
            |between: &str| terms.iter().map(|term| format!("\"{term}\"")).collect::<Vec<_>>().join(between);
        let papers = |query: &str, most: usize| match asked.only_told {
            true => self.told(query, terms, most),
            false => self.in_papers(query, asked.kind, most),
        };
        let mut hits = papers(&query(between), asked.most_hits)?;
        let records = match asked.kind {
            None | Some(Kind::Memory) => self.in_records(paths, &query(between), terms, asked)?,
            Some(_) => Vec::new(),
        };
        // Its own record of the question has all of its words, and hides no paper that has some.
        if hits.is_empty() && !records.is_empty() {
            hits = papers(&query(" OR "), SOME_PAPERS.min(asked.most_hits))?;
        }
        // Where papers and records both have many hits, each gets half.
        let half = asked.most_hits.div_ceil(2);
        hits.truncate(half.max(asked.most_hits.saturating_sub(records.len())));
        hits.extend(records);
        hits.truncate(asked.most_hits);
        Ok(hits)
    }

    fn in_papers(&self, query: &str, kind: Option<Kind>, most: usize) -> Result<Vec<Hit>, Error> {
        let sql = format!(
            "SELECT files.kind, files.path, snippet(papers, 0, '', '', '…', 40) FROM papers
             JOIN files ON files.number = papers.rowid >> {PIECE_BITS}
             WHERE papers MATCH ?1 AND (?2 IS NULL OR files.kind = ?2) ORDER BY papers.rank LIMIT ?3"
        );
        let mut asking = self.database.prepare(&sql)?;
        let hit = |row: &Row| {
            let text = one_line(&row.get::<_, String>(2)?);
            Ok(Hit { kind: row.get(0)?, path: row.get(1)?, at: String::new(), text })
        };
        let hits = asking.query_map(params![query, kind.map(Kind::name), most as i64], hit)?;
        Ok(hits.collect::<Result<_, _>>()?)
    }

    /// Papers by the best sentence of each piece, those with the most terms first.
    fn told(&self, query: &str, terms: &[String], most: usize) -> Result<Vec<Hit>, Error> {
        let sql = format!(
            "SELECT files.kind, files.path, papers.text FROM papers
             JOIN files ON files.number = papers.rowid >> {PIECE_BITS}
             WHERE papers MATCH ?1 ORDER BY papers.rank LIMIT ?2"
        );
        let mut asking = self.database.prepare(&sql)?;
        let mut rows = asking.query(params![query, most as i64])?;
        let mut hits: Vec<(usize, Hit)> = Vec::new();
        while let Some(row) = rows.next()? {
            let Some(Sentence { text, date, terms }) = sentences::best(&row.get::<_, String>(2)?, terms)
            else {
                continue;
            };
            hits.push((terms, Hit { kind: row.get(0)?, path: row.get(1)?, at: date, text }));
        }
        hits.sort_by_key(|(terms, _)| std::cmp::Reverse(*terms));
        Ok(hits.into_iter().map(|(_, hit)| hit).collect())
    }

    fn in_records(
        &self,
        paths: &SearchPaths,
        query: &str,
        terms: &[String],
        asked: &Question,
    ) -> Result<Vec<Hit>, Error> {
        // Most of the records that match may be thoughts and acts, which `only_told` leaves out.
        let looked = if asked.only_told { MOST_LOOKED.max(asked.most_hits) } else { asked.most_hits };
        let logs = self.logs(paths)?;
        let sql = "SELECT rowid FROM records WHERE records MATCH ?1 ORDER BY rowid DESC LIMIT ?2";
        let mut asking = self.database.prepare(sql)?;
        let mut rows = asking.query(params![query, looked as i64])?;
        let mut hits = Vec::new();
        while let (true, Some(row)) = (hits.len() < asked.most_hits, rows.next()?) {
            let row: i64 = row.get(0)?;
            let log = logs.iter().find(|log| log.number == row >> OFFSET_BITS);
            let offset = row & ((1 << OFFSET_BITS) - 1);
            hits.extend(log.and_then(|log| hit(paths, log, offset.unsigned_abs(), terms, asked.only_told)));
        }
        Ok(hits)
    }
}

/// The record at this offset; none where it is gone or tells nothing that was asked for.
fn hit(paths: &SearchPaths, log: &Known, offset: u64, terms: &[String], told: bool) -> Option<Hit> {
    let mut file = files::open(&log.path).ok()?;
    file.seek(SeekFrom::Start(offset)).ok()?;
    let mut bytes = Vec::new();
    BufReader::new(file.take(MOST_LINE)).read_until(b'\n', &mut bytes).ok()?;
    let line: Line = serde_json::from_slice(&bytes).ok()?;
    let path = log.path.strip_prefix(&paths.root).unwrap_or(&log.path).display().to_string();
    let text = match told {
        true => sentences::best(line.told()?, terms)?.text,
        false => format!("{}: {}", line.kind, around(&line.words(), terms)),
    };
    Some(Hit { kind: Kind::Memory.name().to_owned(), path, at: line.at, text })
}

/// The words and phrases of a question, without marks that mean something in a query.
fn terms(words: &str) -> Vec<String> {
    let mut terms = Vec::new();
    for (at, part) in words.split('"').enumerate() {
        match at % 2 {
            1 => terms.push(one_line(part)),
            _ => terms.extend(part.split_whitespace().map(ToOwned::to_owned)),
        }
    }
    let short = |term: String| term.chars().filter(|letter| !letter.is_control()).take(MOST_TERM).collect();
    let mut terms: Vec<String> = terms.into_iter().map(short).collect();
    terms.retain(|term| term.chars().any(char::is_alphanumeric));
    terms.truncate(MOST_TERMS);
    terms
}

/// The text around the first place that looks like one of the terms.
fn around(text: &str, terms: &[String]) -> String {
    let flat: Vec<char> = one_line(text).chars().collect();
    let low: String = flat.iter().map(|letter| letter.to_lowercase().next().unwrap_or(*letter)).collect();
    // The index finds words by their stem; here their first five letters stand for it.
    let stem = |term: &String| term.to_lowercase().chars().take(5).collect::<String>();
    let place = terms.iter().filter_map(|term| low.find(&stem(term))).min().unwrap_or(0);
    let place = low.get(..place).map_or(0, |before| before.chars().count());
    let from = place.saturating_sub(SNIPPET / 3);
    let part: String = flat.iter().skip(from).take(SNIPPET).collect();
    let (begin, end) = (if from > 0 { "…" } else { "" }, if from + SNIPPET < flat.len() { "…" } else { "" });
    format!("{begin}{part}{end}")
}
