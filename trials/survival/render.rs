//! SURVIVAL.md from what the runs left in `target/survival/`: the matrix, the mutants, the soak, the restarts.

use crate::survival::hostile;
use serde_json::Value;
use std::fmt::Write;
use std::fs;
use std::path::Path;

/// What falls short and why, in people's words; it ends SURVIVAL.md.
const SHORT: &str = include_str!("falls_short.md");

pub fn survival(results: &Path) -> Result<String, String> {
    let read = |name: &str| -> Option<Value> {
        let text = fs::read_to_string(results.join(name)).ok()?;
        serde_json::from_str(&text).ok()
    };
    let matrix =
        read("matrix.json").ok_or("there is no target/survival/matrix.json: run the full matrix first")?;
    let mut page = String::from(
        "# Survival\n\nEvery row is a real guardian over a real repository, a fault, and what came of it. `scripts/survival` runs it all \
         again on your machine and writes this page; `scripts/survival --help` tells of parts of it. A row passes when a \
         creature lives again, beats, thinks and is trusted, and nothing was lost, put back wrongly or left running. A brick is \
         a failed row whose house does not come back, left alone with a guardian, to a living, trusted creature.\n\n",
    );
    totals(&mut page, &matrix);
    if let Some(mutants) = read("mutants.json") {
        self::mutants(&mut page, &mutants);
    }
    if let Some(soak) = read("soak.json") {
        self::soak(&mut page, &soak);
    }
    for name in ["hostile-walls.json", "hostile-open.json"] {
        page.extend(read(name).map(|run| hostile::section(&run)));
    }
    if let Some(restarts) = read("restarts.json") {
        self::restarts(&mut page, &restarts);
    }
    self::matrix(&mut page, &matrix);
    page.push_str(SHORT);
    Ok(page)
}

fn rows(matrix: &Value) -> impl Iterator<Item = &Value> {
    matrix["rows"].as_array().into_iter().flatten()
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or(0)
}

fn sum(matrix: &Value, name: &str) -> u64 {
    rows(matrix).map(|row| number(&row[name])).sum()
}

/// The value below which this share of them lies.
fn quantile(mut values: Vec<u64>, share: f64) -> String {
    values.sort_unstable();
    let at = ((values.len() as f64 - 1.0) * share).round() as usize;
    values.get(at).map_or("-".into(), |ms| format!("{:.2} s", *ms as f64 / 1e3))
}

fn totals(page: &mut String, matrix: &Value) {
    let all = rows(matrix).count();
    let count = |name: &str, wanted: Value| rows(matrix).filter(|row| row[name] == wanted).count();
    let (killed, failed) = (count("guardian_killed", true.into()), count("verdict", "failed".into()));
    let not_run = count("verdict", "not_run".into());
    let living: Vec<u64> = rows(matrix).filter_map(|row| row["to_living_ms"].as_u64()).collect();
    let falls: Vec<u64> = rows(matrix)
        .flat_map(|row| row["fall_to_life_ms"].as_array().into_iter().flatten())
        .map(number)
        .collect();
    let mut peaks: Vec<(u64, &str)> =
        rows(matrix).map(|row| (number(&row["guardian_peak_kib"]), text(&row["fault"]))).collect();
    peaks.retain(|(kib, _)| *kib > 0);
    peaks.sort_unstable();
    let (peak, median) = (peaks.last().copied().unwrap_or_default(), peaks.get(peaks.len() / 2).copied());
    let bricks = count("brick", true.into());
    let _ = write!(
        page,
        "| | |\n|---|---|\n| rows | {all}, {killed} of them with the guardian killed in the middle |\n\
         | survived | {} |\n| failed | {failed} |\n| not run on this machine | {not_run} |\n| bricks | {bricks} |\n\
         | bytes of memory, purpose or owner's work lost | {} |\n| false rollbacks | {} |\n| processes left behind | {} |\n\
         | from the fault to a living, trusted creature | median {}, nine in ten within {}, longest {} |\n\
         | from the last death to the next life, by kept binary, the chosen rest included | median {}, longest {} ({} falls) |\n\
         | most memory the guardian had resident, over a whole row | median {:.2} MiB, most {:.2} MiB ({}) |\n| machine | {} |\n| commit | {} |\n| run | {}, in {} s |\n\n",
        all - failed - not_run,
        sum(matrix, "lost_bytes"),
        sum(matrix, "false_rollbacks"),
        sum(matrix, "left_behind"),
        quantile(living.clone(), 0.5),
        quantile(living.clone(), 0.9),
        quantile(living, 1.0),
        quantile(falls.clone(), 0.5),
        quantile(falls.clone(), 1.0),
        falls.len(),
        median.unwrap_or_default().0 as f64 / 1_024.0,
        peak.0 as f64 / 1_024.0,
        peak.1,
        text(&matrix["machine"]),
        text(&matrix["commit"]),
        text(&matrix["at"]),
        number(&matrix["seconds"]),
    );
    page.push_str(
        "The guardian measured is the development build that `cargo run` starts. In rows over shell creatures limits and \
         rests are cut from seconds and minutes to fractions, so that times are the house's own; what must survive is not.\n\n",
    );
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or("-")
}

fn mutants(page: &mut String, run: &Value) {
    let count = |name: &str| number(&run[name]);
    let _ = write!(
        page,
        "## Mutants\n\n`cargo-mutants` names {} ways to break the creature's source. {} of them, drawn with seed {}, were \
         each handed to a living creature as its own idea of a self-edit, and went through the whole protocol (at commit {}).\n\n\
         | | |\n|---|---|\n| refused by the build | {} |\n| refused by the creature's tests | {} |\n| refused by the rehearsal | {} |\n\
         | refused in probation, by the tests beside the newborn | {} |\n| lived, and was put back | {} |\n| lived, and was kept | {} |\n| bricked | {} |\n\n",
        count("of"),
        count("tried"),
        count("seed"),
        text(&run["commit"]).chars().take(12).collect::<String>(),
        count("refused_by_build"),
        count("refused_by_tests"),
        count("refused_by_rehearsal"),
        count("refused_in_probation"),
        count("put_back"),
        count("kept"),
        count("bricked"),
    );
    let kept: Vec<&Value> = run["kept_list"].as_array().into_iter().flatten().collect();
    if kept.is_empty() {
        return;
    }
    page.push_str(
        "Those that were kept, and what came of them once tests were written against the harmful:\n\n",
    );
    page.push_str("| mutant | judged | tried again |\n|---|---|---|\n");
    for one in kept {
        let place = format!("`{}:{}` {}", text(&one["file"]), one["line"], text(&one["name"]));
        let judged = match (one["harmless"].as_str(), one["ought"].as_str()) {
            (Some(why), _) => format!("harmless: {why}"),
            (None, Some(test)) => format!("ought to be seen by `{test}`"),
            (None, None) => "not judged".to_owned(),
        };
        let _ = writeln!(
            page,
            "| {} | {} | {} |",
            cell(&place),
            cell(&judged),
            cell(&text(&one["after"]["outcome"]).replace('_', " "))
        );
    }
    page.push('\n');
}

fn soak(page: &mut String, run: &Value) {
    let _ = write!(
        page,
        "## Soak\n\n{} faults of {} kinds in {} minutes, one after another on the same house, drawn with seed {} (at commit {}). Medians of the \
         first and the last quarter:\n\n| | first quarter | last quarter |\n|---|---|---|\n",
        number(&run["faults"]),
        run["times"].as_object().map_or(0, serde_json::Map::len),
        number(&run["seconds"]) / 60,
        number(&run["seed"]),
        text(&run["commit"]),
    );
    for (name, what) in [
        ("rss_kib", "guardian's resident memory, KiB"),
        ("descriptors", "its open files"),
        ("processes", "processes of the house"),
        ("memory_kib", "memory.jsonl, KiB: every line is kept"),
        ("state_kib", ".self without target, KiB"),
        ("git_kib", ".git, KiB: what fell and what was rescued is kept"),
        ("references", "references of the guardian's"),
    ] {
        let _ = writeln!(page, "| {what} | {} | {} |", run["first"][name], run["last"][name]);
    }
    page.push('\n');
}

fn restarts(page: &mut String, run: &Value) {
    let _ = write!(
        page,
        "## Restarts without end\n\nA creature that dies at once, restarted {} times in {} s without a rest (at commit {}).\n\n\
         | | before | after a tenth | in the end |\n|---|---|---|---|\n",
        number(&run["restarts"]),
        number(&run["seconds"]),
        text(&run["commit"]),
    );
    for (name, what) in [("rss_kib", "guardian's resident memory, KiB"), ("descriptors", "its open files")] {
        let at = |when: &str| run[when][name].to_string();
        let _ = writeln!(page, "| {what} | {} | {} | {} |", at("before"), at("after_a_tenth"), at("after"));
    }
    page.push('\n');
}

fn matrix(page: &mut String, matrix: &Value) {
    page.push_str("## The matrix\n\n`killed` marks the second run of a row, with the guardian killed in the middle. Times are from the fault to a living, trusted creature.\n");
    let mut family = "";
    for row in rows(matrix) {
        if text(&row["family"]) != family {
            family = text(&row["family"]);
            let _ = write!(
                page,
                "\n### {family}\n\n| fault | injected | what happened | to living | bytes lost | false rollbacks |\n|---|---|---|---|---|---|\n"
            );
        }
        let killed = if row["guardian_killed"] == true { " (killed)" } else { "" };
        let happened = match text(&row["verdict"]) {
            "survived" => text(&row["happened"]).to_owned(),
            "not_run" => format!("not run: {}", text(&row["why"])),
            _ if row["brick"] == true => {
                format!("**BRICK**: {}", text(&row["why"]).lines().next().unwrap_or_default())
            }
            _ => format!("**FAILED**: {}", text(&row["why"]).lines().next().unwrap_or_default()),
        };
        let living =
            row["to_living_ms"].as_u64().map_or("-".into(), |ms| format!("{:.1} s", ms as f64 / 1e3));
        let _ = writeln!(
            page,
            "| {}{killed} | {} | {} | {living} | {} | {} |",
            cell(text(&row["fault"])),
            cell(text(&row["injected"])),
            cell(&happened),
            number(&row["lost_bytes"]),
            number(&row["false_rollbacks"]),
        );
    }
    page.push('\n');
}

/// Text that stays in its cell of a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

/// The processor, kernel and so on, for whoever compares figures.
pub fn machine() -> String {
    let first = |path: &str, key: &str| {
        let text = fs::read_to_string(path).unwrap_or_default();
        let line = text.lines().find(|line| line.starts_with(key)).unwrap_or_default();
        line.split(':').nth(1).unwrap_or_default().trim().to_owned()
    };
    let processors = std::thread::available_parallelism().map_or(0, usize::from);
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let memory: u64 = first("/proc/meminfo", "MemTotal").trim_end_matches(" kB").parse().unwrap_or(0);
    let kernel = kernel.split('-').next().unwrap_or_default().trim().to_owned();
    format!(
        "{processors} × {}, {} GiB, Linux {kernel}, {}",
        first("/proc/cpuinfo", "model name"),
        memory >> 20,
        std::env::consts::ARCH
    )
}

/// The commit these rows were run at.
pub fn commit() -> String {
    let git = |args: &[&str]| {
        let output =
            std::process::Command::new("git").args(args).current_dir(env!("CARGO_MANIFEST_DIR")).output();
        output.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned()).unwrap_or_default()
    };
    let dirty = if git(&["status", "--porcelain", "--", ".", "../creature"]).is_empty() {
        ""
    } else {
        ", with edits"
    };
    format!("{}{dirty}", git(&["rev-parse", "--short=12", "HEAD"]))
}
