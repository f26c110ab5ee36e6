// What the trial found: each check by name as it is made, figures with their aims, and the JSON that is kept of both.
import fs from 'node:fs';
import path from 'node:path';

export const root = path.resolve(import.meta.dirname, '../..');
export const place = path.join(root, 'target/page');
export const shots = path.join(root, 'target/page-shots');

const failed = [];
const figures = [];
let passed = 0;

export function part(name) {
  console.log(`== ${name}`);
}

/** A check: said when it fails, counted when it holds. */
export function holds(is, what, seen = '') {
  if (is) {
    passed += 1;
    return true;
  }
  const told = `${what}${seen === '' ? '' : `: ${String(seen).slice(0, 700)}`}`;
  failed.push(told);
  console.log(`   NOT: ${told}`);
  return false;
}

/** Runs a part of the trial; what it throws is a failure of that part and not the end of the others. */
export async function tried(what, doing) {
  try {
    return await doing();
  } catch (error) {
    holds(false, what, String(error?.stack ?? error).split('\n').slice(0, 6).join(' | '));
    return undefined;
  }
}

/** A figure; `most` is what the owner was promised, `none` where it is only told. */
export function figure(what, value, unit, most = undefined, among = undefined) {
  const rounded = Math.round(value * 100) / 100;
  figures.push({ what, value: rounded, unit, most, among });
  const aim = most === undefined ? '' : `, at most ${most}`;
  console.log(`   ${what}: ${rounded} ${unit}${aim}${among ? `  (${JSON.stringify(among)})` : ''}`);
  if (most !== undefined) holds(value <= most, `${what} is ${rounded} ${unit}, at most ${most}`);
}

export function median(values) {
  const sorted = [...values].sort((one, other) => one - other);
  return sorted.length ? sorted[Math.floor((sorted.length - 1) / 2)] : NaN;
}

export function high(values) {
  const sorted = [...values].sort((one, other) => one - other);
  return sorted.length ? sorted[Math.floor((sorted.length - 1) * 0.95)] : NaN;
}

export function spread(values) {
  const two = (value) => Math.round(value * 100) / 100;
  return { median: two(median(values)), p95: two(high(values)), most: two(Math.max(...values)), n: values.length };
}

/** Whether all held. */
export function end(trial = 'page') {
  const kept = path.join('target', trial, 'told.json');
  fs.mkdirSync(path.dirname(path.join(root, kept)), { recursive: true });
  fs.writeFileSync(path.join(root, kept), JSON.stringify({ at: new Date(), passed, failed, figures }, null, 1));
  console.log(`${trial}: ${passed} checks held, ${failed.length} did not; kept in ${kept}`);
  return failed.length === 0;
}

export const rest = (ms) => new Promise((done) => setTimeout(done, ms));

/** Looks until there is something; gives up after so many looks, not seconds: a machine may stand still. */
export async function until(what, look, looks = 2_000) {
  for (let at = 0; at < looks; at += 1) {
    const found = await look();
    if (found) return found;
    await rest(10);
  }
  throw new Error(`waited in vain for ${what}`);
}
