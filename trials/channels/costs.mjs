// What each channel costs while nothing is said: the program with that channel alone, and what the broker does more for it.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import readline from 'node:readline';
import { Mailbox, PASSWORD, missing as noMailbox } from '../mcp/mail/servers.mjs';
import { holds, rest, root } from '../page/told.mjs';
import { Home } from './house.mjs';
import { Faithful, built } from './servers.mjs';
import { Synapse, missing as noSynapse } from './synapse.mjs';

const PAGE = path.join(root, 'trials/CHANNELS.md');
const HEADING = '## What each channel costs while nothing is said';
/** Most wakes a minute of a channel: its own looks at the house, three a minute, and what its platform has it say. */
const MOST = { telegram: 30, discord: 30, slack: 40, matrix: 30, mail: 20 };

const of = (pid, file, name) => Number(fs.readFileSync(`/proc/${pid}/${file}`, 'utf8').match(new RegExp(`^${name}:\\s+(\\d+)`, 'm'))?.[1] ?? NaN);
const tasks = (pid) => fs.readdirSync(`/proc/${pid}/task`);
const sum = (pid, read) => tasks(pid).reduce((all, task) => all + read(task), 0);

/** What a process has done until now. */
const done = (pid) => ({
  wakes: sum(pid, (task) => of(pid, `task/${task}/status`, 'voluntary_ctxt_switches')),
  ran_ms: sum(pid, (task) => Number(fs.readFileSync(`/proc/${pid}/task/${task}/schedstat`, 'utf8').split(' ')[0]) / 1e6),
});
const own = (pid) => of(pid, 'smaps_rollup', 'Pss') / 1_024;

/** A platform, and how a house speaks with it: settings, secrets, the owner, variables; and its end. */
const platforms = {
  async telegram() {
    const server = spawn(built('examples/telegram_server'), ['0'], { stdio: ['ignore', 'pipe', 'inherit'] });
    const [url] = await once(readline.createInterface({ input: server.stdout }), 'line');
    return { settings: { url }, secrets: { TELEGRAM_BOT_TOKEN: '4242424242:AAF-a_token_of_tests_and_of_nothing_else' }, owner: '1001', chat: '1001', end: () => server.kill() };
  },
  async discord() {
    const server = await Faithful.start('discord');
    await server.does('say', { text: 'hello' });
    return { settings: { url: server.url }, secrets: { DISCORD_BOT_TOKEN: server.secrets[0] }, owner: '2000', chat: '9000', end: () => server.end() };
  },
  async slack() {
    const server = await Faithful.start('slack');
    const [SLACK_BOT_TOKEN, SLACK_APP_TOKEN] = server.secrets;
    return { settings: { url: server.url }, secrets: { SLACK_BOT_TOKEN, SLACK_APP_TOKEN }, owner: 'U0OWNER', chat: 'D0DIRECT', end: () => server.end() };
  },
  async matrix() {
    if (noSynapse()) return undefined;
    const synapse = await Synapse.start();
    const [feral, anna] = [await synapse.account('feral'), await synapse.account('anna')];
    const chat = await anna.room({ invite: [feral.id], is_direct: true });
    return { settings: { url: synapse.url }, secrets: { MATRIX_ACCESS_TOKEN: feral.token }, owner: anna.id, chat, end: () => synapse.end() };
  },
  async mail() {
    if (noMailbox()) return undefined;
    const box = await Mailbox.start({ judge: 'mx.example.test' });
    const settings = { address: 'feral@example.test', user: 'me@example.test', imap: `127.0.0.1:${box.ports.imap}`, smtp: `127.0.0.1:${box.ports.smtp}`, authserv: 'mx.example.test' };
    return { settings, secrets: { MAIL_PASSWORD: PASSWORD }, env: { SSL_CERT_FILE: box.path('ca.pem') }, owner: 'anna@example.org', chat: 'anna@example.org', end: () => box.end() };
  },
};

/** Copies of the programs for one house: no page of theirs is another house's too. */
function alone(name) {
  const folder = fs.mkdtempSync(path.join(root, `target/channels/idle-${name}-`));
  for (const program of ['broker', 'channels', 'console']) fs.copyFileSync(built(program), path.join(folder, program));
  return folder;
}

async function opened(name) {
  const platform = await platforms[name]();
  if (!platform) return { name, row: 'its server cannot be had here' };
  const programs = alone(name);
  const { settings, secrets, env = {}, owner, chat } = platform;
  const paired = { id: owner, name: 'Ada', chat: { id: chat, thread: null, is_private: true }, since: new Date().toISOString() };
  const home = await Home.start(name, settings, secrets, env, { programs, state: { owner: paired } });
  return { name, home, end: async () => (await home.end(), platform.end(), fs.rmSync(programs, { recursive: true, force: true })) };
}

const fixed = (value, places = 0) => (Number.isFinite(value) ? value.toFixed(places) : '—');

export async function costs(minutes) {
  const programs = alone('none');
  const without = await Home.start('telegram', {}, { TELEGRAM_BOT_TOKEN: '1:x' }, {}, { programs, serves: false });
  const all = [];
  try {
    for (const name of Object.keys(platforms)) all.push(await opened(name));
    // What connecting leaves behind is no part of it.
    await rest(30_000);
    const served = all.filter(({ home }) => home);
    const look = () => [without.broker.pid, ...served.flatMap(({ home }) => [home.child.pid, home.broker.pid])].map(done);
    const before = look();
    await rest(minutes * 60_000);
    const [none, ...each] = look().map((now, at) => ({
      wakes: (now.wakes - before[at].wakes) / minutes,
      ran_ms: (now.ran_ms - before[at].ran_ms) / minutes,
    }));
    const base = own(without.broker.pid);
    served.forEach((one, at) => {
      const { child, broker } = one.home;
      holds(child.exitCode === null && !/away|revoked/.test(one.home.log), `${one.name} stays connected`, one.home.log.slice(-500));
      const [program, way] = [each[at * 2], each[at * 2 + 1]];
      holds(program.wakes <= MOST[one.name], `${one.name} wakes ${fixed(program.wakes, 1)} times a minute, at most ${MOST[one.name]}`);
      one.row = `${fixed(own(child.pid), 1)} MiB | ${fixed(program.wakes, 1)} | ${fixed(program.ran_ms, 1)} ms | ${fixed(own(broker.pid) - base, 1)} MiB | ${fixed(way.wakes - none.wakes, 1)} | ${fixed(way.ran_ms - none.ran_ms, 1)} ms`;
      console.log(`   ${one.name}: ${one.row}`);
    });
    write(all, minutes, { none, base });
  } finally {
    for (const { end } of all) await end?.();
    await without.end();
    fs.rmSync(programs, { recursive: true, force: true });
  }
}

/** Puts the table into trials/CHANNELS.md, in the place of the one before. */
function write(all, minutes, { none, base }) {
  const commit = execFileSync('git', ['rev-parse', '--short=12', 'HEAD'], { cwd: root, encoding: 'utf8' }).trim();
  const about = `Written by \`scripts/trials channels idle ${minutes}\` (commit ${commit}), over ${minutes} minutes with the programs of a debug build. The program of the channels has this one channel, paired and connected; memory is proportional (PSS), and no other house shares the pages of its programs; a wake is a voluntary switch of one of its threads. The broker's columns are what it takes more than one without channels, which has ${fixed(base, 1)} MiB and wakes ${fixed(none.wakes, 1)} times a minute. Telegram, Discord and Slack are the servers of the channels' tests, Matrix is Synapse, mail dovecot.`;
  const why = 'Of the wakes three a minute are the program\'s own look at the house. Discord\'s gateway has a heartbeat every 41 s, Slack\'s server pings every 10 s, Telegram\'s poll ends after 50 s, Matrix\' after 30 s; mail is told (IDLE) and says nothing for 28 minutes.';
  const head = '| channel | memory | wakes a minute | processor a minute | broker: memory | wakes | processor |\n|---|---|---|---|---|---|---|';
  const rows = all.map(({ name, row }) => `| ${name} | ${row} |`);
  const page = fs.readFileSync(PAGE, 'utf8').split(`\n${HEADING}`)[0].trimEnd();
  fs.writeFileSync(PAGE, `${page}\n\n${HEADING}\n\n${about}\n\n${head}\n${rows.join('\n')}\n\n${why}\n`);
}
