import { resolve } from 'node:path';
import { expect, it } from 'vitest';
import { ndjson } from '../../src/extensions/traffic-files/encoding.js';
import { TrafficStream } from '../../src/simulator/traffic/stream.js';
import { frameEvent, replyEvent } from '../simulator/traffic/events.js';

/*
 * What the wing promises beside what `test/house/published.test.ts` records. `npx vitest run test/remote/contract.test.ts -u` writes the golden
 * again; a commit that has it says why.
 */

it('the file of the traffic in lines of JSON is as it was', async () => {
  const stream = new TrafficStream({ events: 10, bytes: 2 ** 16 });
  const { header, encode, missed } = ndjson(stream);
  const lost = {
    line: 'bench',
    seq: 5,
    kind: 'echo',
    at: 1005,
    time: 1_790_000_000_005,
    count: 1,
    isRest: false,
  } as const;
  const pieces = [
    header(),
    encode(frameEvent('10 0000 0002 04 0007 0008')),
    encode(
      replyEvent('10 0000 0002 04 0007 0008', '10 0000 0002', { acted: [{ rule: 'late', kind: 'delay' }] }),
    ),
    missed(2),
    encode(lost),
  ];
  await expect(Buffer.concat(pieces).toString()).toMatchFileSnapshot(
    resolve('test/goldens/written/traffic.ndjson'),
  );
});
