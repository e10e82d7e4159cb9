import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import type { Device } from '../../src/device/device.js';
import { MAX_TIME } from '../../src/device/signals/clock.js';
import { tries } from '../support/tries.js';
import { liveDevices } from './live.js';

const ON = 0xff00;

type Meter = Parameters<typeof liveDevices>[0]['meter'];

/** A device `meter` with what tests ask it. */
function meterWith(parts: NonNullable<Meter>, others: Parameters<typeof liveDevices>[0] = {}) {
  const live = liveDevices({ ...others, meter: parts });
  const { respond } = live;
  return {
    ...live,
    /** Function 5. */
    coil: (address: number, on: boolean) => respond([5, 0, address, on ? ON >>> 8 : 0, 0]),
    /** Function 6. */
    register: (address: number, value: number) => respond([6, 0, address, value >>> 8, value & 0xff]),
    /** Function 16. */
    registers: (address: number, ...words: number[]) =>
      respond([
        16,
        0,
        address,
        0,
        words.length,
        2 * words.length,
        ...words.flatMap((word) => [word >>> 8, word & 0xff]),
      ]),
    /** Function 1, of a single coil. */
    isOn: (address: number) => respond([1, 0, address, 0, 1])[2],
  };
}

/** Big-endian words of a float. */
function words(value: number): [number, number] {
  const view = new DataView(new ArrayBuffer(4));
  view.setFloat32(0, value);
  return [view.getUint16(0), view.getUint16(2)];
}

describe('limits', () => {
  const limited = () =>
    meterWith({
      holding: [
        { address: 0, value: 500, write: true, scale: 0.1, limits: { min: 40, max: 60 } },
        { address: 1, value: 7, write: true },
        { address: 2, type: 'float32', value: 230, write: true, limits: { max: 230.1 } },
        { address: 4, value: 3, write: true, allowed: [1, 3] },
        { address: 5, type: 'int16', value: -1, write: true, limits: { min: -5 } },
      ],
    });

  it('refuse a value in its unit with exception 03, and nothing is written', () => {
    const { register, registers, read } = limited();
    expect(register(0, 601)).toEqual([0x86, 3]);
    expect(registers(0, 399, 8)).toEqual([0x90, 3]);
    expect(registers(1, 8, ...words(231))).toEqual([0x90, 3]);
    expect(read('holding', 0, 2)).toEqual([500, 7]);
    expect(register(0, 600)).toEqual([6, 0, 0, 2, 88]);
    expect(register(0, 400)[0]).toBe(6);
  });

  it('take the nearest float to a limit, and judge the whole value when one word is written', () => {
    const { register, registers, read } = limited();
    expect(registers(2, ...words(230.1))[0]).toBe(16);
    const [high] = words(300);
    expect(register(2, high)).toEqual([0x86, 3]);
    expect(registers(2, ...words(Number.NaN))).toEqual([0x90, 3]);
    expect(read('holding', 2, 2)).toEqual(words(230.1));
  });

  it('may be a list of allowed values', () => {
    const { register } = limited();
    expect(register(4, 2)).toEqual([0x86, 3]);
    expect(register(4, 1)[0]).toBe(6);
  });

  it('hold for functions 22 and 23, and for signed values', () => {
    const { respond } = limited();
    // 0xffff with all but the lowest 3 bits kept, and the sign taken away.
    expect(respond([22, 0, 5, 0x00, 0x00, 0xff, 0x00])).toEqual([0x96, 3]);
    expect(respond([22, 0, 5, 0xff, 0xff, 0, 0])).toEqual([22, 0, 5, 0xff, 0xff, 0, 0]);
    // 500 and a bit of 600 are 1012; 3 without its second bit is 1. What counts is the word that results, not the masks.
    expect(respond([22, 0, 0, 0x01, 0xff, 0x02, 0x58])).toEqual([0x96, 3]);
    expect(respond([22, 0, 4, 0xff, 0xfd, 0, 0])).toEqual([22, 0, 4, 0xff, 0xfd, 0, 0]);
    expect(respond([23, 0, 0, 0, 1, 0, 5, 0, 1, 2, 0xff, 0x00])).toEqual([0x97, 3]);
    expect(respond([23, 0, 5, 0, 1, 0, 5, 0, 1, 2, 0xff, 0xfb])).toEqual([23, 2, 0xff, 0xfb]);
  });
});

describe('a watchdog', () => {
  const charger = (more: object = {}) =>
    meterWith({
      holding: [
        { address: 0, name: 'current', value: 16, write: true, fallsBack: { after: '60s', to: 6, ...more } },
        { address: 1, name: 'heartbeat', write: true },
        { address: 2, name: 'enabled', value: 1, write: true },
      ],
      clock: { speed: 2 },
    });

  it('lets a value fall back unless it is written again in time, by the clock of the device', () => {
    const { register, read, wait } = charger();
    const value = () => read('holding', 0, 1)[0];
    register(0, 32);
    wait(29_999);
    register(0, 31);
    wait(29_999);
    expect(value()).toBe(31);
    wait(1);
    expect(value()).toBe(6);
    register(0, 20);
    expect(value()).toBe(20);
    wait(30_000);
    expect(value()).toBe(6);
  });

  it('is renewed by a heartbeat, and by no other write', () => {
    const { register, read, wait } = charger({ renewedBy: ['heartbeat'] });
    register(0, 32);
    wait(20_000);
    register(1, 1);
    wait(20_000);
    expect(read('holding', 0, 1)).toEqual([32]);
    register(2, 1);
    wait(10_000);
    expect(read('holding', 0, 1)).toEqual([6]);
  });

  it('sleeps while its register is 0, and starts its time when that is written', () => {
    const { register, read, wait } = charger({ enabledBy: 'enabled' });
    register(0, 32);
    register(2, 0);
    wait(3_600_000);
    expect(read('holding', 0, 1)).toEqual([32]);
    register(2, 1);
    wait(29_999);
    expect(read('holding', 0, 1)).toEqual([32]);
    wait(1);
    expect(read('holding', 0, 1)).toEqual([6]);
  });

  it('runs from the start of the device on, also after its power was switched, and has one change to come', () => {
    const { meter, read, wait, graph } = charger({ to: undefined, after: '10s' });
    const { register } = charger();
    expect(register(0, 5)).toEqual([6, 0, 0, 0, 5]);
    expect(graph.waiting.size).toBe(1);
    wait(5000);
    expect([read('holding', 0, 1)[0], graph.waiting.size]).toEqual([16, 0]);
    const other = charger({ after: '10s' });
    other.wait(4000);
    other.meter.restart();
    other.wait(4999);
    expect(other.read('holding', 0, 1)).toEqual([16]);
    other.wait(1);
    expect(other.read('holding', 0, 1)).toEqual([6]);
    meter.restart();
    expect(graph.waiting.size).toBe(1);
  });

  /** A file in which each of many values falls back, beside a command that far more values follow. */
  const many = (quantity: number) => ({
    coils: [
      { address: 0, name: 'command', write: true },
      ...Array.from({ length: 1001 }, (_, i) => ({
        address: i + 1,
        follows: { name: 'command', after: '1s' },
      })),
    ],
    holding: Array.from({ length: quantity }, (_, address) => ({
      ...{ address, name: `v${address}`, value: 5, write: true },
      fallsBack: { after: '1m', ...(address > 0 && address <= 90 && { renewedBy: ['v0'] }) },
    })),
  });

  it('is no change to come, however many values fall back', () => {
    const { registers, coil, read, wait } = meterWith(many(1001));
    expect(registers(0, ...Array(123).fill(8))[0]).toBe(16);
    expect(coil(0, true)[0]).toBe(5);
    expect(coil(0, false)).toEqual([0x85, 6]);
    wait(60_000);
    expect(read('holding', 0, 123)).toEqual(Array(123).fill(5));
    expect(registers(0, ...Array(123).fill(8))[0]).toBe(16);
    expect(coil(0, false)[0]).toBe(5);
  });

  it('plans nothing when it is renewed', () => {
    const { meter, registers, register, read, wait } = meterWith(many(91));
    registers(0, ...Array(91).fill(8));
    const later = vi.spyOn(meter.points.schedule, 'later');
    for (let i = 0; i < 59; i++) {
      wait(1000);
      register(0, i);
    }
    expect(later).not.toHaveBeenCalled();
    wait(59_999);
    expect(read('holding', 0, 91)).toEqual([58, ...Array(90).fill(8)]);
    expect(later).toHaveBeenCalledTimes(91);
    wait(1);
    expect(read('holding', 0, 91)).toEqual(Array(91).fill(5));
  });

  it('in many devices is no work for a request, and little when all fall back at once', () => {
    const fallsBack = { after: '1m' };
    const holding = [{ address: 0, value: 5, write: true, fallsBack }];
    const names = Array.from({ length: 300 }, (_, i) => `d${i}`);
    const live = meterWith({ holding }, Object.fromEntries(names.map((name) => [name, { holding }])));
    live.register(0, 8);
    expect(live.looksDuring(() => live.read('holding', 0, 1))).toBeLessThan(20);
    expect(live.looksDuring(() => live.register(0, 9))).toBeLessThan(20);
    live.wait(60_000);
    expect(live.looksDuring(() => live.read('holding', 0, 1))).toBeLessThan(20 * names.length);
    expect([live.read('holding', 0, 1), live.graph.waiting.size]).toEqual([[5], 0]);
  });

  it('never ends at the end of all clocks, to which a clock may be stepped', () => {
    const { meter, read } = charger();
    meter.clock.resume(MAX_TIME - 1000, { speed: 1, paused: true });
    meter.points.restored();
    meter.setClock({}, 86_400_000);
    expect([meter.clock.time, read('holding', 0, 1)]).toEqual([MAX_TIME, [16]]);
  });

  it.each([
    ['steps', { paused: true }, (meter: Device) => meter.setClock({}, 60_000)],
    ['runs faster', {}, (meter: Device) => meter.setClock({ speed: 61_000 }, 0)],
    ['runs again', { paused: true }, (meter: Device) => meter.setClock({ paused: false, speed: 61_000 }, 0)],
  ])('falls back in time when the clock of its device %s', (_, clock, change) => {
    const holding = [{ address: 0, value: 5, write: true, fallsBack: { after: '1m' } }];
    const others = { still: { holding, clock: { paused: true } }, quick: { holding, clock: { speed: 2 } } };
    const { meter, register, read, wait } = meterWith({ holding, clock }, others);
    register(0, 8);
    change(meter);
    wait(1);
    expect(read('holding', 0, 1)).toEqual([5]);
  });
});

describe('a pulse', () => {
  it('falls back by the clock of the device', () => {
    const { coil, isOn, wait, meter } = meterWith({
      coils: [{ address: 0, write: true, pulse: '500ms' }],
      clock: { speed: 10 },
    });
    coil(0, true);
    expect(isOn(0)).toBe(1);
    wait(49);
    expect(isOn(0)).toBe(1);
    wait(1);
    expect(isOn(0)).toBe(0);
    coil(0, true);
    meter.setClock({ paused: true }, 0);
    wait(60_000);
    expect(isOn(0)).toBe(1);
    meter.setClock({}, 500);
    expect(isOn(0)).toBe(0);
  });

  it('that has fallen back takes no other with it when it is set again', () => {
    const { coil, isOn, wait } = meterWith({
      coils: [
        { address: 0, write: true, pulse: 100 },
        { address: 1, write: true, pulse: '1h' },
      ],
    });
    coil(0, true);
    coil(1, true);
    wait(100);
    expect([isOn(0), isOn(1)]).toEqual([0, 1]);
    coil(0, true);
    wait(3_600_000);
    expect([isOn(0), isOn(1)]).toEqual([0, 0]);
  });

  it('leaves nothing to come once it has fallen back', () => {
    const { coil, isOn, wait, graph } = meterWith({ coils: [{ address: 0, write: true, pulse: 100 }] });
    coil(0, true);
    expect(graph.waiting.size).toBe(1);
    wait(100);
    expect([isOn(0), graph.waiting.size]).toEqual([0, 0]);
  });

  it.each([
    ['first', ['first', 'meter']],
    ['last', ['meter', 'first']],
  ])('of another device falls back at its time, before what comes later here: written %s', (_, order) => {
    const { coil, read, wait, graph } = meterWith(
      {
        coils: [{ address: 0, write: true, onWrite: [{ set: { seen: 'first.pulse + 5' }, after: '1s' }] }],
        holding: [{ address: 0, name: 'seen' }],
      },
      { first: { coils: [{ address: 0, name: 'pulse', write: true, pulse: '500ms' }] } },
    );
    const pulse = graph.find('first', 'pulse')?.point ?? expect.fail('no such value');
    for (const device of order) {
      if (device === 'meter') coil(0, true);
      else pulse.image.write(pulse.location, 1);
    }
    wait(2000);
    expect(read('holding', 0, 1)).toEqual([5]);
  });

  it('begins anew when it is set again, and ends when it is cleared', () => {
    const { coil, isOn, wait } = meterWith({ coils: [{ address: 0, write: true, pulse: 100 }] });
    coil(0, true);
    wait(60);
    coil(0, true);
    wait(60);
    expect(isOn(0)).toBe(1);
    coil(0, false);
    coil(0, true);
    wait(99);
    expect(isOn(0)).toBe(1);
    wait(1);
    expect(isOn(0)).toBe(0);
  });

  it('is counted as long as it was, whoever reads when', () => {
    const { coil, read, wait } = meterWith({
      coils: [{ address: 0, name: 'valve', write: true, pulse: '2s' }],
      input: [{ address: 0, signal: { counter: { integral: 'valve' } }, scale: 0.001 }],
    });
    coil(0, true);
    wait(60_000);
    expect(read('input', 0, 1)).toEqual([2000]);
  });
});

describe('a feedback', () => {
  const parts = {
    coils: [{ address: 0, name: 'command', write: true }],
    holding: [{ address: 0, name: 'setpoint', value: 20, write: true }],
    discrete: [{ address: 0, follows: { name: 'command', after: '200ms' } }],
    input: [
      { address: 0, name: 'position', scale: 0.1, follows: { name: 'setpoint', after: '1s', slew: 5 } },
      { address: 1, scale: 0.1, follows: { name: 'position', slew: 2 } },
      { address: 2, type: 'uint32', scale: 0.001, signal: { counter: { integral: 'position' } } },
    ],
  };

  it('follows its command after a delay', () => {
    const { coil, respond, wait } = meterWith(parts);
    const feedback = () => respond([2, 0, 0, 0, 1])[2];
    expect(feedback()).toBe(0);
    coil(0, true);
    wait(100);
    coil(0, false);
    wait(99);
    expect(feedback()).toBe(0);
    wait(1);
    expect(feedback()).toBe(1);
    wait(100);
    expect(feedback()).toBe(0);
  });

  it('moves no faster than its slew, and may be followed itself', () => {
    const { register, read, wait } = meterWith(parts);
    expect(read('input', 0, 4)).toEqual([200, 200, 0, 0]);
    register(0, 40);
    wait(1000);
    expect(read('input', 0, 2)).toEqual([200, 200]);
    wait(2000);
    expect(read('input', 0, 2)).toEqual([300, 240]);
    // Turns back on its way: 5 per second towards 20.
    register(0, 20);
    wait(1000);
    expect(read('input', 0, 2)).toEqual([350, 260]);
    wait(1000);
    expect(read('input', 0, 2)).toEqual([300, 280]);
    wait(1000);
    // It meets the falling position after 2/7 s, at 28.57, and falls by 2 per second from there.
    expect(read('input', 0, 2)).toEqual([250, 271]);
    wait(60_000);
    expect(read('input', 0, 2)).toEqual([200, 200]);
  });

  it('is added up exactly on its way', () => {
    const { register, read, wait } = meterWith(parts);
    register(0, 30);
    wait(5000);
    // 20 for 1 s, 2 s from 20 to 30, 30 for 2 s.
    expect(read('input', 2, 2)).toEqual([130_000 >>> 16, 130_000 & 0xffff]);
  });

  it('stands where its command stands, also behind another that follows, from each start on', () => {
    const { register, read, meter, wait } = meterWith(parts);
    expect(read('input', 0, 2)).toEqual([200, 200]);
    register(0, 40);
    wait(60_000);
    expect(read('input', 0, 2)).toEqual([400, 400]);
    meter.restart();
    expect(read('input', 0, 2)).toEqual([200, 200]);
    wait(60_000);
    expect(read('input', 0, 2)).toEqual([200, 200]);
  });

  it('stands where its command stands after a restart', () => {
    const { coil, respond, wait, meter } = meterWith(parts);
    coil(0, true);
    wait(100);
    meter.interrupt({ forMs: 1000, bootMs: 0 });
    wait(5000);
    expect(respond([2, 0, 0, 0, 1])[2]).toBe(0);
  });

  it('is not hindered by a client that writes the same command again and again', () => {
    const { register, read, wait } = meterWith(parts);
    for (let i = 0; i < 1500; i++) expect(register(0, 40)[0]).toBe(6);
    for (let i = 0; i < 5000; i++) {
      wait(1);
      expect(register(0, 40)[0]).toBe(6);
    }
    expect(read('input', 0, 1)).toEqual([400]);
  });
});

describe('onWrite', () => {
  it('sets other values at once and later, with values of that moment', () => {
    const { coil, read, write, wait } = meterWith({
      coils: [
        {
          address: 0,
          write: true,
          onWrite: [
            { set: { state: 1, start: 'level * 2' } },
            { set: { state: 'if(level > 5, 3, 2)', start: 0 }, after: '10s' },
          ],
        },
      ],
      holding: [
        { address: 0, name: 'state' },
        { address: 1, name: 'level', value: 4, write: true, scale: 0.5 },
        { address: 2, name: 'start', scale: 0.5 },
      ],
    });
    coil(0, true);
    expect(read('holding', 0, 3)).toEqual([1, 4, 8]);
    wait(9999);
    write(1, 20);
    expect(read('holding', 0, 1)).toEqual([1]);
    wait(1);
    expect(read('holding', 0, 3)).toEqual([3, 20, 0]);
  });

  it('makes what it sets react, each at its own time', () => {
    const { coil, isOn, read, wait } = meterWith({
      coils: [
        { address: 0, write: true, onWrite: [{ set: { second: true }, after: 100 }] },
        { address: 1, name: 'second', write: true, pulse: 50, onWrite: [{ set: { third: 'third + 1' } }] },
      ],
      holding: [{ address: 0, name: 'third' }],
    });
    coil(0, true);
    wait(10_000);
    expect(isOn(1)).toBe(0);
    expect(read('holding', 0, 1)).toEqual([1]);
    coil(0, true);
    wait(120);
    expect(isOn(1)).toBe(1);
    expect(read('holding', 0, 1)).toEqual([2]);
  });

  it('is noted as the writer of what it sets, in the unit and as far as the type can hold it', () => {
    const { register, read, meter } = meterWith({
      holding: [
        { address: 0, name: 'level', write: true, onWrite: [{ set: { alarm: 'level * 100' } }] },
        { address: 1, name: 'alarm', type: 'int16', scale: 0.1 },
      ],
    });
    register(0, 3);
    expect(read('holding', 1, 1)).toEqual([3000]);
    const { lastWrites } = meter.tables.holding.window.image;
    expect(lastWrites.get(1)?.writer).toEqual({ by: 'reaction' });
    expect(meter.points.named.get('alarm')?.saturated).toBe(0);
    register(0, 33);
    expect(read('holding', 1, 1)).toEqual([32_767]);
    expect(meter.points.named.get('alarm')?.saturated).toBe(1);
  });

  it('ends with the loss of power', () => {
    const { coil, read, wait, meter } = meterWith({
      coils: [{ address: 0, write: true, busyFor: '1h', onWrite: [{ set: { state: 1 }, after: '1s' }] }],
      holding: [{ address: 0, name: 'state', write: true }],
    });
    coil(0, true);
    wait(500);
    meter.restart();
    wait(5000);
    expect(read('holding', 0, 1)).toEqual([0]);
    expect(coil(0, true)[0]).toBe(5);
  });

  it('is refused with exception 06 while a thousand changes are to come', () => {
    const { register, registers, wait, meter } = meterWith({
      holding: [
        { address: 0, write: true, onWrite: [{ set: { other: 1 }, after: '1h' }] },
        { address: 1, name: 'other', write: true },
      ],
    });
    for (let i = 0; i < 1000; i++) expect(register(0, i)[0]).toBe(6);
    expect(register(0, 1)).toEqual([0x86, 6]);
    expect(registers(0, 1, 1)).toEqual([0x90, 6]);
    expect(meter.tables.holding.window.image.live?.isFull(0)).toBe(true);
    expect(register(1, 1)[0]).toBe(6);
    wait(3_600_000);
    expect(register(0, 1)[0]).toBe(6);
  });
});

describe('a feedback with a long delay', () => {
  it('takes a thousand changes of its command, then no more until they have come', () => {
    const { coil, wait } = meterWith({
      coils: [
        { address: 0, name: 'command', write: true },
        { address: 1, follows: { name: 'command', after: '1h' } },
      ],
    });
    for (let i = 0; i < 1000; i++) expect(coil(0, i % 2 === 0)[0]).toBe(5);
    expect(coil(0, true)).toEqual([0x85, 6]);
    wait(3_600_000);
    expect(coil(0, true)[0]).toBe(5);
  });
});

describe('a device that is busy after a write', () => {
  const parts = {
    holding: [
      { address: 0, write: true, busyFor: '500ms' },
      { address: 1, write: true, limits: { max: 10 } },
    ],
    coils: [{ address: 0, write: true }],
    files: { 1: { records: 1, write: true } },
  };

  it('refuses all writes with exception 06 meanwhile, and answers reads', () => {
    const { register, coil, read, respond, wait } = meterWith(parts);
    expect(register(0, 1)[0]).toBe(6);
    expect(register(1, 1)).toEqual([0x86, 6]);
    expect(coil(0, true)).toEqual([0x85, 6]);
    expect(respond([21, 9, 6, 0, 1, 0, 0, 0, 1, 0, 5])).toEqual([0x95, 6]);
    expect(read('holding', 0, 2)).toEqual([1, 0]);
    wait(500);
    expect(register(1, 1)[0]).toBe(6);
  });

  it('tells what is wrong with a request first: address, then value, then busy', () => {
    const { register } = meterWith(parts);
    register(0, 1);
    expect(register(9, 1)).toEqual([0x86, 2]);
    expect(register(1, 11)).toEqual([0x86, 3]);
    expect(register(1, 10)).toEqual([0x86, 6]);
  });
});

describe('a latch', () => {
  it('keeps what another reaction has set until a client writes it', () => {
    const { register, coil, isOn } = meterWith({
      coils: [{ address: 0, name: 'alarm', write: true, latch: true }],
      holding: [{ address: 0, name: 'level', write: true, onWrite: [{ set: { alarm: 'level > 5' } }] }],
    });
    register(0, 6);
    register(0, 1);
    expect(isOn(0)).toBe(1);
    coil(0, false);
    expect(isOn(0)).toBe(0);
    register(0, 2);
    expect(isOn(0)).toBe(0);
  });

  it('keeps what its signal has set between two reads', () => {
    const { coil, isOn, wait } = meterWith({
      coils: [
        { address: 0, write: true, latch: { every: '100ms' }, signal: { expression: 't >= 10 && t < 10.5' } },
      ],
    });
    wait(9999);
    expect(isOn(0)).toBe(0);
    wait(60_000);
    expect(isOn(0)).toBe(1);
    coil(0, false);
    expect(isOn(0)).toBe(0);
    wait(60_000);
    expect(isOn(0)).toBe(0);
  });
});

describe('a password', () => {
  it.each(['lock', 0])('in register %s opens the writes, and another value closes them', (place) => {
    const { register, coil, registers } = meterWith({
      holding: [
        { address: 0, name: 'lock', write: true },
        {
          address: 1,
          write: true,
          limits: { max: 9 },
          password: { register: place, value: 4711 },
        },
      ],
      coils: [{ address: 0, write: true, password: { register: place, value: 4711 } }],
    });
    expect(register(1, 5)).toEqual([0x86, 2]);
    expect(register(1, 50)).toEqual([0x86, 2]);
    expect(coil(0, true)).toEqual([0x85, 2]);
    expect(registers(0, 4711, 5)).toEqual([0x90, 2]);
    register(0, 4711);
    expect(register(1, 5)[0]).toBe(6);
    expect(register(1, 50)).toEqual([0x86, 3]);
    expect(coil(0, true)[0]).toBe(5);
    register(0, 0);
    expect(register(1, 5)).toEqual([0x86, 2]);
  });
});

it('a password may stand in a register with a scale', () => {
  const opened = (value: number) => {
    const { register } = meterWith({
      holding: [
        { address: 0, name: 'lock', write: true, scale: 0.5 },
        { address: 1, write: true, password: { register: 0, value } },
      ],
    });
    register(0, 42);
    return register(1, 5)[0] === 6;
  };
  expect([opened(21), opened(42)]).toEqual([true, false]);
});

describe('a FIFO queue that a signal feeds', () => {
  const queue = (respond: (pdu: readonly number[]) => number[]) => {
    const [code, , , , count, ...bytes] = respond([24, 0, 100]);
    expect([code, bytes.length]).toEqual([24, 2 * (count as number)]);
    return Array.from(
      { length: count as number },
      (_, i) => 256 * (bytes[2 * i] as number) + (bytes[2 * i + 1] as number),
    );
  };

  it('takes a value every so often, and keeps the newest 31', () => {
    const { respond, wait } = meterWith({
      holding: [{ address: 0 }],
      queues: { 100: { signal: { counter: { perSecond: 1 } }, every: '2s' }, 7: [1, 2] },
    });
    expect(queue(respond)).toEqual([]);
    wait(1999);
    expect(queue(respond)).toEqual([]);
    wait(4001);
    expect(queue(respond)).toEqual([2, 4, 6]);
    wait(1_000_000);
    expect(queue(respond)).toEqual(Array.from({ length: 31 }, (_, i) => 1006 - 60 + 2 * i));
    expect(respond([24, 0, 7])).toEqual([24, 0, 6, 0, 2, 0, 1, 0, 2]);
    expect(respond([24, 0, 8])).toEqual([0x98, 2]);
  });

  it('has the values of their times, whatever was written since', () => {
    const { respond, register, wait, meter } = meterWith({
      holding: [{ address: 0, name: 'level', write: true }],
      input: [{ address: 0, name: 'sum', type: 'uint32', signal: { counter: { integral: 'level' } } }],
      queues: { 100: { signal: { expression: 'level + 1000 * sum' }, every: '1s' } },
    });
    register(0, 5);
    wait(1500);
    register(0, 9);
    wait(1500);
    // At 1 s 5 + 5000; at 2 s 9 + 1000 * (7.5 + 4.5); at 3 s 9 + 1000 * (7.5 + 13.5).
    expect(queue(respond)).toEqual([5005, 12_009, 21_009]);
    meter.restart();
    expect(queue(respond)).toEqual([]);
  });
});

describe('reactions', () => {
  /** A device in which everything depends on everything. */
  const parts = {
    coils: [
      {
        address: 0,
        name: 'start',
        write: true,
        pulse: 70,
        onWrite: [{ set: { demand: 'demand + 7' }, after: 130 }],
      },
      { address: 1, name: 'alarm', write: true, latch: { every: 50 }, signal: { expression: 'valve > 60' } },
      { address: 2, name: 'run', follows: { name: 'start', after: 40 } },
    ],
    holding: [
      {
        ...{ address: 0, name: 'demand', write: true, limits: { max: 100 }, busyFor: 20 },
        fallsBack: { after: 300, to: 4, renewedBy: ['start'] },
      },
      { address: 1, name: 'valve', scale: 0.01, follows: { name: 'demand', after: 90, slew: 80 } },
      { address: 2, name: 'lamp', scale: 0.01, follows: { name: 'valve', slew: 30 } },
      { address: 3, name: 'flow', type: 'float64', signal: { counter: { integral: 'lamp' } } },
      { address: 7, type: 'float64', signal: { expression: 'flow * valve + other.mirror + other.sum' } },
    ],
    queues: { 100: { signal: { expression: 'lamp + flow' }, every: 30 } },
  };
  const others = {
    other: {
      clock: { speed: 3 },
      input: [
        { address: 0, name: 'mirror', type: 'float64', signal: { expression: 'meter.valve * 2' } },
        { address: 4, name: 'sum', type: 'float64', signal: { counter: { integral: 'meter.run' } } },
      ],
    },
  };
  const step = fc.record({
    wait: fc.integer({ min: 0, max: 400 }),
    pdu: fc.oneof(
      fc.constant([5, 0, 0, 0xff, 0]),
      fc.constant([5, 0, 1, 0, 0]),
      fc.integer({ min: 0, max: 120 }).map((value) => [6, 0, 0, 0, value]),
    ),
    reads: fc.boolean(),
  });

  it('are read the same at a time whatever was read before', () => {
    const all = (respond: (pdu: readonly number[]) => number[]) =>
      [
        [1, 0, 0, 0, 3],
        [3, 0, 0, 0, 11],
        [24, 0, 100],
      ].map(respond);
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 12 }), fc.boolean(), (steps, between) => {
        const run = (isReading: boolean) => {
          const { respond, wait } = meterWith(parts, others);
          const answers = steps.map((each) => {
            if (isReading && between) {
              const part = Math.floor(each.wait / 3);
              wait(part);
              all(respond);
              wait(each.wait - part);
            } else wait(each.wait);
            if (isReading && each.reads) all(respond);
            return respond(each.pdu);
          });
          wait(250);
          return [answers, all(respond)];
        };
        expect(run(true)).toEqual(run(false));
      }),
      { numRuns: tries(200) },
    );
  });
});

describe('a command that many values follow', () => {
  const followers = (count: number, of: string, first: number, named = false) =>
    Array.from({ length: count }, (_, i) => ({
      address: first + i,
      ...(named && { name: `${of}${i}` }),
      follows: { name: of, after: '1h' },
    }));

  it('is written while nothing is to come, and refused where more than a thousand changes would be', () => {
    const { register, wait } = meterWith({
      holding: [{ address: 0, name: 'x', write: true }, ...followers(600, 'x', 1)],
    });
    expect(register(0, 1)[0]).toBe(6);
    expect(register(0, 2)).toEqual([0x86, 6]);
    wait(3_600_000);
    expect(register(0, 2)[0]).toBe(6);
  });

  it('counts what follows its followers, too', () => {
    const { register } = meterWith({
      holding: [
        { address: 0, name: 'x', write: true },
        ...followers(1, 'x', 1, true),
        ...followers(600, 'x0', 2),
      ],
    });
    expect(register(0, 1)[0]).toBe(6);
    expect(register(0, 2)).toEqual([0x86, 6]);
  });
});
