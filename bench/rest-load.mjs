import { Agent, request } from 'node:http';

/* rest-load.mjs URL PER_SECOND: reads registers over REST at that rate until it is ended; tells how many at the end. */
const [, , url, perSecond] = process.argv;
const agent = new Agent({ keepAlive: true, maxSockets: 16 });
const body = JSON.stringify({ submit: 'Registers', device: 'bench', range_start: 0, range_end: 9 });
const headers = { 'content-type': 'application/json', 'content-length': body.length };

const startedAt = performance.now();
let asked = 0;
let answered = 0;
setInterval(() => {
  const due = ((performance.now() - startedAt) / 1000) * Number(perSecond);
  for (; asked < due; asked++) ask();
}, 5);

function ask() {
  const asking = request(`${url}/restapi/registers`, { method: 'POST', agent, headers }, (response) => {
    let text = '';
    response.on('data', (chunk) => {
      text += chunk;
    });
    response.on('end', () => {
      if (response.statusCode !== 200 || JSON.parse(text).result !== 'ok') throw new Error(`REST: ${text}`);
      answered++;
    });
  });
  asking.end(body);
}

process.once('SIGTERM', () => {
  process.send({ perSecond: answered / ((performance.now() - startedAt) / 1000) }, () => process.exit(0));
});
