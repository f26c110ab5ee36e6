//! The owner: says a word after the other, in two chats in turn, whatever is being killed meanwhile.

use super::fates::Said;
use super::house::Place;
use super::platform::{GROUP, OWNER, Platform};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

pub struct Owner {
    over: Arc<AtomicBool>,
    said: Arc<Mutex<Vec<Said>>>,
    speaking: JoinHandle<()>,
}

impl Owner {
    pub fn begin(place: &Place, words: usize, every: Duration) -> Self {
        let (over, said) = (Arc::new(AtomicBool::new(false)), Arc::new(Mutex::new(Vec::new())));
        let (is_over, list, platform) = (over.clone(), said.clone(), place.platform.clone());
        let speaking = std::thread::spawn(move || speak(&platform, words, every, &is_over, &list));
        Self { over, said, speaking }
    }

    pub fn said(&self) -> Vec<Said> {
        self.said.lock().unwrap().clone()
    }

    pub fn end(self) -> Vec<Said> {
        self.over.store(true, Ordering::Relaxed);
        self.speaking.join().unwrap();
        self.said.lock().unwrap().clone()
    }
}

fn speak(platform: &Platform, words: usize, every: Duration, over: &AtomicBool, list: &Mutex<Vec<Said>>) {
    let begun = Instant::now();
    for number in 1..=words {
        let rest = (every * number as u32).saturating_sub(begun.elapsed());
        std::thread::sleep(rest);
        if over.load(Ordering::Relaxed) {
            return;
        }
        let (name, chat) = (format!("thing-{number:05}"), if number % 3 == 0 { GROUP } else { OWNER });
        platform.say(chat, &format!("add {name} to my list"));
        list.lock().unwrap().push(Said { name, chat });
    }
}
