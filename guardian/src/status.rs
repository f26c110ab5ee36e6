//! The status, as a screen or a JSON object: from what the guardian publishes, the broker's page and the heartbeat.

use anyhow::Result;
use house::instance::{last_published, published, running};
use house::moments::Place;
use house::records::text;
use house::standing::Known;
use house::terminal::hinted;
use house::{House, beyond, broker_page, channels, files, heartbeat, moments, own_time, settings, terminal};
use serde_json::{Value, json};

/// Reads the living creature's claim of what its own wakes achieved; empty if none lives.
fn own_wakes(house: &House, document: &Value) -> String {
    let number = |name: &str| document.get(name).and_then(Value::as_u64);
    let claim = heartbeat::read(&house.heartbeat()).unwrap_or_default();
    let lives = number("creature_pid").is_some() && number("life") == Some(claim.life);
    if lives { claim.own } else { String::new() }
}

/// The life that runs, how it is trusted and held.
fn lines(document: &Value) -> Vec<(&'static str, String)> {
    let said = |name: &str| text(document, name);
    let short = |name: &str| said(name).chars().take(7).collect::<String>();
    let life = document.get("life").and_then(Value::as_u64).filter(|life| *life > 0);
    let life = life.map(|life| format!("{life} at {}", short("commit"))).unwrap_or_default();
    let trust = match (short("last_good"), document.get("blessed") == Some(&Value::Bool(true))) {
        (good, _) if good.is_empty() => String::new(),
        (_, true) => "this version has proved itself: a rollback comes back to it".to_owned(),
        (good, false) if good == short("commit") => {
            "this first version has not proved itself yet; a rollback comes back to it all the same"
                .to_owned()
        }
        (good, false) => format!("a rollback goes back to {good}, the last version that proved itself"),
    };
    let lines = [
        ("guardian", hinted(said("note"))),
        ("life", life),
        ("trust", trust),
        ("mind", said("mind").to_owned()),
        ("sandbox", said("walls").to_owned()),
    ];
    lines.into_iter().filter(|(_, text)| !text.is_empty()).collect()
}

/// Prints the status; exit status 3 when no guardian runs.
pub fn print(house: &House, as_json: bool) -> Result<u8> {
    let pid = running(house);
    let mut document = match pid {
        Some(pid) => published(house, pid).unwrap_or_else(|| {
            json!({"phase": "starting", "note": format!("the guardian, process {pid}, has said nothing yet")})
        }),
        None => last_published(house).unwrap_or_else(|| json!({"phase": "never started"})),
    };
    if let (None, Some(fields)) = (pid, document.as_object_mut()) {
        fields.insert("phase".into(), "not running".into());
        fields.insert("note".into(), "no guardian is running here".into());
        fields.insert("mind".into(), "".into());
        fields.insert("guardian_pid".into(), Value::Null);
        fields.insert("creature_pid".into(), Value::Null);
        if let Some(Value::Object(broker)) = fields.get_mut("broker") {
            broker.insert("running".into(), false.into());
            broker.insert("pid".into(), Value::Null);
            broker.insert("note".into(), "not running".into());
        }
        if let Some(Value::Object(channels)) = fields.get_mut("channels") {
            channels.insert("running".into(), false.into());
            channels.insert("pid".into(), Value::Null);
            channels.insert("note".into(), "not running".into());
        }
    }
    let own = own_wakes(house, &document);
    let page = settings::whole(house).map(|settings| settings.page).unwrap_or_default();
    if as_json {
        if let Some(fields) = document.as_object_mut() {
            let told =
                page.listen.as_ref().map(|listen| json!({"listen": listen, "standing": beyond::read(house)}));
            fields.extend(told.map(|told| ("page".to_owned(), told)));
            fields.insert("own".into(), own.into());
            let page = files::read_small(&house.budget()).ok().flatten().unwrap_or_default();
            let page = serde_json::from_slice::<Value>(&page).unwrap_or_default();
            fields.insert("autonomy".into(), own_time::of(&page).cloned().unwrap_or_default());
        }
        terminal::json(&document);
    } else {
        let known = Known::read(house);
        terminal::field("now", &hinted(&known.headline(moments::now(), &Place::here()).text));
        lines(&document).into_iter().for_each(|(name, line)| terminal::field(name, &line));
        let broker = broker_page::lines(house, document.get("broker"));
        for (name, line) in broker.into_iter().chain(channels::lines(house, document.get("channels"))) {
            terminal::field(name, &line);
        }
        if let Some(line) = beyond::line(house, &page) {
            terminal::field("page", &line);
        }
        if !own.is_empty() {
            terminal::field("own wakes", &own);
        }
        if let Some(end) = document.get("ends").and_then(Value::as_array).and_then(|ends| ends.last()) {
            let [at, ended, cause] = ["at", "ended", "cause"].map(|name| text(end, name));
            let told = format!("{}: {} ({cause})", moments::told(at), ended.replace('_', " "));
            terminal::field("last death", &told);
        }
    }
    Ok(if pid.is_some() { 0 } else { 3 })
}
