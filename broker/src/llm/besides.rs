//! A model the owner names besides the first: settings it leaves open are those of the first; pure.

use super::provider::Provider;
use crate::makers::Makers;
use crate::policy::{Besides, Model};

/// Returns its settings, as if it were the only model. A model without an address of its own is at the first's address,
/// unless its name is another maker's and the first is at its own maker's address.
pub fn as_first(settings: &Model, first: &Provider, besides: &Besides, makers: &Makers) -> Model {
    let is_set = |text: &String| !text.trim().is_empty();
    let own = Model {
        provider: besides.provider.clone(),
        model: besides.model.clone(),
        base_url: besides.base_url.clone(),
        key_env: besides.key_env.clone(),
        wire: besides.wire.clone(),
        context_tokens: besides.context_tokens,
        effort: besides.effort.clone(),
        ..Model::default()
    };
    if [&own.provider, &own.base_url, &own.key_env].into_iter().any(is_set) {
        return own;
    }
    let model = makers.meant(besides.model.trim());
    // What serves models of others keeps their names.
    let is_maker = makers.offers().any(|maker| maker.name == first.name && maker.is_maker());
    let maker = makers.offers().find(|maker| is_maker && maker.makes(model));
    match maker.filter(|maker| !is_set(&settings.base_url) && maker.name != first.name) {
        Some(maker) => Model { provider: maker.name.to_owned(), ..own },
        None => Model {
            provider: first.name.clone(),
            base_url: settings.base_url.clone(),
            key_env: settings.key_env.clone(),
            wire: if is_set(&own.wire) { own.wire.clone() } else { settings.wire.clone() },
            ..own
        },
    }
}
