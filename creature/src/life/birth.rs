//! Birth: opens memory, learns what came before this life, asks the broker for a mind, and says so in records.
//!
//! Invariant: broken state (cursors, settings, guardian.json, memory lines) is a record, never a death.
//! Only a memory that cannot be written ends a life here, for nothing is done without a record.

use crate::config::Told;
use crate::fault::Fault;
use crate::heartbeat::Heart;
use crate::life::hear::settings;
use crate::life::{Life, requests};
use crate::mind::Mind;
use crate::pace;
use crate::paths::House;
use crate::senses::cursors::{Cursors, Heard, Waiting};
use crate::senses::guardian::Standing;
use crate::senses::watch::Watch;
use crate::senses::{asks, born};
use crate::store::{LOOK_BACK, Store, books};
use crate::tools::{Toolbox, product};
use crate::watches::{Shared, task};
use ground::files;
use instinct::Instinct;
use jiff::Timestamp;
use memory::{Log, Record};
use mind::moment::{Word, main_thread};
use patch::draft::Draft;
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;

/// Longest time of birth: opening memory, and asking the broker.
const WAKING: Duration = Duration::from_secs(60);

/// Comes to life in the house it was told of.
pub async fn birth(told: Told) -> Result<Life, Fault> {
    let house = told.house.clone();
    [house.mind(), house.workspace()].iter().for_each(|folder| make_folder(folder));
    // Whatever the rest of a birth meets, it meets it while it beats.
    let heart = Heart::start(&house.heartbeat(), told.life, WAKING)
        .map_err(|cause| Fault::caused("start the heartbeat", &cause, "are there too many threads?"))?;
    // Safe mode needs no draft, and looks at none.
    if !told.rehearsal && !told.safe {
        tidy(&house);
    }
    let (log, mended) = Log::open(&house.memory())
        .map_err(|cause| Fault::caused("open memory", &cause, "is the disk full or .self not writable?"))?;
    let mut odd: Vec<(&str, String)> = Vec::new();
    if mended.torn_bytes > 0 {
        let torn = format!("the last line was torn after {} bytes; it is skipped", mended.torn_bytes);
        odd.push(("memory", torn));
    }
    let records = look_back(&told, &mut odd);
    let (mut cursors, complaint) = Cursors::load(&house.cursors());
    odd.extend(complaint.map(|said| ("cursors", said)));
    let mut heard = heard(&records);
    let done = |waiting: &Waiting| heard.iter().any(|heard| heard.answered && heard.word == waiting.word);
    cursors.owner.words.retain(|waiting| waiting.seen == 0 || !done(waiting));
    // An equal line in the inbox is this word if it has a time of its own, or if all of the inbox is read anew.
    heard.iter_mut().for_each(|heard| {
        heard.is_same_if_equal = cursors.owner.inbox.offset == 0 || !heard.word.at.is_empty()
    });
    if cursors.events.asks.offset == 0 {
        // Outcomes in memory were told: a lost cursor tells none twice.
        asks::remembered(&records).for_each(|key| _ = cursors.events.first_telling(key));
    }
    let booked = if told.safe { Vec::new() } else { books::newest(&house) };
    cursors.counts.correct(&records);
    cursors.counts.correct(&booked);
    let (mut handed, mut toolbox) = (None, Toolbox::new(told.safe, told.rehearsal));
    let (settings, complaint) = settings::at_birth(&told, &mut handed, &mut toolbox);
    odd.extend(complaint.map(|said| ("settings", said)));
    let standing = Standing::read(&house.guardian()).unwrap_or_else(|said| {
        odd.push(("guardian", said));
        None
    });
    let known = standing.as_ref().filter(|_| told.commit.is_empty());
    let commit = known.map_or(&told.commit, |standing| &standing.commit).clone();
    let mut store = Store::open(house.clone(), log, told.life, told.clock.clone());
    if let Some(broker) = &told.broker {
        store.hide(broker.token());
    }
    toolbox.broker = told.broker.clone();
    toolbox.watches = Shared::load(&house.watches());
    odd.extend(settings::put(&settings, &mut store, &mut toolbox).into_iter().map(|said| ("settings", said)));
    // Older creatures kept the agenda's changes in memory.
    store.catch_up(&records);
    store.catch_up(&booked);
    heart.odd(&unfollowed(&odd));
    let watch = Watch::start(&house);
    let told = Told { commit, ..told };
    let mind = Mind::Instinct(Instinct::load(&house, pace::BUILT));
    let mut life = Life::new(told, settings, (store, toolbox), mind, heart, cursors, watch, heard);
    life.handed = handed;
    let said = life.consult().await;
    odd.extend(Some(said).filter(|said| !said.is_empty()).map(|said| ("broker", said)));
    announce(&mut life, standing, odd)?;
    Ok(life)
}

/// Makes a folder; what is none in its place is moved aside. A life goes on without it: each write says what fails.
fn make_folder(folder: &Path) {
    let made = fs::create_dir_all(folder).or_else(|_| {
        if fs::symlink_metadata(folder).is_ok() {
            memory::set_aside(folder)?;
        }
        fs::create_dir_all(folder)
    });
    if let Err(error) = made {
        tracing::warn!("failed to create {}: {error}", folder.display());
    }
}

/// Clears away what earlier lives left. A draft this life was born of is put aside, for after a fall.
fn tidy(house: &House) {
    clear_temporary(house);
    if let Err(fault) = Draft::open_unless_live(house) {
        tracing::warn!("{fault} ({})", fault.hint);
    }
}

/// Puts aside the draft of the change that fell: it is proven, and would be born and die again at the next edit.
fn put_dead_draft_aside(house: &House) {
    let proven = |draft: &Draft| {
        draft
            .state
            .last
            .as_ref()
            .is_some_and(|last| last.ok && last.step == "proof" && draft.state.touched <= last.at)
    };
    let put = match Draft::open(house) {
        Ok(Some(draft)) if proven(&draft) => Draft::put_aside(house).map(drop),
        found => found.map(drop),
    };
    put.unwrap_or_else(|fault| tracing::warn!("{fault} ({})", fault.hint));
}

/// Clears what killed lives left in `TMPDIR`, in a thread beside the life, for there may be much of it.
fn clear_temporary(house: &House) {
    let folder = house.temporary();
    // What is newer than this life may be of a build beside it; a second less, for file times lag the clock.
    let born_s = Timestamp::now().as_second() - 1;
    let clearing = std::thread::Builder::new().name("clearing".to_owned()).spawn(move || {
        // A symbolic link in the place of either folder would lead to files that are not the creature's.
        let is_folder = |path: &Path| fs::symlink_metadata(path).is_ok_and(|found| found.is_dir());
        if !folder.parent().is_some_and(is_folder) || !is_folder(&folder) {
            return;
        }
        for entry in files::entries(&folder) {
            let cleared = match entry.metadata() {
                Ok(found) if found.ctime() >= born_s => continue,
                _ => files::remove(&entry.path()),
            };
            if let Err(error) = cleared {
                tracing::debug!("failed to clear {}: {error}", entry.path().display());
            }
        }
    });
    if let Err(error) = clearing {
        tracing::debug!("failed to clear what earlier lives left: {error}");
    }
}

/// Says what of the owner's settings is not followed.
fn unfollowed(odd: &[(&str, String)]) -> String {
    let said = odd.iter().filter(|(about, _)| *about == "settings").map(|(_, said)| said.as_str());
    said.collect::<Vec<_>>().join("; ")
}

fn look_back(told: &Told, odd: &mut Vec<(&str, String)>) -> Vec<Record> {
    if told.safe {
        return Vec::new();
    }
    let (most, bytes) = LOOK_BACK;
    match memory::tail(&told.house.memory(), most, bytes) {
        Ok(tail) => {
            let (garbage, long) = (tail.garbage_lines, tail.oversized_lines);
            if garbage + long > 0 {
                let said = format!("{garbage} garbage and {long} oversized line(s) near its end are skipped");
                odd.push(("memory", said));
            }
            tail.records
        }
        Err(error) => {
            odd.push(("memory", Fault::caused("read", &error, "").error));
            Vec::new()
        }
    }
}

/// The owner's words in memory, and which are answered: words the inbox brings again are found among them.
fn heard(records: &[Record]) -> Vec<Heard> {
    let text = |record: &Record, key: &str| {
        record.data.get(key).and_then(Value::as_str).unwrap_or_default().to_owned()
    };
    let thread = |record: &Record| match text(record, "thread") {
        thread if thread.is_empty() => main_thread(),
        thread => thread,
    };
    let mut all: Vec<Heard> = Vec::new();
    for record in records.iter().filter(|record| record.kind == "message") {
        let (from, kind, thread) = (text(record, "from"), text(record, "kind"), thread(record));
        if from == "owner" {
            let word = Word { at: text(record, "at"), text: text(record, "text"), thread };
            all.push(Heard { word, answered: false, id: text(record, "id"), is_same_if_equal: false });
        } else if kind.is_empty() || kind == "answer" {
            all.iter_mut()
                .filter(|heard| heard.word.thread == thread)
                .for_each(|heard| heard.answered = true);
        }
    }
    all
}

/// The first records of a life: its birth, what was odd, what came before it.
fn announce(life: &mut Life, standing: Option<Standing>, odd: Vec<(&str, String)>) -> Result<(), Fault> {
    // In a rehearsal nothing outward happens, and safe mode looks at nothing.
    if !life.told.safe && !life.told.rehearsal {
        let (watches, broker) = (life.toolbox.watches.clone(), life.told.broker.clone());
        life.watching = Some(task::start(watches, life.store.beside()?, broker));
    }
    let commit = life.told.commit.get(..7).unwrap_or("unknown").to_owned();
    let how = match &life.told {
        told if told.safe => ", in safe mode",
        told if told.rehearsal || told.broker.is_some() => "",
        _ => ", without a broker: no way out",
    };
    let text = format!("life {} of commit {commit}, mind {}{how}", life.told.life, life.minds.now.name());
    tracing::info!("{text}");
    let born = json!({
        "about": "birth", "text": text, "life": life.told.life, "commit": life.told.commit,
        "mind": life.minds.now.name(), "safe": life.told.safe, "pid": std::process::id(),
    });
    life.store.record("observation", born)?;
    for (about, text) in odd {
        tracing::warn!("{about}: {text}");
        life.store.record("observation", json!({"about": about, "text": text}))?;
    }
    requests::tell_of_lost_jobs(&life.store, &mut life.cursors.events);
    let Some(standing) = standing else { return Ok(()) };
    for end in &standing.ends {
        if life.cursors.events.first_telling(end.key()) {
            life.cursors.events.tell(end.sentence());
            life.store.record("death", end.record())?;
        }
    }
    for fall in &standing.falls {
        if life.cursors.events.first_telling(fall.key()) {
            put_dead_draft_aside(&life.told.house);
            let died = born::change(&life.told.house, Some(&fall.to_commit), &fall.from_commit);
            if !died.patch.is_empty() {
                life.born.text = format!(
                    "The change that was put back, \"{}\", as it died:\n{}\n",
                    died.summary, died.patch
                );
                if !fall.evidence.is_empty() {
                    life.born.text += &format!("The end of what its tests said:\n{}\n", fall.evidence);
                }
                if life.told.house.draft_aside().is_dir() {
                    life.born.text += "repo.drop {back: true} takes up the draft that was put aside last.\n";
                }
            }
            life.cursors.events.tell(fall.sentence());
            life.store.record("death", fall.record())?;
        }
    }
    if let Some(born) = standing.born.filter(|_| standing.life == life.told.life) {
        let (summary, change) = (born.summary, born::change(&life.told.house, None, &life.told.commit));
        let used = product::edit(&summary);
        life.born.text += &format!(
            "You are life {} now, born again of your own change \"{summary}\" (commit {commit}):\n{}\n",
            life.told.life, change.patch
        );
        let born = json!({
            "ok": true, "stage": "born", "summary": summary, "files": change.files,
            "commit": life.told.commit, "figures": change.figures,
        });
        life.store.record("self_change", born)?;
        life.own.used(&mut life.store, &used);
    }
    life.save()
}
