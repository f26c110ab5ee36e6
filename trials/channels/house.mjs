// A house with one channel: the real broker as its only way out, the real program of the channels, the real console; and a
// creature that answers by a line of its memory.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { until } from '../page/told.mjs';
import { built } from './servers.mjs';

const TOKENS = { life: { number: 1, token: 'c'.repeat(64) }, channels: { token: 'd'.repeat(64) } };

export class Home {
  /** `settings` of the channel, and the variables of `.env`; `programs`: the folder of others than those that were built,
   * `state`: what the channel knows already, `serves`: whether its program is started. */
  static async start(channel, settings, secrets, env = {}, { programs, state, serves = true } = {}) {
    const home = new Home();
    const program = (name) => (programs ? path.join(programs, name) : built(name));
    Object.assign(home, { channel, program, env: { PATH: process.env.PATH, ...env } });
    home.folder = fs.mkdtempSync(path.join(os.tmpdir(), 'feral-channels-'));
    for (const name of ['.git', 'creature', '.self/broker/channels', '.self/broker/asks', '.self/workspace', '.self/mind']) {
      fs.mkdirSync(home.path(name), { recursive: true });
    }
    const lines = Object.entries(settings).map(([key, value]) => `${key} = ${JSON.stringify(value)}`);
    home.write('owner.toml', `[channels.${channel}]\n${lines.join('\n')}\n`);
    home.write('.env', Object.entries(secrets).map(([key, value]) => `${key}=${value}\n`).join(''));
    home.write('.self/broker/tokens.json', JSON.stringify(TOKENS));
    home.broker = spawn(home.program('broker'), ['--house', home.folder], { env: home.env, stdio: ['ignore', 'ignore', 'pipe'] });
    let said = '';
    home.broker.stderr.on('data', (bytes) => (said += bytes));
    const port = await until('the broker', () => {
      if (home.broker.exitCode !== null) throw new Error(`the broker ended: ${said}`);
      return Number(said.match(/serving on \S+:(\d+)/)?.[1]);
    });
    home.write('.self/broker/tokens.json', JSON.stringify({ ...TOKENS, channels: { ...TOKENS.channels, port } }));
    if (state) home.write(`.self/broker/channels/${channel}.json`, JSON.stringify(state));
    if (serves) await home.serve();
    return home;
  }

  /** Starts the program of the channels. */
  async serve() {
    this.log = '';
    this.child = spawn(this.program('channels'), ['--house', this.folder], { env: this.env, stdio: ['ignore', 'pipe', 'pipe'] });
    for (const end of [this.child.stdout, this.child.stderr]) end.on('data', (bytes) => (this.log += bytes));
    this.gone = new Promise((done) => this.child.on('exit', done));
    await until('a connected channel', () => this.log.includes(`${this.channel}: connected`));
  }

  async kill() {
    this.child?.kill('SIGKILL');
    await this.gone;
  }

  path(name) {
    return path.join(this.folder, name);
  }

  write(name, text) {
    fs.writeFileSync(this.path(name), text, { mode: 0o600 });
  }

  lines(name) {
    const text = fs.existsSync(this.path(name)) ? fs.readFileSync(this.path(name), 'utf8') : '';
    return text.split('\n').filter(Boolean).map((line) => JSON.parse(line));
  }

  append(name, line) {
    fs.appendFileSync(this.path(name), `${JSON.stringify({ at: new Date().toISOString(), ...line })}\n`);
  }

  console(...words) {
    return execFileSync(this.program('console'), words, { cwd: this.folder, env: this.env, encoding: 'utf8' });
  }

  /** A code for pairing, as the console shows it. */
  code() {
    const shown = this.console('channels', 'pair', this.channel);
    const code = shown.match(/\b[A-Z2-9]{4}[- ]?[A-Z2-9]{4}\b/)?.[0];
    if (!code) throw new Error(`no code in: ${shown}`);
    return code;
  }

  /** Whether somebody is paired by this id. */
  knows(id) {
    return fs.readFileSync(this.path(`.self/broker/channels/${this.channel}.json`), 'utf8').includes(`"${id}"`);
  }

  /** A word of the inbox. */
  word(part) {
    return until(`the word ${part}`, () => this.lines('.self/inbox.jsonl').find(({ text }) => text?.includes(part)));
  }

  /** The creature answers on a thread. */
  answers(thread, text) {
    const at = new Date().toISOString();
    this.append('.self/memory.jsonl', { life: 1, kind: 'message', data: { from: 'creature', kind: 'answer', text, thread, at } });
  }

  /** The broker asks the owner; the digest of the bytes. */
  asks(id, body) {
    const act = { kind: 'call', service: 'posts', method: 'POST', path: '/2/tweets', body };
    const digest = Buffer.from(JSON.stringify(act)).toString('hex').padEnd(64, '0').slice(-64);
    this.write(`.self/broker/asks/${id}.json`, JSON.stringify({ id, state: 'asked', digest, act }));
    this.append('.self/asks.jsonl', { event: 'asked', id, kind: 'call', service: 'posts', method: 'POST', path: '/2/tweets', why: 'to say hello', summary: 'a post', digest });
    return digest;
  }

  async end() {
    await this.kill();
    const ended = once(this.broker, 'exit');
    // It writes its last lines before it ends.
    if (this.broker.exitCode === null && this.broker.kill()) await ended;
    fs.rmSync(this.folder, { recursive: true, force: true, maxRetries: 50 });
  }
}
