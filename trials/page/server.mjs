// `console serve` as a process of the trial: started in a house, its link read from what it prints, killed and measured.
import { execFileSync, spawn } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { performance } from 'node:perf_hooks';
import { programs } from './house.mjs';
import { until } from './told.mjs';

const LINK = /http:\/\/[^\s"']+\/\?token=[0-9a-f]+/;
const running = new Set();

export class Server {
  static async start(house, { port = 0 } = {}) {
    const server = new Server();
    server.house = house;
    server.said = '';
    const begun = performance.now();
    const words = ['serve', '--port', String(port)];
    server.child = spawn(path.join(programs, 'console'), words, {
      cwd: house.root,
      env: { ...process.env, TZ: 'XYZ-5', RUST_LOG: 'warn' },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    running.add(server.child);
    for (const pipe of [server.child.stdout, server.child.stderr]) {
      pipe.on('data', (bytes) => (server.said += bytes));
    }
    server.gone = new Promise((done) => server.child.on('exit', (code, signal) => {
      running.delete(server.child);
      server.ended = signal ?? code;
      done(server.ended);
    }));
    await until('the link', () => {
      if (server.ended !== undefined) throw new Error(`serve ended (${server.ended}): ${server.said}`);
      return LINK.test(server.said);
    });
    server.started_ms = performance.now() - begun;
    server.link = server.said.match(LINK)[0];
    server.origin = new URL(server.link).origin;
    server.port = Number(new URL(server.link).port);
    return server;
  }

  get pid() {
    return this.child.pid;
  }

  async kill(signal = 'SIGKILL') {
    if (this.ended === undefined) this.child.kill(signal);
    return this.gone;
  }

  /** Rotates the token by the command, as its owner does; the new link. */
  renew() {
    const said = execFileSync(path.join(programs, 'console'), ['serve', '--new-link', '--port', String(this.port)], { cwd: this.house.root, encoding: 'utf8' });
    return { said, link: said.match(LINK)?.[0] };
  }

  /** Resident memory now and at its highest, in MiB. */
  resident() {
    const status = fs.readFileSync(`/proc/${this.pid}/status`, 'utf8');
    const field = (name) => Number(status.match(new RegExp(`${name}:\\s+(\\d+)`))[1]) / 1_024;
    return { now_mib: field('VmRSS'), highest_mib: field('VmHWM') };
  }

  /** Processor time so far, in ms, to 10 ms; of threads that ended too. */
  ran_ms() {
    const fields = fs.readFileSync(`/proc/${this.pid}/stat`, 'utf8').replace(/^.*\) /, '').split(' ');
    return (Number(fields[11]) + Number(fields[12])) * 10;
  }

  /** A request by no browser: `{status, headers, body, first_ms, whole_ms}`. */
  ask(target, { method = 'GET', headers = {}, body = '', stops_ms = 0 } = {}) {
    const begun = performance.now();
    return new Promise((done, fail) => {
      const asked = http.request({ host: '127.0.0.1', port: this.port, path: target, method, headers, agent: this.agent }, (answer) => {
        const told = { status: answer.statusCode, headers: answer.headers, body: '', first_ms: performance.now() - begun };
        const end = () => done({ ...told, whole_ms: performance.now() - begun });
        answer.on('data', (bytes) => (told.body += bytes));
        answer.on('end', end);
        answer.on('error', end);
        if (stops_ms) setTimeout(() => { asked.destroy(); end(); }, stops_ms);
      });
      asked.on('error', fail);
      asked.end(body);
    });
  }

  /** The cookie that the link gives, as a header. */
  async cookie(link = this.link) {
    const url = new URL(link);
    const answer = await this.ask(url.pathname + url.search);
    return (answer.headers['set-cookie'] ?? []).map((one) => one.split(';')[0]).join('; ');
  }
}

/** None is left behind. */
export async function end_all() {
  for (const child of running) child.kill('SIGKILL');
}
