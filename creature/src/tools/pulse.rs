//! `pulse.*`: standing concerns that are reviewed every so often.

use super::Toolbox;
use super::arguments::Arguments;
use crate::fault::Fault;
use agenda::Change;
use agenda::pulse::{Concern, PulseChange};
use serde_json::{Value, json};

pub fn add(tools: &mut Toolbox, args: &Arguments) -> Result<Value, Fault> {
    let (text, every_s) = (args.words("text")?.to_owned(), every_s(args)?);
    tools.change(&Change::Pulse(PulseChange::Add { text, every_s }))
}

pub fn update(tools: &mut Toolbox, args: &Arguments) -> Result<Value, Fault> {
    let (id, text) = (args.words("id")?.to_owned(), args.maybe_text("text")?.map(str::to_owned));
    tools.change(&Change::Pulse(PulseChange::Update { id, text, every_s: every_s(args)? }))
}

pub fn close(tools: &mut Toolbox, args: &Arguments) -> Result<Value, Fault> {
    let (id, why) = (args.words("id")?.to_owned(), args.words("why")?.to_owned());
    tools.change(&Change::Pulse(PulseChange::Close { id, why }))
}

pub fn list(tools: &Toolbox) -> Result<Value, Fault> {
    let line = |concern: &Concern| {
        let Concern { id, text, thread, every_s, next, last, .. } = concern;
        json!({"id": id, "text": text, "every_s": every_s, "next": next, "last": last, "thread": thread})
    };
    Ok(json!({"concerns": tools.desk.agenda.pulse.open().map(line).collect::<Vec<_>>()}))
}

fn every_s(args: &Arguments) -> Result<Option<u64>, Fault> {
    Ok(match args.number("every_s", 0, 0..=30 * 86_400)? {
        0 => None,
        every_s => u64::try_from(every_s).ok(),
    })
}
