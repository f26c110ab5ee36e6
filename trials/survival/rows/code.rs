//! Faults of the code: lives that crash, hang, lie, fork, spew and will not go.

use crate::survival::matrix::Row;
use crate::survival::trial::Trial;

const CODE: &str = "code";

/// Beats from a process of its own while the life itself does something else, or nothing.
const FAKED: &str = "(while :; do turns=$((turns+1)); beat; sleep 0.1; done) &";

pub const ROWS: &[Row] = &[
    Row::new(CODE, "panic at boot", "a self-edit that ends with status 101 before its first beat", |trial| {
        falls_before_blessing(trial, "exit 101", "stillborn");
    })
    .quick()
    .twice(),
    Row::new(CODE, "exit 0 at once", "a self-edit that ends with status 0 and asks for nothing", |trial| {
        falls_before_blessing(trial, "exit 0", "stillborn");
    })
    .twice(),
    Row::new(CODE, "polite rebirth for ever", "a self-edit that asks for rebirth in every life", |trial| {
        falls_before_blessing(trial, "think x; ask rebirth again r; exit 0", "");
    })
    .twice(),
    Row::new(
        CODE,
        "a new self each rebirth",
        "lives that edit themselves before they are blessed, without end",
        ever_new,
    )
    .twice(),
    Row::new(
        CODE,
        "panic just after blessing",
        "a self-edit that earns its blessing and dies with status 101",
        |trial| {
            falls_after_blessing(trial, "think x; blessed; exit 101");
        },
    )
    .quick()
    .twice(),
    Row::new(
        CODE,
        "panic on the first thought",
        "a self-edit that beats and dies before a thought is written",
        |trial| {
            falls_before_blessing(trial, "beat; sleep 0.3; beat; sleep 0.3; exit 101", "crashed");
        },
    )
    .twice(),
    Row::new(CODE, "panic on the tenth thought", "a self-edit that thinks nine times, then dies", |trial| {
        let life = "for n in 1 2 3 4 5 6 7 8 9; do think t; sleep 0.1; done; blessed; exit 101";
        falls_after_blessing(trial, life);
    })
    .twice(),
    Row::new(
        CODE,
        "deadlock with a healthy-looking beat",
        "after its blessing only a timer beats; the loop waits for ever",
        |trial| {
            hangs(trial, "think x; blessed; (while :; do beat; sleep 0.1; done) & wait");
        },
    )
    .twice(),
    Row::new(
        CODE,
        "beat faked by a thread",
        "a thread beats and counts up turns; the loop waits for ever",
        |trial| {
            hangs(trial, &format!("think x; blessed; {FAKED} wait"));
        },
    )
    .quick(),
    Row::new(CODE, "busy loop", "after its blessing it spins without a beat", |trial| {
        hangs(trial, "think x; blessed; while :; do :; done");
    }),
    Row::new(
        CODE,
        "hangs and ignores SIGTERM",
        "after its blessing it is silent and deaf to SIGTERM",
        |trial| {
            hangs(
                trial,
                "think x; trap '' TERM; blessed; while :; do read nothing < .self/never || sleep 1; done",
            );
        },
    )
    .twice(),
    Row::new(CODE, "stops itself", "after its blessing it sends itself SIGSTOP", |trial| {
        hangs(trial, "think x; blessed; kill -STOP $$; live");
    }),
    Row::new(
        CODE,
        "leaks to a limit of its own",
        "a self-edit that takes memory until the system refuses it",
        |trial| {
            falls_after_blessing(
                trial,
                "think x; blessed; ulimit -v 60000; leak=xxxxxxxx; while :; do leak=$leak$leak; beat; done",
            );
        },
    ),
    Row::new(CODE, "stack overflow", "a self-edit that recurses without end", |trial| {
        falls_before_blessing(trial, "beat; think x; deeper() { deeper; }; deeper", "crashed");
    }),
    Row::new(CODE, "abort", "a self-edit that aborts after its first thought", |trial| {
        falls_before_blessing(trial, "think x; sleep 0.05; kill -ABRT $$; sleep 9", "crashed");
    }),
    Row::new(
        CODE,
        "forks without end",
        "sixteen lines of processes that fork, leave their session and exit",
        forks,
    )
    .twice(),
    Row::new(
        CODE,
        "grandchildren that stay",
        "daemons with sessions of their own, deaf to SIGTERM, holding a port and a lock",
        stays,
    )
    .quick()
    .twice(),
    Row::new(CODE, "a gigabyte on stdout", "a life that writes a gigabyte to its log and lives on", spews),
];

/// A self-edit whose new life never earns its blessing: three tries, and it is put back.
fn falls_before_blessing(trial: &mut Trial, life: &str, ended: &str) {
    trial.shell_becomes(life);
    trial.begin();
    trial.expect_fall("tries_spent");
    trial.inject(|_| {});
    trial.recovers();
    if !ended.is_empty() {
        trial.until_deaths(ended, 3);
    }
}

/// A self-edit that earns its blessing and then dies of itself, again and again.
fn falls_after_blessing(trial: &mut Trial, life: &str) {
    trial.shell_becomes(life);
    trial.begin();
    trial.expect_fall("crash_loop");
    trial.inject(|_| {});
    trial.recovers();
    trial.until_deaths("crashed", 3);
}

/// A self-edit that earns its blessing and then hangs: each life is ended, and three of them make a crash loop.
fn hangs(trial: &mut Trial, life: &str) {
    trial.shell_becomes(life);
    trial.limit("beat_s", 2.0);
    trial.limit("standstill_s", 2.0);
    trial.limit("grace_s", 0.5);
    trial.begin();
    trial.expect_fall("crash_loop");
    trial.inject(|_| {});
    trial.recovers();
    trial.until_deaths("hung", 3);
}

fn ever_new(trial: &mut Trial) {
    trial
        .shell_becomes("think x; echo \"# $FERAL_LIFE\" >> creature/creature.sh; ask rebirth anew r; exit 0");
    trial.limit("lives_unblessed", 6.0);
    trial.begin();
    trial.expect_fall("loop_of_loops");
    trial.inject(|_| {});
    trial.recovers();
}

fn forks(trial: &mut Trial) {
    let line = "(setsid sh -c 'while :; do setsid sh -c \"sleep 0.02\" & sleep 0.02; done' &)";
    let bomb = format!("n=0; while [ $n -lt 16 ]; do {line}; n=$((n+1)); done");
    trial.shell_becomes(&format!("think x; blessed; {bomb}; sleep 0.3; exit 1"));
    trial.begin();
    trial.expect_fall("crash_loop");
    trial.inject(|_| {});
    trial.recovers();
}

fn stays(trial: &mut Trial) {
    let holds = "use Socket; $SIG{TERM}=\"IGNORE\"; socket(S,PF_INET,SOCK_STREAM,0); bind(S,sockaddr_in(0,inet_aton(\"127.0.0.1\"))); listen(S,1); sleep 1000";
    // Each life says so when something of the life before still holds the lock.
    let life = format!(
        "exec 9>>.self/mind/one; flock -n 9 || echo two >> .self/mind/two; think x; blessed; trap '' TERM HUP; \
         (setsid perl -e '{holds}' &); (setsid sh -c 'trap \"\" TERM; sleep 1001 & sleep 1002' &); sleep 0.3; exit 1"
    );
    trial.shell_becomes(&life);
    trial.begin();
    trial.expect_fall("crash_loop");
    trial.inject(|_| {});
    trial.recovers();
    assert!(
        !trial.house().path(".self/mind/two").exists(),
        "a life began while the one before held its lock"
    );
}

fn spews(trial: &mut Trial) {
    trial.shell_then("head -c 1000000000 /dev/zero; touch .self/mind/spewed");
    trial.limit("beat_s", 60.0);
    trial.begin();
    trial.inject(|_| {});
    let mut most = 0;
    trial.until("the gigabyte", |house| {
        let meta = std::fs::metadata(house.path(".self/log/life-1.log"));
        most = most.max(meta.map_or(0, |meta| std::os::unix::fs::MetadataExt::blocks(&meta) * 512));
        house.path(".self/mind/spewed").exists()
    });
    trial.until("the log to be cut", |house| {
        let meta = std::fs::metadata(house.path(".self/log/life-1.log")).unwrap();
        std::os::unix::fs::MetadataExt::blocks(&meta) * 512 <= 64 << 20
    });
    trial.note(format!("its log took {} MB at most", most >> 20));
    trial.recovers();
}
