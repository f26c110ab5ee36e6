// What a channel costs that waits: its memory, and how often it wakes.
import fs from 'node:fs';
import { figure, rest } from '../page/told.mjs';

const of = (pid, file, name) => {
  const line = fs.readFileSync(`/proc/${pid}/${file}`, 'utf8').match(new RegExp(`^${name}:\\s+(\\d+)`, 'm'));
  return Number(line?.[1] ?? NaN);
};

/** Waits and looks: the memory that is its own, and switches of its threads, each of which is a wake. */
export async function idle(what, pid, seconds = 40) {
  const wakes = () =>
    fs.readdirSync(`/proc/${pid}/task`).reduce((all, task) => all + of(pid, `task/${task}/status`, 'voluntary_ctxt_switches'), 0);
  const before = wakes();
  await rest(seconds * 1_000);
  figure(`${what}: wakes a minute while nothing is said`, ((wakes() - before) * 60) / seconds, 'wakes', 60);
  const pss = of(pid, 'smaps_rollup', 'Pss') / 1_024;
  figure(`${what}: memory`, pss, 'MiB', 60);
}
