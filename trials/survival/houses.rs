//! Houses for rows to happen in: shell creatures that wait for the fault, or a clone with the real one.

use crate::survival::trial::{Home, Trial};
use std::path::Path;
use std::time::Instant;
use trials::clone::Clone;
use trials::{House, becomes};

/// Waits for the fault, beating; the test opens the gate by `inject`.
const GATE: &str = "until [ -e .self/mind/go ]; do beat; sleep 0.05; done";

impl Trial {
    /// A house with a shell creature, the owner's unfinished work in it.
    pub fn shell(&mut self, life: &str) {
        self.move_in(Home::Shell(House::new(life)));
    }

    /// As `shell`: blessed, it waits for the fault, then does `act` once in each life until something fell.
    pub fn shell_then(&mut self, act: &str) {
        self.shell_then_in(&std::env::temp_dir(), act);
    }

    pub fn shell_then_in(&mut self, folder: &Path, act: &str) {
        let life = format!(
            "think first; blessed; if ! grep -q '\"fall\"' .self/history.jsonl; then {GATE}; {act}; fi; think on; live"
        );
        self.move_in(Home::Shell(House::new_in(folder, &life)));
    }

    /// As `shell`: blessed, and told to, it edits itself to `life` and asks for rebirth.
    pub fn shell_becomes(&mut self, life: &str) {
        self.shell_becomes_in(&std::env::temp_dir(), life);
    }

    pub fn shell_becomes_in(&mut self, folder: &Path, life: &str) {
        let edit = becomes(life).replace("think first; blessed; ", "");
        self.shell_then_in(folder, &edit);
    }

    /// A clone of this repository: real cargo, real builds, the real creature.
    pub fn real(&mut self) {
        let clone = Clone::new();
        self.move_in(Home::Real(clone));
        self.house().write(
            "owner.toml",
            "[limits]\nprobation_s = 2\nrest_s = 0.2\nparked_s = 2\n[rest]\nshortest_s = 1\nlongest_s = 2\n",
        );
    }

    fn move_in(&mut self, home: Home) {
        self.home = Some(home);
        let house = self.house();
        house.write("owners/staged.txt", "staged by the owner\n");
        house.git(&["add", "owners/staged.txt"]);
        house.write("README.md", "Owner's unfinished readme.\n");
        house.write("PURPOSE.md", "Owner's unfinished words.\n");
        house.write("guardian/notes.txt", "untracked work of the owner\n");
        self.begun = Instant::now();
    }

    /// Sets one of the guardian's limits, in seconds or a count, whether it is in `owner.toml` already or not.
    pub fn limit(&self, name: &str, value: f64) {
        let text = self.house().read("owner.toml");
        let others = text.lines().filter(|line| !line.starts_with(&format!("{name} =")));
        let text: String = others.map(|line| format!("{line}\n")).collect();
        let value = if value.fract() == 0.0 { format!("{value:.0}") } else { value.to_string() };
        let text = text.replacen("[limits]\n", &format!("[limits]\n{name} = {value}\n"), 1);
        self.house().write("owner.toml", &text);
    }
}
