//! A life as one file of HTML that needs no other, to show to others: no script, nothing that leads out, and secrets struck.

pub mod secrets;

use super::index::rows::Entry;
use super::picture::{self, escaped};
use super::{Life, Part, tell};
use crate::feed;
use anyhow::Result;
use house::bounds::brief;
use house::moments::Place;
use house::records::memory::{Data, Record};
use house::{House, terminal};
use secrets::Secrets;
use serde_json::Value;
use std::io::{BufWriter, Write};

/// Columns of the picture.
const COLUMNS: u32 = 1_200;
/// Characters of a thought or message, and of an act's arguments and result.
const SAID_CHARS: usize = 8_000;
const ACT_CHARS: usize = 400;
const STYLE: &str = include_str!("style.css");

/// Writes a part of a life: its picture, what weighed most, and every word, thought, act and edit.
pub fn html(house: &House, part: &Part, to: &mut dyn Write) -> Result<()> {
    let (secrets, place) = (Secrets::of(house)?, Place::here());
    let (life, span) = Life::of_part(house, part, &secrets, &mut |_, _, _| Ok(()))?;
    let (from, until) = (picture::told(&place, span.from_ms()), picture::told(&place, span.to_ms()));
    let title = match part {
        Part::Life(number) => format!("Life {number}"),
        Part::All | Part::Span(_) => "A life".to_owned(),
    };
    write!(
        to,
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\
         <title>{title}</title><style>{STYLE}</style></head><body><main><h1>{title}</h1><p>{from} to {until}</p>\
         <div class=\"picture\" role=\"region\" tabindex=\"0\" aria-label=\"picture\">{}</div>",
        picture::alone(&life, &span, COLUMNS, &place)
    )?;
    let table = tell::table(&life, &span, &place);
    write!(to, "<h2>What weighed most</h2><table><tbody>")?;
    for row in &table.rows {
        let (when, what) = (escaped(&row.when), escaped(&secrets.struck(&row.what)));
        writeln!(to, "<tr><th scope=\"row\">{when}</th><td>{what}</td></tr>")?;
    }
    writeln!(to, "</tbody></table>")?;
    if table.left_out > 0 {
        writeln!(to, "<p>{} more are in the picture alone.</p>", table.left_out)?;
    }
    drop((life, table));
    writeln!(to, "<h2>What happened</h2><table><tbody>")?;
    Life::of_part(house, part, &secrets, &mut |record, at_ms, entry| row(record, at_ms, entry, &place, to))?;
    writeln!(to, "</tbody></table></main></body></html>")?;
    Ok(())
}

/// A record of memory as a row; none where there is nothing to read in it.
#[allow(clippy::wildcard_enum_match_arm)]
fn row(record: &Value, at_ms: u64, entry: Option<&Entry>, place: &Place, to: &mut dyn Write) -> Result<()> {
    let said = |text: &str| escaped(&brief(text, SAID_CHARS));
    let short = |text: &str| escaped(&brief(text, ACT_CHARS));
    let (record, mut anchor) = (Record(record), String::new());
    let told = match record.data() {
        Data::Thought(thought) => {
            let number = entry.map_or(0, |entry| entry.number);
            if !thought.is_garbled() {
                anchor = format!(" id=\"thought-{number}\"");
            }
            format!(
                "<b>thought {number}</b> {}<p class=\"means\">{}{}</p>",
                said(thought.monologue()),
                said(feed::more(thought.monologue(), thought.intent())),
                said(thought.error())
            )
        }
        Data::Action(action) => {
            let came = match action.result().unwrap_or_default() {
                result if result.ok() => "done".to_owned(),
                result => format!("failed: {}", short(result.error())),
            };
            let args = action.args().map(Value::to_string).unwrap_or_default();
            format!("<b>{}</b> {came} <code>{}</code>", short(action.tool()), short(&args))
        }
        Data::Message(message) => format!("<b>{}</b> {}", short(message.from()), said(message.text())),
        Data::SelfChange(edit) => {
            let (summary, error) = (said(edit.summary()), said(edit.error()));
            format!("<b>self-edit, {}</b> {summary} {error}", short(edit.stage()))
        }
        Data::Dream(dream) => format!("<b>dream</b> {}", said(dream.monologue())),
        Data::Observation(seen) => format!("<b>{}</b> {}", short(seen.about()), said(seen.text())),
        _ => return Ok(()),
    };
    let when = picture::told(place, at_ms);
    writeln!(
        to,
        "<tr{anchor} class=\"{}\"><th scope=\"row\">{when}</th><td>{told}</td></tr>",
        escaped(record.kind())
    )?;
    Ok(())
}

/// Writer of a part of a life, in a form of its own.
pub type Form = fn(&House, &Part, &mut dyn Write) -> Result<()>;

/// Writes a part of a life to the standard output.
pub fn show(house: &House, part: &Part, form: Form) -> Result<()> {
    let mut out = BufWriter::with_capacity(1 << 16, terminal::document());
    form(house, part, &mut out)?;
    out.flush()?;
    Ok(())
}
