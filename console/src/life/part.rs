//! Reads a part of a life for an export, and nothing else: in bounded memory, beside the process that keeps the index.

use super::export::secrets::Secrets;
use super::index::base::Index;
use super::index::rows::{Entry, Lived, Stand};
use super::index::sources::{self, Of, There};
use super::index::time;
use super::{Life, Part, Span};
use anyhow::{Context, Result};
use house::records;
use house::records::memory::Record;
use house::{House, clock};
use serde_json::Value;

/// Called for each record of memory and ledger: the record, its time, and its entry in the index.
type Each<'a> = dyn FnMut(&Value, u64, Option<&Entry>) -> Result<()> + 'a;

impl Life {
    /// The part with every text of it struck; and the span it takes.
    pub(super) fn of_part(
        house: &House,
        part: &Part,
        secrets: &Secrets,
        each: &mut Each,
    ) -> Result<(Self, Span)> {
        let mut life = Self::with(house, 2);
        let mut index = Index::open(None)?;
        index.begin()?;
        life.read_caps(&index)?;
        let there = sources::there(house);
        let (long, short): (Vec<&There>, Vec<&There>) = there.iter().partition(|file| !file.of.may_go());
        for file in short {
            for mut record in records::of(&file.path) {
                secrets.strike(&mut record);
                takes(&mut index, file.of, &record)?;
            }
        }
        index.settle()?;
        let span = span_of(&index, part)?;
        for file in long {
            life.read_part(&mut index, file, part, &span, secrets, each)?;
        }
        index.end()?;
        life.index = Some(index);
        let span = match part {
            Part::All => life.span().context("nothing is on record here yet")?,
            Part::Life(_) | Part::Span(_) => span,
        };
        Ok((life, span))
    }

    fn read_part(
        &mut self,
        index: &mut Index,
        file: &There,
        part: &Part,
        span: &Span,
        secrets: &Secrets,
        each: &mut Each,
    ) -> Result<()> {
        let (since, until) = (format!("{:.3}", span.from), format!("{:.3}", span.to));
        let place = records::place(&file.path, &since);
        for record in records::from(&file.path, place, u64::MAX) {
            let at = Record(&record).at();
            if at < since.as_str() {
                continue;
            }
            // Records are in order of time but where a clock was put back: then what follows is of later days.
            if at > until.as_str() {
                break;
            }
            if let Part::Life(wanted) = part
                && Record(&record).life() != Some(*wanted)
            {
                continue;
            }
            let mut record = if file.of == Of::Memory { self.owners.judged(record) } else { record };
            secrets.strike(&mut record);
            if let Some((at_ms, entry)) = takes(index, file.of, &record)? {
                each(&record, at_ms, entry.as_ref())?;
            }
        }
        Ok(())
    }
}

/// Takes a record in; returns its time, and the entry that is kept of it.
fn takes(index: &mut Index, of: Of, record: &Value) -> Result<Option<(u64, Option<Entry>)>> {
    let Some(at_ms) = time::of(Record(record).at(), clock::wall_ms()) else { return Ok(None) };
    Ok(Some((at_ms, index.take(of, record, at_ms, Stand::default())?)))
}

/// Returns the span of a part; of a life by the index of its records.
fn span_of(index: &Index, part: &Part) -> Result<Span> {
    let now_ms = clock::wall_ms();
    match part {
        Part::All => Ok(Span::of_ms(0, now_ms)),
        Part::Span(span) => Ok(*span),
        Part::Life(number) => {
            let wanted = u32::try_from(*number).unwrap_or(u32::MAX);
            let life: Option<Lived> = index.one("SELECT * FROM life WHERE number = ?1", [wanted])?;
            let life = life.with_context(|| format!("no life {number} is on record"))?;
            let next = "SELECT * FROM life WHERE number > ?1 ORDER BY number LIMIT 1";
            let next: Option<Lived> = index.one(next, [wanted])?;
            let end_ms = life.death_ms.or(next.map(|next| next.from_ms)).unwrap_or(now_ms);
            Ok(Span::of_ms(life.from_ms, end_ms))
        }
    }
}
