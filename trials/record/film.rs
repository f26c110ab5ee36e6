//! Scenes of a terminal as one animated SVG that needs no script: a strip of frames that a style moves past a window. Pure.

use super::frames::{Look, Run, Scene};
use std::collections::HashMap;
use std::fmt::Write;

/// A letter's cell and size, in units of the picture.
const CELL: (f64, f64) = (8.4, 18.0);
const LETTER: f64 = 14.0;
/// Around the terminal, and above it, where its title stands.
const MARGIN: f64 = 14.0;
const TITLE: f64 = 34.0;
/// The sixteen colours on a dark ground.
const COLOURS: [&str; 16] = [
    "#484f58", "#ff7b72", "#56d364", "#e3b341", "#79c0ff", "#d2a8ff", "#56d4dd", "#c9d1d9", "#8b949e",
    "#ffa198", "#7ee787", "#f2cc60", "#a5d6ff", "#e2c5ff", "#b3f0ff", "#f0f6fc",
];
const NAME: &str = "feral: the window, recorded. Waiting is cut; the clock on the left is real.";

/// The film; who wants no motion, and what cannot move, has its last frame.
pub fn svg(scenes: &[Scene], columns: u16, rows: u16) -> String {
    let (wide, high) = (f64::from(columns) * CELL.0, f64::from(rows) * CELL.1);
    let (width, height) = (wide + 2.0 * MARGIN, high + TITLE + MARGIN);
    let mut lines = Lines::default();
    let frames: String =
        scenes.iter().enumerate().map(|(number, scene)| lines.frame(scene, number, high)).collect();
    let (colours, moves) = (colours(), moves(scenes, high));
    let title = width / 2.0;
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" width=\"{width:.0}\" \
         role=\"img\" xml:space=\"preserve\"><title>{NAME}</title>\n<style>text{{font:{LETTER}px ui-monospace,SFMono-Regular,\
         Menlo,Consolas,\"DejaVu Sans Mono\",monospace;white-space:pre;fill:#c9d1d9}}{colours}{moves}</style>\n\
         <rect width=\"{width:.0}\" height=\"{height:.0}\" rx=\"8\" fill=\"#0d1117\"/>\
         <g fill=\"#30363d\"><circle cx=\"20\" cy=\"17\" r=\"5\"/><circle cx=\"38\" cy=\"17\" r=\"5\"/>\
         <circle cx=\"56\" cy=\"17\" r=\"5\"/></g><text class=\"k8\" x=\"{title:.0}\" y=\"21\" text-anchor=\"middle\">{NAME}</text>\n\
         <defs>{}</defs>\n<svg x=\"{MARGIN}\" y=\"{TITLE}\" width=\"{wide:.1}\" height=\"{high:.1}\" \
         viewBox=\"0 0 {wide:.1} {high:.1}\"><g class=\"film\">{frames}</g></svg></svg>\n",
        lines.defined
    )
}

/// Each line once, however many frames show it.
#[derive(Default)]
struct Lines {
    numbers: HashMap<Vec<Run>, usize>,
    defined: String,
}

impl Lines {
    fn frame(&mut self, scene: &Scene, number: usize, high: f64) -> String {
        let mut frame = format!("<g transform=\"translate(0 {:.0})\">", number as f64 * high);
        for (row, runs) in scene.frame.rows.iter().enumerate().filter(|(_, runs)| !runs.is_empty()) {
            let (line, y) = (self.line(runs), row as f64 * CELL.1);
            let _ = write!(frame, "<use href=\"#l{line}\" y=\"{y:.0}\"/>");
        }
        if let Some((column, row)) = scene.frame.cursor {
            let (x, y) = (f64::from(column) * CELL.0, f64::from(row) * CELL.1);
            let _ = write!(frame, "<rect class=\"c\" x=\"{x:.1}\" y=\"{y:.0}\" width=\"8\" height=\"17\"/>");
        }
        frame + "</g>\n"
    }

    fn line(&mut self, runs: &[Run]) -> usize {
        if let Some(number) = self.numbers.get(runs) {
            return *number;
        }
        let number = self.numbers.len();
        self.numbers.insert(runs.to_vec(), number);
        let _ = write!(self.defined, "<g id=\"l{number}\">");
        for run in runs.iter().filter(|run| !run.text.trim().is_empty()) {
            let (x, wide) = (f64::from(run.column) * CELL.0, f64::from(run.columns) * CELL.0);
            let (class, text) = (class(run.look), escaped(&run.text));
            // The width is said, so that columns stand under one another in every fount.
            let _ = write!(
                self.defined,
                "<text{class} x=\"{x:.1}\" y=\"13\" textLength=\"{wide:.1}\">{text}</text>"
            );
        }
        self.defined.push_str("</g>\n");
        number
    }
}

fn class(look: Look) -> String {
    let colour = look.colour.map(|number| format!("k{number}"));
    let names = [colour, look.bold.then(|| "b".to_owned()), look.dim.then(|| "d".to_owned())];
    let names: Vec<String> = names.into_iter().flatten().collect();
    if names.is_empty() { String::new() } else { format!(" class=\"{}\"", names.join(" ")) }
}

fn colours() -> String {
    let colours = COLOURS.iter().enumerate().map(|(number, colour)| format!(".k{number}{{fill:{colour}}}"));
    colours.collect::<String>() + ".b{font-weight:700}.d{opacity:.6}.c{fill:#8b949e;fill-opacity:.6}"
}

/// The style that moves the strip: each frame stands until the next has its turn.
fn moves(scenes: &[Scene], high: f64) -> String {
    let whole_ms: u64 = scenes.iter().map(|scene| scene.shown_ms).sum();
    let last = scenes.len().saturating_sub(1) as f64 * high;
    let mut moves = format!(
        ".film{{transform:translateY(-{last:.0}px);animation:film {whole_ms}ms step-end infinite}}\
         @media (prefers-reduced-motion:reduce){{.film{{animation:none}}}}@keyframes film{{"
    );
    let mut passed_ms = 0;
    for (number, scene) in scenes.iter().enumerate() {
        let (part, up) = (passed_ms as f64 * 100.0 / whole_ms.max(1) as f64, number as f64 * high);
        let _ = write!(moves, "{part:.3}%{{transform:translateY(-{up:.0}px)}}");
        passed_ms += scene.shown_ms;
    }
    moves + "}"
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
