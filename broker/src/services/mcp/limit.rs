//! Limits of a rule on the amounts in a call's arguments: read exactly, and counted before the call leaves.
//!
//! Invariant: an amount that could be read in two ways is no amount, and a call without a readable amount does not leave.

use super::rules;
use crate::approvals::act::Call;
use crate::ground::refusal::Unfit;
use crate::money::limits::Full;
use crate::money::limits::spent::{Charge, Over};
use crate::policy::{Limit, ToolRule};
use crate::services::Services;
use house::bounds::brief;
use house::decimal::Decimal;
use serde_json::Value;

/// Whether a call would fit the limits of its rule now.
pub fn look(services: &Services, call: &Call) -> Result<(), Unfit> {
    services.handles.limits.look(&charges(services, call)?).map_err(|full| unfit(call, full))
}

/// Counts a call, on disk, before it leaves; returns its number, none where its rule has no limits.
pub fn take(services: &Services, call: &Call) -> Result<Option<u64>, Unfit> {
    match charges(services, call)?.as_slice() {
        [] => Ok(None),
        charges => services.handles.limits.take(charges).map(Some).map_err(|full| unfit(call, full)),
    }
}

/// Amounts that a call adds to sums, by the rule it is judged by.
fn charges(services: &Services, call: &Call) -> Result<Vec<Charge>, Unfit> {
    let arguments: Value = serde_json::from_str(&call.body).unwrap_or_default();
    let server = services.mcp.servers.get(&call.service);
    let rules = server.map_or(&[][..], |server| &server.start.settings.rules);
    match rules::judge(rules, rules::tool_of(call), &arguments) {
        Some(rule) => of_rule(&call.service, rule, &arguments).map_err(|error| {
            Unfit::new(error, "amounts are text in digits, like \"0.05\"; nothing was done")
        }),
        None => Ok(Vec::new()),
    }
}

/// Amounts that the arguments add to the sums of a rule's limits, or which of them is none.
pub fn of_rule(server: &str, rule: &ToolRule, arguments: &Value) -> Result<Vec<Charge>, String> {
    let charge = |limit: &Limit| {
        let mut amount = Decimal::default();
        for path in &limit.of {
            let one = amount_at(arguments, path).map_err(|what| format!("the argument {path} {what}"))?;
            let too_large = || format!("the sum of {} is too large", limit.of.join(" + "));
            amount = amount.plus(one).ok_or_else(too_large)?;
        }
        let sum = match limit.sum.as_str() {
            "" => format!("{} {}", rules::key(server, rule), limit.of.join("+")),
            name => format!("mcp:{server} = {name}"),
        };
        Ok(Charge { sum, amount, each: limit.each, day: limit.day })
    };
    rule.limit.iter().map(charge).collect()
}

/// The amount at a path such as `amount` or `options.amount`.
fn amount_at(arguments: &Value, path: &str) -> Result<Decimal, String> {
    let whole = arguments.get(path);
    let within = path.split('.').try_fold(arguments, |value, name| value.get(name));
    let value = match (whole, within) {
        (Some(_), Some(_)) if path.contains('.') => return Err("is there twice".to_owned()),
        (found, other) => found.or(other).ok_or("is missing, and the owner has a limit on it")?,
    };
    let text = match value {
        Value::String(text) => text.clone(),
        // Written as in the call itself; one with a point was rounded when it was read.
        Value::Number(number) if number.is_u64() => number.to_string(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            return Err(format!("is {}, no amount as text", brief(&value.to_string(), 60)));
        }
    };
    Decimal::read(&text).map_err(|what| format!("{:?} {what}", brief(&text, 60)))
}

fn unfit(call: &Call, full: Full) -> Unfit {
    let here = format!("{} of {}", rules::tool_of(call), call.service);
    match full {
        Full::Closed(why) => Unfit::new(
            format!("{here} has a limit, and what was spent is not known: {why}"),
            "nothing was done; the owner has to look at it",
        ),
        Full::Over(Over::TooMany) => Unfit::new(
            format!("{here} has a limit, and too many calls were made to count one more"),
            "nothing was done; wait some hours",
        ),
        Full::Over(Over::Each(charge)) => Unfit::new(
            format!("{here} comes to {}, and a single call may come to {}", charge.amount, charge.each),
            "nothing was done; send less, or ask the owner, who sets the limit in owner.toml",
        ),
        Full::Over(Over::Day(charge, left, wait_ms)) => {
            let error = format!(
                "{here} comes to {}, and of the {} that 24 hours may come to {left} are left",
                charge.amount, charge.day
            );
            let hint = match wait_ms {
                u64::MAX => "nothing was done; the owner sets the limit in owner.toml".to_owned(),
                wait_ms => {
                    format!("nothing was done; it fits in {} s, if no more is spent", wait_ms / 1_000 + 1)
                }
            };
            Unfit::new(error, hint)
        }
    }
}

/// A limit in words, for the creature.
pub fn in_words(limit: &Limit) -> String {
    format!(", {} at most {} a call and {} in 24 hours", limit.of.join(" + "), limit.each, limit.day)
}
