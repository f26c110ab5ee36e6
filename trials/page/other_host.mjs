// Another host, made of the kernel's own parts: a network with addresses of its own, from which the page is attacked.
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { make, programs, read } from './house.mjs';
import { Phone } from './phone.mjs';
import { Server } from './server.mjs';
import { holds, part, place, tried, until } from './told.mjs';

const HERE = '10.213.78.1';
const THERE = Array.from({ length: 9 }, (_, at) => `10.213.78.${at + 2}`);
const ip = (words) => execFileSync('ip', words.split(' '), { stdio: ['ignore', 'ignore', 'pipe'] });

/** A network with a cable to this machine, while something is done; skipped where it cannot be made. */
async function with_host(doing) {
  const [name, cable] = [`feral-phone-${process.pid}`, `fh${process.pid}`];
  try {
    ip(`netns add ${name}`);
  } catch (error) {
    console.log(`   skipped: another host needs root, the program ip and network namespaces (${String(error.stderr ?? error).trim()})`);
    return;
  }
  try {
    ip(`link add ${cable}a type veth peer name ${cable}b netns ${name}`);
    ip(`addr add ${HERE}/24 dev ${cable}a`);
    ip(`link set ${cable}a up`);
    for (const address of THERE) ip(`-n ${name} addr add ${address}/24 dev ${cable}b`);
    ip(`-n ${name} link set ${cable}b up`);
    await doing(name);
  } finally {
    spawnSync('ip', ['link', 'del', `${cable}a`]);
    spawnSync('ip', ['netns', 'del', name]);
  }
}

/** Runs a script on that host; each line it says is a check. */
async function runs_there(name, script, told) {
  const words = ['netns', 'exec', name, process.execPath, path.join(import.meta.dirname, script), JSON.stringify(told)];
  const child = spawn('ip', words, { stdio: ['ignore', 'pipe', 'inherit'] });
  let said = '';
  child.stdout.on('data', (bytes) => (said += bytes));
  const code = await new Promise((done) => child.on('exit', done));
  for (const line of said.split('\n').filter(Boolean)) {
    const { is, what, seen } = JSON.parse(line);
    if (is === undefined) console.log(`   ${what}: ${seen}`);
    else holds(is, what, seen);
  }
  holds(code === 0, `${script} came to its end`, code);
}

export async function from_another_host() {
  part('from another host');
  await with_host(async (name) => {
    const house = make('lived');
    const server = await Server.start(house);
    const phone = await Phone.start(house, '0.0.0.0:0', 'house.test');
    const told = { here: HERE, there: THERE, port: phone.port, host: 'house.test', password: phone.password, root: house.root, program: path.join(programs, 'phone-page'), fingerprint: phone.fingerprint,
      loopback: server.port, token: new URL(server.link).searchParams.get('token') };
    try {
      await tried('attacks', () => runs_there(name, 'stranger.mjs', told));
      await tried('a proxy in front', () => behind_a_proxy(name, told));
      await tried('ends and damage', () => falls(phone, server));
    } finally {
      await phone.kill();
      await server.kill('SIGTERM');
    }
  });
}

/** nginx as owners have it: it ends TLS and speaks TLS to the page. */
async function behind_a_proxy(name, told) {
  const nginx = ['/usr/sbin/nginx', '/usr/bin/nginx'].find((program) => fs.existsSync(program));
  if (!nginx) return void console.log('   skipped: a proxy in front needs nginx');
  const folder = path.join(place, 'proxy');
  fs.rmSync(folder, { recursive: true, force: true });
  fs.mkdirSync(folder, { recursive: true });
  const [port, keys] = [Number(told.port) + 1, path.join(told.root, '.self/broker/page')];
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((kind) => `${kind}_temp_path ${folder}/${kind};`);
  const at = path.join(folder, 'nginx.conf');
  fs.writeFileSync(at, `daemon off; user root; worker_processes 1; pid ${folder}/pid; error_log ${folder}/error.log; events { worker_connections 512; }
    http { access_log off; ${temporary.join(' ')}
      server { listen ${HERE}:${port} ssl; ssl_certificate ${keys}/certificate.pem; ssl_certificate_key ${keys}/key.pem;
        location / { proxy_pass https://127.0.0.1:${told.port}; proxy_http_version 1.1; proxy_set_header Host $http_host; proxy_set_header X-Forwarded-For $remote_addr; } } }`);
  const child = spawn(nginx, ['-c', at, '-e', `${folder}/error.log`], { stdio: ['ignore', 'ignore', 'inherit'] });
  const gone = new Promise((done) => child.on('exit', done));
  try {
    await until('nginx', () => fs.existsSync(path.join(folder, 'pid')));
    await runs_there(name, 'proxied.mjs', { ...told, proxy: port });
  } finally {
    child.kill('SIGTERM');
    await gone;
  }
}

/** Killed, it knows who was within; its files spoilt, nobody is, the doctor says so, and the loopback page goes on. */
async function falls(phone, server) {
  const cookie = await server.cookie();
  phone.command(['password'], `${phone.password}\n${phone.password}\n`);
  const names = ['password.json', 'sessions.json', 'passkeys.json', 'guesses.json'];
  for (const name of names) fs.writeFileSync(path.join(phone.house.root, '.self/broker/page', name), '{"torn');
  const check = phone.command(['check']);
  for (const name of names) holds(check.includes(`${name} cannot be understood`), `the doctor tells that ${name} is damaged`, check);
  holds((await server.ask('/talk', { headers: { cookie } })).status === 200, 'the loopback page goes on');
  phone.command(['password'], `${phone.password}\n${phone.password}\n`);
  holds(!phone.command(['check']).includes('password.json cannot be understood'), 'a new password mends its file');
  holds(!read(phone.house, '.self/broker/page/password.json').includes(phone.password), 'which does not hold it');
}
