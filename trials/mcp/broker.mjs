// The real broker over a house in a temporary folder, called as a creature calls it.
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { root, until } from '../page/told.mjs';

const TOKEN = 'c'.repeat(64);
export const program = path.join(process.env.CARGO_TARGET_DIR ?? path.join(root, 'target'), 'debug/broker');

export const modules = path.join(root, 'target/mcp/node_modules');
export const node = fs.realpathSync(process.execPath);

/** Settings of a server's program that needs what is installed here. */
export function walled(command, more = '', read = []) {
  return `[mcp.it]\ncommand = ${JSON.stringify(command)}\nread = ${JSON.stringify([modules, ...read])}\n${more}`;
}

/** Processes that name a folder in their arguments or work in it. */
export function pids(folder) {
  const at = (pid) => {
    try {
      return fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8') + fs.readlinkSync(`/proc/${pid}/cwd`);
    } catch {
      return '';
    }
  };
  const all = fs.readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return all.filter((pid) => at(pid).includes(folder)).map(Number);
}

export class Broker {
  /** Starts it with these settings, or those made for its house; `files` are put into the house first, by their paths. */
  static async start(settings, { files = {}, env = {}, more = [] } = {}) {
    const broker = new Broker();
    broker.house = fs.mkdtempSync(path.join(os.tmpdir(), 'feral-mcp-'));
    const tokens = JSON.stringify({ life: { number: 1, token: TOKEN } });
    const text = typeof settings === 'function' ? settings(broker.house) : settings;
    const all = { 'owner.toml': text, '.self/broker/tokens.json': tokens, ...files };
    for (const [name, content] of Object.entries(all)) {
      fs.mkdirSync(path.dirname(broker.path(name)), { recursive: true });
      fs.writeFileSync(broker.path(name), content);
    }
    broker.env = { PATH: process.env.PATH, ...env };
    broker.more = more;
    await broker.open();
    return broker;
  }

  async open() {
    this.said = '';
    this.child = spawn(program, ['--house', this.house, ...this.more], { env: this.env, stdio: ['ignore', 'ignore', 'pipe'] });
    this.child.stderr.on('data', (bytes) => (this.said += bytes));
    this.gone = new Promise((done) => this.child.on('exit', done));
    this.url = await until('the broker', () => {
      if (this.child.exitCode !== null) throw new Error(`the broker ended: ${this.said}`);
      return this.said.match(/serving on (\S+)/)?.[1];
    });
  }

  path(name) {
    return path.join(this.house, name);
  }

  async ask(route, body, signal) {
    const method = body ? 'POST' : 'GET';
    const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' };
    const response = await fetch(`http://${this.url}${route}`, { method, headers, body: body && JSON.stringify(body), signal });
    return response.json();
  }

  call(tool, given = {}, signal = undefined, server = 'it') {
    return this.ask('/mcp/call', { server, tool, arguments: given, reason: 'a trial' }, signal);
  }

  /** The server, once its tools were seen or it is known why not. */
  met(looks = undefined) {
    return until('its tools', async () => {
      const [server] = (await this.ask('/mcp/servers')).servers;
      return (server.all_tools > 0 || server.trouble) && server;
    }, looks);
  }

  ledger() {
    const text = fs.readFileSync(this.path('.self/ledger.jsonl'), 'utf8');
    return text.split('\n').filter(Boolean).map((line) => JSON.parse(line));
  }

  async stop(signal = 'SIGTERM') {
    this.child.kill(signal);
    await this.gone;
  }

  async end(signal = 'SIGTERM') {
    await this.stop(signal);
    fs.rmSync(this.house, { recursive: true, force: true });
  }
}
