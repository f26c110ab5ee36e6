//! Discord's events as they come: a session begun, resumed, or begun anew with what was missed read from the chats.

use super::events;
use super::link::{Dispatch, Ended, Link, Plan, Session};
use super::rest::{Body, Rest, Route};
use crate::channel::{Chat, Heard, Trouble, Welcome, What};
use crate::platforms::calls::at;
use reqwest::Method;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, watch};
use tokio::time::Instant;

/// Chats whose last message is kept, the latest ones.
const PLACES: usize = 100;
/// Events that wait to be received.
const WAITING: usize = 1_000;
/// Message resource, Get Channel Messages: at most a hundred at once; and most of those for one chat after an absence.
const PAGE: usize = 100;
const PAGES: usize = 200;
/// Connections in a row that ended within `BRIEF`: then the caller makes the pauses.
const BRIEF: Duration = Duration::from_secs(10);
const BRIEF_MOST: u32 = 3;
/// Tries to resume a session before it is given up.
const RESUMES: u32 = 2;
/// Identifies that are left for today at least: at none Discord resets the token (Gateway, Identifying).
const STARTS_LEFT: u64 = 5;

/// How far a chat was heard.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    pub chat: Chat,
    /// The last message of it.
    pub last: String,
    /// The other who talks there, in a chat of two.
    pub person: String,
}

/// How far all was heard.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cursor {
    /// `None`: what was said after each place's last message is read from the chats.
    #[serde(default)]
    pub session: Option<Session>,
    /// The one heard last at the end.
    #[serde(default)]
    pub places: VecDeque<Place>,
}

impl Cursor {
    fn pass(&mut self, heard: &Heard, message: &str) {
        let last = self.places.iter().position(|place| place.chat == heard.chat);
        let last = last.and_then(|at| self.places.remove(at));
        let number = |id: &str| id.parse::<u64>().unwrap_or(0);
        let later = last.filter(|place| number(&place.last) > number(message));
        let last = later.map_or_else(|| message.to_owned(), |place| place.last);
        self.places.push_back(Place { chat: heard.chat.clone(), last, person: heard.from.id.clone() });
        if self.places.len() > PLACES {
            self.places.pop_front();
        }
    }
}

/// Everything that events are received with.
pub struct Gateway {
    pub rest: Arc<Rest>,
    pub plan: Plan,
    pub groups: Vec<String>,
    pub welcome: watch::Receiver<Welcome>,
}

/// An event, and the cursor behind it.
pub type Told = Result<(Heard, Cursor), Trouble>;

/// A session that runs, with what was missed.
struct Begun {
    link: Link,
    missed: Vec<(Heard, Cursor)>,
    cursor: Cursor,
}

impl Gateway {
    /// Signs in behind the cursor; events come until the receiver is dropped.
    pub async fn start(self: Arc<Self>, me: String, cursor: Cursor) -> Result<mpsc::Receiver<Told>, Trouble> {
        let begun = self.begin(&me, cursor).await?;
        let (tell, told) = mpsc::channel(WAITING);
        tokio::spawn(async move {
            let ended = tell.clone();
            tokio::select! {
                trouble = self.run(&me, begun, tell) => { let _ = ended.send(Err(trouble)).await; }
                () = ended.closed() => {}
            }
        });
        Ok(told)
    }

    async fn run(&self, me: &str, mut begun: Begun, tell: mpsc::Sender<Told>) -> Trouble {
        let mut brief = 0;
        loop {
            let since = Instant::now();
            let Begun { mut link, missed, mut cursor } = begun;
            let ended = self.relay(me, &mut link, missed, &mut cursor, &tell).await;
            brief = if since.elapsed() < BRIEF { brief + 1 } else { 0 };
            link.close().await;
            let why = match ended {
                Ended::Trouble(trouble) => return trouble,
                Ended::Token => return self.rest.revoked(),
                Ended::Resume(why) => why,
                Ended::Anew(why) => {
                    cursor.session = None;
                    why
                }
            };
            if brief >= BRIEF_MOST {
                return Trouble::Away(format!("Discord: {why}"));
            }
            begun = match self.begin(me, cursor).await {
                Ok(begun) => begun,
                Err(trouble) => return trouble,
            };
        }
    }

    /// Passes events on until the connection ends.
    async fn relay(
        &self,
        me: &str,
        link: &mut Link,
        missed: Vec<(Heard, Cursor)>,
        cursor: &mut Cursor,
        tell: &mpsc::Sender<Told>,
    ) -> Ended {
        for item in missed {
            let _ = link.beating(tell.send(Ok(item))).await;
        }
        loop {
            let dispatch = match link.next().await {
                Ok(dispatch) => dispatch,
                Err(ended) => return ended,
            };
            if let Some(heard) = self.heard(me, dispatch, link.seq(), cursor) {
                let _ = link.beating(tell.send(Ok((heard, cursor.clone())))).await;
            }
        }
    }

    /// Begins where the cursor says: its session resumed, else a new one and what the chats have since.
    async fn begin(&self, me: &str, mut cursor: Cursor) -> Result<Begun, Trouble> {
        for _ in 0..RESUMES {
            let Some(session) = &cursor.session else { break };
            match Link::resume(&self.plan, session).await {
                Ok((link, replayed)) => {
                    let mut missed = Vec::new();
                    for (dispatch, seq) in replayed {
                        if let Some(heard) = self.heard(me, dispatch, Some(seq), &mut cursor) {
                            missed.push((heard, cursor.clone()));
                        }
                    }
                    return Ok(Begun { link, missed, cursor });
                }
                Err(Ended::Resume(_)) => {}
                // Gateway, Handling a Disconnect: also where its own address is not reached.
                Err(Ended::Anew(_) | Ended::Trouble(Trouble::Away(_))) => cursor.session = None,
                Err(ended) => return Err(self.told(ended)),
            }
        }
        cursor.session = None;
        let url = self.address().await?;
        let (mut link, session) = Link::identify(&self.plan, &url).await.map_err(|ended| self.told(ended))?;
        let missed = link.beating(self.missed(me, &mut cursor)).await?;
        cursor.session = Some(session);
        Ok(Begun { link, missed, cursor })
    }

    fn told(&self, ended: Ended) -> Trouble {
        match ended {
            Ended::Resume(why) | Ended::Anew(why) => Trouble::Away(format!("Discord: {why}")),
            Ended::Token => self.rest.revoked(),
            Ended::Trouble(trouble) => trouble,
        }
    }

    /// Gateway, Get Gateway Bot: the address, where a session may be started today.
    async fn address(&self) -> Result<String, Trouble> {
        let told = self.rest.get("/gateway/bot", "", "/gateway/bot").await?;
        let limit = at(&told, "/session_start_limit");
        if at(limit, "/remaining").as_u64().is_some_and(|remaining| remaining <= STARTS_LEFT) {
            return Err(Trouble::Slower(Duration::from_millis(
                at(limit, "/reset_after").as_u64().unwrap_or(60_000),
            )));
        }
        at(&told, "/url")
            .as_str()
            .map(str::to_owned)
            .ok_or_else(|| Trouble::Away("Discord: no address of a gateway".into()))
    }

    /// Reads what the known chats have behind their last messages: in order within each, without a session in the cursor, so
    /// that it is read again where it is not kept.
    async fn missed(&self, me: &str, cursor: &mut Cursor) -> Result<Vec<(Heard, Cursor)>, Trouble> {
        let mut missed = Vec::new();
        for Place { chat, mut last, .. } in cursor.places.clone() {
            for _ in 0..PAGES {
                let path = format!("/channels/{}/messages?limit={PAGE}&after={last}", chat.id);
                let page = match self.rest.get("/channels/messages", &chat.id, &path).await {
                    Ok(page) => page,
                    // The chat is gone, or closed to the bot.
                    Err(Trouble::Refused(_)) => break,
                    Err(trouble) => return Err(trouble),
                };
                let mut page = page.as_array().cloned().unwrap_or_default();
                page.sort_by_key(id_of);
                let Some(newest) = page.last() else { break };
                last = id_of(newest).to_string();
                for written in &page {
                    if let Some(heard) = events::message(written, me, chat.clone()) {
                        cursor.pass(&heard, &heard.id);
                        missed.push((heard, cursor.clone()));
                    }
                }
                if page.len() < PAGE {
                    break;
                }
            }
        }
        Ok(missed)
    }

    /// Takes a dispatch in: the cursor goes behind it; `None` where it is nothing for this channel.
    fn heard(&self, me: &str, dispatch: Dispatch, seq: Option<u64>, cursor: &mut Cursor) -> Option<Heard> {
        if let (Some(session), Some(seq)) = (&mut cursor.session, seq) {
            session.seq = seq;
        }
        let mut heard = events::heard(&dispatch.kind, &dispatch.what, me)?;
        if !heard.chat.is_private && !self.groups.contains(&heard.chat.id) {
            return None;
        }
        match &heard.what {
            What::Word(_) | What::Unread { .. } => {
                let welcome = self.welcome.borrow();
                // A crowd of others does not push the owner's chat out.
                if welcome.is_open || welcome.owner.as_ref().is_none_or(|owner| *owner == heard.from.id) {
                    let message = heard.id.clone();
                    cursor.pass(&heard, &message);
                }
            }
            What::Deleted { .. } => {
                let place =
                    cursor.places.iter().find(|place| place.chat == heard.chat && heard.chat.is_private)?;
                heard.from.id.clone_from(&place.person);
            }
            What::Press(_) => self.defer(&dispatch.what),
            What::Edited(_) => {}
        }
        Some(heard)
    }

    /// Receiving and Responding, Interaction Callback Type 6: says within three seconds that the press was heard, which shows
    /// nothing; the answer follows.
    fn defer(&self, what: &Value) {
        let text = |key: &str| at(what, &format!("/{key}")).as_str().unwrap_or_default().to_owned();
        let (rest, id, token) = (self.rest.clone(), text("id"), text("token"));
        tokio::spawn(async move {
            let path = format!("/interactions/{id}/{token}/callback");
            let route = Route { method: Method::POST, name: "/interactions", major: &id, path };
            // Where it fails, Discord says that nothing answered, and the press counts all the same.
            let _ = rest.call(route, Body::Json(json!({"type": 6}))).await;
        });
    }
}

fn id_of(message: &Value) -> u64 {
    at(message, "/id").as_str().and_then(|id| id.parse().ok()).unwrap_or(0)
}
