//! Lists the services, with their rules and the uses left of each this hour.

use super::{Services, hours, rules};
use crate::approvals::outcome::with;
use crate::policy::{self, Rule};
use serde_json::{Value, json};

/// Every service with its rules, and the uses left of each this hour.
pub fn listed(services: &Services) -> Value {
    let service = |(name, service): (&String, &policy::Service)| {
        // A client secret may be left empty; every other variable named must be set.
        let named = service.auth.variables().into_iter().filter(|variable| !variable.is_empty());
        let missing: Vec<String> =
            named.filter(|variable| services.secrets.get(variable).is_none()).collect();
        let rules = service.rules.iter().map(|rule| shown_rule(services, name, rule));
        json!({
            "name": name, "about": service.about, "untrusted": service.untrusted, "ready": missing.is_empty(),
            "missing": missing, "rules": rules.collect::<Vec<_>>(),
        })
    };
    Value::Array(services.all.iter().map(service).collect())
}

fn shown_rule(services: &Services, name: &str, rule: &Rule) -> Value {
    let shown = json!({"method": rule.method, "path": rule.path, "do": rules::verdict(rule.verdict)});
    let Some(most) = rule.per_hour else { return shown };
    let left = services.hours.left(&hours::key("service", name, rule), most);
    with(with(shown, "per_hour", most), "left_this_hour", left)
}
