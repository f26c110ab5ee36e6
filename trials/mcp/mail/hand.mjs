// The mail hand as any MCP client has it: its program, spoken to by JSON lines over its standard streams.
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { root } from '../../page/told.mjs';

export const program = path.join(process.env.CARGO_TARGET_DIR ?? path.join(root, 'target'), 'hands/debug/feral-mail');

/** A message of a mailbox, as its tools name it. */
export const PLACE = /\S+:\d+:\d+/;

export const letter = (subject, text, more = '') =>
  `From: Ann <ann@example.test>\nTo: me@example.test\nSubject: ${subject}\nMessage-ID: <${subject.replace(/\W/g, '')}@example.test>\nDate: Sat, 28 Nov 2026 10:00:00 +0000\n${more}\n${text}\n`;

export class Hand {
  static async start(env, words = []) {
    const hand = await Hand.open(env, words);
    const client = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'trial', version: '1' } };
    hand.met = await hand.ask('initialize', client);
    hand.say({ method: 'notifications/initialized' });
    return hand;
  }

  /** Its program, before any session. */
  static async open(env, words = []) {
    const hand = new Hand();
    hand.child = spawn(program, words, { env: { PATH: process.env.PATH, ...env }, stdio: ['pipe', 'pipe', 'pipe'] });
    hand.said = '';
    hand.waiting = new Map();
    hand.heard = [];
    hand.count = 0;
    hand.gone = new Promise((done) => hand.child.on('exit', done));
    hand.gone.then(() => hand.waiting.forEach((done) => done({ lost: true })));
    hand.child.stdin.on('error', () => {});
    hand.child.stderr.on('data', (bytes) => (hand.said += bytes));
    let rest = '';
    hand.child.stdout.on('data', (bytes) => {
      rest += bytes;
      const lines = rest.split('\n');
      rest = lines.pop();
      lines.filter(Boolean).forEach((line) => hand.take(JSON.parse(line)));
    });
    return hand;
  }

  take(message) {
    const done = this.waiting.get(message.id);
    if (done) {
      this.waiting.delete(message.id);
      done(message);
    } else {
      this.heard.push(message);
    }
  }

  say(message) {
    this.child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  }

  ask(method, params = {}) {
    const id = (this.count += 1);
    return new Promise((done) => {
      this.waiting.set(id, done);
      this.say({ id, method, params });
      if (this.child.exitCode !== null) done({ lost: true });
    });
  }

  /** The text of a tool's answer; one that failed begins with `FAILED: `. */
  async call(name, given = {}) {
    const answer = await this.ask('tools/call', { name, arguments: given });
    if (answer.lost) return 'LOST';
    if (answer.error) return `ERROR: ${answer.error.message}`;
    const text = answer.result.content.map((part) => part.text).join('\n');
    return answer.result.isError ? `FAILED: ${text}` : text;
  }

  kill() {
    this.child.kill('SIGKILL');
    return this.gone;
  }

  async end() {
    this.child.stdin.end();
    await this.gone;
  }
}

/** Environment of the hand for a mailbox; plain, unless said otherwise. */
export function settings(box, home, more = {}) {
  fs.mkdirSync(home, { recursive: true });
  return {
    HOME: home,
    MAIL_ADDRESS: 'me@example.test',
    MAIL_PASSWORD: more.password ?? 'heron-4711-secret',
    MAIL_IMAP: `plain://127.0.0.1:${box.ports.imap}`,
    MAIL_SMTP: `plain://127.0.0.1:${box.ports.smtp}`,
    ...more.env,
  };
}
