import Fastify from 'fastify';
import { BODY, PATH } from './rest-rows.mjs';

/*
 * rest-floor.mjs PORT object|text: a bare Fastify that answers what our server on PORT answers: an object that is made
 * text for each answer, or that text.
 */
const [, , port, sends] = process.argv;
const headers = { 'content-type': 'application/json' };
const text = await (
  await fetch(`http://127.0.0.1:${port}${PATH}`, { method: 'POST', headers, body: BODY })
).text();
const object = JSON.parse(text);

const app = Fastify();
app.post(PATH, (_, reply) => {
  if (sends === 'object') reply.send(object);
  else reply.type('application/json; charset=utf-8').send(text);
});
await app.listen({ port: 0, host: '127.0.0.1' });
process.send({ port: app.server.address().port });
