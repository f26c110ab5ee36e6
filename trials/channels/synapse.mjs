// Synapse, Matrix' own homeserver, on loopback with a database of its own; what an owner does there; a wire that can be cut.
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { free } from '../mcp/mail/servers.mjs';
import { root, until } from '../page/told.mjs';

const python = path.join(root, 'target/channels/python/bin/python');

/** Why there can be no homeserver here; nothing where there can. */
export const missing = () => (fs.existsSync(python) ? undefined : 'matrix-synapse is not installed');

const FREE = '{per_second: 10000, burst_count: 10000}';

const configuration = (folder, port, messages) => `
server_name: trial.test
pid_file: ${folder}/pid
listeners:
  - {port: ${port}, type: http, tls: false, bind_addresses: ['127.0.0.1'], resources: [{names: [client, media], compress: false}]}
database: {name: sqlite3, args: {database: ${folder}/homeserver.db}}
log_config: ${folder}/log.yaml
media_store_path: ${folder}/media
signing_key_path: ${folder}/signing.key
trusted_key_servers: []
federation_domain_whitelist: []
report_stats: false
enable_registration: true
enable_registration_without_verification: true
macaroon_secret_key: trial
form_secret: trial
max_upload_size: 1M
rc_message: ${messages}
rc_registration: ${FREE}
rc_login: {address: ${FREE}, account: ${FREE}}
rc_joins: {local: ${FREE}}
rc_invites: {per_room: ${FREE}, per_user: ${FREE}, per_issuer: ${FREE}}
`;

export class Synapse {
  static async start() {
    const synapse = new Synapse();
    synapse.folder = fs.mkdtempSync(path.join(os.tmpdir(), 'feral-synapse-'));
    synapse.port = await free();
    synapse.url = `http://127.0.0.1:${synapse.port}`;
    const handler = "version: 1\nhandlers: {console: {class: logging.StreamHandler, level: ERROR}}\nroot: {level: ERROR, handlers: [console]}\n";
    fs.writeFileSync(path.join(synapse.folder, 'log.yaml'), handler);
    await synapse.run();
    return synapse;
  }

  /** Starts it, with how many messages it takes of one account. */
  async run(messages = FREE) {
    const file = path.join(this.folder, 'homeserver.yaml');
    fs.writeFileSync(file, configuration(this.folder, this.port, messages));
    const words = ['-m', 'synapse.app.homeserver', '-c', file];
    const run = (more) => spawn(python, [...words, ...more], { cwd: this.folder, stdio: ['ignore', 'ignore', 'pipe'] });
    if (!fs.existsSync(path.join(this.folder, 'signing.key'))) await new Promise((done) => run(['--generate-keys']).on('exit', done));
    this.child = run([]);
    this.said = '';
    this.child.stderr.on('data', (bytes) => (this.said = (this.said + bytes).slice(-2_000)));
    this.gone = new Promise((done) => this.child.on('exit', done));
    await until('the homeserver', () => fetch(`${this.url}/_matrix/client/versions`).then((answer) => answer.ok, () => false));
  }

  async kill() {
    this.child.kill('SIGKILL');
    await this.gone;
  }

  async end() {
    await this.kill();
    fs.rmSync(this.folder, { recursive: true, force: true });
  }

  /** A new account. */
  async account(name) {
    const person = new Person(this.url);
    const body = { username: name, password: `${name}-secret-4711`, auth: { type: 'm.login.dummy' } };
    await person.ask('POST', 'v3/register', { ...body, inhibit_login: true });
    // As docs/channels.md fetches a token.
    const login = { type: 'm.login.password', identifier: { type: 'm.id.user', user: name }, password: body.password, initial_device_display_name: name };
    const made = await person.ask('POST', 'v3/login', login);
    return Object.assign(person, { id: made.user_id, token: made.access_token });
  }
}

/** Somebody with an account, by their program. */
class Person {
  constructor(url) {
    this.url = url;
    this.count = 0;
  }

  async ask(method, where, body = undefined) {
    const raw = body instanceof Uint8Array;
    const answer = await fetch(`${this.url}/_matrix/client/${where}`, {
      method,
      headers: { 'content-type': raw ? 'application/octet-stream' : 'application/json', ...(this.token && { authorization: `Bearer ${this.token}` }) },
      body: raw ? body : body && JSON.stringify(body),
    });
    const told = await answer.json();
    if (!answer.ok) throw new Error(`${method} ${where}: ${answer.status} ${JSON.stringify(told)}`);
    return told;
  }

  async room(more) {
    return (await this.ask('POST', 'v3/createRoom', { preset: 'trusted_private_chat', ...more })).room_id;
  }

  async event(room, kind, content) {
    const made = await this.ask('PUT', `v3/rooms/${encodeURIComponent(room)}/send/${kind}/${(this.count += 1)}`, content);
    return made.event_id;
  }

  say(room, body, more = {}) {
    return this.event(room, 'm.room.message', { msgtype: 'm.text', body, ...more });
  }

  /** Who is in a room. */
  async members(room) {
    return Object.keys((await this.ask('GET', `v3/rooms/${encodeURIComponent(room)}/joined_members`)).joined);
  }

  /** The newest events of a room, newest first. */
  async newest(room, limit = 100) {
    return (await this.ask('GET', `v3/rooms/${encodeURIComponent(room)}/messages?dir=b&limit=${limit}`)).chunk;
  }
}

/** A wire to a port that can be cut: all that is open ends, and nothing new is let through until it is mended. */
export class Cable {
  static async start(to) {
    const cable = new Cable();
    cable.open = new Set();
    cable.server = net.createServer((client) => {
      if (cable.is_cut) return client.destroy();
      const server = net.connect(to, '127.0.0.1');
      const ends = [client, server];
      ends.forEach((one) => {
        cable.open.add(one);
        one.on('error', () => {});
        one.on('close', () => {
          ends.forEach((other) => (cable.open.delete(other), other.destroy()));
        });
      });
      client.pipe(server).pipe(client);
      return undefined;
    });
    await new Promise((done) => cable.server.listen(0, '127.0.0.1', done));
    cable.port = cable.server.address().port;
    return cable;
  }

  cut(stays = false) {
    this.is_cut = stays;
    this.open.forEach((one) => one.destroy());
  }

  mend() {
    this.is_cut = false;
  }

  end() {
    this.cut(true);
    this.server.close();
  }
}
