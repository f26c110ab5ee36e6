// A browser as docs/browser.md has it: the real Chromium behind the walls, over pages that this machine serves.
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { holds, root, until } from '../page/told.mjs';
import { Broker, modules, node, pids } from './broker.mjs';
import { DEADLINE, READS, rows, through } from './rows.mjs';

const NAMES = ['garden.test=127.0.0.1', 'private.test=10.0.0.7', 'inside.test=192.168.0.1'];

/** The owner's page as settings, with what lies elsewhere here; clicks need no question, for there is no owner. */
function settings(house, chromium) {
  const page = fs.readFileSync(path.join(root, 'docs/browser.md'), 'utf8');
  const [, toml] = page.match(/```toml\n([\s\S]*?)```/);
  const folders = ['/etc/chromium.d', '/etc/fonts'].filter((folder) => fs.existsSync(folder));
  return toml
    .replace('"node"', JSON.stringify(node))
    .replace(/read = .*/, `read = ${JSON.stringify([modules, path.dirname(fs.realpathSync(chromium)), ...folders])}`)
    .replaceAll('/srv/browser/node_modules', modules)
    .replaceAll('/srv/feral', house)
    .replace('/usr/bin/chromium', chromium)
    .replace(/tool = "browser_click"\ndo = "allow"/, '$&\nlooks = true');
}

/** Pages with a form, a login, a file, a dialog, a script that never ends; `seen` is what was asked for. */
async function site() {
  const seen = [];
  const html = (response, body, status = 200, headers = {}) =>
    response.writeHead(status, { 'content-type': 'text/html', ...headers }).end(`<title>garden</title>${body}`);
  const form = (action, name, button) =>
    `<form action="${action}" method="post"><input id="text" name="${name}"><button id="go">${button}</button></form>`;
  const routes = {
    '/': (_, response) => html(response, `<h1>Herons</h1>${form('/sown', 'bed', 'Sow')}`),
    '/sown': (asked, response) => html(response, `<p>Sown: ${asked.body.get('bed')}</p>`),
    '/login': (asked, response) =>
      asked.method === 'POST'
        ? html(response, 'in', 303, { location: '/own', 'set-cookie': `who=${asked.body.get('who')}; HttpOnly; Max-Age=9000` })
        : html(response, form('/login', 'who', 'Log in')),
    '/own': (asked, response) => {
      const who = asked.headers.cookie?.match(/who=(\w+)/)?.[1];
      html(response, who ? `<p>Welcome ${who}</p>` : '<p>Who are you?</p>', who ? 200 : 401);
    },
    '/file': (_, response) =>
      response.writeHead(200, { 'content-disposition': 'attachment; filename="seeds.csv"' }).end('bean,12\n'),
    '/files': (_, response) => html(response, '<a id="go" href="/file">seeds</a>'),
    '/dialog': (_, response) =>
      html(response, '<button id="go" onclick="document.body.append(confirm(\'Dig?\') ? \'dug\' : \'left\')">Dig</button>'),
    '/endless': (_, response) => {
      response.writeHead(200, { 'content-type': 'text/html' }).write('<h1>Never done</h1>');
    },
    '/leaves': (_, response) => response.writeHead(302, { location: 'http://private.test/' }).end(),
    '/leaves-too': (_, response) => response.writeHead(302, { location: 'http://10.0.0.7/' }).end(),
    '/looks-inside': (_, response) =>
      html(response, '<img src="http://inside.test/x.png"><script>fetch("http://127.0.0.1:1/").catch(() => document.title = "shut")</script>'),
  };
  const server = http.createServer((request, response) => {
    let body = '';
    request.on('data', (bytes) => (body += bytes));
    request.on('end', () => {
      const asked = { method: request.method, headers: request.headers, body: new URLSearchParams(body) };
      seen.push(`${request.method} ${request.url}`);
      (routes[request.url] ?? ((_, answer) => html(answer, 'nothing here', 404)))(asked, response);
    });
  });
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  const end = () => (server.closeAllConnections(), server.close());
  return { seen, end, url: `http://garden.test:${server.address().port}` };
}

async function pages(broker, garden, use) {
  const shows = async () => (await use('snapshot')).body ?? '';
  const visit = (where) => use('navigate', { url: `${garden.url}${where}` });
  const first = await visit('/');
  holds(first.ok && /Herons/.test(await shows()), 'a page is shown', JSON.stringify(first));
  const typed = await use('type', { target: '#text', text: 'beans' });
  holds(typed.ok, 'text is typed without a question', JSON.stringify(typed));
  const asked = await use('type', { target: '#text', text: 'x', submit: true });
  holds(asked.asked && !garden.seen.includes('POST /sown'), 'typing that submits waits for the owner', JSON.stringify(asked));
  await use('click', { target: '#go', element: 'Sow' });
  holds(/Sown: beans/.test(await shows()), 'a form is filled in and sent', await shows());

  await visit('/own');
  holds(/Who are you/.test(await shows()), 'without a login it is nobody');
  await visit('/login');
  await use('type', { target: '#text', text: 'ann' });
  await use('click', { target: '#go', element: 'Log in' });
  holds(/Welcome ann/.test(await shows()), 'a login is kept by its cookie', await shows());

  await visit('/files');
  await use('click', { target: '#go', element: 'seeds' });
  const file = () => fs.existsSync(broker.path('.self/workspace/browser')) &&
    fs.readdirSync(broker.path('.self/workspace/browser'), { recursive: true }).find((name) => name.includes('seeds'));
  const name = await until('the file', file, 500).catch(() => undefined);
  const text = name && fs.readFileSync(broker.path(path.join('.self/workspace/browser', name)), 'utf8');
  holds(text === 'bean,12\n', 'a download lies in the workspace', name);

  await visit('/dialog');
  const dialog = await use('click', { target: '#go', element: 'Dig' });
  holds(/dialog/i.test(dialog.body), 'a dialog is told of', JSON.stringify(dialog));
  const answer = await use('handle_dialog', { accept: true });
  holds(answer.asked, 'a yes to it waits for the owner', JSON.stringify(answer));
  await use('handle_dialog', { accept: false });
  holds(/left/.test(await shows()), 'a no does not', await shows());
  return { shows, visit };
}

async function hostile(broker, garden, use, { shows, visit }) {
  for (const where of ['/leaves', '/leaves-too']) {
    const left = await visit(where);
    const told = /private\.test|10\.0\.0\.7/.test(left.body) && /\[not reached: /.test(left.body);
    holds(told, `a redirect to a private address is refused (${where})`, JSON.stringify(left));
  }
  for (const url of ['http://10.0.0.7/', 'https://private.test/', 'http://169.254.169.254/latest/', 'http://127.0.0.1:1/']) {
    const refused = await use('navigate', { url });
    holds(refused.status === 422 || /\[not reached: /.test(refused.body), `${url} is refused`, JSON.stringify(refused));
  }
  const inside = await visit('/looks-inside');
  holds(/inside\.test/.test(inside.body + (await use('find', { text: 'x' })).body), 'what a page loads from there is refused too', JSON.stringify(inside));
  const local = await use('navigate', { url: 'file:///etc/passwd' });
  holds(!/root:/.test(JSON.stringify(local)) && !/root:/.test(await shows()), 'files are not opened', JSON.stringify(local));
  for (const tool of ['evaluate', 'run_code_unsafe', 'file_upload']) {
    const asked = await use(tool, { function: '() => 1', code: '1', paths: ['/etc/passwd'] });
    holds(asked.asked, `browser_${tool} waits for the owner`, JSON.stringify(asked));
  }
  const named = await use('take_screenshot', { filename: 'x.png' });
  holds(/not allowed/.test(named.error), 'a result is not written to a file of a name', JSON.stringify(named));
}

async function falls(broker, garden, use, { shows, visit }) {
  const picture = await use('take_screenshot');
  const [shot] = picture.pictures ?? [];
  holds(shot?.mime_type === 'image/png' && Buffer.from(shot.data, 'base64').subarray(1, 4).toString() === 'PNG', 'a screenshot comes as a picture', JSON.stringify(picture).slice(0, 300));

  const started = Date.now();
  const endless = await visit('/endless');
  holds(endless.ok || /Timeout|timeout|in time|within/.test(endless.body + endless.error), `a page that never stops loading has an end (${Date.now() - started} ms)`, JSON.stringify(endless));
  const next = await visit('/');
  holds(next.ok && /Herons/.test(await shows()), 'and the next page is shown', JSON.stringify(next));

  const own = broker.path('.self/broker/mcp/browser');
  const of_chromium = () => pids(own).filter((pid) => {
    try {
      return fs.readFileSync(`/proc/${pid}/comm`, 'utf8').startsWith('chrom');
    } catch {
      return false;
    }
  });
  const killed = of_chromium();
  holds(killed.length > 3, 'Chromium has processes of its own', killed.length);
  for (const pid of killed) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It ended with another.
    }
  }
  const told = await visit('/own');
  const back = told.ok && told.status === 200 ? told : await visit('/own');
  holds(back.ok && /Welcome ann/.test(await shows()), 'a Chromium that is killed is there again by the second call, with its logins', `${JSON.stringify(told)} ${JSON.stringify(back)}`);

  const hosts = broker.ledger().filter((line) => line.event === 'fetch' && line.service === 'browser');
  const garden_lines = hosts.filter((line) => line.path.startsWith('garden.test') && line.decision === 'allow');
  holds(garden_lines.length === 1, 'a host is a line of the ledger', JSON.stringify(hosts.map((line) => [line.path, line.decision])));
  holds(hosts.some((line) => line.path.startsWith('private.test') && line.decision === 'refused_address'), 'so is a refusal');
}

/** The same browser, with what every server is put through. */
async function each(garden, chromium, more, files) {
  const secret = 'sk-browser-0123456789abcdef';
  const text = (house) => {
    const before = JSON.stringify(through('KEY', [node])).slice(1, -1);
    return settings(house, chromium)
      .replace(JSON.stringify(node), before)
      .replace('read = [', `env = ["KEY"]\nread = [${JSON.stringify(READS)}, `)
      .replace('per_hour = 600\n', `$&${DEADLINE}`);
  };
  const broker = await Broker.start(text, { files, more, env: { KEY: secret } });
  try {
    await broker.met();
    const given = { url: `${garden.url}/` };
    await rows('the browser', broker, { server: 'browser', tool: 'browser_navigate', given, shows: /garden/, secret });
  } finally {
    await broker.end();
  }
}

export async function browser() {
  const chromium = process.env.CHROMIUM || ['chromium', 'chromium-browser', 'google-chrome'].map(which).find(Boolean);
  if (!chromium) {
    console.log('   skipped, there is no Chromium here; CHROMIUM may name one');
    return;
  }
  const garden = await site();
  const more = NAMES.flatMap((name) => ['--know', name]);
  const files = { '.self/workspace/.keep': '' };
  const broker = await Broker.start((house) => settings(house, chromium), { files, more });
  const use = (tool, given = {}) => broker.call(`browser_${tool}`, given, undefined, 'browser');
  try {
    const met = await broker.met();
    if (!holds(!met.trouble && met.all_tools > 20, 'it starts behind the walls', JSON.stringify(met).slice(0, 400))) return;
    const started = Date.now();
    const page = await pages(broker, garden, use);
    await hostile(broker, garden, use, page);
    await falls(broker, garden, use, page);
    console.log(`   ${garden.seen.length} requests reached the site, ${Date.now() - started} ms`);
    await each(garden, chromium, more, files);
  } finally {
    await broker.end();
    garden.end();
  }
}

function which(program) {
  try {
    return execFileSync('sh', ['-c', `command -v ${program}`], { encoding: 'utf8' }).trim();
  } catch {
    return undefined;
  }
}
