//! Parts of a request that a server may not accept, and which to leave out when it refuses them. Pure.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

use crate::{Error, Kind, Talk, Tool, Wire, plain, refusal};

/// A part of a request that some servers refuse.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Part {
    Schema,
    /// A reply held to JSON, where the schema is refused; the chat wire alone has it.
    Object,
    /// The limit's old name, `max_tokens`; without it, `max_completion_tokens`.
    OldLimit,
    Strict,
    /// News as messages of the role `system`.
    SystemNews,
    StreamUsage,
    Parallel,
    /// Thinking shown as a summary.
    Summary,
    /// Encrypted reasoning, which only reasoning models have.
    Encrypted,
    /// How much the model is to think.
    Effort,
    /// Key that requests with a common beginning share.
    CacheKey,
    /// Several calls in one turn of the model's; without it, each is a turn, followed by its result.
    SeveralCalls,
    /// Words of ours right after results; without it, they stand with the last of them.
    WordsAfterResults,
    /// Ids of calls as the server gave them; without it, ids of nine letters and digits.
    GivenIds,
    /// Cache of an hour for lasting parts; sent only where the client is told to.
    Hour,
}

/// Each part in words; empty for the limit's other name, by which nothing is left out.
const PARTS: [(Part, &str); 15] = [
    (Part::Schema, "a schema of the reply"),
    (Part::Object, "a reply held to JSON"),
    (Part::OldLimit, ""),
    (Part::Strict, "strict tools"),
    (Part::SystemNews, "news from the system"),
    (Part::StreamUsage, "the count of tokens in a stream"),
    (Part::Parallel, "several calls at once"),
    (Part::Summary, "summaries of its thinking"),
    (Part::Encrypted, "encrypted reasoning"),
    (Part::Effort, "the effort that is set"),
    (Part::CacheKey, "a key for its cache"),
    (Part::SeveralCalls, "several calls in one turn"),
    (Part::WordsAfterResults, "words right after results"),
    (Part::GivenIds, "ids of calls as they were given"),
    (Part::Hour, "a cache that holds for an hour"),
];

/// The parts that a refusal names, and by which words of it.
const NAMED: [(Part, &str); 16] = [
    (Part::SystemNews, "role 'system'"),
    (Part::StreamUsage, "stream_options"),
    (Part::Parallel, "parallel_tool_calls"),
    (Part::Strict, "strict"),
    (Part::Encrypted, "encrypted content is not supported"),
    (Part::Summary, "summar"),
    (Part::Summary, "adaptive"),
    (Part::Effort, "effort"),
    (Part::CacheKey, "prompt_cache_key"),
    (Part::Summary, "reasoning"),
    // Templates of Llama 3 and of Mistral and Gemma, as llama.cpp, vLLM and LM Studio tell of them.
    (Part::SeveralCalls, "single tool"),
    (Part::WordsAfterResults, "must alternate"),
    (Part::SeveralCalls, "must alternate"),
    // Mistral's API and templates; some servers give other ids than these take: github.com/jundot/omlx/pull/1997.
    (Part::GivenIds, "length of 9"),
    (Part::GivenIds, "length 9"),
    (Part::Hour, "ttl"),
];

/// Tools that a refusal may name before it is the list that is refused.
const MOST_LEFT_OUT: usize = 4;

/// Parts that a server is taken to accept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "Vec<Part>", from = "Vec<Part>")]
pub(crate) struct Form {
    without: u16,
    /// The server has answered a request that asked for JSON as this form does.
    json_is_proven: bool,
}

impl Form {
    pub(crate) fn has(self, part: Part) -> bool {
        self.without & bit(part) == 0
    }

    /// This form with or without the cache of an hour, where the server takes it.
    pub(crate) fn for_an_hour(self, hour: bool) -> Form {
        if hour || !self.has(Part::Hour) { self } else { self.changed(Part::Hour) }
    }

    /// The schema that a request has for its reply; none where the reply is held to none, or schemas are refused.
    pub(crate) fn schema<'t>(self, talk: &Talk<'t>) -> Option<&'t Value> {
        talk.reply_schema().filter(|_| self.has(Part::Schema))
    }

    fn changed(self, part: Part) -> Form {
        let json_is_proven = self.json_is_proven && !matches!(part, Part::Schema | Part::Object);
        Form { without: self.without ^ bit(part), json_is_proven }
    }
}

impl From<Form> for Vec<Part> {
    fn from(form: Form) -> Self {
        PARTS.into_iter().map(|(part, _)| part).filter(|part| !form.has(*part)).collect()
    }
}

impl From<Vec<Part>> for Form {
    fn from(without: Vec<Part>) -> Self {
        let form = Form::default();
        without.into_iter().fold(form, |form, part| if form.has(part) { form.changed(part) } else { form })
    }
}

/// Parts of a request that a server was found to accept, and tools that it was found to refuse.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Accepted {
    #[serde(rename = "without")]
    pub(crate) form: Form,
    /// Names of tools that the server refused, and its words.
    pub without_tools: BTreeMap<String, String>,
}

impl Accepted {
    /// Returns what is known once the server has answered a request in this form, which asked for JSON or not.
    pub(crate) fn proven(self, asked_for_json: bool) -> Accepted {
        let json_is_proven = self.form.json_is_proven || asked_for_json;
        Accepted { form: Form { json_is_proven, ..self.form }, ..self }
    }

    /// The tools of a request without those that the server refused.
    pub(crate) fn tools(&self, tools: &[Tool]) -> Vec<Tool> {
        tools.iter().filter(|tool| !self.without_tools.contains_key(&tool.name)).map(plain::plain).collect()
    }

    fn changed(&self, part: Part) -> Accepted {
        Accepted { form: self.form.changed(part), ..self.clone() }
    }

    /// Parts of a request that are left out, in words.
    pub fn without(&self) -> Vec<&'static str> {
        let without = PARTS.into_iter().filter(|(part, words)| !self.form.has(*part) && !words.is_empty());
        without.map(|(_, words)| words).collect()
    }

    /// Lists forms to try when a request in this form is refused, the best first: each part is changed once, the one
    /// the server names first; `json` is the one that asked for JSON. The caller passes over those that would not change
    /// the request.
    pub(crate) fn simpler(
        &self,
        known: &Accepted,
        wire: Wire,
        tools: &[Tool],
        json: Option<Part>,
        error: &Error,
    ) -> Vec<Accepted> {
        let has = |part: Part| self.form.has(part);
        let freer = json.map(|part| self.changed(part));
        // Some servers fall over a schema instead of refusing it.
        if error.status == Some(500) && error.kind != Kind::Form && !self.form.json_is_proven {
            return freer.into_iter().collect();
        }
        let is_form = error.kind == Kind::Form;
        if !is_form && (error.kind != Kind::BadRequest || !matches!(error.status, Some(400 | 422))) {
            return Vec::new();
        }
        let mut simpler = Vec::new();
        let said = error.message.to_lowercase();
        // Both names of the limit end in `_tokens`.
        let swapped = has(Part::OldLimit) != known.form.has(Part::OldLimit);
        if wire == Wire::Chat && said.contains("_tokens") && !swapped {
            simpler.push(self.changed(Part::OldLimit));
        }
        let named = NAMED.iter().filter(|(part, words)| has(*part) && said.contains(words));
        simpler.extend(named.map(|(part, _)| self.changed(*part)));
        let sent = self.tools(tools);
        let names: Vec<&str> = sent.iter().map(|tool| tool.name.as_str()).collect();
        let named = refusal::tools_named(&error.message, &names);
        // A tool that is refused as a strict one may be taken as a plain one.
        let mut strict = sent.iter().filter(|tool| tool.strict);
        let is_strict = strict.any(|tool| named.is_empty() || named.contains(&tool.name.as_str()));
        if is_form && is_strict && wire != Wire::Chat && has(Part::Strict) {
            simpler.push(self.changed(Part::Strict));
        }
        let mut without_tools = self.without_tools.clone();
        without_tools.extend(named.iter().map(|name| ((*name).to_owned(), error.cause.clone())));
        let is_some = !named.is_empty() && named.len() < names.len() && without_tools.len() <= MOST_LEFT_OUT;
        let fewer = Accepted { form: self.form, without_tools };
        simpler.extend(is_some.then_some(fewer));
        simpler.extend(freer);
        simpler
    }
}

fn bit(part: Part) -> u16 {
    1 << part as u8
}
