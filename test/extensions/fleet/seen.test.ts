import { describe, expect, it } from 'vitest';
import { BenchesSeen } from '../../../src/extensions/fleet/benches-seen.js';

function seen() {
  const asked: string[] = [];
  let now = 0;
  const broker = {
    subscribe: (topics: readonly string[]) => asked.push(`+ ${topics.join(' ')}`),
    unsubscribe: (topics: readonly string[]) => asked.push(`- ${topics.join(' ')}`),
  };
  const benches = new BenchesSeen(broker, 'lab/bench-1', () => now);
  const take = (topic: string, content: unknown) =>
    benches.take(topic, Buffer.from(typeof content === 'string' ? content : JSON.stringify(content)));
  return {
    benches,
    asked,
    take,
    pass: (ms: number) => {
      now += ms;
      benches.turn();
    },
  };
}

const TOPICS = 'lab/+/state lab/+/rates';
const ONLINE = {
  state: 'online',
  lines: [
    { name: 'a', state: 'open' },
    { name: 'b', state: 'failed' },
  ],
};

describe('the benches beside this one', () => {
  it('are listened to while somebody asks for them, and after a connection that came again', () => {
    const { benches, asked, pass } = seen();
    pass(1000);
    expect(asked).toEqual([]);
    expect(benches.list()).toEqual([]);
    benches.turn(true);
    pass(14_000);
    expect(asked).toEqual([`+ ${TOPICS}`, `+ ${TOPICS}`]);
    pass(2000);
    pass(2000);
    expect(asked.slice(2)).toEqual([`- ${TOPICS}`]);
  });

  it('are shown with what they have told, and go when their state is taken away', () => {
    const { benches, take } = seen();
    benches.list();
    take('lab/bench-2/state', { ...ONLINE, rules: ['slow'], rest: ['ftp://x', 'http://x:8080'] });
    take('lab/bench-1/state', { state: 'offline' });
    take('lab/bench-3/state', []);
    take('lab/bench-2/rates', { requests: 5.5, faults: 0 });
    expect(benches.list()).toMatchObject([
      { topic: 'lab/bench-1', isOwn: true, state: 'offline', rates: null },
      {
        topic: 'lab/bench-2',
        isOwn: false,
        lines: 2,
        openLines: 1,
        rules: ['slow'],
        rates: { requests: 5.5, faults: 0 },
        rest: 'http://x:8080',
      },
    ]);
    take('lab/bench-2/state', '');
    expect(benches.list().map(({ topic }) => topic)).toEqual(['lab/bench-1']);
  });

  it('are kept as long as their states are 8 MiB together', () => {
    const { benches, take } = seen();
    benches.list();
    const state = { ...ONLINE, rules: ['x'.repeat(2 ** 20)] };
    for (let i = 0; i < 20; i++) take(`lab/bench-${i}/state`, state);
    expect(benches.list()).toHaveLength(7);
    take('lab/bench-0/state', ONLINE);
    take('lab/bench-19/state', ONLINE);
    expect(benches.list()).toHaveLength(8);
  });

  it('may tell anything, and are bounded', () => {
    const { benches, take } = seen();
    benches.list();
    take('lab/bench-2/state', { state: 7, rules: 'x', labels: [], rest: ['javascript:alert(1)'] });
    take('lab/bench-2/rates', { requests: 'many' });
    take('lab/deep/bench/state', ONLINE);
    take('lab/bench-9/rates', { requests: 1, faults: 1 });
    expect(benches.list()).toMatchObject([
      { topic: 'lab/bench-2', state: 'unknown', rules: [], rates: null, rest: null },
    ]);
    for (let i = 0; i < 600; i++) take(`lab/b${i}/state`, ONLINE);
    expect(benches.list()).toHaveLength(500);
  });
});
