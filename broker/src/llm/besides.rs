//! A model the owner names besides the first: settings it leaves open are those of the first; pure.

use super::aliases::Aliases;
use super::provider::Provider;
use crate::policy::{Besides, Model};

/// Makers, by how their models' names begin.
const MAKERS: [(&str, &str); 2] = [("claude", "anthropic"), ("gpt", "openai")];

/// Its settings, as if it were the only model. A model without an address of its own is at the first one's, unless
/// its name is the other maker's and the first is at its own maker's address.
pub fn as_first(settings: &Model, first: &Provider, besides: &Besides, aliases: &Aliases) -> Model {
    let is_set = |text: &String| !text.trim().is_empty();
    let own = Model {
        provider: besides.provider.clone(),
        model: besides.model.clone(),
        base_url: besides.base_url.clone(),
        key_env: besides.key_env.clone(),
        wire: besides.wire.clone(),
        context_tokens: besides.context_tokens,
        ..Model::default()
    };
    if [&own.provider, &own.base_url, &own.key_env].into_iter().any(is_set) {
        return own;
    }
    let model = aliases.meant(besides.model.trim());
    let maker = MAKERS.iter().find(|(beginning, _)| model.starts_with(beginning));
    match maker.filter(|(_, maker)| !is_set(&settings.base_url) && *maker != first.name) {
        Some((_, maker)) => Model { provider: (*maker).to_owned(), ..own },
        None => Model {
            provider: first.name.to_owned(),
            base_url: settings.base_url.clone(),
            key_env: settings.key_env.clone(),
            wire: if is_set(&own.wire) { own.wire.clone() } else { settings.wire.clone() },
            ..own
        },
    }
}
