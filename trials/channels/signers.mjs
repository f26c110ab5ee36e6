// Those who write mails: a server that signs (DKIM) for the domain that a mail asks for, and the names by which its keys are found.
import { execFileSync, spawn } from 'node:child_process';
import dgram from 'node:dgram';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

const EXIM = '/usr/sbin/exim4';
/** An address of this machine whose port of names is free. */
const NAMES = '127.0.53.53';

/** X-Sign names the domain that signs, X-Key another key than the one that is published. */
const exim = (folder, port) => `
primary_hostname = localhost
spool_directory = ${folder}/spool
log_file_path = ${folder}/spool/%slog
never_users =
deliver_drop_privilege = true
untrusted_set_sender = *
acl_not_smtp = accept
message_size_limit = 20M
begin routers
all:
  driver = manualroute
  route_list = * "127.0.0.1::${port}"
  self = send
  transport = out
begin transports
out:
  driver = smtp
  allow_localhost
  headers_remove = x-sign : x-key
  dkim_domain = $h_x-sign:
  dkim_selector = trial
  dkim_private_key = \${if def:h_x-key:{${folder}/other.key}{${folder}/dkim.key}}
`;

export class Signers {
  static async start() {
    const signers = new Signers();
    signers.folder = fs.mkdtempSync(path.join(os.tmpdir(), 'feral-signers-'));
    fs.chmodSync(signers.folder, 0o755);
    fs.mkdirSync(signers.path('spool'));
    const openssl = (...words) => execFileSync('openssl', words, { stdio: 'pipe' });
    for (const name of ['dkim.key', 'other.key']) openssl('genrsa', '-out', signers.path(name), '2048');
    signers.key = openssl('rsa', '-in', signers.path('dkim.key'), '-pubout', '-outform', 'DER').toString('base64');
    execFileSync('chown', ['-R', 'Debian-exim:Debian-exim', signers.path('spool'), signers.path('dkim.key'), signers.path('other.key')]);
    signers.resolver = signers.path('resolv.conf');
    fs.writeFileSync(signers.resolver, `nameserver ${NAMES}\n`);
    fs.chmodSync(signers.resolver, 0o644);
    signers.names = dgram.createSocket('udp4');
    signers.names.on('message', (asked, from) => signers.names.send(answer(asked, signers.key), from.port, from.address));
    await new Promise((done) => signers.names.bind(53, NAMES, done));
    return signers;
  }

  path(name) {
    return path.join(this.folder, name);
  }

  /** To whose port its mails go. */
  reaches(port) {
    fs.writeFileSync(this.path('exim.conf'), exim(this.folder, port));
  }

  /** Sends a mail on its way, and waits until it is there. */
  async send(raw, { from = 'anna@example.org', to = 'feral@example.test' } = {}) {
    // Not waited for in one piece: the names are asked for here meanwhile.
    const words = ['-C', this.path('exim.conf'), '-odf', '-oi', '-f', from, to];
    const child = spawn(EXIM, words, { stdio: ['pipe', 'ignore', 'pipe'] });
    let said = '';
    child.stderr.on('data', (bytes) => (said += bytes));
    child.stdin.end(raw);
    const code = await new Promise((done) => child.on('exit', done));
    if (code !== 0) throw new Error(`exim: ${code} ${said}`);
  }

  end() {
    this.names.close();
    fs.rmSync(this.folder, { recursive: true, force: true });
  }
}

/** The answer to a question for a name (RFC 1035, 4.1): the key at `trial._domainkey.` of any domain, else none such. */
function answer(asked, key) {
  const labels = [];
  let at = 12;
  for (; asked[at]; at += 1 + asked[at]) labels.push(asked.subarray(at + 1, at + 1 + asked[at]).toString());
  const end = at + 5;
  const is_key = asked.readUInt16BE(at + 1) === 16 && labels.slice(0, 2).join('.') === 'trial._domainkey';
  const head = Buffer.from(asked.subarray(0, end));
  head.writeUInt16BE(is_key ? 0x8580 : 0x8583, 2);
  head.writeUInt16BE(is_key ? 1 : 0, 6);
  head.writeUInt16BE(0, 8);
  head.writeUInt16BE(0, 10);
  if (!is_key) return head;
  const pieces = `v=DKIM1; k=rsa; p=${key}`.match(/.{1,255}/g).map((piece) => Buffer.concat([Buffer.from([piece.length]), Buffer.from(piece)]));
  const text = Buffer.concat(pieces);
  const record = Buffer.alloc(12);
  [0xc00c, 16, 1].forEach((value, nth) => record.writeUInt16BE(value, nth * 2));
  record.writeUInt32BE(60, 6);
  record.writeUInt16BE(text.length, 10);
  return Buffer.concat([head, record, text]);
}
