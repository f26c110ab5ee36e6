// A real mailbox on loopback: Debian's dovecot and exim with configurations of their own, and a proxy that cuts and stalls.
import { execFileSync, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { until } from '../../page/told.mjs';

export const PASSWORD = 'heron-4711-secret';
const EXIM = '/usr/sbin/exim4';
const DOVECOT = '/usr/sbin/dovecot';

/** Why there can be no mailbox here; nothing where there can. */
export function missing() {
  if (process.getuid() !== 0) return 'exim and dovecot are started as root';
  return [EXIM, DOVECOT].find((program) => !fs.existsSync(program)) && 'dovecot-imapd and exim4 are not installed';
}

export const free = () => new Promise((done) => {
  const server = net.createServer().listen(0, '127.0.0.1', () => {
    const { port } = server.address();
    server.close(() => done(port));
  });
});

/** An authority, and a certificate of localhost by it. */
function certificates(folder) {
  const at = (name) => path.join(folder, name);
  const openssl = (...words) => execFileSync('openssl', words, { stdio: 'pipe' });
  openssl('req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '30', '-subj', '/CN=trial', '-keyout', at('ca.key'), '-out', at('ca.pem'));
  openssl('req', '-newkey', 'rsa:2048', '-nodes', '-subj', '/CN=localhost', '-keyout', at('tls.key'), '-out', at('tls.csr'));
  fs.writeFileSync(at('names'), 'subjectAltName=DNS:localhost,IP:127.0.0.1\n');
  openssl('x509', '-req', '-in', at('tls.csr'), '-CA', at('ca.pem'), '-CAkey', at('ca.key'), '-CAcreateserial', '-days', '30', '-extfile', at('names'), '-out', at('tls.pem'));
}

const dovecot = (folder, ports) => `
base_dir = ${folder}/run
state_dir = ${folder}/run
log_path = ${folder}/dovecot.log
protocols = imap
listen = 127.0.0.1
ssl = yes
ssl_cert = <${folder}/tls.pem
ssl_key = <${folder}/tls.key
disable_plaintext_auth = no
auth_mechanisms = plain login
auth_failure_delay = 0
first_valid_uid = 1
mail_location = maildir:${folder}/Maildir
namespace inbox {
  inbox = yes
  separator = /
  mailbox Entwürfe {
    auto = create
    special_use = \\Drafts
  }
  mailbox Sent {
    auto = create
    special_use = \\Sent
  }
  mailbox Archive {
    auto = create
  }
}
service imap-login {
  chroot =
  inet_listener imap {
    port = ${ports.imap}
  }
  inet_listener imaps {
    port = ${ports.imaps}
    ssl = yes
  }
}
service anvil {
  chroot =
}
passdb {
  driver = static
  args = password=${PASSWORD}
}
userdb {
  driver = static
  args = uid=Debian-exim gid=Debian-exim home=${folder}
}
`;

/** `judge`: the name under which it tells who signed a mail that came. */
const exim = (folder, ports, judge) => `
primary_hostname = localhost
spool_directory = ${folder}/spool
log_file_path = ${folder}/spool/%slog
pid_file_path = ${folder}/spool/exim.pid
daemon_smtp_ports = ${ports.smtp} : ${ports.smtps}
tls_on_connect_ports = ${ports.smtps}
local_interfaces = 127.0.0.1
tls_advertise_hosts = *
tls_certificate = ${folder}/tls.pem
tls_privatekey = ${folder}/tls.key
message_size_limit = 1M
acl_smtp_rcpt = rcpt
acl_smtp_data = data
host_lookup =
rfc1413_query_timeout = 0s
never_users =
deliver_drop_privilege = true
begin acl
rcpt:
  defer  local_parts = ^later
         message = 451 4.2.1 try again later
  deny   local_parts = ^gone
         message = 550 5.1.1 no such user
  deny   local_parts = ^full
         message = 552 5.2.2 mailbox full
  accept authenticated = *
  accept domains = example.test
  deny   message = relay not permitted
data:
  deny   condition = \${if match{$h_subject:}{refuse me}}
         message = 554 5.6.0 content refused
${judge ? `  warn   add_header = :at_start:\${authresults {${judge}}}` : ''}
  accept
begin routers
all:
  driver = accept
  transport = box
begin transports
box:
  driver = appendfile
  directory = ${folder}/Maildir
  maildir_format
  batch_max = 100
  envelope_to_add
begin authenticators
plain:
  driver = plaintext
  public_name = PLAIN
  server_prompts = :
  server_condition = \${if and{{eq{$auth2}{me@example.test}}{eq{$auth3}{${PASSWORD}}}}}
  server_set_id = $auth2
`;

/** Starts a program that stays, and would hold pipes open. */
function started(program, words) {
  if (spawnSync(program, words, { stdio: 'ignore' }).status !== 0) throw new Error(`${program} does not start`);
}

export class Mailbox {
  /** `judge` and `resolver`: exim tells who signed, by what this file of resolvers leads to. */
  static async start({ judge, resolver } = {}) {
    const box = new Mailbox();
    box.folder = fs.mkdtempSync(path.join(os.tmpdir(), 'feral-mailbox-'));
    fs.chmodSync(box.folder, 0o755);
    box.ports = { imap: await free(), imaps: await free(), smtp: await free(), smtps: await free() };
    for (const name of ['run', 'spool', 'Maildir/new', 'Maildir/cur', 'Maildir/tmp']) {
      fs.mkdirSync(box.path(name), { recursive: true });
    }
    certificates(box.folder);
    fs.writeFileSync(box.path('dovecot.conf'), dovecot(box.folder, box.ports));
    fs.writeFileSync(box.path('exim.conf'), exim(box.folder, box.ports, judge));
    execFileSync('chown', ['-R', 'Debian-exim:Debian-exim', box.path('spool'), box.path('Maildir'), box.path('tls.key')]);
    const words = ['-C', box.path('exim.conf'), '-bd', '-q1m'];
    // With resolvers of its own it sees a file of its own in the place of the machine's.
    const seen = `mount --bind ${resolver} /etc/resolv.conf && exec ${EXIM} ${words.join(' ')}`;
    if (resolver) started('unshare', ['-m', '--propagation', 'private', 'sh', '-c', seen]);
    else started(EXIM, words);
    box.pids = [await until('exim', box.pid('spool/exim.pid'))];
    await box.serve();
    return box;
  }

  pid(file) {
    return () => fs.existsSync(this.path(file)) && Number(fs.readFileSync(this.path(file), 'utf8'));
  }

  /** Starts dovecot: the mailbox can be looked at. */
  async serve() {
    started(DOVECOT, ['-c', this.path('dovecot.conf')]);
    this.dovecot = await until('dovecot', this.pid('run/master.pid'));
  }

  /** Ends dovecot, and waits until it is gone. */
  async away() {
    process.kill(this.dovecot);
    await until('the end of dovecot', () => !fs.existsSync(`/proc/${this.dovecot}`));
    this.dovecot = undefined;
  }

  path(name) {
    return path.join(this.folder, name);
  }

  /** Texts of the messages of a folder. */
  messages(folder = '') {
    const files = ['new', 'cur'].flatMap((part) => {
      const at = this.path(path.join('Maildir', folder, part));
      return fs.existsSync(at) ? fs.readdirSync(at).map((name) => path.join(at, name)) : [];
    });
    return files.map((file) => fs.readFileSync(file, 'utf8'));
  }

  /** Messages with this in them: all that arrived, and all copies among the sent ones. */
  arrived(text) {
    return this.messages().filter((message) => message.includes(text));
  }

  copies(text) {
    return this.messages('.Sent').filter((message) => message.includes(text));
  }

  /** Puts a message into the inbox, as a stranger's mail comes. */
  async receive(raw) {
    const { status, stderr } = spawnSync(EXIM, ['-C', this.path('exim.conf'), '-oi', 'me@example.test'], { input: raw, encoding: 'utf8' });
    if (status !== 0) throw new Error(stderr);
  }

  end() {
    [...this.pids, this.dovecot].filter(Boolean).forEach((pid) => process.kill(pid));
    fs.rmSync(this.folder, { recursive: true, force: true, maxRetries: 50 });
  }
}

/** Between a client and a server: `meets(line, connection)` sees each line of the client and may cut, hold or kill. */
export class Proxy {
  static async start(to, meets = () => {}) {
    const proxy = new Proxy();
    proxy.meets = meets;
    proxy.open = new Set();
    proxy.server = net.createServer((client) => proxy.join(client, net.connect(to, '127.0.0.1')));
    await new Promise((done) => proxy.server.listen(0, '127.0.0.1', done));
    proxy.port = proxy.server.address().port;
    return proxy;
  }

  join(client, server) {
    const connection = { client, server, quiet: false, cut: () => [client, server].forEach((one) => one.destroy()) };
    let rest = '';
    [client, server].forEach((one) => {
      this.open.add(one);
      one.on('error', () => {});
      one.on('close', () => connection.cut());
    });
    client.on('data', (bytes) => {
      rest += bytes.toString('latin1');
      const lines = rest.split('\r\n');
      rest = lines.pop();
      // A line may be the last that the server is to see.
      for (const line of lines) {
        const verdict = this.meets(line, connection);
        if (verdict === 'stop') return connection.cut();
        server.write(Buffer.from(`${line}\r\n`, 'latin1'));
        if (verdict === 'deaf') connection.quiet = true;
      }
    });
    server.on('data', (bytes) => {
      if (connection.quiet) return this.answered?.(bytes.toString('latin1'), connection);
      client.write(bytes);
    });
  }

  end() {
    this.open.forEach((one) => one.destroy());
    this.server.close();
  }
}
