//! The calls that a post is made of: each judged with it, in the ledger before it is sent, and its failure in words.

use crate::approvals::act::Call;
use crate::approvals::outcome::Outcome;
use crate::ground::refusal::Unfit;
use crate::ledger::{Closed, Entry};
use crate::policy::Service;
use crate::services::{Services, signed, upstream};
use bytes::Bytes;
use serde_json::Value;

/// Why a post does not go on.
pub enum Stop {
    Closed(Closed),
    /// The part is not out.
    Broke(Unfit),
    /// Nobody knows whether the part is out.
    Unsure(Unfit),
}

impl From<Closed> for Stop {
    fn from(closed: Closed) -> Self {
        Self::Closed(closed)
    }
}

impl From<Unfit> for Stop {
    fn from(unfit: Unfit) -> Self {
        Self::Broke(unfit)
    }
}

/// The service that a post goes to, and the line of the ledger that it was allowed by.
pub struct Wire<'a> {
    pub services: &'a Services,
    pub service: &'a Service,
    pub name: &'a str,
    pub line: &'a Entry,
    /// Which part it is for, in words.
    pub note: String,
}

impl Wire<'_> {
    pub async fn call(
        &self,
        method: &str,
        path: &str,
        query: &[(String, String)],
        kind: &str,
        body: Bytes,
    ) -> Result<Outcome, Stop> {
        let call = Call {
            service: self.name.to_owned(),
            method: method.to_owned(),
            path: path.to_owned(),
            url: upstream::address(&self.service.base_url, path, query)?.into(),
            headers: Some(("content-type".to_owned(), kind.to_owned()))
                .filter(|_| !body.is_empty())
                .into_iter()
                .collect(),
            ..Call::default()
        };
        let (method, path, note) = (call.method.clone(), call.path.clone(), self.note.clone());
        let line = Entry { method, path, note, ..self.line.clone() };
        Ok(signed::send(self.services, &call, body, line).await?)
    }

    /// Posts a body of JSON, or none for null.
    pub async fn post(&self, path: &str, body: &Value) -> Result<Outcome, Stop> {
        let body = if body.is_null() { Bytes::new() } else { body.to_string().into() };
        self.call("POST", path, &[], "application/json", body).await
    }

    pub async fn get(&self, path: &str, query: &[(&str, &str)]) -> Result<Outcome, Stop> {
        let query: Vec<_> =
            query.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        self.call("GET", path, &query, "", Bytes::new()).await
    }
}

/// The JSON of a successful answer; an empty one is null.
pub fn json(outcome: &Outcome) -> Result<Value, Unfit> {
    let Outcome::Answered(answer) = outcome else { return Err(told(outcome)) };
    match answer.body.as_str() {
        _ if answer.status >= 300 => Err(told(outcome)),
        "" => Ok(Value::Null),
        body => serde_json::from_str(body).map_err(|_| {
            Unfit::new("its answer is no JSON", "the service may be in trouble; try again later")
        }),
    }
}

pub fn text_at<'a>(answer: &'a Value, place: &str) -> Option<&'a str> {
    answer.pointer(place).and_then(Value::as_str).filter(|text| !text.is_empty())
}

/// A failure in words, and what to do about it.
pub fn told(outcome: &Outcome) -> Unfit {
    match outcome {
        Outcome::Answered(answer) => {
            let hint = match answer.status {
                401 => "the credentials are not valid; the owner must renew them",
                402 => "the account's credits there are used up; tell the owner",
                403 => "it is forbidden: the app may lack permission, or the text was posted before",
                429 => "the rate limit is used up; wait a quarter of an hour",
                500.. => "the service is in trouble; try again later",
                _ => "change it rather than repeat it",
            };
            let body = serde_json::from_str(&answer.body).unwrap_or_default();
            let places = ["/detail", "/errors/0/message", "/errors/0/detail", "/message", "/title", "/error"];
            let detail = places.iter().find_map(|place| text_at(&body, place)).unwrap_or_default();
            let detail = house::bounds::brief(&detail.split_whitespace().collect::<Vec<_>>().join(" "), 300);
            let detail = if detail.is_empty() { detail } else { format!(": {detail}") };
            Unfit::new(format!("it answered {}{detail}", answer.status), hint)
        }
        Outcome::Redirected(_, unfit) | Outcome::NotSent(unfit) | Outcome::Unsure(unfit) => unfit.clone(),
    }
}
