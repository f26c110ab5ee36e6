//! `knowledge.*`, `fact.add` and `dream.*`: notes, the search over all that is kept, facts, dreams.

use super::arguments::Arguments;
use super::papers::{is_slug, keep};
use super::tool_context::ToolContext;
use crate::dream;
use crate::fault::Fault;
use knowledge::facts::{self, Fact};
use knowledge::{Kind, Question};
use patch::boundary;
use serde_json::{Value, json};

/// Bytes of memory that one search indexes before it answers; two seconds' work.
const MOST_INDEXED: u64 = 32 << 20;

pub fn write(tools: &mut ToolContext<'_>, args: &Arguments) -> Result<Value, Fault> {
    let (path, text) = (paper(tools, args, "notes")?, args.text("text"));
    keep(tools, args, &path, text)
}

pub fn search(tools: &mut ToolContext<'_>, args: &Arguments) -> Result<Value, Fault> {
    let words = args.text("query").to_owned();
    let most_hits = args.number("most").unwrap_or(8);
    let named = |name: &str| Kind::ALL.into_iter().find(|kind| kind.name() == name);
    let said = args.maybe_text("kind");
    let (kind, only_told) = (said.and_then(named), said == Some("told"));
    let house = &tools.store.house;
    let asked = Question { words, kind, most_hits, only_told };
    let found = knowledge::search(&house.index(), &dream::search_paths(house), MOST_INDEXED, &asked)
        .map_err(|cause| {
            Fault::caused("search", &cause, "is the disk full? notes.read and repo.run still work")
        })?;
    let mut notes = Vec::new();
    if found.some_words {
        notes.push("nothing has all these words; these have some".to_owned());
    }
    if found.unindexed_bytes > 0 && matches!(kind, None | Some(Kind::Memory)) {
        let waiting = found.unindexed_bytes.div_ceil(1 << 20);
        notes.push(format!(
            "{waiting} MiB of the oldest records are not indexed yet; the next search reads on"
        ));
    }
    Ok(json!({"hits": found.hits, "note": notes.join("; ")}))
}

pub fn add_fact(tools: &mut ToolContext<'_>, args: &Arguments) -> Result<Value, Fault> {
    let text = args.text("text");
    if text.chars().count() > facts::MOST_TEXT {
        return Err(args.fault(format!("takes one statement of at most {} characters", facts::MOST_TEXT)));
    }
    let source = args.maybe_text("source").unwrap_or("myself");
    let fact = Fact::new(text, source, &tools.store.clock.text().chars().take(10).collect::<String>());
    let before = dream::facts_text(&tools.store.house)?;
    let after = match facts::add(&before, &fact) {
        Ok(after) => after,
        Err(Fact { text, source, date }) => {
            let note = "it is known already";
            return Ok(json!({"known": text, "source": source, "date": date, "note": note}));
        }
    };
    if after.len() as u64 > dream::MOST_FACTS {
        return Err(args.fault("would make self/facts.md longer than 256 KiB; condense it first"));
    }
    dream::keep_facts(&tools.store.house, &after)?;
    Ok(json!({"path": "self/facts.md", "facts": facts::list(&after).len()}))
}

pub fn dream_now(tools: &mut ToolContext<'_>, _: &Arguments) -> Result<Value, Fault> {
    let mut state = dream::DreamState::load(&tools.store.house);
    state.wanted = true;
    state.save(&tools.store.house)?;
    Ok(json!({"note": "the dream comes with your next wake"}))
}

pub fn dream_undo(tools: &mut ToolContext<'_>, args: &Arguments) -> Result<Value, Fault> {
    let (name, restored) = dream::undo(tools.store, args.maybe_text("name"))?;
    Ok(json!({"undone": name, "restored": restored}))
}

/// The path from the root of the paper that the call names, `self/<folder>/<name>.md`.
pub(super) fn paper(tools: &ToolContext<'_>, args: &Arguments, folder: &str) -> Result<String, Fault> {
    let name = args.text("name").trim();
    let name = name.strip_prefix("self/").unwrap_or(name);
    let name = name.strip_prefix(folder).and_then(|rest| rest.strip_prefix('/')).unwrap_or(name);
    let name = name.strip_suffix(".md").unwrap_or(name);
    if !is_slug(name) {
        return Err(args.fault("takes a name of letters, digits, - and _, at most 60"));
    }
    let path = format!("self/{folder}/{name}.md");
    boundary::no_links(tools.store.house.root(), &path)?;
    Ok(path)
}
