//! Handles each key.

use crate::window::prompt::To;
use crate::window::{Window, typed};
use crate::words::STOP;
use anyhow::Result;
use house::instance;
use nix::sys::signal::{Signal, kill};
use nix::unistd::{Pid, getppid};
use ratatui_crossterm::crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

impl Window {
    pub(super) fn key(&mut self, event: Event) -> Result<()> {
        match event {
            Event::Key(key) if key.kind != KeyEventKind::Release => self.pressed(key),
            Event::Paste(text) => {
                self.prompt.insert(&text);
                Ok(())
            }
            // A new size is told by its signal.
            Event::Key(_) | Event::Resize(..) | Event::Mouse(_) | Event::FocusGained | Event::FocusLost => {
                Ok(())
            }
        }
    }

    fn pressed(&mut self, key: KeyEvent) -> Result<()> {
        self.is_new = false;
        let was_escape = std::mem::replace(&mut self.escaped, false);
        let (alt, control) =
            (key.modifiers.contains(KeyModifiers::ALT), key.modifiers.contains(KeyModifiers::CONTROL));
        if let (KeyCode::Char(letter), true) = (key.code, control) {
            self.controlled(letter);
            return Ok(());
        }
        #[allow(clippy::wildcard_enum_match_arm)]
        match key.code {
            KeyCode::Enter if alt => self.prompt.insert("\n"),
            KeyCode::Enter => {
                let line = self.prompt.take();
                return self.carry_out(&line);
            }
            KeyCode::Char('b') if alt => self.prompt.go(To::WordLeft),
            KeyCode::Char('f') if alt => self.prompt.go(To::WordRight),
            KeyCode::Char('d') if alt => self.prompt.cut(To::WordRight),
            KeyCode::Char(letter) => {
                self.said.clear();
                self.prompt.insert(letter.encode_utf8(&mut [0; 4]));
            }
            KeyCode::Left if alt || control => self.prompt.go(To::WordLeft),
            KeyCode::Right if alt || control => self.prompt.go(To::WordRight),
            KeyCode::Left => self.prompt.go(To::Left),
            KeyCode::Right => self.prompt.go(To::Right),
            KeyCode::Home => self.prompt.go(To::LineStart),
            KeyCode::End => self.prompt.go(To::LineEnd),
            KeyCode::Up => self.prompt.up(),
            KeyCode::Down => self.prompt.down(),
            KeyCode::Backspace if alt => self.prompt.cut(To::WordLeft),
            KeyCode::Backspace => self.prompt.cut(To::Left),
            KeyCode::Delete => self.prompt.cut(To::Right),
            KeyCode::Tab => self.complete(),
            KeyCode::Esc if was_escape => return self.say(STOP),
            KeyCode::Esc => {
                self.escaped = self.running.is_none() && self.prompt.is_empty();
                self.end_or_empty();
                if self.escaped {
                    "Esc again ends what it is at".clone_into(&mut self.said);
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn controlled(&mut self, letter: char) {
        match letter {
            'a' => self.prompt.go(To::LineStart),
            'e' => self.prompt.go(To::LineEnd),
            'b' => self.prompt.go(To::Left),
            'f' => self.prompt.go(To::Right),
            'h' => self.prompt.cut(To::Left),
            'u' => self.prompt.cut(To::LineStart),
            'k' => self.prompt.cut(To::LineEnd),
            'w' => self.prompt.cut(To::SpaceLeft),
            'p' => self.prompt.up(),
            'n' => self.prompt.down(),
            'j' => self.prompt.insert("\n"),
            'd' if self.prompt.is_empty() => self.leave(),
            'd' => self.prompt.cut(To::Right),
            'c' if self.running.is_some() || !self.prompt.is_empty() => self.end_or_empty(),
            'c' => self.stop(),
            'z' => self.suspend(),
            _ => {}
        }
    }

    /// Ends the command that runs; else empties the line.
    fn end_or_empty(&mut self) {
        self.said.clear();
        match &mut self.running {
            Some(running) => running.end(),
            None => self.prompt.set(""),
        }
    }

    /// Ctrl-C: the guardian's own window asks it to stop, any other is left.
    fn stop(&mut self) {
        if self.handed.is_none() {
            self.leaves = true;
            return;
        }
        let guardian = instance::running(&self.house).map_or_else(getppid, Pid::from_raw);
        // Not SIGINT: a guardian that a script began in the background was told to ignore it.
        self.said = match kill(guardian, Signal::SIGTERM) {
            Ok(()) => "the guardian is asked to stop".to_owned(),
            Err(error) => format!("the guardian cannot be asked to stop: {error}"),
        };
    }

    /// Ctrl-Z: as at any program, the shell has the terminal until `fg`. Nothing would bring the guardian's own back.
    fn suspend(&mut self) {
        if self.handed.is_some() {
            self.said = "this window is the guardian's, and stays; another one can be put aside".to_owned();
            return;
        }
        self.screen.leave();
        // Whoever started it waits in the same group, and is stopped along with it.
        if let Err(error) = kill(nix::unistd::Pid::from_raw(0), Signal::SIGTSTP) {
            self.said = format!("the window cannot be put aside: {error}");
        }
        // The signal that it goes on is heard next, and takes the terminal again.
    }

    /// Completes the typed text, and lists the ways to go on.
    fn complete(&mut self) {
        let asks: Vec<&str> = self.sources.known.asks.iter().map(String::as_str).collect();
        match typed::completed(&self.prompt.text(), &asks) {
            Some((text, choices)) => {
                self.prompt.set(&text);
                self.said = choices.join("  ");
            }
            None => self.said = "nothing completes this; /help lists all".to_owned(),
        }
    }
}
