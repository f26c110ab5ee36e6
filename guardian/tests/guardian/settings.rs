//! `owner.toml` as data: what is valid stays valid, and every mistake is named with its line, its key and what was meant.

use guardian::limits::Limits;
use guardian::settings::{self, Settings};
use walls::Choice;

#[test]
fn what_is_valid_is_taken() {
    assert_eq!(settings::read("").unwrap(), Settings::default());
    let text = "walls = \"required\"\ntaint = \"allow\"\n[limits]\nbeat_s = 3\nprocesses = 64\nfile_mib = 16\n\
                [sandbox]\nread = [\"/opt/tools\"]\n[rest]\nlongest_s = 9999999\n[self_edit]\nbuild_s = 1\n";
    let settings = settings::read(text).unwrap();
    assert_eq!((settings.walls, settings.sandbox.read.len()), (Choice::Required, 1));
    assert_eq!(settings.limits, Limits { beat_ms: 3_000, processes: 64, file_mib: 16, ..Limits::default() });
}

/// Out of bounds the creature takes a number to its nearest bound by itself; what tools there are, it decides.
#[test]
fn the_creatures_sections_are_known() {
    let text = "[rest]\nshortest_s = 1\nlongest_s = 2\nquiet_s = 3\n\
                [agenda]\norder = [\"scanning\", \"goals\", \"opportunities\", \"tasks\", \"gaps\", \"presence\", \"knowledge\"]\n\
                ask_above_usd = 100\ngoal_cost_usd = 2.5\nmessages_per_hour = 5\ntime_zone = \"Europe/Berlin\"\nrounds = 50\n\
                [sessions]\nat_once = 99\n[dream]\nat = \"23:59\"\nmodel = \"small\"\n\
                 [files]\nrisky = true\nrisky_root = \"shared\"\nmost_entries = 9\nmost_bytes = 99999999\n\
                 [autonomy]\nusd_per_day = 0.5\n\
                [permissions]\n\"repo.run\" = \"owner\"\nspawn = \"never\"\n\"a.tool.to.come\" = \"always\"\n";
    settings::read(text).unwrap();
}

/// Written before there was a broker, by the README of then.
#[test]
fn old_files_stay_valid() {
    let text = "[model]\nprovider = \"openai\"\nbase_url = \"http://127.0.0.1:1234/v1\"\nmodel = \"m\"\nkey_env = \"K\"\n\
                deadline_s = 60\nmax_tokens = 100\n[rest]\nshortest_s = 1\nlongest_s = 3\n[web]\nallow_private = true\n\
                [search]\nprovider = \"brave\"\nbase_url = \"\"\nkey_env = \"\"\n[x]\nbase_url = \"\"\n\
                [self_edit]\nbuild_s = 900\ntest_s = 600\nrehearsal_s = 60\n\
                [limits]\nbuild_s = 9\nboot_s = 9\nbeat_s = 9\nstandstill_s = 9\nprobation_s = 0.3\ngrace_s = 9\nrest_s = 0.05\n\
                rest_longest_s = 9\ntries = 3\nloop_deaths = 3\nloop_window_s = 9\nparked_s = 9\nlives_unblessed = 28\n\
                look_s = 0.03\ndisk_free_mib = 0\nmemory_mib = 1\ntarget_mib = 1\n";
    settings::read(text).unwrap();
    settings::read("limits.beat_s = 3\nmodel = { provider = \"instinct\" }\n").unwrap();
}

#[test]
fn every_mistake_is_named() {
    let cases = [
        (
            "[limits]\nbeat_s = 3\nbaet_s = 3\n",
            "line 3, [limits] baet_s: there is no key baet_s; the nearest is beat_s",
        ),
        ("[limist]\nbeat_s = 3\n", "line 1, [limist]: there is no section limist; the nearest is limits"),
        ("\nwals = \"on\"\n", "line 2, wals: there is no key wals; the nearest is walls"),
        (
            "walls = \"strong\"\n",
            "line 1, walls: unknown variant `strong`, expected one of `on`, `required`, `off`",
        ),
        ("taint = 3\n", "line 1, taint: "),
        (
            "[rest]\nshortest = 1\n",
            "line 2, [rest] shortest: there is no key shortest; the nearest is shortest_s",
        ),
        (
            "[self_edit]\nbuild_s = \"x\"\n",
            "line 2, [self_edit] build_s: invalid type: string \"x\", expected u64",
        ),
        ("[rest]\nquiet = 1\n", "line 2, [rest] quiet: there is no key quiet; the nearest is quiet_s"),
        ("[agend]\n", "line 1, [agend]: there is no section agend; the nearest is agenda"),
        (
            "[agenda]\norder = [\"gaols\"]\n",
            "line 2, [agenda] order: unknown variant `gaols`, expected one of `goals`, `opportunities`",
        ),
        ("[agenda]\nask_above_usd = -1\n", "line 2, [agenda] ask_above_usd: must be 0 or more USD"),
        ("[agenda]\ngoal_cost_usd = nan\n", "line 2, [agenda] goal_cost_usd: must be 0 or more USD"),
        ("[agenda]\nround = 8\n", "line 2, [agenda] round: there is no key round; the nearest is rounds"),
        (
            "[agenda]\ntime_zone = \"berlin\"\n",
            "line 2, [agenda] time_zone: there is no time zone \"berlin\"; did you mean Europe/Berlin?",
        ),
        (
            "[agenda]\ntime_zone = \"Nowhere\"\n",
            "line 2, [agenda] time_zone: there is no time zone \"Nowhere\"; names are like Europe/Berlin",
        ),
        ("[sessions]\nat_once = -1\n", "line 2, [sessions] at_once: "),
        ("[dream]\nat = \"1:00\"\n", "line 2, [dream] at: \"1:00\" is no time of day, as in \"01:00\""),
        ("[dream]\nat = \"24:00\"\n", "line 2, [dream] at: \"24:00\" is no time of day"),
        ("[files]\nrisk = true\n", "line 2, [files] risk: there is no key risk; the nearest is risky"),
        (
            "[permissions]\n\"repo.run\" = \"ask\"\n",
            "line 2, [permissions] \"repo.run\": unknown variant `ask`, expected one of `always`, `owner`, `never`",
        ),
        ("[self_edit]\nbuild_s = -1\n", "line 2, [self_edit] build_s: "),
        ("[limits]\nbeat_s = -1\n", "line 2, [limits] beat_s: must be between 0 and 31536000 seconds"),
        ("[limits]\n\nprocesses = 3\n", "line 3, [limits] processes: must be at least 32"),
        ("[limits]\nzzz = 3\n", "line 2, [limits] zzz: there is no key zzz; there are build_s, boot_s"),
        ("[sandbox]\nread = [\"tools\"]\n", "line 2, [sandbox] read: tools is not an absolute path"),
        ("[sandbox]\nwrite = []\n", "line 2, [sandbox] write: there is no key write; there are read"),
        ("[limits]\nbeat_s = 3\nbeat_s = 4\n", "line 3, [limits] beat_s: duplicate key"),
        ("[limits\n", "line 1, [limits"),
        ("limits = 3\n", "line 1, limits: invalid type: integer `3`, expected struct Limits"),
        (
            "[service.x]\nbase_url = \"\"\n",
            "line 1, [service.x]: there is no section service; the nearest is services",
        ),
        ("api_key = \"s\"\n", "line 1, api_key: there is no key api_key; there are limits, walls"),
    ];
    for (text, expected) in cases {
        let said = settings::read(text).unwrap_err();
        assert!(said.starts_with(expected), "{text:?}\n  said     {said}\n  expected {expected}");
        assert_eq!(said.lines().count(), 1, "one line: {said}");
    }
}
