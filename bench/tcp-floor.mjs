import { createServer } from 'node:net';

/*
 * tcp-floor.mjs: a bare net server that answers each request of 12 bytes with fixed bytes, the least that a server in
 * Node can do. It copies the transaction identifier, or its clients would not take the answer for theirs.
 */
const REQUEST = 12;
const answer = Buffer.from('000000000017010314'.padEnd(58, '0'), 'hex');

const server = createServer((socket) => {
  socket.setNoDelay(true);
  socket.on('data', (requests) => {
    const count = Math.floor(requests.length / REQUEST);
    const bytes = Buffer.allocUnsafe(count * answer.length);
    for (let i = 0; i < count; i++) {
      answer.copy(bytes, i * answer.length);
      bytes[i * answer.length] = requests[i * REQUEST];
      bytes[i * answer.length + 1] = requests[i * REQUEST + 1];
    }
    socket.write(bytes);
  });
  socket.on('error', () => socket.destroy());
});
server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }));
