import { get } from 'node:http';

/*
 * event-readers.mjs URL READERS
 *
 * Follows the traffic and the summaries as a number of pages of the console do, and throws away what comes. Says when all of
 * them are connected, and when it is ended how many events and MB came in a second. The events of the first one are
 * counted; all are told the same.
 */
const [, , url, readers] = process.argv;
const EVENT = '{"seq":';
let connected = 0;
let events = 0;
let bytes = 0;
const startedAt = performance.now();
for (let i = 0; i < Number(readers); i++) {
  get(`${url}/api/v1/events?tell=traffic,summary`, (answer) => {
    answer.on('data', (chunk) => {
      bytes += chunk.length;
      if (i > 0) return;
      for (let at = chunk.indexOf(EVENT); at >= 0; at = chunk.indexOf(EVENT, at + 1)) events++;
    });
    connected++;
    if (connected === Number(readers)) process.send('following');
  });
}
process.once('SIGTERM', () => {
  const seconds = (performance.now() - startedAt) / 1000;
  const told = { perSecond: (events * Number(readers)) / seconds, mbPerSecond: bytes / 1e6 / seconds };
  process.send(told, () => process.exit(0));
});
