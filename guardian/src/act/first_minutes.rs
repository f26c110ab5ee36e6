//! The first minutes at a terminal: what lives here, what it may and what comes next, before the first build; the facts after it.

use crate::act::around::Around;
use crate::act::daemons::jobs::CONSOLE;
use crate::act::daemons::keep::Daemons;
use crate::act::executor::Executor;
use crate::act::ladder::Ladder;
use crate::act::living::Living;
use crate::act::publish::mistakes;
use crate::decide::vocabulary::Phase;
use house::terminal::{self, Screen, typed};
use house::{House, beyond, broker_page, channels, files, makers};

/// Columns of the names before the texts.
const NAMES: usize = 11;

/// Facts shown in the opening screen.
pub struct Opening<'a> {
    pub branch: &'a str,
    /// The walls in a word, and each of them.
    pub walls: (&'a str, &'a str),
    pub has_broker: bool,
    /// Whether the owner gave something that may be a key: the environment names one, or `.env` is there.
    pub may_have_key: bool,
}

/// The opening screen: at 80 columns it fits into 24 lines, with the bar below it.
pub fn opening(opening: &Opening) -> Vec<(&'static str, String)> {
    let (summary, walls) = opening.walls;
    let held = match summary {
        "off" => "the walls are off: it runs as you, and can read and change all you can".to_owned(),
        "full" => "push, read .env or your files elsewhere, or reach the network but through the broker, \
                   which holds keys, caps and your yes"
            .to_owned(),
        _ => "as far as the walls below hold: read .env or your files elsewhere, or reach the network but \
              through the broker"
            .to_owned(),
    };
    let thought = match (opening.may_have_key, opening.has_broker) {
        (false, true) => "on instinct, without a key",
        (false, false) => {
            "on instinct, without a key; then the broker, its way to models and the web, is built beside it"
        }
        (true, true) => "with a model where your .env or environment holds its key, else on instinct",
        (true, false) => {
            "on instinct; then the broker, its way to models and the web, is built beside it and takes up your key"
        }
    };
    let can = match opening.may_have_key {
        true => {
            "say in PURPOSE.md what it lives for, or put another key into .env: now or later, both count without a restart"
        }
        false => {
            "put a key for a model into .env by an editor (ANTHROPIC_API_KEY=…), or say in PURPOSE.md what it lives \
             for: now or later, both count without a restart"
        }
    };
    vec![
        ("", "A creature is about to live here: it thinks, remembers, acts, and rewrites itself.".to_owned()),
        ("may", format!("change creature/ and self/, run programs, commit here on {}", opening.branch)),
        ("may not", held),
        ("walls", walls.to_owned()),
        (
            "beware",
            "not protected: a flaw in the kernel; what it reads can steer it; it can fill the disk. All of it: \
             README.md, \"Not protected\""
                .to_owned(),
        ),
        ("next", format!("its first build, about a minute; its first thought, {thought}")),
        ("you can", can.to_owned()),
    ]
}

/// Whether a maker's key is named in the environment, or `.env` holds anything; only the broker reads its content.
pub fn may_have_key(house: &House) -> bool {
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    makers::keys().any(is_set) || files::mark_of_any(&house.secrets()).is_some_and(|mark| mark.bytes > 0)
}

/// Shows names with their texts, apart from the rest; a name without a text is left out.
pub fn show(screen: &mut Screen, rows: impl IntoIterator<Item = (&'static str, String)>) {
    screen.gap();
    for (name, text) in rows.into_iter().filter(|(_, text)| !text.is_empty()) {
        match name {
            "" => terminal::line(&format!("  {text}")),
            name => terminal::beside("1", &format!("  {name}"), NAMES, &text),
        }
    }
    screen.gap();
}

/// Shows the opening screen, at a terminal and before the first life of all.
pub fn open_house(executor: &mut Executor) {
    let Executor { around: Around { house, state, report, .. }, ladder, living, daemons, .. } = executor;
    if !report.screen.is_terminal() || state.life > 0 {
        return;
    }
    let branch = ladder.repo.branch().unwrap_or_default();
    let (summary, walls) = (living.walled.walls.level.summary(), living.walled.walls.level.told());
    let has_broker = daemons.own.broker.program.is_file();
    let may_have_key = may_have_key(house);
    let opens = Opening { branch: &branch, walls: (&summary, &walls), has_broker, may_have_key };
    show(&mut report.screen, opening(&opens));
}

/// Shows the facts once the first creature of this run beats; from then on memory is shown.
pub fn show_facts(around: &mut Around, ladder: &Ladder, living: &Living, daemons: &mut Daemons) {
    let mind = living.mind();
    let said = !mind.is_empty() || matches!(around.decided.phase, Phase::Settled { .. });
    if !around.report.screen.is_terminal() || around.report.facts_shown || !said {
        return;
    }
    around.report.facts_shown = true;
    let short = |commit: &str| commit.chars().take(7).collect::<String>();
    let branch = ladder.repo.branch().unwrap_or_default();
    let life = around.state.life;
    let facts = [
        ("life", format!("{life} at {} on {branch}", short(&around.state.commit))),
        ("last_good", short(&files::tail(&around.house.last_good(), 64))),
        ("mind", if mind.is_empty() { "not said yet" } else { mind }.to_owned()),
        ("mistake", mistakes(around, living)),
        // Before the first life of all the opening screen told them.
        ("walls", if life > 1 { living.walled.walls.level.told() } else { String::new() }),
    ];
    let steer = match daemons.own.window.stands() {
        // All commands stand in its /help.
        true => vec![("stop", "Ctrl-C here".to_owned())],
        false => vec![
            ("steer", format!("edit PURPOSE.md, or: {}", typed("say 'a word to it'"))),
            ("observe", format!("here, or: {}", typed("window"))),
            ("history", typed("history")),
            ("undo", typed("rollback")),
            ("stop", format!("Ctrl-C here, or: {}", typed("stop"))),
        ],
    };
    let broker = broker_page::lines(&around.house, Some(&daemons.broker_told(around)));
    let page = beyond::line(&around.house, &around.settings.page).unwrap_or_default();
    let next = next_built(CONSOLE.program().is_file(), daemons.broker_is_to_come());
    let channels = channels::lines(&around.house, Some(&daemons.channels_told(around)));
    let facts = facts.into_iter().chain(broker).chain(channels).chain([("page", page)]).chain(steer);
    let facts = facts.chain([("next", next.to_owned())]);
    show(&mut around.report.screen, facts);
    daemons.own.window.wanted = true;
}

/// Says what is still to be built when the first creature of this run lives; empty where that is nothing of note.
fn next_built(has_console: bool, broker_is_to_come: bool) -> &'static str {
    match (has_console, broker_is_to_come) {
        (true, false) => "",
        (true, true) => "the broker is built, about a minute; then models and the web are within reach",
        (false, false) => "the console is built, about a minute; then what it does is shown here",
        (false, true) => {
            "the console is built, then the broker, a minute or two; what it does is shown here as soon as the \
             console is there, and models and the web are within reach as soon as the broker is"
        }
    }
}
