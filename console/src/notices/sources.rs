//! Finds notices in the records and pages of guardian and broker.
//!
//! Invariant: no text of others is taken but harmless and short.

use super::state::{Notice, State, What};
use house::bounds::{brief, short};
use house::files::{self, Mark};
use house::printable::flat;
use house::records::follow::{Cursor, Follow};
use house::records::history::{Death, Event, Line, Said};
use house::records::{text, view::field};
use house::terminal::typed;
use house::{House, asks, clock, instance, minds, moments, standing};
use serde_json::Value;
use std::path::PathBuf;

/// Bytes of records read at one look.
const LOOK_BYTES: u64 = 4 << 20;
/// Characters of a notice, and of a word within one.
const TEXT_CHARS: usize = 300;
const SAID_CHARS: usize = 200;
const WORD_CHARS: usize = 80;
/// Names of one kind that are noted: what is beyond them is not told.
const MOST_NAMES: usize = 2_000;
/// Least time a model is down before that is told: most faults of servers pass sooner.
const DOWN_MS: u64 = 60_000;
/// The same of an MCP server, which is started again with growing pauses.
const SERVER_DOWN_MS: u64 = 180_000;

/// The guardian's files as they are followed, and the mark of the asks at the last look.
#[derive(Default)]
pub struct Sources {
    deaths: Option<Follow>,
    history: Option<Follow>,
    asks: Option<Mark>,
}

impl Sources {
    /// Takes in all that is new; whether anything was noted.
    pub fn look(&mut self, house: &House, warn_percent: f64, state: &mut State) -> bool {
        let before = state.clone();
        for death in news(house.deaths(), &mut self.deaths, &mut state.deaths) {
            add(state, died(Death(&death)));
        }
        for event in news(house.history(), &mut self.history, &mut state.history) {
            happened(&event).into_iter().for_each(|notice| add(state, notice));
        }
        self.asks(house, state);
        budget(house, warn_percent, state);
        sign_ins(house, state);
        *state != before
    }

    fn asks(&mut self, house: &House, state: &mut State) {
        let mark = files::mark(&house.asks());
        if mark == self.asks {
            return;
        }
        self.asks = mark;
        let waiting = asks::waiting(house);
        state.asks.retain(|id| waiting.iter().any(|ask| ask.id == *id));
        let answered = |notice: &Notice| notice.what == What::Ask && !state.asks.contains(&notice.name);
        state.waiting.retain(|notice| !answered(notice));
        for ask in waiting {
            if state.asks.len() < MOST_NAMES && state.asks.insert(ask.id.clone()) {
                let said = brief(&format!("ask {}: {}", ask.line(), ask.summary()), SAID_CHARS);
                let said = format!("{said}; {}", typed(&format!("asks {}", ask.id)));
                let own = format!("ask {} waits for your word", ask.id);
                add(state, notice(What::Ask, ask.asked().at(), &ask.id, &said, own));
            }
        }
    }
}

/// Takes in caps that are nearly spent and models that are down. Read at each look: that a model has been down for a
/// while changes no page.
fn budget(house: &House, warn_percent: f64, state: &mut State) {
    let Some(page) = standing::small(&house.budget()).filter(Value::is_object) else { return };
    let low = low(&page, warn_percent);
    for (name, said) in &low {
        if !state.low.contains(name) {
            add(state, notice(What::Budget, text(&page, "at"), name, said, said.clone()));
        }
    }
    state.low = low.into_iter().map(|(name, _)| name).collect();
    // A broker that has ended wrote its page some time ago.
    if instance::broker_runs(house) {
        models(&page, state);
        servers(&page, state);
    }
}

/// Takes in sign-ins that failed at the page beyond this machine; those from before the first look ever are not told.
fn sign_ins(house: &House, state: &mut State) {
    let told = standing::small(&house.page_guesses()).unwrap_or_default();
    let (failed, at) = (field::<u64>(&told, "failed"), clock::stamp_of(field(&told, "failed_ms")));
    let Some(before) = state.failed_sign_ins.replace(failed) else { return };
    if failed > before {
        let count = failed - before;
        let own = match count {
            1 => "a sign-in at your page failed".to_owned(),
            more => format!("{more} sign-ins at your page failed"),
        };
        let from = brief(&flat(text(&told, "from")), WORD_CHARS);
        let said = format!("{own}, the last from {from}; {}", typed("page sessions"));
        add(state, notice(What::SignIn, &at, &format!("failed {failed}"), &said, own));
    }
}

fn add(state: &mut State, notice: Notice) {
    state.add(notice, clock::wall_ms());
}

fn notice(what: What, at: &str, name: &str, said: &str, own: String) -> Notice {
    let at = moments::ms(at).map_or_else(clock::stamp, clock::stamp_of);
    let (name, text) = (brief(name, TEXT_CHARS), flat(&brief(said, TEXT_CHARS)));
    Notice { at, what, name, text, own, times: 1 }
}

/// A word of the guardian's own vocabulary; of anything else only its letters.
fn word(said: &str) -> String {
    let letters = said.chars().map(|letter| if letter == '_' { ' ' } else { letter });
    letters.filter(|letter| letter.is_ascii_alphanumeric() || *letter == ' ').take(20).collect()
}

fn died(death: Death) -> Notice {
    let [ended, blame] = [death.ended(), death.blame()].map(word);
    let (life, cause) = (death.life(), brief(death.cause(), WORD_CHARS));
    let how = format!("{ended} ({cause}), blamed on {blame}, at {}", short(death.commit()));
    let own = format!("life {life} {ended}, blamed on {blame}");
    notice(What::Death, death.at(), &how, &format!("life {life} {how}"), own)
}

/// Turns an event of the guardian's into a notice; none where it is routine, or came of the owner's word.
#[allow(clippy::wildcard_enum_match_arm)]
fn happened(event: &Value) -> Option<Notice> {
    let at = Line(event).at();
    match Event::of(event) {
        Event::Fall(fall) if fall.cause() != "owner" => {
            let told = Said(event).plainly();
            let own = format!("creature/ was put back: {}", word(fall.cause()));
            Some(notice(What::Fall, at, told, told, own))
        }
        Event::Broken(of) => {
            let own = "your creature breaks an invariant, and nothing is put back for it".to_owned();
            Some(notice(What::Fall, at, of.told(), of.told(), own))
        }
        Event::SettingsRefused(of) => {
            let own = "your change of the settings is not taken over".to_owned();
            Some(notice(What::Settings, at, of.told(), &format!("{own}: {}", of.told()), own.clone()))
        }
        _ => None,
    }
}

/// Caps that are nearly spent, and a closed ledger: names and sentences.
fn low(page: &Value, warn_percent: f64) -> Vec<(String, String)> {
    let caps = field::<&[Value]>(page, "caps").iter().take(10);
    let caps = caps.filter_map(|cap| {
        let (spent, whole): (f64, f64) = (field(cap, "spent_usd"), field(cap, "cap_usd"));
        let span = word(text(cap, "span"));
        let percent = 100.0 * spent / whole;
        let when = if span == "day" { "today".to_owned() } else { format!("this {span}") };
        let told = format!(
            "{:.0} % of what may be spent {when} is spent: {spent:.2} of {whole:.2} USD",
            percent.floor()
        );
        (spent > 0.0 && whole > 0.0 && percent >= warn_percent).then_some((span, told))
    });
    let closed: Option<&str> = field(page, "closed");
    let closed = closed.map(|_| {
        let told = format!("the ledger is closed, nothing that costs leaves: {}", typed("doctor"));
        ("closed".to_owned(), told)
    });
    caps.chain(closed).collect()
}

/// Takes in which models are down and which answer again.
fn models(page: &Value, state: &mut State) {
    let mut down = Vec::new();
    let listed: Vec<&Value> = field::<&[Value]>(page, "models").iter().take(MOST_NAMES).collect();
    let name = |model: &Value| {
        brief(&format!("{} at {}", text(model, "model"), text(model, "upstream")), TEXT_CHARS)
    };
    let is_down = |model: &Value| text(model, "state") == "down" && is_long_ago(text(model, "since"));
    for told in listed.iter().filter(|model| is_down(model)) {
        down.push((name(told), minds::told(told)));
    }
    if let Some(stopped) = page.get("stopped").filter(|stopped| stopped.is_object()) {
        let status: u64 = field(stopped, "status");
        let told = format!("{} said {status}: {}", text(stopped, "provider"), text(stopped, "hint"));
        down.push((brief(&format!("stopped {}", text(stopped, "provider")), TEXT_CHARS), told));
    }
    let up: Vec<String> =
        listed.iter().filter(|model| text(model, "state") == "up").map(|model| name(model)).collect();
    let goes = |name: &String| up.contains(name) || name.starts_with("stopped ");
    let again: Vec<String> = state
        .down
        .iter()
        .filter(|name| goes(name) && !down.iter().any(|(down, _)| down == *name))
        .cloned()
        .collect();
    for name in again {
        state.down.remove(&name);
        // Whoever was not told that it is down need not hear that it is up.
        if !state.drop(What::ModelDown, &name) {
            let said = format!("it answers again: {}", name.trim_start_matches("stopped "));
            let own = "the model answers again".to_owned();
            add(state, notice(What::ModelUp, text(page, "at"), &name, &said, own));
        }
    }
    for (name, said) in down {
        if state.down.len() < MOST_NAMES && state.down.insert(name.clone()) {
            let own = "the model does not answer".to_owned();
            add(state, notice(What::ModelDown, text(page, "at"), &name, &said, own));
        }
    }
}

/// Takes in which MCP servers stay down or want the owner's sign-in, and which are up again.
fn servers(page: &Value, state: &mut State) {
    for told in field::<&[Value]>(page, "mcp").iter().take(MOST_NAMES) {
        let (name, why) = (brief(text(told, "server"), WORD_CHARS), text(told, "trouble"));
        let wants_the_owner = why.contains("mcp sign-in");
        let is_down = is_since(text(told, "down_since"), if wants_the_owner { 0 } else { SERVER_DOWN_MS });
        if text(told, "state") == "down" && is_down && !state.servers_down.contains(&name) {
            let own = if wants_the_owner { "wants you to sign in" } else { "is down" };
            let own = format!("the MCP server {name} {own}");
            let mend = if wants_the_owner { format!("mcp sign-in {name}") } else { "mcp list".to_owned() };
            let said = format!("{own}: {}; {}", brief(why, SAID_CHARS), typed(&mend));
            state.servers_down.insert(name.clone());
            add(state, notice(What::ServerDown, text(page, "at"), &name, &said, own));
        }
        if text(told, "state") == "up"
            && state.servers_down.remove(&name)
            && !state.drop(What::ServerDown, &name)
        {
            let own = format!("the MCP server {name} is up again");
            add(state, notice(What::ServerUp, text(page, "at"), &name, &own, own.clone()));
        }
    }
}

fn is_long_ago(since: &str) -> bool {
    is_since(since, DOWN_MS)
}

fn is_since(since: &str, least_ms: u64) -> bool {
    clock::wall_ms().saturating_sub(moments::ms(since).unwrap_or(0)) >= least_ms
}

/// The records appended since the cursor, which is moved on; none at the first look ever, but from then on all.
fn news(path: PathBuf, followed: &mut Option<Follow>, cursor: &mut Option<Cursor>) -> Vec<Value> {
    let mut news = Vec::new();
    let follow = followed.get_or_insert_with(|| match *cursor {
        Some(at) => Follow::resumed(path, at),
        None => Follow::at_end(path),
    });
    let mut take = |record| {
        news.extend(record);
        true
    };
    // The rest of a file that was moved aside, and the new one: told as one.
    if follow.look(LOOK_BYTES, &mut take) {
        follow.look(LOOK_BYTES, &mut take);
    }
    *cursor = Some(follow.cursor());
    news
}
