//! The pictures of the README: a film shows what a terminal showed, without the waiting; those in docs/pictures are sound.

use crate::record::cast::Cast;
use crate::record::{film, frames, still};
use std::fs;
use std::process::Command;
use std::time::Duration;
use trials::clone::origin;
use trials::driven::Driven;

fn cast(events: &[(u64, &str)]) -> Cast {
    let events = events.iter().map(|(at_ms, text)| (*at_ms, (*text).to_owned())).collect();
    Cast { columns: 40, rows: 6, events }
}

fn film_of(cast: &Cast) -> String {
    film::svg(&frames::scenes(&frames::of(cast)), cast.columns, cast.rows)
}

#[test]
fn a_film_of_a_real_terminal_shows_its_letters_and_colours() {
    let mut command = Command::new("sh");
    let says = "printf '12:00:01 \\033[1;34mword\\033[0m    gr\\303\\274\\303\\237e <b> & 日本\\r\\n'; read line; printf \"12:00:02 $line\"; read line";
    command.args(["-c", says]);
    let window = Driven::start(command, 40, 6);
    window.shows("日本");
    window.line("second");
    window.until("the second row", |screen| screen.contains("12:00:02 second"));
    let (raw, came) = (window.raw(), window.came());
    assert_eq!(came.last().map(|(_, end)| *end), Some(raw.len()));
    assert!(came.windows(2).all(|two| two[0].0 <= two[1].0 && two[0].1 < two[1].1), "{came:?}");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("window.cast");
    let made = Cast::of(&raw, &came, (40, 6));
    made.write(&path);
    let read = Cast::read(&path);
    assert_eq!(read.events, made.events);
    let film = film_of(&read);
    assert!(film.contains(">word</text>") && film.contains("class=\"k4 b\""), "{film}");
    assert!(film.contains("grüße &lt;b&gt; &amp; 日本</text>"), "{film}");
    assert!(film.contains("12:00:02 second</text>"), "{film}");
}

#[test]
fn a_letter_that_came_in_two_pieces_is_whole() {
    let raw = "aü日".as_bytes();
    let came: Vec<(Duration, usize)> =
        (1..=raw.len()).map(|end| (Duration::from_millis(end as u64), end)).collect();
    let cast = Cast::of(raw, &came, (40, 6));
    let text: String = cast.events.iter().map(|(_, text)| text.as_str()).collect();
    assert_eq!(text, "aü日");
}

#[test]
fn waiting_is_cut_and_what_is_told_stands_long_enough() {
    let minute = 60_000;
    let mut events = vec![(0, "12:00:01 thought  one\r\n")];
    // A status that turns for an hour, told as one that is drawn anew in place.
    let status =
        |second: u64| ["\x1b[5;1Hwaits /\x1b[6;1H> ", "\x1b[5;1Hwaits -\x1b[6;1H> "][second as usize % 2];
    events.extend((1..3_600).map(|second| (second * 1_000, status(second))));
    events.push((61 * minute, "\x1b[2;1H12:01:01 put creature/ back, in 0.4 s\x1b[6;3H"));
    let keys = ["h", "e", "y"].into_iter().zip(1..).map(|(key, number)| (61 * minute + number * 900, key));
    events.extend(keys);
    events.push((62 * minute, "\x1b[3;1H12:02:01 thought  I was put back\x1b[6;1H"));
    let scenes = frames::scenes(&frames::of(&cast(&events)));
    let whole_ms: u64 = scenes.iter().map(|scene| scene.shown_ms).sum();
    assert!(whole_ms < 10_000, "{whole_ms} ms");
    let shows = |text: &str| {
        let has = |row: &Vec<frames::Run>| row.iter().any(|run| run.text.contains(text));
        scenes
            .iter()
            .filter(|scene| scene.frame.rows.iter().any(has))
            .map(|scene| scene.shown_ms)
            .sum::<u64>()
    };
    assert!(shows("put creature/ back") > 700, "{}", shows("put creature/ back"));
    for typed in ["> h", "> he", "> hey"] {
        assert!(shows(typed) > 0, "each key is seen: {typed}");
    }
    assert!(scenes.last().unwrap().shown_ms >= 3_000, "the last stands before it begins again");
    let film = film_of(&cast(&events));
    let last = scenes.len() - 1;
    let strip = format!(".film{{transform:translateY(-{}px)", last * 6 * 18);
    assert!(film.contains(&strip), "what cannot move shows the last frame: {strip}");
    assert_eq!(film.matches("%{transform:").count(), scenes.len());
}

#[test]
fn a_still_is_the_exported_picture_on_its_own_ground() {
    let page = "<html><style>.life{fill:red}</style><svg viewBox=\"0 0 9 9\" width=\"9\"><rect class=\"life\"/></svg></html>";
    let still = still::svg(page);
    assert!(still.starts_with("<svg viewBox=\"0 0 9 9\" width=\"9\"><style>.life{fill:red}"), "{still}");
    assert!(still.trim_end().ends_with("<rect class=\"life\"/></svg>"), "{still}");
}

/// What stands in a README is shown by strangers' browsers: it is small, runs nothing, and tells nothing of the machine.
#[test]
fn the_pictures_that_are_kept_are_small_and_tell_nothing_of_the_machine() {
    let folder = origin().join("docs/pictures");
    for name in ["window.svg", "life.svg"] {
        let svg = fs::read_to_string(folder.join(name)).unwrap_or_else(|error| {
            panic!("docs/pictures/{name}: {error}; scripts/record makes it");
        });
        assert!(svg.len() < 1_000_000, "{name} has {} bytes", svg.len());
        assert!(svg.starts_with("<svg "), "{name} is no picture");
        let folders = ["home", "root", "tmp"].map(|folder| format!("/{folder}/"));
        for bad in ["<script", "<image", "url(http"].map(str::to_owned).into_iter().chain(folders) {
            assert!(!svg.contains(&bad), "{name} has {bad}; draw it anew by scripts/record");
        }
        let leads = svg.matches("http").count() - svg.matches("http://www.w3.org/").count();
        assert_eq!(leads, 0, "{name} leads out");
    }
    let film = fs::read_to_string(folder.join("window.svg")).unwrap();
    for told in ["remind me", "IDLE_REST_S", "fatal in a real life", "/diff"] {
        assert!(film.contains(told), "the film does not show: {told}");
    }
}
