import { Agent, get } from 'node:http';

/*
 * downloads.mjs URL: asks for it again and again on one connection, throws away what comes, and tells how much it was when
 * it is ended.
 */
const [, , url] = process.argv;
const agent = new Agent({ keepAlive: true, maxSockets: 1 });
const startedAt = performance.now();
let bytes = 0;
let complete = 0;

function download() {
  get(url, { agent }, (answer) => {
    if (answer.statusCode !== 200) throw new Error(`${url}: ${answer.statusCode}`);
    answer.on('data', ({ length }) => {
      bytes += length;
    });
    answer.on('end', () => {
      complete++;
      download();
    });
  });
}
download();

process.once('SIGTERM', () => {
  const seconds = (performance.now() - startedAt) / 1000;
  process.send({ complete, mbPerSecond: bytes / 1e6 / seconds }, () => process.exit(0));
});
