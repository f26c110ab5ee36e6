// What the broker posts, judged by the networks' own code: Bluesky's servers, and X's rules as it publishes them.
import { end, part, tried } from '../page/told.mjs';
import { bluesky } from './bluesky.mjs';
import { x } from './x.mjs';

const PARTS = { x, bluesky };
const wanted = process.argv.slice(2);
const wrong = wanted.find((word) => !(word in PARTS));
if (wrong) {
  console.error(`social: there is no part ${wrong}; there are ${Object.keys(PARTS).join(', ')}`);
  process.exit(2);
}
for (const [name, run] of Object.entries(PARTS)) {
  if (wanted.length && !wanted.includes(name)) continue;
  part(name);
  await tried(name, run);
}
process.exit(end('social') ? 0 : 1);
