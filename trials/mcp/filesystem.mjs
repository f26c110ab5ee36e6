// The protocol's file server, told that it may have more than its owner names: what it gets is what the walls give.
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { holds, until } from '../page/told.mjs';
import { Broker, modules, node, pids, walled } from './broker.mjs';
import { DEADLINE, READS, rows, through } from './rows.mjs';

const RULES = '[[mcp.it.rules]]\ntool = "*"\ndo = "allow"\nlooks = true\n';
const FILES = {
  '.env': 'KEY=sk-0123456789\n',
  'notes/birds.txt': 'a heron\n',
  'out/.keep': '',
  'other/diary.txt': 'private\n',
};

async function walls() {
  const script = path.join(modules, '@modelcontextprotocol/server-filesystem/dist/index.js');
  const may = ['out', 'notes', 'other', '.self/broker', '.'];
  const settings = (house) => {
    const command = [node, script, ...may.map((name) => path.join(house, name))];
    return walled(command, 'write = ["out"]\n', ['notes']) + RULES;
  };
  const broker = await Broker.start(settings, { files: FILES });
  try {
    const met = await broker.met();
    holds(!met.trouble, 'it starts behind the walls', met.trouble);
    const read = (name) => broker.call('read_text_file', { path: broker.path(name) });
    const write = (name) => broker.call('write_file', { path: broker.path(name), content: 'new' });
    const notes = await read('notes/birds.txt');
    holds(notes.body?.includes('heron'), 'it reads a folder that `read` names', JSON.stringify(notes));
    await write('out/new.txt');
    holds(fs.existsSync(broker.path('out/new.txt')), 'it writes a folder that `write` names');
    await write('notes/new.txt');
    holds(!fs.existsSync(broker.path('notes/new.txt')), 'it writes none that only `read` names');
    for (const name of ['.env', '.self/broker/tokens.json', '.self/broker/mcp.json', 'other/diary.txt', 'owner.toml']) {
      const seen = await read(name);
      const text = fs.readFileSync(broker.path(name), 'utf8').trim().slice(0, 20);
      holds(/EACCES|ENOENT/.test(seen.body) && !seen.body.includes(text), `it does not read ${name}`, JSON.stringify(seen));
      fs.copyFileSync(broker.path(name), broker.path('kept'));
      await write(name);
      holds(fs.readFileSync(broker.path(name)).equals(fs.readFileSync(broker.path('kept'))), `nor write ${name}`);
    }
    const running = pids(broker.house).filter((pid) => pid !== broker.child.pid);
    holds(running.length > 0, 'its processes are seen');
    broker.child.kill('SIGKILL');
    const gone = () => running.every((pid) => !fs.existsSync(`/proc/${pid}`));
    holds(await until('its end', gone), 'all of it ends with a broker that is killed');
  } finally {
    await broker.end('SIGKILL');
  }
}

/** Whether a fetch by a server with this network reaches a server of this machine. */
async function reaches(network) {
  let reached = 0;
  const site = http.createServer((_, response) => {
    reached += 1;
    response.end('heron');
  });
  await new Promise((done) => site.listen(0, '127.0.0.1', done));
  const script = path.join(modules, '@modelcontextprotocol/server-everything/dist/index.js');
  const broker = await Broker.start(walled([node, script], `network = "${network}"\n`) + RULES);
  try {
    await broker.met();
    const data = `http://127.0.0.1:${site.address().port}/`;
    const answer = await broker.call('gzip-file-as-resource', { name: 'x', data });
    return { reached, answer: JSON.stringify(answer) };
  } finally {
    await broker.end();
    site.close();
  }
}

async function each() {
  const secret = 'sk-files-0123456789abcdef';
  const script = path.join(modules, '@modelcontextprotocol/server-filesystem/dist/index.js');
  const settings = (house) => {
    const command = through('KEY', [node, script, path.join(house, 'notes')]);
    return walled(command, `env = ["KEY"]\n${DEADLINE}`, ['notes', READS]) + RULES;
  };
  const broker = await Broker.start(settings, { files: FILES, env: { KEY: secret } });
  try {
    await broker.met();
    const given = { path: broker.path('notes/birds.txt') };
    await rows('the file server', broker, { tool: 'read_text_file', given, shows: /heron/, secret });
  } finally {
    await broker.end();
  }
}

export async function filesystem() {
  await walls();
  await each();
  const none = await reaches('none');
  holds(none.reached === 0, 'network = "none" reaches nothing', none.answer);
  const open = await reaches('open');
  holds(open.reached > 0, 'network = "open" reaches this machine', open.answer);
}
