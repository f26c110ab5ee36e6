// Channels judged by servers that others made: a part a platform. Words over kills are `scripts/trials channels kills`.
import { end, part, tried } from '../page/told.mjs';
import { telegram } from './telegram.mjs';

const PARTS = { telegram };
const wanted = process.argv.slice(2);
const wrong = wanted.find((word) => !(word in PARTS));
if (wrong) {
  console.error(`channels: there is no part ${wrong}; there are kills, ${Object.keys(PARTS).join(', ')}`);
  process.exit(2);
}
for (const [name, run] of Object.entries(PARTS)) {
  if (wanted.length && !wanted.includes(name)) continue;
  part(name);
  await tried(name, run);
}
process.exit(end('channels') ? 0 : 1);
