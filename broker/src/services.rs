//! Services: the places the owner named; each call is judged by the owner's rules before it is sent.
//!
//! Invariant: nothing is sent unless a rule allows it, the ledger holds it, and it is in the canonical form that was
//! judged. A client's words about itself decide nothing.

pub mod approved;
pub mod call;
pub mod canonical;
pub mod carry;
pub mod drafts;
pub mod implicit;
pub mod mail;
pub mod mcp;
pub mod oauth;
pub mod oauth1;
pub mod posts;
pub mod recipients;
pub mod routes;
pub mod rules;
pub mod seal;
pub mod sending;
pub mod signed;
pub mod upstream;

use crate::approvals::Approvals;
use crate::approvals::act::Act;
use crate::approvals::outcome::with;
use crate::ground::refusal::Unfit;
use crate::handles::Handles;
use crate::policy::{self, Rule, Verdict};
use house::bounds::brief;
use mcp::Mcp;
use oauth::SignIns;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The error where the owner named no such place; `section` is where they are named.
fn unknown<T>(what: &str, section: &str, name: &str, all: &BTreeMap<String, T>) -> Unfit {
    let names: Vec<&str> = all.keys().map(String::as_str).collect();
    let hint = match names.as_slice() {
        [] => format!("no {what} is configured; the owner names them in owner.toml under [{section}]"),
        names => format!("there are: {}; only the owner can add one, in owner.toml", names.join(", ")),
    };
    Unfit::new(format!("no {what} is called {:?}", brief(name, 60)), hint)
}

/// The rule that an act is judged by.
pub struct Judged {
    /// Never `Deny`.
    pub verdict: Verdict,
    pub per_hour: Option<u32>,
    /// The key its uses are counted under.
    pub key: String,
}

/// Dependencies of calling services.
pub struct Services {
    pub all: BTreeMap<String, policy::Service>,
    pub sign_ins: SignIns,
    pub mcp: Mcp,
    /// Held while a post is sent: one at a time.
    pub posting: tokio::sync::Mutex<()>,
    pub approvals: Arc<Approvals>,
    pub handles: Arc<Handles>,
}

impl Services {
    /// The rule that lets an act happen in some way; none, or one that denies, is an error with the rules in words.
    pub fn judged(&self, act: &Act) -> Result<Judged, String> {
        let Some(call) = act.call() else { return Err(String::new()) };
        if matches!(act, Act::Mcp(_)) {
            let server = self.mcp.servers.get(&call.service);
            return mcp::rules::judged(server.map_or(&[], |server| &server.start.settings.rules), call);
        }
        let rules = self.all.get(&call.service).map_or(&[][..], |service| &service.rules);
        let rule = rules::judge(rules, &call.method, &call.path).filter(|rule| rule.verdict != Verdict::Deny);
        let rule = rule.ok_or_else(|| rules::in_words(rules, rules::in_word))?;
        let key = rules::key(act.kind(), &call.service, rule);
        Ok(Judged { verdict: rule.verdict, per_hour: rule.per_hour, key })
    }

    /// The error for an unknown service.
    pub fn unknown(&self, name: &str) -> Unfit {
        unknown("service", "services", name, &self.all)
    }

    /// Every service with its rules, and the uses left of each this hour.
    pub fn listed(&self) -> Value {
        let service = |(name, service): (&String, &policy::Service)| {
            // A client secret may be left empty; every other variable named must be set.
            let named = service.auth.variables().into_iter().filter(|variable| !variable.is_empty());
            let missing: Vec<String> =
                named.filter(|variable| self.handles.secrets.get(variable).is_none()).collect();
            let rules = service.rules.iter().map(|rule| self.shown_rule(name, rule));
            json!({
                "name": name, "about": service.about, "untrusted": service.untrusted, "ready": missing.is_empty(),
                "missing": missing, "rules": rules.collect::<Vec<_>>(),
            })
        };
        Value::Array(self.all.iter().map(service).collect())
    }

    fn shown_rule(&self, name: &str, rule: &Rule) -> Value {
        let shown = json!({"method": rule.method, "path": rule.path, "do": rules::verdict(rule.verdict)});
        let Some(most) = rule.per_hour else { return shown };
        let left = self.handles.hours.left(&rules::key("service", name, rule), most);
        with(with(shown, "per_hour", most), "left_this_hour", left)
    }
}
