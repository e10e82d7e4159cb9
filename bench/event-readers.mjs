import { get } from 'node:http';

/*
 * event-readers.mjs URL READERS
 *
 * Follows the traffic and the summaries as so many pages of the console do, and throws away what comes. Says when all of
 * them are connected.
 */
const [, , url, readers] = process.argv;
let connected = 0;
for (let i = 0; i < Number(readers); i++) {
  get(`${url}/api/v1/events?tell=traffic,summary`, (answer) => {
    answer.resume();
    connected++;
    if (connected === Number(readers)) process.send('following');
  });
}
