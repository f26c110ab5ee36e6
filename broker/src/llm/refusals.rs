//! Refusals of a request to a model; pure.

use crate::ground::refusal::Refusal;
use house::bounds::{NAME_CHARS, brief};

/// A refusal for a field that cannot be accepted; `hint` says what to do.
pub fn refused(message: impl Into<String>, hint: &str) -> Refusal {
    Refusal::new(400, "cost_unknown", message, hint)
}

pub fn malformed(message: impl Into<String>) -> Refusal {
    Refusal::new(400, "invalid_request_error", message, "send a request of this wire as JSON")
}

/// A refusal for a model that the owner's settings do not come to; these may be asked instead.
pub fn not_allowed(model: &str, instead: &[&str]) -> Refusal {
    let hint = format!(
        "ask {}; the owner allows another by [model] others = [\"{}\"] in owner.toml",
        instead.join(", "),
        brief(model, NAME_CHARS)
    );
    let message = format!("the owner does not allow the model {}", brief(model, NAME_CHARS));
    Refusal::new(403, "model_not_allowed", message, hint)
}
