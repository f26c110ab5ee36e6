// The broker's MCP client judged by the world: the official conformance suite, and servers as owners run them.
import { end, part, tried } from '../page/told.mjs';
import { browser } from './browser.mjs';
import { conformance } from './conformance.mjs';
import { everything } from './everything.mjs';
import { filesystem } from './filesystem.mjs';
import { mail } from './mail.mjs';
import { wallet } from './wallet.mjs';

const PARTS = { conformance, everything, filesystem, browser, mail, wallet };
const words = process.argv.slice(2);
const is_full = words.includes('--full');
const wanted = words.filter((word) => word !== '--full');
const wrong = wanted.find((word) => !(word in PARTS));
if (wrong) {
  console.error(`mcp: there is no part ${wrong}; there are ${Object.keys(PARTS).join(', ')}`);
  process.exit(2);
}
for (const [name, run] of Object.entries(PARTS)) {
  if (wanted.length && !wanted.includes(name)) continue;
  part(name);
  await tried(name, () => run({ is_full }));
}
process.exit(end('mcp') ? 0 : 1);
