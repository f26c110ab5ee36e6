//! The pulse in a dream: of concerns that say the same for the same thread, the older one stays.

use crate::fault::Fault;
use crate::tools::Toolbox;
use agenda::Change;
use agenda::pulse::{Concern, PulseChange};
use knowledge::facts::Fact;
use std::collections::BTreeMap;

/// Closes what says the same as an older concern.
pub(super) fn tend(tools: &mut Toolbox) -> Result<String, Fault> {
    let open: Vec<Concern> = tools.desk.agenda.pulse.open().cloned().collect();
    let mut first: BTreeMap<(String, Vec<String>), String> = BTreeMap::new();
    let mut closed = 0;
    for concern in open {
        let sense = (concern.thread, Fact::new(&concern.text, "", "").sense());
        match first.get(&sense) {
            Some(older) => {
                let why = format!("it says the same as {older}");
                tools.change(&Change::Pulse(PulseChange::Close { id: concern.id, why }))?;
                closed += 1;
            }
            None => _ = first.insert(sense, concern.id),
        }
    }
    Ok(format!("{closed} concerns closed"))
}
