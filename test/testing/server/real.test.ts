import { describe, expect, it } from 'vitest';
import { dataSheet, effectOf } from '../../../src/testing/server/card.js';
import { textOf } from '../../../src/testing/server/check.js';
import { device, type PlantedServer, reply, tcp, testPlanted } from './planted.js';

/*
 * Sentences of the cards of real servers that were not what their bytes and sources show: each server here does what one of
 * these does.
 */

const SCRATCH = { holding: { first: 0, last: 9 }, coils: { first: 0, last: 9 } };

/** A server that answers as others do, unless `other` says something else. */
function server(
  other: (pdu: Uint8Array, right: readonly number[] | undefined) => readonly number[] | undefined,
): PlantedServer {
  const answer = device();
  return tcp((asked, peer) => reply(asked, peer, other(asked.pdu, answer(asked.pdu))));
}

async function findingOf(id: string, planted: PlantedServer) {
  const serverTest = await testPlanted('tcp', planted, { scratch: SCRATCH, checks: [id] });
  const finding = serverTest.findings.find(({ check }) => check.id === id);
  if (!finding) throw new Error(`no finding of ${id}`);
  return { verdict: finding.verdict, text: textOf(finding), matters: effectOf(finding).matters, serverTest };
}

describe('the effect on clients is that of what was seen', () => {
  it('nobody waits for a function that is answered', async () => {
    const echoes = server((pdu, right) => (pdu[0] === 8 ? [...pdu] : right));
    const { verdict, text, matters } = await findingOf('fc08-sub-unknown', echoes);
    expect([verdict, text]).toEqual([
      'violates',
      'the server answered with a function 8 reply instead of exception 01',
    ]);
    expect(matters).toBe('A client never learns that its request was wrong.');
  });

  it('no server hangs that answers another protocol, or a wrong length', async () => {
    const ignorant: PlantedServer = (peer) => ({
      heard: (bytes) => {
        const frame = Buffer.from(bytes);
        const asked = { transactionId: frame.readUInt16BE(0), unitId: frame[6] ?? 0, pdu: frame.subarray(7) };
        reply(asked, peer, device()(asked.pdu));
      },
    });
    for (const id of ['mbap-protocol', 'mbap-length']) {
      const { verdict, matters } = await findingOf(id, ignorant);
      expect(verdict).toBe('violates');
      expect(matters).not.toMatch(/hang|stop/);
    }
  });
});

it('a coil that an invalid value switches off is named, with both states', async () => {
  const right = device();
  const off = server((pdu) =>
    right(pdu[0] === 5 && pdu[3] !== 0xff ? Uint8Array.of(5, ...pdu.slice(1, 3), 0, 0) : pdu),
  );
  const { verdict, text, matters } = await findingOf('fc05-value-illegal', off);
  expect([verdict, text]).toEqual([
    'violates',
    'coil 0 was 1 and is now 0: the malformed request is executed',
  ]);
  expect(matters).toMatch(/^A wrong value switches a relay/);
});

describe('a server that answers what is not there with no values, as jsmodbus', () => {
  const empty = () =>
    server((pdu, right) =>
      (right?.[0] ?? 0) === 0x83 && right?.[1] === 2 ? [3, 0] : pdu[0] === 43 ? [0xab, 0x0e, 1] : right,
    );

  it('is not said to refuse an address', async () => {
    const { text } = await findingOf('map-end', empty());
    expect(text).toBe('for an address that does not exist, the server answered with a function 3 reply');
  });

  it('is not said to return values from beyond the last address', async () => {
    const { text } = await findingOf('address-wraps', empty());
    expect(text).toMatch(
      /^the server answered with a function 3 reply instead of exception 02; the reply has no values/,
    );
  });

  it('is not said to have a function that it refuses with a code of its own', async () => {
    const { serverTest } = await findingOf('fc43-basic', empty());
    expect(dataSheet(serverTest)[0]?.value).not.toMatch(/\b43\b/);
  });
});
