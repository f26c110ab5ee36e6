//! What ends the creature's work from a window: the command, and Esc twice on an empty line.

use crate::driven::Driven;
use trials::{House, SOUND};

/// Found: nothing ended what it was at but a word in the right words.
#[test]
fn stop_and_esc_twice_say_stop() {
    let house = House::new(SOUND);
    let mut command = house.command(&["window"]);
    command.env("NO_COLOR", "1");
    let window = Driven::start(command, 80, 24);
    window.prompts();
    let said = || {
        let inbox = house.read(".self/inbox.jsonl");
        inbox.matches("stop that").count()
    };
    window.line("/stop");
    window.shows("you: stop that");
    assert_eq!(said(), 1);
    window.keys("typed");
    window.shows("typed");
    // The first empties the line, the second says what a third does.
    window.keys("\u{1b}");
    window.until("an empty line", |_| window.line_at_cursor() == ">");
    window.keys("\u{1b}");
    window.shows("Esc again");
    // Any other key takes it back.
    window.keys("x\u{7f}");
    window.until("nothing said", |screen| !screen.contains("Esc again") && window.line_at_cursor() == ">");
    window.keys("\u{1b}");
    window.shows("Esc again");
    assert_eq!(said(), 1);
    window.keys("\u{1b}");
    house.until("the second word", || said() == 2);
}
