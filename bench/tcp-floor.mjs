import { createServer } from 'node:net';

/*
 * tcp-floor.mjs: a bare net server that answers fixed bytes to whatever arrives, the least that a server in Node can
 * do. It copies the transaction identifier, or its clients would not take the answer for theirs.
 */
const server = createServer((socket) => {
  socket.setNoDelay(true);
  const answer = Buffer.from('000000000017010314'.padEnd(58, '0'), 'hex');
  socket.on('data', (request) => {
    const bytes = Buffer.from(answer);
    bytes[0] = request[0];
    bytes[1] = request[1];
    socket.write(bytes);
  });
  socket.on('error', () => socket.destroy());
});
server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }));
