//! A life that dies at any moment of its sub-sessions: the next one brings them to an end and tells it once.

use super::{Scene, answering, calls, says, spawn, work, work_off};
use crate::broker::{StandIn, loopback};
use crate::house::TempHouse;
use serde_json::{Value, json};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};

fn copied(from: &std::path::Path, to: &std::path::Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().flatten() {
        let target = to.join(entry.file_name());
        match entry.path().is_dir() {
            true => copied(&entry.path(), &target),
            // One that is replaced at this moment is met again under its name.
            false => drop(std::fs::copy(entry.path(), target)),
        }
    }
}

/// How a model answers the graph below, at any moment and in any life.
fn gardener(text: &str) -> Value {
    match text {
        text if text.contains("Fail here") => says("[FAILED] frost"),
        // Whatever number the child has: once, and not again when it was cut off.
        text if text.contains("Spawn a child") && !text.contains("What came of your calls") => {
            calls("spawn", json!({"objective": "Be a child", "mode": "none"}))
        }
        text if text.contains("sub-session of Feral") && !text.contains("What came of your calls") => {
            calls("notes.append", json!({"name": "diary", "text": "dug"}))
        }
        _ => says("done"),
    }
}

mod probation {
    use super::*;

    #[tokio::test]
    async fn whenever_it_dies_the_next_life_brings_all_to_an_end_and_tells_it_once() {
        loopback!();
        let deaths = Arc::new(tempfile::TempDir::new().unwrap());
        let (kept, house, count) = (
            Arc::clone(&deaths),
            Arc::new(Mutex::new(None::<std::path::PathBuf>)),
            Arc::new(AtomicI64::new(0)),
        );
        let (living, numbered) = (Arc::clone(&house), Arc::clone(&count));
        let scene = Scene::new(move |text| {
            if let Some(path) = living.lock().unwrap().as_ref() {
                let number = numbered.fetch_add(1, Ordering::Relaxed);
                copied(path, &kept.path().join(number.to_string()));
            }
            gardener(text)
        });
        *house.lock().unwrap() = Some(scene.house.path(".self"));
        let mut life = scene.born(1).await;
        let graph = json!({"graph": [
            {"objective": "Dig", "name": "dig"},
            {"objective": "Sow", "depends_on": ["dig"]},
            {"objective": "Fail here"},
            {"objective": "Spawn a child", "mode": "full", "depends_on": ["dig"]},
        ]});
        assert_eq!(spawn(&mut life, graph).await["ok"], true);
        work_off(&mut life).await;
        *house.lock().unwrap() = None;
        let died = count.load(Ordering::Relaxed);
        assert!(died >= 8, "{died}");
        for death in 0..died {
            let next = Scene {
                house: TempHouse::new(),
                second: Arc::clone(&scene.second),
                asked: scene.asked.clone(),
                broker: StandIn::new(answering(gardener)),
            };
            copied(&deaths.path().join(death.to_string()), &next.house.path(".self"));
            for number in 2..5 {
                let mut life = next.born(number).await;
                // The first of them dies with each thing it tells; the last one brings all to its end.
                match number {
                    4 => work_off(&mut life).await,
                    _ => _ = work(&mut life).await,
                }
            }
            let life = next.born(5).await;
            let sessions = &life.store.sessions;
            assert!(
                sessions.all.iter().all(|session| session.status.ended() && session.reported),
                "{sessions:#?}"
            );
            let news = life.cursors.events.news.join("\n");
            for session in &sessions.all {
                let of = if session.depth > 1 { " (of session-4)" } else { "" };
                let told = format!("{}{of} {}: ", session.id, session.status.name());
                assert_eq!(news.matches(&told).count(), 1, "death {death}: {told} in {news}");
            }
            assert_eq!(news.matches(" have ended, ").count(), 1, "death {death}: told in parts: {news}");
        }
    }
}
