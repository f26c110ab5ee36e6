//! Makers as the owner adds and corrects them: `[makers.NAME]` laid over the table that is compiled in; pure.

use super::{Made, Makers, Row, Spoken, TABLE_OF_MAKERS};
use house::settings::makers::{OwnMaker, OwnModel};
use house::settings::words;
use std::collections::BTreeMap;

/// Shortest beginning of a model's name that tells its family.
const SHORTEST: usize = 3;

impl Makers {
    /// The table with what the owner adds and corrects.
    pub fn with_owners(owners: &BTreeMap<String, OwnMaker>) -> Self {
        let mut makers = TABLE_OF_MAKERS.clone();
        for (name, own) in owners {
            if !TABLE_OF_MAKERS.rows.contains_key(name) {
                makers.begins.extend(own.models.keys().filter_map(|model| beginning(model)));
            }
            let unknown = || Made { own_keys: Some(Vec::new()), ..Made::default() };
            let made = makers.rows.remove(name).unwrap_or_else(unknown);
            makers.rows.insert(name.clone(), corrected(made, own));
        }
        makers.aliases = makers.rows.values().flat_map(|made| made.aliases.clone()).collect();
        makers
    }
}

/// The first word of a model's name, without its maker's before a slash.
fn beginning(model: &str) -> Option<String> {
    let name = model.rsplit('/').next()?.to_ascii_lowercase();
    let word = name.split(|c: char| !c.is_ascii_alphabetic()).next()?;
    (word.len() >= SHORTEST).then(|| word.to_owned())
}

fn corrected(made: Made, own: &OwnMaker) -> Made {
    let given = |text: &String| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
    let mut made = Made {
        address: given(&own.address).or(made.address),
        wire: match own.wire.as_str() {
            "anthropic" => Spoken::Anthropic,
            "responses" => Spoken::Responses,
            "chat" => Spoken::Chat,
            _ => made.wire,
        },
        model: given(&own.model).or(made.model),
        router: own.router.unwrap_or(made.router),
        local: own.local.unwrap_or(made.local),
        limit: match own.limit.as_str() {
            "" => made.limit,
            // What is usual has no name of its own.
            "max_tokens" => None,
            other => Some(other.to_owned()),
        },
        own_keys: own.keys.clone().or(made.own_keys),
        ..made
    };
    made.aliases.extend(own.aliases.clone());
    for (name, model) in &own.models {
        let known = made.models.remove(name);
        made.models.insert(name.clone(), row(known, model));
    }
    made
}

fn row(known: Option<Row>, own: &OwnModel) -> Row {
    let window = own.window.or(known.as_ref().map(|row| row.window)).unwrap_or_default();
    let priced = own.input.zip(own.reply);
    let (input, reply) =
        priced.or(known.as_ref().map(|row| (row.input_usd, row.output_usd))).unwrap_or_default();
    // A price of the owner's is a new one: what was cheap beside the old one need not be beside it.
    let before = known.as_ref().filter(|_| priced.is_none());
    let output = own.output.or(known.as_ref().map(|row| row.output)).unwrap_or(window);
    Row {
        window,
        output: output.min(window),
        input_usd: input,
        output_usd: reply,
        read_usd: own.cached.or(before.map(|row| row.read_usd)).unwrap_or(input),
        write_usd: own.written.or(before.map(|row| row.write_usd)).unwrap_or(input * 2.0),
        long_tokens: own.long_tokens.or(known.as_ref().and_then(|row| row.long_tokens)),
        long_times: own.long_times.or(known.as_ref().and_then(|row| row.long_times)),
        sees: own.sees.clone().or(known.as_ref().map(|row| row.sees.clone())).unwrap_or_default(),
        is_unpriced: priced.is_none() && known.as_ref().is_none_or(|row| row.is_unpriced),
    }
}

/// The first mistake in the owner's makers that only the table shows, and the keys it stands at.
pub fn mistake(owners: &BTreeMap<String, OwnMaker>) -> Option<(Vec<String>, String)> {
    owners.iter().find_map(|(name, own)| {
        let at = |keys: &[&str]| {
            [&["makers", name.as_str()], keys].concat().into_iter().map(str::to_owned).collect()
        };
        let known = TABLE_OF_MAKERS.rows.get(name);
        if known.is_none() && own.address.trim().is_empty() {
            let names: Vec<&str> = TABLE_OF_MAKERS.rows.keys().map(String::as_str).collect();
            let near =
                words::nearest(name, &names).map_or(String::new(), |near| format!(" did you mean {near}?"));
            let what =
                format!("is missing, and no maker of this name is known;{near} one of your own needs it");
            return Some((at(&["address"]), what));
        }
        own.models.iter().find_map(|(model, row)| {
            let at = |key| at(&["models", model, key]);
            let is_known = known.is_some_and(|made| made.models.contains_key(model));
            match row {
                OwnModel { input: Some(_), reply: None, .. } => {
                    Some((at("out"), "is missing: a price has in and out".to_owned()))
                }
                OwnModel { input: None, reply: Some(_), .. } => {
                    Some((at("in"), "is missing: a price has in and out".to_owned()))
                }
                OwnModel { window: None, .. } if !is_known => {
                    let what = "is missing: how many tokens it holds is not known of a new model";
                    Some((at("window"), what.to_owned()))
                }
                _ => None,
            }
        })
    })
}
