//! Sends a permitted post part by part: each is written down before it is sent and after, and what is out stays out.

use super::bluesky::{self, Answers};
use super::kept;
use super::network::Network;
use super::post::{Part, Post};
use super::progress::{Fate, Out, Progress};
use super::wire::{Stop, Wire, json, text_at};
use super::x;
use crate::approvals::act::{Act, Call};
use crate::approvals::outcome::{self, Outcome};
use crate::ground::refusal::Unfit;
use crate::ledger::{Closed, Entry};
use crate::policy::Auth;
use crate::services::Services;
use bytes::Bytes;
use serde_json::{Value, json};

/// Bytes of the digest of a record.
const MOST_CID: usize = 200;

/// How far a post is that is asked for.
pub struct Standing {
    /// Parts that are not known to be out.
    pub left: u32,
    /// Whether a part was sent already: then the very same post was allowed.
    pub is_begun: bool,
    /// Tells what nobody knows of it, where sending it again could make two of one.
    pub unknown: Option<String>,
    /// Outcome of it, where it is out.
    pub done: Option<Outcome>,
}

/// How far a post is; one under way is waited for.
pub async fn standing(services: &Services, call: &Call) -> Result<Standing, Unfit> {
    let _one = services.posting.lock().await;
    let (network, post) = read(services, call)?;
    let progress = begun(services, call, &post)?;
    let unknown = progress.unknown().filter(|_| !network.takes().holds_once);
    Ok(Standing {
        is_begun: progress.parts.iter().any(|fate| *fate != Fate::Waits),
        left: u32::try_from(progress.left()).unwrap_or(u32::MAX),
        unknown: unknown
            .map(|at| format!("{}, and a yes sends it again", maybe_out(&progress, at, &call.service))),
        done: (progress.left() == 0).then(|| done(&progress)),
    })
}

/// Sends what is not out yet; `again`: by the owner's yes a part whose fate is unknown too.
pub async fn send(services: &Services, call: &Call, line: Entry, again: bool) -> Result<Outcome, Closed> {
    let _one = services.posting.lock().await;
    match parts(services, call, &line, again).await {
        Ok(outcome) => Ok(outcome),
        Err(Stop::Closed(closed)) => Err(closed),
        Err(Stop::Broke(unfit)) => Ok(Outcome::NotSent(unfit)),
        Err(Stop::Unsure(unfit)) => Ok(Outcome::Unsure(unfit)),
    }
}

fn read(services: &Services, call: &Call) -> Result<(Network, Post), Unfit> {
    let service = services.all.get(&call.service).ok_or_else(|| services.unknown(&call.service))?;
    let network = Network::of(&call.service, service);
    let post = serde_json::from_str(&call.body).ok();
    network.zip(post).ok_or_else(|| Unfit::new("what is kept is no post that can be sent there", "ask anew"))
}

fn digest(call: &Call) -> String {
    Act::Post(call.clone()).digest()
}

fn begun(services: &Services, call: &Call, post: &Post) -> Result<Progress, Unfit> {
    let now = services.handles.clock.now().as_millisecond();
    Progress::of(&services.handles.house, &digest(call), now, post.parts().len()).map_err(|error| {
        tracing::error!("{error:#}");
        Unfit::new("how far this post is cannot be read, so nothing is posted", "the owner has to look at it")
    })
}

async fn parts(services: &Services, call: &Call, line: &Entry, again: bool) -> Result<Outcome, Stop> {
    let (network, post) = read(services, call)?;
    let service = services.all.get(&call.service).ok_or_else(|| services.unknown(&call.service))?;
    let mut progress = begun(services, call, &post)?;
    let all = post.parts().len();
    for (at, part) in post.parts().enumerate() {
        match progress.parts.get(at) {
            Some(Fate::Out(_)) => continue,
            Some(Fate::Sent) if !again && !network.takes().holds_once => {
                let hint = "only the owner's yes sends it again";
                return Err(Stop::Unsure(Unfit::new(maybe_out(&progress, at, &call.service), hint)));
            }
            _ => {}
        }
        let note = if all > 1 { format!("part {} of {all}", at + 1) } else { "a post".to_owned() };
        let line = Entry { call: format!("{}.{}", line.call, at + 1), ..line.clone() };
        let wire = Wire { services, service, name: &call.service, line: &line, note };
        let sender = Sender { wire: &wire, network, post: &post, digest: &digest(call) };
        sender.send(at, part, &mut progress).await.map_err(|stop| match stop {
            Stop::Closed(closed) => Stop::Closed(closed),
            Stop::Broke(unfit) => Stop::Broke(broke(&progress, at, &unfit)),
            Stop::Unsure(unfit) => {
                let error = format!("{}: {}", maybe_out(&progress, at, &call.service), unfit.error);
                Stop::Unsure(Unfit::new(
                    error,
                    "look there; the same post again asks the owner, who may say yes",
                ))
            }
        })?;
    }
    Ok(done(&progress))
}

/// Sends one part.
struct Sender<'a> {
    wire: &'a Wire<'a>,
    network: Network,
    post: &'a Post,
    digest: &'a str,
}

impl Sender<'_> {
    async fn send(&self, at: usize, part: &Part, progress: &mut Progress) -> Result<(), Stop> {
        let house = &self.wire.services.handles.house;
        let request = self.prepared(at, part, progress).await?;
        progress.set(house, self.digest, at, Fate::Sent)?;
        let mut outcome = self.request(&request).await?;
        if self.network.takes().holds_once && self.is_unknown(&outcome) {
            // The key was chosen before: the same record again is the same post.
            outcome = self.request(&request).await?;
        }
        let is_unknown = self.is_unknown(&outcome);
        match self.out(&outcome) {
            // It is out, even where that cannot be written down.
            Ok(out) => progress.set(house, self.digest, at, Fate::Out(out)).map_err(Stop::Unsure),
            Err(unfit) if is_unknown && self.network.takes().holds_once => Err(Stop::Broke(unfit)),
            Err(unfit) if is_unknown => Err(Stop::Unsure(unfit)),
            Err(unfit) => {
                progress.set(house, self.digest, at, Fate::Waits)?;
                Err(Stop::Broke(unfit))
            }
        }
    }

    /// Everything that a part needs before it is sent: its pictures there, and what it answers.
    async fn prepared(&self, at: usize, part: &Part, progress: &Progress) -> Result<Request, Stop> {
        let (wire, out) = (self.wire, progress.out());
        let mut held = Vec::new();
        for picture in &part.pictures {
            let bytes = kept::bytes(&wire.services.handles.house, picture)?;
            held.push(match self.network {
                Network::X => Value::String(x::upload(wire, picture, &bytes).await?),
                Network::Bluesky => bluesky::upload(wire, picture, Bytes::from(bytes)).await?,
            });
        }
        let (path, body) = match self.network {
            Network::X => {
                let answers =
                    if at == 0 { Some(&self.post.in_reply_to) } else { out.last().map(|out| &out.id) };
                let quote = if at == 0 { self.post.quote.as_str() } else { "" };
                x::creation(part, &held, answers.map_or("", String::as_str), quote)
            }
            Network::Bluesky => {
                let above = self.answers().await?;
                let answers = match (at, out.first(), out.last()) {
                    (1.., Some(first), Some(before)) => Some(bluesky::continues(first, before, above)),
                    _ => above,
                };
                let record = bluesky::record(wire, self.post, (at, part), (&held, answers), progress).await?;
                bluesky::put(&self.account()?, &progress.key(at), &record)
            }
        };
        Ok(Request { path, body })
    }

    async fn answers(&self) -> Result<Option<Answers>, Stop> {
        match self.post.in_reply_to.as_str() {
            "" => Ok(None),
            uri => bluesky::answers(self.wire, uri).await.map(Some),
        }
    }

    fn account(&self) -> Result<String, Unfit> {
        let handle = if let Auth::AtProto { handle_env, .. } = &self.wire.service.auth {
            self.wire.services.handles.secrets.get(handle_env)
        } else {
            None
        };
        let handle = handle.map(|handle| handle.trim_start_matches('@').to_owned());
        handle.ok_or_else(|| Unfit::new("the account's handle is not set", "the owner sets it in .env"))
    }

    /// Whether nobody can know if the part is out: the call broke, the service failed, or what it said cannot be read.
    fn is_unknown(&self, outcome: &Outcome) -> bool {
        match outcome {
            Outcome::Answered(answer) => {
                answer.status >= 500 || (answer.status < 300 && self.out(outcome).is_err())
            }
            Outcome::Unsure(_) => true,
            Outcome::Redirected(..) | Outcome::NotSent(_) => false,
        }
    }

    /// The part as the answer names it, where it is out.
    fn out(&self, outcome: &Outcome) -> Result<Out, Unfit> {
        let answer = json(outcome)?;
        let text = |place: &str| text_at(&answer, place).unwrap_or_default().to_owned();
        let found = Out { id: text("/data/id") + &text("/uri"), cid: text("/cid") };
        match (self.network.takes().is_name)(&found.id) && found.cid.len() <= MOST_CID {
            true => Ok(found),
            false => Err(Unfit::new("its answer names no post", "look there")),
        }
    }

    async fn request(&self, request: &Request) -> Result<Outcome, Stop> {
        self.wire.post(request.path, &request.body).await
    }
}

struct Request {
    path: &'static str,
    body: Value,
}

fn done(progress: &Progress) -> Outcome {
    let ids: Vec<String> = progress.out().into_iter().map(|out| out.id).collect();
    outcome::done(&json!({"posted": ids}).to_string())
}

fn maybe_out(progress: &Progress, at: usize, name: &str) -> String {
    format!("{} may be out on {name}{}", part_of(progress, at), already(progress))
}

fn broke(progress: &Progress, at: usize, unfit: &Unfit) -> Unfit {
    let error = format!("{} is not out: {}{}", part_of(progress, at), unfit.error, already(progress));
    let goes_on =
        if progress.out().is_empty() { "" } else { "; the very same post again goes on from there" };
    Unfit::new(error, format!("{}{goes_on}", unfit.hint))
}

fn part_of(progress: &Progress, at: usize) -> String {
    match progress.parts.len() {
        1 => "the post".to_owned(),
        all => format!("part {} of {all}", at + 1),
    }
}

fn already(progress: &Progress) -> String {
    let out: Vec<String> = progress.out().into_iter().map(|out| out.id).collect();
    if out.is_empty() { String::new() } else { format!(" (out before it: {})", out.join(", ")) }
}
