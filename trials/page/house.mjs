// Houses of the trial: made by the laboratory's program, read as files, and compared before and after.
import { execFileSync, spawn } from 'node:child_process';
import crypto from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { place, root } from './told.mjs';

export const programs = path.join(process.env.CARGO_TARGET_DIR ?? path.join(root, 'target'), 'debug');

/** Makes a house anew: `lived` or `year`. */
export function make(kind) {
  const folder = path.join(place, 'houses', kind);
  fs.rmSync(folder, { recursive: true, force: true });
  fs.mkdirSync(folder, { recursive: true });
  const told = execFileSync(path.join(programs, 'trials'), ['page', kind, folder], { maxBuffer: 1 << 26 });
  return JSON.parse(told);
}

export const read = (house, name) => fs.readFileSync(path.join(house.root, name), 'utf8');

export function lines(house, name) {
  const file = path.join(house.root, name);
  if (!fs.existsSync(file)) return [];
  return fs.readFileSync(file, 'utf8').split('\n').filter((line) => line !== '').map((line) => JSON.parse(line));
}

export function append(house, name, record) {
  fs.appendFileSync(path.join(house.root, name), `${JSON.stringify(record)}\n`);
}

/** A record of memory of now. */
export const record = (kind, data) => ({ at: new Date().toISOString(), life: 10, kind, data });

/** A hash of every file there is, but of what the page keeps for itself and may build anew. */
export function held(house) {
  const found = {};
  const walk = (folder) => {
    for (const entry of fs.readdirSync(folder, { withFileTypes: true })) {
      const file = path.join(folder, entry.name);
      const name = path.relative(house.root, file);
      if (name === '.self/page' || name === '.git/index') continue;
      if (entry.isDirectory()) walk(file);
      else if (entry.isFile()) found[name] = crypto.createHash('sha256').update(fs.readFileSync(file)).digest('hex');
    }
  };
  walk(house.root);
  return found;
}

/** What differs between two of those. */
export function changed(before, after) {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].filter((name) => before[name] !== after[name]).sort();
}

/** Makes it look as if a guardian ran here and a life thought: holds the lock, and writes what both would write. */
export function living(house, life, stage = 'thinking') {
  const at = (name) => path.join(house.root, name);
  fs.mkdirSync(at('.self/guardian'), { recursive: true });
  const held = spawn('flock', ['--exclusive', at('.self/guardian/lock'), 'sleep', '3600'], { stdio: 'ignore' });
  fs.writeFileSync(at('.self/guardian/lock'), String(held.pid));
  fs.writeFileSync(at('.self/guardian.json'), JSON.stringify({ version: 1, at: new Date().toISOString(), guardian_pid: held.pid, creature_pid: held.pid, phase: 'settled',
    want: 'keep', life, commit: '', blessed: true, mind: 'anthropic/some-model', note: 'lives', broker: { running: false, restarts: 0, asks_waiting: 0, note: '' } }));
  fs.writeFileSync(at('.self/heartbeat'), JSON.stringify({ life, pid: held.pid, turns: 1, thoughts: 1, stage, mind: 'anthropic/some-model' }));
  const end = () => held.kill();
  end.stage = (stage) => fs.writeFileSync(at('.self/heartbeat'), JSON.stringify({ life, pid: held.pid, turns: 1, thoughts: 1, stage, mind: 'anthropic/some-model' }));
  return end;
}
