//! Full disks: no free block at each step that writes, on a small file system made for it.

use super::RESOURCES;
use crate::survival::matrix::Row;
use crate::survival::trial::Trial;
use std::fs::{self, File};
use std::io::Write;
use std::path::PathBuf;
use std::process::Command;
use std::rc::Rc;
use std::time::Duration;

pub const ROWS: &[Row] = &[
    Row::new(
        RESOURCES,
        "disk full at commit",
        "no free block from the request for rebirth on, for two seconds",
        |trial| {
            disk_full(trial, "rebirth");
        },
    )
    .quick()
    .twice(),
    Row::new(RESOURCES, "disk full at build", "no free block while the new self is built", |trial| {
        disk_full(trial, "build")
    })
    .twice(),
    Row::new(RESOURCES, "disk full at blessing", "no free block while the new self is blessed", |trial| {
        disk_full(trial, "bless");
    })
    .twice(),
    Row::new(
        RESOURCES,
        "disk full at rollback",
        "no free block from the third death on, for two seconds",
        |trial| {
            disk_full(trial, "rollback");
        },
    )
    .twice(),
    Row::new(
        RESOURCES,
        "disk full at append",
        "no free block while the creature appends to memory",
        append_full,
    )
    .twice(),
];

/// A small file system on a folder, until dropped.
struct Disk {
    folder: PathBuf,
}

impl Disk {
    /// Mounted before the house is made in it, so that everything of the house lies on it.
    fn mount(trial: &mut Trial, mib: u64) -> Rc<Self> {
        let folder = tempfile::Builder::new().prefix("disk-").tempdir().unwrap().keep();
        let size = format!("size={mib}m");
        let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", &size, "tmpfs"]).arg(&folder).output();
        if !mounted.is_ok_and(|done| done.status.success()) {
            let _ = fs::remove_dir(&folder);
            trial.not_run("a small file system cannot be mounted without being root");
        }
        let disk = Rc::new(Self { folder });
        trial.keep(disk.clone());
        disk
    }

    /// Takes every free block.
    fn fill(&self) {
        let ballast = self.folder.join("ballast");
        let mut file = File::options().create(true).append(true).open(ballast).unwrap();
        for size in [1 << 20, 4_096, 1] {
            while file.write_all(&vec![b'x'; size]).is_ok() {}
        }
    }

    /// All but a little, so that the rest is taken faster than anybody needs it.
    fn nearly_fill(&self) {
        self.fill();
        let file = File::options().write(true).open(self.folder.join("ballast")).unwrap();
        file.set_len(file.metadata().unwrap().len() - (2 << 20)).unwrap();
    }

    fn free(&self) {
        let _ = fs::remove_file(self.folder.join("ballast"));
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        // Lazily: whatever still runs in a row that failed must not keep it.
        let _ = Command::new("umount").arg("-l").arg(&self.folder).status();
        let _ = fs::remove_dir(&self.folder);
    }
}

/// A self-edit that must wait for free blocks at this step, and goes through once there are some.
fn disk_full(trial: &mut Trial, step: &'static str) {
    let disk = Disk::mount(trial, 24);
    let life = if step == "rollback" { "exit 1" } else { "while :; do think new; sleep 0.3; done" };
    trial.shell_becomes_in(&disk.folder, life);
    if step == "build" {
        let house = trial.house();
        house.write(
            "creature/build.sh",
            "until [ -e .self/built ]; do [ ! -e .self/mind/go ] && exit; sleep 0.05; done\n",
        );
        house.git(&["add", "creature/build.sh"]);
        house.git(&["commit", "-q", "-m", "a build that waits", "creature/build.sh"]);
    }
    trial.limit("probation_s", 1.5);
    trial.limit("disk_free_mib", 1.0);
    if step == "rollback" {
        trial.expect_fall("tries_spent");
    }
    trial.begin();
    trial.inject(|trial| {
        if step == "rebirth" {
            // The creature edits itself first: what is full is the guardian's commit.
            disk.nearly_fill();
            // Held still, or it commits before the disk is full.
            trial.guardian().signal("-STOP");
            trial.house().write(".self/mind/go", "");
            let request = trial.house().path(".self/mind/request.json");
            while !request.exists() {
                std::thread::sleep(Duration::from_millis(1));
            }
            disk.fill();
            trial.guardian().signal("-CONT");
        }
    });
    match step {
        "build" => trial.until("the build", |house| house.status()["phase"] == "building"),
        "bless" => trial.until("probation", |house| {
            house.status()["phase"] == "probation" && house.status()["life"].as_u64() >= Some(2)
        }),
        "rollback" => trial.until("the third death", |house| house.deaths().len() >= 2),
        _ => {}
    }
    disk.fill();
    std::thread::sleep(Duration::from_secs(2));
    disk.free();
    trial.house().write(".self/built", "");
    trial.recovers();
    if step != "rollback" {
        trial.until("the self-edit to have come through", |house| {
            house.read("creature/creature.sh").contains("think new") && house.status()["blessed"] == true
        });
    }
}

/// The creature cannot remember for two seconds: its word is torn, nothing that was whole is lost.
fn append_full(trial: &mut Trial) {
    let disk = Disk::mount(trial, 24);
    // It thinks on, as a mind does: its first thought may be one of those that found no room.
    let life = "while :; do think again; sleep 0.02; done";
    trial.shell_then_in(&disk.folder, life);
    trial.house().write_life(life);
    trial.house().git(&["commit", "-q", "-m", "it thinks on", "creature"]);
    trial.limit("disk_free_mib", 1.0);
    trial.begin();
    trial.inject(|_| disk.fill());
    std::thread::sleep(Duration::from_secs(2));
    disk.free();
    trial.recovers();
}
