import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { afterEach, expect, it, vi } from 'vitest';
import { DeskSupervisor } from '../../../src/cli/verbs/desk.js';
import { startDeskThread } from '../../../src/cli/verbs/desk-messages.js';
import { DeskStandIn } from '../../../src/cli/verbs/desk-stand-in.js';

const HOST = '127.0.0.1';

afterEach(() => {
  vi.useRealTimers();
});

/** Connects to a stand-in at a free port. */
async function standInAndClient(): Promise<{ readonly standIn: DeskStandIn; readonly client: Socket }> {
  const server = createServer().listen(0, HOST);
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  const standIn = new DeskStandIn(HOST, port);
  const client = connect(port, HOST);
  await once(client, 'connect');
  return { standIn, client };
}

it('answers a request, and leaves the place when the client does', async () => {
  const { standIn, client } = await standInAndClient();
  client.write('GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n');
  let text = '';
  for await (const chunk of client) text += chunk;
  expect(text).toMatch(/^HTTP\/1\.1 503 /);
  expect(text).toContain('"code":"rest.restarting"');
  standIn.end();
});

it('answers a client that sends endless bytes, reads no more of it, and disconnects it after a time', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const { standIn, client } = await standInAndClient();
  client.on('error', () => {});
  let isTaken = false;
  // More than the buffers of the system hold.
  client.write(Buffer.alloc(64 * 1024 * 1024), (error) => {
    isTaken = !error;
  });
  const [answer] = await once(client, 'data');
  expect(String(answer)).toMatch(/^HTTP\/1\.1 503 /);
  const closed = new Promise((resolve) => client.once('close', resolve));
  vi.advanceTimersByTime(2000);
  await closed;
  expect(isTaken).toBe(false);
  standIn.end();
});

it('REST does not start with a thread that has ended while it loaded', async () => {
  const thread = startDeskThread(new URL('data:text/javascript,process.exit(3)'));
  await once(thread.worker, 'exit');
  const started = await new DeskSupervisor(thread).start({ context: {} } as never);
  expect(started).toEqual({ ok: false, error: 'the REST thread failed: exited with code 3' });
});
